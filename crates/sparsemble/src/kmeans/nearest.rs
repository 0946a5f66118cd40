//! The nearest centre of each sample, by the fused pass of the coders.
//!
//! With one centre o for the origin, ‖x − o‖² − ‖x − c‖² = 2·(cᵀx − ½‖c‖²) where x and c now count from o. So the nearest
//! centre has the largest product of (c, −½‖c‖²) with (x, 1), and if none is positive it is o itself: just what the
//! running classes of the pass are. An origin in the midst of the centres also keeps the products small, so that little
//! is lost by cancellation; the distance to the winner is then computed from x − c itself, in double precision.

use std::ops::Range;

use fearless_simd::{dispatch, prelude::*};

use crate::blocks::Run;
use crate::error::Result;
use crate::kernels::{Classes, Columns, Largest, Panels, Tiles, best_level, correlate};
use crate::matrix::Matrix;
use crate::scalar::Scalar;

use super::points::Points;

/// Samples that go through the pass together: enough to amortise a walk through the centres, few enough for the cache.
pub(super) const BLOCK: usize = 192;

/// Centres made ready for the search.
#[derive(Debug)]
pub(super) struct Nearest<T> {
    centers: Columns<T>,
    origin: usize,
    panels: Panels<T>,
}

/// One thread's working space.
pub(super) struct Scratch<T> {
    samples: Columns<T>,
    from_origin: Vec<T>,
    tiles: Tiles<T>,
    classes: Classes<T>,
    leaders: Vec<u32>,
    winners: Vec<usize>,
}

impl<T: Scalar> Nearest<T> {
    /// Packs the centres, of which there must be one at least.
    pub(super) fn new(centers: &Matrix<T>) -> Self {
        let columns = Columns::copy_of(centers.view());
        let origin = central(&columns);
        let panels = pack(&columns, columns.column(origin));
        Self { centers: columns, origin, panels }
    }

    pub(super) fn scratch(&self) -> Scratch<T> {
        Scratch {
            samples: Columns::zeros(self.centers.rows(), BLOCK),
            from_origin: vec![T::ONE; self.centers.rows() + 1],
            tiles: Tiles::new(self.centers.rows() + 1, BLOCK),
            classes: Classes::new(&self.panels, BLOCK, Largest::Value),
            leaders: Vec::new(),
            winners: Vec::with_capacity(BLOCK),
        }
    }

    /// Gives `take` the number, the padded values and the nearest centre of each sample in the range, in order.
    pub(super) fn visit(
        &self,
        points: &Points<'_, T>,
        scratch: &mut Scratch<T>,
        range: Range<usize>,
        mut take: impl FnMut(usize, &[T], usize),
    ) {
        let origin = self.centers.column(self.origin);
        for start in range.clone().step_by(BLOCK) {
            let block = start..(start + BLOCK).min(range.end);
            scratch.tiles.clear();
            for (slot, i) in block.clone().enumerate() {
                let x = scratch.samples.padded_mut(slot);
                points.copy(i, x);
                subtract(x, origin, &mut scratch.from_origin);
                scratch.tiles.push(&scratch.from_origin);
            }
            correlate(&self.panels, &scratch.tiles, &mut scratch.classes);
            scratch.winners.clear();
            dispatch!(self.panels.level(), simd => self.find_winners(simd, scratch, block.len()));
            for (slot, i) in block.enumerate() {
                take(i, scratch.samples.padded(slot), scratch.winners[slot]);
            }
        }
    }

    /// The pass tells of a few centres that the nearest is one of them; the distances tell which, the first among equals.
    #[inline(always)]
    fn find_winners<S: Simd>(&self, simd: S, scratch: &mut Scratch<T>, count: usize) {
        for slot in 0..count {
            let x = scratch.samples.padded(slot);
            scratch.leaders.clear();
            scratch.classes.leaders(simd, slot, &mut scratch.leaders);
            let apart = |&j: &u32| (squared_distance_by(simd, x, self.centers.padded(j as usize)), j as usize);
            let nearest = scratch.leaders.iter().map(apart).min_by(|a, b| a.0.total_cmp(&b.0));
            scratch.winners.push(nearest.map_or(self.origin, |(_, center)| center));
        }
    }

    /// ‖x − c‖² of a padded sample.
    #[inline]
    pub(super) fn squared_distance(&self, x: &[T], center: usize) -> f64 {
        squared_distance(x, self.centers.padded(center))
    }

    /// The nearest centre of every sample and the squared distance to it.
    pub(super) fn find(&self, points: &Points<'_, T>, run: Run<'_>) -> Result<Vec<(u32, f64)>> {
        const CHUNK: usize = 8 * BLOCK;
        let chunks = run.map_blocks(
            points.count(),
            CHUNK,
            || self.scratch(),
            |scratch, range| {
                let mut found = Vec::with_capacity(range.len());
                self.visit(points, scratch, range, |_, x, center| {
                    found.push((center as u32, self.squared_distance(x, center)));
                });
                Ok(found)
            },
        )?;
        Ok(chunks.concat())
    }
}

/// (c, −½‖c‖²) for each column c, counted from the origin.
pub(super) fn pack<T: Scalar>(centers: &Columns<T>, origin: &[T]) -> Panels<T> {
    let rows = centers.rows();
    let mut extended = Columns::zeros(rows + 1, centers.count());
    for j in 0..centers.count() {
        let column = extended.padded_mut(j);
        subtract(centers.column(j), origin, column);
        let energy: f64 = column[..rows].iter().map(|c| c.to_f64().powi(2)).sum();
        column[rows] = T::from_f64(-0.5 * energy);
    }
    Panels::pack(best_level(), (rows + 1, centers.count()), |j| extended.column(j), |_| T::ONE)
}

/// x − o at the front of `out`.
#[inline]
pub(super) fn subtract<T: Scalar>(x: &[T], origin: &[T], out: &mut [T]) {
    for ((out, &x), &o) in out.iter_mut().zip(x).zip(origin) {
        *out = x - o;
    }
}

/// ‖a − b‖² of padded columns, in double precision.
#[inline]
pub(super) fn squared_distance<T: Scalar>(a: &[T], b: &[T]) -> f64 {
    dispatch!(best_level(), simd => squared_distance_by(simd, a, b))
}

#[inline(always)]
fn squared_distance_by<S: Simd, T: Scalar>(_: S, a: &[T], b: &[T]) -> f64 {
    // Sums side by side, which the compiler turns into vectors.
    const SUMS: usize = 8;
    let mut sums = [0.0_f64; SUMS];
    for (a, b) in a.as_chunks::<SUMS>().0.iter().zip(b.as_chunks::<SUMS>().0) {
        for i in 0..SUMS {
            let apart = a[i].to_f64() - b[i].to_f64();
            sums[i] += apart * apart;
        }
    }
    sums.iter().sum()
}

/// The column nearest to the mean of all.
fn central<T: Scalar>(centers: &Columns<T>) -> usize {
    let mut mean = vec![0.0_f64; centers.rows()];
    for j in 0..centers.count() {
        mean.iter_mut().zip(centers.column(j)).for_each(|(sum, c)| *sum += c.to_f64() / centers.count() as f64);
    }
    let apart = |j: usize| mean.iter().zip(centers.column(j)).map(|(m, c)| (c.to_f64() - m).powi(2)).sum::<f64>();
    (0..centers.count()).min_by(|&i, &j| apart(i).total_cmp(&apart(j))).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(seed: usize) -> f64 {
        ((seed * 7919 + 13) % 1009) as f64 / 100.0 - 5.0
    }

    #[test]
    fn the_nearest_centre_is_that_of_a_plain_search() {
        for (rows, n_centers, offset) in [(1, 1, 0.0), (3, 5, 0.0), (17, 40, 1e3), (64, 100, -1e5)] {
            let samples = Matrix::from_fn(rows, 400, |r, c| offset + value(r + 31 * c));
            let centers = Matrix::from_fn(rows, n_centers, |r, c| offset + value(5000 + r + 37 * c));
            let points = Points::tame(samples.view(), &[1.0; 400]);
            let found = Nearest::new(&centers).find(&points, Run::threads(1)).unwrap();
            for (i, (center, distance)) in found.into_iter().enumerate() {
                let pairs = |j: usize| samples.column(i).iter().zip(centers.column(j));
                let apart = |j: usize| pairs(j).map(|(x, c)| (x - c).powi(2)).sum::<f64>();
                let least = (0..n_centers).map(apart).fold(f64::MAX, f64::min);
                assert!(apart(center as usize) <= least * (1.0 + 1e-9), "sample {i} of {rows} features");
                assert!((distance - least).abs() <= 1e-9 * least, "{distance} for {least}");
            }
        }
    }

    #[test]
    fn the_origin_is_found_too_and_a_sample_on_a_centre_is_at_distance_zero() {
        let centers = Matrix::from_fn(5, 20, |r, c| value(r + 5 * c) as f32);
        let points = Points::tame(centers.view(), &[1.0; 20]);
        let found = Nearest::new(&centers).find(&points, Run::threads(1)).unwrap();
        for (i, (center, distance)) in found.into_iter().enumerate() {
            assert_eq!((center as usize, distance.to_bits()), (i, 0));
        }
    }

    #[test]
    fn the_first_of_equal_centres_is_taken() {
        let centers = Matrix::from_fn(3, 9, |_, c| if c % 3 == 0 { 0.0 } else { (c % 3) as f32 });
        let points = Points::tame(centers.view(), &[1.0; 9]);
        let found = Nearest::new(&centers).find(&points, Run::threads(1)).unwrap();
        assert!(found.iter().enumerate().all(|(i, (center, _))| *center as usize == i % 3), "{found:?}");
    }
}
