//! A weak member: an example dictionary that chooses, and a linear map for each of its atoms.

use crate::dictionary::Dictionary;
use crate::error::{Result, expect_size};
use crate::scalar::Scalar;

use super::maps::{Maps, Precision};

/// A dictionary of anchors a_k in the space of features f, and a linear map Q_k for each: an input is mapped by that of
/// the anchor with the largest |a_kᵀf|.
///
/// That anchor is the 1-sparse code of f, whatever the length of f, and for a linear map the sign does not matter. Choices are
/// made in whole numbers of sixteen bits, and of many anchors an ensemble that predicts looks only at those near f: it may miss
/// the anchor where another is nearly as good.
#[derive(Debug, Clone, PartialEq)]
pub struct AnchoredMember<T> {
    anchors: Dictionary<T>,
    maps: Maps<T>,
}

impl<T: Scalar> AnchoredMember<T> {
    /// Puts the parts together.
    ///
    /// # Errors
    /// If there is not one map for each anchor.
    pub fn new(anchors: Dictionary<T>, maps: Maps<T>) -> Result<Self> {
        expect_size("anchors: number of atoms (that of the maps)", maps.n_atoms(), anchors.n_atoms())?;
        Ok(Self { anchors, maps })
    }

    /// The anchors, F × K.
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
        Self { maps: self.maps.with_precision(precision), anchors: self.anchors.clone() }
    }
}
