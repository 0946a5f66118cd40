//! Learning an upscaler member by member, stage by stage.

use rand::seq::SliceRandom;

use crate::blocks::Run;
use crate::ensemble::{AnchoredEnsemble, AnchoredLearner, AnchoredMember, Training, Upscaler, UpscalerStage};
use crate::error::{Error, Result, expect_size};
use crate::image::GrayImage;
use crate::rng::Draw;
use crate::scalar::Scalar;

use super::photos::{Photo, PhotoPairs};
use super::settings::{StageSettings, UpscalerLearner};
use super::stage::Stage;
use super::windows::ORIENTATIONS;

/// The method's name in a model's record.
const METHOD: &str = "upscaler";

/// Members of a stage at most, for the numbers of their draws.
const MOST_MEMBERS: usize = 1 << 16;

impl UpscalerLearner {
    /// Learns from pictures, which are of brightness alone and, if they come from files, rounded to grey levels.
    ///
    /// # Errors
    /// See [`UpscalerLearner`].
    pub fn fit<T: Scalar>(&self, pictures: &[GrayImage], run: Run<'_>) -> Result<Upscaler<T>> {
        let mut learning = self.begin(pictures, run.silent())?;
        while !learning.is_complete() {
            learning.step(run)?;
        }
        learning.upscaler()
    }

    /// Prepares for learning in steps.
    ///
    /// # Errors
    /// See [`UpscalerLearner`].
    pub fn begin<T: Scalar>(&self, pictures: &[GrayImage], run: Run<'_>) -> Result<UpscalerLearning<T>> {
        self.check()?;
        let mut photos = Vec::new();
        for (number, picture) in pictures.iter().enumerate() {
            for &factor in &self.copies {
                photos.extend(Photo::new(picture, number % self.folds, factor, self.scale, run)?);
            }
        }
        Ok(UpscalerLearning { settings: self.clone(), photos, stages: vec![Vec::new()] })
    }

    /// Goes on from [`UpscalerLearning::upscaler`] of a training with the same settings and pictures, to the same bits as
    /// if it had never been left.
    ///
    /// # Errors
    /// See [`UpscalerLearner`]; if the upscaler is not one that these settings make.
    pub fn resume<T: Scalar>(
        &self,
        pictures: &[GrayImage],
        so_far: &Upscaler<T>,
        run: Run<'_>,
    ) -> Result<UpscalerLearning<T>> {
        let mut learning = self.begin(pictures, run)?;
        if so_far.training().learner != self.to_string() || so_far.training().seed != self.seed {
            let reason = "are not those of the model to go on from; resume with the settings it was made with";
            return Err(Error::parameter("settings", self, reason));
        }
        expect_size("so_far: scale", self.scale, so_far.scale())?;
        for stage in so_far.stages() {
            for member in stage.ensemble().members() {
                learning.push(member.clone(), run)?;
            }
        }
        Ok(learning)
    }
}

/// A training that goes on member by member.
pub struct UpscalerLearning<T> {
    settings: UpscalerLearner,
    photos: Vec<Photo<T>>,
    /// The members of the stages so far; the last one is the stage being learned.
    stages: Vec<Vec<AnchoredMember<T>>>,
}

impl<T: Scalar> UpscalerLearning<T> {
    /// How many members there are to learn in all stages.
    pub fn n_steps(&self) -> usize {
        self.settings.stages.iter().map(|stage| stage.n_models).sum()
    }

    /// How many members have been learned.
    pub fn n_done(&self) -> usize {
        self.stages.iter().map(Vec::len).sum()
    }

    /// Whether all members have been learned.
    pub fn is_complete(&self) -> bool {
        self.n_done() >= self.n_steps()
    }

    /// Learns the next member; `run` tells of all steps.
    ///
    /// # Errors
    /// See [`UpscalerLearner`]; if the run was interrupted, in which case it can be done again.
    pub fn step(&mut self, run: Run<'_>) -> Result<()> {
        if self.is_complete() {
            return Ok(());
        }
        let number = self.stages.len() - 1;
        let member_number = self.stages[number].len();
        // Passing the pictures on takes a part of a step too.
        let run = run.part(self.n_done()..self.n_done() + 1, self.n_steps());
        let member = self.member(number, member_number, run.part(0..8, 10))?;
        self.push(member, run.part(8..10, 10))
    }

    /// The upscaler of all members learned so far.
    ///
    /// # Errors
    /// If there is none yet.
    pub fn upscaler(&self) -> Result<Upscaler<T>> {
        let parts = self.stages.iter().zip(&self.settings.stages).filter(|(members, _)| !members.is_empty());
        let stage = |(members, settings): (&Vec<AnchoredMember<T>>, &StageSettings)| {
            UpscalerStage::new(settings.low_side, settings.high_side, AnchoredEnsemble::mean_of(members.clone())?)
        };
        let stages = parts.map(stage).collect::<Result<Vec<_>>>()?;
        let training = Training {
            method: METHOD.into(),
            learner: self.settings.to_string(),
            seed: self.settings.seed,
            ..Training::default()
        };
        Ok(Upscaler::new(self.settings.scale, stages)?.with_training(training))
    }

    /// Learns a member of a stage from the pictures of all folds but one.
    fn member(&self, number: usize, member: usize, run: Run<'_>) -> Result<AnchoredMember<T>> {
        let settings = &self.settings.stages[number];
        let windows = settings.windows(self.settings.scale);
        let left_out = member % self.settings.folds;
        let others = self.photos.iter().filter(|photo| self.settings.folds == 1 || photo.fold != left_out);
        let draw = Draw { seed: self.settings.seed, round: (number * MOST_MEMBERS + member) as u64 };
        let mut order: [usize; ORIENTATIONS] = std::array::from_fn(|i| i);
        order.shuffle(&mut draw.stream("orientations"));
        let pairs = PhotoPairs::new(windows, others, self.settings.orientations, order)?;
        let learner = AnchoredLearner {
            n_atoms: settings.n_atoms,
            n_models: 1,
            n_features: settings.n_features,
            shrinkage: settings.shrinkage,
            seed: self.settings.seed,
        };
        let view = windows.view(settings.view_side, settings.view_deviation);
        let learned = learner.member(&pairs, &view, draw, run)?;
        // Each member sees pictures in an orientation of its own, which makes their errors differ.
        let (inputs, outputs) = windows.places(member % ORIENTATIONS);
        Ok(learned.reordered(&inputs, &outputs).with_precision(self.settings.precision))
    }

    /// Takes a member, and passes the pictures on to the next stage if it was the last one of its own.
    fn push(&mut self, member: AnchoredMember<T>, run: Run<'_>) -> Result<()> {
        let number = self.stages.len() - 1;
        let settings = self.settings.stages[number];
        self.stages[number].push(member);
        if self.stages[number].len() < settings.n_models || self.stages.len() == self.settings.stages.len() {
            return Ok(());
        }
        if let Err(error) = self.pass_on(&settings, run) {
            self.stages[number].pop();
            return Err(error);
        }
        self.stages.push(Vec::new());
        Ok(())
    }

    /// Enlarges every picture by the members that have not seen it.
    fn pass_on(&mut self, settings: &StageSettings, run: Run<'_>) -> Result<()> {
        let folds = self.settings.folds;
        let members = self.stages.last().map_or(&[][..], Vec::as_slice);
        let strangers = |fold: usize| {
            let members = members.iter().enumerate().filter(|(number, _)| number % folds == fold);
            AnchoredEnsemble::mean_of(members.map(|(_, member)| member.clone()).collect())
        };
        let ensembles = (0..folds).map(strangers).collect::<Result<Vec<_>>>()?;
        let count = self.photos.len();
        let mut enlarged = Vec::with_capacity(count);
        for (number, photo) in self.photos.iter().enumerate() {
            let windows = settings.windows(self.settings.scale);
            let stage = Stage { windows, ensemble: &ensembles[photo.fold], doubts: false };
            let rows = 0..photo.low.size().height;
            let run = run.part(number..number + 1, count);
            enlarged.push(stage.enlarge(&photo.low, photo.so_far.as_ref(), rows, run)?);
        }
        self.photos.iter_mut().zip(enlarged).for_each(|(photo, enlarged)| photo.so_far = Some(enlarged));
        Ok(())
    }
}
