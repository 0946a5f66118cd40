//! `sparsemble man`: pages for the manual, made of the same words as the help.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use serde_json::{Value, json};

use crate::args::{Arguments, EXIT_CODES, IN_GENERAL, ManArguments};
use crate::output::{claim, print};

pub(crate) fn run(arguments: &ManArguments) -> Result<()> {
    let mut program = Arguments::command().disable_help_subcommand(true).after_long_help(IN_GENERAL);
    program.build();
    let Some(folder) = &arguments.folder else {
        let page = page(program)?;
        if arguments.json {
            let text = String::from_utf8_lossy(&page);
            return print(true, &object(&[json!({ "name": "sparsemble", "file": null, "text": text })]), "");
        }
        return std::io::stdout().write_all(&page).context("cannot write to the standard output");
    };
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let named = |name: String, command: Command| (folder.join(format!("{name}.1")), name, command);
    let commands = program.get_subcommands().cloned();
    let commands = commands.map(|command| named(format!("sparsemble-{}", command.get_name()), command));
    let pages: Vec<(PathBuf, String, Command)> =
        [named("sparsemble".into(), program.clone())].into_iter().chain(commands).collect();
    for (path, ..) in &pages {
        claim(path, arguments.force)?;
    }
    let mut written = Vec::new();
    for (path, name, command) in pages {
        sparsemble_paper::write(&path, page(command)?)?;
        written.push(json!({ "name": name, "file": path.display().to_string(), "text": null }));
    }
    let first = folder.join("sparsemble.1");
    let text = format!("wrote {} pages to {}; read: man {}", written.len(), folder.display(), first.display());
    print(arguments.json, &object(&written), &text)
}

/// The pages, for a program.
fn object(pages: &[Value]) -> Value {
    json!({ "program": "sparsemble man", "version": env!("CARGO_PKG_VERSION"), "pages": pages })
}

/// A page of section 1.
fn page(command: Command) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command).render(&mut page).context("cannot make the page")?;
    let mut codes = Roff::new();
    codes.control("SH", ["EXIT STATUS"]);
    for (code, meaning) in EXIT_CODES {
        codes.control("TP", []);
        codes.text([bold(code.to_string())]);
        codes.text([roman(*meaning)]);
    }
    codes.to_writer(&mut page).context("cannot make the page")?;
    Ok(page)
}
