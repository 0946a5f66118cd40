//! From a recipe and samples to a model, step by step.

use crate::blocks::Run;
use crate::dictionary::{AltOpt, AtomUpdate, Centers, Dictionary, Examples, Hyperlines, OnlineAltOpt, WeakLearner};
use crate::ensemble::{Averaging, Boost, BoostedRound, Ensemble, GaussianLearner, Multilevel, Training};
use crate::error::{Error, Result};
use crate::model::Model;
use crate::scalar::Scalar;

use super::{KeptStep, Method, Past, Recipe, Step, ToKeep, TrainingSet, Watch};

/// A trained model, and how its training went.
#[derive(Debug)]
pub struct Trained<T> {
    /// The model.
    pub model: Model<T>,
    /// Whether it ended by itself; `false` if the iterations of Alt-Opt were used up first.
    pub converged: bool,
    /// Samples that did not reach what was asked of the coder, in the worst step.
    pub unconverged: usize,
    /// The mass of the samples that use each atom, out of one; empty but for Alt-Opt, MOD and K-SVD.
    pub usage: Vec<f64>,
}

/// The steps of an epoch of online learning.
const PORTIONS: usize = 20;

/// What there is to do.
pub(crate) struct Work<'a, T> {
    set: TrainingSet<'a, T>,
    past: &'a mut Past<'a, T>,
    run: Run<'a>,
}

impl Recipe {
    /// Trains a model.
    ///
    /// `run` tells of all samples of all steps, and can interrupt it.
    ///
    /// # Errors
    /// Those of the method; if Φ is given to a method that does not use it; what `watch` returns.
    pub fn train<T: Scalar>(
        &self,
        set: TrainingSet<'_, T>,
        watch: &mut Watch<'_, T>,
        run: Run<'_>,
    ) -> Result<Trained<T>> {
        self.resume(set, &mut std::iter::empty(), watch, run)
    }

    /// Goes on from what was kept of a training with the same recipe on the same samples; the result is the same bits as
    /// if it had never been left, and no step is done twice. Only more models, levels or iterations may be asked for.
    ///
    /// # Errors
    /// As [`train`](Self::train); if a step is not one of this recipe.
    pub fn resume<T: Scalar>(
        &self,
        set: TrainingSet<'_, T>,
        past: &mut Past<'_, T>,
        watch: &mut Watch<'_, T>,
        run: Run<'_>,
    ) -> Result<Trained<T>> {
        let own = |step: Result<KeptStep<T>>| {
            let step = step?;
            if step.model.training().method != self.method.name() {
                let reason = format!("the model to go on from was made by {}", step.model.training().method);
                return Err(Error::parameter("method", self.method, reason));
            }
            Ok(step)
        };
        let trained = (T::instances().train)(self, Work { set, past: &mut past.map(own), run }, watch);
        // Whatever came of samples that could not be read.
        set.samples.expect_read()?;
        trained
    }

    /// Atoms to begin with, as the model of no step yet: what [`resume`](Self::resume) goes on from as a past of one step
    /// (warm start).
    ///
    /// # Errors
    /// If the method does not learn one dictionary.
    ///
    /// # Example
    /// ```
    /// use sparsemble::dictionary::Dictionary;
    /// use sparsemble::recipe::{Recipe, TrainingSet};
    /// use sparsemble::{Matrix, Run};
    ///
    /// let samples = Matrix::from_fn(4, 60, |r, i| ((r * i + 3 * r + i) as f32).sin());
    /// let atoms = Dictionary::new(Matrix::from_fn(4, 5, |r, k| ((r + k) as f32).cos()))?;
    /// let recipe = Recipe { max_iterations: 3, ..Recipe::new("alt-opt".parse()?) };
    /// let (set, begun) = (TrainingSet::new(samples.view()), recipe.begun(&atoms)?);
    /// let trained = recipe.resume(set, &mut [Ok(begun.into())].into_iter(), &mut |_, _| Ok(()), Run::default())?;
    /// assert_eq!(trained.model.n_atoms(), 5);
    /// # Ok::<(), sparsemble::Error>(())
    /// ```
    pub fn begun<T: Scalar>(&self, atoms: &Dictionary<T>) -> Result<Model<T>> {
        let training = Training {
            method: self.method.to_string(),
            coder: self.coder.to_string(),
            seed: self.seed,
            ..Training::default()
        };
        match self.method {
            Method::AltOpt | Method::Mod | Method::KSvd => Ok(Model::Dictionary(atoms.clone(), training)),
            Method::Online => Ok(Model::Online(Box::new(self.online().begin(atoms)?), training)),
            _ => Err(Error::parameter("method", self.method, "does not begin with a dictionary; leave the atoms out")),
        }
    }

    fn online(&self) -> OnlineAltOpt {
        let (coder, nonnegative_atoms, seed) = (self.coder.clone(), self.nonnegative_atoms, self.seed);
        OnlineAltOpt { coder, epochs: self.max_iterations, nonnegative_atoms, seed, ..OnlineAltOpt::default() }
    }

    /// [`Self::train`] and [`Self::resume`]; see [`crate::instances`].
    pub(crate) fn train_here<T: Scalar>(&self, work: Work<'_, T>, watch: &mut Watch<'_, T>) -> Result<Trained<T>> {
        if work.set.phi.is_some() && !self.method.boosts() {
            let reason = "has no degradation in its training; leave phi out, or degrade the trained model";
            return Err(Error::parameter("method", self.method, reason));
        }
        if self.nonnegative_atoms && !matches!(self.method, Method::AltOpt | Method::Online) {
            let reason = format!("{} does not know such atoms; use alt-opt or online", self.method);
            return Err(Error::parameter("nonnegative_atoms", true, reason));
        }
        let examples = Examples { n_atoms: self.n_atoms };
        match self.method {
            Method::AltOpt => self.alternate(AtomUpdate::BlockCoordinate { sweeps: 3 }, work, watch),
            Method::Mod => self.alternate(AtomUpdate::Mod, work, watch),
            Method::KSvd => self.alternate(AtomUpdate::KSvd, work, watch),
            Method::Online => self.stream(work, watch),
            Method::RandExAv => self.average(&examples, work, watch),
            Method::BoostEx => self.boost(&examples, work, watch),
            Method::BoostKm => self.boost(&Centers::new(self.n_atoms), work, watch),
            Method::Mld => self.descend(&Hyperlines::new(self.n_atoms), 1, work, watch),
            Method::ExMld => self.descend(&examples, self.n_models, work, watch),
            Method::Gaussians => self.weigh_and_fit(work, watch),
        }
    }

    fn alternate<T: Scalar>(
        &self,
        update: AtomUpdate,
        Work { set, past, run }: Work<'_, T>,
        watch: &mut Watch<'_, T>,
    ) -> Result<Trained<T>> {
        let start = Centers::new(self.n_atoms);
        let passes = self.max_iterations.saturating_add(2);
        let part = |pass: usize| run.passes(pass..pass + 1, passes, set.samples.columns());
        let (dictionary, curve) = match last(past)? {
            None => (start.start(set.samples, set.masses, self.seed, part(0))?, Vec::new()),
            Some(Model::Dictionary(dictionary, training)) => (dictionary, training.objective),
            Some(_) => return Err(Error::parameter("so_far", self.method, "makes a dictionary, and this is none")),
        };
        let settings = AltOpt {
            coder: self.coder.clone(),
            update,
            nonnegative_atoms: self.nonnegative_atoms,
            max_iterations: self.max_iterations,
            tolerance: self.tolerance,
        };
        let model = |dictionary: &Dictionary<T>, curve: &[f64]| {
            let training = Training {
                method: self.method.to_string(),
                learner: start.to_string(),
                coder: self.coder.to_string(),
                seed: self.seed,
                objective: curve.to_vec(),
                ..Training::default()
            };
            Model::Dictionary(dictionary.clone(), training)
        };
        let mut alternation = settings.resume(set.samples, set.masses, &dictionary, curve)?;
        loop {
            let error = alternation.step(part(alternation.curve().len() + 1))?;
            if let Some(learned) = alternation.take_learned() {
                let model = model(&learned.dictionary, &learned.curve);
                let (converged, unconverged) = (learned.converged, learned.codes.unconverged);
                return Ok(Trained { model, converged, unconverged, usage: learned.usage });
            }
            let step = Step { number: alternation.curve().len(), of: self.max_iterations, error };
            watch(step, &ToKeep::whole(&|| Ok(model(alternation.dictionary(), alternation.curve()))))?;
        }
    }

    fn stream<T: Scalar>(&self, Work { set, past, run }: Work<'_, T>, watch: &mut Watch<'_, T>) -> Result<Trained<T>> {
        let (settings, start) = (self.online(), Centers::new(self.n_atoms));
        let n_samples = set.samples.columns();
        let passes = self.max_iterations.saturating_add(1);
        let part = |pass: std::ops::Range<usize>| run.passes(pass, passes, n_samples);
        let portion = n_samples.div_ceil(PORTIONS).max(settings.batch.min(n_samples)).max(1);
        let mut learner = match last(past)? {
            None => settings.begin(&start.start(set.samples, set.masses, self.seed, part(0..1))?)?,
            Some(Model::Online(learner, _)) => learner.with_settings(settings)?,
            Some(_) => {
                return Err(Error::parameter("so_far", self.method, "makes a learner that goes on; this is none"));
            }
        };
        let training = |curve: &[f64]| Training {
            method: self.method.to_string(),
            learner: start.to_string(),
            coder: self.coder.to_string(),
            seed: self.seed,
            objective: curve.to_vec(),
            ..Training::default()
        };
        let of = n_samples.saturating_mul(self.max_iterations).div_ceil(portion);
        loop {
            let left = learner.go_on(set.samples, set.masses, portion, part(1..passes))?;
            if left == 0 {
                let model = Model::Dictionary(learner.dictionary().clone(), training(learner.curve()));
                return Ok(Trained { model, converged: true, unconverged: 0, usage: Vec::new() });
            }
            let step = Step { number: learner.seen() / portion, of, error: learner.curve().last().copied() };
            let model = || Ok(Model::Online(Box::new(learner.clone()), training(learner.curve())));
            watch(step, &ToKeep::whole(&model))?;
        }
    }

    fn average<T: Scalar>(
        &self,
        learner: &dyn WeakLearner<T>,
        Work { set, past, run }: Work<'_, T>,
        watch: &mut Watch<'_, T>,
    ) -> Result<Trained<T>> {
        let averaging = Averaging { n_models: self.n_models, seed: self.seed, masses: set.masses, learner };
        if past.len() > self.n_models {
            return Err(Error::parameter("n_models", self.n_models, "is less than the members there already are"));
        }
        let mut members = past.map(|step| self.member(&step?.model)).collect::<Result<Vec<_>>>()?;
        let model = |members: &[Dictionary<T>]| Ok(self.named(averaging.combine(members)?));
        while members.len() < self.n_models {
            let number = members.len();
            let part = run.passes(number..number + 1, self.n_models, set.samples.columns());
            members.push(averaging.member(set.samples, number, part)?);
            let step = Step { number: number + 1, of: self.n_models, error: None };
            watch(step, &ToKeep::member(&|| model(&members[number..])))?;
        }
        Ok(Trained { model: model(&members)?, converged: true, unconverged: 0, usage: Vec::new() })
    }

    fn boost<T: Scalar>(
        &self,
        learner: &dyn WeakLearner<T>,
        Work { set, past, run }: Work<'_, T>,
        watch: &mut Watch<'_, T>,
    ) -> Result<Trained<T>> {
        let boost = Boost {
            n_models: self.n_models,
            seed: self.seed,
            masses: set.masses,
            phi: set.phi,
            n_judged: set.n_judged,
            validation: self.validation,
            ..Boost::new(learner, &self.coder)
        };
        let n_samples = set.samples.columns();
        let part = |rounds: std::ops::Range<usize>| run.passes(rounds, self.n_models, n_samples);
        let known = part(0..past.len());
        let mut boosting = boost.resume(set.samples, &mut past.map(|step| self.boosted_round(step?)), known)?;
        loop {
            let number = boosting.curve().len();
            let Some((round, codes)) = boosting.step_with_codes(part(number..number + 1))? else { break };
            let step = Step { number: number + 1, of: self.n_models, error: Some(round.error) };
            let model = || Ok(Model::Ensemble(boosting.last_round()?));
            watch(step, &ToKeep::member(&model).with_codes(&codes))?;
        }
        let unconverged = boosting.curve().iter().map(|round| round.unconverged).max().unwrap_or(0);
        Ok(Trained { model: Model::Ensemble(boosting.ensemble()?), converged: true, unconverged, usage: Vec::new() })
    }

    fn descend<T: Scalar>(
        &self,
        learner: &dyn WeakLearner<T>,
        n_models: usize,
        Work { set, past, run }: Work<'_, T>,
        watch: &mut Watch<'_, T>,
    ) -> Result<Trained<T>> {
        let level = Averaging { n_models, seed: self.seed, masses: set.masses, learner };
        let multilevel = Multilevel { level, n_levels: self.n_levels };
        let part = |levels: std::ops::Range<usize>| run.passes(levels, self.n_levels, set.samples.columns());
        let mut descent = match past.last().transpose()? {
            None => multilevel.start(set.samples, run.silent())?,
            Some(KeptStep { model: Model::Multilevel(so_far), residuals: Some(residuals), .. }) => {
                multilevel.resume(set.samples, &so_far, residuals, run.silent())?
            }
            Some(_) => return Err(Error::parameter("so_far", self.method, "makes levels, and this has none")),
        };
        loop {
            let number = descent.n_levels();
            let Some(error) = descent.step(part(number..number + 1))? else { break };
            let step = Step { number: number + 1, of: self.n_levels, error: Some(error) };
            let model = || Ok(Model::Multilevel(descent.dictionary()?));
            watch(step, &ToKeep::whole(&model).with_residuals(descent.residuals()))?;
        }
        Ok(Trained {
            model: Model::Multilevel(descent.dictionary()?),
            converged: true,
            unconverged: 0,
            usage: Vec::new(),
        })
    }

    fn weigh_and_fit<T: Scalar>(
        &self,
        Work { set, past, run }: Work<'_, T>,
        watch: &mut Watch<'_, T>,
    ) -> Result<Trained<T>> {
        let learner = GaussianLearner {
            n_gaussians: self.n_atoms,
            iterations: self.max_iterations,
            seed: self.seed,
            ..GaussianLearner::default()
        };
        let passes = self.max_iterations.saturating_add(1);
        let part = |pass: usize| run.passes(pass..pass + 1, passes, set.samples.columns());
        let mut learning = match last(past)? {
            None => learner.start(set.samples, set.masses, part(0))?,
            Some(Model::Gaussians(so_far)) => learner.resume(set.samples, set.masses, so_far, part(0))?,
            Some(_) => return Err(Error::parameter("so_far", self.method, "makes local Gaussians; these are none")),
        };
        while let Some(cost) = learning.step(part(learning.rounds() + 1))? {
            let step = Step { number: learning.rounds(), of: self.max_iterations, error: Some(cost) };
            watch(step, &ToKeep::whole(&|| Ok(Model::Gaussians(learning.gaussians().clone()))))?;
        }
        let model = Model::Gaussians(learning.into_gaussians());
        Ok(Trained { model, converged: true, unconverged: 0, usage: Vec::new() })
    }

    /// The dictionary of a step that adds one.
    fn member<T: Scalar>(&self, model: &Model<T>) -> Result<Dictionary<T>> {
        match model {
            Model::Ensemble(ensemble) if ensemble.n_models() == 1 => ensemble.models()[0].dictionary(),
            _ => Err(Error::parameter("so_far", self.method, "adds a dictionary in each step, and this does not")),
        }
    }

    fn boosted_round<T: Scalar>(&self, step: KeptStep<T>) -> Result<BoostedRound<T>> {
        let dictionary = self.member(&step.model)?;
        match step.model.training().curve[..] {
            [round] => Ok(BoostedRound { dictionary, round, codes: step.codes }),
            _ => Err(Error::parameter("so_far", self.method, "does one round in each step, and this does not")),
        }
    }

    /// The ensemble with the coder it is meant for.
    fn named<T: Scalar>(&self, ensemble: Ensemble<T>) -> Model<T> {
        let training = Training { coder: self.coder.to_string(), ..ensemble.training().clone() };
        Model::Ensemble(ensemble.with_training(training))
    }
}

/// The model that is all there is of a past.
fn last<T>(past: &mut Past<'_, T>) -> Result<Option<Model<T>>> {
    Ok(past.last().transpose()?.map(|step| step.model))
}
