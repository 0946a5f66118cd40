//! Compressed sparse columns: the coefficients of a batch.

use crate::error::{Error, Result, expect_size};
use crate::matrix::{Matrix, MatrixView, first_not_finite};
use crate::scalar::Scalar;

/// A K × T matrix of coefficients in compressed sparse columns, atoms ascending within each.
///
/// The three arrays are those of SciPy's CSR matrix of shape `(n_samples, n_atoms)`.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseCodes<T> {
    n_atoms: usize,
    starts: Vec<usize>,
    atoms: Vec<u32>,
    coefficients: Vec<T>,
}

impl<T: Scalar> SparseCodes<T> {
    /// No samples yet.
    pub(crate) fn new(n_atoms: usize) -> Self {
        Self::with_capacity(n_atoms, 0, 0)
    }

    /// No samples yet, but room for so many samples and coefficients.
    pub(crate) fn with_capacity(n_atoms: usize, n_samples: usize, n_nonzero: usize) -> Self {
        let mut starts = Vec::with_capacity(n_samples + 1);
        starts.push(0);
        Self { n_atoms, starts, atoms: Vec::with_capacity(n_nonzero), coefficients: Vec::with_capacity(n_nonzero) }
    }

    /// Takes the three arrays of compressed sparse columns: where each sample's entries start and the last one's end, the
    /// atoms of all samples, and their coefficients.
    ///
    /// # Errors
    /// If the starts do not rise from 0 to the number of atoms, the atoms of a sample are not below `n_atoms` and
    /// ascending, the arrays do not have one length, or a coefficient is not finite.
    ///
    /// # Example
    /// ```
    /// use sparsemble::coding::SparseCodes;
    ///
    /// let codes = SparseCodes::from_parts(5, vec![0, 1, 3], vec![4, 0, 2], vec![1.5, -1.0, 2.0])?;
    /// assert_eq!(codes.column(1).collect::<Vec<_>>(), [(0, -1.0), (2, 2.0)]);
    /// assert_eq!(codes.into_parts(), (5, vec![0, 1, 3], vec![4, 0, 2], vec![1.5, -1.0, 2.0]));
    /// # Ok::<(), sparsemble::Error>(())
    /// ```
    pub fn from_parts(n_atoms: usize, starts: Vec<usize>, atoms: Vec<u32>, coefficients: Vec<T>) -> Result<Self> {
        expect_size("codes: number of coefficients (that of atoms)", atoms.len(), coefficients.len())?;
        expect_size("codes: first start", 0, starts.first().copied().unwrap_or(usize::MAX))?;
        if let Some(fall) = starts.windows(2).position(|ends| ends[0] > ends[1]) {
            return Err(Error::parameter("codes: start", starts[fall + 1], "is before the one it follows"));
        }
        expect_size("codes: last start (the number of coefficients)", atoms.len(), starts[starts.len() - 1])?;
        for ends in starts.windows(2) {
            let column = &atoms[ends[0]..ends[1]];
            if let Some(place) = column.windows(2).position(|pair| pair[0] >= pair[1]) {
                return Err(Error::parameter("codes: atom", column[place + 1], "is not above the one it follows"));
            }
            if let Some(&last) = column.last().filter(|last| **last as usize >= n_atoms) {
                return Err(Error::parameter("codes: atom", last, "must be below the number of atoms"));
            }
        }
        if let Some(place) = first_not_finite(&coefficients) {
            let column = starts.partition_point(|start| *start <= place) - 1;
            return Err(Error::NotFinite { what: "codes", row: atoms[place] as usize, column });
        }
        Ok(Self { n_atoms, starts, atoms, coefficients })
    }

    /// Gives up the number of atoms and the three arrays of [`from_parts`](Self::from_parts).
    pub fn into_parts(self) -> (usize, Vec<usize>, Vec<u32>, Vec<T>) {
        (self.n_atoms, self.starts, self.atoms, self.coefficients)
    }

    /// K, the number of atoms.
    pub fn n_atoms(&self) -> usize {
        self.n_atoms
    }

    /// T, the number of samples.
    pub fn n_samples(&self) -> usize {
        self.starts.len() - 1
    }

    /// The number of stored coefficients.
    pub fn n_nonzero(&self) -> usize {
        self.coefficients.len()
    }

    /// Where each sample's entries start in [`Self::atoms`] and [`Self::coefficients`], and where the last one's end.
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// The atoms of all samples, one sample after the other.
    pub fn atoms(&self) -> &[u32] {
        &self.atoms
    }

    /// The coefficients that go with [`Self::atoms`].
    pub fn coefficients(&self) -> &[T] {
        &self.coefficients
    }

    /// The atoms and coefficients of one sample.
    ///
    /// # Panics
    /// If there is no such sample.
    pub fn column(&self, sample: usize) -> impl Iterator<Item = (usize, T)> + '_ {
        let range = self.starts[sample]..self.starts[sample + 1];
        self.atoms[range.clone()].iter().zip(&self.coefficients[range]).map(|(&j, &a)| (j as usize, a))
    }

    /// Whether no sample uses any atom: the sign of a penalty far too large.
    pub fn all_zero(&self) -> bool {
        self.coefficients.is_empty() && self.n_samples() > 0
    }

    /// D·A, the approximations of all samples.
    ///
    /// # Errors
    /// If `atoms` does not have one column for each atom.
    pub fn approximate(&self, atoms: MatrixView<'_, T>) -> Result<Matrix<T>> {
        expect_size("atoms: number of columns (that of the codes)", self.n_atoms, atoms.columns())?;
        let mut approximations = Matrix::zeros(atoms.rows(), self.n_samples());
        let mut atom = vec![T::ZERO; atoms.rows()];
        for sample in 0..self.n_samples() {
            for (j, a) in self.column(sample) {
                atoms.copy_column(j, &mut atom);
                for (sum, &value) in approximations.column_mut(sample).iter_mut().zip(&atom) {
                    *sum += value * a;
                }
            }
        }
        Ok(approximations)
    }

    /// All coefficients, zeros included: K × T.
    pub fn to_dense(&self) -> Matrix<T> {
        let mut dense = Matrix::zeros(self.n_atoms, self.n_samples());
        for sample in 0..self.n_samples() {
            for (j, a) in self.column(sample) {
                dense.column_mut(sample)[j] = a;
            }
        }
        dense
    }

    /// Adds a sample; sorts its entries by atom and drops exact zeros.
    pub(crate) fn push(&mut self, entries: impl Iterator<Item = (u32, T)>) {
        let start = self.atoms.len();
        for (atom, coefficient) in entries.filter(|(_, a)| a.abs() > T::ZERO) {
            self.atoms.push(atom);
            self.coefficients.push(coefficient);
        }
        let end = self.atoms.len();
        self.starts.push(end);
        if self.atoms[start..].is_sorted() {
            return;
        }
        // Each entry goes where there are as many smaller ones: the entries are few, and this hardly branches.
        self.atoms.extend_from_within(start..);
        self.coefficients.extend_from_within(start..);
        let (atoms, unsorted) = self.atoms[start..].split_at_mut(end - start);
        let (coefficients, of_unsorted) = self.coefficients[start..].split_at_mut(end - start);
        for (&atom, &coefficient) in unsorted.iter().zip(&*of_unsorted) {
            let place: usize = unsorted.iter().map(|&other| usize::from(other < atom)).sum();
            (atoms[place], coefficients[place]) = (atom, coefficient);
        }
        self.atoms.truncate(end);
        self.coefficients.truncate(end);
    }

    /// Adds a sample by atoms in ascending order, of which many may have no coefficient. Which ones is anybody's guess, so it
    /// does not branch.
    pub(crate) fn push_sorted(&mut self, entries: impl ExactSizeIterator<Item = (u32, T)>) {
        let start = self.atoms.len();
        let most = start + entries.len();
        self.atoms.resize(most, 0);
        self.coefficients.resize(most, T::ZERO);
        let (atoms, values) = (&mut self.atoms[start..], &mut self.coefficients[start..]);
        let mut n_nonzero = 0;
        for (j, a) in entries {
            (atoms[n_nonzero], values[n_nonzero]) = (j, a);
            n_nonzero += usize::from(a.abs() > T::ZERO);
        }
        let end = start + n_nonzero;
        self.atoms.truncate(end);
        self.coefficients.truncate(end);
        self.starts.push(end);
    }

    /// Adds the samples of another batch in the same basis.
    pub(crate) fn append(&mut self, other: &Self) {
        let offset = self.atoms.len();
        self.starts.extend(other.starts[1..].iter().map(|start| start + offset));
        self.atoms.extend_from_slice(&other.atoms);
        self.coefficients.extend_from_slice(&other.coefficients);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_are_no_codes_are_refused() {
        let codes = |starts: &[usize], atoms: &[u32], last: f64| {
            let mut coefficients = vec![1.0; atoms.len()];
            if let Some(coefficient) = coefficients.last_mut() {
                *coefficient = last;
            }
            SparseCodes::from_parts(4, starts.to_vec(), atoms.to_vec(), coefficients)
        };
        assert_eq!(codes(&[0, 2, 2, 3], &[1, 3, 0], 1.0).unwrap().n_samples(), 3);
        assert_eq!(codes(&[0], &[], 1.0).unwrap().n_samples(), 0);
        for (starts, atoms) in [
            (&[][..], &[][..]),
            (&[1, 2], &[0, 1]),
            (&[0, 2, 1, 3], &[0, 1, 2]),
            (&[0, 2], &[0, 1, 2]),
            (&[0, 4], &[0, 1, 2]),
            (&[0, 2], &[1, 1]),
            (&[0, 2], &[2, 1]),
            (&[0, 1], &[4]),
        ] {
            assert!(codes(starts, atoms, 1.0).is_err(), "{starts:?} {atoms:?}");
        }
        assert!(SparseCodes::from_parts(4, vec![0, 1], vec![1], vec![1.0, 2.0]).is_err());
        let place = Error::NotFinite { what: "codes", row: 3, column: 2 };
        assert_eq!(codes(&[0, 1, 1, 3], &[0, 1, 3], f64::NAN), Err(place));
    }
}
