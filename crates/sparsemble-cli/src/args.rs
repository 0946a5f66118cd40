//! What can be typed.

mod paper;

use std::num::NonZero;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub(crate) use paper::PaperArguments;

/// Sparse coding, dictionary learning and ensemble sparse models.
#[derive(Debug, Parser)]
#[command(name = "sparsemble", version, propagate_version = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Code a photograph with every coder and ensemble, compare them and write the pictures to look at.
    Demo(DemoArguments),
    /// Repeat an experiment of the paper and check what the paper says of it.
    Paper(PaperArguments),
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
