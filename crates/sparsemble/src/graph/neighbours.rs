//! The graph of nearest neighbours: the baseline, which knows nothing of codes.
//!
//! With the mean o of the samples for the origin, ‖x − y‖² = ‖x‖² − 2·(yᵀx − ½‖y‖²) where x and y now count from o. So the
//! nearest samples have the largest products of (y, −½‖y‖²) with (x, 1), which the pass of the coders forms for a block
//! of x and some thousand y at a time.

use std::ops::Range;

use crate::blocks::Run;
use crate::coding::SparseCodes;
use crate::error::{Error, Result};
use crate::kernels::{Columns, Panels, Store, Tiles, best_level, correlate};
use crate::matrix::MatrixView;
use crate::points::Points;
use crate::scalar::Scalar;

use super::{BuiltGraph, Graph, check_samples};

/// Samples whose neighbours a thread looks for at a time.
const BLOCK: usize = 96;

/// Samples they are compared with at a time: few enough that their products stay in cache.
const CHUNK: usize = 2048;

/// The graph S = A + Aᵀ, where a_ji = 1 if j is one of the nearest neighbours of i.
///
/// | field | symbol | default | purpose | range |
/// | --- | --- | --- | --- | --- |
/// | `count` | k | 10 | neighbours of each sample | 1 to T − 1 |
///
/// Neighbours are those of least Euclidean distance, which for samples of unit norm is the least angle. Edges weigh 2 where
/// each of two samples is a neighbour of the other, else 1. Among samples whose distances rounding cannot tell apart, the
/// first are taken.
///
/// # Shapes
/// Samples M × T, more than `count`; T vertices.
///
/// # Cost
/// M·T² multiply-adds at the speed of a matrix product. Memory for a copy of the samples and for the graph.
///
/// # Errors
/// If there are fewer than two samples or no more than neighbours, or a value is not finite.
///
/// # Example
/// ```
/// use sparsemble::graph::NeighbourGraph;
/// use sparsemble::{Matrix, Run};
///
/// let samples = Matrix::from_columns(vec![0.0, 1.0, 3.0, 10.0], 1, 4)?;
/// let built = NeighbourGraph { count: 1 }.build(samples.view(), Run::default())?;
/// assert_eq!(built.graph.row(1), (&[0, 2][..], &[2.0, 1.0][..]));
/// # Ok::<(), sparsemble::Error>(())
/// ```
#[doc(alias = "kNN")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NeighbourGraph {
    /// k.
    pub count: usize,
}

impl Default for NeighbourGraph {
    fn default() -> Self {
        Self { count: 10 }
    }
}

impl NeighbourGraph {
    /// Finds the neighbours of each sample.
    ///
    /// # Errors
    /// See [`NeighbourGraph`].
    pub fn build<T: Scalar>(&self, samples: MatrixView<'_, T>, run: Run<'_>) -> Result<BuiltGraph> {
        (T::instances().neighbours)(*self, samples, run)
    }

    /// [`Self::build`]; see [`crate::instances`].
    pub(crate) fn build_here<T: Scalar>(self, samples: MatrixView<'_, T>, run: Run<'_>) -> Result<BuiltGraph> {
        check_samples(samples)?;
        if self.count == 0 {
            return Err(Error::parameter("neighbours", 0, "must be at least 1"));
        }
        if self.count >= samples.columns() {
            let (needed, found) = (self.count.saturating_add(1), samples.columns());
            return Err(Error::TooFewSamples { what: "neighbours (one sample more)", needed, found });
        }
        let masses = vec![1.0; samples.columns()];
        let points = Points::new(samples, &masses, None, run.passes(0..0, 1, samples.columns()))?;
        let all = All::new(&points);
        let scratch = || all.scratch(self.count);
        let blocks =
            run.map_blocks(points.count(), BLOCK, scratch, |scratch, range| Ok(all.nearest(&points, scratch, range)))?;
        let mut codes = SparseCodes::with_capacity(points.count(), points.count(), points.count() * self.count);
        for block in &blocks {
            codes.append(block);
        }
        Ok(BuiltGraph::new(Graph::from_directed(&codes)?, 0))
    }
}

/// All samples, packed for the pass.
struct All<T> {
    origin: Vec<T>,
    /// (y − o, −½‖y − o‖²) of each sample, [`CHUNK`] of them in each but the last.
    chunks: Vec<Panels<T>>,
}

/// One thread's working space.
struct Scratch<T> {
    /// (x − o, 1) of a sample.
    from_origin: Vec<T>,
    tiles: Tiles<T>,
    products: Store<T>,
    leaders: Vec<Leaders<T>>,
}

/// The samples of the largest products seen so far.
#[derive(Clone)]
struct Leaders<T> {
    wanted: usize,
    /// Products descending.
    entries: Vec<(T, u32)>,
}

impl<T: Scalar> All<T> {
    fn new(points: &Points<'_, T>) -> Self {
        let rows = points.rows();
        let origin = mean(points);
        let pack = |start: usize| {
            let count = CHUNK.min(points.count() - start);
            let mut columns = Columns::zeros(rows + 1, count);
            for j in 0..count {
                let column = columns.padded_mut(j);
                points.copy(start + j, column);
                subtract(&mut column[..rows], &origin);
                let energy: f64 = column[..rows].iter().map(|y| y.to_f64() * y.to_f64()).sum();
                column[rows] = T::from_f64(-0.5 * energy);
            }
            Panels::pack(best_level(), (rows + 1, count), |j| columns.column(j), |_| T::ONE)
        };
        Self { chunks: (0..points.count()).step_by(CHUNK).map(pack).collect(), origin }
    }

    fn scratch(&self, wanted: usize) -> Scratch<T> {
        let rows = self.origin.len();
        let leaders = Leaders { wanted, entries: Vec::with_capacity(wanted + 1) };
        Scratch {
            from_origin: vec![T::ONE; rows + 1],
            tiles: Tiles::new(rows + 1, BLOCK),
            products: Store::new(&self.chunks[0], BLOCK),
            leaders: vec![leaders; BLOCK],
        }
    }

    /// Ones at the neighbours of each sample in the range.
    fn nearest(&self, points: &Points<'_, T>, scratch: &mut Scratch<T>, range: Range<usize>) -> SparseCodes<f32> {
        let Scratch { from_origin, tiles, products, leaders } = scratch;
        tiles.clear();
        for i in range.clone() {
            let rows = self.origin.len();
            points.copy(i, from_origin);
            subtract(&mut from_origin[..rows], &self.origin);
            tiles.push(from_origin);
        }
        for leaders in &mut *leaders {
            leaders.entries.clear();
        }
        for (chunk, panels) in self.chunks.iter().enumerate() {
            correlate(panels, tiles, products);
            let first = chunk * CHUNK;
            let count = CHUNK.min(points.count() - first);
            for ((slot, i), leaders) in range.clone().enumerate().zip(&mut *leaders) {
                leaders.offer(&products.of(slot)[..count], first, i);
            }
        }
        let mut codes = SparseCodes::with_capacity(points.count(), range.len(), range.len() * leaders[0].wanted);
        for leaders in &leaders[..range.len()] {
            codes.push(leaders.entries.iter().map(|(_, j)| (*j, 1.0)));
        }
        codes
    }
}

impl<T: Scalar> Leaders<T> {
    /// Takes note of the products with the samples from `first` on, but not of that with sample `own`.
    fn offer(&mut self, products: &[T], first: usize, own: usize) {
        const PART: usize = 16;
        for (start, part) in (first..).step_by(PART).zip(products.chunks(PART)) {
            // Nearly all are too small; without a way out in between that is seen many at a time.
            let largest =
                |limit: T| part.iter().fold(limit, |most, &product| if product > most { product } else { most });
            if self.limit().is_none_or(|limit| largest(limit) > limit) {
                for (j, &product) in (start..).zip(part).filter(|(j, _)| *j != own) {
                    if self.limit().is_none_or(|limit| product > limit) {
                        let place = self.entries.partition_point(|(other, _)| *other >= product);
                        self.entries.insert(place, (product, j as u32));
                        self.entries.truncate(self.wanted);
                    }
                }
            }
        }
    }

    /// What a product must exceed, once there are as many as wanted.
    fn limit(&self) -> Option<T> {
        self.entries.get(self.wanted - 1).map(|(product, _)| *product)
    }
}

/// The mean of all samples.
fn mean<T: Scalar>(points: &Points<'_, T>) -> Vec<T> {
    let mut sums = vec![0.0; points.rows()];
    let mut column = vec![T::ZERO; points.rows()];
    for i in 0..points.count() {
        points.copy(i, &mut column);
        sums.iter_mut().zip(&column).for_each(|(sum, x)| *sum += x.to_f64());
    }
    sums.iter().map(|sum| T::from_f64(sum / points.count() as f64)).collect()
}

fn subtract<T: Scalar>(column: &mut [T], origin: &[T]) {
    column.iter_mut().zip(origin).for_each(|(x, &o)| *x -= o);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_products_are_kept_and_the_first_among_equals() {
        let mut leaders = Leaders { wanted: 3, entries: Vec::new() };
        leaders.offer(&[1.0, 5.0, 2.0, 5.0, 2.0, 9.0], 100, 105);
        leaders.offer(&[2.0, 3.0], 106, 0);
        assert_eq!(leaders.entries, [(5.0, 101), (5.0, 103), (3.0, 107)]);
    }
}
