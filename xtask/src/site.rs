//! The documentation site: the folder docs, the API of the installed package, and the examples as they run.

use anyhow::Result;

use crate::workspace::{Workspace, run};

/// Sphinx's settings, which stay where they are.
const SETTINGS: &str = "docs/site";

/// Runs every example and builds the site into `target/site`. A warning is an error.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    let venv = workspace.package()?;
    // A copy, as Sphinx writes its own sources beside those it is given.
    let source = workspace.empty_folder("site")?.join("docs");
    copy_folder(&workspace.path("docs"), &source)?;
    let output = workspace.target("site");
    if output.exists() {
        std::fs::remove_dir_all(&output)?;
    }
    let mut sphinx = venv.python(workspace.root());
    sphinx.args([
        "-m",
        "sphinx",
        "--builder",
        "dirhtml",
        "--fail-on-warning",
        "--keep-going",
        "--quiet",
        "--doctree-dir",
    ]);
    sphinx.arg(source.with_file_name("doctrees")).arg("--conf-dir").arg(workspace.path(SETTINGS));
    run(sphinx.env("MPLBACKEND", "agg").arg(&source).arg(&output))?;
    println!("the site is {}", output.join("index.html").display());
    Ok(())
}

fn copy_folder(from: &std::path::Path, to: &std::path::Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let path = entry?.path();
        let copy = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy_folder(&path, &copy)?;
        } else {
            std::fs::copy(&path, &copy)?;
        }
    }
    Ok(())
}
