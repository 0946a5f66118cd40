//! Benchmarks against the rivals: one environment with all of them, one script a subject.

use std::path::Path;

use anyhow::{Result, bail};

use crate::python::Venv;
use crate::workspace::{Workspace, run};

const SCRIPTS: &str = "python/benchmarks";

/// Our own needs, and the libraries we are measured against.
const REQUIREMENTS: &str = "\
maturin>=1.9
numpy
scipy
scikit-learn
spams-bin
faiss-cpu
threadpoolctl
tqdm
pillow
";

/// Runs `python/benchmarks/NAME.py` with the wheel of the present sources and the native measurements beside it.
///
/// The script finds the program of `crates/sparsemble-bench` by the variable `SPARSEMBLE_BENCH_BIN`. Only the script
/// writes to standard output.
pub(crate) fn run_script(workspace: &Workspace, name: &str, arguments: &[String]) -> Result<()> {
    let script = workspace.path(SCRIPTS).join(name).with_extension("py");
    if !script.is_file() {
        let known = workspace.files(SCRIPTS, "py")?;
        let known: Vec<_> = known.iter().filter_map(|path| Path::new(path).file_stem()?.to_str()).collect();
        bail!("there is no benchmark `{name}`; there is {}", known.join(", "));
    }
    let venv = Venv::with(workspace, "bench-venv", REQUIREMENTS)?;
    venv.install_wheel(workspace)?;
    run(workspace.cargo().args(["build", "--release", "--package", "sparsemble-bench"]))?;
    let program = workspace.target("release/sparsemble-bench").with_extension(std::env::consts::EXE_EXTENSION);
    run(venv.python(workspace.root()).arg(script).args(arguments).env("SPARSEMBLE_BENCH_BIN", program))
}
