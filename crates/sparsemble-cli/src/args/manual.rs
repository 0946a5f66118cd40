//! What can be typed after `sparsemble completions` and `sparsemble man`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  sparsemble completions bash > ~/.local/share/bash-completion/completions/sparsemble
  sparsemble completions zsh > ~/.zfunc/_sparsemble
  sparsemble completions fish > ~/.config/fish/completions/sparsemble.fish")]
pub(crate) struct CompletionsArguments {
    /// The shell to complete words in.
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,

    /// Print one JSON object that holds the script (docs/JSON.md says what is in it).
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  sparsemble man ~/.local/share/man/man1
  sparsemble man > sparsemble.1")]
pub(crate) struct ManArguments {
    /// The folder for a page for each command; without it the page of the program is printed.
    #[arg(value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,

    /// Write over pages that exist.
    #[arg(long)]
    pub(crate) force: bool,

    /// Print one JSON object: which pages there are, and those that are not written (docs/JSON.md says what is in it).
    #[arg(long)]
    pub(crate) json: bool,
}
