//! What all members of an anchored ensemble share: how an input is looked at, and what it becomes on average.

use crate::error::{Error, Result, expect_size};
use crate::matrix::Matrix;
use crate::scalar::Scalar;

use super::maps::check_entries;

/// The linear maps that come before and after those of the atoms. An input u becomes
///
/// W·u + P·(Σ β_l Q_l)·R·u,
///
/// with Q_l the map of the atom that member l has chosen by the features C·u.
///
/// | matrix | symbol | size | what |
/// | --- | --- | --- | --- |
/// | `common` | Wᵀ | N × M | the best linear map for all inputs together |
/// | `features` | Cᵀ | N × F | what an atom is chosen by |
/// | `directions` | Rᵀ | N × r | what the maps of atoms look at: directions of the inputs, each of unit variance |
/// | `outputs` | P | M × m | what the maps of atoms make: orthonormal directions of the outputs |
#[derive(Debug, Clone, PartialEq)]
pub struct Frame<T> {
    common: Matrix<T>,
    features: Matrix<T>,
    directions: Matrix<T>,
    outputs: Matrix<T>,
}

impl<T: Scalar> Frame<T> {
    /// Puts the maps together.
    ///
    /// # Errors
    /// If sizes disagree, one is empty, or a value is not finite or beyond a million.
    pub fn new(common: Matrix<T>, features: Matrix<T>, directions: Matrix<T>, outputs: Matrix<T>) -> Result<Self> {
        expect_size("features: number of rows (length of an input)", common.rows(), features.rows())?;
        expect_size("directions: number of rows (length of an input)", common.rows(), directions.rows())?;
        expect_size("outputs: number of rows (length of an output)", common.columns(), outputs.rows())?;
        for matrix in [&common, &features, &directions, &outputs] {
            if matrix.as_slice().is_empty() {
                return Err(Error::Empty { what: "frame", unit: "direction" });
            }
            check_entries(matrix.as_slice())?;
        }
        Ok(Self { common, features, directions, outputs })
    }

    /// Wᵀ, a column for each entry of an output.
    pub fn common(&self) -> &Matrix<T> {
        &self.common
    }

    /// Cᵀ, a column for each feature.
    pub fn features(&self) -> &Matrix<T> {
        &self.features
    }

    /// Rᵀ, a column for each direction of the inputs.
    pub fn directions(&self) -> &Matrix<T> {
        &self.directions
    }

    /// P, a column for each direction of the outputs.
    pub fn outputs(&self) -> &Matrix<T> {
        &self.outputs
    }

    /// N, the length of an input.
    pub fn n_inputs(&self) -> usize {
        self.common.rows()
    }

    /// M, the length of an output.
    pub fn n_outputs(&self) -> usize {
        self.common.columns()
    }
}
