//! `sparsemble paper` as typed: what it refuses, and how it is stopped. What it computes is tested in `crates/sparsemble-paper`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::process::{Command, Output};

fn paper(arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_sparsemble"));
    command.arg("paper").args(arguments).current_dir(folder.path()).output().unwrap()
}

#[test]
fn a_missing_data_folder_is_named() {
    let output = paper(&["fig1", "--data", "nowhere"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "error: there is no data folder nowhere; name it with --data DIR\n"
    );
}

#[test]
fn wrong_usage_is_refused() {
    for arguments in [
        &["--data", "."][..],
        &["fig1"],
        &["fig9", "--data", "."],
        &["table1", "--data", ".", "--draws", "0"],
        &["table1", "--data", ".", "--means", "none"],
        &["table1", "--data", ".", "--projection", "haar"],
        &["--data", ".", "--report", "page.html"],
    ] {
        assert_eq!(paper(arguments).status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn a_data_folder_that_is_not_complete_is_told_before_anything_is_computed() {
    let output = paper(&["fig6", "table3", "--data", "."]);
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        message,
        "error: the data folder . is not complete: fig6 lacks images/train91/SCSR69.txt; table3 lacks \
         clustering/digits_pendigits10992.csv, clustering/soybean562.csv, clustering/segment2310.csv and 3 more; name \
         another with --data DIR, or run `all` for what this one allows\n"
    );
    let output = paper(&["all", "--data", "."]);
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.starts_with("warning: left out: fig1 lacks images/train91/SCSR69.txt"), "{message}");
    assert!(message.ends_with("`sparsemble paper --help` shows what belongs into it\n"), "{message}");
}

#[test]
fn all_makes_what_the_data_folder_allows_and_one_page_of_it() {
    use std::fs;

    let folder = tempfile::tempdir().unwrap();
    data_of_wines(folder.path());
    let all = |further: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sparsemble"));
        command.args(["paper", "all", "--quick", "--data", "data", "--report", "page.html"]).args(further);
        command.current_dir(folder.path()).output().unwrap()
    };
    let first = all(&[]);
    let told = String::from_utf8(first.stderr).unwrap();
    assert_eq!(first.status.code(), Some(0), "{told}");
    assert_eq!(told.lines().filter(|line| line.starts_with("warning: left out: ")).count(), 8, "{told}");
    let stdout = String::from_utf8(first.stdout).unwrap();
    assert!(stdout.contains("Soybean") && stdout.ends_with("Written: page.html.\n\n"), "{stdout}");
    assert!(folder.path().join("sparsemble-paper-quick/table3.json").is_file());
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(page.contains("<h2 id=\"table3\">") && page.contains("<strong>Fig. 1</strong>: the data folder has no"));
    assert!(page.contains("sparsemble paper all --data data --quick --report page.html"));
    // It looks as the other pages do, and runs nothing.
    let common = include_str!("../src/html/page.css");
    assert!(page.contains(common) && page.contains("Content-Security-Policy") && !page.contains("<script"));

    // A page that is there is not written over unasked; with --force it comes from the finished parts.
    let refused = all(&[]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8(refused.stderr).unwrap().ends_with("add --force to write over it\n"));
    assert_eq!(all(&["--force"]).status.code(), Some(0));
    assert_eq!(fs::read_to_string(folder.path().join("page.html")).unwrap(), page);
}

#[test]
fn what_is_not_ours_is_not_written_over_without_force() {
    use std::fs;

    let folder = tempfile::tempdir().unwrap();
    data_of_wines(folder.path());
    for name in ["out", "figures"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    for name in ["out/table3.json", "notes.md", "figures/table3.svg"] {
        fs::write(folder.path().join(name), "mine").unwrap();
    }
    let run = |further: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sparsemble"));
        command.args(["paper", "all", "--quick", "--data", "data"]).args(further).current_dir(folder.path());
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    for (further, says) in [
        (&["-o", "out"][..], "the folder out holds other files"),
        (&["-o", "new", "--document", "notes.md"], "notes.md exists"),
        (&["-o", "new", "--document", "page.md"], "figures/table3.svg exists"),
    ] {
        let (code, said) = run(further);
        assert!(code == Some(1) && said.contains(says) && said.contains("--force"), "{further:?}: {said}");
        for name in ["out/table3.json", "notes.md", "figures/table3.svg"] {
            assert_eq!(fs::read_to_string(folder.path().join(name)).unwrap(), "mine", "{further:?}");
        }
        assert!(!folder.path().join("new").exists() && !folder.path().join("page.md").exists());
    }
    let (code, said) = run(&["-o", "out", "--document", "notes.md", "--force"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(fs::read_to_string(folder.path().join("notes.md")).unwrap().contains("# The experiments"));
    // From now on the folder is ours.
    assert_eq!(run(&["-o", "out"]).0, Some(0));
}

#[test]
fn a_run_that_cannot_begin_makes_no_folder() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_sparsemble"));
    let output = command.args(["paper", "fig1", "--data", "."]).current_dir(folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// A data folder of wines in the place of soybeans.
fn data_of_wines(folder: &std::path::Path) {
    use std::fs;

    let wines = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/wine.csv");
    let wines = fs::read_to_string(wines).unwrap().replacen(",kind", ",label", 1);
    fs::create_dir_all(folder.join("data/clustering")).unwrap();
    fs::write(folder.join("data/clustering/soybean562.csv"), wines).unwrap();
}

/// A data folder of committed photographs in the places of those that the paper uses.
#[cfg(unix)]
fn data_folder(folder: &std::path::Path) {
    use std::fs;

    let photographs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/cc0");
    for (place, name) in [("train91", "chelsea.png"), ("bsds/bsds300_test_gray_png", "camera.png")] {
        let place = folder.join("images").join(place);
        fs::create_dir_all(&place).unwrap();
        fs::copy(photographs.join(name), place.join(name)).unwrap();
    }
    fs::write(folder.join("images/train91/SCSR69.txt"), "chelsea.png\n").unwrap();
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_says_how_to_go_on_and_leaves_finished_parts_only() {
    use std::fs;
    use std::process::Stdio;
    use std::time::{Duration, Instant};

    let folder = tempfile::tempdir().unwrap();
    data_folder(&folder.path().join("data"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_sparsemble"));
    command.args(["paper", "fig2", "--quick", "--data", "data", "-o", "out"]).current_dir(folder.path());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let parts = folder.path().join("out/parts");
    let files =
        || fs::read_dir(&parts).map_or(Vec::new(), |entries| entries.map(|entry| entry.unwrap().path()).collect());
    let start = Instant::now();
    while !files().iter().any(|path| path.extension().is_some_and(|extension| extension == "json")) {
        assert!(start.elapsed() < Duration::from_mins(2), "there is no part");
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "error: interrupted; run the same command again to go on with the finished parts in out/parts\n"
    );
    assert_eq!((output.status.code(), output.stdout.len()), (Some(130), 0));
    for part in files() {
        let text = fs::read_to_string(&part).unwrap();
        assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{}", part.display());
    }
    let mut names: Vec<_> =
        fs::read_dir(folder.path().join("out")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["parts", "sparsemble-paper.json"], "nothing but the parts, and whose they are");
}
