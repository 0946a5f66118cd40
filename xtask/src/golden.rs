//! Rewrites the golden files by their committed scripts, and tests against them.

use anyhow::{Result, ensure};

use crate::python::Venv;
use crate::rust;
use crate::workspace::{Workspace, run};

/// Scripts that write references computed by other libraries.
const SCRIPTS: &str = "python/golden";

/// Those libraries.
const REQUIREMENTS: &str = "\
numpy
pillow
scikit-image
scikit-learn
scipy
";

pub(crate) fn rewrite(workspace: &Workspace) -> Result<()> {
    let scripts = workspace.files(SCRIPTS, "py")?;
    ensure!(!scripts.is_empty(), "{SCRIPTS} holds no script");
    let venv = Venv::with(workspace, "golden-venv", REQUIREMENTS)?;
    for script in scripts {
        run(venv.python(workspace.root()).arg(script))?;
    }
    run(rust::test_runner(workspace).arg("golden"))
}
