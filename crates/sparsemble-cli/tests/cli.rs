//! The real program in a temporary folder: exit codes, messages, and the files it leaves.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use sparsemble::Run;
use sparsemble::image::{Size, read, read_picture};
use sparsemble::metrics::{Protocol, Quality};

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

/// The figures of the demo: for each task our PSNR and that of the baseline, then the accuracies.
fn figures(results: &Value) -> Vec<(f64, f64)> {
    let psnr = |answer: &Value| answer["psnr"].as_f64().unwrap();
    let pictures = results["pictures"].as_array().unwrap().iter();
    let digits = &results["digits"];
    pictures
        .map(|task| (psnr(&task["answers"][2]), psnr(&task["answers"][1])))
        .chain([(digits["accuracy"].as_f64().unwrap(), digits["accuracy_of_k_means"].as_f64().unwrap())])
        .collect()
}

#[test]
fn the_demo_beats_its_baselines_and_writes_pictures_that_match_its_table() {
    let folder = tempfile::tempdir().unwrap();
    let output = sparsemble(folder.path(), &["demo"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let table = text(&output.stdout);
    assert!(table.lines().all(|line| line.chars().count() < 80), "{table}");
    assert!(table.ends_with("\nOpen sparsemble-demo/index.html to see the pictures.\n"), "{table}");

    let written = folder.path().join("sparsemble-demo");
    let results: Value =
        serde_json::from_str(&fs::read_to_string(written.join("sparsemble-demo.json")).unwrap()).unwrap();
    for ((ours, baseline), least) in figures(&results).into_iter().zip([0.5, 1.5, 2.0, 3.0, 0.05]) {
        assert!(ours > baseline + least, "{ours} for {baseline}: {table}");
    }
    for task in results["pictures"].as_array().unwrap() {
        let name = |value: &Value| written.join(value.as_str().unwrap());
        let original = read_picture(name(&task["original"])).unwrap();
        for (place, answer) in task["answers"].as_array().unwrap().iter().enumerate() {
            let picture = read_picture(name(&answer["file"])).unwrap();
            let (protocol, shave) =
                if task["task"] == "enlarge" { (Protocol::Brightness, 2) } else { (Protocol::Colours, 0) };
            let measured = Quality::of(&original, &picture, protocol, shave, Run::default()).unwrap().psnr;
            assert!((measured - answer["psnr"].as_f64().unwrap()).abs() < 1e-9);
            // What it was before is seen on the page.
            assert!(place == 0 || table.contains(&format!("{measured:.2} dB")), "{measured}: {table}");
        }
    }
    assert_eq!(read(written.join("enlarge-small.png")).unwrap().size(), Size { width: 225, height: 150 });
    let page = fs::read_to_string(written.join("index.html")).unwrap();
    assert_eq!(page.matches("<figure class=\"layer\"").count(), 16);
    assert_eq!(page.matches("alt=\"Mosaic of Cluster ").count(), 10);
    // With the colon, which the letters of a picture do not have.
    assert!(!page.contains("http:") && !page.contains("https:"), "the page must not fetch anything");

    // Into a folder with other files by force, on one thread: the same figures.
    assert!(table.contains(" points\n"), "a difference of shares is in points: {table}");
    let site = folder.path().join("deep/site");
    fs::create_dir_all(&site).unwrap();
    fs::write(site.join("notes.txt"), "mine").unwrap();
    let words = ["demo", "--json", "--threads", "1", "--force", "--output", "deep/site"];
    let again: Value = serde_json::from_slice(&sparsemble(folder.path(), &words).stdout).unwrap();
    assert_eq!(figures(&again), figures(&results));
    assert_eq!((&again["threads"], &again["output"]), (&1.into(), &"deep/site".into()));
    assert!(site.join("index.html").is_file());
    assert_eq!(fs::read_to_string(site.join("notes.txt")).unwrap(), "mine");
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
fn a_folder_is_not_ours_because_a_file_in_it_is_called_so() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("sparsemble-demo.json"), "{\"program\": \"another\"}").unwrap();
    assert!(failure(&sparsemble(folder.path(), &["demo", "--output", "."])).contains("holds other files"));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn a_demo_that_is_stopped_leaves_nothing() {
    use std::process::Stdio;
    use std::time::{Duration, Instant};

    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_sparsemble"));
    let command = command.args(["demo", "--threads", "1"]).current_dir(folder.path());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(start.elapsed() < Duration::from_mins(1), "it does not end");
        std::thread::sleep(Duration::from_millis(300));
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    }
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
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
