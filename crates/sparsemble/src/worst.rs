//! The worst-represented samples of a pass: where centres, lines and atoms that nobody uses go.

/// Up to a number of samples of the largest error, errors descending, the earlier sample first among equals.
#[derive(Debug, Clone)]
pub(crate) struct Worst {
    most: usize,
    entries: Vec<(f64, usize)>,
}

impl Worst {
    /// Keeps at most this many.
    pub(crate) fn new(most: usize) -> Self {
        Self { most, entries: Vec::new() }
    }

    /// Takes note of a sample with its error; one without error is of no use.
    pub(crate) fn offer(&mut self, error: f64, sample: usize) {
        if error > 0.0 {
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
        self.entries.truncate(self.most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_errors_come_first_and_equal_ones_in_order() {
        let mut worst = Worst::new(3);
        for sample in 0..5000 {
            worst.offer(if sample == 4321 { 9.0 } else { f64::from(sample % 7) }, sample as usize);
        }
        assert_eq!(worst.into_samples().collect::<Vec<_>>(), [4321, 6, 13]);
    }

    #[test]
    fn samples_without_error_are_no_candidates() {
        let mut worst = Worst::new(3);
        worst.offer(0.0, 1);
        worst.offer(f64::NAN, 2);
        assert_eq!(worst.into_samples().count(), 0);
    }
}
