//! Compressive recovery by each method of §IV-A: what Table 1 and Fig. 5 are made of.

use std::rc::Rc;

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};
use sparsemble::coding::Lasso;
use sparsemble::degradation::Dense;
use sparsemble::dictionary::{AltOpt, Centers, Examples, WeakLearner};
use sparsemble::ensemble::{Averaging, Boost, Coefficients, GaussianLearner, Multilevel, Training};
use sparsemble::image::{GrayImage, WHITE};
use sparsemble::restoration::{BlockMeasurements, BlockPicture, Blockwise, Dc, measure};
use sparsemble::{Matrix, Model, Run};

use crate::sensing::{Blocks, Means, Sensing};

/// A method of Table 1, or the linear estimator that all of them should beat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Contender {
    /// One dictionary by alternating optimisation.
    AltOpt,
    /// Boosted examples, trained through Φ.
    BoostEx,
    /// Boosted K-Means centres, trained through Φ.
    BoostKm,
    /// Random examples, averaged.
    RandExAv,
    /// Levels of random examples, averaged.
    ExMld,
    /// The linear estimator of the least mean squared error: one Gaussian.
    Lmmse,
}

impl Contender {
    /// In the paper's order; the last is ours.
    pub const ALL: [Self; 6] = [Self::AltOpt, Self::BoostEx, Self::BoostKm, Self::RandExAv, Self::ExMld, Self::Lmmse];

    /// Whether it is trained through Φ, so that every Φ has a model of its own.
    fn needs_phi(self) -> bool {
        matches!(self, Self::BoostEx | Self::BoostKm)
    }

    /// Whether it has members that may differ.
    pub fn has_spread(self) -> bool {
        !matches!(self, Self::AltOpt | Self::Lmmse)
    }

    /// As the paper writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::AltOpt => "Alt-Opt",
            Self::BoostEx => "BoostEx",
            Self::BoostKm => "BoostKM",
            Self::RandExAv => "RandExAv",
            Self::ExMld => "Ex-MLD",
            Self::Lmmse => "LMMSE",
        }
    }

    /// As it is typed, and what it is.
    pub fn in_words(self) -> (&'static str, &'static str) {
        match self {
            Self::AltOpt => ("alt-opt", "One dictionary by alternating optimisation"),
            Self::BoostEx => ("boost-ex", "Boosted examples, trained through Φ"),
            Self::BoostKm => ("boost-km", "Boosted K-Means centres, trained through Φ"),
            Self::RandExAv => ("rand-ex-av", "Random examples, averaged"),
            Self::ExMld => ("ex-mld", "Levels of random examples, averaged"),
            Self::Lmmse => ("lmmse", "The linear estimator of the least mean squared error"),
        }
    }

    /// Its column in the tables of `printed.rs`.
    pub fn printed(self) -> Option<usize> {
        Self::ALL[..5].iter().position(|other| *other == self)
    }
}

/// The training patches, and what was made of them so far.
pub struct Recovery {
    settings: Sensing,
    training: Matrix<f32>,
    /// The same patches with their means, where those of blocks are to be estimated: what the linear estimator learns.
    whole: Option<Matrix<f32>>,
    trained: Vec<Trained>,
}

/// A model, and the Φ it is for if it is for one alone.
struct Trained {
    contender: Contender,
    phi: Option<Dense<f32>>,
    model: Rc<Model<f32>>,
}

/// What is known of a measured picture beyond its measurements.
#[derive(Debug, Clone, Copy, Default)]
pub struct Known<'a> {
    /// The means of its blocks, in grey levels; without them [`Means::Free`] is to be set.
    pub means: Option<&'a [f64]>,
    /// The standard deviation of the noise in the measurements, in grey levels, of which only LMMSE makes use.
    pub noise: f64,
}

impl Recovery {
    /// Draws the training patches.
    ///
    /// # Errors
    /// If a setting is out of range or the pictures have too few patches.
    pub fn prepare(settings: Sensing, images: &[GrayImage]) -> Result<Self> {
        let training = settings.training(images)?;
        let whole = if settings.means == Means::Free { Some(settings.whole(images)?) } else { None };
        Ok(Self { settings, training, whole, trained: Vec::new() })
    }

    /// The settings.
    pub fn settings(&self) -> &Sensing {
        &self.settings
    }

    /// X, M × T.
    pub fn training(&self) -> &Matrix<f32> {
        &self.training
    }

    /// Measures the blocks through Φ and recovers them: the pictures, rounded to 8 bits.
    ///
    /// # Errors
    /// Those of the library; also if the run was interrupted.
    ///
    /// Paper: §IV-A2.
    pub fn recover(
        &mut self,
        contender: Contender,
        phi: &Dense<f32>,
        blocks: &Blocks,
        run: Run<'_>,
    ) -> Result<Vec<GrayImage>> {
        let measurements = measure(phi, blocks.values.view())?;
        let work = self.training.columns() + blocks.values.columns();
        let model = self.model(contender, phi, run.part(0..self.training.columns(), work))?;
        let dc = match self.settings.means {
            Means::Known => Dc::Known(&blocks.means),
            Means::Free => Dc::Free,
            Means::InAtoms if contender == Contender::Lmmse => Dc::Free, // it has no atoms
            Means::InAtoms => Dc::InAtoms,
        };
        let blockwise = Blockwise { coder: &Lasso::lambda(self.settings.lambda), dc, noise: 0.0 };
        let run = run.part(self.training.columns()..work, work);
        blocks.assemble(blockwise.recover(&model, phi, measurements.view(), run)?.values)
    }

    /// Any picture in grey levels from measurements of its blocks.
    ///
    /// # Errors
    /// As [`recover`](Self::recover); if the means are known and the settings do not say so, or the other way round.
    ///
    /// Paper: §IV-A2.
    pub fn picture(
        &mut self,
        contender: Contender,
        measurements: &BlockMeasurements,
        Known { means, noise }: Known<'_>,
        run: Run<'_>,
    ) -> Result<BlockPicture> {
        let unit = self.settings.white / WHITE;
        let means: Option<Vec<f64>> = means.map(|means| means.iter().map(|mean| mean * unit).collect());
        let dc = match (&means, self.settings.means) {
            (Some(means), Means::Known) => Dc::Known(means),
            (None, Means::Free) => Dc::Free,
            _ => bail!("the settings and the measurements disagree about the means of blocks"),
        };
        let phi = measurements.phi();
        let values = measurements.values();
        let values = Matrix::from_fn(values.rows(), values.columns(), |r, i| values.get(r, i) * unit);
        let measurements = BlockMeasurements::new(measurements.image_size(), phi.clone(), values.view())?;
        let phi = Dense::new(phi.matrix().converted().view())?;
        let model = self.model(contender, &phi, run.part(0..1, 2))?;
        let blockwise = Blockwise { coder: &Lasso::lambda(self.settings.lambda), dc, noise: noise * unit };
        let BlockPicture { image, spread } = blockwise.picture(&model, &measurements, run.part(1..2, 2))?;
        let grey = |plane: GrayImage| GrayImage::from_fn(plane.size(), |row, column| plane.row(row)[column] / unit);
        Ok(BlockPicture { image: grey(image)?, spread: spread.map(grey).transpose()? })
    }

    /// The model of a method, for this Φ if the method asks for it. Of those that do the last is kept.
    ///
    /// # Errors
    /// Those of training.
    pub fn model(&mut self, contender: Contender, phi: &Dense<f32>, run: Run<'_>) -> Result<Rc<Model<f32>>> {
        let phi_of_model = contender.needs_phi().then(|| phi.clone());
        let ready = |trained: &&Trained| trained.contender == contender && trained.phi == phi_of_model;
        if let Some(trained) = self.trained.iter().find(ready) {
            return Ok(Rc::clone(&trained.model));
        }
        let model = Rc::new(self.train(contender, phi, run)?);
        self.trained.retain(|trained| trained.contender != contender);
        self.trained.push(Trained { contender, phi: phi_of_model, model: Rc::clone(&model) });
        Ok(model)
    }

    fn train(&self, contender: Contender, phi: &Dense<f32>, run: Run<'_>) -> Result<Model<f32>> {
        let &Sensing { n_atoms, n_models, seed, n_levels, iterations, lambda, .. } = &self.settings;
        let (samples, coder) = (self.training.view(), Lasso::lambda(lambda));
        let (examples, centers) = (Examples { n_atoms }, Centers::new(n_atoms));
        let boost = |learner| Boost { n_models, seed, phi: Some(phi), ..Boost::new(learner, &coder) };
        match contender {
            Contender::AltOpt => {
                let alt_opt = AltOpt { max_iterations: iterations, tolerance: 0.0, ..AltOpt::lambda(lambda) };
                let start = centers.start(samples, None, seed, run.part(0..1, iterations + 1))?;
                let learned = alt_opt.fit(samples, None, &start, run.part(1..iterations + 1, iterations + 1))?;
                Ok(Model::Dictionary(learned.dictionary, Training::default()))
            }
            Contender::BoostEx => Ok(Model::Ensemble(boost(&examples).fit(samples, run)?)),
            Contender::BoostKm => Ok(Model::Ensemble(boost(&centers).fit(samples, run)?)),
            Contender::RandExAv => {
                Ok(Model::Ensemble(Averaging { n_models, seed, ..Averaging::new(&examples) }.fit(samples, run)?))
            }
            Contender::ExMld => {
                let examples = Examples { n_atoms: n_levels };
                let level = Averaging { n_models, seed, ..Averaging::new(&examples) };
                let levels = Multilevel { n_levels, ..Multilevel::new(level) }.fit(samples, run)?;
                let rule = [Coefficients::LeastSquares, Coefficients::Correlation];
                Ok(Model::Multilevel(levels.with_coefficients(rule[usize::from(self.settings.raw_correlations)])))
            }
            Contender::Lmmse => {
                let floor = (self.settings.white / WHITE).powi(2); // a grey level
                let one = GaussianLearner { n_gaussians: 1, iterations: 0, shared_samples: 0.0, floor, seed };
                let samples = self.whole.as_ref().map_or(samples, Matrix::view);
                Ok(Model::Gaussians(one.fit(samples, None, run)?))
            }
        }
    }
}
