//! A dictionary: atoms of unit norm.

use crate::error::{Error, Result};
use crate::matrix::{Matrix, MatrixView};
use crate::scalar::Scalar;

/// K atoms of unit norm, the columns of D, and for example dictionaries the sample each of them came from.
///
/// ```
/// use sparsemble::Matrix;
/// use sparsemble::dictionary::Dictionary;
///
/// let dictionary = Dictionary::new(Matrix::from_columns(vec![3.0, 4.0], 2, 1)?)?;
/// assert_eq!(dictionary.atoms().column(0), [0.6, 0.8]);
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §I-A; unit norms: §II-B.
#[derive(Debug, Clone, PartialEq)]
pub struct Dictionary<T> {
    atoms: Matrix<T>,
    sources: Option<Vec<usize>>,
}

impl<T: Scalar> Dictionary<T> {
    /// Takes the columns as atoms and gives them unit norm.
    ///
    /// # Errors
    /// If there is no column, or one of them is zero or not finite.
    pub fn new(mut atoms: Matrix<T>) -> Result<Self> {
        if atoms.rows() == 0 || atoms.columns() == 0 {
            return Err(Error::Empty { what: "dictionary", unit: "atom" });
        }
        for j in 0..atoms.columns() {
            let atom = atoms.column_mut(j);
            if let Some(row) = atom.iter().position(|value| !value.to_f64().is_finite()) {
                return Err(Error::NotFinite { what: "dictionary", row, column: j });
            }
            if !normalise(atom) {
                return Err(Error::parameter("dictionary: norm of atom", j, "this atom is zero; leave it out"));
            }
        }
        Ok(Self { atoms, sources: None })
    }

    /// Takes atoms that have unit norm already and keeps their bits, which to normalise them again would not.
    ///
    /// # Errors
    /// If there is no column, or one of them is not finite or not of unit norm.
    pub(crate) fn from_unit_atoms(atoms: Matrix<T>) -> Result<Self> {
        if atoms.rows() == 0 || atoms.columns() == 0 {
            return Err(Error::Empty { what: "dictionary", unit: "atom" });
        }
        atoms.view().expect_finite("dictionary")?;
        if let Some(j) = (0..atoms.columns()).find(|&j| !has_unit_norm(atoms.column(j))) {
            return Err(Error::parameter("dictionary: norm of atom", j, "this atom does not have unit norm"));
        }
        Ok(Self { atoms, sources: None })
    }

    /// The atoms without the signs of their entries.
    pub(crate) fn absolute(&self) -> Result<Self> {
        Self::from_unit_atoms(Matrix::from_fn(self.n_features(), self.n_atoms(), |r, c| self.atoms.column(c)[r].abs()))
    }

    /// Remembers which sample each atom came from.
    ///
    /// # Errors
    /// If there is not one source for each atom.
    pub fn with_sources(self, sources: Vec<usize>) -> Result<Self> {
        crate::error::expect_size("sources: number of atoms", self.n_atoms(), sources.len())?;
        Ok(Self { sources: Some(sources), ..self })
    }

    /// D, M × K.
    pub fn atoms(&self) -> &Matrix<T> {
        &self.atoms
    }

    /// D as a view.
    pub fn view(&self) -> MatrixView<'_, T> {
        self.atoms.view()
    }

    /// The sample each atom came from, if the atoms are samples.
    pub fn sources(&self) -> Option<&[usize]> {
        self.sources.as_deref()
    }

    /// K.
    pub fn n_atoms(&self) -> usize {
        self.atoms.columns()
    }

    /// M.
    pub fn n_features(&self) -> usize {
        self.atoms.rows()
    }
}

/// Gives a column unit norm; `false`, and no change, if it is zero.
///
/// Divided by its largest entry first, so that squares neither overflow nor vanish.
pub(crate) fn normalise<T: Scalar>(column: &mut [T]) -> bool {
    let largest = column.iter().fold(0.0_f64, |largest, value| largest.max(value.to_f64().abs()));
    if largest <= 0.0 {
        return false;
    }
    let norm = column.iter().map(|value| (value.to_f64() / largest).powi(2)).sum::<f64>().sqrt();
    for value in column {
        *value = T::from_f64(value.to_f64() / largest / norm);
    }
    true
}

/// Whether a column has the norm that [`normalise`] gives, but for rounding.
pub(crate) fn has_unit_norm<T: Scalar>(column: &[T]) -> bool {
    let norm = column.iter().map(|value| value.to_f64().powi(2)).sum::<f64>().sqrt();
    (norm - 1.0).abs() <= 64.0 * T::EPSILON.to_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn atoms_of_any_size_get_unit_norm() {
        for size in [f64::MIN_POSITIVE / 8.0, 1e-160, 1.0, 1e300] {
            let dictionary = Dictionary::new(Matrix::from_fn(3, 2, |r, c| size * (r + c + 1) as f64)).unwrap();
            for j in 0..2 {
                let norm = dictionary.atoms().column(j).iter().map(|a| a * a).sum::<f64>().sqrt();
                assert!((norm - 1.0).abs() < 1e-12, "size {size}: norm {norm}");
            }
        }
    }

    #[test]
    fn zero_and_infinite_atoms_are_refused() {
        assert!(Dictionary::new(Matrix::from_columns(vec![1.0, 0.0, 0.0, 0.0], 2, 2).unwrap()).is_err());
        assert!(Dictionary::new(Matrix::from_columns(vec![1.0, f32::NAN], 2, 1).unwrap()).is_err());
        assert!(Dictionary::<f32>::new(Matrix::zeros(2, 0)).is_err());
    }
}
