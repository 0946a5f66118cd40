//! Dictionary learning from a stream of mini-batches.

use std::fmt::{Display, Formatter};

use rand::Rng;
use rand::seq::SliceRandom;

use crate::blocks::Run;
use crate::coding::{Coder, Lasso, SparseCodes};
use crate::dictionary::Dictionary;
use crate::error::{Error, Result};
use crate::masses::Masses;
use crate::matrix::MatrixView;
use crate::rng::stream;
use crate::scalar::Scalar;
#[cfg(feature = "io")]
use crate::spec::Spec;
use crate::spec::{flag, unless, write};
use crate::worst::Worst;

use super::batch::{Batch, usual_size};
use super::check_samples;
use super::coder::check;
use super::pass::Pass;
use super::statistics::Statistics;
use super::update::Atoms;

/// An atom is dead when this many times K samples have passed without using it.
const PATIENCE: usize = 10;

/// Neighbours that stay together when samples are shuffled, and how many runs of them are mixed.
const NEIGHBOURS: usize = 512;
const MIXED: usize = 64;

/// Online dictionary learning, for data that is large or never ends: the objective of Eqs. (2) and (3), one mini-batch at
/// a time.
///
/// A step codes a batch with the atoms as they are, adds the codes to the statistics of all earlier ones, and moves the
/// atoms by block coordinate descent on those. Old codes were made with worse atoms and should fade: a batch counts
/// with the power `forgetting` of the mass seen up to it, so that of equal batches the s-th counts (s/t)^forgetting of
/// the t-th. Since only ratios matter, nothing old is ever touched; the newer merely weighs more.
///
/// | field | default | purpose | range |
/// | --- | --- | --- | --- |
/// | `coder` | lasso, λ = 0.2, tolerance 10⁻³ | how samples are coded, and what codes cost | one λ, error or norm for all samples, or a pursuit |
/// | `batch` | 512 | samples in a step of [`fit`](Self::fit) | ≥ 1 |
/// | `epochs` | 1 | how many times [`fit`](Self::fit) sees every sample | ≥ 0 |
/// | `order` | shuffled | in which order | |
/// | `forgetting` | 5 | how fast old batches fade; 0 remembers all alike | 0 to 10 |
/// | `sweeps` | 1 | sweeps over the atoms in a step | ≥ 1 |
/// | `nonnegative_atoms` | `false` | allow no negative entry of an atom; the start then loses its signs | |
/// | `seed` | 0 | another seed, other shuffles | |
///
/// # Shapes
/// As for [`AltOpt`](super::AltOpt).
///
/// # Cost
/// A step costs the coder's cost of its batch and M·K² for each sweep; use batches of at least K samples or so. Memory
/// is K² + 2·M·K doubles and the batch, plus one number a sample in `fit` for the order.
///
/// # Errors
/// As for [`AltOpt`](super::AltOpt).
///
/// # Example
/// ```
/// use sparsemble::dictionary::{Dictionary, OnlineAltOpt};
/// use sparsemble::{Matrix, Run};
///
/// let block = Matrix::from_fn(8, 64, |r, c| ((r * (c % 5 + 1)) as f32 + c as f32).sin());
/// let start = Dictionary::new(Matrix::from_fn(8, 12, |r, c| ((r + 2) * (c + 1)) as f32 % 7.0 - 3.2))?;
/// let mut learner = OnlineAltOpt::lambda(0.1).begin(&start)?;
/// let first = learner.partial_fit(block.view(), None, Run::default())?;
/// let second = learner.partial_fit(block.view(), None, Run::default())?;
/// assert!(second < first);
/// assert_eq!(learner.seen(), 128);
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §I-A, Eqs. (2) and (3).
#[derive(Debug, Clone, PartialEq)]
pub struct OnlineAltOpt {
    /// How samples are coded.
    pub coder: Coder,
    /// Samples in a step of [`fit`](Self::fit).
    pub batch: usize,
    /// How many times [`fit`](Self::fit) sees every sample.
    pub epochs: usize,
    /// In which order.
    pub order: BatchOrder,
    /// The power of the mass seen so far with which a batch counts.
    pub forgetting: f64,
    /// Sweeps over the atoms in a step.
    pub sweeps: usize,
    /// Allow no negative entry of an atom.
    pub nonnegative_atoms: bool,
    /// Another seed, other shuffles.
    pub seed: u64,
}

/// In which order an epoch sees the samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchOrder {
    /// As they lie.
    Sequential,
    /// In a new random order in each epoch. Neighbours come within 64 batches of the default size or so, so that a file
    /// larger than memory is read about once.
    Shuffled,
}

impl Default for OnlineAltOpt {
    fn default() -> Self {
        Self::lambda(0.2)
    }
}

impl OnlineAltOpt {
    /// The objective of Eqs. (1)–(3) with everything else at its default.
    pub fn lambda(lambda: f64) -> Self {
        // A code is used once, for atoms that are about to change: the last digits are not worth a pass.
        let coder = Coder::Lasso(Lasso { tolerance: 1e-3, ..Lasso::lambda(lambda) });
        Self {
            coder,
            batch: 512,
            epochs: 1,
            order: BatchOrder::Shuffled,
            forgetting: 5.0,
            sweeps: 1,
            nonnegative_atoms: false,
            seed: 0,
        }
    }

    /// A learner that has seen nothing yet.
    ///
    /// # Errors
    /// If a parameter is out of range.
    pub fn begin<T: Scalar>(&self, start: &Dictionary<T>) -> Result<OnlineLearner<T>> {
        self.check()?;
        Ok(OnlineLearner {
            settings: self.clone(),
            dictionary: if self.nonnegative_atoms { start.absolute()? } else { start.clone() },
            statistics: Statistics::new(start.n_features(), start.n_atoms()),
            idle: vec![0; start.n_atoms()],
            seen: 0,
            mass: 0.0,
            unit: None,
            curve: Vec::new(),
            replaced: 0,
        })
    }

    /// Learns from all samples in mini-batches, beginning with the atoms of `start`.
    ///
    /// # Errors
    /// See [`OnlineAltOpt`].
    pub fn fit<T: Scalar>(
        &self,
        samples: MatrixView<'_, T>,
        masses: Option<&[f64]>,
        start: &Dictionary<T>,
        run: Run<'_>,
    ) -> Result<OnlineLearner<T>> {
        let mut learner = self.begin(start)?;
        learner.go_on(samples, masses, usize::MAX, run)?;
        Ok(learner)
    }

    fn check(&self) -> Result<()> {
        check(&self.coder)?;
        for (name, value) in [("batch", self.batch), ("sweeps", self.sweeps)] {
            if value == 0 {
                return Err(Error::parameter(name, value, "must be at least 1"));
            }
        }
        if !(0.0..=10.0).contains(&self.forgetting) {
            return Err(Error::parameter("forgetting", self.forgetting, "must be between 0 and 10"));
        }
        Ok(())
    }
}

impl Display for OnlineAltOpt {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let default = Self::default();
        let settings = [
            unless(&default.batch, "batch", &self.batch),
            unless(&default.epochs, "epochs", &self.epochs),
            flag("sequential", self.order == BatchOrder::Sequential),
            unless(&default.forgetting, "forgetting", &self.forgetting),
            unless(&default.sweeps, "sweeps", &self.sweeps),
            flag("nonnegative_atoms", self.nonnegative_atoms),
        ];
        write(f, "online", settings)
    }
}

#[cfg(feature = "io")]
impl OnlineAltOpt {
    /// The settings of a text, with this coder and seed, which are not part of it.
    pub(crate) fn from_text(text: &str, coder: Coder, seed: u64) -> Result<Self> {
        let mut spec = Spec::parse("online", text);
        let default = Self::default();
        let settings = Self {
            coder,
            batch: spec.value("batch")?.unwrap_or(default.batch),
            epochs: spec.value("epochs")?.unwrap_or(default.epochs),
            order: if spec.flag("sequential") { BatchOrder::Sequential } else { BatchOrder::Shuffled },
            forgetting: spec.value("forgetting")?.unwrap_or(default.forgetting),
            sweeps: spec.value("sweeps")?.unwrap_or(default.sweeps),
            nonnegative_atoms: spec.flag("nonnegative_atoms"),
            seed,
        };
        spec.finish()?;
        settings.check()?;
        Ok(settings)
    }
}

/// The samples in random order, in which neighbours in a file are still read within the same few batches: runs of
/// neighbours in any order, then the samples of so many runs among each other.
fn shuffled(in_order: &[usize], mut rng: impl Rng) -> Vec<usize> {
    let mut runs: Vec<&[usize]> = in_order.chunks(NEIGHBOURS).collect();
    runs.shuffle(&mut rng);
    let mut order = runs.concat();
    order.chunks_mut(MIXED * NEIGHBOURS).for_each(|samples| samples.shuffle(&mut rng));
    order
}

/// A dictionary that goes on learning, and all it remembers.
///
/// # Example
/// ```
/// use sparsemble::dictionary::{Examples, OnlineAltOpt, WeakLearner};
/// use sparsemble::{Matrix, Run};
///
/// let part = |number: usize| Matrix::from_fn(4, 50, |r, i| ((r * (i + 50 * number) + 3 * r) as f64).sin());
/// let start = Examples { n_atoms: 6 }.start(part(0).view(), None, 1, Run::default())?;
/// let mut learner = OnlineAltOpt::default().begin(&start)?;
/// for number in 0..3 {
///     learner.partial_fit(part(number).view(), None, Run::default())?; // and the part may be forgotten
/// }
/// assert_eq!((learner.seen(), learner.curve().len()), (150, 3));
/// # Ok::<(), sparsemble::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct OnlineLearner<T> {
    settings: OnlineAltOpt,
    dictionary: Dictionary<T>,
    statistics: Statistics,
    /// How many samples have passed since each atom was used.
    idle: Vec<usize>,
    seen: usize,
    mass: f64,
    /// The mass of the first batch, in which masses are counted.
    unit: Option<f64>,
    curve: Vec<f64>,
    replaced: usize,
}

/// What a learner remembers beside its atoms and its curve.
#[cfg(feature = "io")]
pub(crate) struct Memory {
    /// As [`Statistics::parts`].
    pub(crate) sums: [Vec<f64>; 3],
    pub(crate) idle: Vec<usize>,
    pub(crate) seen: usize,
    pub(crate) mass: f64,
    /// Zero before the first batch.
    pub(crate) unit: f64,
    pub(crate) replaced: usize,
}

impl<T: Scalar> OnlineLearner<T> {
    /// One step with these samples as the mini-batch; returns their mean objective under the atoms as they were before.
    ///
    /// Masses of different calls are compared with each other. If the call fails or is interrupted, nothing has changed.
    ///
    /// # Errors
    /// See [`OnlineAltOpt`].
    pub fn partial_fit(&mut self, samples: MatrixView<'_, T>, masses: Option<&[f64]>, run: Run<'_>) -> Result<f64> {
        check_samples(samples, &self.dictionary)?;
        let masses = Masses::new(masses, samples.columns())?;
        let batch: Vec<usize> = masses.positive().collect();
        self.step(samples, masses, &batch, run)
    }

    /// One step after another, each with the samples that have these numbers as the mini-batch.
    ///
    /// # Errors
    /// See [`OnlineAltOpt`]; if a number is not that of a sample, or a batch is empty. All batches before a failure or
    /// interruption are kept.
    pub fn fit_batches<B: AsRef<[usize]>>(
        &mut self,
        samples: MatrixView<'_, T>,
        batches: &[B],
        run: Run<'_>,
    ) -> Result<()> {
        check_samples(samples, &self.dictionary)?;
        let masses = Masses::new(None, samples.columns())?;
        let total = batches.iter().map(|batch| batch.as_ref().len()).sum();
        let mut done = 0;
        for batch in batches.iter().map(AsRef::as_ref) {
            if let Some(number) = batch.iter().find(|number| **number >= samples.columns()) {
                return Err(Error::parameter(
                    "batches",
                    number,
                    "must name samples by numbers below how many there are",
                ));
            }
            if batch.is_empty() {
                return Err(Error::parameter("batches", "an empty one", "must have at least one sample each"));
            }
            self.step(samples, masses, batch, run.part(done..done + batch.len(), total))?;
            done += batch.len();
        }
        Ok(())
    }

    /// Goes on with the epochs of the settings over samples that [`fit`](OnlineAltOpt::fit) would have seen from the
    /// beginning, from where it was left, for about this many samples. Returns how many are still to be seen.
    ///
    /// In whatever portions it is called, the bits are those of one call of `fit`. `run` tells of all epochs.
    ///
    /// # Errors
    /// See [`OnlineAltOpt`]. All batches before a failure or interruption are kept.
    pub fn go_on(
        &mut self,
        samples: MatrixView<'_, T>,
        masses: Option<&[f64]>,
        about: usize,
        run: Run<'_>,
    ) -> Result<usize> {
        check_samples(samples, &self.dictionary)?;
        let masses = Masses::new(masses, samples.columns())?;
        let in_order: Vec<usize> = masses.positive().collect();
        let total = in_order.len().saturating_mul(self.settings.epochs);
        let end = self.seen.saturating_add(about).min(total);
        while self.seen < end {
            let (epoch, first) = (self.seen / in_order.len(), self.seen % in_order.len());
            let order = match self.settings.order {
                BatchOrder::Sequential => in_order.clone(),
                BatchOrder::Shuffled => shuffled(&in_order, stream(self.settings.seed, "online order", epoch as u64)),
            };
            for batch in order[first..].chunks(self.settings.batch) {
                self.step(samples, masses, batch, run.part(self.seen..self.seen + batch.len(), total))?;
                if self.seen >= end {
                    break;
                }
            }
        }
        Ok(total.saturating_sub(self.seen))
    }

    /// The atoms as they are now.
    pub fn dictionary(&self) -> &Dictionary<T> {
        &self.dictionary
    }

    /// How many samples of positive mass have been seen, repetitions included.
    pub fn seen(&self) -> usize {
        self.seen
    }

    /// The mean objective of each batch, under the atoms as they were before it.
    pub fn curve(&self) -> &[f64] {
        &self.curve
    }

    /// How many times an atom nobody used was replaced by a sample.
    pub fn replaced(&self) -> usize {
        self.replaced
    }

    /// All it remembers beside the atoms and the curve.
    #[cfg(feature = "io")]
    pub(crate) fn memory(&self) -> Memory {
        Memory {
            sums: self.statistics.parts().map(<[f64]>::to_vec),
            idle: self.idle.clone(),
            seen: self.seen,
            mass: self.mass,
            unit: self.unit.unwrap_or(0.0),
            replaced: self.replaced,
        }
    }

    /// The learner that remembered this; `None` if its parts disagree.
    #[cfg(feature = "io")]
    pub(crate) fn from_memory(
        settings: OnlineAltOpt,
        dictionary: Dictionary<T>,
        curve: Vec<f64>,
        memory: Memory,
    ) -> Option<Self> {
        let Memory { sums, idle, seen, mass, unit, replaced } = memory;
        let statistics = Statistics::from_parts((dictionary.n_features(), dictionary.n_atoms()), sums)?;
        let fits = idle.len() == dictionary.n_atoms() && mass >= 0.0 && unit >= 0.0;
        let unit = (unit > 0.0).then_some(unit);
        fits.then_some(Self { settings, dictionary, statistics, idle, seen, mass, unit, curve, replaced })
    }

    /// The same learner, which from now on learns like this.
    ///
    /// # Errors
    /// If a parameter is out of range.
    pub fn with_settings(self, settings: OnlineAltOpt) -> Result<Self> {
        settings.check()?;
        Ok(Self { settings, ..self })
    }

    /// How it learns.
    pub fn settings(&self) -> &OnlineAltOpt {
        &self.settings
    }

    /// Learns from the chosen samples, all of positive mass.
    fn step(&mut self, samples: MatrixView<'_, T>, masses: Masses<'_>, batch: &[usize], run: Run<'_>) -> Result<f64> {
        (T::instances().online)(self, samples, masses, batch, run)
    }

    /// [`Self::step`]; see [`crate::instances`].
    pub(crate) fn step_here(
        &mut self,
        samples: MatrixView<'_, T>,
        masses: Masses<'_>,
        batch: &[usize],
        run: Run<'_>,
    ) -> Result<f64> {
        let mass: f64 = batch.iter().map(|&i| masses.of(i)).sum();
        let unit = self.unit.unwrap_or(mass);
        let weight = ((self.mass + mass) / unit).powf(self.settings.forgetting) / unit;
        if !(weight * mass).is_normal() {
            return Err(Error::parameter("masses", mass, "must be of a size with those of the first batch"));
        }
        let mut used = vec![false; self.dictionary.n_atoms()];
        let mark = |_: &Batch<T>, codes: &SparseCodes<T>| codes.atoms().iter().for_each(|&j| used[j as usize] = true);
        let chosen = batch.iter().map(|&i| (i, weight * masses.of(i)));
        let pass = Pass { coder: &self.settings.coder, samples, n_chosen: batch.len(), run };
        // Only a batch of several parts can fail after the first of them was added.
        let backup = (batch.len() > usual_size(samples.rows())).then(|| self.statistics.clone());
        let outcome = pass.over(&self.dictionary, chosen, &mut self.statistics, mark).inspect_err(|_| {
            if let Some(backup) = backup {
                self.statistics = backup;
            }
        })?;
        for (idle, used) in self.idle.iter_mut().zip(used) {
            *idle = if used { 0 } else { *idle + batch.len() };
        }
        (self.unit, self.mass, self.seen) = (Some(unit), self.mass + mass, self.seen + batch.len());
        self.curve.push(outcome.objective / (weight * mass));
        self.improve(outcome.worst, samples)?;
        Ok(outcome.objective / (weight * mass))
    }

    /// Moves the atoms to where the statistics want them; replaces those that are dead.
    fn improve(&mut self, worst: Worst<'_, T>, samples: MatrixView<'_, T>) -> Result<()> {
        let mut atoms = Atoms::of(&self.dictionary).nonnegative(self.settings.nonnegative_atoms);
        atoms.descend(&self.statistics, self.settings.sweeps);
        atoms.normalise(&self.dictionary, &mut self.statistics);
        let patience = PATIENCE * self.dictionary.n_atoms();
        let dead: Vec<usize> = (0..self.idle.len()).filter(|&j| self.idle[j] >= patience).collect();
        // The worst samples are put in order only if one is wanted: of few atoms that would take as long as the coding.
        if !dead.is_empty() {
            for j in atoms.replace(&dead, worst.into_samples(), samples) {
                self.statistics.scale_atom(j, 0.0);
                self.idle[j] = 0;
                self.replaced += 1;
            }
        }
        self.dictionary = atoms.to_dictionary()?;
        Ok(())
    }
}
