//! The singular values and vectors of a small Φ, from which any measurements can be fitted at once.

use crate::eigen::make_orthogonal;
use crate::kernels::Columns;
use crate::matrix::{Matrix, MatrixView};
use crate::scalar::Scalar;
use crate::sums::{add_multiple, product};

/// The longest shorter side of what is decomposed: the work is its square times the longer side, some ten times over.
const LARGEST: usize = 256;

/// Φ = Σ σ·u·vᵀ over its terms, as many as its rank.
#[derive(Debug, Clone)]
pub(super) struct Singular {
    terms: Vec<Term>,
}

#[derive(Debug, Clone)]
struct Term {
    sigma: f64,
    /// u, of the length of the measurements.
    left: Vec<f64>,
    /// v, of the length of the features.
    right: Vec<f64>,
}

impl Singular {
    /// Decomposes Φ by rotating the vectors of its shorter side until they are orthogonal, which finds small singular
    /// values as exactly as large ones. `None` if Φ is too large for that.
    ///
    /// Singular values that rounding in T may have made are taken for zero.
    pub(super) fn of<T: Scalar>(phi: MatrixView<'_, T>) -> Option<Self> {
        let (n, m) = (phi.rows(), phi.columns());
        if n.min(m) > LARGEST {
            return None;
        }
        let wide = n <= m;
        let entry = |long: usize, short: usize| if wide { phi.get(short, long) } else { phi.get(long, short) };
        let tall = Matrix::from_fn(n.max(m), n.min(m), |long, short| entry(long, short).to_f64());
        let mut columns = Columns::copy_of(tall.view());
        make_orthogonal(&mut columns);
        let norms: Vec<f64> = (0..columns.count()).map(|j| norm(columns.column(j))).collect();
        let largest = norms.iter().fold(0.0_f64, |largest, &norm| largest.max(norm));
        let least = T::EPSILON.to_f64() * n.max(m) as f64 * largest;
        let terms = norms.into_iter().enumerate().filter(|(_, sigma)| *sigma > least).map(|(j, sigma)| {
            let long: Vec<f64> = columns.column(j).iter().map(|x| x / sigma).collect();
            let short = (0..tall.columns()).map(|short| product(tall.column(short), &long) / sigma).collect();
            let (left, right) = if wide { (short, long) } else { (long, short) };
            Term { sigma, left, right }
        });
        Some(Self { terms: terms.collect() })
    }

    /// Adds to `features` what reconciles them with a residual z − Φy₀.
    pub(super) fn correct<T: Scalar>(&self, residual: &[T], mu: f64, features: &mut [T]) {
        let residual: Vec<f64> = residual.iter().map(|r| r.to_f64()).collect();
        for term in &self.terms {
            let along = T::from_f64(term.gain(mu) * product(&residual, &term.left));
            features.iter_mut().zip(&term.right).for_each(|(feature, &v)| *feature += along * T::from_f64(v));
        }
    }

    /// The matrix of [`correct`](Self::correct), transposed: Φᵀ(ΦΦᵀ + μI)⁻¹, a measurement a row, a feature a column.
    pub(super) fn gains<T: Scalar>(&self, n_measurements: usize, n_features: usize, mu: f64) -> Matrix<T> {
        let mut gains = vec![0.0; n_measurements * n_features];
        for term in &self.terms {
            for (column, &v) in gains.chunks_exact_mut(n_measurements).zip(&term.right) {
                add_multiple(term.gain(mu) * v, &term.left, column);
            }
        }
        Matrix::from_fn(n_measurements, n_features, |r, c| T::from_f64(gains[c * n_measurements + r]))
    }
}

impl Term {
    fn gain(&self, mu: f64) -> f64 {
        self.sigma / (self.sigma * self.sigma + mu)
    }
}

fn norm(vector: &[f64]) -> f64 {
    product(vector, vector).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_terms_make_up_the_matrix_and_their_vectors_are_orthonormal() {
        for (n, m) in [(1, 1), (5, 9), (9, 5), (16, 64), (40, 40)] {
            let phi = Matrix::from_fn(n, m, |r, c| ((r * r * 7 + r * c * 3 + c * c) as f64).sin());
            let singular = Singular::of(phi.view()).unwrap();
            for r in 0..n {
                for c in 0..m {
                    let sum: f64 = singular.terms.iter().map(|t| t.sigma * t.left[r] * t.right[c]).sum();
                    assert!((sum - phi.column(c)[r]).abs() < 1e-11, "{n} × {m}");
                }
            }
            for (i, a) in singular.terms.iter().enumerate() {
                for (j, b) in singular.terms.iter().enumerate() {
                    let unit = if i == j { 1.0 } else { 0.0 };
                    assert!((product(&a.left, &b.left) - unit).abs() < 1e-11);
                    assert!((product(&a.right, &b.right) - unit).abs() < 1e-11);
                }
            }
        }
    }

    #[test]
    fn dependent_rows_make_fewer_terms() {
        let of = |rows: [[f32; 3]; 3]| Singular::of(Matrix::from_fn(3, 3, |r, c| rows[r][c]).view()).unwrap().terms;
        assert_eq!(of([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [0.0; 3]]).len(), 1);
        assert_eq!(of([[1.0, 2.0, 3.0], [0.1, 0.7, 0.3], [1.1, 2.7, 3.3]]).len(), 2);
        assert!(of([[0.0; 3]; 3]).is_empty());
    }
}
