//! How well clusters agree with classes.

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use sparsemble::metrics::Agreement;

use crate::error::to_python;

/// `(accuracy, nmi, ari)` of two labels for each sample.
#[pyfunction]
pub(crate) fn agreement(
    py: Python<'_>,
    classes: PyReadonlyArray1<'_, i64>,
    clusters: PyReadonlyArray1<'_, i64>,
) -> PyResult<(f64, f64, f64)> {
    let (classes, clusters) = (classes.as_slice()?, clusters.as_slice()?);
    let agreement = py.detach(|| Agreement::between(classes, clusters)).map_err(to_python)?;
    Ok((agreement.accuracy(), agreement.nmi(), agreement.ari()))
}
