//! What commands share.

use clap::Args;

/// What every command that computes has.
#[derive(Debug, Args)]
#[command(next_help_heading = "Running")]
pub(crate) struct RunArguments {
    /// The number of threads; 0 is one for each core. It does not change the result.
    #[arg(short, long, value_name = "N", default_value_t = 0)]
    pub(crate) threads: usize,

    /// Print one JSON object instead of text (docs/JSON.md says what is in it).
    #[arg(long)]
    pub(crate) json: bool,

    /// Write over files that exist.
    #[arg(long)]
    pub(crate) force: bool,

    /// The kind of file that `-o -` writes to the standard output, by the end of its name: png, jpg, npy, csv …
    /// [default: png for pictures, npy for samples, npz for codes and measurements, csv for clusters,
    /// safetensors for models].
    #[arg(long, value_name = "KIND")]
    pub(crate) format: Option<String>,
}

/// What every command that takes several files has.
#[derive(Debug, Args)]
#[command(next_help_heading = "Several files")]
pub(crate) struct BatchArguments {
    /// Leave out files whose result exists: to go on where an earlier run has failed or was stopped.
    #[arg(long)]
    pub(crate) skip_existing: bool,
}
