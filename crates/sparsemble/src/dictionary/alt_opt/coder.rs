//! How samples are coded while a dictionary is learned.

use crate::coding::{Lasso, Penalty, Pursuit, SparseCoder};
use crate::error::{Error, Result};
use crate::scalar::Scalar;

/// The coder of a dictionary learner, and with it the objective: what a code costs beside its error.
#[derive(Debug, Clone, PartialEq)]
pub enum LearningCoder {
    /// Codes of Eq. (1); the objective is the error plus λ Σ w|a|. The penalty must be [`Penalty::Lambda`].
    Lasso(Lasso),
    /// Greedy codes; the objective is the error alone.
    Pursuit(Pursuit),
}

impl LearningCoder {
    /// The codes of Eq. (1).
    pub fn lambda(lambda: f64) -> Self {
        Self::Lasso(Lasso::lambda(lambda))
    }

    /// Orthogonal matching pursuit with this many atoms a sample.
    pub fn omp(sparsity: usize) -> Self {
        Self::Pursuit(Pursuit::omp(sparsity))
    }

    pub(super) fn check(&self) -> Result<()> {
        match self {
            // The λ of the other forms changes from sample to sample and with the dictionary: there is no one objective.
            Self::Lasso(Lasso { penalty, .. }) if !matches!(penalty, Penalty::Lambda(_)) => Err(Error::parameter(
                "coder: penalty",
                format!("{penalty:?}"),
                "learning needs one lambda for all samples; use Penalty::Lambda or a pursuit",
            )),
            Self::Lasso(_) | Self::Pursuit(_) => Ok(()),
        }
    }

    pub(super) fn as_coder<T: Scalar>(&self) -> &dyn SparseCoder<T> {
        match self {
            Self::Lasso(lasso) => lasso,
            Self::Pursuit(pursuit) => pursuit,
        }
    }

    /// What one unit of the coefficient of an atom costs.
    pub(super) fn price(&self, atom: usize) -> f64 {
        match self {
            Self::Lasso(Lasso { penalty: Penalty::Lambda(lambda), atom_weights, .. }) => {
                lambda * atom_weights.as_ref().map_or(1.0, |weights| weights[atom])
            }
            Self::Lasso(_) | Self::Pursuit(_) => 0.0,
        }
    }
}
