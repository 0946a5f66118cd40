//! Alt-Opt: codes and atoms by turns (§I-A, Eqs. (1)–(3)).
//!
//! With the atoms fixed the codes are those of a [`Coder`]; with the codes fixed the atoms depend on them only
//! through two sums over the samples ([`statistics`]), so codes are streamed and never kept. The same sums and the same
//! atom update serve the batch learner [`AltOpt`], which forms them anew in every iteration, and the online learner
//! [`OnlineAltOpt`], which lets them grow.

mod alternation;
mod batch;
mod coder;
mod ksvd;
mod online;
mod pass;
mod statistics;
mod update;

pub use alternation::Alternation;
#[cfg(feature = "io")]
pub(crate) use online::Memory;
pub use online::{BatchOrder, OnlineAltOpt, OnlineLearner};
pub use pass::CodesReport;

use crate::blocks::Run;
use crate::coding::Coder;
use crate::dictionary::Dictionary;
use crate::error::{Error, Result, expect_size};
use crate::masses::Masses;
use crate::matrix::MatrixView;
use crate::scalar::Scalar;

/// Batch dictionary learning: min over D of Σ p(x_i)·h(x_i, D), where h is the objective of the coder.
///
/// With the lasso, h(x, D) = min over a of ‖x − Da‖² + λ‖a‖₁ as in Eq. (1), and atoms have unit norm.
///
/// | field | default | purpose | range |
/// | --- | --- | --- | --- |
/// | `coder` | lasso, λ = 0.2 | how samples are coded, and what codes cost | one λ, error or norm for all samples, or a pursuit |
/// | `update` | block coordinate descent, 3 sweeps | how atoms follow from codes, see [`AtomUpdate`] | |
/// | `nonnegative_atoms` | `false` | allow no negative entry of an atom; the start then loses its signs | block coordinate descent |
/// | `max_iterations` | 50 | the most atom updates; 0 only judges the start | ≥ 0 |
/// | `tolerance` | 10⁻⁴ | stop when an iteration changes the objective by less than this fraction of it | ≥ 0 |
///
/// The paper's λ is 0.2 (§II-B); it states no number of iterations. It starts from normalised cluster centres (§I-A),
/// which are those of [`Centers`](super::Centers), as in the example below; any other dictionary will do, a learned one
/// among them (warm start).
///
/// With the lasso and block coordinate descent the objective never rises, but for what the coder's own tolerance
/// allows. Atoms that no sample uses are replaced by the samples of the largest ‖x − Da‖², which raises nothing either.
///
/// # Shapes
/// Samples M × T, `masses` T (`None`: all alike; only their ratios matter), the start and the result M × K. K may exceed
/// T.
///
/// # Cost
/// For each iteration the coder's cost of all T samples, plus about s(M + s) per sample with s atoms in its code, plus
/// M·K² for each sweep (MOD: M·K² + K³/3). Memory is K² + 2·M·K doubles and a few thousand samples, whatever T is;
/// K-SVD also keeps all codes, 20 bytes for a coefficient and 24 for a sample, and reads the samples out of order.
///
/// # Errors
/// If sizes disagree, a value of a sample with positive mass is not finite, a mass is negative, all masses are zero, a
/// parameter is out of range, or the run was interrupted.
///
/// # Example
/// ```
/// use sparsemble::dictionary::{AltOpt, Centers, WeakLearner};
/// use sparsemble::{Matrix, Run};
///
/// let samples = Matrix::from_fn(8, 100, |r, c| ((r * (c % 5 + 1)) as f64 + c as f64).sin());
/// let start = Centers::new(12).start(samples.view(), None, 1, Run::default())?;
/// let learned = AltOpt::lambda(0.1).fit(samples.view(), None, &start, Run::default())?;
/// assert!(learned.curve.is_sorted_by(|earlier, later| later <= earlier));
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §I-A, Eqs. (1), (2) and (3).
#[doc(alias = "alt-opt")]
#[derive(Debug, Clone, PartialEq)]
pub struct AltOpt {
    /// How samples are coded.
    pub coder: Coder,
    /// How atoms follow from codes.
    pub update: AtomUpdate,
    /// Allow no negative entry of an atom.
    pub nonnegative_atoms: bool,
    /// The most atom updates.
    pub max_iterations: usize,
    /// The relative change of the objective below which to stop.
    pub tolerance: f64,
}

/// How the atoms follow from the codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtomUpdate {
    /// Block coordinate descent in the unit ball, this many sweeps over the atoms.
    BlockCoordinate {
        /// Sweeps over all atoms.
        sweeps: usize,
    },
    /// The method of optimal directions: least squares, then unit norms. It knows nothing of the ℓ1 norm, so with the
    /// lasso the objective may rise.
    Mod,
    /// Approximate K-SVD: every atom with its coefficients. Needs a pursuit.
    KSvd,
}

impl Default for AltOpt {
    fn default() -> Self {
        Self::lambda(0.2)
    }
}

/// A learned dictionary and how it came about.
#[derive(Debug, Clone, PartialEq)]
pub struct Learned<T> {
    /// The atoms.
    pub dictionary: Dictionary<T>,
    /// The objective Σ p·(‖x − Da‖² + λ‖a‖₁) with masses of sum one: of the start, then after each iteration. The last
    /// entry is that of `dictionary`.
    pub curve: Vec<f64>,
    /// The number of atom updates.
    pub iterations: usize,
    /// Whether the tolerance was reached before the limit of iterations.
    pub converged: bool,
    /// The codes of the samples in `dictionary`.
    pub codes: CodesReport,
    /// The mass of the samples that use each atom, out of one.
    pub usage: Vec<f64>,
    /// How many times an atom nobody used was replaced by a sample.
    pub replaced: usize,
}

impl AltOpt {
    /// The objective of Eqs. (1)–(3) with everything else at its default.
    pub fn lambda(lambda: f64) -> Self {
        let update = AtomUpdate::BlockCoordinate { sweeps: 3 };
        Self { coder: Coder::lambda(lambda), update, nonnegative_atoms: false, max_iterations: 50, tolerance: 1e-4 }
    }

    /// Approximate K-SVD with this many atoms a sample, by orthogonal matching pursuit.
    pub fn k_svd(sparsity: usize) -> Self {
        Self { coder: Coder::omp(sparsity), update: AtomUpdate::KSvd, ..Self::default() }
    }

    /// Learns from samples and their masses, beginning with the atoms of `start`.
    ///
    /// # Errors
    /// See [`AltOpt`].
    pub fn fit<T: Scalar>(
        &self,
        samples: MatrixView<'_, T>,
        masses: Option<&[f64]>,
        start: &Dictionary<T>,
        run: Run<'_>,
    ) -> Result<Learned<T>> {
        let mut alternation = self.start(samples, masses, start)?;
        let passes = self.max_iterations.saturating_add(1);
        loop {
            let pass = alternation.curve().len();
            alternation.step(run.passes(pass..pass + 1, passes, samples.columns()))?;
            if let Some(learned) = alternation.take_learned() {
                return Ok(learned);
            }
        }
    }

    /// The state before the first iteration.
    ///
    /// # Errors
    /// See [`AltOpt`].
    pub fn start<'a, T: Scalar>(
        &'a self,
        samples: MatrixView<'a, T>,
        masses: Option<&'a [f64]>,
        start: &Dictionary<T>,
    ) -> Result<Alternation<'a, T>> {
        self.resume(samples, masses, start, Vec::new())
    }

    /// The state after the iterations that gave these atoms and this curve: from the same samples and masses it goes on
    /// to the same bits as if it had never been left.
    ///
    /// # Errors
    /// See [`AltOpt`].
    pub fn resume<'a, T: Scalar>(
        &'a self,
        samples: MatrixView<'a, T>,
        masses: Option<&'a [f64]>,
        dictionary: &Dictionary<T>,
        curve: Vec<f64>,
    ) -> Result<Alternation<'a, T>> {
        self.check()?;
        check_samples(samples, dictionary)?;
        let atoms = if self.nonnegative_atoms { dictionary.absolute()? } else { dictionary.clone() };
        Ok(Alternation::new(self, samples, Masses::new(masses, samples.columns())?, atoms, curve))
    }

    fn is_converged(&self, before: Option<f64>, now: f64) -> bool {
        before.is_some_and(|before| (before - now).abs() <= self.tolerance * before)
    }

    fn check(&self) -> Result<()> {
        coder::check(&self.coder)?;
        if !(self.tolerance >= 0.0 && self.tolerance.is_finite()) {
            return Err(Error::parameter("tolerance", self.tolerance, "must be finite and not negative"));
        }
        if self.nonnegative_atoms && !matches!(self.update, AtomUpdate::BlockCoordinate { .. }) {
            let reason = "atoms without negative entries need block coordinate descent";
            return Err(Error::parameter("nonnegative_atoms", true, reason));
        }
        match (self.update, &self.coder) {
            (AtomUpdate::BlockCoordinate { sweeps: 0 }, _) => Err(Error::parameter("sweeps", 0, "must be at least 1")),
            (AtomUpdate::KSvd, Coder::Lasso(_)) => Err(Error::parameter(
                "update",
                "K-SVD with the lasso",
                "K-SVD refits coefficients without a penalty; use a pursuit or another update",
            )),
            _ => Ok(()),
        }
    }
}

/// Checks samples against the dictionary to start from.
fn check_samples<T: Scalar>(samples: MatrixView<'_, T>, start: &Dictionary<T>) -> Result<()> {
    expect_size("samples: number of features (that of the dictionary)", start.n_features(), samples.rows())?;
    if samples.columns() == 0 {
        return Err(Error::Empty { what: "samples", unit: "sample" });
    }
    Ok(())
}
