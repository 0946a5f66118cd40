//! The real program in a temporary folder: exit codes, messages, and the files it leaves.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use sparsemble::image::{Size, read};
use sparsemble::metrics::psnr;

const CODERS: [&str; 10] = [
    "1-sparse",
    "OMP, 5 atoms",
    "OMP, 10 atoms",
    "ORMP, 10 atoms",
    "lasso, λ = 0.1",
    "lasso, λ = 0.04",
    "Alt-Opt, λ = 0.04",
    "RandExAv, 10 × 1-sparse",
    "BoostEx, 10 × 1-sparse",
    "BoostKM, 10 × 1-sparse",
];

fn sparsemble(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sparsemble")).args(arguments).current_dir(folder).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// The one line a failure prints.
fn failure(output: &Output) -> &str {
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    let line = text(&output.stderr).strip_prefix("error: ").unwrap().strip_suffix('\n').unwrap();
    assert!(!line.contains('\n'), "{line}");
    line
}

#[test]
fn the_demo_prints_a_table_and_writes_pictures_that_match_it() {
    let folder = tempfile::tempdir().unwrap();
    let output = sparsemble(folder.path(), &["demo"]);
    assert!(output.status.success(), "{}", text(&output.stderr));

    let table = text(&output.stdout);
    let row = |coder: &str| table.lines().find(|line| line.starts_with(&format!("{coder:24}"))).unwrap();
    let figure = |coder: &str, column: usize| {
        let cells = row(coder).chars().skip(24).collect::<String>();
        cells.split_whitespace().nth(column).unwrap().parse::<f64>().unwrap()
    };
    assert!(table.ends_with("\nOpen sparsemble-demo/index.html to see the pictures.\n"), "{table}");

    let written = folder.path().join("sparsemble-demo");
    let results: Value =
        serde_json::from_str(&fs::read_to_string(written.join("sparsemble-demo.json")).unwrap()).unwrap();
    let original = read(written.join("original.png")).unwrap();
    assert_eq!(original.size(), Size { width: 512, height: 512 });
    for (coder, result) in CODERS.iter().zip(results["results"].as_array().unwrap()) {
        assert_eq!(result["coder"], *coder);
        let picture = read(written.join(result["file"].as_str().unwrap())).unwrap();
        let measured = psnr(&original, &picture).unwrap();
        assert!((measured - result["psnr"].as_f64().unwrap()).abs() < 1e-9);
        assert!((measured - figure(coder, 1)).abs() <= 0.005 + 1e-9);
        assert!((26.0..50.0).contains(&measured), "{coder}: {measured} dB");
    }
    assert_eq!(read(written.join("alt-opt-atoms.png")).unwrap().size(), Size { width: 145, height: 145 });

    // More freedom, less error: what the coders promise each other.
    assert!(figure("OMP, 10 atoms", 1) > figure("OMP, 5 atoms", 1));
    assert!(figure("OMP, 5 atoms", 1) > figure("1-sparse", 1));
    assert!(figure("lasso, λ = 0.04", 1) > figure("lasso, λ = 0.1", 1));
    assert!(figure("RandExAv, 10 × 1-sparse", 1) > figure("1-sparse", 1));
    assert!(figure("Alt-Opt, λ = 0.04", 1) > figure("lasso, λ = 0.04", 1));
    assert!(figure("BoostKM, 10 × 1-sparse", 1) > figure("1-sparse", 1));
    assert!(figure("1-sparse", 0) <= 1.0 && figure("OMP, 10 atoms", 0) <= 10.0);

    let page = fs::read_to_string(written.join("index.html")).unwrap();
    assert_eq!(page.matches("src=\"data:image/png;base64,").count(), CODERS.len() + 4);
    // With the colon, which the letters of a picture do not have.
    assert!(!page.contains("http:") && !page.contains("https:"), "the page must not fetch anything");
}

#[test]
fn other_peoples_files_are_not_written_over_without_force() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("index.html"), "mine").unwrap();
    let output = sparsemble(folder.path(), &["demo", "--output", "."]);
    assert_eq!(
        failure(&output),
        "the folder . holds other files; choose another with --output DIR or add --force to write into it"
    );
    assert_eq!(fs::read_to_string(folder.path().join("index.html")).unwrap(), "mine");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn json_is_one_object_and_does_not_depend_on_the_threads() {
    let folder = tempfile::tempdir().unwrap();
    let site = folder.path().join("deep/site");
    let run = |arguments: &[&str]| {
        let output = sparsemble(folder.path(), &[&["demo", "--json", "--output", "deep/site"], arguments].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    fs::create_dir_all(&site).unwrap();
    fs::write(site.join("notes.txt"), "mine").unwrap();
    let one = run(&["--threads", "1", "--force"]);
    // The folder now holds an earlier demo: no force is needed.
    let three = run(&["--threads", "3"]);

    assert_eq!((&one["threads"], &three["threads"]), (&1.into(), &3.into()));
    assert_eq!(one["output"], "deep/site");
    assert_eq!((&one["n_samples"], &one["n_atoms"]), (&16129.into(), &256.into()));
    assert_eq!(one["results"].as_array().unwrap().len(), CODERS.len());
    for (a, b) in one["results"].as_array().unwrap().iter().zip(three["results"].as_array().unwrap()) {
        for figure in ["coder", "atoms_per_patch", "psnr", "worst_gap", "unconverged"] {
            assert_eq!(a[figure], b[figure], "{figure}");
        }
        assert!(a["seconds"].as_f64().unwrap() > 0.0 && a["patches_per_second"].as_f64().unwrap() > 0.0);
    }
    assert!(site.join("index.html").is_file());
    assert_eq!(fs::read_to_string(site.join("notes.txt")).unwrap(), "mine");
}

#[test]
fn a_file_in_the_place_of_the_folder_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("taken"), "mine").unwrap();
    for path in ["taken", "taken/inside"] {
        let output = sparsemble(folder.path(), &["demo", "--output", path]);
        assert!(failure(&output).contains("choose another with --output DIR"), "{path}");
    }
    assert_eq!(fs::read_to_string(folder.path().join("taken")).unwrap(), "mine");
}

#[test]
fn wrong_usage_exits_with_2_and_says_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, message) in [
        (&["demo", "--threads", "many"][..], "invalid value 'many' for '--threads <N>'"),
        (&["demo", "--thread", "2"], "unexpected argument '--thread' found"),
        (&["demo", "here"], "unexpected argument 'here' found"),
        (&["dmo"], "unrecognized subcommand 'dmo'"),
        (&[], "Usage: sparsemble <COMMAND>"),
    ] {
        let output = sparsemble(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(text(&output.stderr).contains(message), "{arguments:?}: {}", text(&output.stderr));
        assert!(output.stdout.is_empty());
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn help_and_version_succeed() {
    let folder = tempfile::tempdir().unwrap();
    let version = sparsemble(folder.path(), &["--version"]);
    assert!(version.status.success());
    assert_eq!(text(&version.stdout), format!("sparsemble {}\n", env!("CARGO_PKG_VERSION")));
    let help = sparsemble(folder.path(), &["demo", "--help"]);
    assert!(help.status.success());
    for option in ["--output <DIR>", "--threads <N>", "--json", "--force"] {
        assert!(text(&help.stdout).contains(option), "{option}");
    }
}
