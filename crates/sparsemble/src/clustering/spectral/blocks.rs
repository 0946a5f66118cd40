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

/// Vertices whose sums are formed side by side: enough that no addition waits for another.
const TOGETHER: usize = 4;

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
    let minus: Vec<Small> = blocks.iter().map(|(_, c)| c.map(|row| Eight(row.0.map(|entry| -entry)))).collect();
    fill(w, run, |range, w| {
        let terms: Vec<(&[Eight], &Small)> = blocks.iter().map(|(v, _)| &v[range.clone()]).zip(&minus).collect();
        dispatch!(best_level(), simd => {
            add_products(simd, &terms, w);
            if let Some(inverse) = inverse {
                let mut product = [Eight::ZERO; VERTICES];
                let product = &mut product[..w.len()];
                add_products(simd, &[(w, inverse)], product);
                w.copy_from_slice(product);
            }
        });
    })
}

/// Adds Σ V_i C_i to `out`.
#[inline(always)]
fn add_products<S: Simd>(simd: S, terms: &[(&[Eight], &Small)], out: &mut [Eight]) {
    let (together, rest) = out.as_chunks_mut::<TOGETHER>();
    let done = together.len() * TOGETHER;
    for (number, out) in together.iter_mut().enumerate() {
        add_products_at(simd, terms, number * TOGETHER, out);
    }
    for (number, out) in rest.iter_mut().enumerate() {
        add_products_at(simd, terms, done + number, std::array::from_mut(out));
    }
}

/// The same for a few vertices, whose sums stay in registers from the first term to the last.
#[inline(always)]
fn add_products_at<S: Simd, const N: usize>(simd: S, terms: &[(&[Eight], &Small)], first: usize, out: &mut [Eight; N]) {
    let mut sums = [f64x8::splat(simd, 0.0); N];
    for n in 0..N {
        sums[n] = f64x8::from_slice(simd, &out[n].0);
    }
    for (v, c) in terms {
        let Some(v) = v.get(first..first + N) else { return };
        for i in 0..WIDTH {
            let row = f64x8::from_slice(simd, &c[i].0);
            for n in 0..N {
                sums[n] = f64x8::splat(simd, v[n].0[i]).mul_add(row, sums[n]);
            }
        }
    }
    for n in 0..N {
        out[n] = Eight(sums[n].into());
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
    for (turns, out) in turns.iter().zip(out.chunks_exact_mut(blocks[0].len())) {
        let terms: Vec<(&[Eight], &Small)> = blocks.iter().map(|v| &**v).zip(turns).collect();
        add_products(simd, &terms, out);
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
