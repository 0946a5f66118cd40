//! A trained model of any kind and either number type, as one Python class.

use std::path::PathBuf;

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyType};
use sparsemble::ensemble::{Ensemble, Round, SparseModel, Training};
use sparsemble::model_file;

use crate::array::{Floats, rows_of};
use crate::coding::{Csr, Report};
use crate::degradation::{self, GivenPhi, Phi};
use crate::error::to_python;
use crate::held::{Approximated, CodeArrays, Held};
use crate::parameters::coder_dict;
use crate::run::RunOptions;

/// The bytes of a model file, and whether its numbers are `float32`.
/// The rounds of boosting: an array for each kind of number.
///
/// Python: `dict[str, NDArray[Any]]`
type Curve<'py> = Bound<'py, PyDict>;

/// Those parameters of a coder that were given.
///
/// Python: `Any`
type GivenCoder<'py> = Bound<'py, PyDict>;

/// What a file tells of its training, by name.
///
/// Python: `dict[str, str]`
type Provenance<'py> = Bound<'py, PyDict>;

type FileBytes<'py> = (Bound<'py, PyBytes>, bool);

/// A trained model. It never changes; files and pickles hold its bits.
#[pyclass(frozen, module = "sparsemble._native")]
pub(crate) struct Model(pub(crate) Numbers);

/// The model in the number type it was trained in.
pub(crate) enum Numbers {
    Single(Held<f32>),
    Double(Held<f64>),
}

impl From<Held<f32>> for Model {
    fn from(held: Held<f32>) -> Self {
        Self(Numbers::Single(held))
    }
}

impl From<Held<f64>> for Model {
    fn from(held: Held<f64>) -> Self {
        Self(Numbers::Double(held))
    }
}

/// The same expression for a model of either type.
macro_rules! each {
    ($model:expr, $held:ident => $result:expr) => {
        match &$model.0 {
            Numbers::Single($held) => $result,
            Numbers::Double($held) => $result,
        }
    };
}
pub(crate) use each;

#[pymethods]
impl Model {
    /// The model in the bytes of a file; whether its numbers are `float32` must be known.
    #[new]
    fn new(bytes: &[u8], is_single: bool) -> PyResult<Self> {
        if is_single {
            Ok(Held::from(model_file::decode::<f32>(bytes).map_err(to_python)?).into())
        } else {
            Ok(Held::from(model_file::decode::<f64>(bytes).map_err(to_python)?).into())
        }
    }

    /// Reads a model file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let model = py.detach(|| match model_file::inspect(&path)?.dtype {
            "float32" => Ok(Self::from(Held::from(model_file::load::<f32>(&path)?))),
            _ => Ok(Held::from(model_file::load::<f64>(&path)?).into()),
        });
        let model = model.map_err(to_python)?;
        if !model.training().coder.is_empty() {
            let coder = each!(model, held => held.model.coder());
            coder.map_err(|error| PyValueError::new_err(format!("{}: coder: {error}", path.display())))?;
        }
        Ok(model)
    }

    /// Writes a model file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| each!(self, held => model_file::save(&path, &held.model, &held.record))).map_err(to_python)
    }

    /// Pickles hold the bytes of a file.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyType>, FileBytes<'py>)> {
        let bytes = each!(self, held => model_file::encode(&held.model, &held.record)).map_err(to_python)?;
        Ok((py.get_type::<Self>(), (PyBytes::new(py, &bytes), self.is_single())))
    }

    /// Codes the rows of X, which have the dtype of the model.
    fn transform<'py>(
        &self,
        py: Python<'py>,
        samples: Floats<'py>,
        run: RunOptions,
    ) -> PyResult<(Csr<'py>, Report<'py>)> {
        each!(self, held => held.transform(py, &samples, run))
    }

    /// Approximates the rows of X: `(approximations, spread, samples that did not converge)`.
    fn approximate<'py>(&self, py: Python<'py>, samples: Floats<'py>, run: RunOptions) -> PyResult<Approximated<'py>> {
        each!(self, held => held.approximate(py, &samples, run))
    }

    /// Approximations from the arrays of a CSR matrix of codes.
    fn reconstruct<'py>(&self, py: Python<'py>, codes: CodeArrays<'py>, run: RunOptions) -> PyResult<Floats<'py>> {
        each!(self, held => held.reconstruct(py, &codes, run))
    }

    /// The model after one more mini-batch, which has the dtype of the model.
    fn partial_fit(
        &self,
        py: Python<'_>,
        samples: Floats<'_>,
        masses: Option<PyReadonlyArray1<'_, f64>>,
        run: RunOptions,
    ) -> PyResult<Self> {
        each!(self, held => held.partial_fit(py, &samples, masses.as_ref(), run).map(Self::from))
    }

    /// The model after one mini-batch after another, each of these rows of the samples.
    fn fit_batches(
        &self,
        py: Python<'_>,
        samples: Floats<'_>,
        batches: Vec<PyReadonlyArray1<'_, i64>>,
        run: RunOptions,
    ) -> PyResult<Self> {
        each!(self, held => held.fit_batches(py, &samples, &batches, run).map(Self::from))
    }

    /// The model for samples seen through `phi`: a text, or a matrix of the dtype of the model.
    fn degraded_by(&self, phi: Phi<'_>) -> PyResult<Self> {
        each!(self, held => held.degraded_by(&phi).map(Self::from))
    }

    /// The same members with other weights.
    fn with_beta(&self, beta: Vec<f64>) -> PyResult<Self> {
        each!(self, held => held.with_beta(beta).map(Self::from)).map_err(to_python)
    }

    /// All atoms, one a row.
    fn atoms<'py>(&self, py: Python<'py>) -> PyResult<Floats<'py>> {
        each!(self, held => rows_of(py, held.model.atoms()))
    }

    /// How many atoms each member has, level by level.
    #[getter]
    fn members(&self) -> Vec<Vec<usize>> {
        each!(self, held => {
            let members = |level: &Ensemble<_>| level.models().iter().map(SparseModel::n_atoms).collect();
            held.levels().iter().map(members).collect()
        })
    }

    /// β of each level.
    #[getter]
    fn beta<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyArray1<f64>>> {
        each!(self, held => held.levels().iter().map(|level| PyArray1::from_slice(py, level.beta())).collect())
    }

    /// The rounds of boosting: arrays by name, without an entry for a validation that was not done.
    #[getter]
    fn curve<'py>(&self, py: Python<'py>) -> PyResult<Curve<'py>> {
        curve(py, &self.training().curve)
    }

    /// The objective or error after each iteration or level.
    #[getter]
    fn objective<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.training().objective)
    }

    /// The parameters of the coder, by the names of `sparse_encode`; `None` for a model without one.
    #[getter]
    fn coder<'py>(&self, py: Python<'py>) -> PyResult<Option<GivenCoder<'py>>> {
        if self.training().coder.is_empty() {
            return Ok(None);
        }
        coder_dict(py, &each!(self, held => held.model.coder()).map_err(to_python)?).map(Some)
    }

    /// Method, learner, seed, data and parameters of the training, as text by name.
    #[getter]
    fn provenance<'py>(&self, py: Python<'py>) -> PyResult<Provenance<'py>> {
        let (record, training) = (PyDict::new(py), self.training());
        each!(self, held => for (name, value) in &held.record.parameters { record.set_item(name, value)?; });
        record.set_item("method", &training.method)?;
        record.set_item("learner", &training.learner)?;
        record.set_item("coder", &training.coder)?;
        record.set_item("seed", training.seed.to_string())?;
        record.set_item("data", each!(self, held => &held.record.data.description))?;
        if let Some(phi) = each!(self, held => held.record.phi.as_ref().map(|phi| &phi.description)) {
            record.set_item("phi", phi)?;
        }
        Ok(record)
    }

    /// Φ of the training, if there was one: a text or a matrix, as [`degraded_by`](Self::degraded_by) takes it.
    #[getter]
    fn phi<'py>(&self, py: Python<'py>) -> PyResult<Option<GivenPhi<'py>>> {
        each!(self, held => held.record.phi.as_ref().map(|phi| degradation::given(py, phi)).transpose())
    }

    /// `dictionary`, `online`, `ensemble`, `multilevel`, `gaussians` or `upscaler`.
    #[getter]
    fn kind(&self) -> &'static str {
        each!(self, held => match held.model {
            sparsemble::Model::Dictionary(..) => "dictionary",
            sparsemble::Model::Online(..) => "online",
            sparsemble::Model::Multilevel(_) => "multilevel",
            sparsemble::Model::Gaussians(_) => "gaussians",
            sparsemble::Model::Upscaler(_) => "upscaler",
            _ => "ensemble",
        })
    }

    /// Whether the numbers are `float32`.
    #[getter]
    fn is_single(&self) -> bool {
        matches!(self.0, Numbers::Single(_))
    }

    /// Whether the training has ended; `False` for a checkpoint.
    #[getter]
    fn is_complete(&self) -> bool {
        each!(self, held => held.complete)
    }

    /// The length of what is coded.
    #[getter]
    fn n_inputs(&self) -> usize {
        each!(self, held => held.model.n_inputs())
    }

    /// The length of an approximation.
    #[getter]
    fn n_features(&self) -> usize {
        each!(self, held => held.model.n_features())
    }

    /// The length of a code.
    #[getter]
    fn n_atoms(&self) -> usize {
        each!(self, held => held.model.n_atoms())
    }
}

impl Model {
    fn training(&self) -> &Training {
        each!(self, held => held.model.training())
    }
}

fn curve<'py>(py: Python<'py>, rounds: &[Round]) -> PyResult<Bound<'py, PyDict>> {
    let curve = PyDict::new(py);
    let column = |value: fn(&Round) -> f64| PyArray1::from_iter(py, rounds.iter().map(value));
    curve.set_item("alpha", column(|round| round.alpha))?;
    curve.set_item("member_error", column(|round| round.member_error))?;
    curve.set_item("error", column(|round| round.error))?;
    if rounds.iter().any(|round| round.validation_error.is_some()) {
        curve.set_item("validation_error", column(|round| round.validation_error.unwrap_or(f64::NAN)))?;
    }
    curve.set_item("unconverged", PyArray1::from_iter(py, rounds.iter().map(|round| round.unconverged as i64)))?;
    Ok(curve)
}
