//! `sparsemble completions`: what a shell needs to complete words.

use std::io::Write;

use anyhow::{Context, Result};
use clap::CommandFactory;

use crate::args::{Arguments, CompletionsArguments};

pub(crate) fn run(arguments: &CompletionsArguments) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "sparsemble", &mut script);
    std::io::stdout().write_all(&script).context("cannot write to the standard output")
}
