//! What the features of the samples are like, one by one: means, ranges, deviations.

use std::ops::Range;

use crate::blocks::Run;
use crate::error::{Error, Result};
use crate::masses::Masses;
use crate::matrix::MatrixView;
use crate::scalar::Scalar;

/// The most parts a pass is cut into: it bounds the memory of their sums, whatever the number of samples.
const MOST_PARTS: usize = 64;

/// The fewest samples in a part.
const SMALLEST_PART: usize = 512;

/// The mean and the extremes of each feature.
pub(super) struct Features {
    /// Sums over the samples of x/T, which cannot overflow.
    means: Vec<f64>,
    least: Vec<f64>,
    largest: Vec<f64>,
}

/// How far the ranges of features are apart, constant features not counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RangeRatio {
    /// The lower quartile of the ranges, that of the feature at place (n − 1)/4 of n, rounded down: of few features the
    /// least.
    pub quartile: f64,
    /// The largest range.
    pub largest: f64,
    /// Its feature.
    pub largest_feature: usize,
}

impl RangeRatio {
    /// The largest range over the lower quartile.
    pub fn ratio(&self) -> f64 {
        self.largest / self.quartile
    }
}

impl Features {
    /// One pass over the samples, which must be finite.
    pub(super) fn of<T: Scalar>(samples: MatrixView<'_, T>, masses: Masses<'_>, run: Run<'_>) -> Result<Self> {
        if samples.columns() == 0 {
            return Err(Error::Empty { what: "samples", unit: "sample" });
        }
        if samples.rows() == 0 {
            return Err(Error::Empty { what: "samples", unit: "feature" });
        }
        let parts = in_parts(samples, run, |part: &mut Self, i, column| {
            let features = part.means.iter_mut().zip(&mut part.least).zip(&mut part.largest);
            for (((mean, least), largest), x) in features.zip(column) {
                let x = x.to_f64();
                *mean += x / masses.total() * masses.of(i);
                *least = least.min(x);
                *largest = largest.max(x);
            }
        })?;
        let mut whole = Self::empty(samples.rows());
        for part in parts {
            whole.means.iter_mut().zip(part.means).for_each(|(mean, part)| *mean += part);
            whole.least.iter_mut().zip(part.least).for_each(|(least, part)| *least = least.min(part));
            whole.largest.iter_mut().zip(part.largest).for_each(|(largest, part)| *largest = largest.max(part));
        }
        Ok(whole)
    }

    /// The mean of each feature; of a constant one exactly its value.
    pub(super) fn means(&self) -> Vec<f64> {
        let mean = |(r, &mean): (usize, &f64)| mean.clamp(self.least[r], self.largest[r]);
        self.means.iter().enumerate().map(mean).collect()
    }

    /// Largest minus least value of each feature, one for a constant feature.
    pub(super) fn ranges(&self) -> Vec<f64> {
        (0..self.means.len()).map(|r| or_one(self.range(r))).collect()
    }

    fn range(&self, feature: usize) -> f64 {
        (self.largest[feature] - self.least[feature]).min(f64::MAX)
    }

    /// The standard deviation of each feature, one for a constant feature: another pass.
    pub(super) fn deviations<T: Scalar>(
        &self,
        samples: MatrixView<'_, T>,
        masses: Masses<'_>,
        run: Run<'_>,
    ) -> Result<Vec<f64>> {
        let (means, ranges) = (self.means(), self.ranges());
        let parts = in_parts(samples, run, |part: &mut Vec<f64>, i, column| {
            for (r, (sum, x)) in part.iter_mut().zip(column).enumerate() {
                // In units of the range, so that no square over- or underflows.
                *sum += ((x.to_f64() - means[r]) / ranges[r]).powi(2) * masses.of(i);
            }
        })?;
        let mut sums = vec![0.0; samples.rows()];
        for part in parts {
            sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        }
        Ok(sums.iter().zip(ranges).map(|(sum, range)| or_one(range * (sum / masses.total()).sqrt())).collect())
    }

    /// The lower quartile of the ranges and the largest; `None` if all features are constant.
    pub(super) fn range_ratio(&self) -> Option<RangeRatio> {
        let ranges = (0..self.means.len()).map(|r| (self.range(r), r));
        let mut ranges: Vec<(f64, usize)> = ranges.filter(|(range, _)| *range > 0.0).collect();
        ranges.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        let &(largest, largest_feature) = ranges.last()?;
        let quartile = ranges[(ranges.len() - 1) / 4].0;
        Some(RangeRatio { quartile, largest, largest_feature })
    }
}

/// A sum over a part of the samples, before the first.
trait Empty: Send {
    fn empty(n_features: usize) -> Self;
}

impl Empty for Features {
    fn empty(n_features: usize) -> Self {
        Self {
            means: vec![0.0; n_features],
            least: vec![f64::INFINITY; n_features],
            largest: vec![f64::NEG_INFINITY; n_features],
        }
    }
}

impl Empty for Vec<f64> {
    fn empty(n_features: usize) -> Self {
        vec![0.0; n_features]
    }
}

/// Gives each part every one of its samples, in order.
fn in_parts<T: Scalar, P: Empty>(
    samples: MatrixView<'_, T>,
    run: Run<'_>,
    take: impl Fn(&mut P, usize, &[T]) + Sync,
) -> Result<Vec<P>> {
    let size = samples.columns().div_ceil(MOST_PARTS).max(SMALLEST_PART);
    let scratch = || vec![T::ZERO; samples.rows()];
    run.map_blocks(samples.columns(), size, scratch, |column: &mut Vec<T>, range: Range<usize>| {
        let mut part = P::empty(samples.rows());
        for i in range {
            samples.copy_finite_column(i, column, "samples")?;
            take(&mut part, i, column);
        }
        Ok(part)
    })
}

fn or_one(divisor: f64) -> f64 {
    if divisor > 0.0 { divisor } else { 1.0 }
}
