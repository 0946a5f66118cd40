//! What all commands have in common: exit codes, files that are not written over, what is shown and where.

use std::fs;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use sparsemble::image::{BitDepth, GrayImage, Size, write_png};

use crate::program::Program;

fn program() -> Program {
    let program = Program::with_samples::<f32>();
    let value = |row: usize, column: usize| ((row * row + column * 5) % 200) as f64;
    let picture = GrayImage::from_fn(Size { width: 200, height: 160 }, value).unwrap();
    write_png(program.path("a.png"), &picture, BitDepth::Eight).unwrap();
    program
}

#[test]
fn exit_codes_are_those_of_the_help() {
    let program = program();
    for (words, code) in [
        ("upscale a.png --method bicubic -o x.png", 0),
        // It has not converged: a warning.
        ("train --method alt-opt --atoms 8 --iterations 1 -o m samples.npy", 0),
        ("upscale nothing.png -o y.png", 1),
        ("upscale samples.npy -o y.png", 1),
        ("upscale a.png samples.npy --method bicubic -o some", 1),
        ("upscale a.png --scale 9 -o y.png", 2),
        ("upscale a.png --scale=-2 -o y.png", 2),
        ("upscale", 2),
        ("upscale a.png --unknown", 2),
    ] {
        assert_eq!(program.run(words).status.code(), Some(code), "{words}");
    }
    let (_, warnings) = program.succeed("train --method alt-opt --atoms 8 --iterations 1 --force -o m samples.npy");
    assert!(warnings.starts_with("warning: the iterations were used up"), "{warnings}");
}

#[test]
fn what_the_library_refuses_is_told_by_the_options_that_were_typed() {
    const TRAIN: &str = "train --method boost-km -o n samples.npy";
    let program = program();
    program.succeed("train --method boost-ex --atoms 8 --models 3 -o m samples.npy");
    program.succeed("encode m samples.npy -o c.npz");
    for (words, code, says) in [
        (format!("{TRAIN} --atoms 0"), 2, "--atoms 0: must be at least 1"),
        (format!("{TRAIN} --atoms 5000000000"), 2, "--atoms 5000000000: must be between 1"),
        (format!("{TRAIN} --atoms 400"), 1, "--atoms 400: needed 400 samples of positive mass, found 300"),
        (format!("{TRAIN} --models 0"), 2, "--models 0: must be at least 1"),
        (format!("{TRAIN} --atoms 4 --validation 2"), 2, "--validation 2: must be between 0 and 1"),
        (format!("{TRAIN} --atoms 4 --coder omp:sparsity=0"), 2, "--coder omp:sparsity=0: sparsity = 0: must be"),
        ("train --method k-svd --lambda 0.2 --atoms 4 -o n samples.npy".into(), 2, "--method k-svd: K-SVD refits"),
        ("train --method alt-opt --patch 0 --atoms 4 -o n a.png".into(), 2, "--patch 0: must be at least 2"),
        ("encode m samples.npy --sparsity 0 -o n.npz".into(), 2, "--sparsity 0: must be at least 1"),
        ("cluster samples.npy -k 301 -o n.csv".into(), 1, "--clusters 301: needed 301 vertices"),
        ("cluster samples.npy -k 2 --starts 0 -o n.csv".into(), 2, "--starts 0: start K-Means at least once"),
        (
            "cluster samples.npy -k 2 --method alt-opt:atoms=0 -o n.csv".into(),
            2,
            "--method alt-opt:atoms=0: atoms = 0: must be",
        ),
        ("eval a.png --reference a.png --shave 99".into(), 2, "--shave 99: leaves nothing"),
    ] {
        let line = program.fail(&words, code);
        assert!(line.starts_with(says), "{words}: {line}");
    }
    for (words, says) in [
        ("sense a.png --kind haar -o n.npz", "possible values: orthonormal"),
        ("train --method haar -o n samples.npy", "--method"),
        ("reconstruct m c.npz --spread n.csv -o n.npy", "--spread"),
        ("reconstruct m c.npz --lambda 3 -o n.npy", "--lambda"),
    ] {
        let said = String::from_utf8(program.run(words).stderr).unwrap();
        assert!(said.contains(says) && !said.contains(" = "), "{words}: {said}");
    }
    assert!(program.fail("paper all --data . --format png", 2).contains("--format png is for `-o -`"));
    assert!(!program.path("n.npy").exists() && !program.path("n").exists());
}

#[cfg(unix)]
#[test]
fn an_interrupted_command_exits_with_130_and_leaves_nothing_half_written() {
    let program = program();
    let before = program.files();
    // None of them ends by itself, however fast the machine.
    for words in [
        "restore - --task denoise --sigma 25 -o x.png",
        "cluster samples.npy -k 3 --starts 99999999 -o x.csv",
        "upscale - -o x.png",
    ] {
        let mut command = program.command(words);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take();
        let start = Instant::now();
        // Until it listens, a signal ends it in the way of the system.
        sleep(Duration::from_millis(300));
        while child.try_wait().unwrap().is_none() {
            assert!(start.elapsed() < Duration::from_mins(1), "{words} does not end");
            assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
            sleep(Duration::from_millis(300));
        }
        drop(input);
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(130), "{words}: {said}");
        assert!(said.starts_with("error: interrupted") && output.stdout.is_empty(), "{words}: {said}");
        assert_eq!(program.files(), before, "{words}");
    }
}

#[test]
fn nothing_is_written_over_what_is_read_or_written_already() {
    let program = program();
    program.succeed("train --method boost-ex --atoms 8 --models 3 -o m samples.npy");
    let before = (program.bytes("m"), program.bytes("a.png"), program.bytes("samples.npy"));
    for (words, says) in [
        ("upscale a.png -o a.png", "is read"),
        ("upscale a.png -o ./a.png", "is read"),
        ("upscale a.png -o x.png --uncertainty a.png", "is read"),
        ("upscale a.png -o x.png --uncertainty x.png", "choose two"),
        ("restore a.png --task denoise -o a.png", "is read"),
        ("restore a.png --task denoise --reference m -o m", "is read"),
        ("encode m samples.npy -o samples.npy", "is read"),
        ("reconstruct m --samples samples.npy -o x.npy --spread x.npy", "choose two"),
        ("weights m samples.npy -o m", "is read"),
        ("train --method boost-ex -o samples.npy samples.npy", "is read"),
        ("info m --atoms m", "is read"),
        ("cluster samples.npy -k 2 -o x.csv --report x.csv", "choose two"),
    ] {
        let line = program.fail(&format!("{words} --force"), 2);
        assert!(line.contains(says), "{words}: {line}");
    }
    assert_eq!((program.bytes("m"), program.bytes("a.png"), program.bytes("samples.npy")), before);
    for words in ["upscale a.png -o m", "encode m samples.npy -o c.npz", "sense a.png -o c.npz"] {
        fs::write(program.path("c.npz"), "mine").unwrap();
        assert!(program.fail(words, 1).contains("--force"), "{words}");
    }
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_not_replaced_and_links_are_seen_through() {
    let program = program();
    std::os::unix::fs::symlink("a.png", program.path("link.png")).unwrap();
    assert!(program.fail("upscale link.png -o a.png --force", 2).contains("is read"));
    assert!(program.fail("upscale a.png -o /dev/null --force", 1).contains("device"));
    assert!(program.fail("upscale a.png -o new/ --force", 1).contains("is a folder"));
}

#[test]
fn shells_and_the_manual_are_told_of_every_command() {
    let program = Program::new();
    let help = program.succeed("--help").0;
    let commands: Vec<&str> = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .map_while(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert!(commands.len() >= 15, "{commands:?}");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = program.succeed(&format!("completions {shell}")).0;
        assert!(commands.iter().all(|command| script.contains(command)), "{shell}");
    }
    let page = program.succeed("man").0;
    assert!(page.contains("EXIT STATUS") && page.contains("nothing is half"), "{page}");
    program.succeed("man pages");
    for command in commands {
        let page = fs::read_to_string(program.path(&format!("pages/sparsemble-{command}.1"))).unwrap();
        assert!(page.contains("EXIT STATUS") && page.contains("Examples:"), "{command}");
    }
    assert!(program.fail("man pages", 1).contains("--force"));
    program.succeed("man pages --force");
}

/// What a terminal shows of a run.
#[cfg(target_os = "linux")]
fn on_a_terminal(program: &Program, words: &str, no_colour: bool) -> Option<String> {
    let line = format!("{} {words}", env!("CARGO_BIN_EXE_sparsemble"));
    let mut command = Command::new("script");
    command
        .args(["-qec", &line, "/dev/null"])
        .current_dir(program.path(""))
        .env("TERM", "xterm")
        .env_remove("NO_COLOR");
    if no_colour {
        command.env("NO_COLOR", "1");
    }
    match command.stdin(Stdio::null()).output() {
        Ok(output) => Some(String::from_utf8(output.stdout).unwrap()),
        Err(error) => {
            assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
            None
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn colours_and_progress_are_for_terminals_that_want_them() {
    let program = program();
    let words = "restore a.png --task denoise --sigma 25 --force -o x.png";
    let Some(shown) = on_a_terminal(&program, words, false) else {
        eprintln!("skipped: there is no `script` to make a terminal with");
        return;
    };
    assert!(shown.contains("restoring") && shown.contains(" %  ") && shown.contains(" left"), "{shown}");
    let (out, err) = program.succeed(words);
    assert!(out.starts_with("a.png: denoise, 200×160 pixels") && err.is_empty(), "{out}{err}");

    let coloured = on_a_terminal(&program, "info nothing", false).unwrap();
    assert!(coloured.contains("\x1b[31m") && coloured.contains("error:"), "{coloured}");
    let plain = on_a_terminal(&program, "info nothing", true).unwrap();
    assert!(plain.starts_with("error: cannot read nothing"), "{plain}");
    assert!(program.fail("info nothing", 1).starts_with("cannot read nothing"));
}

#[cfg(target_os = "linux")]
#[test]
fn reading_a_long_table_is_seen_on_a_terminal() {
    let program = program();
    program.succeed("train --method boost-ex --atoms 8 --models 3 -o m samples.npy");
    let line = (0..16).map(|i| format!("{}.2500000", i % 10)).collect::<Vec<_>>().join(",");
    // Many times what is read before the bar moves.
    fs::write(program.path("long.csv"), (line + "\n").repeat(40_000)).unwrap();
    for words in [
        "encode m long.csv -o codes.npz",
        "weights m long.csv -o better",
        "reconstruct m --samples long.csv -o again.npy",
        "train --method rand-ex-av --atoms 8 --models 2 -o other long.csv",
        "cluster long.csv -k 2 -o c.csv",
    ] {
        let Some(shown) = on_a_terminal(&program, words, true) else {
            eprintln!("skipped: there is no `script` to make a terminal with");
            return;
        };
        let seen = shown.split(['\r', '\n']).find(|line| line.contains("reading") && line.contains(" left"));
        assert!(seen.is_some(), "{words}: {shown}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_output_is_a_failure_and_a_closed_one_is_not() {
    let program = program();
    program.succeed("train --method boost-ex --atoms 8 --models 3 -o m samples.npy");
    for words in ["info m", "upscale a.png --method bicubic -o -", "man", "completions bash"] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = program.command(words).stdout(full).stderr(Stdio::piped()).spawn().unwrap();
        let output = output.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{words}: {said}");
        assert!(said.contains("cannot write to the standard output"), "{words}: {said}");

        let mut child = program.command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        assert_eq!(child.wait().unwrap().code(), Some(0), "{words}");
    }
}
