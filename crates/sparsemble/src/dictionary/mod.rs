//! Dictionaries, and how they are learned from samples (§I-A, §III).
//!
//! A *weak learner* makes a dictionary in one go from samples and their probability masses; the ensembles are built of
//! those.

mod alt_opt;
mod atoms;
mod centers;
mod examples;
mod hyperlines;

#[cfg(feature = "io")]
pub(crate) use alt_opt::Memory;
pub use alt_opt::{AltOpt, Alternation, AtomUpdate, BatchOrder, CodesReport, Learned, OnlineAltOpt, OnlineLearner};
pub use atoms::Dictionary;
#[cfg(feature = "io")]
pub(crate) use atoms::has_unit_norm;
pub(crate) use atoms::normalise;
pub use centers::Centers;
pub use examples::{Examples, Selection};
pub use hyperlines::{Hyperlines, Lines};

use std::fmt::{Debug, Display};

use crate::blocks::Run;
use crate::error::Result;
use crate::masses::Masses;
use crate::matrix::MatrixView;
pub use crate::rng::Draw;
use crate::scalar::Scalar;

/// Makes a dictionary from samples, each of which counts as much as its mass p(x_i) says.
///
/// # Laws
/// Scaling all masses by one factor changes nothing; a sample of mass zero is never used. The result depends on the
/// samples, the masses and `draw` alone, not on the number of threads.
///
/// As text a learner is its name and its settings, `examples:n_atoms=256`.
///
/// # Example
/// One of your own, here the unit vectors, goes wherever [`Examples`] and [`Centers`] go.
/// ```
/// use sparsemble::coding::OneSparse;
/// use sparsemble::dictionary::{Dictionary, Draw, WeakLearner};
/// use sparsemble::ensemble::Boost;
/// use sparsemble::{Matrix, MatrixView, Result, Run};
///
/// #[derive(Debug)]
/// struct Units;
///
/// impl std::fmt::Display for Units {
///     fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
///         f.write_str("units")
///     }
/// }
///
/// impl WeakLearner<f64> for Units {
///     fn name(&self) -> &'static str {
///         "units"
///     }
///
///     fn fit(&self, samples: MatrixView<'_, f64>, _: &[f64], _: Draw, _: Run<'_>) -> Result<Dictionary<f64>> {
///         Dictionary::new(Matrix::from_fn(samples.rows(), samples.rows(), |r, c| f64::from(u8::from(r == c))))
///     }
/// }
///
/// let samples = Matrix::from_columns(vec![3.0, 1.0, 0.0, 2.0], 2, 2)?;
/// let coder = OneSparse::default();
/// let boost = Boost { n_models: 1, ..Boost::new(&Units, &coder) };
/// let ensemble = boost.fit(samples.view(), Run::default())?;
/// assert_eq!(ensemble.training().method, "boost-units");
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §III-A, §III-B.
pub trait WeakLearner<T: Scalar>: Debug + Display + Sync {
    /// A short word for what the atoms are, part of the names of the methods built on it: `ex` (examples) makes
    /// `boost-ex`, `km` (K-Means centres) makes `boost-km`.
    fn name(&self) -> &'static str;

    /// Learns one dictionary.
    ///
    /// # Errors
    /// If sizes disagree, a value is not finite, a mass is negative, or there are too few samples of positive mass.
    fn fit(&self, samples: MatrixView<'_, T>, masses: &[f64], draw: Draw, run: Run<'_>) -> Result<Dictionary<T>>;

    /// Learns one dictionary from samples that count alike unless masses are given: the start of [`AltOpt`].
    ///
    /// # Errors
    /// As [`fit`](Self::fit).
    fn start(
        &self,
        samples: MatrixView<'_, T>,
        masses: Option<&[f64]>,
        seed: u64,
        run: Run<'_>,
    ) -> Result<Dictionary<T>> {
        let masses = Masses::new(masses, samples.columns())?;
        self.fit(samples, &masses.values(), Draw::first(seed), run)
    }
}
