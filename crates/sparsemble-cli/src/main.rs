//! The command line: converts arguments, calls the library, presents what it gives back.
//!
//! Exit codes are listed in `args::EXIT_CODES`: 0 for success, 1 for a failure (the error stream says what to do), 2 for
//! wrong usage, 130 if it was interrupted.

mod args;
mod batch;
mod commands;
mod description;
mod failure;
mod html;
mod interrupt;
mod options;
mod output;
mod own_folder;
mod pace;
mod photographs;
mod pictures;
mod progress;
mod streams;

use std::io::ErrorKind;
use std::process::ExitCode;

use anyhow::Result;

use args::{Arguments, Command};

fn main() -> ExitCode {
    match run(Arguments::of_this_run().command) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever read our output has seen enough: `sparsemble demo | head -1`.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output::complain(&failure::message(&error));
            failure::exit_code(&error).into()
        }
    }
}

fn run(mut command: Command) -> Result<()> {
    interrupt::watch()?;
    let _kept = streams::open(&mut command)?;
    match &command {
        Command::Demo(demo) => commands::demo::run(demo),
        Command::Paper(paper) => commands::paper::run(paper),
        Command::Train(train) => commands::train::run(train),
        Command::Info(info) => commands::info::run(info),
        Command::Encode(encode) => commands::encode::run(encode),
        Command::Reconstruct(reconstruct) => commands::reconstruct::run(reconstruct),
        Command::Weights(weights) => commands::weights::run(weights),
        Command::Sense(sense) => commands::sense::run(sense),
        Command::Recover(recover) => commands::recover::run(recover),
        Command::Restore(restore) => commands::restore::run(restore),
        Command::Upscale(upscale) => commands::upscale::run(upscale),
        Command::Cluster(cluster) => commands::cluster::run(cluster),
        Command::Eval(eval) => commands::eval::run(eval),
        Command::Studio(studio) => commands::studio::run(studio),
        Command::Completions(completions) => commands::completions::run(completions),
        Command::Man(man) => commands::man::run(man),
    }?;
    streams::close()
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}
