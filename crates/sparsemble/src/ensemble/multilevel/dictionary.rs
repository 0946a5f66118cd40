//! A dictionary in levels, and coding with it: each level codes what the ones before it left over (§IV-A1).

use std::ops::Range;

use crate::blocks::Run;
use crate::coding::{Coding, CodingReport, SampleStatus, SparseCodes};
use crate::degradation::Degradation;
use crate::ensemble::strips::{STRIP, map_strips, piece, pieces};
use crate::ensemble::{Approximation, Ensemble, Training};
use crate::error::{Error, Result, expect_size};
use crate::masses::Masses;
use crate::matrix::{Matrix, MatrixView};
use crate::scalar::Scalar;
use crate::sums::product;

use super::level::{Coefficients, Members, Term, code_level, sizes};

/// Levels of sparse models. Each level codes the residuals of the level before with one atom of each of its models,
/// and the weighted sum of these atoms is what it takes away; the sum over all levels approximates the sample.
///
/// With one model at each level this is a multilevel dictionary (MLD), with many that are averaged an Ex-MLD.
///
/// Through a degradation Φ ([`degraded_by`](Self::degraded_by)) codes and residuals are those of the measurements, the
/// atoms being ΦD, and approximations are made of D.
///
/// # Shapes
/// Every level takes N features and gives M. A code has one row for each atom: level after level, in each model after
/// model.
///
/// # Example
/// ```
/// use sparsemble::dictionary::Dictionary;
/// use sparsemble::ensemble::{Ensemble, MultilevelDictionary, SparseModel};
/// use sparsemble::{Matrix, Run};
///
/// // Two levels of one atom each.
/// let level = |atom: Vec<f64>| {
///     let dictionary = Dictionary::new(Matrix::from_columns(atom, 2, 1)?)?;
///     Ensemble::new(vec![SparseModel::plain(&dictionary)?], vec![1.0])
/// };
/// let dictionary = MultilevelDictionary::new(vec![level(vec![1.0, 0.0])?, level(vec![0.6, 0.8])?])?;
///
/// // The first level leaves (0, 5) of (2, 5), of which the second finds 4 along its atom.
/// let sample = Matrix::from_columns(vec![2.0, 5.0], 2, 1)?;
/// let codes = dictionary.transform(sample.view(), Run::default())?.codes;
/// assert_eq!(codes.column(0).collect::<Vec<_>>(), [(0, 2.0), (1, 4.0)]);
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §IV-A1.
#[doc(alias = "MLD")]
#[doc(alias = "Ex-MLD")]
#[derive(Debug)]
pub struct MultilevelDictionary<T> {
    levels: Vec<Ensemble<T>>,
    coefficients: Coefficients,
    training: Training,
}

impl<T: Scalar> MultilevelDictionary<T> {
    /// Puts levels together.
    ///
    /// # Errors
    /// If there is no level or no feature, the levels differ in their sizes, or there are 2³² atoms or more.
    pub fn new(levels: Vec<Ensemble<T>>) -> Result<Self> {
        let Some(first) = levels.first() else {
            return Err(Error::Empty { what: "multilevel dictionary", unit: "level" });
        };
        if first.n_features() == 0 {
            return Err(Error::Empty { what: "multilevel dictionary", unit: "feature" });
        }
        for level in &levels {
            expect_size("levels: length of the samples they code", first.n_inputs(), level.n_inputs())?;
            expect_size("levels: length of the approximations they make", first.n_features(), level.n_features())?;
        }
        let n_atoms: usize = levels.iter().map(Ensemble::n_atoms).sum();
        if u32::try_from(n_atoms).is_err() {
            return Err(Error::parameter("atoms of all levels", n_atoms, "must be below 2³²; take fewer levels"));
        }
        Ok(Self { levels, coefficients: Coefficients::default(), training: Training::default() })
    }

    /// The same levels with these coefficients.
    #[must_use]
    pub fn with_coefficients(self, coefficients: Coefficients) -> Self {
        Self { coefficients, ..self }
    }

    /// The same levels with this record of their training, whose objective is [`errors`](Self::errors).
    #[must_use]
    pub fn with_training(self, training: Training) -> Self {
        Self { training, ..self }
    }

    /// The dictionary for samples that reach us through Φ: each model codes in ΦD and still approximates by D.
    ///
    /// # Errors
    /// If Φ does not take as many features as the levels take now.
    pub fn degraded_by(&self, phi: &dyn Degradation<T>) -> Result<Self> {
        let levels = self.levels.iter().map(|level| level.degraded_by(phi)).collect::<Result<_>>()?;
        Ok(Self { levels, coefficients: self.coefficients, training: self.training.clone() })
    }

    /// The first levels alone: what training with fewer levels would have given.
    ///
    /// # Errors
    /// If there are not that many levels.
    pub fn truncated(mut self, n_levels: usize) -> Result<Self> {
        if n_levels == 0 || n_levels > self.n_levels() {
            return Err(Error::parameter("n_levels", n_levels, "must be between 1 and that of the dictionary"));
        }
        self.levels.truncate(n_levels);
        self.training.objective.truncate(n_levels + 1);
        Ok(self)
    }

    /// The levels.
    pub fn levels(&self) -> &[Ensemble<T>] {
        &self.levels
    }

    /// How coefficients are chosen.
    pub fn coefficients(&self) -> Coefficients {
        self.coefficients
    }

    /// The mean energy of the training samples, by mass, and of their residuals after each level; empty if unknown.
    pub fn errors(&self) -> &[f64] {
        &self.training.objective
    }

    /// How the dictionaries came about.
    pub fn training(&self) -> &Training {
        &self.training
    }

    /// The number of levels.
    pub fn n_levels(&self) -> usize {
        self.levels.len()
    }

    /// The atoms of all models of all levels together: the length of a code.
    pub fn n_atoms(&self) -> usize {
        self.levels.iter().map(Ensemble::n_atoms).sum()
    }

    /// N, the length of what is coded.
    pub fn n_inputs(&self) -> usize {
        self.levels[0].n_inputs()
    }

    /// M, the length of an approximation.
    pub fn n_features(&self) -> usize {
        self.levels[0].n_features()
    }

    /// The approximations of all samples, with the spread of the members.
    ///
    /// The members of a level are asked about the same residual and differ like those of an
    /// [ensemble](Approximation::spread); those of different levels are drawn on their own. So the squared spread is the
    /// sum of those of the levels: Σ_s Σ_l w_l ‖c_sl − c_s‖². There is none if every level has one model.
    ///
    /// # Shapes
    /// Samples N × T, approximations M × T.
    ///
    /// # Cost
    /// N multiply-adds a sample and atom, and 3·M a sample and model; memory beyond the result does not depend on T.
    ///
    /// # Errors
    /// If sizes disagree, a value is not finite or the run was interrupted.
    pub fn approximate(&self, samples: MatrixView<'_, T>, run: Run<'_>) -> Result<Approximation<T>> {
        let mut values = Matrix::zeros(self.n_features(), samples.columns());
        let pieces = pieces(&mut values);
        let has_spread = self.levels.iter().any(|level| level.n_models() > 1);
        let strips = self.map_strips(samples, run, |residuals, range| {
            let codes = self.descend(residuals, |_| ())?;
            self.combine(&codes, 0..range.len(), &mut piece(&pieces, range.start));
            Ok(if has_spread { self.spread(&codes) } else { Vec::new() })
        })?;
        drop(pieces);
        Ok(Approximation { values, spread: has_spread.then(|| strips.concat()), unconverged: 0 })
    }

    /// The codes of all samples, one coefficient at most for each model of each level, without β.
    ///
    /// # Shapes
    /// Samples N × T, codes (atoms of all levels) × T.
    ///
    /// # Errors
    /// If sizes disagree, a value is not finite or the run was interrupted.
    pub fn transform(&self, samples: MatrixView<'_, T>, run: Run<'_>) -> Result<Coding<T>> {
        let strips = self.map_strips(samples, run, |residuals, _| self.descend(residuals, |_| ()))?;
        let mut codes = SparseCodes::new(self.n_atoms());
        for strip in &strips {
            codes.append(strip);
        }
        let status = vec![SampleStatus::Converged; codes.n_samples()];
        Ok(Coding {
            codes,
            report: CodingReport { converged: true, iterations: self.n_levels(), worst_gap: None, status },
        })
    }

    /// Approximations from codes: the bits that [`approximate`](Self::approximate) gives for the codes of
    /// [`transform`](Self::transform).
    ///
    /// # Errors
    /// If the codes do not have one row for each atom of the levels, or the run was interrupted.
    pub fn reconstruct(&self, codes: &SparseCodes<T>, run: Run<'_>) -> Result<Matrix<T>> {
        expect_size("codes: number of atoms (that of all levels)", self.n_atoms(), codes.n_atoms())?;
        let mut values = Matrix::zeros(self.n_features(), codes.n_samples());
        let pieces = pieces(&mut values);
        let work = |(): &mut (), range: Range<usize>| {
            self.combine(codes, range.clone(), &mut piece(&pieces, range.start));
            Ok(())
        };
        run.map_blocks(codes.n_samples(), STRIP, || (), work)?;
        drop(pieces);
        Ok(values)
    }

    /// The mean energy of samples, by mass, and of their residuals after each level, as the levels see them: through Φ
    /// those of the measurements.
    ///
    /// # Errors
    /// If sizes disagree, a value is not finite, masses make no distribution or the run was interrupted.
    pub fn residual_energies(
        &self,
        samples: MatrixView<'_, T>,
        masses: Option<&[f64]>,
        run: Run<'_>,
    ) -> Result<Vec<f64>> {
        let masses = Masses::new(masses, samples.columns())?.values();
        let strips = self.map_strips(samples, run, |residuals, range| {
            let energy = |values: &Matrix<T>| {
                let columns = range.clone().enumerate().map(|(slot, i)| (masses[i], values.column(slot)));
                columns.map(|(mass, r)| mass * product(r, r)).sum::<f64>()
            };
            let mut energies = vec![energy(&residuals)];
            self.descend(residuals, |left| energies.push(energy(left)))?;
            Ok(energies)
        })?;
        let total: f64 = masses.iter().sum();
        let sum = |level: usize| strips.iter().map(|strip| strip[level]).sum::<f64>();
        Ok((0..=self.n_levels()).map(|level| sum(level) / total).collect())
    }

    fn map_strips<R: Send>(
        &self,
        samples: MatrixView<'_, T>,
        run: Run<'_>,
        work: impl Fn(Matrix<T>, Range<usize>) -> Result<R> + Sync,
    ) -> Result<Vec<R>> {
        expect_size("samples: number of features (that of the levels)", self.n_inputs(), samples.rows())?;
        map_strips(samples, run, |residuals, range, _| work(residuals, range))
    }

    /// Codes a strip through all levels and shows what each of them leaves.
    fn descend(&self, mut residuals: Matrix<T>, mut left: impl FnMut(&Matrix<T>)) -> Result<SparseCodes<T>> {
        let sizes = sizes(&residuals);
        let mut levels = Vec::with_capacity(self.n_levels());
        for level in &self.levels {
            levels.push(code_level(level, self.coefficients, &mut residuals, &sizes)?);
            left(&residuals);
        }
        let mut codes = SparseCodes::new(self.n_atoms());
        for sample in 0..residuals.columns() {
            let mut offset = 0;
            codes.push(levels.iter().flat_map(|level| {
                let start = offset;
                offset += level.n_atoms();
                level.column(sample).map(move |(atom, a)| ((start + atom) as u32, a))
            }));
        }
        Ok(codes)
    }

    /// How far the members are apart for each sample.
    fn spread(&self, codes: &SparseCodes<T>) -> Vec<f64> {
        let members = Members::of(&self.levels);
        let of_sample = |sample: usize| {
            let terms: Vec<_> = members.terms(codes.column(sample)).collect();
            let by_level = terms.chunk_by(|one, next| one.level == next.level);
            by_level.map(|own| self.scatter(&self.levels[own[0].level], own)).sum::<f64>().sqrt()
        };
        (0..codes.n_samples()).map(of_sample).collect()
    }

    /// Σ w_l ‖c_l − c‖² of one level, whose models that are not among the terms say c_l = 0.
    fn scatter(&self, level: &Ensemble<T>, terms: &[Term<'_, T>]) -> f64 {
        let mut combined = vec![0.0; self.n_features()];
        for term in terms {
            let factor = term.weight * term.coefficient.to_f64();
            let atom = term.model.synthesis().column(term.atom);
            combined.iter_mut().zip(atom).for_each(|(sum, x)| *sum += factor * x.to_f64());
        }
        let total: f64 = level.beta().iter().map(|weight| weight.abs()).sum();
        let silent = total - terms.iter().map(|term| term.weight.abs()).sum::<f64>();
        let apart = |term: &Term<'_, T>| {
            let (atom, coefficient) = (term.model.synthesis().column(term.atom), term.coefficient.to_f64());
            let entries = atom.iter().zip(&combined);
            term.weight.abs() * entries.map(|(x, c)| (coefficient * x.to_f64() - c).powi(2)).sum::<f64>()
        };
        let sum = terms.iter().map(apart).sum::<f64>() + silent.max(0.0) * combined.iter().map(|c| c * c).sum::<f64>();
        if total > 0.0 { sum / total } else { 0.0 }
    }

    /// Adds the approximations of some samples to `values`.
    fn combine(&self, codes: &SparseCodes<T>, range: Range<usize>, values: &mut [T]) {
        let members = Members::of(&self.levels);
        for (sample, value) in range.zip(values.chunks_exact_mut(self.n_features())) {
            for term in members.terms(codes.column(sample)) {
                let factor = T::from_f64(term.weight * term.coefficient.to_f64());
                let atom = term.model.synthesis().column(term.atom);
                value.iter_mut().zip(atom).for_each(|(sum, &x)| *sum += factor * x);
            }
        }
    }
}
