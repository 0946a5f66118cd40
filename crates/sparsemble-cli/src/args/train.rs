//! What can be typed after `sparsemble train`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use sparsemble::ensemble::Precision;
use sparsemble::recipe::Method;

use super::{CoderArguments, RunArguments};
use crate::options::parsed;

const EXAMPLES: &str = "\
Examples:
  sparsemble train --method boost-km --atoms 256 --models 20 --lambda 0.2 -o model.safetensors photos/
  sparsemble train --method k-svd --atoms 128 --sparsity 5 -o model.safetensors samples.npy
  sparsemble train --method online --atoms 128 --lambda 0.2 -o - samples.npy > model.safetensors
  sparsemble train --method ex-mld --levels 8 --patch 8 -o model.safetensors a.png b.png
  sparsemble train --method boost-ex --scale 2 -o paired.safetensors photos/
  sparsemble train --method alt-opt --warm-start model.safetensors --iterations 20 -o better.safetensors samples.npy

Methods:
  alt-opt     one dictionary, by turns of coding and block coordinate descent
  mod         the same with the method of optimal directions
  k-svd       the same with approximate K-SVD; needs a pursuit (--sparsity)
  online      one dictionary, learned from a few samples at a time: for data that is large
  rand-ex-av  dictionaries of random samples, averaged
  boost-ex    dictionaries of samples drawn by their errors, boosted
  boost-km    dictionaries of K-Means centres, boosted
  mld         levels of lines through the origin
  ex-mld      levels of averaged dictionaries of samples
  gaussians   local Gaussians, for restoring pictures: give --keep-mean --keep-norm --min-variance 0
  upscaler    stages of dictionaries whose atoms carry linear maps, for enlarging pictures: give --scale

Patches of pictures lose their mean and are scaled to norm 1, and nearly flat ones are left out, so λ does not depend on
contrast. Matrices are taken as they are: a λ for samples of norm 1 is c·λ for samples of norm c.

With --scale, all methods but mld, ex-mld and gaussians learn from pairs: patches, and the gradients of what a picture
made so many times smaller keeps of them. The model is for `sparsemble upscale --model`, as in the paper; one by upscaler
makes better pictures in less time.

What each step has made is kept beside MODEL, in MODEL.checkpoint, until MODEL is written. A run that was interrupted or killed
loses at most the step it was in: it goes on with --resume, the same settings and the same sources, and ends in the same bytes. A model that goes to the standard output
(-o -) has no such file beside it: it cannot be resumed.";

#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct TrainArguments {
    /// Pictures, folders of pictures, or matrices with a sample a row: .npy, .npz, .csv, .mat (FILE.npz:NAME, FILE.mat:NAME).
    #[arg(required = true, value_name = "SOURCE")]
    pub(crate) sources: Vec<PathBuf>,

    /// The model file to write; - is the standard output.
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) output: PathBuf,

    /// alt-opt, mod, k-svd, online, rand-ex-av, boost-ex, boost-km, mld, ex-mld, gaussians or upscaler.
    #[arg(long, value_parser = parsed::<Trainable>)]
    pub(crate) method: Trainable,

    /// The atoms of each dictionary [default: 256, 16 in a level, of pairs 1024, in a stage of an upscaler 1024, from scale 3
    /// on 512], or the number of Gaussians [default: 64].
    #[arg(long, value_name = "K")]
    pub(crate) atoms: Option<usize>,

    /// The dictionaries of an ensemble [default: 20, 50 in a level or of pairs, 6 in the first stage of an upscaler and 4 in the
    /// second, from scale 3 on 4 in each].
    #[arg(long, value_name = "L")]
    pub(crate) models: Option<usize>,

    /// The levels of mld and ex-mld [default: 16].
    #[arg(long, value_name = "N")]
    pub(crate) levels: Option<usize>,

    /// The most iterations of alt-opt, mod and k-svd [default: 50], how often online learning sees every sample [default: 1],
    /// or the rounds of gaussians [default: 12].
    #[arg(long, value_name = "N")]
    pub(crate) iterations: Option<usize>,

    /// Begin with the atoms of this model instead of cluster centres: for alt-opt, mod, k-svd and online.
    #[arg(long, value_name = "MODEL", conflicts_with = "atoms")]
    pub(crate) warm_start: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) coder: CoderArguments,

    /// Hold this fraction of the samples out and stop boosting when their error no longer falls.
    #[arg(long, value_name = "F")]
    pub(crate) validation: Option<f64>,

    /// How many rounds without a better error to wait for one.
    #[arg(long, value_name = "N", default_value_t = 5, requires = "validation")]
    pub(crate) patience: usize,

    /// See the samples through Φ when boosting: a random projection, gaussian:measurements=16,seed=5 (also orthonormal and
    /// bernoulli), mask:missing=0.5,seed=3, for square patches blur:sigma=1.6 or blur:sigma=1.6,decimate=2, or a matrix
    /// file with a measurement a row.
    #[arg(long, value_name = "PHI")]
    pub(crate) phi: Option<String>,

    /// The seed of all random choices.
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,

    /// How much each row of the matrices counts: a matrix file with a number a row.
    #[arg(long, value_name = "FILE")]
    pub(crate) masses: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) patches: PatchArguments,

    /// How many times larger the model is to make pictures: 2, 3 or 4 [default: 2 for an upscaler; other methods learn no
    /// pairs without it].
    #[arg(long, value_name = "S")]
    pub(crate) scale: Option<usize>,

    /// How many directions of what an upscaler sees its maps look at: fewer make a smaller model.
    #[arg(long, value_name = "R")]
    pub(crate) directions: Option<usize>,

    /// How many directions of what an upscaler makes its maps make: fewer make a smaller model.
    #[arg(long, value_name = "M")]
    pub(crate) parts: Option<usize>,

    /// How finely the maps of an upscaler are kept: full (32 bits), half or byte [default: byte].
    #[arg(long, value_name = "P", value_parser = parsed::<Precision>)]
    pub(crate) precision: Option<Precision>,

    /// The type of all numbers [default: that of the matrix; float32 for pictures].
    #[arg(long, value_name = "TYPE")]
    pub(crate) dtype: Option<Dtype>,

    /// Write a page to look at to this .html file: the error step by step, the atoms, settings.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,

    /// Go on where an earlier run of the same training was left.
    #[arg(long)]
    pub(crate) resume: bool,

    #[command(flatten)]
    pub(crate) run: RunArguments,
}

/// What can be trained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trainable {
    /// From samples.
    Recipe(Method),
    /// From whole pictures.
    Upscaler,
}

impl FromStr for Trainable {
    type Err = sparsemble::Error;

    fn from_str(text: &str) -> sparsemble::Result<Self> {
        if text == "upscaler" {
            return Ok(Self::Upscaler);
        }
        text.parse().map(Self::Recipe).map_err(|error| match error {
            sparsemble::Error::InvalidParameter { name, value, reason } => {
                sparsemble::Error::InvalidParameter { name, value, reason: format!("{reason}, upscaler").into() }
            }
            other => other,
        })
    }
}

/// What is taken from pictures; nothing of it has a meaning for matrices.
#[derive(Debug, Args)]
#[command(next_help_heading = "Patches of pictures")]
pub(crate) struct PatchArguments {
    /// The side of a patch in pixels [default: 8, of pairs 5].
    #[arg(long, value_name = "PIXELS")]
    pub(crate) patch: Option<usize>,

    /// How many patches to draw at random [default: 100000, or all there are if these are fewer].
    #[arg(long, value_name = "T")]
    pub(crate) samples: Option<usize>,

    /// Leave out patches whose variance, in squared grey levels, is not above this [default: 10].
    #[arg(long, value_name = "V")]
    pub(crate) min_variance: Option<f64>,

    /// Do not subtract the mean of each patch.
    #[arg(long)]
    pub(crate) keep_mean: bool,

    /// Do not scale each patch to norm 1: grey levels from 0 to 255.
    #[arg(long)]
    pub(crate) keep_norm: bool,
}

/// The type of all numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Dtype {
    /// 32-bit reals.
    F32,
    /// 64-bit reals.
    F64,
}
