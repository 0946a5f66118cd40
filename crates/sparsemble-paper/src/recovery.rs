//! Compressive recovery by each method of §IV-A: what Table 1 and Fig. 5 are made of.

use std::rc::Rc;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use sparsemble::coding::Lasso;
use sparsemble::degradation::Dense;
use sparsemble::dictionary::{AltOpt, Centers, Examples, WeakLearner};
use sparsemble::ensemble::{Averaging, Boost, Coefficients, GaussianLearner, Multilevel, Training};
use sparsemble::image::{GrayImage, WHITE};
use sparsemble::restoration::{Blockwise, Dc, measure};
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

    /// Its column in the tables of `printed.rs`.
    pub fn printed(self) -> Option<usize> {
        Self::ALL[..5].iter().position(|other| *other == self)
    }
}

/// The training patches, and what was made of them so far.
pub struct Recovery {
    settings: Sensing,
    training: Matrix<f32>,
    /// The models that do not depend on Φ.
    trained: Vec<(Contender, Rc<Model<f32>>)>,
}

impl Recovery {
    /// Draws the training patches.
    ///
    /// # Errors
    /// If a setting is out of range or the pictures have too few patches.
    pub fn prepare(settings: Sensing, images: &[GrayImage]) -> Result<Self> {
        let training = settings.training(images)?;
        Ok(Self { settings, training, trained: Vec::new() })
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
        let blockwise = Blockwise { coder: &Lasso::lambda(self.settings.lambda), dc };
        let run = run.part(self.training.columns()..work, work);
        blocks.assemble(blockwise.recover(&model, phi, measurements.view(), run)?.values)
    }

    fn model(&mut self, contender: Contender, phi: &Dense<f32>, run: Run<'_>) -> Result<Rc<Model<f32>>> {
        if let Some((_, model)) = self.trained.iter().find(|(trained, _)| *trained == contender) {
            return Ok(Rc::clone(model));
        }
        let model = Rc::new(self.train(contender, phi, run)?);
        if !matches!(contender, Contender::BoostEx | Contender::BoostKm) {
            self.trained.push((contender, Rc::clone(&model)));
        }
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
                Ok(Model::Gaussians(one.fit(samples, None, run)?))
            }
        }
    }
}
