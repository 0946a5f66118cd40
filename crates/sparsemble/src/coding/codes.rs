//! Compressed sparse columns: the coefficients of a batch.

use crate::error::{Result, expect_size};
use crate::matrix::{Matrix, MatrixView};
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
        // By insertion: the entries are few, and this needs no space of its own.
        let (atoms, coefficients) = (&mut self.atoms[start..], &mut self.coefficients[start..]);
        for i in 1..atoms.len() {
            let (atom, coefficient) = (atoms[i], coefficients[i]);
            let mut place = i;
            while place > 0 && atoms[place - 1] > atom {
                (atoms[place], coefficients[place]) = (atoms[place - 1], coefficients[place - 1]);
                place -= 1;
            }
            (atoms[place], coefficients[place]) = (atom, coefficient);
        }
        self.starts.push(self.atoms.len());
    }

    /// Adds the samples of another batch in the same basis.
    pub(crate) fn append(&mut self, other: &Self) {
        let offset = self.atoms.len();
        self.starts.extend(other.starts[1..].iter().map(|start| start + offset));
        self.atoms.extend_from_slice(&other.atoms);
        self.coefficients.extend_from_slice(&other.coefficients);
    }
}
