//! Super-resolution by each method of §IV-B: what Table 2 and Figs. 6 and 7 are made of.

use std::path::PathBuf;
use std::rc::Rc;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sparsemble::Run;
use sparsemble::coding::{Lasso, OneSparse, SparseCoder};
use sparsemble::dictionary::{AltOpt, Centers, Examples, WeakLearner};
use sparsemble::ensemble::{Averaging, Boost, Ensemble, SparseModel};
use sparsemble::image::{BitDepth, GrayImage, Interpolation, rescale};
use sparsemble::restoration::super_resolution::{BackProjection, ByDictionary, Pairs, TrainingPairs, read_scsr};

use crate::demonstration::fingerprint_of;
use crate::parts::{Parts, Trained, key};
use crate::printed;

/// A method of Table 2, or one that the paper's should be compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Enlarger {
    /// Bicubic interpolation.
    Bicubic,
    /// Bicubic interpolation and back-projection: what all methods but the first have besides their dictionaries.
    BackProjected,
    /// The paired dictionary of Yang et al., as it comes with their program.
    PairDictOfYang,
    /// A paired dictionary by alternating optimisation.
    PairDict,
    /// Training pairs as a dictionary.
    ExDict,
    /// Boosted examples, 1-sparse.
    BoostEx,
    /// Boosted K-Means centres, 1-sparse.
    BoostKm,
    /// Random examples, averaged, 1-sparse.
    RandExAv,
    /// The same with training pairs that are in line with each other.
    RandExAvAligned,
}

impl Enlarger {
    /// All of them; those of the paper are in its order.
    pub const ALL: [Self; 9] = [
        Self::Bicubic,
        Self::BackProjected,
        Self::PairDictOfYang,
        Self::PairDict,
        Self::ExDict,
        Self::BoostEx,
        Self::BoostKm,
        Self::RandExAv,
        Self::RandExAvAligned,
    ];

    /// As the paper writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bicubic => "Bicubic",
            Self::BackProjected => "Bicubic + back-projection",
            Self::PairDictOfYang => "PairDict of Yang et al.",
            Self::PairDict => "PairDict",
            Self::ExDict => "ExDict",
            Self::BoostEx => "BoostEx",
            Self::BoostKm => "BoostKM",
            Self::RandExAv => "RandExAv",
            Self::RandExAvAligned => "RandExAv, aligned pairs",
        }
    }

    /// Its column in the table of `printed.rs`.
    pub fn printed(self) -> Option<usize> {
        let columns = [Self::Bicubic, Self::PairDict, Self::ExDict, Self::BoostEx, Self::BoostKm, Self::RandExAv];
        columns.iter().position(|other| *other == self)
    }

    /// Whether its training takes longer than to draw samples.
    pub fn is_learned(self) -> bool {
        matches!(self, Self::PairDict | Self::BoostEx | Self::BoostKm)
    }

    /// Whether it codes with one atom of each model.
    fn is_one_sparse(self) -> bool {
        matches!(self, Self::BoostEx | Self::BoostKm | Self::RandExAv | Self::RandExAvAligned)
    }
}

/// Everything that the numbers depend on but what is in the files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Enlarging {
    /// The pictures of Table 2, by name.
    pub pictures: Vec<String>,
    /// How many times larger pictures become.
    pub scale: usize,
    /// √M, the side of a patch in pixels.
    pub patch_side: usize,
    /// The training pairs that are drawn; those that are nearly flat are then taken out.
    pub drawn_pairs: usize,
    /// Whether pictures are cropped to even sides before pairs are made of them.
    pub aligned: bool,
    /// A training pair stays if the variance of its patch is above this, in squared grey levels.
    pub min_variance: f64,
    /// K of all methods but ExDict.
    pub n_atoms: usize,
    /// K of ExDict.
    pub n_examples: usize,
    /// L.
    pub n_models: usize,
    /// λ of PairDict in training, of an objective with ½ before the error.
    pub training_lambda: f64,
    /// λ of PairDict and ExDict in testing, of an objective with ½ before the error.
    pub lambda: f64,
    /// The iterations of PairDict.
    pub iterations: usize,
    /// The norm of a patch compared with that of the bicubic one.
    pub contrast: f64,
    /// The iterations of back-projection.
    pub back_projections: usize,
    /// The seed of everything that is drawn.
    pub seed: u64,
}

impl Enlarging {
    /// Those of the paper and, where it says nothing, those of Yang et al.'s program.
    pub fn paper(seed: u64) -> Self {
        Self {
            pictures: printed::ENLARGED_PICTURES.map(|(name, _)| name.to_owned()).to_vec(),
            scale: printed::ENLARGEMENT,
            patch_side: printed::PAIR_SIDE,
            drawn_pairs: printed::TRAINING_PAIRS,
            aligned: false,
            min_variance: TrainingPairs::default().min_variance,
            n_atoms: printed::PAIR_ATOMS,
            n_examples: printed::EXAMPLE_ATOMS,
            n_models: printed::ENLARGING_MODELS,
            training_lambda: printed::PAIR_TRAINING_LAMBDA,
            lambda: printed::PAIR_LAMBDA,
            iterations: printed::PAIR_ITERATIONS,
            contrast: 1.2,
            back_projections: BackProjection::default().iterations,
            seed,
        }
    }

    /// Less than a fortieth of the work, with the small pictures alone: to see that everything is in place.
    pub fn quick(seed: u64) -> Self {
        Self {
            pictures: ["House", "Cameraman", "Girl"].map(str::to_owned).to_vec(),
            drawn_pairs: 10_000,
            n_atoms: 256,
            n_examples: 1000,
            n_models: 5,
            iterations: 5,
            ..Self::paper(seed)
        }
    }

    /// The pictures of Table 2 and the files they are in.
    pub(crate) fn files(&self) -> Vec<(&'static str, &'static str)> {
        let wanted = |(name, _): &(&str, &str)| self.pictures.iter().any(|one| one == name);
        printed::ENLARGED_PICTURES.into_iter().filter(wanted).collect()
    }

    /// The training pairs.
    ///
    /// # Errors
    /// If a setting is out of range or the pictures have no pairs; also if the run was interrupted.
    pub fn pairs(&self, images: &[GrayImage], run: Run<'_>) -> Result<Pairs<f32>> {
        let &Self { scale, patch_side: side, drawn_pairs: count, aligned, min_variance, seed, .. } = self;
        Ok(TrainingPairs { scale, side, count, aligned, min_variance, seed }.draw(images, run)?)
    }

    /// Trains on stacked pairs; `None` for methods that are not trained on them.
    ///
    /// # Errors
    /// Those of the library; also if the run was interrupted.
    ///
    /// Paper: §IV-B.
    pub fn train(&self, method: Enlarger, pairs: &Pairs<f32>, run: Run<'_>) -> Result<Option<Ensemble<f32>>> {
        let &Self { n_atoms, n_models, seed, iterations, .. } = self;
        let (samples, phi, coder) = (pairs.samples().view(), pairs.layout().seen()?, OneSparse::default());
        let (examples, centers) = (Examples { n_atoms }, Centers::new(n_atoms));
        // Errors of §IV are those of what was not degraded: of a pair, the patch, y of §IV-B.
        let n_judged = Some(pairs.layout().n_hi());
        let boost = |learner| Boost { n_models, seed, phi: Some(&phi), n_judged, ..Boost::new(learner, &coder) };
        let stacked = match method {
            Enlarger::Bicubic | Enlarger::BackProjected | Enlarger::PairDictOfYang => return Ok(None),
            Enlarger::PairDict => {
                let lambda = with_half(self.training_lambda);
                let alt_opt = AltOpt { max_iterations: iterations, tolerance: 0.0, ..AltOpt::lambda(lambda) };
                let passes = iterations + 2;
                let start = centers.start(samples, None, seed, run.part(0..1, passes))?;
                let learned = alt_opt.fit(samples, None, &start, run.part(1..passes, passes))?;
                Ensemble::new(vec![SparseModel::plain(&learned.dictionary)?], vec![1.0])?
            }
            Enlarger::ExDict => {
                let examples = Examples { n_atoms: self.n_examples.min(samples.columns()) };
                Averaging { n_models: 1, seed, ..Averaging::new(&examples) }.fit(samples, run)?
            }
            Enlarger::BoostEx => boost(&examples).fit(samples, run)?,
            Enlarger::BoostKm => boost(&centers).fit(samples, run)?,
            Enlarger::RandExAv | Enlarger::RandExAvAligned => {
                Averaging { n_models, seed, ..Averaging::new(&examples) }.fit(samples, run)?
            }
        };
        Ok(Some(pairs.layout().paired(&stacked)?))
    }

    /// The picture made small and rounded to 8 bits: what all methods begin with.
    ///
    /// # Errors
    /// None for settings of a positive scale.
    pub fn reduced(&self, picture: &GrayImage) -> Result<GrayImage> {
        let factor = 1.0 / self.scale as f64;
        Ok(rescale(picture, factor, Interpolation::Bicubic, Run::default())?.quantised(BitDepth::Eight))
    }

    /// Enlarges a small picture by a trained model, or by none; the result is rounded to 8 bits.
    ///
    /// # Errors
    /// Those of the library; also if the run was interrupted.
    ///
    /// Paper: §IV-B, Eq. (16).
    pub fn enlarge(
        &self,
        method: Enlarger,
        model: Option<&Ensemble<f32>>,
        small: &GrayImage,
        run: Run<'_>,
    ) -> Result<GrayImage> {
        let back_projection = BackProjection { iterations: self.back_projections };
        let bicubic = || rescale(small, self.scale as f64, Interpolation::Bicubic, Run::default());
        let (lasso, one_sparse) = (Lasso::lambda(with_half(self.lambda)), OneSparse::default());
        let coder: &(dyn SparseCoder<f32> + Sync) = if method.is_one_sparse() { &one_sparse } else { &lasso };
        let enlarged = match model {
            Some(model) => {
                let (scale, contrast) = (self.scale, self.contrast);
                ByDictionary { model, coder, scale, contrast, back_projection }.enlarge(small, run)?.image
            }
            None if method == Enlarger::Bicubic => bicubic()?,
            None => back_projection.apply(&bicubic()?.quantised(BitDepth::Eight), small, run)?,
        };
        Ok(enlarged.quantised(BitDepth::Eight))
    }
}

/// The λ of Eq. (1) that is the given one of ½‖x − Da‖² + λ‖a‖₁.
fn with_half(lambda: f64) -> f64 {
    2.0 * lambda
}

/// The training pairs, and what was made of them so far.
pub struct SuperResolution {
    settings: Enlarging,
    pairs: Pairs<f32>,
    /// The same in line with each other, once they were asked for.
    aligned: Option<Pairs<f32>>,
    images: Vec<GrayImage>,
    dictionary_of_yang: PathBuf,
    parts: Parts,
    /// The model that was asked for last.
    latest: Option<(Enlarger, Option<Rc<Ensemble<f32>>>)>,
}

impl SuperResolution {
    /// Draws the training pairs. Models whose training takes long are kept as parts; that of Yang et al. is read when it is
    /// asked for.
    ///
    /// # Errors
    /// If a setting is out of range or the pictures have no pairs.
    pub fn prepare(
        settings: Enlarging,
        images: Vec<GrayImage>,
        dictionary_of_yang: PathBuf,
        parts: Parts,
    ) -> Result<Self> {
        let pairs = settings.pairs(&images, Run::default())?;
        Ok(Self { settings, pairs, aligned: None, images, dictionary_of_yang, parts, latest: None })
    }

    /// The settings.
    pub fn settings(&self) -> &Enlarging {
        &self.settings
    }

    /// The training images.
    pub fn images(&self) -> &[GrayImage] {
        &self.images
    }

    /// The training pairs.
    pub fn pairs(&self) -> &Pairs<f32> {
        &self.pairs
    }

    /// The model of a method, trained unless it is kept or was the last one asked for; `None` if the method has none.
    ///
    /// # Errors
    /// Those of the library; also if the run was interrupted.
    pub fn model(&mut self, method: Enlarger, run: Run<'_>) -> Result<Option<Rc<Ensemble<f32>>>> {
        if let Some((_, model)) = self.latest.as_ref().filter(|(latest, _)| *latest == method) {
            return Ok(model.clone());
        }
        let model = match method {
            Enlarger::PairDictOfYang => Some(read_scsr(&self.dictionary_of_yang)?),
            Enlarger::RandExAvAligned => {
                let aligned = match self.aligned.take() {
                    Some(aligned) => aligned,
                    None => Enlarging { aligned: true, ..self.settings.clone() }.pairs(&self.images, Run::default())?,
                };
                self.settings.train(method, self.aligned.insert(aligned), run)?
            }
            _ if method.is_learned() => Some(self.learned(method, run)?.model),
            _ => self.settings.train(method, &self.pairs, run)?,
        };
        let model = model.map(Rc::new);
        self.latest = Some((method, model.clone()));
        Ok(model)
    }

    /// A model whose training takes long, from the parts if it is there.
    ///
    /// # Errors
    /// Those of the library; also if the run was interrupted or the method has no training.
    pub fn learned(&self, method: Enlarger, run: Run<'_>) -> Result<Trained> {
        let train = || self.settings.train(method, &self.pairs, run)?.context("the method has no training");
        self.parts.take_model(&method.name().to_lowercase(), &self.training_key(), train)
    }

    /// What training depends on: not on what is done with its models.
    fn training_key(&self) -> Value {
        let mut values = json!(self.settings);
        if let Some(values) = values.as_object_mut() {
            for name in ["pictures", "n_examples", "lambda", "contrast", "back_projections"] {
                values.remove(name);
            }
        }
        values["training"] = self.fingerprint().into();
        key(values)
    }

    /// A number that other pairs would not have.
    pub(crate) fn fingerprint(&self) -> String {
        format!("{:016x}", fingerprint_of([self.pairs.samples()]))
    }
}
