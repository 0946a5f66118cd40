//! Greedy coding: one atom after the other, each the best next choice.
//!
//! Matching pursuit (MP) takes the atom most correlated with the residual and subtracts its share. Orthogonal matching
//! pursuit (OMP) chooses alike but fits all chosen atoms anew after every choice, so the residual is orthogonal to all
//! of them. Order-recursive matching pursuit (ORMP, what SPAMS calls `omp`) chooses the atom after which that fit is
//! best. All choices divide by the norm of the atom, so the columns need not have unit norm.
//!
//! Two routes lead to the same choices. With the Gram matrix at hand ([`gram`]) the correlations are updated by one
//! fused sweep over the atoms per choice, sample by sample; this is Batch-OMP with an orthonormal basis in place of
//! repeated solves. Where the Gram matrix would be too large, or a mask makes it differ from sample to sample, the
//! correlations are computed anew from the residuals of a block ([`direct`]).

mod direct;
mod gram;
mod selection;

use crate::blocks::{Run, block_size};
use crate::error::{Error, Result};
use crate::scalar::Scalar;

use super::{Coding, CodingBasis, SampleStatus, Samples, SparseCoder, join};

/// A greedy coder, stopped by the number of atoms, by the error, by the price of an atom, or by whichever comes first.
///
/// | field | default | purpose | range |
/// | --- | --- | --- | --- |
/// | `kind` | – | MP, OMP or ORMP | |
/// | `sparsity` | – | the most choices; for OMP and ORMP also limited by min(M, K) | ≥ 1 |
/// | `error` | – | stop when ‖x − Da‖² is at most this | ≥ 0 |
/// | `gain` | – | stop when the next atom would lower ‖x − Da‖² by this or less: greedily for ‖x − Da‖² + `gain`·‖a‖₀ | ≥ 0 |
///
/// # Cost
/// Per sample M·K multiply-adds for the first correlations and about K·s²/2 for s choices; K² numbers of memory for the
/// Gram matrix, or s passes of M·K where that would exceed 64 MB.
///
/// # Errors
/// See [`SparseCoder::encode`]; also if none of `sparsity`, `error` and `gain` is given.
///
/// # Example
/// ```
/// use sparsemble::coding::{CodingBasis, Pursuit, Samples, SparseCoder};
/// use sparsemble::{Matrix, Run};
///
/// let atoms = Matrix::from_columns(vec![1.0, 0.0, 0.0, 1.0, 0.6, 0.8], 2, 3)?;
/// let sample = Matrix::from_columns(vec![3.0, 4.0], 2, 1)?;
/// let basis = CodingBasis::new(atoms.view())?;
/// let coding = Pursuit::omp(1).encode(&basis, &Samples::new(sample.view()), Run::default())?;
/// assert_eq!(coding.codes.atoms(), [2]);
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §I-A (the greedy alternatives to Eq. (1)).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pursuit {
    /// How the next atom is chosen and fitted.
    pub kind: PursuitKind,
    /// The most choices.
    pub sparsity: Option<usize>,
    /// The squared error ‖x − Da‖² at which to stop.
    pub error: Option<f64>,
    /// The price of an atom: each has to lower ‖x − Da‖² by more than this.
    pub gain: Option<f64>,
}

/// How a [`Pursuit`] chooses and fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PursuitKind {
    /// Matching pursuit: subtract the best atom's share; an atom may be chosen again.
    Matching,
    /// Orthogonal matching pursuit: fit all chosen atoms after each choice.
    Orthogonal,
    /// Order-recursive matching pursuit: choose the atom after which that fit is best.
    OrderRecursive,
}

impl Pursuit {
    /// Orthogonal matching pursuit with `sparsity` atoms.
    pub fn omp(sparsity: usize) -> Self {
        Self { kind: PursuitKind::Orthogonal, sparsity: Some(sparsity), error: None, gain: None }
    }

    fn check(&self) -> Result<()> {
        if self.sparsity.is_none() && self.error.is_none() && self.gain.is_none() {
            return Err(Error::parameter("sparsity", "none", "give sparsity, error, gain or several of them"));
        }
        if self.sparsity == Some(0) {
            return Err(Error::parameter("sparsity", 0, "must be at least 1"));
        }
        for (name, value) in [("error", self.error), ("gain", self.gain)] {
            if let Some(value) = value.filter(|value| !(*value >= 0.0 && value.is_finite())) {
                return Err(Error::parameter(name, value, "must be finite and not negative"));
            }
        }
        Ok(())
    }

    /// What is asked of a sample that was divided by `scale`.
    fn limits<T: Scalar>(&self, basis: &CodingBasis<T>, scale: f64) -> Limits {
        let tamed = |value: f64| value / scale / scale;
        Limits { choices: self.most_choices(basis), error: self.error.map(tamed), gain: self.gain.map(tamed) }
    }

    /// The most choices for one sample.
    fn most_choices<T: Scalar>(&self, basis: &CodingBasis<T>) -> usize {
        let independent = basis.n_features().min(basis.n_atoms());
        match self.kind {
            // MP only approaches its goal; this many choices without reaching it mean that it never will.
            PursuitKind::Matching => self.sparsity.unwrap_or(100 * independent),
            PursuitKind::Orthogonal | PursuitKind::OrderRecursive => {
                self.sparsity.unwrap_or(independent).min(independent)
            }
        }
    }

    /// How a sample ended that has no more choices, given its error and what was asked for (both tamed).
    fn status(&self, error: f64, limits: Limits, choices: usize) -> SampleStatus {
        let has_enough = limits.error.is_some_and(|target| error <= target)
            || self.sparsity.is_some_and(|sparsity| choices >= sparsity);
        // MP may have been stopped while its atoms still gained something.
        let stopped = self.kind == PursuitKind::Matching && self.sparsity.is_none() && choices >= limits.choices;
        if has_enough {
            SampleStatus::Converged
        } else if stopped {
            SampleStatus::IterationLimit
        } else if limits.error.is_none() || self.gain.is_some() {
            SampleStatus::Converged
        } else {
            SampleStatus::Unreachable
        }
    }
}

/// What is asked of one sample, in its own scale.
#[derive(Debug, Clone, Copy)]
struct Limits {
    choices: usize,
    error: Option<f64>,
    gain: Option<f64>,
}

impl Limits {
    /// Whether a choice that lowers the error by `gain` is to be made.
    #[inline(always)]
    fn is_worth(&self, gain: f64) -> bool {
        self.gain.is_none_or(|least| gain > least)
    }
}

impl<T: Scalar> SparseCoder<T> for Pursuit {
    fn encode(&self, basis: &CodingBasis<T>, samples: &Samples<'_, T>, run: Run<'_>) -> Result<Coding<T>> {
        (T::instances().pursuit)(self, basis, samples, run)
    }
}

impl Pursuit {
    /// [`SparseCoder::encode`]; see [`crate::instances`].
    pub(crate) fn encode_here<T: Scalar>(
        &self,
        basis: &CodingBasis<T>,
        samples: &Samples<'_, T>,
        run: Run<'_>,
    ) -> Result<Coding<T>> {
        self.check()?;
        samples.check(basis)?;
        let blocks = if basis.has_gram() && !samples.is_masked() {
            let size = block_size(gram::BLOCK, basis.work());
            run.map_long_blocks(
                samples.count(),
                size,
                || gram::Block::new(self, basis, size),
                |block, range, pulse| block.encode(samples, range, pulse),
            )?
        } else {
            let size = block_size(direct::BLOCK, basis.work());
            run.map_long_blocks(
                samples.count(),
                size,
                || direct::Block::new(self, basis, size),
                |block, range, pulse| block.encode(samples, range, pulse),
            )?
        };
        Ok(join(basis.n_atoms(), blocks))
    }
}
