//! `-`: the standard input and the standard output in the place of files.

use std::fs;
use std::io::Write;
use std::process::{Output, Stdio};

use sparsemble::image::{BitDepth, GrayImage, Size, write_png};

use crate::program::{Program, samples};

fn program() -> Program {
    let program = Program::with_samples::<f64>();
    let value = |row: usize, column: usize| ((row * row + column * 5) % 200) as f64;
    let picture = GrayImage::from_fn(Size { width: 40, height: 32 }, value).unwrap();
    write_png(program.path("a.png"), &picture, BitDepth::Eight).unwrap();
    program
}

/// A run that reads these bytes.
fn fed(program: &Program, words: &str, bytes: &[u8]) -> Output {
    let mut command = program.command(words);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A program that refuses its words does not read.
    let _ = child.stdin.take().unwrap().write_all(bytes);
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn what_goes_through_streams_is_what_goes_through_files() {
    let program = program();
    program.succeed("train --method boost-ex --atoms 8 --models 3 -o m samples.npy");
    fs::write(program.path("table.csv"), "1,2,3\n4,5,6.5\n-1,2,9\n").unwrap();
    for (words, input, output) in [
        ("upscale IN -o OUT --method bicubic", "a.png", "large.png"),
        ("restore IN -o OUT --task denoise --sigma 5", "a.png", "clean.png"),
        ("sense IN -o OUT", "a.png", "z.npz"),
        ("recover IN -o OUT", "z.npz", "back.png"),
        ("encode m IN -o OUT", "samples.npy", "codes.npz"),
        ("encode IN samples.npy -o OUT", "m", "same.npz"),
        ("reconstruct m --samples IN -o OUT", "samples.npy", "approximations.npy"),
        ("reconstruct m IN -o OUT", "codes.npz", "again.npy"),
        ("weights m IN -o OUT --per-sample", "samples.npy", "weights.npy"),
        ("cluster IN -o OUT -k 2 --method neighbours:count=1", "table.csv", "clusters.csv"),
    ] {
        program.succeed(&words.replace("IN", input).replace("OUT", output));
        let piped = fed(&program, &words.replace("IN", "-").replace("OUT", "-"), &program.bytes(input));
        let said = text(&piped.stderr);
        assert!(piped.status.success(), "{words}: {said}");
        assert_eq!(piped.stdout, program.bytes(output), "{words}");
        assert!(said.contains("wrote the standard output") && !said.contains("tmp"), "{words}: {said}");
    }
    assert!(!program.path("-").exists());
}

#[test]
fn a_model_that_is_printed_is_the_one_that_is_written() {
    let program = program();
    let words = "train --method boost-ex --atoms 8 --models 3 samples.npy";
    program.succeed(&format!("{words} -o m"));
    let piped = program.run(&format!("{words} -o - --report page.html"));
    let said = text(&piped.stderr);
    assert!(piped.status.success(), "{said}");
    assert_eq!(piped.stdout, program.bytes("m"));
    assert!(said.contains("wrote the standard output; look at page.html"), "{said}");
    assert_eq!(program.files(), ["a.png", "m", "page.html", "samples.npy"]);
    let again = fed(&program, "train --method boost-ex --atoms 8 --models 3 - -o -", &program.bytes("samples.npy"));
    assert!(again.status.success() && !text(&again.stderr).contains("info"), "{}", text(&again.stderr));
    let codes = fed(&program, "encode - samples.npy -o c.npz", &again.stdout);
    assert!(codes.status.success());
    let page = fed(&program, "upscale - --method bicubic --report p.html -o large.png", &program.bytes("a.png"));
    assert!(page.status.success());
    let page = text(&program.bytes("p.html"));
    assert!(page.contains("<dt>picture</dt><dd>the standard input</dd>") && !page.contains("/stdin."));
}

#[test]
fn the_kind_of_what_is_printed_can_be_chosen() {
    let program = program();
    let out = program.run("upscale a.png --method bicubic -o - --format bmp");
    assert!(out.stdout.starts_with(b"BM"));
    let out = fed(&program, "upscale - --method bicubic", &program.bytes("a.png"));
    assert!(out.status.success() && out.stdout.starts_with(b"\x89PNG"));
    program.succeed("train --method boost-ex --atoms 8 --models 3 -o m samples.npy");
    let out = program.run("reconstruct m --samples samples.npy -o - --format csv");
    assert_eq!(text(&out.stdout).lines().count(), samples::<f64>().columns());
    let object = fed(&program, "eval - --reference a.png --json", &program.bytes("a.png"));
    let object: serde_json::Value = serde_json::from_slice(&object.stdout).unwrap();
    assert_eq!((&object["pictures"][0]["image"], &object["mean"]["psnr"]), (&"-".into(), &"inf".into()));
}

#[test]
fn what_cannot_go_through_a_stream_is_refused() {
    let program = program();
    let picture = program.bytes("a.png");
    for (words, code, says) in [
        ("upscale - -o - --json", 2, "--json"),
        ("upscale - -o - --format gif", 2, "--format gif: give one of png, jpg"),
        ("upscale - -o x.png --format png", 2, "is for `-o -`"),
        ("eval - --reference -", 2, "one standard input"),
        ("upscale - a.png -o -", 2, "several results"),
        ("upscale a.png -o x.png --uncertainty -", 2, "main result only"),
        ("train --method rand-ex-av -o - --resume samples.npy", 2, "give --output the name of that file"),
        ("train --method rand-ex-av -o - --json samples.npy", 2, "--json"),
        ("train --method rand-ex-av -o - --report - samples.npy", 2, "main result only"),
        ("cluster - -k 2 -o c.csv", 1, "the standard input: "),
    ] {
        let output = fed(&program, words, &picture);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{words}: {said}");
        assert!(said.contains(says), "{words}: {said}");
        assert!(output.stdout.is_empty());
    }
    let empty = fed(&program, "upscale - -o x.png", b"");
    assert_eq!(text(&empty.stderr), "error: the standard input is empty; give it a file\n");
    assert_eq!(program.files(), ["a.png", "samples.npy"]);
}
