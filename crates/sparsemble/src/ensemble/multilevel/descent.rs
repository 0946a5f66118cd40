//! The state of learning level by level, and one level of it (§IV-A1).

use std::ops::Range;

use crate::blocks::Run;
use crate::dictionary::Dictionary;
use crate::ensemble::strips::{STRIP, map_strips, piece, pieces};
use crate::ensemble::{Ensemble, SparseModel, Training};
use crate::error::{Error, Result, expect_size};
use crate::masses::Masses;
use crate::matrix::{Matrix, MatrixView};
use crate::scalar::Scalar;
use crate::sums::product;

use super::level::{Coefficients, code_level, sizes};
use super::{Multilevel, MultilevelDictionary};

/// How far a stored error may be from the one computed again, which other processors round differently.
const SAME: f64 = 1e-3;

/// Learning between two levels.
///
/// A caller that wants to save what it has after each level calls [`step`](Self::step) itself, keeps
/// [`dictionary`](Self::dictionary) and [`residuals`](Self::residuals), and comes back by [`Multilevel::resume`].
///
/// Paper: §IV-A1.
pub struct Descent<'a, T> {
    settings: &'a Multilevel<'a, T>,
    residuals: Residuals<T>,
    levels: Vec<Vec<Dictionary<T>>>,
    errors: Vec<f64>,
    ended: bool,
}

impl<'a, T: Scalar> Descent<'a, T> {
    pub(super) fn new(settings: &'a Multilevel<'a, T>, samples: MatrixView<'a, T>, run: Run<'_>) -> Result<Self> {
        let residuals = Residuals::new(settings, samples, None, run)?;
        let errors = vec![residuals.error(run.silent())?];
        Ok(Self { settings, residuals, levels: Vec::new(), errors, ended: false })
    }

    /// The state after the levels of a dictionary, which left these residuals.
    pub(super) fn after(
        settings: &'a Multilevel<'a, T>,
        samples: MatrixView<'a, T>,
        so_far: &MultilevelDictionary<T>,
        residuals: Matrix<T>,
        run: Run<'_>,
    ) -> Result<Self> {
        let shape = |matrix: (usize, usize)| format!("{} × {}", matrix.0, matrix.1);
        let (found, expected) = ((residuals.rows(), residuals.columns()), (samples.rows(), samples.columns()));
        if found != expected || so_far.n_features() != expected.0 {
            let reason = format!("must be {}, as the samples", shape(expected));
            return Err(Error::parameter("residuals: shape", shape(found), reason));
        }
        residuals.view().expect_finite("residuals")?;
        let residuals = Residuals::new(settings, samples, Some(residuals), run)?;
        let errors = so_far.errors().to_vec();
        expect_size("errors: number of levels, and one", so_far.n_levels() + 1, errors.len())?;
        let (known, now) = (errors[so_far.n_levels()], residuals.error(run.silent())?);
        if (known - now).abs() > SAME * now.abs() {
            return Err(Error::parameter("error", known, "these residuals are not those the levels leave"));
        }
        let members = |level: &Ensemble<T>| level.models().iter().map(SparseModel::dictionary).collect();
        let levels = so_far.levels().iter().map(members).collect::<Result<Vec<_>>>()?;
        Ok(Self { settings, residuals, levels, errors, ended: false })
    }

    /// One level: learns its dictionaries from the residuals and takes from these what the level makes of them. Returns
    /// the mean energy that is left; `None` if learning has ended.
    ///
    /// If it fails or is interrupted, nothing has changed and it can be called again.
    ///
    /// # Errors
    /// See [`Multilevel`].
    pub fn step(&mut self, run: Run<'_>) -> Result<Option<f64>> {
        if self.ended || self.levels.len() == self.settings.n_levels {
            return Ok(None);
        }
        let averaging = &self.settings.level;
        let (n_models, values) = (averaging.n_models, self.residuals.values.view());
        let part = |pass: usize| run.passes(pass..pass + 1, n_models, values.columns());
        let first = self.levels.len() * n_models; // every member of every level has random numbers of its own
        let members = (0..n_models).map(|i| averaging.member(values, first + i, part(i)));
        match members.collect::<Result<Vec<_>>>() {
            // At the first level this is a mistake of the caller; later it means that few residuals are left.
            Err(Error::TooFewSamples { .. }) if !self.levels.is_empty() => {
                self.ended = true;
                Ok(None)
            }
            // Not to be interrupted, so that the state is always that of whole levels.
            members => self.take(members?, run.silent()).map(Some),
        }
    }

    /// A level but for the learning. After an interruption the residuals are of no use.
    fn take(&mut self, members: Vec<Dictionary<T>>, run: Run<'_>) -> Result<f64> {
        self.residuals.subtract(&self.settings.level.combine(&members)?, run)?;
        let error = self.residuals.error(run.silent())?;
        self.levels.push(members);
        self.errors.push(error);
        Ok(error)
    }

    /// The dictionary of the levels so far.
    ///
    /// # Errors
    /// If there is no level yet.
    pub fn dictionary(&self) -> Result<MultilevelDictionary<T>> {
        let levels = self.levels.iter().map(|members| self.settings.level.combine(members));
        let dictionary = MultilevelDictionary::new(levels.collect::<Result<Vec<_>>>()?)?;
        let averaging = &self.settings.level;
        Ok(dictionary.with_training(Training {
            method: self.settings.method(),
            learner: averaging.learner.to_string(),
            seed: averaging.seed,
            objective: self.errors.clone(),
            ..Training::default()
        }))
    }

    /// The dictionaries of each level.
    pub fn levels(&self) -> &[Vec<Dictionary<T>>] {
        &self.levels
    }

    /// What the levels so far have left of the samples, M × T.
    pub fn residuals(&self) -> &Matrix<T> {
        &self.residuals.values
    }

    /// How many levels there are.
    pub fn n_levels(&self) -> usize {
        self.levels.len()
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
    /// Those before the first level, or these after some.
    fn new(
        settings: &Multilevel<'_, T>,
        samples: MatrixView<'_, T>,
        known: Option<Matrix<T>>,
        run: Run<'_>,
    ) -> Result<Self> {
        if settings.n_levels == 0 {
            return Err(Error::parameter("n_levels", 0, "must be at least 1"));
        }
        if samples.rows() == 0 {
            return Err(Error::Empty { what: "samples", unit: "feature" });
        }
        let masses = Masses::new(settings.level.masses, samples.columns())?.values().into_owned();
        let begins = known.is_none();
        let mut values = known.unwrap_or_else(|| Matrix::zeros(samples.rows(), samples.columns()));
        let pieces = pieces(&mut values);
        let sizes = map_strips(samples, run, |strip, range, _| {
            if begins {
                piece(&pieces, range.start).copy_from_slice(strip.as_slice());
            }
            Ok(sizes(&strip))
        })?;
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
        let energy = |i: usize| product(self.values.column(i), self.values.column(i));
        let work = |(): &mut (), range: Range<usize>| Ok(range.map(|i| self.masses[i] * energy(i)).sum::<f64>());
        let sum: f64 = run.map_blocks(self.values.columns(), STRIP, || (), work)?.into_iter().sum();
        if !sum.is_finite() {
            return Err(Error::parameter("samples: energy", sum, "is not a finite number; scale the data"));
        }
        Ok(sum / self.total_mass)
    }
}
