//! What can be typed after `sparsemble studio`.

use clap::{Args, value_parser};

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  sparsemble studio --open
  sparsemble studio --port 0 --max-megapixels 50

The page is served on 127.0.0.1 and nowhere else: pictures stay on this computer, in memory, and nothing is written to
files. Other web pages cannot use it. To use it from another computer, forward the port under the same number:
ssh -L 7373:127.0.0.1:7373 HOST. Ctrl-C ends it.")]
pub(crate) struct StudioArguments {
    /// The port to serve the page on; 0 is any that is free.
    #[arg(short, long, value_name = "PORT", default_value_t = 7373)]
    pub(crate) port: u16,

    /// Open the page in the browser.
    #[arg(long)]
    pub(crate) open: bool,

    /// The largest picture file, in megabytes.
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = value_parser!(u32).range(1..=1024))]
    pub(crate) max_megabytes: u32,

    /// The largest picture, in millions of pixels; a result may have four times as many.
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = value_parser!(u32).range(1..=128))]
    pub(crate) max_megapixels: u32,

    /// The number of threads; 0 is one for each core. It does not change the result.
    #[arg(short, long, value_name = "N", default_value_t = 0)]
    pub(crate) threads: usize,

    /// Print one JSON object with the address instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}
