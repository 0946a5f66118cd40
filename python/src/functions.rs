//! Any linear map, by functions of Python for it and its adjoint.

use std::fmt::{Debug, Formatter};
use std::sync::{Mutex, PoisonError};

use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sparsemble::degradation::Degradation;

/// A function of one array.
///
/// Python: `Callable[[NDArray[np.float64]], Any]`
pub(crate) type Way = Py<PyAny>;

/// A map from features to measurements. What a function raises, or a result of another length, is kept, and what it was
/// to give is zero: a restoration goes on to its end with numbers that nobody is shown.
pub(crate) struct Functions {
    forwards: Way,
    backwards: Way,
    /// Measurements and features.
    shape: (usize, usize),
    raised: Mutex<Option<PyErr>>,
}

impl Functions {
    pub(crate) fn new((forwards, backwards): (Way, Way), shape: (usize, usize)) -> Self {
        Self { forwards, backwards, shape, raised: Mutex::new(None) }
    }

    /// What was raised first.
    pub(crate) fn raised(self) -> Option<PyErr> {
        self.raised.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn call(&self, function: &Way, given: &[f64], result: &mut [f64]) {
        result.fill(0.0);
        let mut raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
        if raised.is_none() {
            *raised = Python::attach(|py| called(function.bind(py), given, result)).err();
        }
    }
}

fn called(function: &Bound<'_, PyAny>, given: &[f64], result: &mut [f64]) -> PyResult<()> {
    let made = function.call1((PyArray1::from_slice(function.py(), given),))?;
    let made = made.call_method1("astype", ("float64",))?.call_method0("ravel")?;
    let made = made.cast_into::<PyArray1<f64>>()?;
    let made = made.readonly();
    let values = made.as_array();
    if values.len() != result.len() || values.iter().any(|value| !value.is_finite()) {
        let message = format!("operator: must give {} finite numbers of {}", result.len(), given.len());
        return Err(PyValueError::new_err(message));
    }
    result.iter_mut().zip(values).for_each(|(to, value)| *to = *value);
    Ok(())
}

impl Debug for Functions {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Functions").field("shape", &self.shape).finish_non_exhaustive()
    }
}

impl Degradation<f64> for Functions {
    fn n_features(&self) -> usize {
        self.shape.1
    }

    fn n_measurements(&self) -> usize {
        self.shape.0
    }

    fn apply(&self, features: &[f64], measurements: &mut [f64]) {
        self.call(&self.forwards, features, measurements);
    }

    fn adjoint(&self, measurements: &[f64], features: &mut [f64]) {
        self.call(&self.backwards, measurements, features);
    }
}
