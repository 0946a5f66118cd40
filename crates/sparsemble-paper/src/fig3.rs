//! Fig. 3 (§III-C): the error against the number of models, for one size of dictionary.

use serde_json::json;

use crate::demonstration::Settings;
use crate::outcome::{Entry, Outcome, Statement};
use crate::plot::{Labels, Series, lines};
use crate::printed;
use crate::trial::{Method, Trial};

const TITLE: &str = "Fig. 3: error against the number of models";

/// Judges the trials of all methods for one K.
pub fn outcome(settings: &Settings, trials: &[Trial]) -> Outcome {
    let row = |round: usize| {
        let errors = trials.iter().map(|trial| format!("{:.5}", trial.errors[round]));
        let boosted = boosted(trials).map(|trial| format!("{:.5}", trial.training[round].error));
        std::iter::once((round + 1).to_string()).chain(errors).chain(boosted).map(Entry::from).collect()
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
        statements: vec![falls(trials), falls_with_each(trials), flattens(trials), training_never_rises(trials)],
        plot: lines(&labels, &series),
        files: Vec::new(),
        results: json!({ "settings": settings, "trials": trials }),
    }
}

fn boosted(trials: &[Trial]) -> impl Iterator<Item = &Trial> {
    trials.iter().filter(|trial| trial.method != Method::RandExAv)
}

/// How often the error is greater than it was, and the largest rise as a fraction of the error.
fn rises(errors: &[f64]) -> (usize, f64) {
    let rises = errors.windows(2).map(|pair| pair[1] / pair[0] - 1.0).filter(|rise| *rise > 0.0);
    rises.fold((0, 0.0), |(count, largest), rise| (count + 1, rise.max(largest)))
}

/// The errors of 1, 2, 4, 8 … models.
fn doublings(errors: &[f64]) -> Vec<f64> {
    let numbers = std::iter::successors(Some(1_usize), |number| number.checked_mul(2));
    numbers.map_while(|number| errors.get(number - 1).copied()).collect()
}

fn falls(trials: &[Trial]) -> Statement {
    let evidence = |trial: &Trial| {
        let errors: Vec<_> = doublings(&trial.errors).iter().map(|error| format!("{error:.4}")).collect();
        format!("{} {}", trial.method.name(), errors.join(" → "))
    };
    Statement {
        claim: printed::MORE_MODELS_LESS_ERROR,
        holds: trials.iter().all(|trial| rises(&doublings(&trial.errors)).0 == 0),
        evidence: trials.iter().map(evidence).collect::<Vec<_>>().join("; "),
    }
}

fn falls_with_each(trials: &[Trial]) -> Statement {
    Statement {
        claim: printed::EACH_MODEL_LESS_ERROR,
        holds: trials.iter().all(|trial| rises(&trial.errors).0 == 0),
        evidence: trials.iter().map(|trial| told(trial, &trial.errors)).collect::<Vec<_>>().join("; "),
    }
}

/// The rises of a method, in words.
fn told(trial: &Trial, errors: &[f64]) -> String {
    let name = trial.method.name();
    match rises(errors) {
        (0, _) => format!("{name} never rises"),
        (count, largest) => {
            format!("{name} rises {count} times in {}, by at most {:.2} %", errors.len() - 1, 100.0 * largest)
        }
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
    Statement {
        claim: printed::TRAINING_NEVER_RISES,
        holds: boosted(trials).all(|trial| rises(&errors(trial)).0 == 0),
        evidence: boosted(trials).map(|trial| told(trial, &errors(trial))).collect::<Vec<_>>().join("; "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quarters_share_the_fall() {
        let shares = quarters(&[10.0, 6.0, 4.0, 3.0, 2.0]);
        assert!(shares.iter().zip([0.5, 0.25, 0.125, 0.125]).all(|(share, expected)| (share - expected).abs() < 1e-12));
    }

    #[test]
    fn rises_are_counted_and_doublings_picked() {
        let errors = [4.0, 2.0, 2.5, 2.5, 3.0];
        let (count, largest) = rises(&errors);
        assert!(count == 2 && (largest - 0.25).abs() < 1e-12);
        assert_eq!(doublings(&errors), [4.0, 2.0, 2.5]);
        assert!(doublings(&[]).is_empty() && rises(&[]).0 == 0);
    }
}
