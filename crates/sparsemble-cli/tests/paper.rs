//! `sparsemble paper` as typed: what it refuses. What it computes is tested in `crates/sparsemble-paper`.

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
        &["fig1", "--data", ".", "--document", "page.md"],
        &["table1", "--data", ".", "--draws", "0"],
        &["table1", "--data", ".", "--means", "none"],
        &["table1", "--data", ".", "--projection", "haar"],
    ] {
        assert_eq!(paper(arguments).status.code(), Some(2), "{arguments:?}");
    }
}
