//! Eigenvectors of any dense symmetric matrix: Householder reflections to a tridiagonal matrix, then implicit QR steps.
//!
//! About 9n³ operations, an order fewer than Jacobi's rotations need; in exchange, small eigenvalues are only as exact as
//! the largest one allows.

use fearless_simd::{Simd, dispatch};

use crate::kernels::{Columns, axpy, best_level, dot, rotate};
use crate::matrix::Matrix;

use super::Eigen;

/// QR steps for each eigenvalue after which it is taken as it is; two are usual.
const MAX_STEPS: usize = 60;

impl Eigen {
    /// Of a symmetric matrix, of which the lower triangle is read.
    pub(crate) fn of_symmetric(matrix: &Matrix<f64>) -> Self {
        let size = matrix.columns();
        let lower = (0..size).flat_map(|c| &matrix.column(c)[c..]);
        let largest = lower.fold(0.0_f64, |largest, x| largest.max(x.abs()));
        // Near one, so that no square overflows or vanishes that counts; by a power of two, which rounds nothing.
        let scale = if largest > 0.0 { largest.log2().floor().clamp(-1000.0, 1000.0).exp2() } else { 1.0 };
        let symmetric = Matrix::from_fn(size, size, |r, c| matrix.column(r.min(c))[r.max(c)] / scale);
        let mut columns = Columns::copy_of(symmetric.view());
        let (mut diagonal, mut beside) = (vec![0.0; size], vec![0.0; size]);
        dispatch!(best_level(), simd => {
            make_tridiagonal(simd, &mut columns, &mut diagonal, &mut beside);
            make_diagonal(simd, &mut columns, &mut diagonal, &mut beside);
        });
        let mut order: Vec<usize> = (0..size).collect();
        order.sort_by(|&i, &j| diagonal[j].total_cmp(&diagonal[i]).then(i.cmp(&j)));
        let vectors = Matrix::from_fn(size, size, |r, c| columns.column(order[c])[r]);
        Self { values: order.into_iter().map(|j| scale * diagonal[j]).collect(), vectors }
    }
}

/// Writes QᵀAQ to its diagonal and to what lies beside it, and Q over A.
#[inline(always)]
fn make_tridiagonal<S: Simd>(simd: S, a: &mut Columns<f64>, diagonal: &mut [f64], beside: &mut [f64]) {
    let size = diagonal.len();
    // Reflections I − τ v vᵀ, v with zeros up to its place.
    let mut vectors = Columns::zeros(size, size);
    let mut factors = vec![0.0; size];
    let mut product = vec![0.0; a.stride()];
    let largest = (0..size).flat_map(|c| a.column(c)).fold(0.0_f64, |largest, x| largest.max(x.abs()));
    for k in 0..size {
        diagonal[k] = a.column(k)[k];
        if k + 1 == size {
            break;
        }
        let v = vectors.padded_mut(k);
        v[k + 1..size].copy_from_slice(&a.column(k)[k + 1..]);
        let norm = dot(simd, v, v).sqrt();
        let reflected = if v[k + 1] > 0.0 { -norm } else { norm };
        beside[k] = reflected;
        // A column that is nothing beside the matrix: its reflection would divide by what may be zero.
        if norm <= f64::EPSILON * f64::EPSILON * largest {
            beside[k] = 0.0;
            continue;
        }
        v[k + 1] -= reflected;
        let factor = 2.0 / dot(simd, v, v);
        factors[k] = factor;
        for (c, product) in product[..size].iter_mut().enumerate().skip(k + 1) {
            *product = factor * dot(simd, a.padded(c), v);
        }
        product[..=k].fill(0.0);
        let half = 0.5 * factor * dot(simd, &product, v);
        axpy(simd, -half, v, &mut product);
        for c in k + 1..size {
            let column = a.padded_mut(c);
            axpy(simd, -v[c], &product, column);
            axpy(simd, -product[c], v, column);
        }
    }
    for c in 0..size {
        let column = a.padded_mut(c);
        column.fill(0.0);
        column[c] = 1.0;
        // Reflections from c on leave this column as it is until those before it have been applied.
        for k in (0..c).rev() {
            let v = vectors.padded(k);
            let by = -factors[k] * dot(simd, v, column);
            axpy(simd, by, v, column);
        }
    }
}

/// Implicit QR steps with Wilkinson's shift until nothing is left beside the diagonal; the columns turn with it.
#[inline(always)]
fn make_diagonal<S: Simd>(simd: S, columns: &mut Columns<f64>, diagonal: &mut [f64], beside: &mut [f64]) {
    let mut end = diagonal.len();
    let mut steps = 0;
    while end > 1 {
        let negligible = |i: usize| {
            // The largest entry is near one: what is nothing beside it is nothing, and its square need not be a number.
            beside[i].abs() <= f64::EPSILON * (diagonal[i].abs() + diagonal[i + 1].abs()).max(f64::EPSILON)
        };
        if negligible(end - 2) || steps >= MAX_STEPS {
            beside[end - 2] = 0.0;
            end -= 1;
            steps = 0;
            continue;
        }
        let start = (0..end - 2).rev().find(|&i| negligible(i)).map_or(0, |i| i + 1);
        qr_step(simd, columns, &mut diagonal[..end], beside, start);
        steps += 1;
    }
}

/// One step on rows `start` to the last of the diagonal: chases the entry that the shift makes down to the end.
#[inline(always)]
fn qr_step<S: Simd>(simd: S, columns: &mut Columns<f64>, diagonal: &mut [f64], beside: &mut [f64], start: usize) {
    let last = diagonal.len() - 1;
    let half = (diagonal[last - 1] - diagonal[last]) / 2.0;
    let off = beside[last - 1];
    let shift = diagonal[last] - off * off / (half + half.signum() * radius_of(half, off));
    let (mut x, mut z) = (diagonal[start] - shift, beside[start]);
    for k in start..last {
        let radius = radius_of(x, z);
        let (c, s) = if radius > 0.0 { (x / radius, z / radius) } else { (1.0, 0.0) };
        if k > start {
            beside[k - 1] = radius;
        }
        let (a, b, off) = (diagonal[k], diagonal[k + 1], beside[k]);
        diagonal[k] = c * c * a + 2.0 * c * s * off + s * s * b;
        diagonal[k + 1] = s * s * a - 2.0 * c * s * off + c * c * b;
        beside[k] = c * s * (b - a) + (c * c - s * s) * off;
        if k + 1 < last {
            z = s * beside[k + 1];
            beside[k + 1] *= c;
            x = beside[k];
        }
        let (first, second) = columns.pair_mut(k, k + 1);
        rotate(simd, (c, -s), first, second);
    }
}

/// The length of a vector, of entries near one at most.
#[inline(always)]
fn radius_of(x: f64, z: f64) -> f64 {
    (x * x + z * z).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(matrix: &Matrix<f64>, what: &str) {
        let size = matrix.columns();
        let eigen = Eigen::of_symmetric(matrix);
        assert!(eigen.values.is_sorted_by(|a, b| a >= b), "{what}");
        let scale = matrix.as_slice().iter().fold(1e-300_f64, |largest, x| largest.max(x.abs()));
        let close = 1e-13 * size as f64;
        for (found, expected) in eigen.map(|value| value).as_slice().iter().zip(matrix.as_slice()) {
            assert!((found - expected).abs() < close * scale, "{what}: {found} for {expected}");
        }
        for (i, one) in eigen.map(|_| 1.0).as_slice().iter().enumerate() {
            let expected = if i % (size + 1) == 0 { 1.0 } else { 0.0 };
            assert!((one - expected).abs() < close, "{what}: {one} for {expected}");
        }
    }

    #[test]
    fn eigenvectors_are_orthonormal_and_make_the_matrix() {
        for size in [1, 2, 3, 5, 16, 17, 64, 120] {
            let wild = |i: usize, j: usize| (((i.min(j) * 37 + i.max(j) * 101) % 1009) as f64).sin();
            check(&Matrix::from_fn(size, size, wild), &format!("wild, size {size}"));
            let apart = |i: usize, j: usize| if i.abs_diff(j) == 1 { 1.0 } else { 0.0 };
            check(&Matrix::from_fn(size, size, apart), &format!("path, size {size}"));
            check(
                &Matrix::from_fn(size, size, |i, j| 1e-9_f64.powi((i + j) as i32 / 4)),
                &format!("graded, size {size}"),
            );
            check(&Matrix::from_fn(size, size, |_, _| -1.0), &format!("rank one, size {size}"));
            check(
                &Matrix::from_fn(size, size, |i, j| if i == j { -2.0 } else { 0.0 }),
                &format!("diagonal, size {size}"),
            );
            check(&Matrix::zeros(size, size), &format!("zeros, size {size}"));
            for scale in [1e-200, 1e200] {
                let far = |i: usize, j: usize| scale * wild(i, j);
                check(&Matrix::from_fn(size, size, far), &format!("times {scale}, size {size}"));
            }
        }
        assert!(Eigen::of_symmetric(&Matrix::zeros(0, 0)).values.is_empty());
    }
}
