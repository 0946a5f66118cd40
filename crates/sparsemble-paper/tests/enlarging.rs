//! Table 2 and Figs. 6 and 7 in small, on the committed photographs, and on the real data where it is.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::cell::RefCell;
use std::fs;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use serde_json::json;
use sparsemble::image::{self, GrayImage, Size};
use sparsemble::matrix_file::write_arrays;
use sparsemble::metrics::psnr;
use sparsemble::model_file::{self, Record};
use sparsemble::{Matrix, Run};
use sparsemble_paper::fig6::Timing;
use sparsemble_paper::table2::Enlarged;
use sparsemble_paper::{
    Cells, Enlarger, Enlarging, Experiment, Grouping, Outcome, PHOTOGRAPH, Parts, Request, Sensing, Settings,
    SuperResolution, Trained, fig6, fig7, printed, run, table2,
};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn photograph(name: &str) -> GrayImage {
    image::read(repository().join("data/cc0").join(name)).unwrap()
}

fn settings() -> Enlarging {
    Enlarging { drawn_pairs: 4000, n_atoms: 200, n_examples: 500, n_models: 4, iterations: 2, ..Enlarging::quick(1) }
}

fn training() -> [GrayImage; 2] {
    ["chelsea.png", "coffee.png"].map(photograph)
}

/// Parts of a photograph that no model was trained on, called as two pictures of the table are.
fn pictures() -> Vec<(String, GrayImage)> {
    let part = |name: &str, origin| {
        let size = Size { width: 72, height: 60 };
        (name.to_owned(), photograph("camera.png").cropped(origin, size).unwrap())
    };
    vec![part("House", (80, 190)), part("Girl", (120, 260))]
}

/// Training pairs in the form of Yang et al.'s file: a row for each feature, and patches down their columns.
fn dictionary(folder: &Path, settings: &Enlarging) -> PathBuf {
    let pairs = settings.pairs(&training(), Run::default()).unwrap();
    let turned = |index: usize| index / 25 * 25 + index % 5 * 5 + index / 5 % 5;
    let part = |first: usize, rows: usize| {
        Matrix::from_fn(200, rows, |atom, feature| pairs.samples().column(10 * atom)[first + turned(feature)])
    };
    let path = folder.join("dictionary.npz");
    write_arrays(&path, &[("Dh", part(0, 25).view()), ("Dl", part(25, 100).view())]).unwrap();
    path
}

fn work(folder: &Path) -> SuperResolution {
    let parts = Parts::new(&folder.join("parts"));
    SuperResolution::prepare(settings(), training().to_vec(), dictionary(folder, &settings()), parts).unwrap()
}

fn go_on(_: &str, _: usize, _: usize) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

#[test]
fn every_method_enlarges_better_than_bicubic() {
    let folder = tempfile::tempdir().unwrap();
    let mut cells = Cells::open(&folder.path().join("cells"), &json!({})).unwrap();
    let cells = table2::fill(&mut cells, &mut work(folder.path()), &pictures(), (0, &go_on)).unwrap();
    assert_eq!(cells.len(), 2 * Enlarger::ALL.len());
    for (name, _) in pictures() {
        let of =
            |method: Enlarger| cells.iter().find(|cell| cell.picture == name && cell.method == method).unwrap().psnr;
        for method in &Enlarger::ALL[1..] {
            assert!(of(*method) > of(Enlarger::Bicubic) + 0.5, "{name}, {}: {}", method.name(), of(*method));
        }
    }
}

#[test]
fn a_stopped_table_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let open = |name: &str| Cells::open(&folder.path().join(name), &json!({ "seed": 1 })).unwrap();
    let mut work = work(folder.path());
    let whole = table2::fill(&mut open("whole"), &mut work, &pictures(), (1, &go_on)).unwrap();
    let last = "RandExAv, Girl";
    let stop = |what: &str, _: usize, _: usize| {
        if what == last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    assert!(table2::fill(&mut open("stopped"), &mut work, &pictures(), (1, &stop)).is_err());
    let made = RefCell::new(Vec::new());
    let note = |what: &str, _: usize, _: usize| {
        if made.borrow().last().is_none_or(|last: &String| last != what) {
            made.borrow_mut().push(what.to_owned());
        }
        ControlFlow::Continue(())
    };
    let resumed = table2::fill(&mut open("stopped"), &mut work, &pictures(), (1, &note)).unwrap();
    assert_eq!(made.into_inner(), [last, "RandExAv, aligned pairs, House", "RandExAv, aligned pairs, Girl"]);
    let numbers = |cells: &[Enlarged]| cells.iter().map(|cell| (cell.method, cell.psnr)).collect::<Vec<_>>();
    assert_eq!(numbers(&resumed), numbers(&whole));
}

/// A table of these numbers.
fn table(quality: impl Fn(usize, Enlarger) -> f64) -> Outcome {
    let cells = printed::ENLARGED_PICTURES.iter().enumerate().flat_map(|(row, (name, _))| {
        let quality = &quality;
        Enlarger::ALL.into_iter().map(move |method| Enlarged {
            picture: (*name).to_owned(),
            method,
            psnr: quality(row, method),
            seconds: 1.0,
        })
    });
    table2::outcome(&Enlarging::paper(1), &cells.collect::<Vec<_>>())
}

/// The paper's own numbers, and for other methods a decibel more than bicubic.
fn as_printed(row: usize, method: Enlarger) -> f64 {
    method.printed().map_or(printed::TABLE_2[row][0] + 1.0, |column| printed::TABLE_2[row][column])
}

#[test]
fn the_table_shows_our_numbers_beside_the_printed_ones() {
    let outcome = table(|row, method| as_printed(row, method) + if row == 3 { 0.04 } else { 0.0 });
    let rows = outcome.texts();
    assert_eq!(rows.len(), 6 + 2);
    assert!(rows.iter().all(|row| row.len() == outcome.headings.len()));
    assert_eq!(outcome.headings[..3], ["picture", "Bicubic", "Bicubic + back-projection"]);
    assert_eq!(rows[0][..3], ["Lena", "34.10 (34.10)", "35.10"]);
    assert_eq!(rows[3][8], "27.75 (27.71)");
    assert_eq!(rows[7][8], "+0.01, at most 0.04");
    assert_eq!(rows[7][2], "–");
    assert_eq!(rows[6][1], format!("{:.2} (30.19)", 30.19 + 0.04 / 6.0));
    assert!(outcome.caption.contains("% of the gain of RandExAv"), "{}", outcome.caption);
    let holds: Vec<bool> = outcome.statements.iter().map(|statement| statement.holds).collect();
    assert_eq!(holds, [false, true, true, true, true, true, true]);
}

#[test]
fn a_statement_that_fails_is_told() {
    let judged = |method: Enlarger, by: f64| {
        let outcome = table(|row, one| as_printed(row, one) + if one == method && row == 5 { by } else { 0.0 });
        outcome.statements.iter().map(|statement| statement.holds).collect::<Vec<_>>()
    };
    assert_eq!(judged(Enlarger::RandExAv, 0.07), [true; 7]);
    assert_eq!(judged(Enlarger::RandExAv, -0.09), [true, true, true, true, true, false, true]);
    assert_eq!(judged(Enlarger::BoostKm, 0.09), [true; 7]);
    assert_eq!(judged(Enlarger::BoostEx, 0.09), [true, true, true, false, true, true, true]);
    assert_eq!(judged(Enlarger::ExDict, 0.9), [true, true, false, true, true, true, false]);
    assert_eq!(judged(Enlarger::PairDictOfYang, 0.9), [true; 7]);
    assert!(!judged(Enlarger::Bicubic, f64::NAN)[0]);
}

#[test]
fn a_kept_model_is_the_trained_one_and_other_settings_train_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let small = Enlarging { n_models: 2, n_atoms: 32, drawn_pairs: 1000, ..settings() };
    let work = |settings: &Enlarging| {
        let parts = Parts::new(folder.path());
        SuperResolution::prepare(settings.clone(), training().to_vec(), "nowhere".into(), parts).unwrap()
    };
    let trained = work(&small).learned(Enlarger::BoostEx, Run::default()).unwrap();
    let never = |_: usize, _: usize| -> ControlFlow<()> { panic!("it is there") };
    let again = |settings: &Enlarging, run: Run<'_>| work(settings).learned(Enlarger::BoostEx, run).unwrap();
    // What is done with a model does not change its training.
    let other_use = Enlarging { contrast: 1.0, lambda: 0.5, pictures: Vec::new(), ..small.clone() };
    let bytes = |trained: &Trained| model_file::encode(&trained.model, &Record::default()).unwrap();
    let kept = again(&other_use, Run::default().on_progress(&never));
    assert_eq!((bytes(&kept), kept.seconds.to_bits()), (bytes(&trained), trained.seconds.to_bits()));
    assert_ne!(bytes(&again(&Enlarging { seed: 2, ..small.clone() }, Run::default())), bytes(&trained));
    for path in fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()) {
        if path.extension().is_some_and(|ending| ending == "safetensors") {
            fs::write(path, "damaged").unwrap();
        }
    }
    assert_eq!(bytes(&again(&small, Run::default())), bytes(&trained));
}

#[test]
fn the_figure_has_every_panel_and_only_the_free_photograph_on_the_page() {
    let folder = tempfile::tempdir().unwrap();
    let named: Vec<_> =
        pictures().into_iter().zip(["Man", PHOTOGRAPH.0]).map(|((_, it), name)| (name.into(), it)).collect();
    let enlarged = fig7::enlarge(&mut work(folder.path()), &named, (0, &go_on)).unwrap();
    let outcome = fig7::outcome(&settings(), &enlarged).unwrap();
    assert_eq!(outcome.rows.len(), fig7::METHODS.len() + 1);
    assert_eq!(outcome.plot.matches("<image ").count(), 2 + fig7::METHODS.len() + 1);
    let (name, png) = &outcome.files[3];
    assert_eq!(name, "fig7-man-pairdict.png");
    let told = &outcome.rows[1][1].ours;
    assert!((psnr(&named[0].1, &image::decode(png).unwrap()).unwrap() - told.parse::<f64>().unwrap()).abs() < 0.006);
    assert!(outcome.rows[1][1].text().ends_with(" (27.78)"));
    assert!(!outcome.plot.contains(&format!("PairDict ({told} dB)")));
    // The model inside the program is better than these small ones.
    assert!(outcome.statements[1].holds, "{}", outcome.statements[1].evidence);
    let mut broken = enlarged;
    broken.iter_mut().filter(|one| one.by == "ExDict").for_each(|one| one.psnr = Some(20.0));
    assert!(!fig7::outcome(&settings(), &broken).unwrap().statements[0].holds);
}

#[test]
fn times_are_told_and_their_order_is_judged() {
    let small = Enlarging { n_models: 1, iterations: 1, n_atoms: 32, ..settings() };
    let sizes = fig6::sizes(&small);
    assert_eq!(sizes.iter().map(|size| size.drawn_pairs).collect::<Vec<_>>(), [500, 1000, 2000, 4000]);
    let folder = tempfile::tempdir().unwrap();
    let parts = Parts::new(folder.path());
    let work = SuperResolution::prepare(small.clone(), training().to_vec(), "nowhere".into(), parts).unwrap();
    let timing = fig6::time(&sizes[0], Enlarger::BoostKm, &work, (1, &go_on)).unwrap();
    assert!((100..=500).contains(&timing.n_samples) && timing.seconds > 0.0);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    // What Table 2 needs, too, is trained once, and its time is remembered.
    let whole = fig6::time(&sizes[3], Enlarger::BoostKm, &work, (1, &go_on)).unwrap();
    let never = |_: &str, _: usize, _: usize| -> ControlFlow<()> { panic!("it is there") };
    assert_eq!(fig6::time(&sizes[3], Enlarger::BoostKm, &work, (1, &never)).unwrap(), whole);

    let outcome = |times: [f64; 4]| {
        let timings = [1000, 2000].into_iter().flat_map(|n_samples| {
            fig6::METHODS.into_iter().zip(times).map(move |(method, seconds)| Timing { method, n_samples, seconds })
        });
        fig6::outcome(&Enlarging::paper(1), &timings.collect::<Vec<_>>())
    };
    let judged = |times| outcome(times).statements.iter().map(|statement| statement.holds).collect::<Vec<_>>();
    // PairDict, BoostEx, BoostKM, RandExAv.
    assert_eq!(judged([2.0, 1.0, 3.0, 0.005]), [true, true]);
    assert_eq!(judged([4.0, 1.0, 3.0, 0.02]), [false, false]);
    let outcome = outcome([2.0, 1.0, 3.0, 0.005]);
    assert_eq!(outcome.texts()[1], ["2000", "2.0", "1.0", "3.0", "0.005"]);
}

#[test]
fn the_real_data_gives_the_table_and_finished_cells_are_not_repeated() {
    let data = repository().join("../shared/data");
    if !data.is_dir() {
        // Past the capture of the test runner, so that it is seen.
        let _ = writeln!(std::io::stderr(), "SKIPPED: the paper's data is not at {}", data.display());
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let request = |enlarging: Enlarging| Request {
        experiments: vec![Experiment::Table2, Experiment::Fig6],
        data: data.clone(),
        parts: folder.path().join("parts"),
        settings: Settings::quick(1),
        sensing: Sensing::quick(1),
        draws: 1,
        enlarging: Enlarging { pictures: vec!["Cameraman".into()], ..enlarging },
        grouping: Grouping::quick(1),
        threads: 0,
    };
    let small = Enlarging { n_models: 2, iterations: 1, n_atoms: 64, n_examples: 200, ..settings() };
    let first = run(&request(small.clone()), &go_on).unwrap();
    assert_eq!((first[0].rows.len(), first[1].rows.len()), (1 + 2, 4));
    let second = run(&request(small.clone()), &|what, _, _| panic!("{what} was made again")).unwrap();
    assert_eq!(first, second);
    let error = run(&request(Enlarging { contrast: 1.0, ..small }), &go_on).unwrap_err().to_string();
    assert!(error.contains("other settings (contrast)"), "{error}");
}
