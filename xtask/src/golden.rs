//! Rewrites the golden files: references by their committed scripts, then whatever the tests themselves record.

use anyhow::{Result, ensure};

use crate::python;
use crate::rust;
use crate::workspace::{Workspace, run};

const FOLDER: &str = "crates/sparsemble/tests/it/golden";

pub(crate) fn rewrite(workspace: &Workspace) -> Result<()> {
    let scripts = workspace.files(FOLDER, "py")?;
    ensure!(!scripts.is_empty(), "{FOLDER} holds no reference script");
    let venv = python::environment(workspace)?;
    for script in scripts {
        run(venv.python(workspace.root()).arg(script).env("UPDATE_GOLDEN", "1"))?;
    }
    run(rust::test_runner(workspace).arg("golden").env("UPDATE_GOLDEN", "1"))
}
