//! What can be typed.

mod cluster;
mod coder;
mod paper;
mod represent;
mod restore;
mod run;
mod studio;
mod train;
mod upscale;

use std::num::NonZero;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub(crate) use cluster::ClusterArguments;
pub(crate) use coder::CoderArguments;
pub(crate) use paper::PaperArguments;
pub(crate) use represent::{EncodeArguments, InfoArguments, ReconstructArguments, WeightsArguments};
pub(crate) use restore::{PictureArguments, Preset, RecoverArguments, RestoreArguments, SenseArguments, Task};
pub(crate) use run::RunArguments;
pub(crate) use studio::StudioArguments;
pub(crate) use train::{Dtype, PatchArguments, TrainArguments, Trainable};
pub(crate) use upscale::{Compared, Enlarger, EvalArguments, UpscaleArguments};

/// Sparse coding, dictionary learning and ensemble sparse models.
#[derive(Debug, Parser)]
#[command(name = "sparsemble", version, propagate_version = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// See what it does: photographs enlarged, recovered and restored, digits grouped, and a page to look at.
    Demo(DemoArguments),
    /// Repeat an experiment of the paper and check what the paper says of it.
    Paper(PaperArguments),
    /// Train a dictionary or an ensemble on pictures or on a matrix.
    Train(TrainArguments),
    /// Show what a model file holds, and its atoms as a picture.
    Info(InfoArguments),
    /// Code samples in the atoms of a model.
    Encode(EncodeArguments),
    /// Approximate samples by a model, from their codes or from themselves.
    Reconstruct(ReconstructArguments),
    /// Find the weights with which an ensemble approximates samples best, and certify them.
    Weights(WeightsArguments),
    /// Keep a few random measurements of every block of a picture, and nothing else.
    Sense(SenseArguments),
    /// Recover a picture from such measurements.
    Recover(RecoverArguments),
    /// Take noise, holes or blur out of a picture.
    Restore(RestoreArguments),
    /// Make pictures larger.
    Upscale(UpscaleArguments),
    /// Find clusters of samples by a graph of their sparse codes.
    Cluster(ClusterArguments),
    /// Tell how near pictures are to their originals: PSNR and SSIM.
    Eval(EvalArguments),
    /// Open a page in the browser that enlarges, denoises, fills in and recovers pictures.
    Studio(StudioArguments),
}

#[derive(Debug, Args)]
pub(crate) struct DemoArguments {
    /// The folder for the pictures and the page.
    #[arg(short, long, value_name = "DIR", default_value = "sparsemble-demo")]
    pub(crate) output: PathBuf,

    /// The number of threads; 0 is one for each core.
    #[arg(short, long, value_name = "N", default_value_t = 0)]
    threads: usize,

    /// Print one JSON object instead of the table.
    #[arg(long)]
    pub(crate) json: bool,

    /// Write into a folder that holds other files.
    #[arg(long)]
    pub(crate) force: bool,
}

impl DemoArguments {
    pub(crate) fn threads(&self) -> usize {
        match self.threads {
            0 => std::thread::available_parallelism().map_or(1, NonZero::get),
            threads => threads,
        }
    }
}
