//! What can be typed after `sparsemble info`, `encode`, `reconstruct` and `weights`.

use std::path::PathBuf;

use clap::Args;
use sparsemble::ensemble::WeightConstraint;

use super::{CoderArguments, RunArguments};
use crate::options::parsed;

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  sparsemble info model.safetensors --atoms atoms.png")]
pub(crate) struct InfoArguments {
    /// The model file, or a checkpoint.
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,

    /// Write a picture of all atoms, which must be square patches: PNG, JPEG, TIFF, BMP, PNM, WebP.
    #[arg(long, value_name = "PICTURE")]
    pub(crate) atoms: Option<PathBuf>,

    /// Print one JSON object instead of text (docs/JSON.md says what is in it).
    #[arg(long)]
    pub(crate) json: bool,

    /// Write over a picture that exists.
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  sparsemble encode model.safetensors samples.npy -o codes.npz
  sparsemble encode model.safetensors samples.csv -o codes.csv --sparsity 3

A sample is a row of SAMPLES and of CODES. A .npz file holds a CSR array that scipy.sparse.load_npz reads; .npy and .csv
hold all zeros too. The columns of the codes are the atoms of all dictionaries of the model, one after the other. To a
model that was trained with --phi, samples as long as its measurements, and not as long as its atoms, are measurements;
if Φ measures as many values as there are pixels, as a blur does, say --measurements.")]
pub(crate) struct EncodeArguments {
    /// The model file.
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,

    /// The samples to code: .npy, .npz, .csv or .mat.
    #[arg(value_name = "SAMPLES")]
    pub(crate) samples: PathBuf,

    /// The samples are measurements, made by the Φ that the model was trained through.
    #[arg(long)]
    pub(crate) measurements: bool,

    /// The file of codes to write: .npz, .npy or .csv.
    #[arg(short, long, value_name = "CODES")]
    pub(crate) output: PathBuf,

    #[command(flatten)]
    pub(crate) coder: CoderArguments,

    #[command(flatten)]
    pub(crate) run: RunArguments,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  sparsemble reconstruct model.safetensors codes.npz -o approximations.npy
  sparsemble reconstruct model.safetensors --samples samples.npy -o approximations.npy --spread spread.csv

With --samples the samples are coded first, and the errors of their approximations are printed. To a model that was
trained with --phi they may be measurements, as for `encode`; then there are no errors to print.")]
pub(crate) struct ReconstructArguments {
    /// The model file.
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,

    /// Codes that `sparsemble encode` has written: .npz, .npy or .csv.
    #[arg(value_name = "CODES", required_unless_present = "samples", conflicts_with = "CoderArguments")]
    pub(crate) codes: Option<PathBuf>,

    /// Code these samples instead: .npy, .npz, .csv or .mat.
    #[arg(long, value_name = "SAMPLES", conflicts_with = "codes")]
    pub(crate) samples: Option<PathBuf>,

    /// The samples are measurements, made by the Φ that the model was trained through.
    #[arg(long, conflicts_with = "codes")]
    pub(crate) measurements: bool,

    /// The file of approximations to write, a sample a row: .npy or .csv.
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: PathBuf,

    /// Write how far the members of an ensemble, or those of each level, are from each other, a number a sample: .npy or .csv.
    #[arg(long, value_name = "FILE", conflicts_with = "codes")]
    pub(crate) spread: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) coder: CoderArguments,

    #[command(flatten)]
    pub(crate) run: RunArguments,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  sparsemble weights model.safetensors samples.npy --constraint affine -o better.safetensors
  sparsemble weights model.safetensors samples.npy --per-sample -o weights.npy

Constraints:
  unconstrained  any weights
  non-negative   none below zero
  affine         they sum to one
  simplex        both

Under each of them the combination is at least as good as the best of its members; what is printed certifies it.")]
pub(crate) struct WeightsArguments {
    /// The model file, of an ensemble.
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,

    /// The samples to approximate: .npy, .npz, .csv or .mat.
    #[arg(value_name = "SAMPLES")]
    pub(crate) samples: PathBuf,

    /// The model file with these weights; with --per-sample the file of weights, a sample a row: .npy or .csv.
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: PathBuf,

    /// unconstrained, non-negative, affine or simplex.
    #[arg(long, default_value_t = WeightConstraint::Simplex, value_parser = parsed::<WeightConstraint>)]
    pub(crate) constraint: WeightConstraint,

    /// Find weights for each sample, which know the sample, instead of one set for all.
    #[arg(long)]
    pub(crate) per_sample: bool,

    #[command(flatten)]
    pub(crate) coder: CoderArguments,

    #[command(flatten)]
    pub(crate) run: RunArguments,
}
