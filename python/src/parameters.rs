//! The keyword arguments of `sparse_encode` as one of the library's coders.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sparsemble::Scalar;
use sparsemble::coding::{Coder, ElasticNet, Fista, Lasso, OneSparse, Penalty, Pursuit, PursuitKind, SparseCoder};

/// A coder that may be used while other Python threads run.
pub(crate) type AnyCoder<T> = Box<dyn SparseCoder<T> + Send + Sync>;

/// Parameters by their names in Python.
///
/// Python: `dict[str, Any]`
pub(crate) type ByName<'py> = Bound<'py, PyDict>;

/// Which coder, and its parameters; `None` is "not given".
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Parameters {
    /// What the argument is called that names the coder.
    argument: String,
    method: String,
    lam: Option<f64>,
    relative_lam: Option<f64>,
    ridge: Option<f64>,
    max_error: Option<f64>,
    max_l1_norm: Option<f64>,
    min_gain: Option<f64>,
    n_nonzero_coefs: Option<i64>,
    positive: bool,
    atom_weights: Option<Vec<f64>>,
    tol: f64,
    max_iter: Option<i64>,
}

impl Parameters {
    /// The coder that was asked for.
    ///
    /// # Errors
    /// If there is no such method, if it lacks an argument, or if an argument would have no effect on it.
    pub(crate) fn coder<T: Scalar>(&self) -> PyResult<AnyCoder<T>> {
        match self.method.as_str() {
            "fista" => Ok(Box::new(self.fista()?)),
            "elastic-net" => Ok(Box::new(self.elastic_net()?)),
            _ => Ok(Box::new(self.kept_coder(", 'elastic-net', 'fista'")?)),
        }
    }

    /// The coder that was asked for, of those that a model can keep; `others` are named too if there is no such method.
    ///
    /// # Errors
    /// As [`coder`](Self::coder).
    pub(crate) fn kept_coder(&self, others: &str) -> PyResult<Coder> {
        match self.method.as_str() {
            "lasso" => self.lasso().map(Coder::Lasso),
            "omp" => self.pursuit(PursuitKind::Orthogonal).map(Coder::Pursuit),
            "ormp" => self.pursuit(PursuitKind::OrderRecursive).map(Coder::Pursuit),
            "mp" => self.pursuit(PursuitKind::Matching).map(Coder::Pursuit),
            "one-sparse" => self.one_sparse().map(Coder::OneSparse),
            other => Err(PyValueError::new_err(format!(
                "{}={other:?} is not known; use one of 'lasso', 'omp', 'ormp', 'mp', 'one-sparse'{others}",
                self.argument
            ))),
        }
    }

    fn lasso(&self) -> PyResult<Lasso> {
        self.expect_only(&["lam", "relative_lam", "max_error", "max_l1_norm", "positive", "atom_weights"])?;
        let given: Vec<Penalty> = [
            self.lam.map(Penalty::Lambda),
            self.relative_lam.map(Penalty::Relative),
            self.max_error.map(Penalty::Error),
            self.max_l1_norm.map(Penalty::L1Norm),
        ]
        .into_iter()
        .flatten()
        .collect();
        let [penalty] = given[..] else {
            let count = given.len();
            return Err(PyValueError::new_err(format!(
                "{}='lasso' needs exactly one of lam, relative_lam, max_error and max_l1_norm; {count} were given",
                self.argument
            )));
        };
        let default = Lasso::new(penalty);
        Ok(Lasso {
            nonnegative: self.positive,
            atom_weights: self.atom_weights.clone(),
            tolerance: self.tol,
            max_rounds: count("max_iter", self.max_iter)?.unwrap_or(default.max_rounds),
            ..default
        })
    }

    fn elastic_net(&self) -> PyResult<ElasticNet> {
        self.expect_only(&["lam", "ridge", "positive"])?;
        let (Some(lambda), Some(ridge)) = (self.lam, self.ridge) else {
            let argument = &self.argument;
            return Err(PyValueError::new_err(format!("{argument}='elastic-net' needs lam and ridge")));
        };
        let default = ElasticNet::new(lambda, ridge);
        Ok(ElasticNet {
            nonnegative: self.positive,
            tolerance: self.tol,
            max_rounds: count("max_iter", self.max_iter)?.unwrap_or(default.max_rounds),
            ..default
        })
    }

    fn fista(&self) -> PyResult<Fista> {
        self.expect_only(&["lam", "positive"])?;
        let lambda = self.lam.ok_or_else(|| PyValueError::new_err("method='fista' needs lam"))?;
        let default = Fista::lambda(lambda);
        Ok(Fista {
            nonnegative: self.positive,
            tolerance: self.tol,
            max_iterations: count("max_iter", self.max_iter)?.unwrap_or(default.max_iterations),
            ..default
        })
    }

    fn pursuit(&self, kind: PursuitKind) -> PyResult<Pursuit> {
        self.expect_only(&["n_nonzero_coefs", "max_error", "min_gain"])?;
        if self.n_nonzero_coefs.is_none() && self.max_error.is_none() && self.min_gain.is_none() {
            let (argument, method) = (&self.argument, &self.method);
            return Err(PyValueError::new_err(format!(
                "{argument}='{method}' needs n_nonzero_coefs, max_error, min_gain or several of them"
            )));
        }
        let sparsity = count("n_nonzero_coefs", self.n_nonzero_coefs)?;
        Ok(Pursuit { kind, sparsity, error: self.max_error, gain: self.min_gain })
    }

    fn one_sparse(&self) -> PyResult<OneSparse> {
        self.expect_only(&["n_nonzero_coefs", "positive"])?;
        let default = OneSparse::default();
        let atoms = count("n_nonzero_coefs", self.n_nonzero_coefs)?.unwrap_or(default.atoms);
        Ok(OneSparse { atoms, nonnegative: self.positive })
    }

    /// Refuses arguments the method would ignore.
    fn expect_only(&self, taken: &[&str]) -> PyResult<()> {
        let given = [
            ("lam", self.lam.is_some()),
            ("relative_lam", self.relative_lam.is_some()),
            ("ridge", self.ridge.is_some()),
            ("max_error", self.max_error.is_some()),
            ("max_l1_norm", self.max_l1_norm.is_some()),
            ("min_gain", self.min_gain.is_some()),
            ("n_nonzero_coefs", self.n_nonzero_coefs.is_some()),
            ("positive", self.positive),
            ("atom_weights", self.atom_weights.is_some()),
        ];
        match given.iter().find(|(name, given)| *given && !taken.contains(name)) {
            None => Ok(()),
            Some((name, _)) => Err(PyValueError::new_err(format!(
                "{name} has no effect with {}='{}', which takes {}; leave it out",
                self.argument,
                self.method,
                taken.join(", ")
            ))),
        }
    }
}

/// A number of things; Python's integers may be negative.
pub(crate) fn count(name: &str, value: Option<i64>) -> PyResult<Option<usize>> {
    let convert = |value: i64| match usize::try_from(value) {
        Ok(value) if value > 0 => Ok(value),
        _ => Err(PyValueError::new_err(format!("{name}={value}: must be at least 1"))),
    };
    value.map(convert).transpose()
}

/// The parameters of a coder that were given, by the names of `sparse_encode`.
pub(crate) fn coder_dict<'py>(py: Python<'py>, coder: &Coder) -> PyResult<ByName<'py>> {
    let parameters = PyDict::new(py);
    match coder {
        Coder::Lasso(lasso) => {
            let (name, value) = match lasso.penalty {
                Penalty::Lambda(value) => ("lam", value),
                Penalty::Relative(value) => ("relative_lam", value),
                Penalty::Error(value) => ("max_error", value),
                Penalty::L1Norm(value) => ("max_l1_norm", value),
            };
            parameters.set_item("method", "lasso")?;
            parameters.set_item(name, value)?;
            parameters.set_item("positive", lasso.nonnegative)?;
            parameters.set_item("tol", lasso.tolerance)?;
            parameters.set_item("max_iter", lasso.max_rounds)?;
        }
        Coder::Pursuit(pursuit) => {
            let method = match pursuit.kind {
                PursuitKind::Orthogonal => "omp",
                PursuitKind::OrderRecursive => "ormp",
                PursuitKind::Matching => "mp",
            };
            parameters.set_item("method", method)?;
            parameters.set_item("n_nonzero_coefs", pursuit.sparsity)?;
            parameters.set_item("max_error", pursuit.error)?;
            parameters.set_item("min_gain", pursuit.gain)?;
        }
        Coder::OneSparse(one_sparse) => {
            parameters.set_item("method", "one-sparse")?;
            parameters.set_item("n_nonzero_coefs", one_sparse.atoms)?;
            parameters.set_item("positive", one_sparse.nonnegative)?;
        }
        _ => {}
    }
    Ok(parameters)
}
