//! How the samples of a member are spread: what its covariance is fitted to.

use std::cmp::Reverse;
use std::ops::Range;

use fearless_simd::{Simd, dispatch};

use crate::blocks::Run;
use crate::error::Result;
use crate::kernels::{Columns, add_outer_products, best_level};
use crate::masses::Masses;
use crate::matrix::{Matrix, MatrixView};
use crate::patch::remove_mean;
use crate::scalar::Scalar;

/// Samples that are added up in their own precision before the sums, which are in double precision, take them: the squares of
/// samples must be within its range.
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
        // The members with most samples first, so that no thread begins with one when all others are done.
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|&k| Reverse(own[k].len()));
        // One member at a time: its sum has one order, whatever the threads.
        let one = |(): &mut (), member: Range<usize>| {
            let mut scatter = Self { sums: Columns::zeros(samples.rows(), samples.rows()), mass: 0.0 };
            dispatch!(best_level(), simd => scatter.add_all(simd, samples, &own[order[member.start]]));
            Ok(scatter)
        };
        let scatters = run.map_blocks(count, 1, || (), one)?;
        let mut placed: Vec<(usize, Self)> = order.into_iter().zip(scatters).collect();
        placed.sort_by_key(|(k, _)| *k);
        Ok(placed.into_iter().map(|(_, scatter)| scatter).collect())
    }

    #[inline(always)]
    fn add_all<S: Simd, T: Scalar>(&mut self, simd: S, samples: MatrixView<'_, T>, own: &[(usize, f64)]) {
        let [mut some, mut weighted] = [(); 2].map(|()| Columns::zeros(samples.rows(), TOGETHER));
        for own in own.chunks(TOGETHER) {
            for (slot, &(i, mass)) in own.iter().enumerate() {
                let sample = &mut some.padded_mut(slot)[..samples.rows()];
                samples.copy_column(i, sample);
                remove_mean(sample);
                let weight = T::from_f64(mass);
                weighted.padded_mut(slot).iter_mut().zip(sample).for_each(|(to, value)| *to = weight * *value);
                self.mass += mass;
            }
            add_outer_products(simd, (&some, &weighted), own.len(), &mut self.sums);
        }
    }

    /// (Σ w x xᵀ + ν C₀) / (Σ w + ν), where ν samples of covariance C₀ are added to those there are.
    pub(super) fn covariance<T: Scalar>(&self, prior: &Matrix<T>, prior_samples: f64) -> Matrix<T> {
        let size = self.sums.rows();
        let total = (self.mass + prior_samples).max(f64::MIN_POSITIVE);
        // From one half, as those of the sums differ by rounding.
        Matrix::from_fn(size, size, |r, c| {
            let (r, c) = (r.max(c), r.min(c));
            T::from_f64((self.sums.column(c)[r] + prior_samples * prior.column(c)[r].to_f64()) / total)
        })
    }
}
