//! Gaussians that were learned from many samples, moved towards some others.

use std::ops::Range;

use crate::blocks::Run;
use crate::eigen::Eigen;
use crate::error::Result;
use crate::masses::Masses;
use crate::matrix::MatrixView;
use crate::scalar::Scalar;

use super::LocalGaussians;
use super::members::BLOCK;
use super::scatter::{Scatter, Weights};

impl<T: Scalar> LocalGaussians<T> {
    /// These Gaussians for samples like the given ones, which have no mean and noise of this deviation.
    ///
    /// C_k becomes (Σ w x xᵀ + ν C_k) / (Σ w + ν), with w how likely each sample x is of `guides`' member k and ν =
    /// `prior_samples`; π_k becomes the mean of what it was and of the share of the samples. A member without samples stays
    /// as it is. `guides` are Gaussians that were adapted before, or these. The multiply-adds of the comparison come along.
    ///
    /// # Errors
    /// If a sample is not finite or the run was interrupted.
    pub(crate) fn adapted(
        &self,
        guides: &Self,
        samples: MatrixView<'_, T>,
        (noise, prior_samples): (f64, f64),
        run: Run<'_>,
    ) -> Result<(Self, u64)> {
        let (weights, multiply_adds) = guides.weights_of(samples, noise, run)?;
        let run = run.silent();
        let masses = Masses::new(None, samples.columns())?;
        let scatters = Scatter::of_each(self.count(), samples, &masses, &weights, run)?;
        let member = |(): &mut (), k: Range<usize>| {
            let (scatter, own) = (&scatters[k.start], &self.covariances[k.start]);
            if scatter.mass <= 0.0 {
                return Ok((own.clone(), self.eigen[k.start].clone()));
            }
            let covariance = scatter.covariance(own, prior_samples);
            let eigen = Eigen::of_symmetric(&covariance.view().converted());
            // ν C_k is positive definite, and so is the sum; only rounding may say otherwise.
            let least =
                eigen.values.first().map_or(0.0, |largest| largest * T::EPSILON.to_f64()).max(f64::MIN_POSITIVE);
            let values = eigen.values.iter().map(|value| value.max(least)).collect();
            Ok((covariance, Eigen { values, ..eigen }))
        };
        let (covariances, eigen) = run.map_blocks(self.count(), 1, || (), member)?.into_iter().unzip();
        let share = |scatter: &Scatter| scatter.mass / samples.columns().max(1) as f64;
        let weights = self.weights.iter().zip(&scatters).map(|(own, scatter)| (own + share(scatter)) / 2.0).collect();
        Ok((Self { weights, covariances, eigen, mean: self.mean, training: self.training.clone() }, multiply_adds))
    }

    /// The weights of the members for samples that have no mean and noise of this deviation, and the multiply-adds.
    fn weights_of(&self, samples: MatrixView<'_, T>, noise: f64, run: Run<'_>) -> Result<(Vec<Weights>, u64)> {
        let members = self.members(noise, run)?;
        let scratch = || (members.scratch(), crate::Matrix::zeros(samples.rows(), BLOCK));
        let blocks = run.map_blocks(samples.columns(), BLOCK, scratch, |(scratch, block), range| {
            for (slot, i) in range.clone().enumerate() {
                samples.copy_finite_column(i, block.column_mut(slot), "samples")?;
            }
            let mut weights = Vec::with_capacity(range.len());
            let columns = (0..range.len()).map(|slot| block.column(slot));
            members.weigh(scratch, columns, |_, found, _| {
                weights.push(found.iter().map(|&(k, weight)| (k as u32, weight as f32)).collect::<Weights>());
            });
            Ok(weights)
        })?;
        let multiply_adds = members.n_directions() * samples.rows() * samples.columns();
        Ok((blocks.into_iter().flatten().collect(), multiply_adds as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::MeanPrior;
    use crate::matrix::Matrix;

    /// Members of four features: what varies along 1, 1, −1, −1, and what along 1, −1, 1, −1.
    fn members() -> LocalGaussians<f64> {
        let along =
            |signs: [f64; 4]| Matrix::from_fn(4, 4, |i, j| 9.0 * signs[i] * signs[j] + if i == j { 0.1 } else { 0.0 });
        let covariances = [along([1.0, 1.0, -1.0, -1.0]), along([1.0, -1.0, 1.0, -1.0])];
        LocalGaussians::new(vec![0.5, 0.5], &covariances, MeanPrior { mean: 0.0, deviation: 1.0 }).unwrap()
    }

    #[test]
    fn members_move_towards_their_samples_and_stay_without() {
        let learned = members();
        // All of the first member, and twice as large as it knows.
        let samples =
            Matrix::from_fn(4, 50, |i, c| if i < 2 { 6.0 } else { -6.0 } * if c % 2 == 0 { 1.0 } else { -1.0 });
        let (adapted, counted) = learned.adapted(&learned, samples.view(), (0.5, 50.0), Run::default()).unwrap();
        let found = &adapted.covariances()[0];
        for i in 0..4 {
            for j in 0..4 {
                // Half of it is what was known: 9 and 0.1, the other half 36.
                let expected = f64::midpoint(learned.covariances()[0].column(j)[i], 36.0 * found.column(j)[i].signum());
                assert!(
                    (found.column(j)[i] - expected).abs() < 1e-9,
                    "{i}, {j}: {} for {expected}",
                    found.column(j)[i]
                );
            }
        }
        let again = adapted.eigen()[0].map(|value| value);
        assert!(again.as_slice().iter().zip(found.as_slice()).all(|(a, b)| (a - b).abs() < 1e-9));
        assert_eq!(adapted.covariances()[1], learned.covariances()[1]);
        assert!((adapted.weights()[0] - 0.75).abs() < 1e-9 && (adapted.weights()[1] - 0.25).abs() < 1e-9);
        assert!((50 * 4..=50 * 32).contains(&counted), "{counted}");
    }

    #[test]
    fn samples_that_are_not_finite_are_refused() {
        let samples = Matrix::from_fn(4, 2, |i, c| if i == 3 && c == 1 { f64::NAN } else { 1.0 });
        let error = members().adapted(&members(), samples.view(), (0.5, 8.0), Run::default()).unwrap_err();
        assert!(error.to_string().contains("samples"), "{error}");
    }
}
