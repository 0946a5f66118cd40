//! The methods of `sparsemble upscale`, made ready once for all pictures.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;

use anyhow::{Result, bail};
use sparsemble::Model;
use sparsemble::coding::{Coder, Lasso, OneSparse, SparseCoder};
use sparsemble::ensemble::{Ensemble, Upscaler};
use sparsemble::image::Interpolation;
use sparsemble::restoration::super_resolution::{ByDictionary, Enlarge, Interpolated, natural_upscaler, read_scsr};
use sparsemble_paper as paper;

use super::one_opinion;
use crate::args::{Enlarger, UpscaleArguments};
use crate::commands::picture_model;
use crate::failure::Usage;
use crate::photographs;
use crate::progress::Progress;

/// λ of the lasso in a paired dictionary: the paper's 0.2, of an objective with ½ before the error.
const LAMBDA: f64 = 0.4;

/// The method that was asked for, made ready for each scale when it is first needed.
pub(super) struct Methods<'a> {
    arguments: &'a UpscaleArguments,
    progress: &'a Progress,
    ready: BTreeMap<usize, Method>,
}

impl<'a> Methods<'a> {
    pub(super) fn new(arguments: &'a UpscaleArguments, progress: &'a Progress) -> Self {
        Self { arguments, progress, ready: BTreeMap::new() }
    }

    pub(super) fn of(&mut self, scale: usize) -> Result<&Method> {
        Ok(match self.ready.entry(scale) {
            Entry::Occupied(ready) => ready.into_mut(),
            Entry::Vacant(place) => place.insert(Method::prepare(self.arguments, scale, self.progress)?),
        })
    }
}

/// A way to enlarge by one scale.
pub(super) enum Method {
    Interpolated(Interpolated),
    Anchored(Box<Upscaler<f32>>),
    Paired { model: Box<Ensemble<f32>>, coder: Box<dyn SparseCoder<f32> + Sync>, scale: usize },
}

impl Method {
    /// Reads the model, or takes the one that is part of the program, or learns it from the photographs that are.
    fn prepare(arguments: &UpscaleArguments, scale: usize, progress: &Progress) -> Result<Self> {
        if let Some(path) = &arguments.model {
            let method = Self::read(path, scale)?;
            let is_alone = matches!(&method, Self::Paired { model, .. } if model.n_models() == 1);
            return if is_alone && arguments.uncertainty.is_some() { Err(one_opinion()) } else { Ok(method) };
        }
        let method = match arguments.method {
            Enlarger::Anchored => return Ok(Self::Anchored(Box::new(natural_upscaler(scale)?))),
            Enlarger::Bicubic => return Ok(Self::Interpolated(Interpolated::new(scale, Interpolation::Bicubic)?)),
            Enlarger::Lanczos => return Ok(Self::Interpolated(Interpolated::new(scale, Interpolation::Lanczos3)?)),
            Enlarger::PairDict => paper::Enlarger::PairDict,
            Enlarger::ExDict => paper::Enlarger::ExDict,
            Enlarger::RandExAv => paper::Enlarger::RandExAv,
            Enlarger::BoostEx => paper::Enlarger::BoostEx,
            Enlarger::BoostKm => paper::Enlarger::BoostKm,
        };
        let default = paper::Enlarging::paper(0);
        let settings = paper::Enlarging {
            scale,
            n_atoms: arguments.atoms.unwrap_or(default.n_atoms),
            n_examples: arguments.atoms.unwrap_or(default.n_examples),
            n_models: arguments.models.unwrap_or(default.n_models),
            ..default
        };
        let (photographs, threads) = (photographs::training()?, arguments.run.threads);
        let pairs = progress.first("drawing patches", threads, |run| settings.pairs(&photographs, run))?;
        let learning = format!("learning {}", arguments.method.name());
        match progress.first(&learning, threads, |run| settings.train(method, &pairs, run))? {
            Some(model) => Ok(Self::Paired { model: Box::new(model), coder: coder_of(method), scale }),
            None => bail!("{} is not trained", method.name()),
        }
    }

    fn read(path: &Path, scale: usize) -> Result<Self> {
        if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("mat")) {
            let model = Box::new(read_scsr(path)?);
            return Ok(Self::Paired { model, coder: Box::new(Lasso::lambda(LAMBDA)), scale });
        }
        let loaded = picture_model::load_recorded(path)?;
        let learned = loaded.record.parameters.get("scale").and_then(|scale| scale.parse().ok());
        match loaded.model {
            Model::Upscaler(upscaler) if upscaler.scale() >= scale => Ok(Self::Anchored(Box::new(upscaler))),
            Model::Upscaler(upscaler) => {
                let most = upscaler.scale();
                Err(Usage(format!("{} enlarges {most} times; give --scale {most} or less", path.display())).into())
            }
            Model::Ensemble(model) => {
                if let Some(learned) = learned.filter(|learned: &usize| *learned != scale) {
                    return Err(Usage(format!("{} has learned --scale {learned}; give that", path.display())).into());
                }
                let coder: Coder = model.training().coder.parse()?;
                Ok(Self::Paired { model: Box::new(model), coder: Box::new(coder), scale })
            }
            _ => bail!(
                "{} holds no model that enlarges pictures; train one by --method upscaler, or by another with --scale",
                path.display()
            ),
        }
    }

    /// The method, to be used.
    pub(super) fn enlarger(&self) -> Box<dyn Enlarge + '_> {
        match self {
            Self::Interpolated(interpolated) => Box::new(*interpolated),
            Self::Anchored(upscaler) => Box::new(upscaler.as_ref()),
            Self::Paired { model, coder, scale } => {
                Box::new(ByDictionary { scale: *scale, ..ByDictionary::new(model, coder.as_ref()) })
            }
        }
    }
}

fn coder_of(method: paper::Enlarger) -> Box<dyn SparseCoder<f32> + Sync> {
    match method {
        paper::Enlarger::PairDict | paper::Enlarger::ExDict => Box::new(Lasso::lambda(LAMBDA)),
        _ => Box::new(OneSparse::default()),
    }
}
