//! Samples through an ensemble: codes, approximations and how far the members are apart (§I-B, Eq. (4)).

use std::ops::Range;

use fearless_simd::{Simd, dispatch};

use crate::blocks::Run;
use crate::coding::{Coding, CodingReport, SampleStatus, Samples, SparseCoder, SparseCodes};
use crate::error::{Result, expect_size};
use crate::kernels::best_level;
use crate::matrix::{Matrix, MatrixView};
use crate::scalar::Scalar;
use crate::sums::squared_distance_by;

use super::Ensemble;
use super::strips::{STRIP, map_strips, piece, pieces};

/// What a model makes of samples.
#[derive(Debug, Clone, PartialEq)]
pub struct Approximation<T> {
    /// Σ β_l D_l a_l for each sample, M × T.
    pub values: Matrix<T>,
    /// How far apart the members are for each sample, in the unit of the samples: the root of Σ w_l ‖c_l − c‖², where
    /// c_l is the approximation of member l, c the combined one, and w_l = |β_l| / Σ|β|. `None` if there is one member
    /// alone, which has nothing to differ from.
    ///
    /// A measure of the uncertainty: zero if all members that count agree. It sees only where the members differ, not
    /// what all of them miss, so it is no bound on the error.
    pub spread: Option<Vec<f64>>,
    /// Samples that some member's coder did not bring to what was asked for.
    pub unconverged: usize,
}

impl<T: Scalar> Ensemble<T> {
    /// Σ β_l D_l a_l for every sample, with the spread of the members.
    ///
    /// # Shapes
    /// Samples N × T, approximations M × T.
    ///
    /// # Cost
    /// L calls of the coder, plus about M multiply-adds for each coefficient and 3·L·M for each sample. Memory beyond
    /// the result does not depend on T.
    ///
    /// # Errors
    /// Those of [`SparseCoder::encode`].
    ///
    /// Paper: §I-B, Eq. (4).
    pub fn approximate(
        &self,
        samples: MatrixView<'_, T>,
        coder: &(dyn SparseCoder<T> + Sync),
        run: Run<'_>,
    ) -> Result<Approximation<T>> {
        (T::instances().approximate)(self, samples, coder, run)
    }

    /// [`Self::approximate`]; see [`crate::instances`].
    pub(crate) fn approximate_here(
        &self,
        samples: MatrixView<'_, T>,
        coder: &(dyn SparseCoder<T> + Sync),
        run: Run<'_>,
    ) -> Result<Approximation<T>> {
        let mut values = self.room(samples.columns());
        let pieces = pieces(&mut values);
        let strips = self.map_strips(samples, coder, run, |coding, range| {
            let spread = self.combine(&coding.codes, 0..range.len(), &mut piece(&pieces, range.start));
            (spread, coding.report.unconverged())
        })?;
        drop(pieces);
        let unconverged = strips.iter().map(|(_, unconverged)| unconverged).sum();
        let spread = strips.into_iter().flat_map(|(spread, _)| spread);
        Ok(Approximation { values, spread: (self.n_models() > 1).then(|| spread.collect()), unconverged })
    }

    /// The codes of every sample in all models, stacked: model after model, a = [a_1; …; a_L], without β.
    ///
    /// # Shapes
    /// Samples N × T, codes ΣK × T.
    ///
    /// # Errors
    /// Those of [`SparseCoder::encode`].
    ///
    /// Paper: §V (the stacked coefficients).
    pub fn transform(
        &self,
        samples: MatrixView<'_, T>,
        coder: &(dyn SparseCoder<T> + Sync),
        run: Run<'_>,
    ) -> Result<Coding<T>> {
        (T::instances().transform)(self, samples, coder, run)
    }

    /// [`Self::transform`]; see [`crate::instances`].
    pub(crate) fn transform_here(
        &self,
        samples: MatrixView<'_, T>,
        coder: &(dyn SparseCoder<T> + Sync),
        run: Run<'_>,
    ) -> Result<Coding<T>> {
        let strips = self.map_strips(samples, coder, run, |coding, _| coding)?;
        let mut whole = Coding { codes: SparseCodes::new(self.n_atoms()), report: no_report() };
        for part in strips {
            whole.codes.append(&part.codes);
            include(&mut whole.report, &part.report);
            whole.report.status.extend(part.report.status);
        }
        Ok(whole)
    }

    /// Σ β_l D_l a_l from stacked codes: the bits that [`approximate`](Self::approximate) gives for the codes of
    /// [`transform`](Self::transform).
    ///
    /// # Errors
    /// If the codes do not have one row for each atom of the models, or the run was interrupted.
    pub fn reconstruct(&self, codes: &SparseCodes<T>, run: Run<'_>) -> Result<Matrix<T>> {
        (T::instances().reconstruct)(self, codes, run)
    }

    /// [`Self::reconstruct`]; see [`crate::instances`].
    pub(crate) fn reconstruct_here(&self, codes: &SparseCodes<T>, run: Run<'_>) -> Result<Matrix<T>> {
        expect_size("codes: number of atoms (that of all models)", self.n_atoms(), codes.n_atoms())?;
        let mut values = self.room(codes.n_samples());
        let pieces = pieces(&mut values);
        run.map_blocks(
            codes.n_samples(),
            STRIP,
            || (),
            |(), range| {
                self.combine(codes, range.clone(), &mut piece(&pieces, range.start));
                Ok(())
            },
        )?;
        drop(pieces);
        Ok(values)
    }

    /// Codes every strip of samples in all models and hands the stacked codes to `work`.
    pub(super) fn map_strips<R: Send>(
        &self,
        samples: MatrixView<'_, T>,
        coder: &(dyn SparseCoder<T> + Sync),
        run: Run<'_>,
        work: impl Fn(Coding<T>, Range<usize>) -> R + Sync,
    ) -> Result<Vec<R>> {
        expect_size("samples: number of features (that of the ensemble)", self.n_inputs(), samples.rows())?;
        map_strips(samples, run, |inputs, range, run| Ok(work(self.encode(&inputs, coder, run)?, range)))
    }

    /// The stacked codes of one strip.
    pub(super) fn encode(
        &self,
        inputs: &Matrix<T>,
        coder: &(dyn SparseCoder<T> + Sync),
        run: Run<'_>,
    ) -> Result<Coding<T>> {
        let inputs = Samples::new(inputs.view());
        let members = self.models.iter().map(|model| coder.encode(model.basis(), &inputs, run));
        let members = members.collect::<Result<Vec<_>>>()?;
        let offsets = self.offsets();
        let mut codes = SparseCodes::new(self.n_atoms());
        for sample in 0..inputs.count() {
            codes.push(members.iter().zip(&offsets).flat_map(|(member, offset)| {
                member.codes.column(sample).map(move |(atom, value)| ((offset + atom) as u32, value))
            }));
        }
        let mut report = CodingReport { status: vec![SampleStatus::Converged; inputs.count()], ..no_report() };
        for member in &members {
            include(&mut report, &member.report);
            let status = report.status.iter_mut().zip(&member.report.status);
            status.filter(|(whole, _)| **whole == SampleStatus::Converged).for_each(|(whole, part)| *whole = *part);
        }
        Ok(Coding { codes, report })
    }

    /// Writes the combined approximations of some samples to `values`, which holds zeros, and returns their spread.
    fn combine(&self, codes: &SparseCodes<T>, range: Range<usize>, values: &mut [T]) -> Vec<f64> {
        let offsets = self.offsets();
        let beta: Vec<T> = self.beta.iter().map(|&weight| T::from_f64(weight)).collect();
        let total: f64 = self.beta.iter().map(|weight| weight.abs()).sum();
        let mut members = self.room(self.n_models());
        let mut spreads = Vec::with_capacity(range.len());
        dispatch!(best_level(), simd => {
            for (sample, value) in range.zip(values.chunks_exact_mut(self.n_features().max(1))) {
                self.members_of(simd, (codes, sample), &offsets, &mut members);
                for (l, &weight) in beta.iter().enumerate() {
                    value.iter_mut().zip(members.column(l)).for_each(|(sum, &part)| *sum += weight * part);
                }
                let apart = |(l, weight): (usize, &f64)| {
                    weight.abs() * squared_distance_by(simd, members.column(l), value)
                };
                let sum: f64 = self.beta.iter().enumerate().map(apart).sum();
                spreads.push(if total > 0.0 { (sum / total).sqrt() } else { 0.0 });
            }
        });
        spreads
    }

    /// The approximation of one sample by each member, the columns of C (M × L).
    #[inline(always)]
    pub(super) fn members_of<S: Simd>(
        &self,
        _: S,
        (codes, sample): (&SparseCodes<T>, usize),
        offsets: &[usize],
        members: &mut Matrix<T>,
    ) {
        members.as_mut_slice().fill(T::ZERO);
        let mut l = 0;
        for (atom, coefficient) in codes.column(sample) {
            while atom >= offsets[l + 1] {
                l += 1;
            }
            let column = self.models[l].synthesis().column(atom - offsets[l]);
            members.column_mut(l).iter_mut().zip(column).for_each(|(sum, &value)| *sum += value * coefficient);
        }
    }

    /// Zeros for this many approximations.
    pub(super) fn room(&self, count: usize) -> Matrix<T> {
        Matrix::zeros(self.n_features(), count)
    }
}

fn no_report() -> CodingReport {
    CodingReport { converged: true, iterations: 0, worst_gap: None, status: Vec::new() }
}

/// Takes everything but the single samples' status from another report.
fn include(whole: &mut CodingReport, part: &CodingReport) {
    whole.converged &= part.converged;
    whole.iterations = whole.iterations.max(part.iterations);
    // `Option` orders `None` below any gap, and gaps are never NaN.
    whole.worst_gap = if part.worst_gap > whole.worst_gap { part.worst_gap } else { whole.worst_gap };
}
