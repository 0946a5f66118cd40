//! Learning an upscaler member by member, stage by stage.

use rand::seq::SliceRandom;

use crate::blocks::Run;
use crate::ensemble::{AnchoredEnsemble, AnchoredLearner, AnchoredMember, Frame, Training, Upscaler, UpscalerStage};
use crate::error::{Error, Result, expect_size};
use crate::image::GrayImage;
use crate::rng::Draw;
use crate::scalar::Scalar;

use super::photos::{Photo, PhotoPairs};
use super::settings::UpscalerLearner;
use super::stage::{Space, Stage};
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
        let (mut photos, mut found) = (Vec::new(), 0);
        for picture in pictures {
            let before = photos.len();
            for &factor in &self.copies {
                photos.extend(Photo::new(picture, found % self.folds, factor, self.scale, run)?);
            }
            found += usize::from(photos.len() > before);
        }
        if found < self.folds {
            let what = "pictures (with at least 8 × 8 pixels when made small)";
            return Err(Error::TooFewSamples { what, needed: self.folds, found });
        }
        Ok(UpscalerLearning { settings: self.clone(), photos, stages: Vec::new() })
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
            learning.stages.push(LearnedStage { frame: stage.ensemble().frame().clone(), members: Vec::new() });
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
    /// The stages so far; the last one may be without some of its members.
    stages: Vec<LearnedStage<T>>,
}

/// What has been learned of a stage.
struct LearnedStage<T> {
    frame: Frame<T>,
    members: Vec<AnchoredMember<T>>,
}

impl<T: Scalar> UpscalerLearning<T> {
    /// How many members there are to learn in all stages.
    pub fn n_steps(&self) -> usize {
        self.settings.stages.iter().map(|stage| stage.n_models).sum()
    }

    /// How many members have been learned.
    pub fn n_done(&self) -> usize {
        self.stages.iter().map(|stage| stage.members.len()).sum()
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
        // Passing the pictures on takes a part of a step too.
        let run = run.part(self.n_done()..self.n_done() + 1, self.n_steps());
        let finished = |stages: &[LearnedStage<T>]| {
            stages.last().is_none_or(|last| last.members.len() == self.settings.stages[stages.len() - 1].n_models)
        };
        if finished(&self.stages) {
            let frame = self.frame(self.stages.len(), run.part(0..1, 10))?;
            self.stages.push(LearnedStage { frame, members: Vec::new() });
        }
        let member = self.member(run.part(1..8, 10))?;
        self.push(member, run.part(8..10, 10))
    }

    /// The upscaler of all members learned so far.
    ///
    /// # Errors
    /// If there is none yet.
    pub fn upscaler(&self) -> Result<Upscaler<T>> {
        let learned = self.stages.iter().zip(&self.settings.stages).filter(|(stage, _)| !stage.members.is_empty());
        let stages = learned.map(|(stage, settings)| {
            let ensemble = AnchoredEnsemble::mean_of(stage.frame.clone(), stage.members.clone())?;
            UpscalerStage::new(settings.low_side, settings.high_side, ensemble)
        });
        let stages = stages.collect::<Result<Vec<_>>>()?;
        let training = Training {
            method: METHOD.into(),
            learner: self.settings.to_string(),
            seed: self.settings.seed,
            ..Training::default()
        };
        Ok(Upscaler::new(self.settings.scale, stages)?.with_training(training))
    }

    fn learner(&self, stage: usize) -> AnchoredLearner {
        let settings = &self.settings.stages[stage];
        AnchoredLearner {
            n_atoms: settings.n_atoms,
            n_models: 1,
            n_features: settings.n_features,
            n_directions: settings.n_directions,
            n_parts: settings.n_parts,
            shrinkage: settings.shrinkage,
            seed: self.settings.seed,
        }
    }

    /// Learns what the members of a stage share, from all pictures.
    fn frame(&self, stage: usize, run: Run<'_>) -> Result<Frame<T>> {
        let settings = &self.settings.stages[stage];
        let windows = settings.windows(self.settings.scale);
        // One pixel in each orientation in turn: on average no orientation is different from another.
        let pairs = PhotoPairs::new(windows, self.photos.iter(), 1, std::array::from_fn(|i| i))?;
        let view = windows.view(settings.view_side, settings.view_deviation);
        self.learner(stage).frame(&pairs, &view, run)
    }

    /// Learns the next member of the last stage from the pictures of all folds but one.
    fn member(&self, run: Run<'_>) -> Result<AnchoredMember<T>> {
        let Some(stage) = self.stages.last() else { return Err(Error::Empty { what: "training", unit: "stage" }) };
        let (number, member, folds) = (self.stages.len() - 1, stage.members.len(), self.settings.folds);
        let others = self.photos.iter().filter(|photo| folds == 1 || photo.fold != member % folds);
        let draw = Draw { seed: self.settings.seed, round: (number * MOST_MEMBERS + member) as u64 };
        let mut order: [usize; ORIENTATIONS] = std::array::from_fn(|i| i);
        order.shuffle(&mut draw.stream("orientations"));
        let windows = self.settings.stages[number].windows(self.settings.scale);
        let pairs = PhotoPairs::new(windows, others, self.settings.orientations, order)?;
        Ok(self.learner(number).member(&pairs, &stage.frame, draw, run)?.with_precision(self.settings.precision))
    }

    /// Takes a member, and passes the pictures on to the next stage if it was the last one of its own.
    fn push(&mut self, member: AnchoredMember<T>, run: Run<'_>) -> Result<()> {
        let count = self.stages.len();
        let Some(stage) = self.stages.last_mut() else { return Err(Error::Empty { what: "training", unit: "stage" }) };
        stage.members.push(member);
        let finished = stage.members.len() >= self.settings.stages[count - 1].n_models;
        if finished && count < self.settings.stages.len() {
            let passed = self.pass_on(run);
            if let (Err(_), Some(stage)) = (&passed, self.stages.last_mut()) {
                stage.members.pop();
            }
            return passed;
        }
        Ok(())
    }

    /// Enlarges every picture by the members that have not seen it.
    fn pass_on(&mut self, run: Run<'_>) -> Result<()> {
        let (folds, number) = (self.settings.folds, self.stages.len() - 1);
        let LearnedStage { frame, members } = &self.stages[number];
        let strangers = |fold: usize| {
            let members = members.iter().enumerate().filter(|(number, _)| number % folds == fold);
            AnchoredEnsemble::mean_of(frame.clone(), members.map(|(_, member)| member.clone()).collect())
        };
        let ensembles = (0..folds).map(strangers).collect::<Result<Vec<_>>>()?;
        let windows = self.settings.stages[number].windows(self.settings.scale);
        let count = self.photos.len();
        let (mut enlarged, mut space) = (Vec::with_capacity(count), Space::default());
        for (number, photo) in self.photos.iter().enumerate() {
            let stage = Stage { windows, ensemble: &ensembles[photo.fold] };
            let rows = 0..photo.low.size().height;
            let run = run.part(number..number + 1, count);
            enlarged.push(stage.enlarge(&photo.low, photo.so_far.as_ref(), rows, &mut space, run)?);
        }
        self.photos.iter_mut().zip(enlarged).for_each(|(photo, enlarged)| photo.so_far = Some(enlarged));
        Ok(())
    }
}
