//! The nearest centre of each sample, by the fused pass of the coders.
//!
//! With one centre o for the origin, ‖x − o‖² − ‖x − c‖² = 2·(cᵀx − ½‖c‖²) where x and c now count from o. So the nearest
//! centre has the largest product of (c, −½‖c‖²) with (x, 1), and if none is positive it is o itself: just what the
//! running maxima of the pass are. An origin in the midst of the centres also keeps the products small, so that little
//! is lost by cancellation; the distance to the winner is then computed from x − c itself, in double precision.

use std::ops::Range;

use fearless_simd::dispatch;

use crate::blocks::Run;
use crate::error::Result;
use crate::kernels::{Classes, Columns, Panels, Tiles, best_level, correlate};
use crate::matrix::Matrix;
use crate::points::Points;
use crate::scalar::Scalar;
use crate::sums::squared_distance;

use super::screen::{self, Screen, nearest_of};

/// Samples that go through the pass together: enough to amortise a walk through the centres, few enough for the cache.
pub(super) const BLOCK: usize = 192;

/// Centres made ready for the search.
#[derive(Debug)]
pub(super) struct Nearest<T> {
    centers: Columns<T>,
    origin: usize,
    panels: Panels<T>,
    /// `None` if there are too few centres for it to pay.
    screen: Option<Screen<T>>,
}

/// One thread's working space.
pub(super) struct Scratch<T> {
    samples: Columns<T>,
    /// (x − o, 1) of each sample.
    from_origin: Columns<T>,
    tiles: Tiles<T>,
    classes: Classes<T>,
    /// Centres of which the nearest is one.
    leaders: Vec<u32>,
    space: Option<screen::Space<T>>,
    /// The squared distance below which a centre is wanted, for each sample of the block.
    limits: Vec<f64>,
    found: Vec<Option<(usize, f64)>>,
}

impl<T: Scalar> Nearest<T> {
    /// Packs the centres, of which there must be one at least.
    pub(super) fn new(centers: &Matrix<T>) -> Self {
        Self::after(None, centers)
    }

    /// As [`Self::new`], sooner: these are the centres after they have moved.
    pub(super) fn moved(&self, centers: &Matrix<T>) -> Self {
        Self::after(Some(self), centers)
    }

    fn after(former: Option<&Self>, centers: &Matrix<T>) -> Self {
        let columns = Columns::copy_of(centers.view());
        let origin = central(&columns);
        let panels = pack(&columns, columns.column(origin));
        let screen = Screen::new(&columns, columns.column(origin), former.and_then(|former| former.screen.as_ref()));
        Self { centers: columns, origin, panels, screen }
    }

    pub(super) fn centers(&self) -> &Columns<T> {
        &self.centers
    }

    pub(super) fn scratch(&self) -> Scratch<T> {
        let rows = self.centers.rows();
        Scratch {
            samples: Columns::zeros(rows, BLOCK),
            from_origin: Columns::zeros(rows + 1, BLOCK),
            tiles: Tiles::new(rows + 1, BLOCK),
            classes: Classes::new(&self.panels, BLOCK),
            leaders: Vec::new(),
            space: self.screen.as_ref().map(Screen::space),
            limits: Vec::with_capacity(BLOCK),
            found: Vec::with_capacity(BLOCK),
        }
    }

    /// Gives `take` the number, the padded values and the limit of each sample in the range, in order, and its nearest
    /// centre with the squared distance to it, if that is below the limit.
    pub(super) fn visit(
        &self,
        points: &Points<'_, T>,
        scratch: &mut Scratch<T>,
        range: Range<usize>,
        limit: impl Fn(usize, &[T]) -> f64,
        mut take: impl FnMut(usize, &[T], f64, Option<(usize, f64)>),
    ) {
        // What is screened depends on the samples alone, as the range does, so that the bits do not depend on threads.
        let mut screening = self.screen.as_ref();
        let mut start = range.start;
        while start < range.end {
            let size = if screening.is_some() { screen::BLOCK } else { BLOCK };
            let block = start..(start + size).min(range.end);
            start = block.end;
            self.load(points, scratch, block.clone(), &limit);
            screening = screening.filter(|screen| self.search_screened(screen, scratch));
            if screening.is_none() {
                self.search(scratch);
            }
            for (slot, i) in block.enumerate() {
                take(i, scratch.samples.padded(slot), scratch.limits[slot], scratch.found[slot]);
            }
        }
    }

    fn load(
        &self,
        points: &Points<'_, T>,
        scratch: &mut Scratch<T>,
        block: Range<usize>,
        limit: impl Fn(usize, &[T]) -> f64,
    ) {
        let (rows, origin) = (self.centers.rows(), self.centers.column(self.origin));
        scratch.tiles.clear();
        scratch.limits.clear();
        for (slot, i) in block.enumerate() {
            let x = scratch.samples.padded_mut(slot);
            points.copy(i, x);
            scratch.limits.push(limit(i, x));
            let from_origin = scratch.from_origin.padded_mut(slot);
            subtract(x, origin, from_origin);
            from_origin[rows] = T::ONE;
            scratch.tiles.push(from_origin);
        }
    }

    /// Looks at all centres. The pass tells of a few that the nearest is one of them; the distances tell which.
    fn search(&self, scratch: &mut Scratch<T>) {
        let Scratch { samples, tiles, classes, leaders, limits, found, .. } = scratch;
        correlate(&self.panels, tiles, classes);
        found.clear();
        dispatch!(self.panels.level(), simd => {
            for (slot, &limit) in limits.iter().enumerate() {
                leaders.clear();
                classes.leaders(simd, slot, leaders);
                if leaders.is_empty() {
                    leaders.push(self.origin as u32); // no centre is nearer
                }
                found.push(nearest_of(simd, &self.centers, leaders, samples.padded(slot), limit));
            }
        });
    }

    /// Looks at the centres the screen leaves; `false` if these are too many.
    fn search_screened(&self, screen: &Screen<T>, scratch: &mut Scratch<T>) -> bool {
        let Scratch { samples, from_origin, tiles, space: Some(space), limits, found, .. } = scratch else {
            return false;
        };
        let rows = self.centers.rows();
        screen.bound(tiles, space, (0..limits.len()).map(|slot| &from_origin.column(slot)[..rows]));
        for (slot, limit) in limits.iter_mut().enumerate() {
            let x = samples.padded(slot);
            *limit = screen.keep(space, *limit, |center| self.squared_distance(x, center));
            if screen.is_useless(space) {
                return false;
            }
        }
        found.clear();
        dispatch!(self.panels.level(), simd => {
            for (slot, &limit) in limits.iter().enumerate() {
                found.push(nearest_of(simd, &self.centers, space.left(slot), samples.padded(slot), limit));
            }
        });
        true
    }

    /// ‖x − c‖² of a padded sample.
    #[inline]
    pub(super) fn squared_distance(&self, x: &[T], center: usize) -> f64 {
        squared_distance(x, self.centers.padded(center))
    }

    /// The nearest centre of every sample and the squared distance to it, where that is below `limit` of the sample.
    pub(super) fn find(
        &self,
        points: &Points<'_, T>,
        limit: impl Fn(usize) -> f64 + Sync,
        run: Run<'_>,
    ) -> Result<Vec<Option<(usize, f64)>>> {
        const CHUNK: usize = 8 * BLOCK;
        let chunks = run.map_blocks(
            points.count(),
            CHUNK,
            || self.scratch(),
            |scratch, range| {
                let mut found = Vec::with_capacity(range.len());
                self.visit(points, scratch, range, |i, _| limit(i), |_, _, _, nearest| found.push(nearest));
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
        // The last two are large enough to be screened, which leaves few centres of the one and too many of the other.
        let shapes = [(1, 1, 0.0, 0), (3, 5, 0.0, 0), (17, 40, 1e3, 0), (64, 300, 10.0, 50), (64, 100, -1e5, 0)];
        for (rows, n_centers, offset, damped) in shapes {
            let size = |r: usize| if r < damped { 0.01 } else { 1.0 };
            let samples = Matrix::from_fn(rows, 400, |r, c| offset + size(r) * value(r + 31 * c));
            let centers = Matrix::from_fn(rows, n_centers, |r, c| offset + size(r) * value(5000 + r + 37 * c));
            let points = Points::tame(samples.view(), &[1.0; 400]);
            let found = Nearest::new(&centers).find(&points, |_| f64::INFINITY, Run::threads(1)).unwrap();
            for (i, (center, distance)) in found.into_iter().flatten().enumerate() {
                let pairs = |j: usize| samples.column(i).iter().zip(centers.column(j));
                let apart = |j: usize| pairs(j).map(|(x, c)| (x - c).powi(2)).sum::<f64>();
                let least = (0..n_centers).map(apart).fold(f64::MAX, f64::min);
                assert!(apart(center) <= least * (1.0 + 1e-9), "sample {i} of {rows} features");
                assert!((distance - least).abs() <= 1e-9 * least, "{distance} for {least}");
            }
        }
    }

    #[test]
    fn the_origin_is_found_too_and_a_sample_on_a_centre_is_at_distance_zero() {
        let centers = Matrix::from_fn(5, 20, |r, c| value(r + 5 * c) as f32);
        let points = Points::tame(centers.view(), &[1.0; 20]);
        let found = Nearest::new(&centers).find(&points, |_| f64::INFINITY, Run::threads(1)).unwrap();
        for (i, (center, distance)) in found.into_iter().flatten().enumerate() {
            assert_eq!((center, distance.to_bits()), (i, 0));
        }
    }

    #[test]
    fn the_first_of_equal_centres_is_taken() {
        let centers = Matrix::from_fn(3, 9, |_, c| if c % 3 == 0 { 0.0 } else { (c % 3) as f32 });
        let points = Points::tame(centers.view(), &[1.0; 9]);
        let found = Nearest::new(&centers).find(&points, |_| f64::INFINITY, Run::threads(1)).unwrap();
        assert!(
            found.iter().enumerate().all(|(i, nearest)| nearest.is_some_and(|(center, _)| center == i % 3)),
            "{found:?}"
        );
    }
}
