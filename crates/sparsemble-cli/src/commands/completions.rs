//! `sparsemble completions`: what a shell needs to complete words.

use std::io::Write;

use anyhow::{Context, Result};
use clap::CommandFactory;
use serde_json::json;

use crate::args::{Arguments, CompletionsArguments};
use crate::output::print;

pub(crate) fn run(arguments: &CompletionsArguments) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "sparsemble", &mut script);
    if arguments.json {
        let object = json!({
            "program": "sparsemble completions",
            "version": env!("CARGO_PKG_VERSION"),
            "shell": arguments.shell.to_string(),
            "script": String::from_utf8_lossy(&script),
        });
        return print(true, &object, "");
    }
    std::io::stdout().write_all(&script).context("cannot write to the standard output")
}
