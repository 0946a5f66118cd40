//! How samples are coded while a dictionary is learned, and what a code costs beside its error.

use crate::coding::{Coder, Lasso, Penalty};
use crate::error::{Error, Result};

/// Refuses a coder that has no objective to learn by.
pub(super) fn check(coder: &Coder) -> Result<()> {
    match coder {
        // This λ changes from sample to sample and with the dictionary: there is no one objective.
        Coder::Lasso(Lasso { penalty: Penalty::Relative(_), .. }) => {
            let fix = "learning needs one lambda, error or l1_norm for all samples; use one of these or a pursuit";
            Err(Error::parameter("coder", coder, fix))
        }
        // Its coefficients do not belong to one approximation.
        Coder::OneSparse(one_sparse) if one_sparse.atoms > 1 => {
            Err(Error::parameter("coder", coder, "more than one atom, each on its own, is no approximation; use omp"))
        }
        // The atom update would let atoms grow to make their coefficients, and the ridge, small.
        Coder::ElasticNet(_) => {
            Err(Error::parameter("coder", coder, "dictionaries are learned without a ridge; use the lasso"))
        }
        Coder::Lasso(_) | Coder::Pursuit(_) | Coder::OneSparse(_) => Ok(()),
    }
}

/// What one unit of the coefficient of an atom costs: λw for the lasso, nothing for its constrained forms and the
/// pursuits, whose objective is the error alone.
pub(super) fn price(coder: &Coder, atom: usize) -> f64 {
    match coder {
        Coder::Lasso(Lasso { penalty: Penalty::Lambda(lambda), atom_weights, .. }) => {
            lambda * atom_weights.as_ref().map_or(1.0, |weights| weights[atom])
        }
        _ => 0.0,
    }
}
