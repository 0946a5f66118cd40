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
        let (n_members, atoms) = self.ensemble((default.n_members, default.atoms))?;
        let sharpness = self.sharpness.unwrap_or(default.sharpness);
        Ok(GraphKind::Members(MemberGraph { n_members, atoms, sharpness, ..default }))
    }

    fn examples(&self, default: ExampleGraph) -> PyResult<GraphKind> {
        self.expect_only(&["n_estimators", "n_atoms", "samples_per_atom"])?;
        let (n_members, atoms) = self.ensemble((default.n_members, default.atoms))?;
        Ok(GraphKind::Examples(ExampleGraph { n_members, atoms, ..default }))
    }

    /// L and K of an ensemble.
    fn ensemble(&self, (n_members, atoms): (usize, AtomCount)) -> PyResult<(usize, AtomCount)> {
        let n_members = count("n_estimators", self.n_estimators)?.unwrap_or(n_members);
        let atoms = match (count("n_atoms", self.n_atoms)?, self.samples_per_atom) {
            (None, None) => atoms,
            (Some(1), None) => return Err(PyValueError::new_err("n_atoms=1: must be at least 2")),
            (Some(n_atoms), None) => AtomCount::Exactly(n_atoms),
            (None, Some(samples)) => match atoms {
                AtomCount::OneFor { most, .. } => AtomCount::OneFor { samples, most },
                AtomCount::Exactly(_) => AtomCount::one_for(samples),
            },
            (Some(_), Some(_)) => {
                return Err(PyValueError::new_err(
                    "n_atoms is the number itself; leave samples_per_atom out, or n_atoms",
                ));
            }
        };
        Ok((n_members, atoms))
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
        let (Some(lam), Some(ridge)) = (self.lam, self.ridge) else {
            return Err(PyValueError::new_err("method='elastic-net' needs lam and ridge, such as lam=0.2, ridge=0.1"));
        };
        let default = ElasticNet::new(lam, ridge);
        Ok(Coder::ElasticNet(ElasticNet {
            tolerance: self.coder_tol.unwrap_or(default.tolerance),
            max_rounds: count("coder_max_iter", self.coder_max_iter)?.unwrap_or(default.max_rounds),
            ..default
        }))
    }

    fn pursuit(&self) -> PyResult<Coder> {
        self.expect_only(&["n_nonzero_coefs"])?;
        let sparsity = count("n_nonzero_coefs", self.n_nonzero_coefs)?;
        let missing = || PyValueError::new_err("method='omp' needs n_nonzero_coefs, such as n_nonzero_coefs=5");
        Ok(Coder::omp(sparsity.ok_or_else(missing)?))
    }

    fn dictionary(&self) -> PyResult<GraphKind> {
        self.expect_only(&["n_atoms", "lam"])?;
        let missing = || PyValueError::new_err("method='alt-opt' needs n_atoms, such as n_atoms=64");
        let default = DictionaryGraph::new(count("n_atoms", self.n_atoms)?.ok_or_else(missing)?);
        Ok(GraphKind::Dictionary(DictionaryGraph { lambda: self.lam.unwrap_or(default.lambda), ..default }))
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
    let ensemble = match method.parse().map_err(to_python)? {
        GraphKind::Members(graph) => {
            defaults.set_item("sharpness", graph.sharpness)?;
            Some((graph.n_members, graph.atoms))
        }
        GraphKind::Examples(graph) => Some((graph.n_members, graph.atoms)),
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
        _ => None,
    };
    if let Some((n_members, AtomCount::OneFor { samples, most })) = ensemble {
        defaults.set_item("n_estimators", n_members)?;
        defaults.set_item("samples_per_atom", samples)?;
        defaults.set_item("most_atoms", most)?;
    }
    Ok(defaults)
}
