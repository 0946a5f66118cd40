//! The Cholesky factor of a dense symmetric matrix.

use fearless_simd::{dispatch, prelude::*};

use crate::kernels::{Columns, axpy, best_level, dot};

/// A multiple of every vector: what lies between a row's diagonal and the next multiple is zero.
const PADDING: usize = 16;

/// L with L·Lᵀ = A + ridge·I, row after row, zeros above the diagonal.
pub(crate) struct Cholesky {
    rows: Columns<f64>,
}

impl Cholesky {
    /// Factors the `size × size` matrix with the entries `entry(i, j)`, j ≤ i, after adding `ridge` > 0 to its diagonal.
    ///
    /// A matrix that is positive semidefinite but for rounding is fine: no pivot is allowed below the ridge.
    pub(crate) fn new(size: usize, entry: impl Fn(usize, usize) -> f64, ridge: f64) -> Self {
        let mut rows = Columns::zeros(size, size);
        dispatch!(best_level(), simd => factor(simd, &mut rows, &entry, ridge));
        Self { rows }
    }

    /// Solves (A + ridge·I)·x = b, where `b` comes in and x goes out; both padded with zeros to a multiple of 16.
    pub(crate) fn solve(&self, b: &mut [f64]) {
        dispatch!(best_level(), simd => solve(simd, &self.rows, b));
    }
}

/// The part of a padded row up to and including entry i.
fn through(i: usize) -> usize {
    (i + 1).next_multiple_of(PADDING)
}

#[inline(always)]
fn factor<S: Simd>(simd: S, rows: &mut Columns<f64>, entry: &impl Fn(usize, usize) -> f64, ridge: f64) {
    let mut row = vec![0.0; rows.stride()];
    for i in 0..rows.count() {
        row.fill(0.0);
        for j in 0..i {
            // The entries of `row` from j on are still zero, so the whole padded prefix may be multiplied.
            let other = rows.padded(j);
            row[j] = (entry(i, j) - dot(simd, &row[..through(j)], &other[..through(j)])) / other[j];
        }
        let pivot = entry(i, i) + ridge - dot(simd, &row[..through(i)], &row[..through(i)]);
        row[i] = pivot.max(ridge).sqrt();
        rows.padded_mut(i).copy_from_slice(&row);
    }
}

#[inline(always)]
fn solve<S: Simd>(simd: S, rows: &Columns<f64>, b: &mut [f64]) {
    for i in 0..rows.count() {
        let row = &rows.padded(i)[..through(i)];
        let right = std::mem::replace(&mut b[i], 0.0);
        // What lies beyond i in `b` meets zeros of the row.
        b[i] = (right - dot(simd, row, &b[..through(i)])) / row[i];
    }
    for i in (0..rows.count()).rev() {
        let row = &rows.padded(i)[..through(i)];
        let value = b[i] / row[i];
        axpy(simd, -value, row, &mut b[..through(i)]);
        b[i] = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A positive definite matrix of any size.
    fn entry(i: usize, j: usize) -> f64 {
        let apart = i.abs_diff(j) as f64;
        (0.3 * apart).cos() * 0.9_f64.powf(apart) + if i == j { 0.1 } else { 0.0 }
    }

    #[test]
    fn solutions_solve_the_system() {
        for size in [1_usize, 2, 15, 16, 17, 40] {
            let mut x = vec![0.0; size.next_multiple_of(PADDING)];
            (0..size).for_each(|i| x[i] = (i as f64 + 1.0).sin());
            let b = x.clone();
            Cholesky::new(size, entry, 1e-3).solve(&mut x);
            for i in 0..size {
                let product: f64 = (0..size).map(|j| entry(i, j) * x[j]).sum::<f64>() + 1e-3 * x[i];
                assert!((product - b[i]).abs() < 1e-10, "size {size}, row {i}: {product} for {}", b[i]);
            }
        }
    }

    #[test]
    fn a_singular_matrix_has_a_finite_solution() {
        let mut x = vec![0.0; PADDING];
        x[..3].copy_from_slice(&[1.0, 1.0, 1.0]);
        Cholesky::new(3, |_, _| 1.0, 1e-8).solve(&mut x);
        assert!((x[..3].iter().sum::<f64>() - 1.0).abs() < 1e-6, "{x:?}");
    }
}
