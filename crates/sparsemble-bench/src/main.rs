//! Native measurements for `cargo xtask bench`: a call measures one thing once and prints one JSON line.
//!
//! ```text
//! sparsemble-bench product faer f32 64 1024 100000          library, dtype, M features, K atoms, T samples
//! sparsemble-bench learn boost samples=X.f32 features=64 …  a learner and its options, see `learning.rs`
//! sparsemble-bench enlarge anchored samples=X.f32 …         a method and its options, see `enlarging.rs`
//! sparsemble-bench recover samples=X.f32 …                  options, see `recovering.rs`
//! sparsemble-bench cluster fit samples=X.f32 …              a part of clustering and its options, see `clustering.rs`
//! ```
//! The benchmarks call it once per repetition, between their other contenders, and keep the best.

mod beside;
mod clustering;
mod enlarging;
mod graph_file;
mod learning;
mod options;
mod product;
mod race;
mod recovering;
mod stacked_file;

use std::io::Write;

use anyhow::{Context, Result, bail, ensure};
use product::{Library, Product, Shape};
use serde_json::{Value, json};

const USAGE: &str = "usage: sparsemble-bench product faer|matrixmultiply f32|f64 FEATURES ATOMS SAMPLES
       sparsemble-bench learn LEARNER OPTION=VALUE...
       sparsemble-bench enlarge METHOD OPTION=VALUE...
       sparsemble-bench recover OPTION=VALUE...
       sparsemble-bench cluster PART OPTION=VALUE...";

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let record = match arguments.as_slice() {
        ["product", library, dtype, sizes @ ..] => product(library, dtype, sizes)?,
        ["learn", learner, options @ ..] => learning::run(learner, options)?,
        ["enlarge", method, options @ ..] => enlarging::run(method, options)?,
        ["recover", options @ ..] => recovering::run(options)?,
        ["cluster", part, options @ ..] => clustering::run(part, options)?,
        _ => bail!(USAGE),
    };
    writeln!(std::io::stdout(), "{record}")?;
    Ok(())
}

/// The time of `DᵀX` over all samples by one thread.
fn product(library: &str, dtype: &str, sizes: &[&str]) -> Result<Value> {
    let [features, atoms, samples] = sizes else { bail!(USAGE) };
    let shape = Shape { features: count(features)?, atoms: count(atoms)?, samples: count(samples)? };
    let by = match library {
        "faer" => Library::Faer,
        "matrixmultiply" => Library::Matrixmultiply,
        other => bail!("the library is faer or matrixmultiply, not {other}"),
    };
    let seconds = match dtype {
        "f32" => Product::<f32>::new(shape).time(by)?,
        "f64" => Product::<f64>::new(shape).time(by)?,
        other => bail!("the dtype is f32 or f64, not {other}"),
    };
    Ok(json!({ "seconds": seconds }))
}

/// A positive number from the command line.
fn count(argument: &str) -> Result<usize> {
    let count = argument.parse().with_context(|| format!("{argument:?} is not a count"))?;
    ensure!(count > 0, "features, atoms and samples are at least 1");
    Ok(count)
}
