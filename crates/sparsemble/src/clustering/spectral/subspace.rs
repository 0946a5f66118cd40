//! A growing orthonormal basis V of vectors and what M does to them: block Lanczos with thick restarts.
//!
//! The blocks of the basis that have been multiplied come first; M times them lies in the whole basis, so that
//! M·V = V·T + F·S for the *frontier* F, the blocks not yet multiplied. The eigenvectors y of T are the Ritz vectors V·y, and
//! their residuals M·V·y − θ·V·y = F·S·y have norms that cost nothing to know. A step multiplies the first block of the
//! frontier and appends what is new. When the basis has no room left, the multiplied blocks are replaced by a few of their
//! Ritz vectors, for which the same relation holds (Wu and Simon, "Thick-restart Lanczos", 2000).

use rand::rngs::ChaCha8Rng;

use crate::blocks::Run;
use crate::eigen::Eigen;
use crate::error::Result;
use crate::graph::Eight;
use crate::matrix::Matrix;

use super::blocks::{Block, SMALL_ZERO, Small, add_small_product, inner, small_transpose, subtract, turn};
use super::normalised::{Normalised, beside};
use super::orthonormal::{Split, Surroundings, orthonormalise, random};

const WIDTH: usize = Eight::WIDTH;

/// Below every eigenvalue of M: the Ritz value of a vector that is not there.
const ABSENT: f64 = -2.0;

/// See the head of the file.
pub(super) struct Subspace<'a> {
    operator: &'a Normalised<'a>,
    rng: ChaCha8Rng,
    /// First the locked ones, to which the others are orthogonal and which take no other part.
    basis: Vec<Block>,
    alive: Vec<[bool; WIDTH]>,
    /// About how much each block has along the others.
    drifts: Vec<f64>,
    locked: usize,
    /// How many blocks come before the frontier, the locked ones included.
    multiplied: usize,
    /// VᵀMV in 8 × 8 parts, as far as it is known; row and column 0 belong to the first block that is not locked.
    projected: Vec<Vec<Small>>,
    product: Block,
    space: Block,
    /// Blocks that a restart has left over, for the next products: fresh memory costs as much as a pass over it.
    spare: Vec<Block>,
}

/// The eigenvectors of T, the largest eigenvalue first.
pub(super) struct Ritz {
    pub(super) values: Vec<f64>,
    pub(super) residuals: Vec<f64>,
    turns: Matrix<f64>,
}

impl<'a> Subspace<'a> {
    /// Random vectors in so many blocks, orthogonal to the locked ones.
    pub(super) fn new(
        operator: &'a Normalised<'a>,
        locked: Vec<Block>,
        frontier: usize,
        rng: ChaCha8Rng,
        run: Run<'_>,
    ) -> Result<Self> {
        let vertices = operator.vertices();
        let (count, alive) = (locked.len(), vec![[true; WIDTH]; locked.len()]);
        let mut subspace = Self {
            operator,
            rng,
            basis: locked,
            alive,
            drifts: vec![f64::EPSILON; count],
            locked: count,
            multiplied: count,
            projected: Vec::new(),
            product: vec![Eight::ZERO; vertices],
            space: vec![Eight::ZERO; vertices],
            spare: Vec::new(),
        };
        for _ in 0..frontier {
            let room = subspace.room();
            let around = Surroundings { basis: &subspace.basis, components: operator.components(), room };
            let (block, split) = random(&around, vertices, &mut subspace.rng, run)?;
            subspace.push(block, &split);
        }
        Ok(subspace)
    }

    /// Blocks in the basis.
    pub(super) fn blocks(&self) -> usize {
        self.basis.len()
    }

    /// Whether M maps the basis into itself: the Ritz vectors are eigenvectors, and there are no others beside the locked
    /// ones or the space is exhausted.
    pub(super) fn is_complete(&self) -> bool {
        self.multiplied == self.basis.len()
    }

    /// Multiplies the first block of the frontier.
    pub(super) fn step(&mut self, run: Run<'_>) -> Result<()> {
        let place = self.multiplied - self.locked;
        let mut product = std::mem::take(&mut self.product);
        self.operator.times(&self.basis[self.multiplied], &mut self.space, &mut product, run)?;
        let run = beside(product.len(), run);
        // What the product has along blocks multiplied before is known by symmetry, and most of it is zero.
        let frontier: Vec<&Block> = self.basis[self.multiplied..].iter().collect();
        let along_frontier = inner(&frontier, &product, run)?;
        for (i, along) in along_frontier.into_iter().enumerate() {
            self.set(place + i, place, &along);
        }
        let column: Vec<Small> = (0..self.projected.len()).map(|i| self.projected[i][place]).collect();
        let coupled: Vec<usize> = (0..column.len()).filter(|&i| column[i] != SMALL_ZERO).collect();
        let near: Vec<&Block> = coupled.iter().map(|&i| &self.basis[self.locked + i]).collect();
        let terms: Vec<(&Block, &Small)> = near.iter().copied().zip(coupled.iter().map(|&i| &column[i])).collect();
        // What is locked is not quite an eigenvector, so the product has some of it.
        let drift: f64 = coupled.iter().map(|&i| self.drifts[self.locked + i]).sum();
        let drift = if self.locked > 0 { f64::INFINITY } else { drift };
        subtract(&terms, None, &mut product, run)?;
        // Only now: the basis itself has a little of the known eigenvectors, and what is subtracted would bring it back.
        self.operator.components().remove(&mut product, run)?;
        let room = self.room();
        let around = Surroundings { basis: &self.basis, components: self.operator.components(), room };
        let split = orthonormalise(&around, (&near, drift), &mut product, &mut self.rng, run)?;
        self.multiplied += 1;
        self.mark_absent(place);
        if split.alive.contains(&true) {
            self.product = self.spare.pop().unwrap_or_else(|| vec![Eight::ZERO; product.len()]);
            self.push(product, &split);
            self.set(self.projected.len() - 1, place, &split.rest);
        } else {
            self.product = product;
        }
        Ok(())
    }

    /// The eigenvectors of T and their residuals.
    pub(super) fn ritz(&self) -> Ritz {
        let size = (self.multiplied - self.locked) * WIDTH;
        let entry = |r: usize, c: usize| self.projected[r / WIDTH][c / WIDTH][r % WIDTH].0[c % WIDTH];
        let Eigen { values, vectors } = Eigen::of_symmetric(&Matrix::from_fn(size, size, entry));
        let rows = size..self.projected.len() * WIDTH;
        let residual = |y: &[f64]| {
            let row = |r: usize| (0..size).map(|c| entry(r, c) * y[c]).sum::<f64>();
            rows.clone().map(|r| row(r).powi(2)).sum::<f64>().sqrt()
        };
        let residuals = (0..size).map(|j| residual(vectors.column(j))).collect();
        Ritz { values, residuals, turns: vectors }
    }

    /// Replaces the multiplied blocks by so many blocks of Ritz vectors.
    pub(super) fn restart(&mut self, ritz: &Ritz, blocks: usize, run: Run<'_>) -> Result<()> {
        let before = self.multiplied - self.locked;
        let kept = blocks.min(before);
        let part = |i: usize, b: usize| -> Small {
            std::array::from_fn(|r| Eight(std::array::from_fn(|c| ritz.turns.column(b * WIDTH + c)[i * WIDTH + r])))
        };
        let turns: Vec<Vec<Small>> = (0..kept).map(|b| (0..before).map(|i| part(i, b)).collect()).collect();
        turn(&mut self.basis[self.locked..self.multiplied], &turns, run)?;
        let frontier = self.projected.len() - before;
        let mut projected = vec![vec![SMALL_ZERO; kept + frontier]; kept + frontier];
        for (b, turns) in turns.iter().enumerate() {
            for (c, row) in projected[b][b].iter_mut().enumerate() {
                row.0[c] = ritz.values[b * WIDTH + c];
            }
            for f in 0..frontier {
                let mut coupling = SMALL_ZERO;
                for (i, turn) in turns.iter().enumerate() {
                    add_small_product(&mut coupling, &self.projected[before + f][i], turn);
                }
                projected[kept + f][b] = coupling;
                projected[b][kept + f] = small_transpose(&coupling);
            }
        }
        self.projected = projected;
        self.spare.extend(self.basis.drain(self.locked + kept..self.multiplied));
        self.alive.drain(self.locked + kept..self.multiplied);
        let drift = self.drifts.drain(self.locked..self.multiplied).fold(0.0, f64::max);
        self.drifts.splice(self.locked..self.locked, vec![drift; kept]);
        for b in 0..kept {
            self.alive[self.locked + b] = std::array::from_fn(|c| ritz.values[b * WIDTH + c] > 0.75 * ABSENT);
        }
        self.multiplied = self.locked + kept;
        Ok(())
    }

    /// Gives up the multiplied blocks: after a restart, Ritz vectors.
    pub(super) fn into_multiplied(mut self) -> Vec<Block> {
        self.basis.truncate(self.multiplied);
        self.basis
    }

    /// Gives up the locked blocks.
    pub(super) fn into_locked(mut self) -> Vec<Block> {
        self.basis.truncate(self.locked);
        self.basis
    }

    /// How many vectors are orthogonal to the basis and to the known eigenvectors.
    fn room(&self) -> usize {
        let alive = self.alive.iter().flatten().filter(|alive| **alive).count();
        (self.operator.vertices() - self.operator.components().count()).saturating_sub(alive)
    }

    fn push(&mut self, block: Block, split: &Split) {
        self.basis.push(block);
        self.alive.push(split.alive);
        self.drifts.push(split.drift);
        self.projected.iter_mut().for_each(|row| row.push(SMALL_ZERO));
        self.projected.push(vec![SMALL_ZERO; self.projected.len() + 1]);
    }

    fn set(&mut self, i: usize, j: usize, part: &Small) {
        self.projected[i][j] = *part;
        self.projected[j][i] = small_transpose(part);
    }

    /// Keeps the vectors that are not there away from the largest Ritz values.
    fn mark_absent(&mut self, place: usize) {
        for j in (0..WIDTH).filter(|&j| !self.alive[self.locked + place][j]) {
            self.projected[place][place][j].0[j] = ABSENT;
        }
    }
}
