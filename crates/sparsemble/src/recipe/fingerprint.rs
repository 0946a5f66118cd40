//! Two sets of samples told apart by one number, so that a run is not resumed on other data.

use crate::blocks::Run;
use crate::error::Result;
use crate::scalar::Scalar;

use super::TrainingSet;

/// Samples in a block.
const BLOCK: usize = 4096;

impl<T: Scalar> TrainingSet<'_, T> {
    /// A number that other samples, masses, another Φ or other features to judge would not have, but for a chance of one in 2⁶⁴.
    ///
    /// # Errors
    /// If the run was interrupted, or the file of the samples cannot be read.
    pub fn fingerprint(&self, run: Run<'_>) -> Result<u64> {
        let (rows, columns) = (self.samples.rows(), self.samples.columns());
        let blocks = run.map_blocks(
            columns,
            BLOCK,
            || vec![T::ZERO; rows],
            |column, range| {
                let mut print = Print::default();
                for i in range {
                    self.samples.copy_column(i, column);
                    print.add_all(column);
                    print.add(self.masses.and_then(|masses| masses.get(i)).map_or(0, |mass| mass.to_bits()));
                }
                Ok(print.0)
            },
        )?;
        self.samples.expect_read()?;
        let mut whole = Print::default();
        whole.add(rows as u64);
        whole.add(columns as u64);
        whole.add(u64::from(self.masses.is_some()));
        for block in blocks {
            whole.add(block);
        }
        if let Some(phi) = self.phi {
            let mut measurements = vec![T::ZERO; phi.n_measurements()];
            for feature in 0..phi.n_features() {
                let mut unit = vec![T::ZERO; phi.n_features()];
                unit[feature] = T::ONE;
                phi.apply(&unit, &mut measurements);
                whole.add_all(&measurements);
            }
        }
        if let Some(judged) = self.n_judged {
            whole.add(judged as u64);
        }
        Ok(whole.0)
    }
}

/// A running hash: FNV-1a by words, with a rotation so that high bits come down.
struct Print(u64);

impl Default for Print {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Print {
    fn add(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(29);
    }

    fn add_all<T: Scalar>(&mut self, values: &[T]) {
        for value in values {
            self.add(value.to_f64().to_bits());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::degradation::{Dense, Identity};
    use crate::matrix::Matrix;

    #[test]
    fn other_samples_masses_or_degradations_have_other_fingerprints() {
        let samples = Matrix::from_fn(3, 5000, |r, c| (r * 7 + c) as f32);
        let mut other = samples.clone();
        other.column_mut(4999)[2] += 1.0;
        let turned = Matrix::from_fn(5000, 3, |r, c| (c * 7 + r) as f32);
        let (masses, identity) = (vec![1.0; 5000], Identity::new(3));
        let dense = Dense::new(Matrix::from_fn(1, 3, |_, c| c as f32).view()).unwrap();
        let set = TrainingSet::new(samples.view());
        let sets = [
            set,
            TrainingSet::new(other.view()),
            TrainingSet::new(turned.view()),
            TrainingSet { masses: Some(&masses), ..set },
            TrainingSet { phi: Some(&identity), ..set },
            TrainingSet { phi: Some(&dense), ..set },
            TrainingSet { n_judged: Some(2), ..set },
        ];
        let prints = sets.map(|set| set.fingerprint(Run::threads(1)).unwrap());
        for (i, print) in prints.iter().enumerate() {
            assert!(!prints[..i].contains(print));
            assert_eq!(*print, sets[i].fingerprint(Run::threads(3)).unwrap());
        }
    }
}
