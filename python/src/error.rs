//! The library's errors as Python exceptions, in the words of the Python interface.

use std::io::ErrorKind;

use pyo3::PyErr;
use pyo3::exceptions::{PyFileNotFoundError, PyKeyboardInterrupt, PyOSError, PyValueError};
use sparsemble::Error;

/// The exception for an error: what the caller passed is a `ValueError`, what the system refused an `OSError`.
pub(crate) fn to_python(error: Error) -> PyErr {
    match error {
        Error::Interrupted { .. } => PyKeyboardInterrupt::new_err(error.to_string()),
        Error::Io { kind: ErrorKind::NotFound, .. } => PyFileNotFoundError::new_err(error.to_string()),
        Error::Io { .. } => PyOSError::new_err(error.to_string()),
        Error::InvalidParameter { name, value, reason } => {
            PyValueError::new_err(format!("{}={value}: {reason}", argument(name)))
        }
        // Samples and atoms are columns to the library and rows to Python.
        Error::NotFinite { what, row, column } => PyValueError::new_err(format!(
            "{}[{column}, {row}] is NaN or infinite; remove the row (only sparse_encode can leave entries out, by its mask)",
            argument(what)
        )),
        Error::Empty { what, unit } => {
            PyValueError::new_err(format!("{} is empty; give at least one {unit}", argument(what)))
        }
        Error::TooFewSamples { what, needed, found } if what.starts_with("samples that differ") => {
            PyValueError::new_err(format!("{what}: needed {needed}, found {found}; give samples that differ"))
        }
        Error::TooFewSamples { what, needed, found } => {
            let (what, name) = too_many(what);
            PyValueError::new_err(format!(
                "{what}: needed {needed}, found {found}; ask for less ({name}) or give more samples"
            ))
        }
        _ => PyValueError::new_err(error.to_string()),
    }
}

/// What there are too few samples for, and the argument that asks for it.
fn too_many(what: &'static str) -> (&'static str, &'static str) {
    match what {
        "clusters (vertices of the graph)" => ("clusters (samples that differ)", "n_clusters"),
        "clusters (vertices of positive mass that have an edge)" => {
            ("clusters (samples that differ, and are like another one)", "n_clusters")
        }
        "n_clusters" => ("clusters (samples of positive weight)", "n_clusters"),
        "atoms (different samples)" => ("atoms (samples that differ)", "n_atoms"),
        "neighbours (one sample more)" => ("neighbours (samples that differ, one more)", "n_neighbors"),
        other => (argument(other), "n_components"),
    }
}

/// What an argument of the library is called in Python.
fn argument(name: &'static str) -> &'static str {
    match name {
        "samples" => "X",
        "lambda" => "lam",
        "relative lambda" => "relative_lam",
        "error" => "max_error",
        "l1 norm" => "max_l1_norm",
        "gain" => "min_gain",
        "atoms" | "sparsity" => "n_nonzero_coefs",
        "atom weight" => "atom_weights",
        "excluded atom" => "exclude",
        "tolerance" => "tol",
        "max_rounds" | "max_iterations" => "max_iter",
        "masses" => "sample_weight",
        "masses: sum" => "sum of sample_weight",
        "n_atoms" => "n_components",
        "nonnegative_atoms" => "positive_dict",
        "n_models" => "n_estimators",
        "samples for an atom" => "samples_per_atom",
        "degradation matrix" => "phi",
        "validation fraction" => "validation_fraction",
        "validation patience" => "patience",
        same => same,
    }
}
