//! `sparsemble train --scale`: pairs of patches and the features of what a small picture keeps of them, for the paper's
//! super-resolution.

use std::path::PathBuf;

use anyhow::{Result, bail};
use sparsemble::coding::{Coder, OneSparse};
use sparsemble::ensemble::{Ensemble, SparseModel};
use sparsemble::image::read_picture;
use sparsemble::recipe::{Method, Recipe};
use sparsemble::restoration::super_resolution::{PairLayout, TrainingPairs};
use sparsemble::{Model, Scalar};

use super::source::{Samples, Sources, names};
use crate::args::{PatchArguments, TrainArguments};
use crate::failure::Usage;
use crate::progress::Progress;

/// K, L and the 1-sparse codes that the paper has for pairs. A dictionary has the λ of Yang et al., 0.15 with ½ before the
/// error, in learning as in enlarging.
pub(super) fn recipe(method: Method) -> Recipe {
    let default = Recipe::new(method);
    let coder = match method {
        Method::KSvd => default.coder.clone(),
        _ if method.has_models() => Coder::OneSparse(OneSparse::default()),
        _ => Coder::lambda(0.3),
    };
    Recipe { n_atoms: 1024, n_models: 50, coder, ..default }
}

/// What is refused beside `--scale`.
pub(super) fn check(scale: usize, arguments: &TrainArguments) -> Result<()> {
    for (given, option, why) in [
        (arguments.phi.is_some(), "--phi", "what is seen of a pair are its features"),
        (arguments.warm_start.is_some(), "--warm-start", "a model of pairs has lost what its atoms were learned with"),
        (arguments.patches.keep_mean, "--keep-mean", "a patch has the mean of what it is enlarged from"),
        (arguments.patches.keep_norm, "--keep-norm", "both parts of a pair have norm 1"),
    ] {
        if given {
            return Err(Usage(format!("--scale has no use for {option}, as {why}; leave it out")).into());
        }
    }
    if (2..=4).contains(&scale) { Ok(()) } else { Err(Usage(format!("--scale {scale}: give 2, 3 or 4")).into()) }
}

/// Pairs at random places of all pictures.
pub(super) fn draw<T: Scalar>(
    sources: &Sources,
    (scale, patches, seed): (usize, &PatchArguments, u64),
    threads: usize,
    progress: &Progress,
) -> Result<(Samples<T>, PairLayout)> {
    let Sources::Pictures(paths) = sources else {
        return Err(Usage("--scale is for pictures, of which small ones can be made; leave it out".into()).into());
    };
    let pictures = progress.counted(paths, |path: &PathBuf| Ok(read_picture(path)?.brightness()?))?;
    let default = TrainingPairs::default();
    let draw = TrainingPairs {
        scale,
        side: patches.patch.unwrap_or(default.side),
        count: patches.samples.unwrap_or(default.count),
        min_variance: patches.min_variance.unwrap_or(default.min_variance),
        seed,
        ..default
    };
    let pairs = progress.first("drawing pairs", threads, |run| Ok(draw.draw::<T>(&pictures, run)?))?;
    let (count, side) = (pairs.samples().columns(), draw.side);
    let description =
        format!("{count} pairs of {side} × {side} pixels and their gradients at 1/{scale} of {}", names(paths));
    let parameters =
        [("scale", scale.to_string()), ("patch", side.to_string()), ("min_variance", draw.min_variance.to_string())];
    let parameters = parameters.map(|(name, value)| (name.to_owned(), value)).into();
    let layout = pairs.layout();
    Ok((Samples::new(pairs.into_samples(), description, parameters), layout))
}

/// The model that codes features and makes patches, from one of stacked pairs.
pub(super) fn paired<T: Scalar>(layout: PairLayout, stacked: Model<T>) -> Result<Model<T>> {
    let stacked = match stacked {
        Model::Ensemble(stacked) => stacked,
        Model::Dictionary(dictionary, training) => {
            Ensemble::new(vec![SparseModel::plain(&dictionary)?], vec![1.0])?.with_training(training)
        }
        _ => bail!("this method makes no dictionaries that could be paired; leave out --scale"),
    };
    Ok(Model::Ensemble(layout.paired(&stacked)?))
}
