//! Weighted K-Means.

use numpy::{Element, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sparsemble::kmeans::{self, KMeansInit, WeightedKMeans};
use sparsemble::{Draw, Error, Scalar};

use crate::array::{Floats, Rows, is_single, rows_of};
use crate::parameters::count;
use crate::run::RunOptions;

/// How to cluster; `None` for the default of the library.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct KMeansParameters<'py> {
    n_clusters: i64,
    init: Init<'py>,
    max_iter: Option<i64>,
    tol: Option<f64>,
    seed: u64,
}

/// The first centres: a way to choose them, or they themselves.
#[derive(FromPyObject)]
enum Init<'py> {
    Chosen(String),
    Given(Floats<'py>),
}

/// `(centers, labels, inertia, n_iter, converged)`.
type Found<'py> = (Floats<'py>, Bound<'py, PyArray1<i32>>, f64, usize, bool);

/// Clusters the rows of X, which count as much as their masses say.
#[pyfunction]
pub(crate) fn weighted_kmeans<'py>(
    py: Python<'py>,
    samples: Floats<'py>,
    masses: PyReadonlyArray1<'py, f64>,
    parameters: KMeansParameters<'py>,
    run: RunOptions,
) -> PyResult<Found<'py>> {
    if is_single(&samples) {
        kmeans_as::<f32>(py, (&samples, &masses), &parameters, run)
    } else {
        kmeans_as::<f64>(py, (&samples, &masses), &parameters, run)
    }
}

fn kmeans_as<'py, T: Scalar + Element>(
    py: Python<'py>,
    (samples, masses): (&Floats<'py>, &PyReadonlyArray1<'py, f64>),
    parameters: &KMeansParameters<'py>,
    run: RunOptions,
) -> PyResult<Found<'py>> {
    let samples = Rows::<T>::new(samples)?;
    let (x, masses) = (samples.columns()?, masses.as_slice()?);
    let (kmeans, seed) = (parameters.kmeans::<T>()?, parameters.seed);
    let found = run.call(py, |run| kmeans.fit(x, masses, Draw::first(seed), run).map_err(of_clusters))?;
    // The library's masses sum to one.
    let inertia = found.inertia * masses.iter().sum::<f64>();
    let centers = rows_of(py, found.centers)?;
    Ok((centers, labels(py, &found.assignments), inertia, found.iterations, found.converged))
}

/// Clusters are what is asked for here, not the atoms that are made of them elsewhere.
fn of_clusters(error: Error) -> Error {
    match error {
        Error::TooFewSamples { needed, found, .. } => Error::TooFewSamples { what: "n_clusters", needed, found },
        other => other,
    }
}

/// The first centres alone, which the clustering with the same parameters would begin with.
#[pyfunction]
pub(crate) fn first_centers<'py>(
    py: Python<'py>,
    samples: Floats<'py>,
    masses: PyReadonlyArray1<'py, f64>,
    parameters: KMeansParameters<'py>,
    run: RunOptions,
) -> PyResult<Floats<'py>> {
    fn of<'py, T: Scalar + Element>(
        py: Python<'py>,
        (samples, masses): (&Floats<'py>, &[f64]),
        parameters: &KMeansParameters<'py>,
        run: RunOptions,
    ) -> PyResult<Floats<'py>> {
        let samples = Rows::<T>::new(samples)?;
        let (x, kmeans, draw) = (samples.columns()?, parameters.kmeans::<T>()?, Draw::first(parameters.seed));
        rows_of(py, run.call(py, |run| kmeans.initialise(x, masses, draw, run).map_err(of_clusters))?)
    }
    let arrays = (&samples, masses.as_slice()?);
    if is_single(&samples) { of::<f32>(py, arrays, &parameters, run) } else { of::<f64>(py, arrays, &parameters, run) }
}

/// The nearest centre of each row of X.
#[pyfunction]
pub(crate) fn nearest_centers<'py>(
    py: Python<'py>,
    centers: Floats<'py>,
    samples: Floats<'py>,
    run: RunOptions,
) -> PyResult<Bound<'py, PyArray1<i32>>> {
    fn of<T: Scalar + Element>(
        py: Python<'_>,
        (centers, samples): (&Floats<'_>, &Floats<'_>),
        run: RunOptions,
    ) -> PyResult<Vec<u32>> {
        let (centers, samples) = (Rows::<T>::new(centers)?, Rows::<T>::new(samples)?);
        let (centers, samples) = (centers.columns()?, samples.columns()?);
        run.call(py, |run| kmeans::assign(centers, samples, run))
    }
    let arrays = (&centers, &samples);
    let found = if is_single(&samples) { of::<f32>(py, arrays, run) } else { of::<f64>(py, arrays, run) };
    Ok(labels(py, &found?))
}

impl KMeansParameters<'_> {
    fn kmeans<T: Scalar + Element>(&self) -> PyResult<WeightedKMeans<T>> {
        let default = WeightedKMeans::new(count("n_clusters", Some(self.n_clusters))?.unwrap_or(1));
        let init = match &self.init {
            Init::Chosen(name) if name == "k-means||" => default.init,
            Init::Chosen(name) if name == "k-means++" => KMeansInit::PlusPlus,
            Init::Chosen(name) => {
                let reason = "is not known; use 'k-means||', 'k-means++' or an array of centres";
                return Err(PyValueError::new_err(format!("init={name:?} {reason}")));
            }
            Init::Given(centers) => KMeansInit::Given(Rows::<T>::new(centers)?.columns()?.to_matrix()),
        };
        Ok(WeightedKMeans {
            init,
            max_iterations: count("max_iter", self.max_iter)?.unwrap_or(default.max_iterations),
            tolerance: self.tol.unwrap_or(default.tolerance),
            ..default
        })
    }
}

/// Labels as scikit-learn's estimators have them.
fn labels<'py>(py: Python<'py>, labels: &[u32]) -> Bound<'py, PyArray1<i32>> {
    PyArray1::from_iter(py, labels.iter().map(|&label| label as i32))
}
