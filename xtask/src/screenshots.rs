//! The pictures of the documents: pages of the program, as headless Chromium shows them.

use std::env::consts::EXE_EXTENSION;
use std::process::Command;

use anyhow::Result;

use crate::workspace::{Workspace, run};
use crate::{python, rust};

/// Makes the pages and takes `demo.jpg`, `report.jpg` and `studio.jpg` in `docs/figures` of them.
pub(crate) fn take(workspace: &Workspace) -> Result<()> {
    let folder = workspace.empty_folder("screenshots")?;
    rust::build(workspace, "--bins")?;
    let program = workspace.target("release/sparsemble").with_extension(EXE_EXTENSION);
    let report = "restore sparsemble-demo/denoise-noisy.png --task denoise --sigma 25 \
                  --reference sparsemble-demo/denoise-original.png --report report.html -o clean.png";
    for words in ["demo", report] {
        run(Command::new(&program).args(words.split_whitespace()).current_dir(&folder))?;
    }
    let mut shoot = python::environment(workspace)?.python(workspace.root());
    run(shoot.arg("python/screenshots.py").arg(&program).arg(&folder).arg("docs/figures"))
}
