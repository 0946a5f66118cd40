//! Lines through the origin as atoms: K-hyperline clustering, a level of a multilevel dictionary (§IV-A1).

use std::fmt::{Display, Formatter};
use std::ops::Range;

use crate::blocks::Run;
use crate::coding::{CodingBasis, OneSparse, Samples, SparseCoder, SparseCodes};
use crate::error::{Error, Result, expect_size};
use crate::matrix::{Matrix, MatrixView};
use crate::points::Points;
use crate::scalar::Scalar;
use crate::spec::{unless, write};
use crate::worst::Worst;

use super::atoms::normalise;
use super::{Dictionary, Draw, Examples, WeakLearner};

/// The most parts a pass is cut into: it bounds the memory of their sums, whatever the number of samples.
const MOST_PARTS: usize = 64;

/// The fewest samples in a part.
const SMALLEST_PART: usize = 512;

/// K lines through the origin, each the best one for the samples nearest to it.
///
/// Minimises Σ p(x_i)·min over j and a of ‖x_i − a·d_j‖². A pass sends each sample to the line of the largest
/// |d_jᵀx| and then moves each line by one step of the power method on its samples,
/// d_j ← Σ p(x_i)(d_jᵀx_i)x_i, normalised. Neither of the two can raise the error, so it never rises; where passes
/// change nothing any more, each line is the leading singular vector of its samples.
///
/// | field | symbol | default | purpose | range |
/// | --- | --- | --- | --- | --- |
/// | `n_atoms` | K | – | how many lines | 1 to the number of samples of positive mass and norm |
/// | `max_passes` | | 30 | the most passes | any |
/// | `tolerance` | | 10⁻⁴ | stops when a pass lowers the error by no more than this fraction | ≥ 0 |
///
/// It starts from samples drawn by mass, or wherever [`refine`](Self::refine) is told to. A line without samples is moved
/// to a badly represented one.
///
/// # Shapes
/// The samples are M × T, the dictionary M × K.
///
/// # Cost
/// K·M multiply-adds a sample and pass, at the speed of a matrix product; memory for the 1-sparse codes of a pass.
///
/// # Errors
/// See [`WeakLearner::fit`].
///
/// # Example
/// ```
/// use sparsemble::dictionary::{Dictionary, Hyperlines};
/// use sparsemble::{Matrix, Run};
///
/// // Samples on two lines, in both directions.
/// let samples = Matrix::from_columns(vec![3.0, 4.0, -6.0, -8.0, 2.0, 0.0, -1.0, 0.0], 2, 4)?;
/// let start = Dictionary::new(Matrix::from_columns(vec![0.0, 1.0, 1.0, 0.1], 2, 2)?)?;
/// let lines = Hyperlines::new(2).refine(samples.view(), &[1.0; 4], start, Run::default())?;
/// assert!((lines.dictionary.atoms().column(0)[1] - 0.8_f64).abs() < 1e-12);
/// assert!(lines.errors.last() <= Some(&1e-12));
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §IV-A1 (the 1-D subspace clustering of a level).
#[doc(alias = "MLD")]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hyperlines {
    /// K.
    pub n_atoms: usize,
    /// The most passes over the samples.
    pub max_passes: usize,
    /// The relative fall of the error at which to stop.
    pub tolerance: f64,
}

/// Lines and how they were found.
#[derive(Debug, Clone, PartialEq)]
pub struct Lines<T> {
    /// The directions of the lines.
    pub dictionary: Dictionary<T>,
    /// The mean squared distance of the samples to their nearest lines, by mass: at the start and after each pass.
    pub errors: Vec<f64>,
    /// Whether the error has stopped falling; if not, the passes ran out first.
    pub converged: bool,
}

impl Hyperlines {
    /// The default settings.
    pub fn new(n_atoms: usize) -> Self {
        Self { n_atoms, max_passes: 30, tolerance: 1e-4 }
    }

    /// Improves given lines.
    ///
    /// # Errors
    /// If sizes disagree, a value is not finite, masses make no distribution, or a parameter is out of range.
    pub fn refine<T: Scalar>(
        &self,
        samples: MatrixView<'_, T>,
        masses: &[f64],
        start: Dictionary<T>,
        run: Run<'_>,
    ) -> Result<Lines<T>> {
        (T::instances().lines)(self, samples, masses, start, run)
    }

    /// [`Self::refine`]; see [`crate::instances`].
    pub(crate) fn refine_here<T: Scalar>(
        &self,
        samples: MatrixView<'_, T>,
        masses: &[f64],
        start: Dictionary<T>,
        run: Run<'_>,
    ) -> Result<Lines<T>> {
        self.check()?;
        expect_size("start: number of atoms", self.n_atoms, start.n_atoms())?;
        expect_size("start: number of features (that of samples)", samples.rows(), start.n_features())?;
        let points = Points::new(samples, masses, None, run.silent())?;
        let part = |pass: usize| run.passes(pass..pass + 1, self.max_passes.saturating_add(1), samples.columns());
        let mut dictionary = start;
        let mut pass = Pass::over(&points, &dictionary, part(0))?;
        let mut errors = vec![pass.error];
        let mut converged = false;
        while !converged && errors.len() <= self.max_passes {
            let moved = pass.step(&points, &dictionary)?;
            let next = Pass::over(&points, &moved, part(errors.len()))?;
            converged = pass.error - next.error <= self.tolerance * pass.error;
            // Rounding may make the last step a step up; that one is not taken.
            if next.error > pass.error {
                break;
            }
            errors.push(next.error);
            (dictionary, pass) = (moved, next);
        }
        let errors = errors.into_iter().map(|error| points.unscaled_energy(error)).collect();
        Ok(Lines { dictionary, errors, converged })
    }

    fn check(&self) -> Result<()> {
        if self.n_atoms == 0 {
            return Err(Error::parameter("n_atoms", 0, "must be at least 1"));
        }
        if !(self.tolerance >= 0.0 && self.tolerance.is_finite()) {
            return Err(Error::parameter("tolerance", self.tolerance, "must be finite and not negative"));
        }
        Ok(())
    }
}

impl Display for Hyperlines {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let default = Self::new(self.n_atoms);
        let settings = [
            Some(format!("n_atoms={}", self.n_atoms)),
            unless(&default.max_passes, "max_passes", &self.max_passes),
            unless(&default.tolerance, "tolerance", &self.tolerance),
        ];
        write(f, "hyperlines", settings)
    }
}

impl<T: Scalar> WeakLearner<T> for Hyperlines {
    fn name(&self) -> &'static str {
        "lines"
    }

    fn fit(&self, samples: MatrixView<'_, T>, masses: &[f64], draw: Draw, run: Run<'_>) -> Result<Dictionary<T>> {
        self.check()?;
        let passes = self.max_passes.saturating_add(2);
        let part = |range: Range<usize>| run.passes(range, passes, samples.columns());
        let start = Examples { n_atoms: self.n_atoms }.fit(samples, masses, draw, part(0..1))?;
        Ok(self.refine(samples, masses, start, part(1..passes))?.dictionary)
    }
}

/// What one pass over the samples tells about a set of lines, in the units of the scaled samples.
struct Pass<'a, T> {
    /// Σ p(x_i)‖x_i − a_i·d‖².
    error: f64,
    /// Σ p(x_i)·a_i·x_i over the samples of each line, M × K.
    sums: Matrix<f64>,
    worst: Worst<'a, T>,
}

impl<'a, T: Scalar> Pass<'a, T> {
    fn over(points: &Points<'a, T>, lines: &Dictionary<T>, run: Run<'_>) -> Result<Self> {
        let basis = CodingBasis::new(lines.view())?;
        let codes = OneSparse::default().encode(&basis, &Samples::new(points.samples()), run)?.codes;
        let column = || vec![T::ZERO; lines.n_features()];
        let work = |x: &mut Vec<T>, range: Range<usize>| Ok(Self::part(points, lines, &codes, x, range));
        let size = points.count().div_ceil(MOST_PARTS).max(SMALLEST_PART);
        let parts = run.silent().map_blocks(points.count(), size, column, work)?;
        let mut whole = Self::empty(points, lines.n_atoms());
        for part in parts {
            whole.error += part.error;
            whole.sums.as_mut_slice().iter_mut().zip(part.sums.as_slice()).for_each(|(sum, part)| *sum += part);
            whole.worst.merge(part.worst);
        }
        Ok(whole)
    }

    fn empty(points: &Points<'a, T>, n_atoms: usize) -> Self {
        let worst = Worst::of(points.samples(), n_atoms);
        Self { error: 0.0, sums: Matrix::zeros(points.rows(), n_atoms), worst }
    }

    fn part(
        points: &Points<'a, T>,
        lines: &Dictionary<T>,
        codes: &SparseCodes<T>,
        x: &mut [T],
        range: Range<usize>,
    ) -> Self {
        let mut part = Self::empty(points, lines.n_atoms());
        for i in range.filter(|&i| points.masses()[i] > 0.0) {
            // A sample without a code is orthogonal to all lines, and its error is its energy.
            let (line, a) = codes.column(i).next().unwrap_or((0, T::ZERO));
            points.copy(i, x);
            let (mass, a) = (points.masses()[i] / points.total_mass(), a.to_f64() * points.scale());
            let sums = part.sums.column_mut(line).iter_mut();
            let (mut error, mut energy) = (0.0, 0.0);
            for ((sum, &x), &direction) in sums.zip(&*x).zip(lines.atoms().column(line)) {
                let x = x.to_f64();
                *sum += mass * a * x;
                error += (x - a * direction.to_f64()).powi(2);
                energy += x * x;
            }
            part.error += mass * error;
            let is_rounding = error <= 4.0 * T::EPSILON.to_f64() * energy;
            if !is_rounding {
                part.worst.offer(error, i);
            }
        }
        part
    }

    /// The lines after one step of the power method; one without samples goes to a badly represented sample, if any.
    fn step(&self, points: &Points<'_, T>, lines: &Dictionary<T>) -> Result<Dictionary<T>> {
        let mut worst = self.worst.clone().into_samples();
        let mut moved = lines.atoms().clone();
        for j in 0..lines.n_atoms() {
            let mut direction = self.sums.column(j).to_vec();
            if normalise(&mut direction) {
                let values = moved.column_mut(j).iter_mut().zip(direction);
                values.for_each(|(value, direction)| *value = T::from_f64(direction));
            } else if let Some(sample) = worst.next() {
                points.copy(sample, moved.column_mut(j));
            }
        }
        Dictionary::new(moved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_without_samples_goes_to_the_worst_represented_one() {
        // The second line is the best one for no sample, and the last sample is far from the first line.
        let samples = Matrix::from_columns(vec![5.0, 0.1, 0.0, 4.0, -0.1, 0.0, 0.1, 0.0, 2.0], 3, 3).unwrap();
        let start = Dictionary::new(Matrix::from_columns(vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0], 3, 2).unwrap()).unwrap();
        let points = Points::new(samples.view(), &[1.0; 3], None, Run::default()).unwrap();
        let moved = Pass::over(&points, &start, Run::default()).unwrap().step(&points, &start).unwrap();
        let expected = Dictionary::new(Matrix::from_columns(vec![0.1, 0.0, 2.0], 3, 1).unwrap()).unwrap();
        assert_eq!(moved.atoms().column(1), expected.atoms().column(0));
    }

    #[test]
    fn samples_of_extreme_size_give_finite_lines() {
        for size in [1e-300, 1e300] {
            let samples = Matrix::from_fn(3, 9, |r, c| size * ((r * 5 + c * 7) % 11) as f64);
            let start = Examples { n_atoms: 2 };
            let start = start.fit(samples.view(), &[1.0; 9], Draw { seed: 1, round: 0 }, Run::default()).unwrap();
            let lines = Hyperlines::new(2).refine(samples.view(), &[1.0; 9], start, Run::default()).unwrap();
            assert!(lines.errors.iter().all(|error| error.is_finite()), "{:?}", lines.errors);
            assert!(lines.dictionary.atoms().as_slice().iter().all(|value| value.is_finite()));
        }
    }
}
