//! Products of tall blocks of eight vectors: everything the eigensolver does to vectors besides multiplying the graph.
//!
//! Sums over vertices are made for each piece of [`VERTICES`] and then added in order, so that they are the same bits for
//! any number of threads.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use fearless_simd::{dispatch, f64x8, prelude::*};

use crate::blocks::Run;
use crate::error::Result;
use crate::graph::{Eight, VERTICES, fill};
use crate::kernels::best_level;

const WIDTH: usize = Eight::WIDTH;

const HALF: usize = WIDTH / 2;

/// Eight vectors, one [`Eight`] for each vertex.
pub(super) type Block = Vec<Eight>;

/// An 8 × 8 matrix, row after row.
pub(super) type Small = [Eight; WIDTH];

pub(super) const SMALL_ZERO: Small = [Eight::ZERO; WIDTH];

/// V_iᵀW for each of the blocks V_i.
pub(super) fn inner(blocks: &[&Block], w: &Block, run: Run<'_>) -> Result<Vec<Small>> {
    let work = |(): &mut (), range: Range<usize>| {
        let mut products = vec![SMALL_ZERO; blocks.len()];
        dispatch!(best_level(), simd => inner_pieces(simd, blocks, &w[range.clone()], range.start, &mut products));
        Ok(products)
    };
    let mut sums = vec![SMALL_ZERO; blocks.len()];
    for part in run.map_blocks(w.len(), VERTICES, || (), work)? {
        for (sum, part) in sums.iter_mut().flatten().zip(part.iter().flatten()) {
            sum.0.iter_mut().zip(part.0).for_each(|(sum, part)| *sum += part);
        }
    }
    Ok(sums)
}

#[inline(always)]
fn inner_pieces<S: Simd>(simd: S, blocks: &[&Block], w: &[Eight], first: usize, products: &mut [Small]) {
    for (product, v) in products.iter_mut().zip(blocks) {
        // Half of the product at a time: so much stays in the registers of AVX2.
        for (half, product) in product.chunks_exact_mut(HALF).enumerate() {
            let mut sums = [f64x8::splat(simd, 0.0); HALF];
            for (v, w) in v[first..first + w.len()].iter().zip(w) {
                let w = f64x8::from_slice(simd, &w.0);
                for (sum, &v) in sums.iter_mut().zip(&v.0[half * HALF..]) {
                    *sum = f64x8::splat(simd, v).mul_add(w, *sum);
                }
            }
            for i in 0..HALF {
                product[i] = Eight(sums[i].into());
            }
        }
    }
}

/// W ← (W − Σ V_i C_i) R⁻¹ for blocks V_i and their coefficients C_i; `inverse` is R⁻¹.
pub(super) fn subtract(
    blocks: &[(&Block, &Small)],
    inverse: Option<&Small>,
    w: &mut Block,
    run: Run<'_>,
) -> Result<()> {
    fill(w, run, |range, w| dispatch!(best_level(), simd => subtract_piece(simd, blocks, inverse, w, range.start)))
}

#[inline(always)]
fn subtract_piece<S: Simd>(
    simd: S,
    blocks: &[(&Block, &Small)],
    inverse: Option<&Small>,
    w: &mut [Eight],
    first: usize,
) {
    for (v, c) in blocks {
        add_piece(simd, &v[first..first + w.len()], c, w, -1.0);
    }
    if let Some(inverse) = inverse {
        let mut product = [Eight::ZERO; VERTICES];
        add_piece(simd, w, inverse, &mut product[..w.len()], 1.0);
        w.copy_from_slice(&product[..w.len()]);
    }
}

/// Adds `sign` times V·C to `out`.
#[inline(always)]
fn add_piece<S: Simd>(simd: S, v: &[Eight], c: &Small, out: &mut [Eight], sign: f64) {
    let mut rows = [f64x8::splat(simd, 0.0); WIDTH];
    for i in 0..WIDTH {
        rows[i] = f64x8::from_slice(simd, &c[i].0) * f64x8::splat(simd, sign);
    }
    for (v, out) in v.iter().zip(out) {
        // Two sums, so that additions do not wait for each other.
        let mut sums = [f64x8::from_slice(simd, &out.0), f64x8::splat(simd, 0.0)];
        for i in 0..WIDTH {
            sums[i % 2] = f64x8::splat(simd, v.0[i]).mul_add(rows[i], sums[i % 2]);
        }
        *out = Eight((sums[0] + sums[1]).into());
    }
}

/// Replaces the first blocks by V·Y, where `turns[b][i]` is the 8 × 8 part of Y that block i has in the new block b.
pub(super) fn turn(blocks: &mut [Block], turns: &[Vec<Small>], run: Run<'_>) -> Result<()> {
    let vertices = blocks.first().map_or(0, Vec::len);
    let mut pieces: Vec<Vec<&mut [Eight]>> = (0..vertices.div_ceil(VERTICES)).map(|_| Vec::new()).collect();
    for block in blocks {
        pieces.iter_mut().zip(block.chunks_mut(VERTICES)).for_each(|(piece, part)| piece.push(part));
    }
    let pieces: Vec<_> = pieces.into_iter().map(Mutex::new).collect();
    let work = |space: &mut Vec<Eight>, range: Range<usize>| {
        let mut piece = pieces[range.start / VERTICES].lock().unwrap_or_else(PoisonError::into_inner);
        space.clear();
        space.resize(turns.len() * range.len(), Eight::ZERO);
        dispatch!(best_level(), simd => turn_piece(simd, &piece, turns, space));
        piece.iter_mut().zip(space.chunks_exact(range.len())).for_each(|(v, new)| v.copy_from_slice(new));
        Ok(())
    };
    run.map_blocks(vertices, VERTICES, Vec::new, work)?;
    Ok(())
}

#[inline(always)]
fn turn_piece<S: Simd>(simd: S, blocks: &[&mut [Eight]], turns: &[Vec<Small>], out: &mut [Eight]) {
    let length = blocks[0].len();
    for (b, turns) in turns.iter().enumerate() {
        for (v, c) in blocks.iter().zip(turns) {
            add_piece(simd, v, c, &mut out[b * length..(b + 1) * length], 1.0);
        }
    }
}

/// A·B.
pub(super) fn small_product(a: &Small, b: &Small) -> Small {
    let mut product = SMALL_ZERO;
    add_small_product(&mut product, a, b);
    product
}

/// Adds A·B to a sum.
pub(super) fn add_small_product(sum: &mut Small, a: &Small, b: &Small) {
    for (sum, a) in sum.iter_mut().zip(a) {
        for (a, b) in a.0.iter().zip(b) {
            sum.0.iter_mut().zip(b.0).for_each(|(sum, b)| *sum += a * b);
        }
    }
}

/// Aᵀ.
pub(super) fn small_transpose(a: &Small) -> Small {
    std::array::from_fn(|r| Eight(std::array::from_fn(|c| a[c].0[r])))
}
