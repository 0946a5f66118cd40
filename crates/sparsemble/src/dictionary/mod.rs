//! Dictionaries, and how they are learned from samples (§I-A, §III).
//!
//! A *weak learner* makes a dictionary in one go from samples and their probability masses; the ensembles are built of
//! those.

mod alt_opt;
mod atoms;
mod centers;
mod examples;
mod hyperlines;

pub use alt_opt::{AltOpt, AtomUpdate, BatchOrder, CodesReport, Learned, LearningCoder, OnlineAltOpt, OnlineLearner};
pub use atoms::Dictionary;
pub use centers::Centers;
pub use examples::{Examples, Selection};
pub use hyperlines::{Hyperlines, Lines};

use crate::blocks::Run;
use crate::error::Result;
use crate::matrix::MatrixView;
use crate::scalar::Scalar;

/// Makes a dictionary from samples, each of which counts as much as its mass p(x_i) says.
///
/// # Laws
/// Scaling all masses by one factor changes nothing; a sample of mass zero is never used. The result depends on the
/// samples, the masses and `draw` alone, not on the number of threads.
///
/// Paper: §III-A, §III-B.
pub trait WeakLearner<T: Scalar>: Sync {
    /// Learns one dictionary.
    ///
    /// # Errors
    /// If sizes disagree, a value is not finite, a mass is negative, or there are too few samples of positive mass.
    fn learn(&self, samples: MatrixView<'_, T>, masses: &[f64], draw: Draw, run: Run<'_>) -> Result<Dictionary<T>>;
}

/// Which random numbers a learner uses: those of a round of a seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Draw {
    /// The seed of the whole training.
    pub seed: u64,
    /// l, the number of the ensemble's member, from 0.
    pub round: u64,
}
