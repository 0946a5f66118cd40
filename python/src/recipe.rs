//! Training: the keyword arguments of the estimators as a recipe, and what comes of it.

use std::path::{Path, PathBuf};

use numpy::{Element, IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sparsemble::degradation::Degradation;
use sparsemble::dictionary::{Centers, Dictionary, WeakLearner};
use sparsemble::ensemble::Validation;
use sparsemble::model_file::{Checkpoint, PastSteps, Record, TrainingData};
use sparsemble::recipe::{Past, Recipe, Step, ToKeep, TrainingSet};
use sparsemble::{Error, Result, Run, Scalar};

use crate::array::{Floats, Rows, is_single};
use crate::degradation::Phi;
use crate::error::to_python;
use crate::held::Held;
use crate::model::Model;
use crate::parameters::{ByName, Parameters, coder_dict, count};
use crate::run::RunOptions;

/// `(X, sample_weight, phi, dict_init)`, all but the weights of one dtype; `phi` may be a text.
#[derive(FromPyObject)]
pub(crate) struct TrainingArrays<'py>(
    Floats<'py>,
    Option<PyReadonlyArray1<'py, f64>>,
    Option<Phi<'py>>,
    Option<Floats<'py>>,
);

/// How to train; `None` is the default of the method.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct RecipeParameters {
    method: String,
    n_components: Option<i64>,
    n_estimators: Option<i64>,
    n_levels: Option<i64>,
    coder: Option<Parameters>,
    max_iter: Option<i64>,
    tol: Option<f64>,
    positive_dict: Option<bool>,
    validation_fraction: Option<f64>,
    patience: Option<i64>,
    seed: u64,
}

/// Who is told of a step, of how many, and of the error or objective after it.
///
/// Python: `Callable[[int, int, float | None], Any]`
type Callback = Py<PyAny>;

/// `(callback, checkpoint, resume)`: who is told of each step, and the file that keeps what there is after it, from which
/// the training goes on if asked to.
#[derive(FromPyObject)]
pub(crate) struct Steps(Option<Callback>, Option<PathBuf>, bool);

/// `(converged, unconverged, usage)`.
type Outcome<'py> = (bool, usize, Bound<'py, PyArray1<f64>>);

/// Trains a model.
#[pyfunction]
pub(crate) fn train<'py>(
    py: Python<'py>,
    set: TrainingArrays<'py>,
    parameters: RecipeParameters,
    steps: Steps,
    run: RunOptions,
) -> PyResult<(Model, Outcome<'py>)> {
    if is_single(&set.0) {
        let (held, outcome) = train_as::<f32>(py, &set, &parameters, &steps, run)?;
        Ok((held.into(), outcome))
    } else {
        let (held, outcome) = train_as::<f64>(py, &set, &parameters, &steps, run)?;
        Ok((held.into(), outcome))
    }
}

fn train_as<'py, T: Scalar + Element>(
    py: Python<'py>,
    TrainingArrays(x, masses, phi, start): &TrainingArrays<'py>,
    parameters: &RecipeParameters,
    steps: &Steps,
    run: RunOptions,
) -> PyResult<(Held<T>, Outcome<'py>)> {
    let x = Rows::<T>::new(x)?;
    let samples = x.columns()?;
    let phi = phi.as_ref().map(|phi| phi.record::<T>(samples.rows())).transpose()?;
    let masses = masses.as_ref().map(PyReadonlyArray1::as_slice).transpose()?;
    let seen_through = phi.as_ref().and_then(|phi| phi.matrix.as_ref()).map(|phi| phi as &dyn Degradation<T>);
    let set = TrainingSet { samples, masses, phi: seen_through, n_judged: None };
    let recipe = parameters.recipe(counted(set.samples.columns(), masses))?;
    let start = start.as_ref().map(|atoms| warm_start(&recipe, atoms)).transpose()?;
    let threads = run.threads();
    let mut raised = None;
    let result = run.call(py, |run| {
        let mut record = Record::of(&recipe, set, "an array in Python".into(), Run::threads(threads))?;
        record.phi.clone_from(&phi);
        let (mut checkpoint, past) = steps.checkpoint(&record)?.unzip();
        let mut past: Box<Past<'_, T>> = match past.flatten() {
            Some(past) => Box::new(past),
            None => Box::new(start.map(|model| Ok(model.into())).into_iter()),
        };
        let mut watch = |step: Step, to_keep: &ToKeep<'_, T>| {
            checkpoint.as_mut().map_or(Ok(()), |checkpoint| checkpoint.keep(to_keep))?;
            steps.tell(step).map_err(|exception| {
                raised = Some(exception);
                Error::Interrupted { done: step.number, total: step.of }
            })
        };
        // Beside the checkpoint is where room for files was asked for.
        let run = steps.folder().map_or(run, |folder| run.scratch_in(folder, Run::HELD));
        let trained = recipe.resume(set, &mut *past, &mut watch, run)?;
        drop((past, checkpoint));
        Ok((trained, record))
    });
    let (trained, record) = match raised {
        Some(exception) => return Err(exception),
        None => result?,
    };
    let outcome = (trained.converged, trained.unconverged, trained.usage.into_pyarray(py));
    Ok((Held { model: trained.model, record, complete: true }, outcome))
}

/// A learner that has seen nothing yet: its atoms are those given, or cluster centres of the first samples.
#[pyfunction]
pub(crate) fn begin(
    py: Python<'_>,
    set: TrainingArrays<'_>,
    parameters: RecipeParameters,
    run: RunOptions,
) -> PyResult<Model> {
    if is_single(&set.0) {
        begin_as::<f32>(py, &set, &parameters, run).map(Model::from)
    } else {
        begin_as::<f64>(py, &set, &parameters, run).map(Model::from)
    }
}

fn begin_as<T: Scalar + Element>(
    py: Python<'_>,
    TrainingArrays(x, masses, _, start): &TrainingArrays<'_>,
    parameters: &RecipeParameters,
    run: RunOptions,
) -> PyResult<Held<T>> {
    let x = Rows::<T>::new(x)?;
    let (x, masses) = (x.columns()?, masses.as_ref().map(PyReadonlyArray1::as_slice).transpose()?);
    let recipe = parameters.recipe(counted(x.columns(), masses))?;
    let model = if let Some(atoms) = start {
        warm_start(&recipe, atoms)?
    } else {
        let centers = Centers::new(recipe.n_atoms);
        recipe.begun(&run.call(py, |run| centers.start(x, masses, recipe.seed, run))?).map_err(to_python)?
    };
    let data = TrainingData { description: "portions of arrays in Python".into(), ..TrainingData::default() };
    let record = Record { parameters: recipe.parameters(), data, phi: None };
    Ok(Held { model, record, complete: true })
}

/// Atoms to begin with, as a model that has been trained no further.
fn warm_start<T: Scalar + Element>(recipe: &Recipe, atoms: &Floats<'_>) -> PyResult<sparsemble::Model<T>> {
    let atoms = Rows::<T>::new(atoms)?.columns()?.to_matrix();
    Dictionary::new(atoms).and_then(|dictionary| recipe.begun(&dictionary)).map_err(to_python)
}

/// A checkpoint, and the steps that it has already.
type Continued<'a, T> = (Checkpoint<'a, T>, Option<PastSteps<'a, T>>);

impl Steps {
    /// The checkpoint if there is to be one, and the steps to go on from if there are any.
    fn checkpoint<'a, T: Scalar>(&self, record: &'a Record<T>) -> Result<Option<Continued<'a, T>>> {
        match self {
            Self(_, None, _) => Ok(None),
            Self(_, Some(path), false) => Ok(Some((Checkpoint::begin(path, record), None))),
            Self(_, Some(path), true) => {
                let (checkpoint, past) = Checkpoint::resume(path, record)?;
                Ok(Some((checkpoint, Some(past))))
            }
        }
    }

    /// The folder of the checkpoint.
    fn folder(&self) -> Option<&Path> {
        self.1.as_deref().and_then(Path::parent)
    }

    /// Tells Python of a step, and heeds its signals.
    fn tell(&self, step: Step) -> PyResult<()> {
        Python::attach(|py| {
            py.check_signals()?;
            let Some(callback) = &self.0 else { return Ok(()) };
            callback.call1(py, (step.number, step.of, step.error)).map(drop)
        })
    }
}

/// The samples that count: those of no mass cannot become atoms.
fn counted(n_samples: usize, masses: Option<&[f64]>) -> usize {
    masses.map_or(n_samples, |masses| masses.iter().filter(|mass| **mass > 0.0).count())
}

impl RecipeParameters {
    /// The recipe for this many samples.
    ///
    /// # Errors
    /// If there is no such method, or a number is out of range.
    fn recipe(&self, n_samples: usize) -> PyResult<Recipe> {
        let default = Recipe::new(self.method.parse().map_err(to_python)?);
        let at_most = default.n_atoms.min(n_samples.max(1));
        let patience = count("patience", self.patience)?;
        Ok(Recipe {
            n_atoms: count("n_components", self.n_components)?.unwrap_or(at_most),
            n_models: count("n_estimators", self.n_estimators)?.unwrap_or(default.n_models),
            n_levels: count("n_levels", self.n_levels)?.unwrap_or(default.n_levels),
            coder: self.coder.as_ref().map(|coder| coder.kept_coder("")).transpose()?.unwrap_or(default.coder),
            max_iterations: count("max_iter", self.max_iter)?.unwrap_or(default.max_iterations),
            tolerance: self.tol.unwrap_or(default.tolerance),
            nonnegative_atoms: self.positive_dict.unwrap_or(default.nonnegative_atoms),
            validation: self
                .validation_fraction
                .zip(patience)
                .map(|(fraction, patience)| Validation { fraction, patience }),
            seed: self.seed,
            ..default
        })
    }
}

/// The defaults of a method, by the names of the estimators.
#[pyfunction]
pub(crate) fn defaults<'py>(py: Python<'py>, method: &str) -> PyResult<ByName<'py>> {
    let recipe = Recipe::new(method.parse().map_err(to_python)?);
    let defaults = PyDict::new(py);
    defaults.set_item("n_components", recipe.n_atoms)?;
    defaults.set_item("n_estimators", recipe.n_models)?;
    defaults.set_item("n_levels", recipe.n_levels)?;
    defaults.set_item("coder", coder_dict(py, &recipe.coder)?)?;
    defaults.set_item("max_iter", recipe.max_iterations)?;
    defaults.set_item("tol", recipe.tolerance)?;
    Ok(defaults)
}
