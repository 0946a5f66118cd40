//! How an upscaler is learned.

use std::collections::BTreeMap;
use std::fmt::{Display, Formatter};

use crate::ensemble::{Precision, check_window};
use crate::error::{Error, Result};

use super::windows::{ORIENTATIONS, Windows};

/// Learns an [`Upscaler`](crate::ensemble::Upscaler) from pictures.
///
/// | field | default | purpose | range |
/// | --- | --- | --- | --- |
/// | `scale` | 2 | how many times wider and higher pictures become | 2 to 8 |
/// | `stages` | see [`new`](Self::new) | what each stage sees and is made of | ≥ 1 |
/// | `copies` | 1, 0.8, 0.6 | sizes in which every picture is learned from | > 0, ≤ 1 |
/// | `orientations` | 4 | in how many of eight orientations each pixel is learned from, by each member | 1 to 8 |
/// | `folds` | 2 | parts of the pictures; a member learns from all but one of them | ≥ 1 |
/// | `precision` | byte | how finely the maps are kept | |
/// | `seed` | 0 | of all random choices | |
///
/// A picture is made small by the antialiased bicubic reduction, and the first stage learns to undo that. What it makes
/// of the pictures is what the next stage learns from, and so on. A stage must not learn from what the one before
/// remembers of its own pictures, so every member leaves out one fold, and the pictures of a fold are passed on by the
/// members that have not seen them. New pictures are enlarged by all members.
///
/// # Cost
/// That of [`AnchoredLearner`](crate::ensemble::AnchoredLearner) for each member, with one pair for each pixel of a small
/// picture and orientation. Memory is about 60 bytes for each pixel of the pictures and copies.
///
/// # Errors
/// If a field is out of range, or there is no picture of a useful size in some fold.
///
/// # Example
/// ```
/// use sparsemble::image::{GrayImage, Interpolation, Size, rescale};
/// use sparsemble::metrics::psnr;
/// use sparsemble::restoration::super_resolution::{StageSettings, UpscalerLearner};
/// use sparsemble::Run;
///
/// let rings = |shift: f64| {
///     let level = move |row: usize, column: usize| 100.0 * (((row * row + column * column) as f64).sqrt() / 3.0 + shift).sin();
///     GrayImage::from_fn(Size { width: 64, height: 64 }, move |row, column| 128.0 + level(row, column).clamp(-50.0, 50.0))
/// };
/// let stage = StageSettings { low_side: 5, n_atoms: 8, n_models: 2, ..StageSettings::first(2) };
/// let learner = UpscalerLearner { stages: vec![stage], copies: vec![1.0], ..UpscalerLearner::new(2) };
/// let upscaler = learner.fit::<f32>(&[rings(0.0)?, rings(1.0)?], Run::default())?;
///
/// let picture = rings(2.0)?;
/// let small = rescale(&picture, 0.5, Interpolation::Bicubic, Run::default())?;
/// let bicubic = rescale(&small, 2.0, Interpolation::Bicubic, Run::default())?;
/// let enlarged = upscaler.enlarge(&small, Run::default())?.image;
/// assert!(psnr(&picture, &enlarged)? > psnr(&picture, &bicubic)? + 3.0);
/// # Ok::<(), sparsemble::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct UpscalerLearner {
    /// How many times wider and higher pictures become.
    pub scale: usize,
    /// The stages.
    pub stages: Vec<StageSettings>,
    /// Sizes in which every picture is learned from.
    pub copies: Vec<f64>,
    /// In how many orientations each pixel is learned from.
    pub orientations: usize,
    /// Parts of the pictures.
    pub folds: usize,
    /// How finely the maps are kept.
    pub precision: Precision,
    /// The seed of all random choices.
    pub seed: u64,
}

/// What a stage sees and is made of.
///
/// | field | first stage | later ones | purpose | range |
/// | --- | --- | --- | --- | --- |
/// | `low_side` | 9, from scale 3 on 7 | 5 | side of the window of the small picture | odd, 3 to 31 |
/// | `high_side` | 0 | scale + 6 | side of the window of the enlarged picture so far | 0; scale + even, to 31 |
/// | `n_atoms` | 1024, from scale 3 on 512 | same | K, anchors and maps of a member | ≥ 1 |
/// | `n_models` | 6, from scale 3 on 4 | 4 | L, members, those of all folds together | a multiple of the folds |
/// | `n_features` | 12 | 16 | F, features an atom is chosen by | ≥ 1 |
/// | `n_directions` | 48 | 48 | r, directions of what is seen that maps look at, at most | ≥ 1 |
/// | `n_parts` | 12·scale | 12·scale | m, directions of what is made that maps make, at most | ≥ 1 |
/// | `view_side` | 5 | `high_side` | side of the window that the choice sees, of the finer picture | like that window |
/// | `view_deviation` | 1 | scale | of the Gaussian that weights that window, in its pixels | > 0 |
/// | `shrinkage` | 15 | 20 | λ of [`AnchoredLearner`](crate::ensemble::AnchoredLearner) | ≥ 0 |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StageSettings {
    /// The side of the window of the small picture.
    pub low_side: usize,
    /// The side of the window of the enlarged picture so far; 0 for the first stage.
    pub high_side: usize,
    /// K.
    pub n_atoms: usize,
    /// L.
    pub n_models: usize,
    /// F.
    pub n_features: usize,
    /// r.
    pub n_directions: usize,
    /// m.
    pub n_parts: usize,
    /// The side of the window that the choice sees.
    pub view_side: usize,
    /// The deviation of the Gaussian that weights it.
    pub view_deviation: f64,
    /// λ.
    pub shrinkage: f64,
}

impl StageSettings {
    /// A first stage for this scale.
    pub fn first(scale: usize) -> Self {
        Self {
            low_side: if scale < 3 { 9 } else { 7 },
            high_side: 0,
            n_atoms: if scale < 3 { 1024 } else { 512 },
            n_models: if scale < 3 { 6 } else { 4 },
            n_features: 12,
            n_directions: 48,
            n_parts: 12 * scale,
            view_side: 5,
            view_deviation: 1.0,
            shrinkage: 15.0,
        }
    }

    /// A later stage for this scale.
    pub fn later(scale: usize) -> Self {
        Self {
            low_side: 5,
            high_side: scale + 6,
            n_models: 4,
            n_features: 16,
            view_side: scale + 6,
            view_deviation: scale as f64,
            shrinkage: 20.0,
            ..Self::first(scale)
        }
    }

    fn check(&self, scale: usize, number: usize, folds: usize) -> Result<()> {
        check_window(scale, number, self.high_side)?;
        if !(3..=31).contains(&self.low_side) || self.low_side.is_multiple_of(2) {
            return Err(Error::parameter("low_side", self.low_side, "must be odd and from 3 to 31"));
        }
        if self.n_models == 0 || !self.n_models.is_multiple_of(folds) {
            return Err(Error::parameter("n_models", self.n_models, "must be a multiple of the folds, and not zero"));
        }
        let seen = if number == 0 { self.low_side } else { self.high_side };
        if !(2..=seen).contains(&self.view_side) || !(seen - self.view_side).is_multiple_of(2) {
            let reason = "must be the side of the window it is the middle of, or an even number less, and at least 2";
            return Err(Error::parameter("view_side", self.view_side, reason));
        }
        if !(self.view_deviation > 0.0 && self.view_deviation.is_finite()) {
            return Err(Error::parameter("view_deviation", self.view_deviation, "must be positive and finite"));
        }
        Ok(())
    }

    pub(super) fn windows(&self, scale: usize) -> Windows {
        Windows { scale, low_side: self.low_side, high_side: self.high_side }
    }
}

impl Display for StageSettings {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let Self { low_side, high_side, n_atoms, n_models, n_features, .. } = self;
        let Self { n_directions, n_parts, view_side, view_deviation, shrinkage, .. } = self;
        write!(f, "low_side={low_side},high_side={high_side},n_atoms={n_atoms},n_models={n_models},")?;
        write!(f, "n_features={n_features},n_directions={n_directions},n_parts={n_parts},")?;
        write!(f, "view_side={view_side},view_deviation={view_deviation},shrinkage={shrinkage}")
    }
}

impl Display for UpscalerLearner {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let parameters = self.parameters().into_iter().filter(|(name, _)| name != "seed");
        let texts: Vec<String> = parameters.map(|(name, value)| format!("{name}={value}")).collect();
        write!(f, "upscaler:{}", texts.join(","))
    }
}

impl UpscalerLearner {
    /// The settings for this scale: two stages, [`StageSettings::first`] and [`StageSettings::later`].
    pub fn new(scale: usize) -> Self {
        Self {
            scale,
            stages: vec![StageSettings::first(scale), StageSettings::later(scale)],
            copies: vec![1.0, 0.8, 0.6],
            orientations: 4,
            folds: 2,
            precision: Precision::Byte,
            seed: 0,
        }
    }

    /// All settings as text by name, for the record of a model file.
    pub fn parameters(&self) -> BTreeMap<String, String> {
        let copies: Vec<String> = self.copies.iter().map(ToString::to_string).collect();
        let mut parameters = BTreeMap::from([
            ("scale".into(), self.scale.to_string()),
            ("copies".into(), copies.join(",")),
            ("orientations".into(), self.orientations.to_string()),
            ("folds".into(), self.folds.to_string()),
            ("precision".into(), self.precision.name().into()),
            ("seed".into(), self.seed.to_string()),
        ]);
        let stages = self.stages.iter().enumerate();
        parameters.extend(stages.map(|(number, stage)| (format!("stage.{number}"), stage.to_string())));
        parameters
    }

    pub(super) fn check(&self) -> Result<()> {
        if !(2..=8).contains(&self.scale) {
            return Err(Error::parameter("scale", self.scale, "must be from 2 to 8"));
        }
        if self.stages.is_empty() {
            return Err(Error::Empty { what: "stages", unit: "stage" });
        }
        if !(1..=ORIENTATIONS).contains(&self.orientations) {
            return Err(Error::parameter("orientations", self.orientations, "must be from 1 to 8"));
        }
        if self.folds == 0 {
            return Err(Error::parameter("folds", 0, "must be at least 1"));
        }
        if self.copies.is_empty() {
            return Err(Error::Empty { what: "copies", unit: "factor" });
        }
        if let Some(bad) = self.copies.iter().find(|factor| !(**factor > 0.0 && **factor <= 1.0)) {
            return Err(Error::parameter("copies", bad, "every factor must be above 0 and at most 1"));
        }
        let mut stages = self.stages.iter().enumerate();
        stages.try_for_each(|(number, stage)| stage.check(self.scale, number, self.folds))
    }
}
