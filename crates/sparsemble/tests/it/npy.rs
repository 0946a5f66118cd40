//! Reading the committed references.

#![allow(clippy::unwrap_used)] // in a test, a panic is the report

use std::path::Path;

use sparsemble::{Matrix, Scalar};

/// Reads a reference: a two-dimensional `.npy` file of little-endian doubles in C order, its rows as columns.
pub(crate) fn golden(name: &str) -> Matrix<f64> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/it/golden/{name}.npy"));
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let header_length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let (header, data) = bytes[10..].split_at(header_length);
    let header = std::str::from_utf8(header).unwrap();
    assert!(header.contains("'<f8'") && header.contains("'fortran_order': False"), "{name}: {header}");
    let shape = header.split(['(', ')']).nth(1).unwrap();
    let shape: Vec<usize> = shape.split(',').map(|size| size.trim().parse().unwrap()).collect();
    let values = data.chunks_exact(8).map(|chunk| f64::from_le_bytes(chunk.try_into().unwrap())).collect();
    Matrix::from_columns(values, shape[1], shape[0]).unwrap()
}

/// A reference in the number type under test.
pub(crate) fn converted<T: Scalar>(matrix: &Matrix<f64>) -> Matrix<T> {
    Matrix::from_fn(matrix.rows(), matrix.columns(), |r, c| T::from_f64(matrix.column(c)[r]))
}
