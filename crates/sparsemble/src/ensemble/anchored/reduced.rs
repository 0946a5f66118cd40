//! A frame with fewer directions: those that maps use most.

use crate::eigen::Eigen;
use crate::error::Result;
use crate::matrix::Matrix;
use crate::scalar::Scalar;

use super::frame::Frame;
use super::maps::Maps;

/// The frame whose directions of inputs and outputs are the `n_directions` and `n_parts` combinations of those there are
/// that some maps in the whole frame use most: the leading eigenvectors of Σ Q_kᵀQ_k and Σ Q_kQ_kᵀ.
///
/// Inputs have unit variance in every direction, so entries of maps compare.
pub(super) fn reduced<T: Scalar>(
    frame: &Frame<T>,
    maps: &Maps<T>,
    n_directions: usize,
    n_parts: usize,
) -> Result<Frame<T>> {
    let mut of_inputs = Matrix::<f64>::zeros(maps.n_inputs(), maps.n_inputs());
    let mut of_outputs = Matrix::<f64>::zeros(maps.n_outputs(), maps.n_outputs());
    let mut columns = Matrix::<T>::zeros(maps.n_inputs(), maps.n_outputs());
    for atom in 0..maps.n_atoms() {
        for j in 0..maps.n_outputs() {
            maps.copy_column(atom * maps.n_outputs() + j, columns.column_mut(j));
        }
        let wide = Matrix::from_fn(columns.rows(), columns.columns(), |r, c| columns.column(c)[r].to_f64());
        let tall = Matrix::from_fn(columns.columns(), columns.rows(), |r, c| wide.column(r)[c]);
        add_products(&wide, &mut of_inputs);
        add_products(&tall, &mut of_outputs);
    }
    let directions = combined(frame.directions(), &Eigen::new(&of_inputs).vectors, n_directions);
    let outputs = combined(frame.outputs(), &Eigen::new(&of_outputs).vectors, n_parts);
    Frame::new(frame.common().clone(), frame.features().clone(), directions, outputs)
}

/// Adds A·Aᵀ.
fn add_products(a: &Matrix<f64>, sums: &mut Matrix<f64>) {
    for c in 0..a.columns() {
        let column = a.column(c);
        for (j, &factor) in column.iter().enumerate() {
            sums.column_mut(j).iter_mut().zip(column).for_each(|(sum, value)| *sum += factor * value);
        }
    }
}

/// The columns of a matrix combined by the first of these vectors.
fn combined<T: Scalar>(matrix: &Matrix<T>, vectors: &Matrix<f64>, count: usize) -> Matrix<T> {
    Matrix::from_fn(matrix.rows(), count.min(vectors.columns()), |r, c| {
        let terms = vectors.column(c).iter().enumerate().map(|(j, weight)| weight * matrix.column(j)[r].to_f64());
        T::from_f64(terms.sum())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_that_no_map_uses_are_left_out() {
        let identity = |size: usize| Matrix::from_fn(size, size, |r, c| f64::from(u8::from(r == c)));
        let frame = Frame::new(Matrix::zeros(3, 2), identity(3), identity(3), identity(2)).unwrap();
        // Both maps look along (0, 1, 1) and make (1, −1).
        let columns = Matrix::from_fn(3, 4, |r, c| [0.0, 1.0, 1.0][r] * [1.0, -1.0, 2.0, -2.0][c]);
        let small = reduced(&frame, &Maps::new(columns, 2).unwrap(), 1, 1).unwrap();
        let (direction, output) = (small.directions().column(0), small.outputs().column(0));
        let half = 0.5_f64.sqrt();
        assert!(direction[0].abs() < 1e-12 && (direction[1] * direction[2] - 0.5).abs() < 1e-12);
        assert!((output[0].abs() - half).abs() < 1e-12 && (output[0] + output[1]).abs() < 1e-12);
    }
}
