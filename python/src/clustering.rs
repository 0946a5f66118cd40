//! Clustering: samples in, labels out, and what every stage has found.

use std::time::Instant;

use numpy::{Element, IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sparsemble::clustering::{
    Clusters, GraphClustering, GraphClusters, Preparation, Similarity, SpectralClustering, Stage,
};
use sparsemble::{Error, Scalar};

use crate::array::{Floats, Rows, is_single, rows_of};
use crate::coding::{Csr, csr_of};
use crate::error::to_python;
use crate::graph::GraphParameters;
use crate::parameters::{ByName, count};
use crate::run::RunOptions;

/// How to cluster; `None` for the default of the library.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct ClusteringParameters {
    /// `None` for a guess.
    n_clusters: Option<i64>,
    max_clusters: i64,
    graph: GraphParameters,
    centre: String,
    scale: String,
    unit_norm: bool,
    n_eigenvectors: Option<i64>,
    power: Option<f64>,
    n_init: Option<i64>,
    eigen_tol: Option<f64>,
    eigen_max_iter: Option<i64>,
    seed: u64,
}

/// What all stages have found.
///
/// Python: `ClusteringOutcome`
type ClusteringOutcome<'py> = Bound<'py, PyDict>;

/// Clusters the rows of X, which count as much as their masses say, all alike without them.
#[pyfunction]
pub(crate) fn cluster<'py>(
    py: Python<'py>,
    samples: Floats<'py>,
    masses: Option<PyReadonlyArray1<'py, f64>>,
    parameters: ClusteringParameters,
    run: RunOptions,
) -> PyResult<ClusteringOutcome<'py>> {
    if is_single(&samples) {
        cluster_as::<f32>(py, (&samples, masses.as_ref()), &parameters, run)
    } else {
        cluster_as::<f64>(py, (&samples, masses.as_ref()), &parameters, run)
    }
}

fn cluster_as<'py, T: Scalar + Element>(
    py: Python<'py>,
    (samples, masses): (&Floats<'py>, Option<&PyReadonlyArray1<'py, f64>>),
    parameters: &ClusteringParameters,
    run: RunOptions,
) -> PyResult<ClusteringOutcome<'py>> {
    let masses = masses.map(PyReadonlyArray1::as_slice).transpose()?;
    let samples = Rows::<T>::new(samples)?;
    let (x, clustering) = (samples.columns()?, parameters.clustering()?);
    let (found, stages) = run.call(py, |run| {
        let (mut stages, mut start) = (Vec::new(), Instant::now());
        let mut watch = |stage| {
            stages.push((stage, start.elapsed().as_secs_f64()));
            start = Instant::now();
        };
        let found = clustering.fit(x, masses, parameters.seed, &mut watch, run).map_err(of_coder)?;
        Ok((found, stages))
    })?;
    outcome(py, found, &stages)
}

impl ClusteringParameters {
    /// The stages with these settings.
    ///
    /// # Errors
    /// If there is no such choice, or a number is out of range.
    fn clustering(&self) -> PyResult<GraphClustering> {
        let most = count("max_clusters", Some(self.max_clusters))?.unwrap_or(1);
        let clusters = count("n_clusters", self.n_clusters)?.map_or(Clusters::Automatic { most }, Clusters::Count);
        let default = GraphClustering::new(clusters);
        let spectral = default.spectral;
        Ok(GraphClustering {
            preparation: Preparation {
                centre: self.centre.parse().map_err(to_python)?,
                scale: self.scale.parse().map_err(to_python)?,
                unit: self.unit_norm,
            },
            graph: self.graph.kind()?,
            spectral: SpectralClustering {
                vectors: count("n_eigenvectors", self.n_eigenvectors)?.or(spectral.vectors),
                power: self.power.unwrap_or(spectral.power),
                restarts: count("n_init", self.n_init)?.unwrap_or(spectral.restarts),
                tolerance: eigen_tol(self.eigen_tol)?.unwrap_or(spectral.tolerance),
                max_products: count("eigen_max_iter", self.eigen_max_iter)?.unwrap_or(spectral.max_products),
                ..spectral
            },
            ..default
        })
    }
}

/// The tolerance that is out of range in the library is that of the coder: the other one was looked at before.
fn of_coder(error: Error) -> Error {
    match error {
        Error::InvalidParameter { name: "tolerance", value, reason } => {
            Error::InvalidParameter { name: "coder_tol", value, reason }
        }
        other => other,
    }
}

/// The library calls every tolerance the same.
fn eigen_tol(value: Option<f64>) -> PyResult<Option<f64>> {
    match value {
        Some(tol) if !(1e-12..=1.0).contains(&tol) => {
            Err(PyValueError::new_err(format!("eigen_tol={tol}: must be between 1e-12 and 1")))
        }
        tol => Ok(tol),
    }
}

/// What was found, by the names of the estimators without their underscore.
fn outcome<'py>(py: Python<'py>, found: GraphClusters, stages: &[(Stage, f64)]) -> PyResult<ClusteringOutcome<'py>> {
    let outcome = PyDict::new(py);
    let numbers: Vec<u32> = (0..found.vertices.labels.len() as u32).collect();
    let vertices = if found.duplicates.count() > 0 { Some(found.duplicates.spread(&numbers)) } else { None };
    let vertices = vertices.transpose().map_err(to_python)?.map(|vertices| vertices.into_pyarray(py));
    outcome.set_item("labels", PyArray1::from_iter(py, found.labels.iter().map(|&label| label as i32)))?;
    outcome.set_item("vertices", vertices)?;
    outcome.set_item("masses", found.masses.into_pyarray(py))?;
    outcome.set_item("n_clusters", found.vertices.counts.len())?;
    outcome.set_item("guesses", found.vertices.guesses)?;
    outcome.set_item("scale", found.scale.to_string())?;
    outcome.set_item("eigenvalues", found.vertices.eigenvalues.into_pyarray(py))?;
    outcome.set_item("embedding", rows_of(py, found.vertices.embedding)?)?;
    outcome.set_item("residual", found.vertices.residual)?;
    outcome.set_item("converged", found.vertices.converged)?;
    outcome.set_item("unconverged", found.similarity.graph().map_or(0, |built| built.report.unconverged))?;
    let (formed, matrix, n_columns) = similarity(py, &found.similarity);
    outcome.set_item("formed", formed)?;
    outcome.set_item("matrix", matrix)?;
    outcome.set_item("n_columns", n_columns)?;
    let seconds = PyDict::new(py);
    stages.iter().try_for_each(|(stage, took)| seconds.set_item(stage.to_string(), took))?;
    outcome.set_item("stage_seconds", seconds)?;
    Ok(outcome)
}

/// Whether the graph was formed, its matrix or that of the codes whose product it is, and the columns of that.
fn similarity<'py>(py: Python<'py>, similarity: &Similarity) -> (bool, Csr<'py>, usize) {
    match similarity {
        Similarity::Explicit(built) => {
            let graph = &built.graph;
            let matrix = csr_of(py, graph.starts(), graph.neighbours(), graph.weights());
            (true, matrix, graph.vertices())
        }
        Similarity::Implicit(codes) => {
            let (starts, atoms, coefficients) = codes.rows();
            (false, csr_of(py, starts, atoms, coefficients), codes.n_atoms())
        }
    }
}

/// The defaults of a method, by the names of the estimators.
#[pyfunction]
pub(crate) fn clustering_defaults<'py>(py: Python<'py>, method: &str) -> PyResult<ByName<'py>> {
    let GraphClustering { preparation, spectral, .. } = GraphClustering::new(Clusters::Count(1));
    let defaults = crate::graph::defaults(py, method)?;
    defaults.set_item("centre", preparation.centre.to_string())?;
    defaults.set_item("scale", preparation.scale.to_string())?;
    defaults.set_item("unit_norm", preparation.unit)?;
    defaults.set_item("power", spectral.power)?;
    defaults.set_item("n_init", spectral.restarts)?;
    defaults.set_item("eigen_tol", spectral.tolerance)?;
    defaults.set_item("eigen_max_iter", spectral.max_products)?;
    Ok(defaults)
}
