//! The dictionaries that come with Yang et al.'s program, `D_1024_0.15_5.mat` and its kind (feature `io`).

use std::path::Path;

use crate::dictionary::Dictionary;
use crate::ensemble::{Ensemble, SparseModel};
use crate::error::{Error, Result};
use crate::matrix::{Matrix, MatrixView};
use crate::matrix_file::read;
use crate::scalar::Scalar;

use super::PairLayout;

/// Reads a paired dictionary of Yang et al.'s program: a `.mat` file with `Dl` (4M × K) and `Dh` (M × K), or the same in a
/// `.npz` file.
///
/// The model codes gradient features in the atoms of `Dl`, which get unit norm, and makes patches of `Dh` as it is: so does
/// that program. Patches in the file go down their columns; here they go along their rows.
///
/// # Errors
/// If the file cannot be read, or the two matrices are not those of square patches.
///
/// Paper: §IV-B (*`PairDict`*).
pub fn read_scsr<T: Scalar>(path: impl AsRef<Path>) -> Result<Ensemble<T>> {
    let path = path.as_ref();
    let part = |name: &str| {
        let mut location = path.as_os_str().to_owned();
        location.push(format!(":{name}"));
        read::<T>(Path::new(&location))
    };
    let (lo, hi) = (part("Dl")?, part("Dh")?);
    // A row of the file, which is a feature of all atoms, is a column here.
    let layout = PairLayout { side: hi.view().columns().isqrt() };
    if (layout.n_hi(), layout.n_lo()) != (hi.view().columns(), lo.view().columns()) {
        let reason = "Dh and Dl must have M and 4M rows, M the pixels of a square patch".into();
        return Err(Error::Data { name: path.display().to_string(), reason });
    }
    let lo = Dictionary::new(along_rows(lo.view(), layout.side))?;
    let model = SparseModel::paired(lo.view(), along_rows(hi.view(), layout.side).view())?;
    Ensemble::new(vec![model], vec![1.0])
}

/// The atoms as columns, every patch of theirs transposed.
fn along_rows<T: Scalar>(features: MatrixView<'_, T>, side: usize) -> Matrix<T> {
    let transposed = |pixel: usize| {
        let (patch, row, column) = (pixel / (side * side), pixel / side % side, pixel % side);
        (patch * side + column) * side + row
    };
    Matrix::from_fn(features.columns(), features.rows(), |pixel, atom| features.get(atom, transposed(pixel)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patches_are_transposed_one_by_one() {
        // One atom of two 2 × 2 patches; the file has its features in rows.
        let file = Matrix::from_fn(1, 8, |_, feature| feature as f64);
        assert_eq!(along_rows(file.view(), 2).column(0), [0.0, 2.0, 1.0, 3.0, 4.0, 6.0, 5.0, 7.0]);
    }
}
