//! One look at the samples: code them, and keep what the atoms and the report need.

use crate::blocks::Run;
use crate::coding::{Coder, CodingBasis, Samples, SparseCoder, SparseCodes};
use crate::dictionary::Dictionary;
use crate::error::Result;
use crate::matrix::MatrixView;
use crate::scalar::Scalar;
use crate::worst::Worst;

use super::batch::{Batch, usual_size};
use super::coder::price;
use super::statistics::Statistics;

/// Samples whose errors one thread computes at a time.
const ERRORS: usize = 256;

/// What the coder had to say about all samples of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CodesReport {
    /// How many samples were coded: those of positive mass.
    pub n_samples: usize,
    /// The number of coefficients of all of them.
    pub n_nonzero: usize,
    /// Samples that did not reach what was asked of the coder.
    pub unconverged: usize,
    /// The largest duality gap, as a fraction of the sample's energy; `None` for coders that do not certify.
    pub worst_gap: Option<f64>,
}

/// How samples are looked at.
pub(super) struct Pass<'a, 's, T> {
    pub(super) coder: &'a Coder,
    pub(super) samples: MatrixView<'s, T>,
    /// How many samples will be chosen.
    pub(super) n_chosen: usize,
    pub(super) run: Run<'a>,
}

/// What a pass found.
pub(super) struct Outcome<'s, T> {
    /// Σ p·(‖x − Da‖² + λ‖a‖₁)
    pub(super) objective: f64,
    pub(super) codes: CodesReport,
    pub(super) worst: Worst<'s, T>,
}

impl<'s, T: Scalar> Pass<'_, 's, T> {
    /// Codes the chosen samples, each with its weight, adds them to the statistics and shows each batch to `keep`.
    ///
    /// The codes are gone with their batch: memory does not depend on the number of samples.
    pub(super) fn over(
        &self,
        dictionary: &Dictionary<T>,
        mut chosen: impl Iterator<Item = (usize, f64)>,
        statistics: &mut Statistics,
        mut keep: impl FnMut(&Batch<T>, &SparseCodes<T>),
    ) -> Result<Outcome<'s, T>> {
        let basis = CodingBasis::new(dictionary.view())?;
        let n_features = dictionary.n_features();
        let mut batch = Batch::new(n_features);
        let worst = Worst::of(self.samples, 4 * dictionary.n_atoms());
        let mut outcome = Outcome { objective: 0.0, codes: CodesReport::default(), worst };
        while batch.load(self.samples, &mut chosen, usual_size(n_features))? {
            let done = outcome.codes.n_samples;
            let run = self.run.part(done..done + batch.len(), self.n_chosen);
            let coding = self.coder.encode(&basis, &Samples::new(batch.view()?), run)?;
            let silent = self.run.silent(); // the steps after the coder are too short to be told of
            let errors = silent.map_blocks(batch.len(), ERRORS, Vec::new, |residual, range| {
                Ok(batch.errors(&basis, &coding.codes, range, residual))
            })?;
            statistics.add(&batch, &coding.codes, silent)?;
            for (slot, error) in errors.concat().into_iter().enumerate() {
                let price: f64 = coding.codes.column(slot).map(|(j, a)| price(self.coder, j) * a.to_f64().abs()).sum();
                outcome.objective += batch.weight(slot) * (error + price);
                outcome.worst.offer(error, batch.names()[slot]);
            }
            let report = &mut outcome.codes;
            report.n_samples += batch.len();
            report.n_nonzero += coding.codes.n_nonzero();
            report.unconverged += coding.report.unconverged();
            if coding.report.worst_gap > report.worst_gap {
                report.worst_gap = coding.report.worst_gap;
            }
            keep(&batch, &coding.codes);
        }
        Ok(outcome)
    }
}
