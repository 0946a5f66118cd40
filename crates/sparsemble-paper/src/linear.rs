//! The linear estimator of the least mean squared error (LMMSE): what recovery is without any sparse model.

use anyhow::{Result, ensure};
use sparsemble::Matrix;
use sparsemble::degradation::{Degradation, Dense};
use sparsemble::image::WHITE;

/// The measurements are taken to have noise of a grey level, which keeps the system regular.
const NOISE: f64 = 1.0 / WHITE;
/// Mean and deviation of the means of blocks, where they are not known.
const MEANS: (f64, f64) = (120.0 / WHITE, 60.0 / WHITE);

/// A Gaussian for patches without their means.
pub(crate) struct Linear {
    covariance: Vec<Vec<f64>>,
    white: f64,
}

impl Linear {
    /// The covariance of training patches.
    pub(crate) fn fit(training: &Matrix<f32>, white: f64) -> Self {
        let n_features = training.rows();
        let mut covariance = vec![vec![0.0; n_features]; n_features];
        for i in 0..training.columns() {
            let patch: Vec<f64> = training.column(i).iter().map(|&value| f64::from(value)).collect();
            let mean = patch.iter().sum::<f64>() / n_features as f64;
            for (row, a) in covariance.iter_mut().zip(&patch) {
                row.iter_mut().zip(&patch).for_each(|(sum, b)| *sum += (a - mean) * (b - mean));
            }
        }
        let count = training.columns() as f64;
        covariance.iter_mut().flatten().for_each(|sum| *sum /= count);
        Self { covariance, white }
    }

    /// The blocks of these measurements: m1 + CΦᵀ(ΦCΦᵀ + σ²ΦΦᵀ)⁻¹(z − mΦ1), where m is the mean of each block or, if
    /// that is not known, of all blocks, and C then has the spread of the means in it.
    pub(crate) fn recover(&self, phi: &Dense<f32>, z: &Matrix<f32>, means: Option<&[f64]>) -> Result<Matrix<f32>> {
        let spread = if means.is_some() { 0.0 } else { (MEANS.1 * self.white).powi(2) };
        let gain = self.gain(phi, spread)?;
        let n_features = phi.n_features();
        let mut seen = vec![0.0; phi.n_measurements()];
        phi.apply(&vec![1.0; n_features], &mut seen);
        let mut blocks = Matrix::zeros(n_features, z.columns());
        for i in 0..z.columns() {
            let mean = means.map_or(MEANS.0 * self.white, |means| means[i]);
            let rest: Vec<f64> =
                z.column(i).iter().zip(&seen).map(|(&z, &q)| f64::from(z) - mean * f64::from(q)).collect();
            for (value, row) in blocks.column_mut(i).iter_mut().zip(&gain) {
                *value = (mean + dot(row, &rest)) as f32;
            }
        }
        Ok(blocks)
    }

    /// CΦᵀ(ΦCΦᵀ + σ²ΦΦᵀ)⁻¹, a row for each pixel.
    fn gain(&self, phi: &Dense<f32>, spread: f64) -> Result<Vec<Vec<f64>>> {
        let phi = phi.matrix().to_matrix();
        let (n, m) = (phi.rows(), phi.columns());
        let rows: Vec<Vec<f64>> = (0..n).map(|r| (0..m).map(|c| f64::from(phi.column(c)[r])).collect()).collect();
        let sum = |row: &[f64]| row.iter().sum::<f64>();
        let seen: Vec<Vec<f64>> = self // CΦᵀ
            .covariance
            .iter()
            .map(|pixel| rows.iter().map(|row| dot(row, pixel) + spread * sum(row)).collect())
            .collect();
        let noise = (NOISE * self.white).powi(2);
        let system = |a: usize, b: usize| {
            let signal: f64 = (0..m).map(|pixel| rows[a][pixel] * seen[pixel][b]).sum();
            signal + noise * dot(&rows[a], &rows[b])
        };
        let mut system: Vec<Vec<f64>> = (0..n).map(|a| (0..n).map(|b| system(a, b)).collect()).collect();
        let mut right: Vec<Vec<f64>> = (0..n).map(|a| seen.iter().map(|pixel| pixel[a]).collect()).collect();
        eliminate(&mut system, &mut right)?;
        Ok((0..m).map(|pixel| right.iter().map(|row| row[pixel]).collect()).collect())
    }
}

/// Turns the right sides into the solutions of a symmetric positive system.
fn eliminate(system: &mut [Vec<f64>], right: &mut [Vec<f64>]) -> Result<()> {
    for i in 0..system.len() {
        let (pivot, pivot_right) = (system[i].clone(), right[i].clone());
        ensure!(pivot[i] > 0.0, "the rows of Φ depend on each other");
        for k in 0..system.len() {
            let factor = if k == i { 1.0 - 1.0 / pivot[i] } else { system[k][i] / pivot[i] };
            system[k].iter_mut().zip(&pivot).for_each(|(x, p)| *x -= factor * p);
            right[k].iter_mut().zip(&pivot_right).for_each(|(x, p)| *x -= factor * p);
        }
    }
    Ok(())
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
