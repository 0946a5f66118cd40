//! Eight new vectors for an orthonormal basis.
//!
//! The usual case is one or two rounds of block Gram–Schmidt: all products at once, a Cholesky factor of what is left, one
//! update. Vectors that depend on the basis or on each other show as pivots lost to rounding; the block is then done
//! again one vector at a time, and each that has nothing new is replaced by a random one, or by zeros where the basis
//! spans the whole space already.

use rand::RngExt;
use rand::rngs::ChaCha8Rng;

use crate::blocks::Run;
use crate::error::Result;
use crate::graph::Eight;

use super::blocks::{Block, SMALL_ZERO, Small, add_small_product, inner, small_product, subtract};
use super::normalised::Components;

const WIDTH: usize = Eight::WIDTH;

/// A round that leaves this fraction of a vector's energy has also left it orthogonal to rounding.
const KEPT: f64 = 1e-2;

/// Less than this fraction of the energy may be all rounding.
const LOST: f64 = 1e-10;

/// The norm of a vector that is nothing but rounding, where the norm of M is one.
const NOTHING: f64 = 1e-12;

/// Rounds after which vectors are as orthogonal as they get; two are usual.
const MAX_ROUNDS: usize = 6;

/// W = V·C + Q·R, where the block Q has replaced W.
pub(super) struct Split {
    /// V_iᵀW for each block of the basis.
    pub(super) along: Vec<Small>,
    /// R, in whose rows the random vectors of Q have zeros.
    pub(super) rest: Small,
    /// Which vectors of Q are there; the others are zero.
    pub(super) alive: [bool; WIDTH],
}

/// What new vectors have to be orthogonal to, and where others come from if they are not.
pub(super) struct Surroundings<'a> {
    pub(super) basis: &'a [Block],
    pub(super) components: &'a Components,
    /// How many more vectors the space has room for.
    pub(super) room: usize,
}

/// Makes W orthonormal, and orthogonal to the basis and to the known eigenvectors.
pub(super) fn orthonormalise(
    around: &Surroundings<'_>,
    w: &mut Block,
    rng: &mut ChaCha8Rng,
    run: Run<'_>,
) -> Result<Split> {
    let blocks: Vec<&Block> = around.basis.iter().collect();
    let mut split = Split { along: vec![SMALL_ZERO; blocks.len()], rest: identity(), alive: [true; WIDTH] };
    if around.room >= WIDTH {
        for _ in 0..MAX_ROUNDS {
            match round(&blocks, w, &mut split, run)? {
                Some(kept) if kept >= KEPT => return Ok(split),
                // What little it had along the known eigenvectors has grown with it.
                Some(_) => around.components.remove(w, run)?,
                None => break,
            }
        }
    }
    one_by_one(around, w, split, rng, run)
}

/// One round for all eight; the least fraction of energy that a vector has kept, or `None` if W must not be changed
/// because one of them may have nothing left.
fn round(blocks: &[&Block], w: &mut Block, split: &mut Split, run: Run<'_>) -> Result<Option<f64>> {
    let with_itself: Vec<&Block> = blocks.iter().copied().chain([&*w]).collect();
    let mut along = inner(&with_itself, w, run)?;
    let energies = along.pop().unwrap_or(SMALL_ZERO);
    let Some((factor, kept)) = cholesky(&energies, &along) else { return Ok(None) };
    let terms: Vec<(&Block, &Small)> = blocks.iter().copied().zip(&along).collect();
    subtract(&terms, Some(&inverse(&factor)), w, run)?;
    for (sum, along) in split.along.iter_mut().zip(&along) {
        add_small_product(sum, along, &split.rest);
    }
    split.rest = small_product(&factor, &split.rest);
    Ok(Some(kept))
}

/// The upper factor R of WᵀW − Σ CᵀC, and the least fraction of energy that a vector has left.
fn cholesky(energies: &Small, along: &[Small]) -> Option<(Small, f64)> {
    let mut left = *energies;
    for row in along.iter().flatten() {
        for (r, left) in left.iter_mut().enumerate() {
            left.0.iter_mut().zip(row.0).for_each(|(left, c)| *left -= row.0[r] * c);
        }
    }
    let mut factor = SMALL_ZERO;
    let mut least = 1.0_f64;
    for j in 0..WIDTH {
        for i in 0..=j {
            let sum: f64 = (0..i).map(|k| factor[k].0[i] * factor[k].0[j]).sum();
            let rest = left[i].0[j] - sum;
            if i < j {
                factor[i].0[j] = rest / factor[i].0[i];
                continue;
            }
            let energy = energies[j].0[j];
            // Not `<`, which would let NaN pass.
            if !(energy > NOTHING * NOTHING && rest > LOST * energy) {
                return None;
            }
            least = least.min(rest / energy);
            factor[j].0[j] = rest.sqrt();
        }
    }
    Some((factor, least))
}

/// The rare case: each vector on its own, first all that have something new, then random ones in the places of the others.
fn one_by_one(
    around: &Surroundings<'_>,
    w: &mut Block,
    mut split: Split,
    rng: &mut ChaCha8Rng,
    run: Run<'_>,
) -> Result<Split> {
    let so_far = split.rest;
    let mut new = vec![Eight::ZERO; w.len()];
    let mut room = around.room;
    split.alive = [false; WIDTH];
    split.rest = SMALL_ZERO;
    for j in 0..WIDTH {
        let mut vector: Block = w.iter().map(|row| Eight(keep(row.0, j))).collect();
        let coefficients = single(around, &new, &mut vector, (j, NOTHING), run)?;
        let (within, along) = coefficients.split_last().unwrap_or((&SMALL_ZERO, &[]));
        along.iter().zip(&mut split.along).for_each(|(along, sum)| add_small_product(sum, along, &so_far));
        let mut factor = *within;
        let norm = norm_of(&vector, j);
        if norm > NOTHING && room > 0 {
            factor[j].0[j] = norm;
            new.iter_mut().zip(&vector).for_each(|(new, row)| new.0[j] = row.0[j] / norm);
            split.alive[j] = true;
            room -= 1;
        }
        add(&mut split.rest, &factor);
    }
    split.rest = small_product(&split.rest, &so_far);
    for j in (0..WIDTH).filter(|&j| !split.alive[j]).take(room).collect::<Vec<_>>() {
        let mut vector: Block = (0..w.len()).map(|_| Eight(keep([rng.random_range(-1.0..1.0); WIDTH], j))).collect();
        single(around, &new, &mut vector, (j, 0.0), run)?;
        let norm = norm_of(&vector, j);
        new.iter_mut().zip(&vector).for_each(|(new, row)| new.0[j] = row.0[j] / norm);
        split.alive[j] = true;
    }
    *w = new;
    Ok(split)
}

/// Makes vector j of a block, whose others are zero, orthogonal to the basis and to `new`; what it had along them.
fn single(
    around: &Surroundings<'_>,
    new: &Block,
    vector: &mut Block,
    (j, nothing): (usize, f64),
    run: Run<'_>,
) -> Result<Vec<Small>> {
    let blocks: Vec<&Block> = around.basis.iter().chain([new]).collect();
    let mut sums = vec![SMALL_ZERO; blocks.len()];
    for _ in 0..MAX_ROUNDS {
        let before = norm_of(vector, j);
        if before <= nothing {
            break;
        }
        let along = inner(&blocks, vector, run)?;
        let terms: Vec<(&Block, &Small)> = blocks.iter().copied().zip(&along).collect();
        subtract(&terms, None, vector, run)?;
        around.components.remove(vector, run)?;
        sums.iter_mut().zip(&along).for_each(|(sum, along)| add(sum, along));
        if norm_of(vector, j).powi(2) >= KEPT * before * before {
            break;
        }
    }
    Ok(sums)
}

/// Starts a basis: eight random vectors.
pub(super) fn random(
    around: &Surroundings<'_>,
    vertices: usize,
    rng: &mut ChaCha8Rng,
    run: Run<'_>,
) -> Result<(Block, Split)> {
    let mut block: Block = (0..vertices).map(|_| Eight(std::array::from_fn(|_| rng.random_range(-1.0..1.0)))).collect();
    around.components.remove(&mut block, run)?;
    let split = orthonormalise(around, &mut block, rng, run)?;
    Ok((block, split))
}

fn norm_of(block: &Block, j: usize) -> f64 {
    block.iter().map(|row| row.0[j] * row.0[j]).sum::<f64>().sqrt()
}

/// Zeros in all places but one.
fn keep(row: [f64; WIDTH], place: usize) -> [f64; WIDTH] {
    std::array::from_fn(|j| if j == place { row[j] } else { 0.0 })
}

fn add(sum: &mut Small, term: &Small) {
    sum.iter_mut().zip(term).for_each(|(sum, term)| sum.0.iter_mut().zip(term.0).for_each(|(sum, term)| *sum += term));
}

fn identity() -> Small {
    std::array::from_fn(|r| Eight(keep([1.0; WIDTH], r)))
}

/// R⁻¹ of an upper triangular matrix, which is one too.
fn inverse(factor: &Small) -> Small {
    let mut inverse = SMALL_ZERO;
    for j in 0..WIDTH {
        inverse[j].0[j] = 1.0 / factor[j].0[j];
        for i in (0..j).rev() {
            let sum: f64 = (i + 1..=j).map(|k| factor[i].0[k] * inverse[k].0[j]).sum();
            inverse[i].0[j] = -sum / factor[i].0[i];
        }
    }
    inverse
}
