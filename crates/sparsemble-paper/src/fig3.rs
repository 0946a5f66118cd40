//! Fig. 3 (§III-C): the error against the number of models, for one size of dictionary.

use serde_json::json;

use crate::demonstration::Settings;
use crate::outcome::{Outcome, Statement};
use crate::plot::{Labels, Series, lines};
use crate::printed;
use crate::trial::{Method, Trial};

const TITLE: &str = "Fig. 3: error against the number of models";

/// Judges the trials of all methods for one K.
pub fn outcome(settings: &Settings, trials: &[Trial]) -> Outcome {
    let row = |round: usize| {
        let errors = trials.iter().map(|trial| format!("{:.5}", trial.errors[round]));
        let boosted = boosted(trials).map(|trial| format!("{:.5}", trial.training[round].error));
        std::iter::once((round + 1).to_string()).chain(errors).chain(boosted).collect()
    };
    let names = trials.iter().map(|trial| trial.method.name().to_owned());
    let trained = boosted(trials).map(|trial| format!("{}, training", trial.method.name()));
    let labels =
        Labels {
            title: TITLE, horizontal: "number of models, L", vertical: "mean ‖x − x̂‖² over the test patches"
        };
    let series: Vec<Series> = trials
        .iter()
        .enumerate()
        .map(|(colour, trial)| Series::new(trial.method.name(), trial.errors.clone(), colour))
        .collect();
    // Boosting may end before its last round.
    let rounds = trials.iter().map(|trial| trial.errors.len()).min().unwrap_or(0);
    let n_atoms = trials.first().map_or(0, |trial| trial.n_atoms);
    Outcome {
        name: "fig3",
        title: TITLE,
        caption: format!(
            "Mean squared norm of the residual over {} test patches (and over the training patches, for boosting) of the \
             first L models of each ensemble; K = {n_atoms}.",
            settings.test_patches
        ),
        headings: std::iter::once("L".to_owned()).chain(names).chain(trained).collect(),
        rows: (0..rounds).map(row).collect(),
        statements: vec![falls(trials), flattens(trials), training_never_rises(trials)],
        plot: lines(&labels, &series),
        results: json!({ "settings": settings, "trials": trials }),
    }
}

fn boosted(trials: &[Trial]) -> impl Iterator<Item = &Trial> {
    trials.iter().filter(|trial| trial.method != Method::RandExAv)
}

fn rises(errors: &[f64]) -> usize {
    errors.windows(2).filter(|pair| pair[1] > pair[0]).count()
}

fn falls(trials: &[Trial]) -> Statement {
    let evidence = |trial: &Trial| {
        let (first, last) = (trial.errors[0], trial.error());
        format!("{} {first:.5} → {last:.5}, {} rises", trial.method.name(), rises(&trial.errors))
    };
    Statement {
        claim: printed::MORE_MODELS_LESS_ERROR,
        holds: trials.iter().all(|trial| rises(&trial.errors) == 0),
        evidence: trials.iter().map(evidence).collect::<Vec<_>>().join("; "),
    }
}

/// The share of the whole fall that each quarter of the models has.
fn quarters(errors: &[f64]) -> [f64; 4] {
    let last = errors.len() - 1;
    let at = |quarter: usize| errors[last * quarter / 4];
    [0, 1, 2, 3].map(|quarter| (at(quarter) - at(quarter + 1)) / (at(0) - at(4)))
}

fn flattens(trials: &[Trial]) -> Statement {
    let flattens = |trial: &Trial| {
        let [first, second, third, fourth] = quarters(&trial.errors);
        third + fourth < first + second
    };
    let evidence = |trial: &Trial| {
        let shares = quarters(&trial.errors).map(|share| format!("{:.1} %", 100.0 * share));
        format!("{} {}", trial.method.name(), shares.join(", "))
    };
    let shares: Vec<String> = trials.iter().map(evidence).collect();
    Statement {
        claim: printed::FLATTENS,
        holds: trials.iter().all(flattens),
        evidence: format!("share of the fall in each quarter: {}", shares.join("; ")),
    }
}

fn training_never_rises(trials: &[Trial]) -> Statement {
    let errors = |trial: &Trial| trial.training.iter().map(|round| round.error).collect::<Vec<_>>();
    let evidence = |trial: &Trial| {
        let errors = errors(trial);
        let (first, last) = (errors[0], errors[errors.len() - 1]);
        format!("{} {first:.5} → {last:.5}, {} rises", trial.method.name(), rises(&errors))
    };
    Statement {
        claim: printed::TRAINING_NEVER_RISES,
        holds: boosted(trials).all(|trial| rises(&errors(trial)) == 0),
        evidence: boosted(trials).map(evidence).collect::<Vec<_>>().join("; "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quarters_share_the_fall() {
        let shares = quarters(&[10.0, 6.0, 4.0, 3.0, 2.0]);
        assert!(shares.iter().zip([0.5, 0.25, 0.125, 0.125]).all(|(share, expected)| (share - expected).abs() < 1e-12));
        assert_eq!(rises(&[3.0, 2.0, 2.5, 2.5, 3.0]), 2);
    }
}
