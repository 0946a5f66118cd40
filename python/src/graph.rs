//! The keyword arguments of the clustering estimators as one of the library's graphs.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sparsemble::coding::{Coder, ElasticNet, Lasso, Penalty};
use sparsemble::graph::{
    AtomCount, DictionaryGraph, ExampleGraph, GraphKind, MemberGraph, NeighbourGraph, SelfExpression,
};

use crate::error::to_python;
use crate::parameters::count;

/// Which graph, and its parameters; `None` is "not given".
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct GraphParameters {
    method: String,
    n_estimators: Option<i64>,
    n_atoms: Option<i64>,
    samples_per_atom: Option<f64>,
    sharpness: Option<f64>,
    lam: Option<f64>,
    ridge: Option<f64>,
    n_nonzero_coefs: Option<i64>,
    n_neighbors: Option<i64>,
    coder_tol: Option<f64>,
    coder_max_iter: Option<i64>,
}

impl GraphParameters {
    /// The graph that was asked for.
    ///
    /// # Errors
    /// If there is no such method, if it lacks an argument, or if an argument would have no effect on it.
    pub(crate) fn kind(&self) -> PyResult<GraphKind> {
        match self.method.as_str() {
            "l1" => self.lasso().map(self_expression),
            "elastic-net" => self.elastic_net().map(self_expression),
            "omp" => self.pursuit().map(self_expression),
            "alt-opt" => self.dictionary(),
            method => match method.parse().map_err(to_python)? {
                GraphKind::Members(graph) => self.members(graph),
                GraphKind::Examples(graph) => self.examples(graph),
                GraphKind::Neighbours(graph) => self.neighbours(graph),
                _ => Err(PyValueError::new_err(format!("method={method:?} is not known"))),
            },
        }
    }

    fn members(&self, default: MemberGraph) -> PyResult<GraphKind> {
        self.expect_only(&["n_estimators", "n_atoms", "samples_per_atom", "sharpness"])?;
        let (n_members, atoms) = (self.members_or(default.n_members)?, self.atoms_or(default.atoms)?);
        let sharpness = self.sharpness.unwrap_or(default.sharpness);
        Ok(GraphKind::Members(MemberGraph { n_members, atoms, sharpness, ..default }))
    }

    fn examples(&self, default: ExampleGraph) -> PyResult<GraphKind> {
        self.expect_only(&["n_estimators", "n_atoms", "samples_per_atom"])?;
        let (n_members, atoms) = (self.members_or(default.n_members)?, self.atoms_or(default.atoms)?);
        Ok(GraphKind::Examples(ExampleGraph { n_members, atoms, ..default }))
    }

    /// L of an ensemble.
    fn members_or(&self, default: usize) -> PyResult<usize> {
        Ok(count("n_estimators", self.n_estimators)?.unwrap_or(default))
    }

    /// K of its dictionaries, or of a single one.
    fn atoms_or(&self, default: AtomCount) -> PyResult<AtomCount> {
        match (count("n_atoms", self.n_atoms)?, self.samples_per_atom) {
            (None, None) => Ok(default),
            (Some(1), None) => Err(PyValueError::new_err("n_atoms=1: must be at least 2")),
            (Some(n_atoms), None) => Ok(AtomCount::Exactly(n_atoms)),
            (None, Some(samples)) => Ok(match default {
                AtomCount::OneFor { most, .. } => AtomCount::OneFor { samples, most },
                AtomCount::Exactly(_) => AtomCount::one_for(samples),
            }),
            (Some(_), Some(_)) => {
                Err(PyValueError::new_err("n_atoms is the number itself; leave samples_per_atom out, or n_atoms"))
            }
        }
    }

    fn lasso(&self) -> PyResult<Coder> {
        self.expect_only(&["lam", "coder_tol", "coder_max_iter"])?;
        let Coder::Lasso(default) = SelfExpression::default().coder else {
            return Err(PyValueError::new_err("method='l1' needs lam"));
        };
        Ok(Coder::Lasso(Lasso {
            penalty: self.lam.map_or(default.penalty, Penalty::Lambda),
            tolerance: self.coder_tol.unwrap_or(default.tolerance),
            max_rounds: count("coder_max_iter", self.coder_max_iter)?.unwrap_or(default.max_rounds),
            ..default
        }))
    }

    fn elastic_net(&self) -> PyResult<Coder> {
        self.expect_only(&["lam", "ridge", "coder_tol", "coder_max_iter"])?;
        let default = match (self.lam, self.ridge, SelfExpression::elastic_net().coder) {
            (Some(lam), Some(ridge), _) => ElasticNet::new(lam, ridge),
            (None, None, Coder::ElasticNet(default)) => default,
            _ => {
                let needs = "needs lam and ridge, such as lam=0.2, ridge=0.1, or neither of them";
                return Err(PyValueError::new_err(format!("method='elastic-net' {needs}")));
            }
        };
        Ok(Coder::ElasticNet(ElasticNet {
            tolerance: self.coder_tol.unwrap_or(default.tolerance),
            max_rounds: count("coder_max_iter", self.coder_max_iter)?.unwrap_or(default.max_rounds),
            ..default
        }))
    }

    fn pursuit(&self) -> PyResult<Coder> {
        self.expect_only(&["n_nonzero_coefs"])?;
        let sparsity = count("n_nonzero_coefs", self.n_nonzero_coefs)?;
        Ok(sparsity.map_or_else(|| SelfExpression::omp().coder, Coder::omp))
    }

    fn dictionary(&self) -> PyResult<GraphKind> {
        self.expect_only(&["n_atoms", "samples_per_atom", "lam"])?;
        let default = DictionaryGraph::default();
        let (atoms, lambda) = (self.atoms_or(default.atoms)?, self.lam.unwrap_or(default.lambda));
        Ok(GraphKind::Dictionary(DictionaryGraph { atoms, lambda, ..default }))
    }

    fn neighbours(&self, default: NeighbourGraph) -> PyResult<GraphKind> {
        self.expect_only(&["n_neighbors"])?;
        let count = count("n_neighbors", self.n_neighbors)?.unwrap_or(default.count);
        Ok(GraphKind::Neighbours(NeighbourGraph { count }))
    }

    /// Refuses arguments the method would ignore.
    fn expect_only(&self, taken: &[&str]) -> PyResult<()> {
        let given = [
            ("n_estimators", self.n_estimators.is_some()),
            ("n_atoms", self.n_atoms.is_some()),
            ("samples_per_atom", self.samples_per_atom.is_some()),
            ("sharpness", self.sharpness.is_some()),
            ("lam", self.lam.is_some()),
            ("ridge", self.ridge.is_some()),
            ("n_nonzero_coefs", self.n_nonzero_coefs.is_some()),
            ("n_neighbors", self.n_neighbors.is_some()),
            ("coder_tol", self.coder_tol.is_some()),
            ("coder_max_iter", self.coder_max_iter.is_some()),
        ];
        match given.iter().find(|(name, given)| *given && !taken.contains(name)) {
            None => Ok(()),
            Some((name, _)) => Err(PyValueError::new_err(format!(
                "{name} has no effect with method='{}', which takes {}; leave it out",
                self.method,
                taken.join(", ")
            ))),
        }
    }
}

fn self_expression(coder: Coder) -> GraphKind {
    GraphKind::SelfExpression(SelfExpression { coder })
}

/// The defaults of a method's graph, by the names of the estimators.
pub(crate) fn defaults<'py>(py: Python<'py>, method: &str) -> PyResult<Bound<'py, PyDict>> {
    let defaults = PyDict::new(py);
    let atoms = match method.parse().map_err(to_python)? {
        GraphKind::Members(graph) => {
            defaults.set_item("sharpness", graph.sharpness)?;
            defaults.set_item("n_estimators", graph.n_members)?;
            Some(graph.atoms)
        }
        GraphKind::Examples(graph) => {
            defaults.set_item("n_estimators", graph.n_members)?;
            Some(graph.atoms)
        }
        GraphKind::Dictionary(graph) => {
            defaults.set_item("lam", graph.lambda)?;
            Some(graph.atoms)
        }
        GraphKind::Neighbours(graph) => {
            defaults.set_item("n_neighbors", graph.count)?;
            None
        }
        GraphKind::SelfExpression(SelfExpression { coder: Coder::Lasso(lasso) }) => {
            if let Penalty::Lambda(lambda) = lasso.penalty {
                defaults.set_item("lam", lambda)?;
            }
            defaults.set_item("coder_tol", lasso.tolerance)?;
            defaults.set_item("coder_max_iter", lasso.max_rounds)?;
            None
        }
        GraphKind::SelfExpression(SelfExpression { coder: Coder::ElasticNet(net) }) => {
            // In units of the largest useful one, unlike those that are given.
            defaults.set_item("relative_lam", net.lambda)?;
            defaults.set_item("relative_ridge", net.ridge)?;
            defaults.set_item("coder_tol", net.tolerance)?;
            defaults.set_item("coder_max_iter", net.max_rounds)?;
            None
        }
        GraphKind::SelfExpression(SelfExpression { coder: Coder::Pursuit(pursuit) }) => {
            defaults.set_item("n_nonzero_coefs", pursuit.sparsity)?;
            defaults.set_item("error", pursuit.error)?;
            None
        }
        _ => None,
    };
    if let Some(AtomCount::OneFor { samples, most }) = atoms {
        defaults.set_item("samples_per_atom", samples)?;
        defaults.set_item("most_atoms", most)?;
    }
    Ok(defaults)
}
