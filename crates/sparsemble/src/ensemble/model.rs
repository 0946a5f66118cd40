//! A sparse model: what samples are coded against, and what approximations are made of.

use fearless_simd::{Simd, dispatch};

use crate::blocks::Run;
use crate::coding::{CodingBasis, Samples, SparseCoder, SparseCodes};
use crate::degradation::{Degradation, apply_to_columns};
use crate::dictionary::Dictionary;
use crate::error::{Error, Result, expect_size};
use crate::kernels::best_level;
use crate::matrix::{Matrix, MatrixView};
use crate::scalar::Scalar;

use super::strips::{map_strips, piece, pieces};

/// A pair (coding basis, synthesis matrix): a sample is coded in the one and approximated by the other.
///
/// | use | coding basis | synthesis matrix |
/// | --- | --- | --- |
/// | plain, clustering: [`plain`](Self::plain) | D | D |
/// | degraded samples: [`degraded_by`](Self::degraded_by) | ΦD | D |
/// | super-resolution: [`paired`](Self::paired) | D_lo | D_hi |
///
/// # Shapes
/// The basis is N × K, the synthesis matrix M × K; for a plain model N = M.
///
/// # Example
/// ```
/// use sparsemble::coding::OneSparse;
/// use sparsemble::degradation::Dense;
/// use sparsemble::dictionary::Dictionary;
/// use sparsemble::ensemble::SparseModel;
/// use sparsemble::{Matrix, Run};
///
/// // Two atoms; only the first of their two features is measured.
/// let dictionary = Dictionary::new(Matrix::from_columns(vec![0.6, 0.8, 0.0, 1.0], 2, 2)?)?;
/// let phi = Dense::new(Matrix::from_columns(vec![1.0, 0.0], 1, 2)?.view())?;
/// let model = SparseModel::plain(&dictionary)?.degraded_by(&phi)?;
///
/// let measured = Matrix::from_columns(vec![3.0], 1, 1)?;
/// let restored = model.approximate(measured.view(), &OneSparse::default(), Run::default())?;
/// assert!((restored.column(0)[1] - 4.0_f64).abs() < 1e-12); // the other feature comes from the atom
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §I-B; degraded: §IV, Eq. (15); paired: §IV-B.
#[derive(Debug)]
pub struct SparseModel<T> {
    basis: CodingBasis<T>,
    synthesis: Matrix<T>,
    sources: Option<Vec<usize>>,
}

impl<T: Scalar> SparseModel<T> {
    /// (D, D): samples are coded in the dictionary and approximated by it.
    ///
    /// # Errors
    /// None for a [`Dictionary`] that exists; the result is that of [`CodingBasis::new`].
    pub fn plain(dictionary: &Dictionary<T>) -> Result<Self> {
        let basis = CodingBasis::new(dictionary.view())?;
        let sources = dictionary.sources().map(<[usize]>::to_vec);
        Ok(Self { basis, synthesis: dictionary.atoms().clone(), sources })
    }

    /// (D_lo, D_hi): samples are coded in `coding`, and the same coefficients make `synthesis`.
    ///
    /// # Errors
    /// If the two do not have the same number of atoms, or one is empty or not finite.
    pub fn paired(coding: MatrixView<'_, T>, synthesis: MatrixView<'_, T>) -> Result<Self> {
        let basis = CodingBasis::new(coding)?;
        expect_size("synthesis: number of atoms (that of the coding basis)", basis.n_atoms(), synthesis.columns())?;
        if synthesis.rows() == 0 {
            return Err(Error::Empty { what: "synthesis", unit: "feature" });
        }
        synthesis.expect_finite("synthesis")?;
        Ok(Self { basis, synthesis: synthesis.to_matrix(), sources: None })
    }

    /// Remembers which training sample each atom came from.
    ///
    /// # Errors
    /// If there is not one source for each atom.
    pub fn with_sources(self, sources: Vec<usize>) -> Result<Self> {
        expect_size("sources: number of atoms", self.n_atoms(), sources.len())?;
        Ok(Self { sources: Some(sources), ..self })
    }

    /// (ΦB, S) from (B, S): the model of samples that reach us through Φ.
    ///
    /// # Errors
    /// If Φ does not take as many features as the model takes now, or a product overflows.
    pub fn degraded_by(&self, phi: &dyn Degradation<T>) -> Result<Self> {
        let basis = CodingBasis::new(apply_to_columns(phi, self.coding_atoms().view())?.view())?;
        Ok(Self { basis, synthesis: self.synthesis.clone(), sources: self.sources.clone() })
    }

    /// D as a dictionary, bit for bit, of a model that was made of one.
    ///
    /// # Errors
    /// If an atom of the synthesis matrix does not have unit norm.
    pub fn dictionary(&self) -> Result<Dictionary<T>> {
        let dictionary = Dictionary::from_unit_atoms(self.synthesis.clone())?;
        match &self.sources {
            Some(sources) => dictionary.with_sources(sources.clone()),
            None => Ok(dictionary),
        }
    }

    /// The atoms of the basis as they were given, N × K.
    pub(crate) fn coding_atoms(&self) -> Matrix<T> {
        Matrix::from_fn(self.n_inputs(), self.n_atoms(), |r, j| {
            // The basis keeps atoms of extreme norm divided by a power of two; multiplied with it they are as given.
            T::from_f64(self.basis.columns().column(j)[r].to_f64() * self.basis.scale(j))
        })
    }

    /// What samples are coded against, N × K.
    pub fn basis(&self) -> &CodingBasis<T> {
        &self.basis
    }

    /// What approximations are made of, M × K.
    pub fn synthesis(&self) -> &Matrix<T> {
        &self.synthesis
    }

    /// The training sample each atom came from, if the atoms are samples.
    pub fn sources(&self) -> Option<&[usize]> {
        self.sources.as_deref()
    }

    /// K, the number of atoms.
    pub fn n_atoms(&self) -> usize {
        self.basis.n_atoms()
    }

    /// N, the length of what is coded.
    pub fn n_inputs(&self) -> usize {
        self.basis.n_features()
    }

    /// M, the length of an approximation.
    pub fn n_features(&self) -> usize {
        self.synthesis.rows()
    }

    /// D·a for the code of one sample.
    #[inline(always)]
    pub(super) fn synthesise<S: Simd>(&self, _: S, codes: &SparseCodes<T>, sample: usize, out: &mut [T]) {
        out.fill(T::ZERO);
        for (atom, coefficient) in codes.column(sample) {
            let atom = self.synthesis.column(atom);
            out.iter_mut().zip(atom).for_each(|(sum, &value)| *sum += value * coefficient);
        }
    }

    /// D·a for every sample: this model's approximation alone.
    ///
    /// # Shapes
    /// Samples N × T, approximations M × T.
    ///
    /// # Errors
    /// Those of [`SparseCoder::encode`].
    pub fn approximate(
        &self,
        samples: MatrixView<'_, T>,
        coder: &(dyn SparseCoder<T> + Sync),
        run: Run<'_>,
    ) -> Result<Matrix<T>> {
        expect_size("samples: number of features (that of the model)", self.n_inputs(), samples.rows())?;
        let mut values = Matrix::zeros(self.n_features(), samples.columns());
        let pieces = pieces(&mut values);
        map_strips(samples, run, |inputs, range, run| {
            let codes = coder.encode(&self.basis, &Samples::new(inputs.view()), run)?.codes;
            let mut values = piece(&pieces, range.start);
            let values = values.chunks_exact_mut(self.n_features()).enumerate();
            dispatch!(best_level(), simd => {
                values.for_each(|(slot, value)| self.synthesise(simd, &codes, slot, value));
            });
            Ok(())
        })?;
        drop(pieces);
        Ok(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coding::OneSparse;
    use crate::degradation::{Dense, Identity};

    fn dictionary() -> Dictionary<f64> {
        let atoms = Matrix::from_fn(3, 4, |r, c| ((r * 7 + c * 5) % 11) as f64 - 4.5);
        Dictionary::new(atoms).unwrap().with_sources(vec![9, 8, 7, 6]).unwrap()
    }

    #[test]
    fn a_degraded_model_is_coded_in_the_degraded_atoms_and_made_of_the_whole_ones() {
        let phi = Dense::new(Matrix::from_fn(2, 3, |r, c| (r + 2 * c) as f64).view()).unwrap();
        let plain = SparseModel::plain(&dictionary()).unwrap();
        let degraded = plain.degraded_by(&phi).unwrap();
        assert_eq!((degraded.n_inputs(), degraded.n_features(), degraded.n_atoms()), (2, 3, 4));
        assert_eq!(degraded.synthesis(), plain.synthesis());
        assert_eq!(degraded.sources(), Some([9, 8, 7, 6].as_slice()));
        let mut expected = [0.0; 2];
        phi.apply(dictionary().atoms().column(3), &mut expected);
        assert_eq!(degraded.basis().columns().column(3), expected);
    }

    #[test]
    fn atoms_of_extreme_norm_are_degraded_as_they_were_given() {
        let low = Matrix::from_columns(vec![3e9_f32, 4e9, 1e-9, 0.0], 2, 2).unwrap();
        let model = SparseModel::paired(low.view(), Matrix::<f32>::zeros(1, 2).view()).unwrap();
        let again = model.degraded_by(&Identity::new(2)).unwrap();
        for j in 0..2 {
            assert_eq!(again.basis().columns().column(j), model.basis().columns().column(j));
            assert!((again.basis().scale(j) - model.basis().scale(j)).abs() <= 0.0);
        }
    }

    #[test]
    fn halves_of_different_sizes_are_refused() {
        let low = Matrix::<f64>::from_fn(2, 3, |r, c| (r + c) as f64);
        assert!(SparseModel::paired(low.view(), Matrix::zeros(5, 2).view()).is_err());
        let model = SparseModel::paired(low.view(), Matrix::zeros(5, 3).view()).unwrap();
        assert!(model.degraded_by(&Identity::new(3)).is_err());
        let samples = Matrix::zeros(5, 1);
        assert!(model.approximate(samples.view(), &OneSparse::default(), Run::default()).is_err());
    }
}
