//! The singular values and vectors of a small Φ, from which any measurements can be fitted at once.

use crate::matrix::{Matrix, MatrixView};
use crate::scalar::Scalar;
use crate::sums::product;

/// The longest shorter side of what is decomposed: the work is its square times the longer side, some ten times over.
const LARGEST: usize = 256;

/// Sweeps at most; ten are many.
const SWEEPS: usize = 40;

/// Vectors with a smaller cosine are orthogonal.
const ORTHOGONAL: f64 = 1e-15;

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
    /// Decomposes Φ by rotating the vectors of its shorter side until they are orthogonal (Hestenes, 1958), which
    /// finds small singular values as exactly as large ones. `None` if Φ is too large for that.
    ///
    /// Singular values that rounding in T may have made are taken for zero.
    pub(super) fn of<T: Scalar>(phi: MatrixView<'_, T>) -> Option<Self> {
        let (n, m) = (phi.rows(), phi.columns());
        if n.min(m) > LARGEST {
            return None;
        }
        let wide = n <= m;
        let value = |short: usize, long: usize| if wide { phi.get(short, long) } else { phi.get(long, short) };
        let mut vectors: Vec<Vec<f64>> =
            (0..n.min(m)).map(|short| (0..n.max(m)).map(|long| value(short, long).to_f64()).collect()).collect();
        let rotations = orthogonalise(&mut vectors);
        let norms: Vec<f64> = vectors.iter().map(|vector| product(vector, vector).sqrt()).collect();
        let largest = norms.iter().fold(0.0_f64, |largest, &norm| largest.max(norm));
        let least = T::EPSILON.to_f64() * n.max(m) as f64 * largest;
        let terms = norms.into_iter().zip(vectors).zip(rotations).filter(|((sigma, _), _)| *sigma > least);
        let terms = terms.map(|((sigma, mut long), short)| {
            for x in long.iter_mut() {
                *x /= sigma;
            }
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
                crate::sums::add_multiple(term.gain(mu) * v, &term.left, column);
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

/// Makes the vectors orthogonal, and returns the rotation that did: the i-th of the new vectors is the combination of
/// the old ones by the numbers in its i-th entry.
fn orthogonalise(vectors: &mut [Vec<f64>]) -> Vec<Vec<f64>> {
    let count = vectors.len();
    let mut rotations: Vec<Vec<f64>> =
        (0..count).map(|i| (0..count).map(|j| if i == j { 1.0 } else { 0.0 }).collect()).collect();
    for _ in 0..SWEEPS {
        let mut rotated = false;
        for j in 1..count {
            for i in 0..j {
                let [a, b] = pair(vectors, i, j);
                let (aa, bb, ab) = (product(a, a), product(b, b), product(a, b));
                if ab.abs() <= ORTHOGONAL * aa.sqrt() * bb.sqrt() {
                    continue;
                }
                rotated = true;
                let zeta = (bb - aa) / (2.0 * ab);
                let tangent = zeta.signum() / (zeta.abs() + zeta.hypot(1.0));
                let cosine = 1.0 / tangent.hypot(1.0);
                rotate([a, b], cosine, cosine * tangent);
                rotate(pair(&mut rotations, i, j), cosine, cosine * tangent);
            }
        }
        if !rotated {
            break;
        }
    }
    rotations
}

fn pair(vectors: &mut [Vec<f64>], i: usize, j: usize) -> [&mut Vec<f64>; 2] {
    let (before, from) = vectors.split_at_mut(j);
    [&mut before[i], &mut from[0]]
}

fn rotate([a, b]: [&mut Vec<f64>; 2], cosine: f64, sine: f64) {
    for (a, b) in a.iter_mut().zip(b) {
        (*a, *b) = (cosine * *a - sine * *b, sine * *a + cosine * *b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_terms_make_up_the_matrix_and_their_vectors_are_orthonormal() {
        for (n, m) in [(1, 1), (5, 9), (9, 5), (16, 64), (40, 40)] {
            let phi = Matrix::from_fn(n, m, |r, c| ((r * 7 + c * c) as f64).sin());
            let singular = Singular::of(phi.view()).unwrap();
            for r in 0..n {
                for c in 0..m {
                    let sum: f64 = singular.terms.iter().map(|t| t.sigma * t.left[r] * t.right[c]).sum();
                    assert!((sum - phi.column(c)[r]).abs() < 1e-12, "{n} × {m}");
                }
            }
            for (i, a) in singular.terms.iter().enumerate() {
                for (j, b) in singular.terms.iter().enumerate() {
                    let unit = if i == j { 1.0 } else { 0.0 };
                    assert!((product(&a.left, &b.left) - unit).abs() < 1e-12);
                    assert!((product(&a.right, &b.right) - unit).abs() < 1e-12);
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
