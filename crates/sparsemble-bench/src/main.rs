//! Times `DᵀX` by the Rust GEMM libraries, for the benchmark of the coders (`cargo xtask bench coding`).
//!
//! ```text
//! sparsemble-bench faer f32 64 1024 100000     library, dtype, M features, K atoms, T samples
//! ```
//! prints one JSON line: the time of one pass over all samples by one thread. The benchmark calls it once per repetition,
//! between its other contenders, and keeps the best.

mod product;

use std::io::Write;

use anyhow::{Context, Result, bail, ensure};
use product::{Library, Product, Shape};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, dtype, features, atoms, samples] = arguments.as_slice() else {
        bail!("usage: sparsemble-bench faer|matrixmultiply f32|f64 FEATURES ATOMS SAMPLES");
    };
    let library = match name.as_str() {
        "faer" => Library::Faer,
        "matrixmultiply" => Library::Matrixmultiply,
        other => bail!("the library is faer or matrixmultiply, not {other}"),
    };
    let shape = Shape { features: count(features)?, atoms: count(atoms)?, samples: count(samples)? };
    let seconds = match dtype.as_str() {
        "f32" => Product::<f32>::new(shape).time(library)?,
        "f64" => Product::<f64>::new(shape).time(library)?,
        other => bail!("the dtype is f32 or f64, not {other}"),
    };
    let labels = format!(r#""bench":"gemm","contender":"{name}","dtype":"{dtype}","threads":1"#);
    let sizes = format!(r#""M":{features},"K":{atoms},"T":{samples}"#);
    writeln!(std::io::stdout(), r#"{{{labels},{sizes},"seconds":{seconds}}}"#)?;
    Ok(())
}

/// A positive number from the command line.
fn count(argument: &str) -> Result<usize> {
    let count = argument.parse().with_context(|| format!("{argument:?} is not a count"))?;
    ensure!(count > 0, "features, atoms and samples are at least 1");
    Ok(count)
}
