//! The inverse of a small symmetric positive definite matrix that gains and loses one row and column at a time.
//!
//! The systems of the lasso are as small as a code is sparse, and one atom enters or leaves between two solutions, so
//! the inverse itself is kept up to date in n² operations. It is kept in `f64` for either scalar type, and whoever uses
//! it recomputes the residual afterwards, so its rounding errors are corrected and do not build up.

use fearless_simd::prelude::*;

/// The inverse, in rows of `stride` values of which the first `size` are in use; the rest means nothing.
#[derive(Debug, Clone, Default)]
pub(super) struct Inverse {
    size: usize,
    stride: usize,
    rows: Vec<f64>,
}

/// Rows grow by this many entries, whole vectors of any instruction set.
const GROWTH: usize = 8;

impl Inverse {
    /// Forgets everything, keeps the memory.
    pub(super) fn clear(&mut self) {
        self.size = 0;
    }

    /// Writes the product with `vector` to the front of `out`, which grows as needed and never shrinks.
    #[inline(always)]
    pub(super) fn apply<S: Simd>(&self, simd: S, vector: &[f64], out: &mut Vec<f64>) {
        if out.len() < self.stride {
            out.resize(self.stride, 0.0);
        }
        let used = self.size.next_multiple_of(GROWTH);
        for (b, out) in out[..used].as_chunks_mut::<GROWTH>().0.iter_mut().enumerate() {
            let mut sums = [0.0; GROWTH];
            for (row, &factor) in self.rows.chunks_exact(self.stride.max(1)).zip(&vector[..self.size]) {
                add_multiple(simd, &mut sums, factor, &row.as_chunks::<GROWTH>().0[b]);
            }
            *out = sums;
        }
    }

    /// Borders the matrix by a row whose product with the inverse is `product` and whose Schur complement is `schur`.
    #[inline(always)]
    pub(super) fn border<S: Simd>(&mut self, simd: S, product: &[f64], schur: f64) {
        if self.size == self.stride {
            self.grow();
        }
        let (n, stride) = (self.size, self.stride);
        let used = (n + 1).next_multiple_of(GROWTH);
        let (rows, last) = self.rows.split_at_mut(n * stride);
        let last = &mut last[..used];
        let pivot = 1.0 / schur;
        // The last row holds the coordinates while the others change, then takes its own value.
        last[..n].copy_from_slice(product);
        for (row, &p) in rows.chunks_exact_mut(stride).zip(product) {
            add_multiple_of_row(simd, &mut row[..used], p * pivot, last);
            row[n] = -p * pivot;
        }
        last[..n].iter_mut().for_each(|p| *p *= -pivot);
        last[n] = pivot;
        self.size = n + 1;
    }

    /// Takes out row and column k; the last ones move into their place.
    #[inline(always)]
    pub(super) fn remove<S: Simd>(&mut self, simd: S, k: usize) {
        let (stride, last) = (self.stride, self.size - 1);
        let used = self.size.next_multiple_of(GROWTH);
        if k != last {
            let (rows, tail) = self.rows.split_at_mut(last * stride);
            rows[k * stride..][..used].swap_with_slice(&mut tail[..used]);
            for row in self.rows[..(last + 1) * stride].chunks_exact_mut(stride) {
                row.swap(k, last);
            }
        }
        let (rows, pivot) = self.rows.split_at_mut(last * stride);
        let pivot = &mut pivot[..used];
        let factor = 1.0 / pivot[last];
        for row in rows.chunks_exact_mut(stride) {
            let multiple = -row[last] * factor;
            add_multiple_of_row(simd, &mut row[..used], multiple, pivot);
        }
        self.size = last;
    }

    fn grow(&mut self) {
        let stride = self.stride + GROWTH;
        let mut rows = vec![0.0; stride * stride];
        for (new, old) in rows.chunks_exact_mut(stride).zip(self.rows.chunks_exact(self.stride.max(1))) {
            new[..self.stride].copy_from_slice(old);
        }
        self.stride = stride;
        self.rows = rows;
    }
}

#[inline(always)]
fn add_multiple<S: Simd>(simd: S, out: &mut [f64; GROWTH], factor: f64, row: &[f64; GROWTH]) {
    let factor = S::f64s::splat(simd, factor);
    for (out, row) in out.chunks_exact_mut(S::f64s::LEN).zip(row.chunks_exact(S::f64s::LEN)) {
        let sum = S::f64s::from_slice(simd, row).mul_add(factor, S::f64s::from_slice(simd, out));
        sum.store_slice(out);
    }
}

/// The same for whole rows.
#[inline(always)]
fn add_multiple_of_row<S: Simd>(simd: S, out: &mut [f64], factor: f64, row: &[f64]) {
    let (out, row) = (out.as_chunks_mut::<GROWTH>().0, row.as_chunks::<GROWTH>().0);
    out.iter_mut().zip(row).for_each(|(out, row)| add_multiple(simd, out, factor, row));
}

#[cfg(test)]
mod tests {
    use fearless_simd::dispatch;

    use super::*;

    /// Solves by elimination with pivoting, as plainly as possible.
    fn solve(matrix: &[Vec<f64>], right: &[f64]) -> Vec<f64> {
        let n = right.len();
        let mut a: Vec<Vec<f64>> =
            matrix.iter().zip(right).map(|(row, &b)| row.iter().copied().chain([b]).collect()).collect();
        for k in 0..n {
            let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
            a.swap(k, pivot);
            for i in (0..n).filter(|i| *i != k) {
                let (factor, pivot) = (a[i][k] / a[k][k], a[k].clone());
                a[i].iter_mut().zip(pivot).for_each(|(value, p)| *value -= factor * p);
            }
        }
        (0..n).map(|i| a[i][n] / a[i][i]).collect()
    }

    #[test]
    fn entering_and_leaving_rows_keep_the_inverse() {
        for level in crate::kernels::all_levels() {
            dispatch!(level, simd => enter_and_leave(simd));
        }
    }

    #[inline(always)]
    fn enter_and_leave<S: Simd>(simd: S) {
        let gram = |i: usize, j: usize| if i == j { 1.5 } else { 1.0 / (1.0 + (i as f64 - j as f64).abs()) };
        let mut inverse = Inverse::default();
        let mut members: Vec<usize> = Vec::new();
        let mut product = Vec::new();
        for step in 0..60 {
            if step % 4 == 3 {
                let k = step % members.len();
                inverse.remove(simd, k);
                members.swap_remove(k);
            } else {
                let border: Vec<f64> = members.iter().map(|&i| gram(i, step)).collect();
                inverse.apply(simd, &border, &mut product);
                let schur = gram(step, step) - border.iter().zip(&product).map(|(b, p)| b * p).sum::<f64>();
                inverse.border(simd, &product[..members.len()], schur);
                members.push(step);
            }
            let matrix: Vec<Vec<f64>> =
                members.iter().map(|&i| members.iter().map(|&j| gram(i, j)).collect()).collect();
            let right: Vec<f64> = members.iter().map(|&i| (i as f64).sin()).collect();
            inverse.apply(simd, &right, &mut product);
            for (ours, plain) in product.iter().zip(solve(&matrix, &right)) {
                assert!((ours - plain).abs() < 1e-9, "step {step}: {ours} against {plain}");
            }
        }
        inverse.clear();
        inverse.apply(simd, &[], &mut product);
    }
}
