//! The compiled half of the Python package: NumPy arrays in, the library's calls, NumPy arrays out.
//!
//! Nothing here computes. Each function borrows its arrays, leaves the interpreter to other threads, calls `sparsemble`
//! and wraps what comes back; the documented interface is the Python code in `py_src/sparsemble`.
#![allow(clippy::needless_pass_by_value, reason = "arguments of Python functions arrive as owned values")]

mod array;
mod clustering;
mod coding;
mod degradation;
mod error;
mod functions;
mod graph;
mod held;
mod image;
mod kmeans;
mod metrics;
mod model;
mod parameters;
mod patch;
mod recipe;
mod restoration;
mod run;
mod super_resolution;
mod weights;

/// The compiled half of `sparsemble`; call the functions of the package instead.
#[pyo3::pymodule(gil_used = false)]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::array::address;
    #[pymodule_export]
    use crate::clustering::{cluster, clustering_defaults};
    #[pymodule_export]
    use crate::coding::{encode, lambda_max, lasso_path};
    #[pymodule_export]
    use crate::degradation::Operator;
    #[pymodule_export]
    use crate::image::imresize;
    #[pymodule_export]
    use crate::kmeans::{first_centers, nearest_centers, weighted_kmeans};
    #[pymodule_export]
    use crate::metrics::{agreement, psnr, psnr_of_all, ssim};
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::patch::{assemble_patches, extract_patches, sliding_blocks};
    #[pymodule_export]
    use crate::recipe::{begin, defaults, train};
    #[pymodule_export]
    use crate::restoration::{
        deblur, denoise, first_estimate, inpaint, recover, recover_blocks, restore, restore_linear, sense,
    };
    #[pymodule_export]
    use crate::super_resolution::{enlarge, natural, train_upscaler};
    #[pymodule_export]
    use crate::weights::{ensemble_weights, simplex_weights};

    /// Constants of the library.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("TOLERANCE", sparsemble::coding::Lasso::lambda(1.0).tolerance)
    }
}
