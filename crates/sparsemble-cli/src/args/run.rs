//! What every command that computes has.

use clap::Args;

#[derive(Debug, Args)]
#[command(next_help_heading = "Running")]
pub(crate) struct RunArguments {
    /// The number of threads; 0 is one for each core. It does not change the result.
    #[arg(short, long, value_name = "N", default_value_t = 0)]
    pub(crate) threads: usize,

    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,

    /// Write over files that exist.
    #[arg(long)]
    pub(crate) force: bool,
}
