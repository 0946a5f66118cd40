//! Runs that are killed or interrupted, and go on.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use sparsemble::Matrix;
use sparsemble::image::{BitDepth, GrayImage, Size, write_png};
use sparsemble::matrix_file;

use crate::program::Program;

const BOOST: &str = "train --method boost-km --atoms 40 --models 40 --lambda 0.3 --seed 1 -o m samples.npy";
const PAIRS: &str =
    "train --method boost-ex --atoms 100 --models 40 --scale 2 --min-variance 0 --seed 1 -o m broad.png narrow.png";
const UPSCALE: &str = "train --method upscaler --atoms 200 --models 4 --seed 1 -o m broad.png narrow.png";
const ALTERNATE: &str = "train --method alt-opt --atoms 40 --iterations 40 --lambda 0.3 --seed 1 -o m samples.npy";

const PICTURES: [(&str, usize); 2] = [("broad.png", 160), ("narrow.png", 100)];

/// Samples and pictures that keep a run busy for a while.
fn program() -> Program {
    let program = Program::new();
    for (name, width) in PICTURES {
        let wave = |row: usize, column: usize| 128.0 + 80.0 * (0.01 * (row * row + 3 * column * row) as f64).sin();
        let waves = GrayImage::from_fn(Size { width, height: 120 }, wave).unwrap();
        write_png(program.path(name), &waves, BitDepth::Eight).unwrap();
    }
    let value = |r: usize, i: usize| ((r * r + 1) as f32 * (i as f32 + 0.5).sqrt()).sin();
    matrix_file::write(program.path("samples.npy"), Matrix::from_fn(25, 1500, value).view()).unwrap();
    program
}

/// Starts a run and waits until it has done a step.
fn started(program: &Program, words: &str) -> Child {
    let child = program.command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while !program.path("m.checkpoint").exists() {
        assert!(start.elapsed() < Duration::from_mins(1), "there is no checkpoint");
        sleep(Duration::from_millis(1));
    }
    child
}

/// The model of a run that was never left.
fn whole(words: &str) -> Vec<u8> {
    let program = program();
    program.succeed(words);
    program.bytes("m")
}

#[test]
fn a_run_that_was_killed_goes_on_to_the_same_bytes() {
    for words in [BOOST, ALTERNATE, PAIRS, UPSCALE] {
        let program = program();
        let mut child = started(&program, words);
        child.kill().unwrap();
        assert!(!child.wait().unwrap().success());
        assert!(!program.path("m").exists(), "the run has ended too soon to be killed");
        let report = program.json(&format!("{words} --resume"));
        assert_eq!(report["resumed"], true);
        // A run that is killed while it writes leaves a hidden scrap.
        let files = program.files();
        assert!(
            files.iter().filter(|name| !name.starts_with('.')).eq(["broad.png", "m", "narrow.png", "samples.npy"]),
            "{files:?}"
        );
        assert!(program.bytes("m") == whole(words), "{words}");
    }
}

/// Ends a run once its checkpoint has at least this many bytes.
fn killed_at(program: &Program, words: &str, length: u64) {
    let mut child = started(program, words);
    while fs::metadata(program.path("m.checkpoint")).unwrap().len() < length {
        sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_step_that_was_half_written_is_done_again_and_no_other() {
    let program = program();
    killed_at(&program, BOOST, 300_000);
    let kept = program.bytes("m.checkpoint");
    let expected = whole(BOOST);
    // Cut within its last whole step, or what follows it.
    for part in [1, 100, 10_000, 40_000] {
        fs::write(program.path("m.checkpoint"), &kept[..kept.len() - part]).unwrap();
        let length = kept.len() - part;
        assert_eq!(program.json(&format!("{BOOST} --resume --force"))["resumed"], true, "{length} bytes");
        assert!(program.bytes("m") == expected, "{length} bytes");
    }
}

#[cfg(unix)]
#[test]
fn a_disk_that_is_full_is_told_with_the_way_to_go_on() {
    let program = program();
    // A file may have so many blocks of 512 bytes, and one more is an error and not the end.
    let limited = program.command(BOOST);
    let arguments = limited.get_args().map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" ");
    let script = format!("trap '' XFSZ; ulimit -f 400; exec {} {arguments}", limited.get_program().display());
    let output = Command::new("sh").args(["-c", &script]).current_dir(program.path("")).output().unwrap();
    let line = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{line}");
    assert!(line.starts_with("error: cannot write m.checkpoint: File too large"), "{line}");
    assert!(line.ends_with("; make room and run the same command with --resume to go on\n"), "{line}");
    assert_eq!(program.json(&format!("{BOOST} --resume"))["resumed"], true);
    assert!(program.bytes("m") == whole(BOOST));
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_says_how_to_go_on_and_does() {
    let program = program();
    let child = started(&program, BOOST);
    let signal = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(signal.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let line = String::from_utf8(output.stderr).unwrap();
    let expected = "error: interrupted; run the same command with --resume to go on from m.checkpoint\n";
    assert_eq!(line, expected);
    assert_eq!(program.files(), ["broad.png", "m.checkpoint", "narrow.png", "samples.npy"]);
    program.succeed(&format!("{BOOST} --resume --threads 1"));
    assert!(program.bytes("m") == whole(BOOST));
}

#[test]
fn a_run_is_not_resumed_with_other_settings_or_other_data() {
    let program = program();
    let mut child = started(&program, BOOST);
    child.kill().unwrap();
    child.wait().unwrap();
    let anew = program.fail(BOOST, 1);
    assert_eq!(anew, "m.checkpoint holds a run that was left; add --resume to go on with it or --force to begin anew");
    for (from, to, named) in [
        ("--seed 1", "--seed 2", "--seed 2: "),
        ("--lambda 0.3", "--sparsity 3", "--coder omp:sparsity=3: "),
        ("boost-km", "boost-ex", "--method boost-ex: "),
    ] {
        let line = program.fail(&format!("{} --resume", BOOST.replace(from, to)), 1);
        assert!(line.contains(named) && line.contains("is not that of the checkpoint"), "{line}");
    }
    let double = program.fail(&format!("{BOOST} --resume --dtype f64"), 1);
    assert!(double.contains("float32"), "{double}");
    matrix_file::write(program.path("samples.npy"), Matrix::from_fn(25, 1500, |r, i| (r + i) as f32).view()).unwrap();
    let line = program.fail(&format!("{BOOST} --resume"), 1);
    assert!(line.starts_with("samples = rows of samples.npy: is not that of the checkpoint"), "{line}");
}

#[test]
fn without_a_checkpoint_resuming_is_beginning() {
    let program = program();
    let short = BOOST.replace("--models 40", "--models 2");
    assert_eq!(program.json(&format!("{short} --resume"))["resumed"], false);
    assert_eq!(program.files(), ["broad.png", "m", "narrow.png", "samples.npy"]);
}
