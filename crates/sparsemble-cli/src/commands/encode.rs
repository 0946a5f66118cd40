//! `sparsemble encode`: the codes of samples in the atoms of a model.

use anyhow::Result;
use serde_json::json;
use sparsemble::{Run, Scalar, matrix_file, model_file};

use super::represent;
use crate::args::EncodeArguments;
use crate::output::{claim, print, warn};
use crate::progress::Progress;

pub(crate) fn run(arguments: &EncodeArguments) -> Result<()> {
    claim(&arguments.output, arguments.run.force)?;
    matrix_file::expect_codes_name(&arguments.output)?;
    let inspection = model_file::inspect(&arguments.model)?;
    if inspection.dtype == f32::NAME { encode::<f32>(arguments) } else { encode::<f64>(arguments) }
}

fn encode<T: Scalar>(arguments: &EncodeArguments) -> Result<()> {
    let loaded = represent::load::<T>(&arguments.model)?;
    let progress = Progress::start("reading")?;
    let samples = progress.reading("coding", |run| matrix_file::read_watched::<T>(&arguments.samples, run))?;
    let (model, _) = represent::model_for(loaded, samples.n_features(), arguments.measurements)?;
    let coder = represent::coder(&arguments.coder, &model)?;
    let tell = |done: usize, total: usize| progress.tell(done, total);
    let run = Run::threads(arguments.run.threads).on_progress(&tell);
    let coding = model.transform(samples.view(), &coder, run)?;
    matrix_file::write_codes(&arguments.output, &coding.codes)?;
    drop(progress);

    let (codes, report) = (&coding.codes, &coding.report);
    let per_sample = codes.n_nonzero() as f64 / codes.n_samples().max(1) as f64;
    let (output, name) = (arguments.output.display(), represent::name(&coder, &model));
    let gap = report.worst_gap.map_or(String::new(), |gap| format!(", worst gap {gap:.1e}"));
    let text = format!(
        "{} samples in {} atoms by {name}: {per_sample:.2} atoms a sample{gap}\nwrote {output}",
        codes.n_samples(),
        codes.n_atoms(),
    );
    let object = json!({
        "program": "sparsemble encode",
        "version": env!("CARGO_PKG_VERSION"),
        "output": output.to_string(),
        "coder": name,
        "n_samples": codes.n_samples(),
        "n_atoms": codes.n_atoms(),
        "n_nonzero": codes.n_nonzero(),
        "atoms_per_sample": per_sample,
        "worst_gap": report.worst_gap,
        "unconverged": report.unconverged(),
    });
    print(arguments.run.json, &object, &text)?;
    if codes.all_zero() {
        return warn("all codes are zero: the penalty is too large for these samples");
    }
    match report.unconverged() {
        0 => Ok(()),
        samples => warn(&format!("the coder did not reach its tolerance for {samples} samples")),
    }
}
