//! The cosine transform of a picture, in which a convolution with an even kernel and a mirrored border is a product:
//! the cosines are the eigenvectors of all of them (Strang, "The Discrete Cosine Transform", 1999).

use std::f64::consts::PI;

use crate::image::Size;
use crate::kernels::{Panels, Store, Tiles, best_level, correlate};
use crate::matrix::Matrix;
use crate::scalar::Scalar;

/// Rows that are transformed at a time.
const BLOCK: usize = 96;

/// The longest side of a picture: the transform is a product with a matrix of its side squared.
pub(super) const LONGEST: usize = 2048;

/// cos(πk/n) for any k, by a table.
pub(super) struct Cosines {
    table: Vec<f64>,
}

impl Cosines {
    pub(super) fn new(n: usize) -> Self {
        Self { table: (0..2 * n).map(|k| (PI * k as f64 / n as f64).cos()).collect() }
    }

    pub(super) fn at(&self, k: usize) -> f64 {
        self.table[k % self.table.len()]
    }
}

/// Multiplies the transform of a picture by factors, one for each frequency: those of the first row go across.
pub(super) fn multiply_spectrum<T: Scalar>(size: Size, picture: &mut [T], factors: &[f64]) {
    let [across, down] = [size.width, size.height].map(basis::<T>);
    let turned = transform(&across, picture);
    let mut spectrum = transform(&down, &turned);
    for (value, &factor) in spectrum.iter_mut().zip(factors) {
        *value *= T::from_f64(factor);
    }
    let [across, down] = [across, down].map(|basis| basis.view().transposed().to_matrix());
    let turned = transform(&across, &spectrum);
    picture.copy_from_slice(&transform(&down, &turned));
}

/// The products of each row of a picture with each column of a matrix: a row of them for each column.
fn transform<T: Scalar>(matrix: &Matrix<T>, picture: &[T]) -> Vec<T> {
    let n = matrix.rows();
    let rows = picture.len() / n;
    let panels = Panels::pack(best_level(), (n, n), |j| matrix.column(j), |_| T::ONE);
    let (mut tiles, mut products) = (Tiles::new(n, BLOCK), Store::new(&panels, BLOCK));
    let mut turned = vec![T::ZERO; picture.len()];
    for (block, lines) in picture.chunks(BLOCK * n).enumerate() {
        tiles.clear();
        lines.chunks_exact(n).for_each(|row| tiles.push(row));
        correlate(&panels, &tiles, &mut products);
        for slot in 0..lines.len() / n {
            let column = turned[block * BLOCK + slot..].iter_mut().step_by(rows);
            column.zip(products.of(slot)).for_each(|(out, &value)| *out = value);
        }
    }
    turned
}

/// The orthonormal basis: column k is cos(πk(2i + 1)/2n), scaled.
fn basis<T: Scalar>(n: usize) -> Matrix<T> {
    let cosines = Cosines::new(2 * n);
    let scale = |k: usize| (if k == 0 { 1.0 } else { 2.0 } / n as f64).sqrt();
    Matrix::from_fn(n, n, |i, k| T::from_f64(scale(k) * cosines.at(k * (2 * i + 1))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_of_one_change_nothing_and_the_first_is_that_of_the_mean() {
        for (width, height) in [(1, 1), (5, 3), (7, 100)] {
            let picture: Vec<f64> = (0..width * height).map(|i| ((i * i) as f64).sin()).collect();
            let mut same = picture.clone();
            multiply_spectrum(Size { width, height }, &mut same, &vec![1.0; picture.len()]);
            same.iter().zip(&picture).for_each(|(a, b)| assert!((a - b).abs() < 1e-12));
            let mut factors = vec![0.0; picture.len()];
            factors[0] = 1.0;
            multiply_spectrum(Size { width, height }, &mut same, &factors);
            let mean = picture.iter().sum::<f64>() / picture.len() as f64;
            assert!(same.iter().all(|value| (value - mean).abs() < 1e-12));
        }
    }
}
