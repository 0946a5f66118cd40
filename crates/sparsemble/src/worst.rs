//! The worst-represented samples of a pass: where centres, lines and atoms that nobody uses go.
//!
//! Masses have no say in it and copies of a sample are one, so that a mass of three is the sample three times here too.

use crate::matrix::MatrixView;
use crate::scalar::Scalar;

/// Up to a number of different samples of the largest error, errors descending, the earlier sample first among equals.
#[derive(Debug, Clone)]
pub(crate) struct Worst<'a, T> {
    samples: MatrixView<'a, T>,
    most: usize,
    entries: Vec<(f64, usize)>,
    /// The last entry of those that are enough; nothing behind it is of use any more.
    last: Option<(f64, usize)>,
}

impl<'a, T: Scalar> Worst<'a, T> {
    /// Keeps at most this many of these samples.
    pub(crate) fn of(samples: MatrixView<'a, T>, most: usize) -> Self {
        Self { samples, most, entries: Vec::new(), last: None }
    }

    /// Takes note of a sample with its error; one without error is of no use.
    pub(crate) fn offer(&mut self, error: f64, sample: usize) {
        if error > 0.0 && self.last.is_none_or(|last| is_before(&(error, sample), &last)) {
            self.entries.push((error, sample));
            // Cut rarely, so that a sample costs a constant time.
            if self.entries.len() >= 2 * self.most + 1024 {
                self.cut();
            }
        }
    }

    /// Takes in what another part of the samples has offered.
    pub(crate) fn merge(&mut self, other: Self) {
        other.entries.into_iter().for_each(|(error, sample)| self.offer(error, sample));
    }

    /// The samples, worst first.
    pub(crate) fn into_samples(mut self) -> impl Iterator<Item = usize> {
        self.cut();
        self.entries.into_iter().map(|(_, sample)| sample)
    }

    fn cut(&mut self) {
        self.entries.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut kept: Vec<(f64, usize)> = Vec::with_capacity(self.most);
        for &(error, sample) in &self.entries {
            if kept.len() == self.most {
                break;
            }
            // What is equal has the same error to the bit.
            let mut rivals = kept.iter().rev().take_while(|(other, _)| other.to_bits() == error.to_bits());
            if !rivals.any(|&(_, other)| self.are_equal(sample, other)) {
                kept.push((error, sample));
            }
        }
        self.last = kept.last().copied().filter(|_| kept.len() == self.most);
        self.entries = kept;
    }

    fn are_equal(&self, one: usize, other: usize) -> bool {
        (0..self.samples.rows()).all(|row| self.samples.get(row, one) == self.samples.get(row, other))
    }
}

fn is_before((error, sample): &(f64, usize), (last_error, last): &(f64, usize)) -> bool {
    error.total_cmp(last_error).then(last.cmp(sample)).is_gt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Matrix;

    #[test]
    fn the_largest_errors_come_first_and_equal_ones_in_order() {
        let samples = Matrix::from_fn(1, 5000, |_, c| c as f64);
        let mut worst = Worst::of(samples.view(), 3);
        for sample in 0..5000 {
            worst.offer(if sample == 4321 { 9.0 } else { f64::from(sample % 7) }, sample as usize);
        }
        assert_eq!(worst.into_samples().collect::<Vec<_>>(), [4321, 6, 13]);
    }

    #[test]
    fn copies_of_a_sample_are_one_however_many_there_are() {
        // Of each five thousand samples that are equal one is kept, and those of one error that differ all are.
        let samples = Matrix::from_fn(2, 20_000, |r, c| if r == 0 { 1.0 } else { (c % 4) as f64 });
        let mut worst = Worst::of(samples.view(), 3);
        (0..20_000).for_each(|sample| worst.offer([2.0, 5.0, 2.0, 1.0][sample % 4], sample));
        assert_eq!(worst.clone().into_samples().collect::<Vec<_>>(), [1, 0, 2]);
        let mut merged = Worst::of(samples.view(), 4);
        merged.offer(1.0, 19_999);
        merged.merge(worst);
        assert_eq!(merged.into_samples().collect::<Vec<_>>(), [1, 0, 2, 19_999]);
    }

    #[test]
    fn samples_without_error_are_no_candidates() {
        let samples = Matrix::from_fn(1, 3, |_, c| c as f64);
        let mut worst = Worst::of(samples.view(), 3);
        worst.offer(0.0, 1);
        worst.offer(f64::NAN, 2);
        assert_eq!(worst.into_samples().count(), 0);
    }
}
