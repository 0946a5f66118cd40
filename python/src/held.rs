//! A model in one number type, and what is asked of it: arrays are borrowed, the library is called, the result wrapped.

use numpy::{Element, IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sparsemble::coding::{Coder, OneSparse, SparseCodes};
use sparsemble::dictionary::OnlineLearner;
use sparsemble::ensemble::{Ensemble, Training};
use sparsemble::model_file::{self, Loaded, Record};
use sparsemble::{Error, Model, Result, Scalar};

use crate::array::{Floats, Rows, rows_of};
use crate::coding::{Csr, Report, csr, report};
use crate::degradation::Phi;
use crate::error::to_python;
use crate::run::RunOptions;

/// A model and what its file tells beside it.
pub(crate) struct Held<T> {
    pub(crate) model: Model<T>,
    pub(crate) record: Record<T>,
    pub(crate) complete: bool,
}

/// `(data, indices, indptr)` of a SciPy CSR matrix.
#[derive(FromPyObject)]
pub(crate) struct CodeArrays<'py>(Floats<'py>, PyReadonlyArray1<'py, u32>, PyReadonlyArray1<'py, u64>);

impl<T> From<Loaded<T>> for Held<T> {
    fn from(loaded: Loaded<T>) -> Self {
        Self { model: loaded.model, record: loaded.record, complete: loaded.complete }
    }
}

/// Approximations, their spread if there are members that differ, and how many samples did not converge.
pub(crate) type Approximated<'py> = (Floats<'py>, Option<Bound<'py, PyArray1<f64>>>, usize);

impl<T: Scalar + Element> Held<T> {
    pub(crate) fn transform<'py>(
        &self,
        py: Python<'py>,
        samples: &Floats<'py>,
        run: RunOptions,
    ) -> PyResult<(Csr<'py>, Report<'py>)> {
        let samples = Rows::<T>::new(samples)?;
        let (x, coder) = (samples.columns()?, self.coder().map_err(to_python)?);
        let coding = run.call(py, |run| self.model.transform(x, &coder, run))?;
        Ok((csr(py, &coding.codes), report(py, &coding.report)))
    }

    pub(crate) fn approximate<'py>(
        &self,
        py: Python<'py>,
        samples: &Floats<'py>,
        run: RunOptions,
    ) -> PyResult<Approximated<'py>> {
        let samples = Rows::<T>::new(samples)?;
        let (x, coder) = (samples.columns()?, self.coder().map_err(to_python)?);
        let result = run.call(py, |run| self.model.approximate(x, &coder, run))?;
        let spread = result.spread.map(|spread| spread.into_pyarray(py));
        Ok((rows_of(py, result.values)?, spread, result.unconverged))
    }

    pub(crate) fn reconstruct<'py>(
        &self,
        py: Python<'py>,
        CodeArrays(data, indices, indptr): &CodeArrays<'py>,
        run: RunOptions,
    ) -> PyResult<Floats<'py>> {
        let data: PyReadonlyArray1<'_, T> = data.extract()?;
        let starts = indptr.as_array().iter().map(|&start| start as usize).collect();
        let (atoms, coefficients) = (indices.as_array().to_vec(), data.as_array().to_vec());
        let codes = SparseCodes::from_parts(self.model.n_atoms(), starts, atoms, coefficients).map_err(to_python)?;
        rows_of(py, run.call(py, |run| self.model.reconstruct(&codes, run))?)
    }

    /// The model after one more mini-batch; only one that goes on learning has one.
    pub(crate) fn partial_fit(
        &self,
        py: Python<'_>,
        samples: &Floats<'_>,
        masses: Option<&PyReadonlyArray1<'_, f64>>,
        run: RunOptions,
    ) -> PyResult<Self> {
        let samples = Rows::<T>::new(samples)?;
        let (x, masses) = (samples.columns()?, masses.map(PyReadonlyArray1::as_slice).transpose()?);
        self.learning(|learner| run.call(py, |run| learner.partial_fit(x, masses, run)).map(|_| ()))
    }

    /// The model after a mini-batch of each of these lists of rows; only one that goes on learning has one.
    pub(crate) fn fit_batches(
        &self,
        py: Python<'_>,
        samples: &Floats<'_>,
        batches: &[PyReadonlyArray1<'_, i64>],
        run: RunOptions,
    ) -> PyResult<Self> {
        let samples = Rows::<T>::new(samples)?;
        // What is negative is larger than any number of samples, and refused as that.
        let numbers = |batch: &PyReadonlyArray1<'_, i64>| batch.as_array().iter().map(|&row| row as usize).collect();
        let batches: Vec<Vec<usize>> = batches.iter().map(numbers).collect();
        let x = samples.columns()?;
        self.learning(|learner| run.call(py, |run| learner.fit_batches(x, &batches, run)))
    }

    /// The model after `learn`; only one that goes on learning can.
    fn learning(&self, learn: impl FnOnce(&mut OnlineLearner<T>) -> PyResult<()>) -> PyResult<Self> {
        let Model::Online(learner, training) = &self.model else {
            return Err(PyValueError::new_err(
                "the model does not go on learning; train it with MiniBatchDictionaryLearning",
            ));
        };
        let mut learner = learner.clone();
        learn(&mut learner)?;
        let training = Training { objective: learner.curve().to_vec(), ..training.clone() };
        Ok(Self { model: Model::Online(learner, training), record: self.record.clone(), complete: true })
    }

    pub(crate) fn degraded_by(&self, phi: &Phi<'_>) -> PyResult<Self> {
        let phi = phi.matrix::<T>(self.model.n_inputs())?;
        let model = self.model.degraded_by(&phi).map_err(to_python)?;
        Ok(Self { model, record: self.record.clone(), complete: self.complete })
    }

    pub(crate) fn with_beta(&self, beta: Vec<f64>) -> Result<Self> {
        self.ensemble()?;
        // A model is not copied but by its file, so that there is one way to have the same bits twice.
        let copy = model_file::decode(&model_file::encode(&self.model, &self.record)?)?;
        let model = match copy.model {
            Model::Ensemble(ensemble) => Model::Ensemble(ensemble.with_beta(beta)?),
            other => other,
        };
        Ok(Self { model, record: copy.record, complete: self.complete })
    }

    /// The ensembles of its levels; a single dictionary is none.
    pub(crate) fn levels(&self) -> &[Ensemble<T>] {
        match &self.model {
            Model::Ensemble(ensemble) => std::slice::from_ref(ensemble),
            Model::Multilevel(multilevel) => multilevel.levels(),
            _ => &[],
        }
    }

    /// The ensemble it is.
    pub(crate) fn ensemble(&self) -> Result<&Ensemble<T>> {
        match &self.model {
            Model::Ensemble(ensemble) => Ok(ensemble),
            _ => Err(Error::Model { name: "the model".into(), reason: "it is no ensemble, and has no weights".into() }),
        }
    }

    /// The coder of its training; levels have a way of coding of their own, and use none.
    pub(crate) fn coder(&self) -> Result<Coder> {
        match &self.model {
            Model::Multilevel(_) => Ok(Coder::OneSparse(OneSparse::default())),
            model => model.coder(),
        }
    }
}
