//! Table 3 in small, on the committed data, and on the real data where it is.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use serde_json::json;
use sparsemble::matrix_file::{LabelledSamples, read_labelled};
use sparsemble_paper::{
    Cells, Enlarging, Experiment, Grouped, Grouper, Grouping, Outcome, Request, Sensing, Settings, printed, run, table3,
};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn settings() -> Grouping {
    Grouping { runs: 3, halves: 2, n_members: 8, n_atoms: 12, ..Grouping::quick(1) }
}

/// The wines, called as a set of the table is.
fn wines() -> Vec<(String, LabelledSamples<f32>)> {
    vec![("Soybean".to_owned(), read_labelled(repository().join("data/wine.csv"), Some("kind")).unwrap())]
}

fn go_on(_: &str, _: usize, _: usize) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn outcome(settings: &Grouping, folder: &Path) -> (Vec<Grouped>, Outcome) {
    let mut cells = Cells::open(&folder.join("cells.jsonl"), &json!({ "seed": 1 })).unwrap();
    let cells = table3::fill(&mut cells, settings, &wines(), (1, &go_on)).unwrap();
    let outcome = table3::outcome(settings, &cells);
    (cells, outcome)
}

#[test]
fn every_method_finds_the_wines_better_than_chance() {
    let folder = tempfile::tempdir().unwrap();
    let (cells, _) = outcome(&settings(), folder.path());
    assert_eq!(cells.len(), Grouper::ALL.len());
    for cell in &cells {
        let halves =
            matches!(cell.method, Grouper::EnsembleHalves | Grouper::NeighboursHalves | Grouper::SearchedHalves);
        assert_eq!(cell.accuracies.len(), if halves { 2 } else { 3 }, "{:?}", cell.method);
        assert!(cell.accuracies.iter().all(|accuracy| (0.45..=1.0).contains(accuracy)), "{cell:?}");
        assert!(cell.information.iter().all(|information| (0.05..=1.0).contains(information)), "{cell:?}");
    }
    let ensemble = cells.iter().find(|cell| cell.method == Grouper::Ensemble).unwrap();
    assert!(ensemble.accuracies.iter().all(|accuracy| *accuracy > 0.9), "{ensemble:?}");
}

#[test]
fn the_table_shows_our_numbers_beside_the_printed_ones_and_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let (cells, first) = outcome(&settings(), folder.path());
    let rows = first.texts();
    let row = rows.iter().find(|row| row[1] == Grouper::BoostKm.name()).unwrap();
    let [most, average] = printed::ACCURACIES[1][3];
    assert!(row[2].ends_with(&format!("({average:.2})")) && row[3].ends_with(&format!("({most:.2})")), "{row:?}");
    assert!(first.statements.iter().any(|statement| statement.claim == printed::BETTER_THAN_NEIGHBOURS));
    assert!(first.plot.starts_with("<svg") && first.text().contains("Soybean"));

    let stop = |what: &str, _: usize, _: usize| -> ControlFlow<()> { panic!("{what} was made again") };
    let mut kept = Cells::open(&folder.path().join("cells.jsonl"), &json!({ "seed": 1 })).unwrap();
    assert_eq!(table3::fill(&mut kept, &settings(), &wines(), (1, &stop)).unwrap(), cells);
}

#[test]
fn the_real_data_gives_the_table() {
    let data = repository().join("../shared/data");
    if !data.is_dir() {
        // Past the capture of the test runner, so that it is seen.
        let _ = writeln!(std::io::stderr(), "SKIPPED: the paper's data is not at {}", data.display());
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let request = Request {
        experiments: vec![Experiment::Table3],
        data,
        parts: folder.path().join("parts"),
        settings: Settings::quick(1),
        sensing: Sensing::quick(1),
        draws: 1,
        enlarging: Enlarging::quick(1),
        grouping: Grouping::quick(1),
        threads: 0,
    };
    let found = run(&request, &go_on).unwrap();
    let cells: Vec<Grouped> = serde_json::from_value(found[0].results["cells"].clone()).unwrap();
    let of = |method: Grouper| cells.iter().find(|cell| cell.method == method).unwrap().accuracies.clone();
    // A floor far below the average of many runs, 66 per cent.
    assert!(of(Grouper::Ensemble).iter().all(|accuracy| *accuracy > 0.58), "{:?}", of(Grouper::Ensemble));
}
