//! `sparsemble cluster`.

use std::fmt::Write;
use std::fs;

use sparsemble::Matrix;
use sparsemble::matrix_file::{read_codes, write, write_arrays};

use crate::program::Program;

const COUNT: usize = 120;

/// Three bundles of directions in space, in turn.
fn sample(i: usize) -> [f64; 4] {
    let value = |r: usize| f64::from(u8::from(r == i % 3)) + 0.1 * ((7 * i + r) as f64).sin();
    [value(0), value(1), value(2), value(3)]
}

/// A folder with `table.csv`: four features, and which bundle each sample is of.
fn with_table() -> Program {
    let program = Program::new();
    let mut table = "a,b,kind,c,d\n".to_owned();
    for i in 0..COUNT {
        let [a, b, c, d] = sample(i);
        let kind = ["left", "right", "<b>up"][i % 3];
        let _ = writeln!(table, "{a},{b},{kind},{c},{d}");
    }
    fs::write(program.path("table.csv"), table).unwrap();
    program
}

fn clusters(program: &Program, name: &str) -> Vec<u32> {
    let text = String::from_utf8(program.bytes(name)).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("cluster"));
    lines.map(|line| line.parse().unwrap()).collect()
}

#[test]
fn bundles_are_found_and_scored_by_the_column_of_classes() {
    let program = with_table();
    let report = program.json("cluster table.csv -k 3 --label-column kind --seed 4 -o c.csv");
    assert_eq!((&report["n_samples"], &report["n_clusters"]), (&COUNT.into(), &3.into()));
    for score in ["accuracy", "nmi", "ari"] {
        assert!((report[score].as_f64().unwrap() - 1.0).abs() < 1e-12, "{report}");
    }
    for stage in ["preparation", "coding", "graph", "eigenvectors", "k-means"] {
        assert!(report["seconds"][stage].as_f64().unwrap() >= 0.0, "{report}");
    }
    let found = clusters(&program, "c.csv");
    assert_eq!(found.len(), COUNT);
    assert!((0..COUNT).all(|i| found[i] == found[i % 3]) && found[0] != found[1] && found[1] != found[2]);
    // By number, on one thread: the same bytes. The column is named by its place.
    program.succeed("cluster table.csv -k 3 --label-column 3 --seed 4 --threads 1 -o same.csv");
    assert_eq!(program.bytes("same.csv"), program.bytes("c.csv"));
}

#[test]
fn every_method_and_format_is_understood() {
    let program = with_table();
    let samples = Matrix::from_fn(4, COUNT, |r, i| sample(i)[r] as f32);
    let classes = Matrix::from_fn(1, COUNT, |_, i| (i % 3) as f32);
    write(program.path("samples.npy"), samples.view()).unwrap();
    write_arrays(program.path("both.npz"), &[("x", samples.view()), ("y", classes.view())]).unwrap();
    for method in [
        "ensemble:members=5,sharpness=2",
        "boost-km:members=5",
        "boost-ex:members=5",
        "rand-ex-av:members=5",
        "l1:lambda=0.2",
        "elastic-net:lambda=0.2,ridge=0.1",
        "omp:sparsity=2",
        "alt-opt:atoms=6",
        "neighbours:count=5",
    ] {
        let report =
            program.json(&format!("cluster both.npz:x --label-column y -k 3 --method {method} --force -o c.csv"));
        // Two terms of a pursuit join a sample to hardly anyone: that is as it is.
        assert!(report["accuracy"].as_f64().unwrap() > if method.starts_with("omp") { 0.3 } else { 0.9 }, "{report}");
        assert_eq!(report["method"].as_str().unwrap(), method);
    }
    let (_, warnings) = program.succeed("cluster samples.npy -k auto -o auto.csv");
    assert!(warnings.contains("is a guess") && warnings.contains("the next widest after"), "{warnings}");
    let report = program.json("cluster samples.npy -k auto --force -o auto.csv");
    assert_eq!(report["guesses"][0], report["n_clusters"]);
}

#[test]
fn the_graph_and_the_page_are_written() {
    let program = with_table();
    program.succeed("cluster table.csv -k 3 --label-column kind --save-graph g.npz --report r.html -o c.csv");
    let graph = read_codes::<f32>(program.path("g.npz")).unwrap();
    assert_eq!((graph.n_atoms(), graph.n_samples()), (COUNT, COUNT));
    let page = String::from_utf8(program.bytes("r.html")).unwrap();
    for part in [
        "<svg",
        "data:image/png;base64,",
        "&lt;b&gt;up",
        "<span>cluster</span> <span>table.csv</span> <span>-k</span>",
        "id=\"eigenvalues\"",
        "id=\"classes\"",
        "How many samples of each class are in each cluster",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("<b>up") && !page.contains("http:") && !page.contains("https:"));
}

#[test]
fn every_method_clusters_wine_without_settings() {
    let program = Program::new();
    let wine = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/wine.csv");
    fs::copy(wine, program.path("wine.csv")).unwrap();
    for method in
        ["ensemble", "boost-km", "boost-ex", "rand-ex-av", "l1", "elastic-net", "omp", "alt-opt", "neighbours"]
    {
        let report =
            program.json(&format!("cluster wine.csv --label-column kind -k 3 --method {method} --force -o c.csv"));
        // Samples that a pursuit codes by each other hang together by chance where there are no subspaces.
        assert!(report["accuracy"].as_f64().unwrap() > if method == "omp" { 0.3 } else { 0.6 }, "{report}");
        assert!(report["method"].as_str().unwrap().starts_with(method), "{report}");
    }
}

#[test]
fn without_a_name_the_clusters_go_beside_the_samples() {
    let program = with_table();
    let report = program.json("cluster table.csv -k 3 --label-column kind");
    assert_eq!(report["output"], "table_clusters.csv");
    assert_eq!(clusters(&program, "table_clusters.csv").len(), COUNT);
    let line = program.fail("cluster table.csv -k 3 --label-column kind", 1);
    assert!(line.contains("table_clusters.csv") && line.contains("--force"), "{line}");
}

#[test]
fn columns_that_are_hardly_features_are_told() {
    let program = Program::new();
    let mut table = ",a,b,digit\n".to_owned();
    for i in 0..COUNT {
        let [a, b, ..] = sample(i);
        let _ = writeln!(table, "{i},{a},{b},{}", i % 3);
    }
    fs::write(program.path("pandas.csv"), table).unwrap();
    let (_, said) = program.succeed("cluster pandas.csv -k 3");
    assert!(said.contains("the first column has no name") && said.contains("--label-column digit"), "{said}");
    let (_, said) = program.succeed("cluster pandas.csv -k 3 --label-column digit -o c.csv");
    assert!(!said.contains("--label-column"), "{said}");
}

#[test]
fn equal_samples_are_merged_and_get_the_same_cluster() {
    let program = Program::new();
    let rows: String = (0..COUNT).map(|i| sample(i / 2 * 2)).fold(String::new(), |mut rows, [a, b, c, d]| {
        let _ = writeln!(rows, "{a},{b},{c},{d}");
        rows
    });
    fs::write(program.path("twice.csv"), rows).unwrap();
    let report = program.json("cluster twice.csv -k 3 -o c.csv");
    assert_eq!((&report["n_samples"], &report["n_different"]), (&COUNT.into(), &(COUNT / 2).into()));
    let found = clusters(&program, "c.csv");
    assert!((0..COUNT).step_by(2).all(|i| found[i] == found[i + 1]));
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_written() {
    let program = with_table();
    fs::write(program.path("hole.csv"), "1,2\n3,\n").unwrap();
    fs::write(program.path("nan.csv"), "1,2\n3,nan\n5,6\n").unwrap();
    fs::write(program.path("inf.csv"), "kind,a,b\nx,1,2\ny,3,4\nx,5,inf\n").unwrap();
    fs::write(program.path("photo.png"), b"\x89PNG\r\n\x1a\n\0\0\0").unwrap();
    fs::write(program.path("photo.csv"), b"\x89PNG\r\n\x1a\n\0\0\0").unwrap();
    fs::write(program.path("text.csv"), "A page\nof many words\n").unwrap();
    fs::write(program.path("same.csv"), "1,2\n1,2\n1,2\n").unwrap();
    fs::write(program.path("one.csv"), "1,2\n").unwrap();
    let before = program.files();
    for (words, code, says) in [
        ("cluster table.csv -k 3 -o c.csv", 1, "\"left\" is not a number"),
        ("cluster table.csv -k 3 --label-column sort -o c.csv", 1, "the header has \"a\", \"b\", \"kind\""),
        ("cluster table.csv -k 3 --label-column kind -o c.npy", 1, ".csv"),
        ("cluster table.csv -k 500 --label-column kind -o c.csv", 1, "500"),
        ("cluster hole.csv -k 2 -o c.csv", 1, "line 2, column 2: the value is missing"),
        (
            "cluster nan.csv -k 2 -o c.csv",
            1,
            "nan.csv: row 2 of the samples, feature 2: NaN or infinite; give a number",
        ),
        ("cluster inf.csv -k 2 --label-column kind -o c.csv", 1, "inf.csv: row 3 of the samples, column \"b\": NaN"),
        ("cluster photo.png -k 2 -o c.csv", 1, "photo.png: this is no matrix file; give .npy"),
        ("cluster photo.csv -k 2 -o c.csv", 1, "photo.csv: "),
        ("cluster text.csv -k 2 -o c.csv", 1, "text.csv: line 2, column 1: \"of\" is not a number"),
        ("cluster same.csv -k 2 -o c.csv", 1, "samples"),
        ("cluster one.csv -k 1 -o c.csv", 1, "needed 2"),
        ("cluster nowhere.csv -k 2 -o c.csv", 1, "nowhere.csv"),
        ("cluster table.csv -k 3 --label-column kind --save-graph g.txt -o c.csv", 2, "must end in .npz"),
        ("cluster table.csv -k 3 --label-column kind --form implicit --save-graph g.npz", 2, "--form implicit"),
        ("cluster table.csv -k 3 --label-column kind --form implicit --report r.html", 2, "--form implicit"),
        ("cluster table.csv -k 3 --label-column kind --method l2 -o c.csv", 2, ""),
        ("cluster table.csv -k 3 --label-column kind --method elastic-net:ridge=1 -o c.csv", 2, ""),
        ("cluster table.csv -k 0 -o c.csv", 2, ""),
        ("cluster table.csv -k 3 --label-column kind -o table.csv --force", 2, "is read"),
        ("cluster table.csv -k 3 --label-column kind --report ./c.csv -o c.csv", 2, "--report and --output"),
        ("cluster table.csv -k 3 -o c.csv", 1, "--label-column"),
    ] {
        if says.is_empty() {
            assert_eq!(program.run(words).status.code(), Some(code), "{words}");
        } else {
            let line = program.fail(words, code);
            assert!(line.contains(says), "{words}: {line}");
        }
    }
    assert_eq!(program.files(), before);
    fs::write(program.path("label.csv"), "a,b,label\n1,2,0\n2,1,1\n3,6,0\n6,3,1\n").unwrap();
    let (_, warning) = program.succeed("cluster label.csv -k 2 -o c.csv");
    assert!(warning.contains("add --label-column label"), "{warning}");
}
