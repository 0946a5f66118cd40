//! The figures in small, on the committed photographs, and on the real data where it is.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use sparsemble::coding::{Lasso, Samples, SparseCoder};
use sparsemble::degradation::Identity;
use sparsemble::dictionary::{Centers, Examples};
use sparsemble::ensemble::{Averaging, Boost, Ensemble, WeightConstraint};
use sparsemble::image::{self, GrayImage};
use sparsemble::{Matrix, Run};
use sparsemble_paper::{
    Demonstration, Enlarging, Experiment, Grouping, Method, Outcome, Request, Sensing, Settings, Trial, fig1, fig2,
    fig3, run, write_document,
};

/// K in small.
const SIZES: [usize; 2] = [32, 64];

fn settings() -> Settings {
    Settings { drawn_training_patches: 1500, test_patches: 200, n_models: 6, ..Settings::paper(1) }
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn photographs(names: &[&str]) -> Vec<GrayImage> {
    names.iter().map(|name| image::read(repository().join("data/cc0").join(name)).unwrap()).collect()
}

/// The patches, and the trials of every method for each size.
static SMALL: LazyLock<(Demonstration, Vec<Trial>)> = LazyLock::new(|| {
    let training = photographs(&["chelsea.png", "coffee.png", "astronaut.png"]);
    let patches = Demonstration::prepare(settings(), &training, &photographs(&["camera.png"])).unwrap();
    let pairs = SIZES.iter().flat_map(|&n_atoms| Method::ALL.map(|method| (method, n_atoms)));
    let trial = |(method, n_atoms)| Trial::run(&patches, method, n_atoms, Run::default()).unwrap();
    let trials = pairs.map(trial).collect();
    (patches, trials)
});

fn trials(keep: impl Fn(&Trial) -> bool) -> Vec<Trial> {
    SMALL.1.iter().filter(|trial| keep(trial)).cloned().collect()
}

fn outcomes() -> [Outcome; 3] {
    [
        fig1::outcome(&settings(), &trials(|trial| trial.method == Method::RandExAv)),
        fig2::outcome(&settings(), &trials(|_| true)),
        fig3::outcome(&settings(), &trials(|trial| trial.n_atoms == SIZES[1])),
    ]
}

fn squared_distance(one: &[f32], other: &[f32]) -> f64 {
    one.iter().zip(other).map(|(a, b)| f64::from(a - b).powi(2)).sum()
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-5 * expected, "{found} is not {expected}");
}

#[test]
fn what_must_hold_on_any_data_holds() {
    for outcome in outcomes() {
        let theorems: Vec<_> = outcome.statements.iter().filter(|statement| statement.claim.always).collect();
        assert!(!theorems.is_empty(), "{}", outcome.name);
        for theorem in theorems {
            assert!(theorem.holds, "{}: {} ({})", outcome.name, theorem.claim.words, theorem.evidence);
        }
    }
}

#[test]
fn a_statement_that_fails_is_told() {
    let mut broken = trials(|trial| trial.method == Method::RandExAv);
    broken[0].oracle_errors[3] = 0.5 * broken[0].oracle_errors[0];
    broken[1].oracle_errors[0] = 2.0 * broken[1].best_of_each;
    let statements = fig1::outcome(&settings(), &broken).statements;
    assert!(statements[..2].iter().all(|statement| !statement.holds));

    let mut broken = trials(|trial| trial.n_atoms == SIZES[0]);
    for trial in &mut broken {
        trial.errors = vec![1.0, 0.5, 0.4, 0.3, 0.25, 0.2];
    }
    let judged = |trials: &[Trial]| {
        let statements = fig3::outcome(&settings(), trials).statements;
        statements.iter().map(|statement| statement.holds).collect::<Vec<_>>()
    };
    assert_eq!(judged(&broken), [true; 4]);
    broken[0].errors[2] = 0.51;
    assert_eq!(judged(&broken), [true, false, true, true]);
    broken[1].errors[3] = 0.51;
    assert_eq!(judged(&broken), [false, false, true, true]);
    broken[2].errors = vec![1.0, 0.9, 0.8, 0.7, 0.6, 0.1];
    broken[1].training[3].error = broken[1].training[2].error + 1e-6;
    assert_eq!(judged(&broken), [false; 4]);

    broken[0].member_errors[4] = 0.9 * broken[0].error();
    broken[1].beta[0] += 0.01;
    let statements = fig2::outcome(&settings(), &broken).statements;
    assert!(!statements[0].holds && !statements[2].holds);
}

#[test]
fn the_error_of_an_ensemble_is_that_of_its_approximation() {
    let patches = &SMALL.0;
    let (examples, centers, coder) = (Examples { n_atoms: SIZES[0] }, Centers::new(SIZES[0]), Lasso::lambda(0.2));
    let boost = |learner| Boost { n_models: 6, seed: 1, ..Boost::new(learner, &coder) };
    let training = patches.training.view();
    let ensembles = [
        Averaging { n_models: 6, seed: 1, ..Averaging::new(&examples) }.fit(training, Run::default()).unwrap(),
        boost(&examples).fit(training, Run::default()).unwrap(),
        boost(&centers).fit(training, Run::default()).unwrap(),
    ];
    for (ensemble, trial) in ensembles.into_iter().zip(trials(|trial| trial.n_atoms == SIZES[0])) {
        for n_models in [6, 3, 1] {
            let error = mean_error(&ensemble_of(&ensemble, n_models), &patches.test);
            close(trial.errors[n_models - 1], error);
        }
        close(trial.member_errors[0], trial.errors[0]);
    }
}

/// The first models of an ensemble.
fn ensemble_of(ensemble: &Ensemble<f32>, n_models: usize) -> Ensemble<f32> {
    let copy = ensemble.degraded_by(&Identity::new(ensemble.n_features())).unwrap();
    copy.truncated(n_models).unwrap()
}

fn mean_error(ensemble: &Ensemble<f32>, test: &Matrix<f32>) -> f64 {
    let values = ensemble.approximate(test.view(), &Lasso::lambda(0.2), Run::default()).unwrap().values;
    (0..test.columns()).map(|i| squared_distance(test.column(i), values.column(i))).sum::<f64>() / test.columns() as f64
}

#[test]
fn oracle_weights_have_the_error_that_is_told_and_keep_the_bound() {
    let (patches, _) = &*SMALL;
    let (examples, coder) = (Examples { n_atoms: SIZES[0] }, Lasso::lambda(0.2));
    let averaging = Averaging { n_models: 6, seed: 1, ..Averaging::new(&examples) };
    let ensemble = averaging.fit(patches.training.view(), Run::default()).unwrap();
    let test = patches.test.view();
    let oracle = ensemble.oracle_weights(test, test, &WeightConstraint::ALL, &coder, Run::default()).unwrap();

    // The members' approximations by the coder itself.
    let members: Vec<Matrix<f32>> = ensemble
        .models()
        .iter()
        .map(|model| {
            let coding = coder.encode(model.basis(), &Samples::new(test), Run::default()).unwrap();
            coding.codes.approximate(model.synthesis().view()).unwrap()
        })
        .collect();
    let trial = &trials(|trial| trial.method == Method::RandExAv)[0];
    let mut sums = [0.0; 4];
    for i in 0..test.columns() {
        let x = patches.test.column(i);
        let least = members.iter().map(|member| squared_distance(x, member.column(i))).fold(f64::INFINITY, f64::min);
        for (sum, case) in sums.iter_mut().zip(&oracle) {
            let weighted = |row: usize| {
                members.iter().zip(case.beta.column(i)).map(|(c, beta)| beta * f64::from(c.column(i)[row])).sum::<f64>()
            };
            let error: f64 = x.iter().enumerate().map(|(row, &x)| (f64::from(x) - weighted(row)).powi(2)).sum();
            assert!(error <= least * (1.0 + 1e-6) + 1e-12, "patch {i}: {error} for {least}");
            *sum += error;
        }
    }
    for (sum, told) in sums.iter().zip(trial.oracle_errors) {
        close(told, sum / test.columns() as f64);
    }
}

#[test]
fn the_json_has_every_setting_and_number() {
    let [first, second, third] = outcomes();
    for outcome in [&first, &second, &third] {
        let json = outcome.json();
        assert_eq!(json["experiment"], outcome.name);
        assert_eq!(serde_json::from_value::<Settings>(json["results"]["settings"].clone()).unwrap(), settings());
        for statement in json["statements"].as_array().unwrap() {
            assert!(statement["holds"].is_boolean() && statement["place"].as_str().unwrap().starts_with('§'));
        }
        let table = &json["table"];
        let n_columns = table["headings"].as_array().unwrap().len();
        assert!(table["rows"].as_array().unwrap().iter().all(|row| row.as_array().unwrap().len() == n_columns));
        for trial in json["results"]["trials"].as_array().unwrap() {
            let trial: Trial = serde_json::from_value(trial.clone()).unwrap();
            assert_eq!([trial.beta.len(), trial.member_errors.len(), trial.errors.len()], [6; 3]);
            assert_eq!(trial.training.len(), if trial.method == Method::RandExAv { 0 } else { 6 });
            assert!(trial.n_training < 1500, "nearly flat patches are taken out");
        }
    }
    assert_eq!([first, second, third].map(|outcome| outcome.rows.len()), [2, 6, 6]);
}

#[test]
fn the_numbers_do_not_depend_on_the_threads() {
    let one = Trial::run(&SMALL.0, Method::BoostKm, SIZES[0], Run::threads(3)).unwrap();
    let other = trials(|trial| trial.method == Method::BoostKm).swap_remove(0);
    assert_eq!(Trial { seconds: 0.0, ..one }, Trial { seconds: 0.0, ..other });
}

#[test]
fn the_page_shows_every_experiment_and_the_plots_are_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("docs/page.md");
    let provenance =
        sparsemble_paper::Provenance { settings: settings(), command: "sparsemble paper".into(), quick: true };
    write_document(&path, &outcomes(), &provenance).unwrap();
    let page = std::fs::read_to_string(&path).unwrap();
    for name in ["fig1", "fig2", "fig3"] {
        assert!(page.contains(&format!("](figures/{name}.svg)")));
        let plot = std::fs::read_to_string(folder.path().join(format!("docs/figures/{name}.svg"))).unwrap();
        assert!(plot.starts_with("<svg ") && plot.ends_with("</svg>\n") && !plot.contains("NaN"));
    }
    assert!(page.contains("of the 11 statements checked here hold"));
    assert!(page.contains("| training patches drawn | 1500 |") && page.contains("**This was a quick run"));
    assert!(page.contains("| `clustering/*.csv` | ") && page.contains("- **Fig. 4**: "));
    // What was not run is said, and nothing else is said of it.
    assert!(page.contains("- **Table 3**: no part of this run.") && !page.contains("- **Clustering**"));
    assert!(!page.contains("- **Fig. 1**: no part"));
}

#[test]
fn the_real_data_gives_the_figures_and_finished_parts_are_not_repeated() {
    let data = repository().join("../shared/data");
    if !data.is_dir() {
        // Past the capture of the test runner, so that it is seen.
        let _ = writeln!(std::io::stderr(), "SKIPPED: the paper's data is not at {}", data.display());
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings { drawn_training_patches: 3000, test_patches: 60, n_models: 2, ..Settings::paper(1) };
    let request = Request {
        experiments: vec![Experiment::Fig1, Experiment::Fig3],
        data,
        parts: folder.path().join("parts"),
        settings,
        sensing: Sensing::quick(1),
        draws: 1,
        enlarging: Enlarging::quick(1),
        grouping: Grouping::quick(1),
        threads: 0,
    };
    let first = run(&request, &|_, _, _| ControlFlow::Continue(())).unwrap();
    for outcome in &first {
        let theorems = outcome.statements.iter().filter(|statement| statement.claim.always);
        assert!(theorems.clone().count() > 0 && theorems.clone().all(|theorem| theorem.holds), "{}", outcome.text());
    }
    // The second time everything is there: nothing is computed that could be watched.
    let second = run(&request, &|what, _, _| panic!("{what} was made again")).unwrap();
    assert_eq!(first, second);
}
