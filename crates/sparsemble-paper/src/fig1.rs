//! Fig. 1 (§II-B): "oracle" ensembles, whose weights know the patch, under the four constraints of §II-A.

use serde_json::json;

use crate::demonstration::Settings;
use crate::outcome::{Entry, Outcome, Statement};
use crate::plot::{Labels, Series, bars};
use crate::printed;
use crate::trial::Trial;

const TITLE: &str = "Fig. 1: oracle weights under four constraints";
const CASES: [&str; 4] = ["1: any β", "2: β ≥ 0", "3: Σβ = 1", "4: β ≥ 0, Σβ = 1"];
const BEST_OF_EACH: &str = "best member of each patch";
const BEST_MEMBER: &str = "best single member";

/// Judges the trials of random examples, one for each K in rising order.
pub fn outcome(settings: &Settings, trials: &[Trial]) -> Outcome {
    let columns = |trial: &Trial| {
        let [free, nonnegative, affine, simplex] = trial.oracle_errors;
        [free, nonnegative, affine, simplex, trial.best_of_each, trial.best_member()]
    };
    let names = || CASES.into_iter().chain([BEST_OF_EACH, BEST_MEMBER]);
    let row = |trial: &Trial| {
        let errors = columns(trial).map(|error| format!("{error:.5}"));
        std::iter::once(trial.n_atoms.to_string()).chain(errors).map(Entry::from).collect()
    };
    let series = names()
        .enumerate()
        .map(|(column, name)| Series::new(name, trials.iter().map(|trial| columns(trial)[column]).collect(), column));
    let labels = Labels {
        title: TITLE,
        horizontal: "atoms in each dictionary, K",
        vertical: "mean ‖x − Cβ‖² over the test patches",
    };
    let groups: Vec<String> = trials.iter().map(|trial| trial.n_atoms.to_string()).collect();
    Outcome {
        name: "fig1",
        title: TITLE,
        caption: format!(
            "Mean squared norm of the residual over {} test patches. L = {} dictionaries of K random training patches \
             each; the weights β are the best for each patch under the constraint of the column.",
            settings.test_patches, settings.n_models
        ),
        headings: std::iter::once("K").chain(names()).map(str::to_owned).collect(),
        rows: trials.iter().map(row).collect(),
        statements: vec![bound(trials), nested(trials), case_2_below_3(trials), larger_is_better(trials)],
        plot: bars(&labels, &groups, &series.collect::<Vec<_>>()),
        files: Vec::new(),
        results: json!({ "settings": settings, "trials": trials }),
    }
}

fn bound(trials: &[Trial]) -> Statement {
    let ratio = |trial: &Trial| trial.oracle_errors.map(|error| error / trial.best_of_each);
    let worst = trials.iter().flat_map(ratio).fold(0.0, f64::max);
    let optimality = trials.iter().map(|trial| trial.worst_optimality).fold(0.0, f64::max);
    Statement {
        claim: printed::BOUND,
        holds: worst <= 1.0,
        evidence: format!(
            "at most {:.1} % of the best member's error; the conditions of optimality are met to {optimality:.0e}",
            100.0 * worst
        ),
    }
}

/// Which case has at most the error of which, for any samples.
const NESTED: [(usize, usize); 4] = [(0, 1), (0, 2), (1, 3), (2, 3)];

fn nested(trials: &[Trial]) -> Statement {
    Statement {
        claim: printed::NESTED_CASES,
        holds: trials.iter().all(|trial| NESTED.iter().all(|&(a, b)| trial.oracle_errors[a] <= trial.oracle_errors[b])),
        evidence: NESTED.map(|(a, b)| ratios(trials, a, b)).join(", "),
    }
}

fn case_2_below_3(trials: &[Trial]) -> Statement {
    Statement {
        claim: printed::CASE_2_BELOW_3,
        holds: trials.iter().all(|trial| trial.oracle_errors[1] <= trial.oracle_errors[2]),
        evidence: ratios(trials, 1, 2),
    }
}

/// How many times the error of one case that of another is, for each K.
fn ratios(trials: &[Trial], one: usize, other: usize) -> String {
    let ratio = |trial: &Trial| format!("{:.3}", trial.oracle_errors[other] / trial.oracle_errors[one]);
    format!("r{}/r{} = {}", other + 1, one + 1, trials.iter().map(ratio).collect::<Vec<_>>().join(" "))
}

fn larger_is_better(trials: &[Trial]) -> Statement {
    let errors = |case: usize| trials.iter().map(move |trial| trial.oracle_errors[case]).collect::<Vec<_>>();
    let evidence = |case: usize| {
        let errors: Vec<_> = errors(case).iter().map(|error| format!("{error:.4}")).collect();
        format!("case {}: {}", case + 1, errors.join(" → "))
    };
    Statement {
        claim: printed::LARGER_IS_BETTER,
        holds: (0..4).all(|case| errors(case).is_sorted_by(|smaller, larger| larger < smaller)),
        evidence: (0..4).map(evidence).collect::<Vec<_>>().join("; "),
    }
}
