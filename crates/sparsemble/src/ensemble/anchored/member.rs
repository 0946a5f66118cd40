//! A weak member: an example dictionary that chooses, and a linear map for each of its atoms.

use crate::dictionary::Dictionary;
use crate::error::{Result, expect_size};
use crate::matrix::Matrix;
use crate::scalar::Scalar;

use super::maps::{Maps, Precision};

/// A dictionary of anchors a_k in the space of features f = C·u of an input u, and a linear map W_k for each: the input
/// is mapped by that of the anchor with the largest |a_kᵀf|.
///
/// That anchor is the 1-sparse code of f, whatever the length of f, and for a linear map the sign does not matter.
#[derive(Debug, Clone, PartialEq)]
pub struct AnchoredMember<T> {
    features: Matrix<T>,
    anchors: Dictionary<T>,
    maps: Maps<T>,
}

impl<T: Scalar> AnchoredMember<T> {
    /// Puts the parts together; `features` is Cᵀ, with a column of as many entries as an input for each feature.
    ///
    /// # Errors
    /// If sizes disagree or a feature is not finite.
    pub fn new(features: Matrix<T>, anchors: Dictionary<T>, maps: Maps<T>) -> Result<Self> {
        features.view().expect_finite("features")?;
        expect_size("features: number of rows (inputs of the maps)", maps.n_inputs(), features.rows())?;
        expect_size("anchors: number of features", features.columns(), anchors.n_features())?;
        expect_size("anchors: number of atoms (that of the maps)", maps.n_atoms(), anchors.n_atoms())?;
        Ok(Self { features, anchors, maps })
    }

    /// Cᵀ, a column for each feature.
    pub fn features(&self) -> &Matrix<T> {
        &self.features
    }

    /// The anchors.
    pub fn anchors(&self) -> &Dictionary<T> {
        &self.anchors
    }

    /// The maps of the anchors.
    pub fn maps(&self) -> &Maps<T> {
        &self.maps
    }

    /// The same member, its maps kept as finely as this.
    #[must_use]
    pub fn with_precision(&self, precision: Precision) -> Self {
        Self { maps: self.maps.with_precision(precision), ..self.clone() }
    }

    /// The same member for inputs and outputs in another order: entry i is found at `inputs[i]`, and so for outputs.
    pub(crate) fn reordered(&self, inputs: &[usize], outputs: &[usize]) -> Self {
        let mut features = Matrix::zeros(self.features.rows(), self.features.columns());
        for c in 0..features.columns() {
            let moved = inputs.iter().zip(self.features.column(c));
            moved.for_each(|(&place, value)| features.column_mut(c)[place] = *value);
        }
        Self { features, anchors: self.anchors.clone(), maps: self.maps.reordered(inputs, outputs) }
    }
}
