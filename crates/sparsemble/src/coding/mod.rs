//! Sparse coding: samples in, sparse coefficients out (§I-A, Eqs. (1) and (15)).
//!
//! Every coder is a small struct of parameters that implements [`SparseCoder`]:
//!
//! | coder | finds |
//! | --- | --- |
//! | [`Lasso`] | the minimum of ‖x − Da‖² + λ‖a‖₁, certified by its duality gap, or its error- or norm-constrained form |
//! | [`ElasticNet`] | the minimum of ‖x − Da‖² + λ‖a‖₁ + ρ‖a‖², certified by its duality gap |
//! | [`Pursuit`] | a greedy choice of atoms: MP, OMP or order-recursive MP, by count or by error |
//! | [`OneSparse`] | the single best atom, or the s best |
//! | [`Fista`] | the same minimum as [`Lasso`], matrix-free, where the dictionary is only an operator |
//!
//! [`lasso_path`] gives the codes of one sample for all λ.
//!
//! All of them code against a [`CodingBasis`], which may be any matrix: a dictionary D, a degraded one ΦD, the
//! low-resolution half of a pair, or the samples themselves. Nothing assumes unit columns.

mod basis;
#[cfg(feature = "io")]
pub(crate) mod bytes;
mod coder;
mod codes;
mod fista;
mod gram;
mod lasso;
mod one_sparse;
mod path;
mod pursuit;
mod samples;
mod strips;

pub use basis::CodingBasis;
pub use coder::Coder;
pub use codes::SparseCodes;
pub use fista::{Fista, Momentum};
pub(crate) use lasso::lambda_max_here;
pub use lasso::{ElasticNet, Lasso, Penalty, lambda_max};
pub use one_sparse::OneSparse;
pub use path::{LassoPath, lasso_path};
pub use pursuit::{Pursuit, PursuitKind};
pub use samples::Samples;
pub(crate) use strips::CodeStrip;
pub use strips::CodeStrips;
#[cfg(feature = "io")]
pub(crate) use strips::StoredCodes;

use std::fmt::{Debug, Display};

use crate::blocks::Run;
use crate::error::Result;
use crate::scalar::Scalar;

/// Finds sparse codes of a batch of samples in a basis.
///
/// As text a coder is its name and its settings: see [`Coder`].
///
/// ```
/// use sparsemble::coding::{CodingBasis, Lasso, Samples, SparseCoder};
/// use sparsemble::{Matrix, Run};
///
/// // Two atoms, and one sample that is three times the first plus a little of the second.
/// let atoms = Matrix::from_columns(vec![1.0, 0.0, 0.0, 1.0], 2, 2)?;
/// let samples = Matrix::from_columns(vec![3.0, 0.1], 2, 1)?;
/// let basis = CodingBasis::new(atoms.view())?;
/// let coding = Lasso::lambda(0.4).encode(&basis, &Samples::new(samples.view()), Run::default())?;
/// // Each correlation shrinks by λ/2: 3.0 to 2.8, and 0.1 to nothing.
/// assert_eq!(coding.codes.column(0).collect::<Vec<_>>(), [(0, 2.8)]);
/// assert!(coding.report.converged);
/// # Ok::<(), sparsemble::Error>(())
/// ```
pub trait SparseCoder<T: Scalar>: Debug + Display {
    /// Codes every sample.
    ///
    /// # Errors
    /// If sizes disagree, an observed value is not finite, a parameter is out of range, or the run was interrupted.
    /// Not converging is not an error: see [`CodingReport`].
    fn encode(&self, basis: &CodingBasis<T>, samples: &Samples<'_, T>, run: Run<'_>) -> Result<Coding<T>>;
}

/// The codes of a batch and how they came about.
#[derive(Debug, Clone, PartialEq)]
pub struct Coding<T> {
    /// One sparse column for each sample.
    pub codes: SparseCodes<T>,
    /// What the coder has to say about them.
    pub report: CodingReport,
}

/// How a batch was coded.
#[derive(Debug, Clone, PartialEq)]
pub struct CodingReport {
    /// Whether every sample reached what was asked for.
    pub converged: bool,
    /// The most iterations any sample needed (passes over the dictionary; chosen atoms for the greedy coders).
    pub iterations: usize,
    /// The largest duality gap, as a fraction of the sample's energy ‖x‖²; `None` for coders that do not certify.
    pub worst_gap: Option<f64>,
    /// One entry for each sample.
    pub status: Vec<SampleStatus>,
}

impl CodingReport {
    /// Samples that did not reach what was asked for.
    pub fn unconverged(&self) -> usize {
        self.status.iter().filter(|status| **status != SampleStatus::Converged).count()
    }

    fn gather(parts: Vec<Self>) -> Self {
        let mut whole = Self::with_capacity(parts.iter().map(|part| part.status.len()).sum());
        for part in parts {
            whole.converged &= part.converged;
            whole.iterations = whole.iterations.max(part.iterations);
            // `Option` orders `None` below any gap, and gaps are never NaN.
            whole.worst_gap = if part.worst_gap > whole.worst_gap { part.worst_gap } else { whole.worst_gap };
            whole.status.extend(part.status);
        }
        whole
    }

    fn push(&mut self, status: SampleStatus, iterations: usize, gap: Option<f64>) {
        self.converged &= status == SampleStatus::Converged;
        self.iterations = self.iterations.max(iterations);
        self.worst_gap = if gap > self.worst_gap { gap } else { self.worst_gap };
        self.status.push(status);
    }

    fn empty() -> Self {
        Self::with_capacity(0)
    }

    /// Of no samples yet, but with room for so many.
    fn with_capacity(n_samples: usize) -> Self {
        Self { converged: true, iterations: 0, worst_gap: None, status: Vec::with_capacity(n_samples) }
    }
}

/// How the coding of one sample ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SampleStatus {
    /// It reached the tolerance, the number of atoms or the error that was asked for.
    Converged,
    /// It ran into the limit of iterations first; the code is the best one found.
    IterationLimit,
    /// Rounding in this number type allows no smaller gap; the code is the best one found.
    PrecisionLimit,
    /// The basis cannot reach the error that was asked for; the code is the best one found.
    Unreachable,
}

/// Joins the blocks of a batch.
fn join<T: Scalar>(n_atoms: usize, blocks: Vec<Coding<T>>) -> Coding<T> {
    let total = |count: fn(&SparseCodes<T>) -> usize| blocks.iter().map(|block| count(&block.codes)).sum();
    let mut codes = SparseCodes::with_capacity(n_atoms, total(SparseCodes::n_samples), total(SparseCodes::n_nonzero));
    let mut reports = Vec::with_capacity(blocks.len());
    for block in blocks {
        codes.append(&block.codes);
        reports.push(block.report);
    }
    Coding { codes, report: CodingReport::gather(reports) }
}
