//! The state of Alt-Opt, and one iteration of it (§I-A, Eqs. (1)–(3)).

use crate::blocks::Run;
use crate::dictionary::Dictionary;
use crate::error::Result;
use crate::masses::Masses;
use crate::matrix::MatrixView;
use crate::scalar::Scalar;

use super::ksvd::KeptCodes;
use super::pass::{Outcome, Pass};
use super::statistics::Statistics;
use super::update::Atoms;
use super::{AltOpt, AtomUpdate, Learned};

/// Alt-Opt between two iterations.
///
/// A caller that wants to save what it has after each iteration calls [`step`](Self::step) itself, keeps
/// [`dictionary`](Self::dictionary) and [`curve`](Self::curve), and comes back by [`AltOpt::resume`].
///
/// Paper: §I-A, Eqs. (1), (2) and (3).
pub struct Alternation<'a, T> {
    settings: &'a AltOpt,
    samples: MatrixView<'a, T>,
    masses: Masses<'a>,
    statistics: Statistics,
    dictionary: Dictionary<T>,
    curve: Vec<f64>,
    replaced: usize,
    learned: Option<Learned<T>>,
}

impl<'a, T: Scalar> Alternation<'a, T> {
    pub(super) fn new(
        settings: &'a AltOpt,
        samples: MatrixView<'a, T>,
        masses: Masses<'a>,
        dictionary: Dictionary<T>,
        curve: Vec<f64>,
    ) -> Self {
        let statistics = Statistics::new(dictionary.n_features(), dictionary.n_atoms());
        Self { settings, samples, masses, statistics, dictionary, curve, replaced: 0, learned: None }
    }

    /// One iteration: codes all samples, which tells the objective of the atoms there are, and improves these unless it
    /// has stopped falling or the iterations are used up. `None` if Alt-Opt has ended before.
    ///
    /// If it fails or is interrupted, nothing has changed and it can be called again.
    ///
    /// # Errors
    /// See [`AltOpt`].
    pub fn step(&mut self, run: Run<'_>) -> Result<Option<f64>> {
        (T::instances().alternation)(self, run)
    }

    /// [`Self::step`]; see [`crate::instances`].
    pub(crate) fn step_here(&mut self, run: Run<'_>) -> Result<Option<f64>> {
        if self.learned.is_some() {
            return Ok(None);
        }
        self.statistics.clear();
        let mut kept = KeptCodes::new();
        let pass =
            Pass { coder: &self.settings.coder, samples: self.samples, n_chosen: self.masses.positive().count(), run };
        let chosen = self.masses.positive().map(|i| (i, self.masses.share(i)));
        let outcome = pass.over(&self.dictionary, chosen, &mut self.statistics, |batch, codes| {
            if self.settings.update == AtomUpdate::KSvd {
                kept.keep(batch, codes);
            }
        })?;
        let objective = outcome.objective;
        let converged = self.settings.is_converged(self.curve.last().copied(), objective);
        if converged || self.curve.len() >= self.settings.max_iterations {
            self.learned = Some(self.end(&outcome, converged));
        } else {
            self.improve(&mut kept, outcome)?;
        }
        self.curve.push(objective);
        Ok(Some(objective))
    }

    /// What has been learned, with the codes of the last pass.
    fn end(&self, outcome: &Outcome<'_, T>, converged: bool) -> Learned<T> {
        Learned {
            dictionary: self.dictionary.clone(),
            curve: self.curve.iter().copied().chain([outcome.objective]).collect(),
            iterations: self.curve.len(),
            converged,
            codes: outcome.codes,
            usage: self.statistics.usage().to_vec(),
            replaced: self.replaced,
        }
    }

    /// New atoms.
    fn improve(&mut self, kept: &mut KeptCodes, outcome: Outcome<'_, T>) -> Result<()> {
        let (samples, statistics) = (self.samples, &mut self.statistics);
        let mut atoms = Atoms::of(&self.dictionary).nonnegative(self.settings.nonnegative_atoms);
        match self.settings.update {
            AtomUpdate::BlockCoordinate { sweeps } => atoms.descend(statistics, sweeps),
            AtomUpdate::Mod => atoms.least_squares(statistics),
            AtomUpdate::KSvd => kept.refit(&mut atoms, statistics, samples),
        }
        atoms.normalise(&self.dictionary, statistics);
        let dead: Vec<usize> = (0..self.dictionary.n_atoms()).filter(|&j| statistics.usage()[j] <= 0.0).collect();
        self.replaced += atoms.replace(&dead, outcome.worst.into_samples(), samples).len();
        self.dictionary = atoms.to_dictionary()?;
        Ok(())
    }

    /// The atoms so far.
    pub fn dictionary(&self) -> &Dictionary<T> {
        &self.dictionary
    }

    /// The objective before each iteration. Until Alt-Opt has ended that of the present atoms is not known yet.
    pub fn curve(&self) -> &[f64] {
        &self.curve
    }

    /// What has been learned, once, if Alt-Opt has ended.
    pub fn take_learned(&mut self) -> Option<Learned<T>> {
        self.learned.take()
    }
}
