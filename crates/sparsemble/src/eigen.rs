//! Eigenvectors of small symmetric matrices: by Jacobi's rotations where they are positive definite, such as covariances
//! of patches, and otherwise by a tridiagonal matrix.

mod symmetric;

use fearless_simd::{Simd, dispatch};

use crate::kernels::{Columns, Panels, Store, Tiles, best_level, correlate, dot, rotate};
use crate::matrix::Matrix;

/// Sweeps after which the columns are orthogonal to rounding, whatever the matrix; ten are usual.
const MAX_SWEEPS: usize = 40;

/// Columns count as orthogonal once the cosine between them is below this.
const ORTHOGONAL: f64 = 1e-14;

/// C = Σ λ_j u_j u_jᵀ, the largest λ first.
#[derive(Debug, Clone)]
pub(crate) struct Eigen {
    /// λ, falling.
    pub(crate) values: Vec<f64>,
    /// u, in columns of norm 1.
    pub(crate) vectors: Matrix<f64>,
}

impl Eigen {
    /// Of a symmetric positive definite matrix.
    ///
    /// The method is one-sided Jacobi: pairs of columns of C are rotated until all are orthogonal. They are then λ_j u_j.
    /// It has no case in which it fails, and small eigenvalues are as exact as the matrix allows.
    pub(crate) fn new(matrix: &Matrix<f64>) -> Self {
        let mut columns = Columns::copy_of(matrix.view());
        make_orthogonal(&mut columns);
        let norm = |j: usize| columns.column(j).iter().map(|x| x * x).sum::<f64>().sqrt();
        let mut order: Vec<(f64, usize)> = (0..columns.count()).map(|j| (norm(j), j)).collect();
        order.sort_by(|(a, i), (b, j)| b.total_cmp(a).then(i.cmp(j)));
        let vectors = Matrix::from_fn(matrix.rows(), matrix.columns(), |r, c| {
            let (norm, j) = order[c];
            if norm > 0.0 { columns.column(j)[r] / norm } else { 0.0 }
        });
        Self { values: order.into_iter().map(|(norm, _)| norm).collect(), vectors }
    }

    /// Σ f(λ_j) u_j u_jᵀ.
    pub(crate) fn map(&self, f: impl Fn(f64) -> f64) -> Matrix<f64> {
        let (length, count) = (self.vectors.rows(), self.vectors.columns());
        let factors: Vec<f64> = self.values.iter().map(|&value| f(value)).collect();
        let rows = self.vectors.view().transposed().to_matrix();
        let mut scaled = rows.clone();
        for row in scaled.as_mut_slice().chunks_exact_mut(count.max(1)) {
            row.iter_mut().zip(&factors).for_each(|(entry, factor)| *entry *= factor);
        }
        let panels = Panels::pack(best_level(), (count, length), |r| scaled.column(r), |_| 1.0);
        let (mut tiles, mut products) = (Tiles::new(count, length), Store::new(&panels, length));
        (0..length).for_each(|r| tiles.push(rows.column(r)));
        correlate(&panels, &tiles, &mut products);
        let mut sum = Matrix::zeros(length, length);
        (0..length).for_each(|c| sum.column_mut(c).copy_from_slice(&products.of(c)[..length]));
        sum
    }
}

/// Rotates pairs of columns until all are orthogonal: those of any matrix then are σ_j u_j, its singular values and
/// vectors, in no order (Hestenes, 1958).
pub(crate) fn make_orthogonal(columns: &mut Columns<f64>) {
    dispatch!(best_level(), simd => make_orthogonal_by(simd, columns));
}

#[inline(always)]
fn make_orthogonal_by<S: Simd>(simd: S, columns: &mut Columns<f64>) {
    for _ in 0..MAX_SWEEPS {
        let mut energies: Vec<f64> =
            (0..columns.count()).map(|j| dot(simd, columns.padded(j), columns.padded(j))).collect();
        let mut rotated = false;
        for p in 0..columns.count() {
            for q in p + 1..columns.count() {
                let product = dot(simd, columns.padded(p), columns.padded(q));
                let (a, b) = (energies[p], energies[q]);
                if product.abs() > ORTHOGONAL * (a * b).sqrt() {
                    // The angle that makes them orthogonal, the smaller of the two there are.
                    let zeta = (b - a) / (2.0 * product);
                    let tangent = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
                    let cosine = 1.0 / (1.0 + tangent * tangent).sqrt();
                    let (first, second) = columns.pair_mut(p, q);
                    rotate(simd, (cosine, cosine * tangent), first, second);
                    energies[p] = a - tangent * product;
                    energies[q] = b + tangent * product;
                    rotated = true;
                }
            }
        }
        if !rotated {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A covariance whose eigenvalues span six orders.
    fn covariance(size: usize) -> Matrix<f64> {
        let entry = |i: usize, j: usize| {
            let apart = i.abs_diff(j) as f64;
            1000.0 * 0.95_f64.powf(apart) * (0.2 * apart).cos() + if i == j { 0.001 } else { 0.0 }
        };
        Matrix::from_fn(size, size, entry)
    }

    #[test]
    fn eigenvectors_are_orthonormal_and_make_the_matrix() {
        for size in [1, 2, 3, 16, 17, 64] {
            let matrix = covariance(size);
            let eigen = Eigen::new(&matrix);
            assert!(eigen.values.is_sorted_by(|a, b| a >= b));
            for (found, expected) in eigen.map(|value| value).as_slice().iter().zip(matrix.as_slice()) {
                assert!((found - expected).abs() < 1e-9, "size {size}: {found} for {expected}");
            }
            for (i, one) in eigen.map(|_| 1.0).as_slice().iter().enumerate() {
                let expected = if i % (size + 1) == 0 { 1.0 } else { 0.0 };
                assert!((one - expected).abs() < 1e-9, "size {size}: {one} for {expected}");
            }
        }
    }

    #[test]
    fn equal_and_zero_eigenvalues_are_no_special_case() {
        let identity = Eigen::new(&Matrix::from_fn(5, 5, |i, j| if i == j { 3.0 } else { 0.0 }));
        assert_eq!(identity.values, [3.0; 5]);
        let rank_one = Eigen::new(&Matrix::from_fn(4, 4, |_, _| 1.0));
        assert!((rank_one.values[0] - 4.0).abs() < 1e-12 && rank_one.values[1..].iter().all(|value| *value < 1e-12));
    }
}
