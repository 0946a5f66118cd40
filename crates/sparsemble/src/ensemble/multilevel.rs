//! Learning level by level, each level from what the ones before it left over: MLD and Ex-MLD (§IV-A1).

mod dictionary;
mod level;

pub use dictionary::MultilevelDictionary;
pub use level::Coefficients;

use std::ops::Range;

use crate::blocks::Run;
use crate::error::{Error, Result, expect_size};
use crate::masses::Masses;
use crate::matrix::{Matrix, MatrixView};
use crate::scalar::Scalar;

use super::strips::{STRIP, piece, pieces, strip, sum_of};
use super::{Averaging, Ensemble, Training};
use level::{code_level, sizes};

/// Learns a [`MultilevelDictionary`]: the dictionaries of the first level from the samples, those of each later one from
/// the residuals of 1-sparse coding with the levels before it.
///
/// Every level is an [`Averaging`] of dictionaries of its own. Its learner and its number of models make the method:
///
/// | method | `level.learner` | `level.n_models` |
/// | --- | --- | --- |
/// | MLD | [`Hyperlines`](crate::dictionary::Hyperlines) | 1 |
/// | Ex-MLD | [`Examples`](crate::dictionary::Examples) | 50 in the paper |
///
/// | field | symbol | default | purpose | range | paper's value |
/// | --- | --- | --- | --- | --- | --- |
/// | `level` | | – | makes the dictionaries of a level, with the seed and the masses of all | | 16 atoms |
/// | `n_levels` | | 16 | how many levels at most | ≥ 1 | 16 |
///
/// Learning ends early when too few samples have a residual left to learn from. A residual of no more than rounding
/// counts as none.
///
/// # Shapes
/// Samples M × T; each level holds L dictionaries M × K.
///
/// # Cost
/// For each level L calls of the learner and L·K·M multiply-adds a sample. The residuals are kept: M × T in the type of
/// the samples, like the approximations of [`Boosting`](super::Boosting).
///
/// # Errors
/// Those of the learner at the first level; if there is to be no level or no model, or an energy is not a finite number.
///
/// # Example
/// ```
/// use sparsemble::dictionary::Examples;
/// use sparsemble::ensemble::{Averaging, Multilevel};
/// use sparsemble::{Matrix, Run};
///
/// let samples = Matrix::from_fn(8, 200, |r, c| ((r * r + 3 * c) as f64).sin() + ((r * c) as f64).cos());
/// let examples = Examples { n_atoms: 4 };
/// let level = Averaging { n_models: 10, seed: 1, ..Averaging::new(&examples) };
/// let dictionary = Multilevel { n_levels: 5, ..Multilevel::new(level) }.fit(samples.view(), Run::default())?;
///
/// let approximations = dictionary.approximate(samples.view(), Run::default())?;
/// assert_eq!(approximations.columns(), 200);
/// // The mean energy of the residuals falls from level to level.
/// assert!(dictionary.errors().windows(2).all(|pair| pair[1] <= pair[0]));
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §IV-A1.
#[doc(alias = "MLD")]
#[doc(alias = "Ex-MLD")]
#[derive(Clone)]
pub struct Multilevel<'a, T> {
    /// Makes the dictionaries of a level.
    pub level: Averaging<'a, T>,
    /// How many levels at most.
    pub n_levels: usize,
}

impl<'a, T: Scalar> Multilevel<'a, T> {
    /// Sixteen levels of this kind.
    pub fn new(level: Averaging<'a, T>) -> Self {
        Self { level, n_levels: 16 }
    }

    /// Learns all levels.
    ///
    /// # Errors
    /// See [`Multilevel`].
    pub fn fit(&self, samples: MatrixView<'_, T>, run: Run<'_>) -> Result<MultilevelDictionary<T>> {
        self.resume(samples, Vec::new(), run)
    }

    /// Learns the levels that are missing after the given ones, which must have been learned from the same samples with
    /// the same settings; the result is then that of [`fit`](Self::fit), bit for bit.
    ///
    /// # Errors
    /// See [`Multilevel`]; also if the given levels do not fit the samples.
    pub fn resume(
        &self,
        samples: MatrixView<'_, T>,
        levels: Vec<Ensemble<T>>,
        run: Run<'_>,
    ) -> Result<MultilevelDictionary<T>> {
        if self.n_levels == 0 {
            return Err(Error::parameter("n_levels", 0, "must be at least 1"));
        }
        if samples.rows() == 0 {
            return Err(Error::Empty { what: "samples", unit: "feature" });
        }
        let mut residuals = Residuals::new(
            samples,
            Masses::new(self.level.masses, samples.columns())?.values().into_owned(),
            run.silent(),
        )?;
        // A level learns its members, a pass each, and codes the residuals once.
        let passes = self.level.n_models.saturating_add(1);
        let part = |range: Range<usize>| run.passes(range, passes.saturating_mul(self.n_levels), samples.columns());
        let mut errors = vec![residuals.error(run.silent())?];
        let mut known = levels.into_iter();
        let mut levels = Vec::new();
        while levels.len() < self.n_levels {
            let done = levels.len() * passes;
            let level = match known.next() {
                Some(level) => level,
                None => match self.learn(residuals.values.view(), levels.len(), part(done..done + passes - 1)) {
                    // At the first level this is a mistake of the caller; later it means that few residuals are left.
                    Err(Error::TooFewSamples { .. }) if !levels.is_empty() => break,
                    learned => learned?,
                },
            };
            residuals.subtract(&level, part(done + passes - 1..done + passes))?;
            errors.push(residuals.error(run.silent())?);
            levels.push(level);
        }
        Ok(MultilevelDictionary::new(levels)?.with_errors(errors))
    }

    /// The dictionaries of one level, with random numbers of their own.
    fn learn(&self, residuals: MatrixView<'_, T>, level: usize, run: Run<'_>) -> Result<Ensemble<T>> {
        let n_models = self.level.n_models;
        let member = |i: usize| {
            let run = run.passes(i..i + 1, n_models, residuals.columns());
            self.level.member(residuals, level * n_models + i, run)
        };
        let members = (0..n_models).map(member);
        let ensemble = self.level.combine(&members.collect::<Result<Vec<_>>>()?)?;
        let method = format!("{}-mld", self.level.learner.name());
        let training = Training { method, ..ensemble.training().clone() };
        Ok(ensemble.with_training(training))
    }
}

/// What the levels so far have left of the samples.
struct Residuals<T> {
    values: Matrix<T>,
    /// The size each sample had, which tells a residual from rounding.
    sizes: Vec<f64>,
    masses: Vec<f64>,
    total_mass: f64,
}

impl<T: Scalar> Residuals<T> {
    fn new(samples: MatrixView<'_, T>, masses: Vec<f64>, run: Run<'_>) -> Result<Self> {
        let mut values = Matrix::zeros(samples.rows(), samples.columns());
        let pieces = pieces(&mut values);
        let work = |(): &mut (), range: Range<usize>| {
            let strip = strip(samples, range.clone())?;
            piece(&pieces, range.start).copy_from_slice(strip.as_slice());
            Ok(sizes(&strip))
        };
        let sizes = run.map_blocks(samples.columns(), STRIP, || (), work)?;
        drop(pieces);
        Ok(Self { values, sizes: sizes.concat(), total_mass: masses.iter().sum(), masses })
    }

    /// Takes from each residual what a level makes of it.
    fn subtract(&mut self, level: &Ensemble<T>, run: Run<'_>) -> Result<()> {
        let n_features = self.values.rows();
        expect_size("levels: number of features (that of samples)", n_features, level.n_inputs())?;
        let (n_samples, sizes) = (self.values.columns(), &self.sizes);
        let pieces = pieces(&mut self.values);
        let work = |(): &mut (), range: Range<usize>| {
            let mut piece = piece(&pieces, range.start);
            let mut strip = Matrix::from_columns(piece.to_vec(), n_features, range.len())?;
            code_level(level, Coefficients::LeastSquares, &mut strip, &sizes[range])?;
            piece.copy_from_slice(strip.as_slice());
            Ok(())
        };
        run.map_blocks(n_samples, STRIP, || (), work).map(drop)
    }

    /// The mean energy, by mass.
    fn error(&self, run: Run<'_>) -> Result<f64> {
        let energy = |i: usize| sum_of(self.values.column(i), self.values.column(i), |a, b| a * b);
        let work = |(): &mut (), range: Range<usize>| Ok(range.map(|i| self.masses[i] * energy(i)).sum::<f64>());
        let sum: f64 = run.map_blocks(self.values.columns(), STRIP, || (), work)?.into_iter().sum();
        if !sum.is_finite() {
            return Err(Error::parameter("samples: energy", sum, "is not a finite number; scale the data"));
        }
        Ok(sum / self.total_mass)
    }
}
