//! `sparsemble man`: pages for the manual, made of the same words as the help.

use std::io::Write;

use anyhow::{Context, Result};
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use crate::args::{Arguments, EXIT_CODES, IN_GENERAL, ManArguments};
use crate::output::claim;

pub(crate) fn run(arguments: &ManArguments) -> Result<()> {
    let mut program = Arguments::command().disable_help_subcommand(true).after_long_help(IN_GENERAL);
    program.build();
    let Some(folder) = &arguments.folder else {
        return std::io::stdout().write_all(&page(program)?).context("cannot write to the standard output");
    };
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let commands = program.get_subcommands().cloned();
    let commands = commands.map(|command| (folder.join(format!("sparsemble-{}.1", command.get_name())), command));
    let pages: Vec<_> = [(folder.join("sparsemble.1"), program.clone())].into_iter().chain(commands).collect();
    for (path, _) in &pages {
        claim(path, arguments.force)?;
    }
    for (path, command) in pages {
        sparsemble_paper::write(&path, page(command)?)?;
    }
    Ok(())
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
