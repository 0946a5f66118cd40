//! Rewrites the golden files by their committed scripts, and tests against them.

use anyhow::{Result, ensure};

use crate::workspace::{Workspace, run};
use crate::{python, rust};

/// Scripts that write references computed by other libraries.
const SCRIPTS: &str = "python/golden";

pub(crate) fn rewrite(workspace: &Workspace) -> Result<()> {
    let scripts = workspace.files(SCRIPTS, "py")?;
    ensure!(!scripts.is_empty(), "{SCRIPTS} holds no script");
    let venv = python::environment(workspace)?;
    for script in scripts {
        run(venv.python(workspace.root()).arg(script))?;
    }
    run(rust::test_runner(workspace).arg("golden"))
}
