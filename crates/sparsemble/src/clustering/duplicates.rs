//! Samples that are equal, merged: a sample represented by its twin says nothing about its cluster.

use std::hash::Hasher;
use std::ops::Range;

use crate::blocks::Run;
use crate::error::{Result, expect_size};
use crate::matrix::{Matrix, MatrixView};
use crate::scalar::Scalar;

/// Samples a thread looks at at a time.
const BLOCK: usize = 1024;

/// Which samples are equal, bit by bit but for the sign of zeros.
///
/// Of equal samples the first stands for all. Graphs are built of these *representatives*, and their labels are copied
/// back to all samples: with duplicates in the data a_ii = 0 does not prevent a sample from being represented by itself.
///
/// # Cost
/// One pass over the samples, by their hash; 16 bytes a sample.
///
/// # Example
/// ```
/// use sparsemble::clustering::Duplicates;
/// use sparsemble::{Matrix, Run};
///
/// let samples = Matrix::from_columns(vec![1.0, 0.0, 5.0, 5.0, 1.0, -0.0], 2, 3)?;
/// let duplicates = Duplicates::find(samples.view(), Run::default())?;
/// assert_eq!(duplicates.representatives(), [0, 1]);
/// assert_eq!(duplicates.multiplicities(), [2.0, 1.0]);
/// assert_eq!(duplicates.spread(&[7, 8])?, [7, 8, 7]);
/// # Ok::<(), sparsemble::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Duplicates {
    representatives: Vec<usize>,
    /// For each sample, which of the representatives stands for it.
    stands_for: Vec<u32>,
}

impl Duplicates {
    /// Compares all samples.
    ///
    /// # Errors
    /// If a value is not finite, or the run was interrupted.
    pub fn find<T: Scalar>(samples: MatrixView<'_, T>, run: Run<'_>) -> Result<Self> {
        (T::instances().duplicates)(samples, run)
    }

    /// [`Self::find`]; see [`crate::instances`].
    pub(crate) fn find_here<T: Scalar>(samples: MatrixView<'_, T>, run: Run<'_>) -> Result<Self> {
        let work = |column: &mut Vec<T>, range: Range<usize>| {
            let hash = |i: usize| {
                samples.copy_finite_column(i, column, "samples")?;
                Ok((hash(column), i))
            };
            range.map(hash).collect::<Result<Vec<_>>>()
        };
        let mut order = run.map_blocks(samples.columns(), BLOCK, || vec![T::ZERO; samples.rows()], work)?.concat();
        order.sort_unstable();
        // Each sample's representative, by its own number; equal hashes are next to each other, the first sample first.
        let mut first: Vec<usize> = (0..samples.columns()).collect();
        for group in order.chunk_by(|a, b| a.0 == b.0) {
            let mut different: Vec<usize> = Vec::new();
            for &(_, i) in group {
                match different.iter().find(|&&other| equal(samples, i, other)) {
                    Some(&other) => first[i] = other,
                    None => different.push(i),
                }
            }
        }
        let representatives: Vec<usize> = (0..first.len()).filter(|&i| first[i] == i).collect();
        let mut stands_for = vec![0; first.len()];
        representatives.iter().zip(0..).for_each(|(&i, number)| stands_for[i] = number);
        (0..first.len()).for_each(|i| stands_for[i] = stands_for[first[i]]);
        Ok(Self { representatives, stands_for })
    }

    /// Every sample stands for itself.
    pub fn none(n_samples: usize) -> Self {
        Self { representatives: (0..n_samples).collect(), stands_for: (0..n_samples as u32).collect() }
    }

    /// The samples that stand for all, ascending.
    pub fn representatives(&self) -> &[usize] {
        &self.representatives
    }

    /// How many samples are not among the representatives.
    pub fn count(&self) -> usize {
        self.stands_for.len() - self.representatives.len()
    }

    /// How many samples each representative stands for: its mass.
    pub fn multiplicities(&self) -> Vec<f64> {
        let mut masses = vec![0.0; self.representatives.len()];
        self.stands_for.iter().for_each(|&number| masses[number as usize] += 1.0);
        masses
    }

    /// The mass of all samples that each representative stands for.
    ///
    /// # Errors
    /// If there is not one mass for each of the samples compared.
    pub fn merge_masses(&self, masses: &[f64]) -> Result<Vec<f64>> {
        expect_size("masses: number of samples", self.stands_for.len(), masses.len())?;
        let mut merged = vec![0.0; self.representatives.len()];
        self.stands_for.iter().zip(masses).for_each(|(&number, mass)| merged[number as usize] += mass);
        Ok(merged)
    }

    /// The representatives of the samples that were compared, M × their number, in the memory of the samples.
    ///
    /// # Errors
    /// If there are not as many samples as were compared.
    pub fn merge<T: Scalar>(&self, mut samples: Matrix<T>) -> Result<Matrix<T>> {
        expect_size("samples: number (that of the samples compared)", self.stands_for.len(), samples.columns())?;
        let rows = samples.rows();
        for (number, &i) in self.representatives.iter().enumerate() {
            samples.as_mut_slice().copy_within(i * rows..(i + 1) * rows, number * rows);
        }
        let mut values = samples.into_vec();
        values.truncate(self.representatives.len() * rows);
        values.shrink_to_fit();
        Matrix::from_columns(values, rows, self.representatives.len())
    }

    /// What belongs to the representatives (labels, say), given to every sample.
    ///
    /// # Errors
    /// If there is not one value for each representative.
    pub fn spread<V: Copy>(&self, of_representatives: &[V]) -> Result<Vec<V>> {
        let what = "values: number (that of the representatives)";
        expect_size(what, self.representatives.len(), of_representatives.len())?;
        Ok(self.stands_for.iter().map(|&number| of_representatives[number as usize]).collect())
    }
}

/// Equal columns have equal hashes; the result does not depend on which.
fn hash<T: Scalar>(column: &[T]) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    for x in column {
        // Adding zero takes the sign off a zero and changes nothing else.
        hasher.write_u64((x.to_f64() + 0.0).to_bits());
    }
    hasher.finish()
}

fn equal<T: Scalar>(samples: MatrixView<'_, T>, i: usize, j: usize) -> bool {
    (0..samples.rows()).all(|r| samples.get(r, i) == samples.get(r, j))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_equal_samples_stands_for_all() {
        let numbers = [3.0, 1.0, 3.0, -0.0, 0.0, 1.0, 3.0, 2.0];
        let samples = Matrix::from_fn(2, 8, |r, c| numbers[c] * (r + 1) as f32);
        let duplicates = Duplicates::find(samples.view(), Run::threads(2)).unwrap();
        assert_eq!(duplicates.representatives(), [0, 1, 3, 7]);
        assert_eq!(duplicates.multiplicities(), [3.0, 2.0, 2.0, 1.0]);
        assert_eq!(duplicates.count(), 4);
        assert_eq!(duplicates.spread(&['a', 'b', 'c', 'd']).unwrap(), ['a', 'b', 'a', 'c', 'c', 'b', 'a', 'd']);
        let merged = duplicates.merge(samples).unwrap();
        assert_eq!(merged.as_slice(), [3.0, 6.0, 1.0, 2.0, -0.0, -0.0, 2.0, 4.0]);
        assert!(duplicates.spread(&[1]).is_err() && duplicates.merge(merged).is_err());
    }

    #[test]
    fn samples_that_differ_anywhere_are_not_merged() {
        let samples = Matrix::from_fn(64, 300, |r, c| if r == c % 64 { c as f64 } else { 1.0 });
        let duplicates = Duplicates::find(samples.view(), Run::threads(1)).unwrap();
        assert_eq!(duplicates.count(), 0);
        assert_eq!(duplicates, Duplicates::none(300));
    }
}
