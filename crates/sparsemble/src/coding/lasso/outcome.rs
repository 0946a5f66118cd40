//! What becomes of a block of samples: their codes, and a second attempt where single precision was not enough.

use std::ops::Range;

use crate::blocks::Pulse;
use crate::coding::{Coding, CodingBasis, CodingReport, SampleStatus, Samples, SparseCoder, SparseCodes};
use crate::error::Result;
use crate::scalar::Scalar;

/// How a sample was left: its code, what it was divided by, its status, rounds and gap.
pub(super) type Left<'a> = (Code<'a>, f64, Option<SampleStatus>, (usize, f64));

/// The code of a sample.
pub(super) enum Code<'a> {
    /// Atoms and their coefficients.
    Support(&'a [u32], &'a [f64]),
    /// The same in ascending order, of atoms that are as they were given; some coefficients may be zero.
    Sorted(&'a [(u32, f64)]),
}

impl Code<'_> {
    /// How many coefficients it has at most.
    fn len(&self) -> usize {
        match self {
            Self::Support(atoms, _) => atoms.len(),
            Self::Sorted(entries) => entries.len(),
        }
    }
}

/// The codes of a range of samples, the i-th of which was left as `left(i)`.
///
/// Those that rounding has kept from the tolerance in single precision are coded again in double precision. What rounding
/// the coefficients of such a code costs is of second order, as the code is at the minimum.
pub(super) fn collect<'a, T: Scalar>(
    coder: &impl SparseCoder<f64>,
    (basis, samples): (&CodingBasis<T>, &Samples<'_, T>),
    range: Range<usize>,
    pulse: &Pulse<'_>,
    left: impl Fn(usize) -> Left<'a>,
) -> Result<Coding<T>> {
    let rounded = T::EPSILON.to_f64() > f64::EPSILON;
    let is_unfinished = |i: &usize| rounded && left(*i).2 == Some(SampleStatus::PrecisionLimit);
    let unfinished: Vec<usize> = (0..range.len()).filter(is_unfinished).map(|i| range.start + i).collect();
    let finer = match unfinished[..] {
        [] => None,
        _ => Some(samples.encode_in_doubles(coder, basis, &unfinished, pulse)?),
    };
    let n_nonzero = (0..range.len()).map(|i| left(i).0.len()).sum();
    let codes = SparseCodes::with_capacity(basis.n_atoms(), range.len(), n_nonzero);
    let mut block = Coding { codes, report: CodingReport::with_capacity(range.len()) };
    for i in 0..range.len() {
        let (code, scale, status, (rounds, gap)) = left(i);
        let place = unfinished.binary_search(&(range.start + i)).ok();
        if let Some((finer, place)) = finer.as_ref().zip(place) {
            block.codes.push(finer.codes.column(place).map(|(j, a)| (j as u32, T::from_f64(a))));
            block.report.push(finer.report.status[place], rounds + finer.report.iterations, finer.report.worst_gap);
        } else {
            match code {
                Code::Support(atoms, coefficients) => {
                    let entries = atoms.iter().zip(coefficients);
                    block.codes.push(entries.map(|(&j, &a)| (j, basis.coefficient(j, a, scale))));
                }
                Code::Sorted(entries) => {
                    block.codes.push_sorted(entries.iter().map(|&(j, a)| (j, T::from_f64(a * scale))));
                }
            }
            block.report.push(status.unwrap_or(SampleStatus::IterationLimit), rounds, Some(gap));
        }
    }
    Ok(block)
}
