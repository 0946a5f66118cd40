//! How the samples of a member are spread: what its covariance is fitted to.

use fearless_simd::{Simd, dispatch};

use crate::blocks::Run;
use crate::error::Result;
use crate::kernels::{Columns, axpy, best_level};
use crate::masses::Masses;
use crate::matrix::{Matrix, MatrixView};
use crate::patch::remove_mean;
use crate::scalar::Scalar;

/// The members that count for a sample, and how much.
pub(super) type Weights = Vec<(u32, f32)>;

/// Σ w x xᵀ and Σ w over the samples x of a member without their means, where all samples together weigh as much as there are.
#[derive(Debug)]
pub(super) struct Scatter {
    sums: Columns<f64>,
    /// Σ w.
    pub(super) mass: f64,
}

impl Scatter {
    /// The scatter of each of `count` members.
    pub(super) fn of_each<T: Scalar>(
        count: usize,
        samples: MatrixView<'_, T>,
        masses: &Masses<'_>,
        weights: &[Weights],
        run: Run<'_>,
    ) -> Result<Vec<Self>> {
        let mut own = vec![Vec::new(); count];
        for (i, members) in weights.iter().enumerate() {
            let mass = masses.share(i) * samples.columns() as f64;
            for &(k, weight) in members {
                own[k as usize].push((i, mass * f64::from(weight)));
            }
        }
        // One member at a time: its sum has one order, whatever the threads.
        run.map_blocks(
            count,
            1,
            || (),
            |(), member| {
                let mut scatter = Self { sums: Columns::zeros(samples.rows(), samples.rows()), mass: 0.0 };
                dispatch!(best_level(), simd => scatter.add_all(simd, samples, &own[member.start]));
                Ok(scatter)
            },
        )
    }

    #[inline(always)]
    fn add_all<S: Simd, T: Scalar>(&mut self, simd: S, samples: MatrixView<'_, T>, own: &[(usize, f64)]) {
        let mut column = vec![T::ZERO; samples.rows()];
        let mut sample = vec![0.0; self.sums.stride()];
        for &(i, weight) in own {
            samples.copy_column(i, &mut column);
            remove_mean(&mut column);
            sample.iter_mut().zip(&column).for_each(|(to, value)| *to = value.to_f64());
            for c in 0..samples.rows() {
                axpy(simd, weight * sample[c], &sample, self.sums.padded_mut(c));
            }
            self.mass += weight;
        }
    }

    /// (Σ w x xᵀ + ν C₀) / (Σ w + ν), where ν samples of covariance C₀ are added to those there are.
    pub(super) fn covariance<T: Scalar>(&self, prior: &Matrix<T>, prior_samples: f64) -> Matrix<T> {
        let size = self.sums.rows();
        let total = (self.mass + prior_samples).max(f64::MIN_POSITIVE);
        Matrix::from_fn(size, size, |r, c| {
            T::from_f64((self.sums.column(c)[r] + prior_samples * prior.column(c)[r].to_f64()) / total)
        })
    }
}
