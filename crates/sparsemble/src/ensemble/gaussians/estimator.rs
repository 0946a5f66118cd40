//! Samples from what was measured of them: every member's linear estimate, weighted by how likely the member is.

use std::ops::Range;

use crate::blocks::Run;
use crate::degradation::{Degradation, Dense};
use crate::eigen::Eigen;
use crate::ensemble::strips::{STRIP, map_strips, piece, pieces};
use crate::error::{Error, Result, expect_size};
use crate::kernels::Columns;
use crate::matrix::{Matrix, MatrixView};
use crate::scalar::Scalar;

use super::LocalGaussians;
use super::members::{BLOCK, Member, Members, Scratch};

/// How samples are seen.
///
/// | field | symbol | purpose |
/// | --- | --- | --- |
/// | `phi` | Φ | what is measured of a sample; the sample itself if `None` |
/// | `noise` | σ | the standard deviation of what was added to each measurement, after Φ; ≥ 0 |
/// | `mean` | | whether the samples still have their mean |
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a, T> {
    /// Φ; nothing happened if `None`.
    pub phi: Option<&'a dyn Degradation<T>>,
    /// σ: the noise in what is measured, white.
    pub noise: f64,
    /// Whether the samples have their mean.
    pub mean: SampleMean,
}

/// Whether samples have their mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SampleMean {
    /// It was taken out before they were measured, and is not estimated.
    Removed,
    /// It is there, unknown, and estimated with the rest.
    Unknown,
}

/// Samples as estimated.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate<T> {
    /// The estimates, M × T.
    pub values: Matrix<T>,
    /// How far from the truth each sample is expected to be, in the unit of the samples: the root of the expected
    /// squared distance, made of what each member leaves open and of how far the members are apart.
    pub spread: Vec<f64>,
}

/// Local Gaussians prepared for one way of seeing samples.
///
/// # Cost
/// At most K·N² + (members that count)·M·N multiply-adds for each sample. To prepare: about 10·K·N³ once.
#[derive(Debug)]
pub struct GaussianEstimator<T> {
    members: Members<T>,
    /// The expected squared distance between a sample of a member and its estimate.
    open: Vec<f64>,
    /// Taken from measurements before, and given to estimates after.
    measured_mean: Vec<T>,
    mean: T,
}

impl<T: Scalar> LocalGaussians<T> {
    /// Prepares for estimating samples that are seen in this way.
    ///
    /// # Errors
    /// If Φ does not take as many features as the Gaussians have, or the noise is negative or not finite.
    pub fn estimator(&self, seen: &Seen<'_, T>, run: Run<'_>) -> Result<GaussianEstimator<T>> {
        (T::instances().estimator)(self, seen, run)
    }

    /// [`Self::estimator`]; see [`crate::instances`].
    pub(crate) fn estimator_here(&self, seen: &Seen<'_, T>, run: Run<'_>) -> Result<GaussianEstimator<T>> {
        if !(seen.noise >= 0.0 && seen.noise.is_finite()) {
            return Err(Error::parameter("noise", seen.noise, "must be zero or more, and finite"));
        }
        let matrix = seen.phi.map(|phi| self.matrix_of(phi)).transpose()?;
        let (members, open) = self.seen_through(matrix.as_ref(), seen, run)?;
        let mean = if seen.mean == SampleMean::Unknown { self.mean().mean } else { 0.0 };
        let measured = |n: usize| match &matrix {
            Some(phi) => (0..phi.columns()).map(|j| phi.column(j)[n]).sum::<f64>() * mean,
            None => mean,
        };
        let n_measurements = matrix.as_ref().map_or(self.n_features(), Matrix::rows);
        Ok(GaussianEstimator {
            members: Members::new(&members),
            open,
            measured_mean: (0..n_measurements).map(|n| T::from_f64(measured(n))).collect(),
            mean: T::from_f64(mean),
        })
    }

    /// Φ as a matrix.
    fn matrix_of(&self, phi: &dyn Degradation<T>) -> Result<Matrix<f64>> {
        let what = "degradation: number of features (that of the Gaussians)";
        expect_size(what, self.n_features(), phi.n_features())?;
        Ok(Dense::of(phi)?.matrix().converted())
    }

    /// The members as samples without mean and noise of this deviation are seen by them, for weights and not for estimates.
    pub(super) fn members(&self, noise: f64, run: Run<'_>) -> Result<Members<T>> {
        let member = |(): &mut (), k: Range<usize>| {
            let (log_weight, seen) = (self.weights()[k.start].ln(), self.seen_plainly(k.start, noise * noise));
            Ok(Member { log_weight, seen, gain: Matrix::zeros(0, self.n_features()) })
        };
        Ok(Members::new(&run.silent().map_blocks(self.count(), 1, || (), member)?))
    }

    /// What is seen of the samples of a member that have no mean and noise of this variance: its eigenvectors are known already.
    fn seen_plainly(&self, k: usize, noise: f64) -> Eigen {
        let Eigen { values, vectors } = &self.eigen()[k];
        Eigen { values: values.iter().map(|value| value + noise).collect(), vectors: vectors.clone() }
    }

    /// All members, each with the expected squared error of its estimates.
    fn seen_through(
        &self,
        phi: Option<&Matrix<f64>>,
        seen: &Seen<'_, T>,
        run: Run<'_>,
    ) -> Result<(Vec<Member<T>>, Vec<f64>)> {
        let one = |(): &mut (), k: Range<usize>| Ok(self.member(k.start, phi, seen));
        Ok(run.silent().map_blocks(self.count(), 1, || (), one)?.into_iter().unzip())
    }

    /// One member and the expected squared error of its estimates.
    fn member(&self, k: usize, phi: Option<&Matrix<f64>>, seen: &Seen<'_, T>) -> (Member<T>, f64) {
        let log_weight = self.weights()[k].ln();
        let noise = seen.noise * seen.noise;
        if let (None, SampleMean::Removed) = (phi, seen.mean) {
            let own = &self.eigen()[k];
            let open = own.values.iter().map(|value| value * noise / (value + noise)).sum();
            let gain = own.map(|value| value / (value + noise)).view().converted();
            return (Member { log_weight, seen: self.seen_plainly(k, noise), gain }, open);
        }
        let mut covariance = self.covariances()[k].view().converted::<f64>();
        if seen.mean == SampleMean::Unknown {
            let variance = self.mean().deviation * self.mean().deviation;
            covariance.as_mut_slice().iter_mut().for_each(|entry| *entry += variance);
        }
        let identity = || Matrix::from_fn(self.n_features(), self.n_features(), |i, j| f64::from(u8::from(i == j)));
        let phi = phi.cloned().unwrap_or_else(identity);
        // Φ times C, and ΦCΦᵀ + σ²I.
        let crossed = phi.times(&covariance);
        let mut measured = crossed.times(&phi.view().transposed().to_matrix());
        (0..measured.rows()).for_each(|n| measured.column_mut(n)[n] += noise);
        let eigen = Eigen::new(&measured);
        // No measurement is exact beyond rounding: directions Φ does not see must not be divided by.
        let largest = eigen.values.first().copied().unwrap_or(0.0);
        let least = (largest * 1e-12).max(f64::MIN_POSITIVE);
        let seen = Eigen { values: eigen.values.iter().map(|value| value.max(least)).collect(), ..eigen };
        let gain = crossed.view().transposed().to_matrix().times(&seen.map(|value| 1.0 / value));
        let total: f64 = (0..self.n_features()).map(|i| covariance.column(i)[i]).sum();
        let explained: f64 = (0..gain.columns())
            .map(|n| gain.column(n).iter().enumerate().map(|(i, g)| g * crossed.column(i)[n]).sum::<f64>())
            .sum();
        (Member { log_weight, seen, gain: gain.view().converted() }, (total - explained).max(0.0))
    }
}

impl<T: Scalar> GaussianEstimator<T> {
    /// N, the length of what is measured of a sample.
    pub fn n_measurements(&self) -> usize {
        self.measured_mean.len()
    }

    /// The expected sample for each column of measurements.
    ///
    /// # Shapes
    /// Measurements N × T, estimates M × T.
    ///
    /// # Errors
    /// If the measurements are of another length or not finite, or the run was interrupted.
    pub fn estimate(&self, measurements: MatrixView<'_, T>, run: Run<'_>) -> Result<Estimate<T>> {
        (T::instances().estimate)(self, measurements, run)
    }

    /// [`Self::estimate`]; see [`crate::instances`].
    pub(crate) fn estimate_here(&self, measurements: MatrixView<'_, T>, run: Run<'_>) -> Result<Estimate<T>> {
        expect_size("measurements: number of rows (that of Φ)", self.n_measurements(), measurements.rows())?;
        let mut values = Matrix::zeros(self.members.n_features(), measurements.columns());
        let pieces = pieces(&mut values);
        let spread = map_strips(measurements, run, |mut strip, range, _| {
            let mut spread = Vec::with_capacity(strip.columns());
            self.strip(&mut self.scratch(), &mut strip, &mut piece(&pieces, range.start), Some(&mut spread));
            Ok(spread)
        })?;
        drop(pieces);
        Ok(Estimate { values, spread: spread.into_iter().flatten().collect() })
    }

    /// What a thread needs for a strip.
    pub(crate) fn scratch(&self) -> EstimatorScratch<T> {
        EstimatorScratch {
            weighing: self.members.scratch(),
            says: vec![Vec::new(); self.members.count()],
            found: self.members.estimates(STRIP),
        }
    }

    /// Writes the estimates of one strip, and how far they may be off if that is wanted; returns the multiply-adds.
    ///
    /// The strip itself is spent: what is measured of the mean is taken out of it.
    pub(crate) fn strip(
        &self,
        EstimatorScratch { weighing, says, found }: &mut EstimatorScratch<T>,
        strip: &mut Matrix<T>,
        values: &mut [T],
        spread: Option<&mut Vec<f64>>,
    ) -> u64 {
        debug_assert!(strip.columns() <= STRIP);
        for c in 0..strip.columns() {
            strip.column_mut(c).iter_mut().zip(&self.measured_mean).for_each(|(z, mean)| *z -= *mean);
        }
        says.iter_mut().for_each(Vec::clear);
        for start in (0..strip.columns()).step_by(BLOCK) {
            let samples = (start..(start + BLOCK).min(strip.columns())).map(|c| strip.column(c));
            self.members.weigh(weighing, samples, |slot, weights, _| {
                for &(k, weight) in weights {
                    says[k].push((start + slot, weight));
                }
            });
        }
        (0..strip.columns()).for_each(|c| found.padded_mut(c).fill(T::ZERO));
        self.members.combine(says, strip, found);
        if let Some(spread) = spread {
            self.spread(says, strip, found, spread);
        }
        let n_features = self.members.n_features();
        for (c, out) in values.chunks_exact_mut(n_features).take(strip.columns()).enumerate() {
            out.iter_mut().zip(found.column(c)).for_each(|(out, &value)| *out = value + self.mean);
        }
        let estimates: usize = says.iter().map(Vec::len).sum();
        let compared = self.members.n_directions() * strip.columns();
        ((compared + estimates * n_features) * self.n_measurements()) as u64
    }

    /// Adds how far the estimates of one strip may be off: by what each member leaves open, and by how far it is from all of them.
    fn spread(&self, says: &[Vec<(usize, f64)>], strip: &Matrix<T>, found: &Columns<T>, spread: &mut Vec<f64>) {
        let mut squares = vec![0.0; strip.columns()];
        let mut own = self.members.estimates(STRIP);
        let mut says_alone = vec![Vec::new(); says.len()];
        for (k, says) in says.iter().enumerate() {
            says_alone[k] = says.iter().map(|&(slot, _)| (slot, 1.0)).collect();
            self.members.combine(&says_alone, strip, &mut own);
            for &(slot, weight) in says {
                let apart = found.column(slot).iter().zip(own.column(slot)).map(|(&a, &b)| (a - b).to_f64().powi(2));
                squares[slot] += weight * (self.open[k] + apart.sum::<f64>());
                own.padded_mut(slot).fill(T::ZERO);
            }
            says_alone[k].clear();
        }
        spread.extend(squares.into_iter().map(f64::sqrt));
    }
}

/// What a thread needs to estimate a strip.
pub(crate) struct EstimatorScratch<T> {
    weighing: Scratch<T>,
    /// Of each member the samples it has a say in, and how much.
    says: Vec<Vec<(usize, f64)>>,
    /// The estimates without their mean.
    found: Columns<T>,
}
