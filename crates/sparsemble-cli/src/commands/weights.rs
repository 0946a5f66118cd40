//! `sparsemble weights`: the best weights of an ensemble under one of four constraints, with their certificate.

use anyhow::{Result, bail};
use serde_json::json;
use sparsemble::ensemble::{Certificate, Training};
use sparsemble::model_file::Loaded;
use sparsemble::{Model, Run, Scalar, matrix_file, model_file};

use super::represent;
use crate::args::WeightsArguments;
use crate::description::shown;
use crate::output::{claim, print, warn};
use crate::progress::Progress;

pub(crate) fn run(arguments: &WeightsArguments) -> Result<()> {
    claim(&arguments.output, arguments.run.force)?;
    if arguments.per_sample {
        matrix_file::expect_samples_name(&arguments.output)?;
    }
    let inspection = model_file::inspect(&arguments.model)?;
    if inspection.dtype == f32::NAME { weigh::<f32>(arguments) } else { weigh::<f64>(arguments) }
}

fn weigh<T: Scalar>(arguments: &WeightsArguments) -> Result<()> {
    let Loaded { model, mut record, .. } = represent::load::<T>(&arguments.model)?;
    let coder = represent::coder(&arguments.coder, &model)?;
    let Model::Ensemble(ensemble) = model else {
        bail!("{} is no ensemble; only its members can be weighted", arguments.model.display());
    };
    let progress = Progress::start("reading")?;
    let samples = progress.reading("coding", |run| matrix_file::read_watched::<T>(&arguments.samples, run))?;
    let samples = samples.view();
    let tell = |done: usize, total: usize| progress.tell(done, total);
    let run = Run::threads(arguments.run.threads).on_progress(&tell);
    let (certificate, holds) = if arguments.per_sample {
        let mut weights = ensemble.oracle_weights(samples, samples, &[arguments.constraint], &coder, run)?;
        let weights = weights.swap_remove(0);
        matrix_file::write(&arguments.output, weights.beta.view())?;
        (weights.certificate(), weights.all_hold())
    } else {
        let weights = ensemble.member_gram(samples, samples, None, &coder, run)?.weights(arguments.constraint);
        let described = format!("{} of {}", arguments.constraint, arguments.samples.display());
        record.parameters.insert("weights".into(), described);
        // Weights are good for the coder they were found with.
        let training = Training { coder: coder.to_string(), ..ensemble.training().clone() };
        let weighted = ensemble.with_beta(weights.beta)?.with_training(training);
        model_file::save(&arguments.output, &weighted, &record)?;
        (weights.certificate, weights.certificate.holds())
    };
    drop(progress);
    report(arguments, &certificate, holds, samples.columns())
}

fn report(arguments: &WeightsArguments, certificate: &Certificate, holds: bool, n_samples: usize) -> Result<()> {
    let (output, constraint) = (arguments.output.display(), arguments.constraint);
    let [error, best_member] = [certificate.residual, certificate.best_member].map(|norm| norm.powi(2));
    let (whose, best) = if arguments.per_sample { ("each of", "its best member") } else { ("all", "the best member") };
    let text = format!(
        "{constraint} weights for {whose} {n_samples} samples\n\
         mean ‖x − x̂‖² {}, that of {best} alone {}; \
         the conditions of optimality are missed by {:.0e}\nwrote {output}",
        shown(error),
        shown(best_member),
        certificate.optimality
    );
    let object = json!({
        "program": "sparsemble weights",
        "version": env!("CARGO_PKG_VERSION"),
        "output": output.to_string(),
        "constraint": constraint.name(),
        "per_sample": arguments.per_sample,
        "n_samples": n_samples,
        "error": error,
        "best_member_error": best_member,
        "optimality": certificate.optimality,
        "rounding": certificate.rounding,
        "holds": holds,
    });
    print(arguments.run.json, &object, &text)?;
    if holds {
        Ok(())
    } else {
        warn("the combination is worse than its best member: the weights are not to be trusted")
    }
}
