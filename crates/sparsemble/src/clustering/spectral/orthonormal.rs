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

use super::blocks::{Block, SMALL_ZERO, Small, inner, small_product, subtract};
use super::normalised::Components;

const WIDTH: usize = Eight::WIDTH;

/// A round that leaves this fraction of a vector's energy has also left it orthogonal to rounding.
const KEPT: f64 = 1e-2;

/// Less than this fraction of the energy may be all rounding.
const LOST: f64 = 1e-10;

/// The norm of a vector that is nothing but rounding, where the norm of M is one.
const NOTHING: f64 = 1e-12;

/// How much of the basis a new vector may have: far above rounding, and far below what a residual of 10⁻¹² would show.
const DRIFT: f64 = 1e-10;

/// Rounds after which vectors are as orthogonal as they get; two are usual.
const MAX_ROUNDS: usize = 6;

/// W = Q·R but for what W had along the basis, where the block Q has replaced W.
pub(super) struct Split {
    /// R, in whose rows the random vectors of Q have zeros.
    pub(super) rest: Small,
    /// Which vectors of Q are there; the others are zero.
    pub(super) alive: [bool; WIDTH],
    /// About how much Q may still have along the basis.
    pub(super) drift: f64,
}

/// What new vectors have to be orthogonal to, and where others come from if they are not.
pub(super) struct Surroundings<'a> {
    pub(super) basis: &'a [Block],
    pub(super) components: &'a Components,
    /// How many more vectors the space has room for.
    pub(super) room: usize,
}

/// Makes W orthonormal, and orthogonal to the basis and to the known eigenvectors, where W is what a product has left
/// after its parts along the blocks `near` were subtracted; those have about `drift` along others of the basis.
///
/// In exact arithmetic W would then be orthogonal to all of the basis. So the round over all blocks, which costs more than
/// anything else, waits until rounding has grown to where it would matter.
pub(super) fn orthonormalise(
    around: &Surroundings<'_>,
    (near, drift): (&[&Block], f64),
    w: &mut Block,
    rng: &mut ChaCha8Rng,
    run: Run<'_>,
) -> Result<Split> {
    let mut rest = identity();
    if around.room >= WIDTH && drift < DRIFT {
        let kept = round(near, w, &mut rest, run)?;
        let smallest = (0..WIDTH).map(|j| rest[j].0[j]).fold(1.0, f64::min);
        let drift = (drift + f64::EPSILON) / smallest;
        if drift < DRIFT && kept.is_some_and(|kept| kept >= KEPT) {
            return Ok(Split { rest, alive: [true; WIDTH], drift });
        }
    }
    everywhere(around, w, rest, rng, run)
}

/// Makes W orthonormal and orthogonal to all; `rest` is R so far.
fn everywhere(
    around: &Surroundings<'_>,
    w: &mut Block,
    mut rest: Small,
    rng: &mut ChaCha8Rng,
    run: Run<'_>,
) -> Result<Split> {
    let blocks: Vec<&Block> = around.basis.iter().collect();
    if around.room >= WIDTH {
        for _ in 0..MAX_ROUNDS {
            match round(&blocks, w, &mut rest, run)? {
                Some(kept) if kept >= KEPT => {
                    return Ok(Split { rest, alive: [true; WIDTH], drift: f64::EPSILON });
                }
                // What little it had along the known eigenvectors has grown with it.
                Some(_) => around.components.remove(w, run)?,
                None => break,
            }
        }
    }
    one_by_one(around, w, &rest, rng, run)
}

/// One round for all eight; the least fraction of energy that a vector has kept, or `None` if W must not be changed
/// because one of them may have nothing left.
fn round(blocks: &[&Block], w: &mut Block, rest: &mut Small, run: Run<'_>) -> Result<Option<f64>> {
    let with_itself: Vec<&Block> = blocks.iter().copied().chain([&*w]).collect();
    let mut along = inner(&with_itself, w, run)?;
    let energies = along.pop().unwrap_or(SMALL_ZERO);
    let Some((factor, kept)) = cholesky(&energies, &along) else { return Ok(None) };
    let terms: Vec<(&Block, &Small)> = blocks.iter().copied().zip(&along).collect();
    subtract(&terms, Some(&inverse(&factor)), w, run)?;
    *rest = small_product(&factor, rest);
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
    so_far: &Small,
    rng: &mut ChaCha8Rng,
    run: Run<'_>,
) -> Result<Split> {
    let mut new = vec![Eight::ZERO; w.len()];
    let mut room = around.room;
    let mut alive = [false; WIDTH];
    let mut factor = SMALL_ZERO;
    for j in 0..WIDTH {
        let mut vector: Block = w.iter().map(|row| Eight(keep(row.0, j))).collect();
        let within = single(around, &new, &mut vector, (j, NOTHING), run)?;
        add(&mut factor, &within);
        let norm = norm_of(&vector, j);
        if norm > NOTHING && room > 0 {
            factor[j].0[j] = norm;
            new.iter_mut().zip(&vector).for_each(|(new, row)| new.0[j] = row.0[j] / norm);
            alive[j] = true;
            room -= 1;
        }
    }
    for (j, alive) in alive.iter_mut().enumerate() {
        if *alive || room == 0 {
            continue;
        }
        let mut vector: Block = (0..w.len()).map(|_| Eight(keep([rng.random_range(-1.0..1.0); WIDTH], j))).collect();
        single(around, &new, &mut vector, (j, 0.0), run)?;
        let norm = norm_of(&vector, j);
        if norm > NOTHING {
            new.iter_mut().zip(&vector).for_each(|(new, row)| new.0[j] = row.0[j] / norm);
            *alive = true;
            room -= 1;
        }
    }
    *w = new;
    Ok(Split { rest: small_product(&factor, so_far), alive, drift: f64::EPSILON })
}

/// Makes vector j of a block, whose others are zero, orthogonal to the basis and to `new`; what it had along `new`.
fn single(
    around: &Surroundings<'_>,
    new: &Block,
    vector: &mut Block,
    (j, nothing): (usize, f64),
    run: Run<'_>,
) -> Result<Small> {
    let blocks: Vec<&Block> = around.basis.iter().chain([new]).collect();
    let mut within = SMALL_ZERO;
    for _ in 0..MAX_ROUNDS {
        let before = norm_of(vector, j);
        if before <= nothing {
            break;
        }
        let along = inner(&blocks, vector, run)?;
        let terms: Vec<(&Block, &Small)> = blocks.iter().copied().zip(&along).collect();
        subtract(&terms, None, vector, run)?;
        around.components.remove(vector, run)?;
        along.last().into_iter().for_each(|along| add(&mut within, along));
        if norm_of(vector, j).powi(2) >= KEPT * before * before {
            break;
        }
    }
    Ok(within)
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
    let split = everywhere(around, &mut block, identity(), rng, run)?;
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
