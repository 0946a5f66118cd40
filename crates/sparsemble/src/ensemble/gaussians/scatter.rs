//! How the samples of a member are spread: what its covariance is fitted to.

use fearless_simd::{Simd, dispatch};

use crate::blocks::Run;
use crate::error::Result;
use crate::kernels::{Columns, best_level, subtract_combination};
use crate::masses::Masses;
use crate::matrix::{Matrix, MatrixView};
use crate::patch::remove_mean;
use crate::scalar::Scalar;

/// Samples that are added up in their own precision before the sums, which are in double precision, take them.
const TOGETHER: usize = 64;

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
        let mut some = Columns::zeros(samples.rows(), TOGETHER);
        let nothing = vec![T::ZERO; some.stride()];
        let mut sum = nothing.clone();
        for own in own.chunks(TOGETHER) {
            for (slot, &(i, weight)) in own.iter().enumerate() {
                let sample = some.padded_mut(slot);
                samples.copy_column(i, sample);
                remove_mean(&mut sample[..samples.rows()]);
                self.mass += weight;
            }
            for c in 0..samples.rows() {
                let factor = |slot: usize, weight: f64| T::from_f64(-weight) * some.column(slot)[c];
                let terms = own.iter().enumerate().map(|(slot, &(_, weight))| (slot as u32, factor(slot, weight)));
                subtract_combination(simd, &some, &terms, &nothing, &mut sum);
                self.sums.padded_mut(c).iter_mut().zip(&sum).for_each(|(to, &value)| *to += value.to_f64());
            }
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
