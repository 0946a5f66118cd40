//! What can be typed.

mod cluster;
mod coder;
mod manual;
mod paper;
mod places;
mod represent;
mod restore;
mod run;
mod studio;
mod train;
mod upscale;

use std::num::NonZero;
use std::path::PathBuf;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::failure::{FAILED, INTERRUPTED, WRONG_USAGE};
use crate::options;

pub(crate) use cluster::ClusterArguments;
pub(crate) use coder::CoderArguments;
pub(crate) use manual::{CompletionsArguments, ManArguments};
pub(crate) use paper::PaperArguments;
pub(crate) use places::{Kind, Places};
pub(crate) use represent::{EncodeArguments, InfoArguments, ReconstructArguments, WeightsArguments};
pub(crate) use restore::{PictureArguments, Preset, RecoverArguments, RestoreArguments, SenseArguments, Task};
pub(crate) use run::{BatchArguments, RunArguments};
pub(crate) use studio::StudioArguments;
pub(crate) use train::{Dtype, PatchArguments, TrainArguments, Trainable};
pub(crate) use upscale::{Compared, Enlarger, EvalArguments, UpscaleArguments};

/// The kinds of random projections.
pub(crate) const PROJECTIONS: [&str; 3] = ["orthonormal", "gaussian", "bernoulli"];

/// Exit codes, and what they mean.
pub(crate) const EXIT_CODES: &[(u8, &str)] = &[
    (0, "all went well; what has not converged is a warning, and in --json"),
    (FAILED, "something failed, or of several files some: the error stream says what and why"),
    (WRONG_USAGE, "the words cannot be meant so: an option is unknown, missing, excluded by another or out of range"),
    (INTERRUPTED, "Ctrl-C or a request to end; what was finished is kept, and nothing is half-written"),
];

/// Sparse coding, dictionary learning and ensemble sparse models.
#[derive(Debug, Parser)]
#[command(name = "sparsemble", version, propagate_version = true, after_long_help = in_general_and_exit_codes())]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What is said of all commands.
pub(crate) const IN_GENERAL: &str = "\
Examples:
  sparsemble demo
  sparsemble upscale photo.jpg --scale 2 -o large.png
  sparsemble restore photos/ --task denoise --sigma 10 -o clean/
  sparsemble upscale - -o - < photo.jpg > large.png

Files: `-` is the standard input or the standard output; its kind is told by content or by --format. Nothing is written over
without --force, and never a file that is read. Files are written as a whole or not at all.

Colours and progress are shown on terminals only; NO_COLOR turns colours off.";

fn in_general_and_exit_codes() -> String {
    let codes: Vec<String> = EXIT_CODES.iter().map(|(code, meaning)| format!("  {code:<4} {meaning}")).collect();
    format!("{IN_GENERAL}\n\nExit codes:\n{}", codes.join("\n"))
}

impl Arguments {
    /// What was typed; ends the program if that is nothing, a question or wrong.
    pub(crate) fn of_this_run() -> Self {
        // A number below zero is a value that is refused by name, not an option that nobody knows.
        let mut program = Self::command().mut_subcommands(|command| command.allow_negative_numbers(true));
        let matches = program.get_matches_mut();
        options::remember(&program, &matches);
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.format(&mut program).exit())
    }
}

const DEMO_EXAMPLES: &str = "\
Examples:
  sparsemble demo
  sparsemble demo --output site --json";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// See what it does to photographs and digits: a table, and a page to look at.
    #[command(after_long_help = DEMO_EXAMPLES)]
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
    /// Recover a picture from measurements of its blocks.
    Recover(RecoverArguments),
    /// Take noise, holes or blur out of a picture.
    Restore(RestoreArguments),
    /// Make pictures larger.
    Upscale(UpscaleArguments),
    /// Find clusters of samples by a graph of their sparse codes.
    Cluster(ClusterArguments),
    /// Tell how near pictures are to their originals: PSNR and SSIM.
    Eval(EvalArguments),
    /// Print what a shell needs to complete words.
    Completions(CompletionsArguments),
    /// Print or write the manual.
    Man(ManArguments),
    /// Open a page in the browser that enlarges, denoises, fills in and recovers pictures.
    Studio(StudioArguments),
}

#[derive(Debug, Args)]
pub(crate) struct DemoArguments {
    /// The folder for the pictures and the page. One that an earlier demo has made is used again and its files are replaced;
    /// any other that holds files is taken with --force only.
    #[arg(short, long, value_name = "DIR", default_value = "sparsemble-demo")]
    pub(crate) output: PathBuf,

    /// The number of threads; 0 is one for each core.
    #[arg(short, long, value_name = "N", default_value_t = 0)]
    threads: usize,

    /// Print one JSON object instead of the table.
    #[arg(long)]
    pub(crate) json: bool,

    /// Write into a folder that holds other files, over those of the same names.
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

#[cfg(test)]
mod tests;
