//! Fig. 2 (§III-C): RandExAv, BoostEx and BoostKM beside the best of their members, for each size of dictionary.

use serde_json::json;

use crate::demonstration::Settings;
use crate::outcome::{Entry, Outcome, Statement};
use crate::plot::{Labels, Series, bars};
use crate::printed::{self, Claim};
use crate::trial::{Method, Trial};

const TITLE: &str = "Fig. 2: ensembles and their best members";

/// How far the sum of β may be from one by rounding.
const ROUNDING: f64 = 1e-9;

/// Judges the trials of all methods, for each K in rising order.
pub fn outcome(settings: &Settings, trials: &[Trial]) -> Outcome {
    let row = |trial: &Trial| {
        let errors = [trial.error(), trial.best_member(), trial.best_of_each].map(|error| format!("{error:.5}"));
        let gain = format!("{:.1} %", 100.0 * (1.0 - trial.error() / trial.best_member()));
        let psnr = format!("{:.2}", psnr(settings, trial.error()));
        [trial.method.name().to_owned(), trial.n_atoms.to_string()]
            .into_iter()
            .chain(errors)
            .chain([gain, psnr])
            .map(Entry::from)
            .collect()
    };
    let labels = Labels {
        title: TITLE,
        horizontal: "atoms in each dictionary, K",
        vertical: "mean ‖x − x̂‖² over the test patches",
    };
    let headings = [
        "method",
        "K",
        "ensemble",
        "best single member",
        "best member of each patch",
        "gain over the best single member",
        "PSNR of the ensemble (dB)",
    ];
    Outcome {
        name: "fig2",
        title: TITLE,
        caption: format!(
            "Mean squared norm of the residual over {} test patches, of ensembles of L = {} models with the weights they \
             got in training.",
            settings.test_patches, settings.n_models
        ),
        headings: headings.map(str::to_owned).to_vec(),
        rows: trials.iter().map(row).collect(),
        statements: vec![
            better(printed::BETTER_THAN_BEST_MEMBER, trials, Trial::best_member),
            better(printed::BETTER_THAN_BEST_OF_EACH, trials, |trial| trial.best_of_each),
            sum_to_one(trials),
        ],
        plot: bars(&labels, &sizes(trials), &series(trials)),
        files: Vec::new(),
        results: json!({ "settings": settings, "trials": trials }),
    }
}

/// The peak signal-to-noise ratio of patches with this mean squared norm of the residual.
fn psnr(settings: &Settings, error: f64) -> f64 {
    let n_pixels = (settings.patch_side * settings.patch_side) as f64;
    10.0 * (settings.white * settings.white * n_pixels / error).log10()
}

fn sizes(trials: &[Trial]) -> Vec<String> {
    let mut sizes: Vec<usize> = trials.iter().map(|trial| trial.n_atoms).collect();
    sizes.dedup();
    sizes.iter().map(usize::to_string).collect()
}

/// For each method the ensemble and, paler, its best member.
fn series(trials: &[Trial]) -> Vec<Series> {
    let of = |method: Method, error: fn(&Trial) -> f64| {
        trials.iter().filter(move |trial| trial.method == method).map(error).collect()
    };
    let pair = |(colour, method): (usize, Method)| {
        let name = method.name();
        [
            Series::new(name, of(method, Trial::error), colour),
            Series::new(&format!("{name}, best member"), of(method, Trial::best_member), colour).pale(),
        ]
    };
    Method::ALL.into_iter().enumerate().flat_map(pair).collect()
}

fn better(claim: Claim, trials: &[Trial], rival: impl Fn(&Trial) -> f64) -> Statement {
    let ratio = |trial: &Trial| trial.error() / rival(trial);
    let best = trials.iter().map(ratio).fold(f64::INFINITY, f64::min);
    let worst = trials.iter().map(ratio).fold(0.0, f64::max);
    let evidence = format!("the ensembles have {:.1} % to {:.1} % of that error", 100.0 * best, 100.0 * worst);
    Statement { claim, holds: worst < 1.0, evidence }
}

fn sum_to_one(trials: &[Trial]) -> Statement {
    let excess = |trial: &Trial| (trial.beta.iter().sum::<f64>() - 1.0).abs();
    let worst = trials.iter().map(excess).fold(0.0, f64::max);
    Statement {
        claim: printed::WEIGHTS_SUM_TO_ONE,
        holds: worst <= ROUNDING,
        evidence: format!("off by at most {worst:.0e}"),
    }
}
