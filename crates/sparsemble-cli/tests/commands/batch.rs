//! Several files at once: what is done stays done, and what fails is told.

use std::fs;

use sparsemble::image::{BitDepth, GrayImage, Size, read, write_png};

use crate::program::Program;

/// A folder `in` with two pictures and two files that are none.
fn program() -> Program {
    let program = Program::new();
    fs::create_dir(program.path("in")).unwrap();
    for (name, step) in [("a.png", 5), ("d.png", 7)] {
        let value = |row: usize, column: usize| ((row * row + column * step) % 200) as f64;
        let picture = GrayImage::from_fn(Size { width: 40, height: 32 }, value).unwrap();
        write_png(program.path("in").join(name), &picture, BitDepth::Eight).unwrap();
    }
    let whole = fs::read(program.path("in/a.png")).unwrap();
    fs::write(program.path("in/b.png"), &whole[..whole.len() / 2]).unwrap();
    fs::write(program.path("in/c.jpg"), "").unwrap();
    program
}

/// What a run prints that fails for some of its files.
fn partly(program: &Program, words: &str) -> (String, String) {
    let output = program.run(words);
    assert_eq!(output.status.code(), Some(1), "{words}");
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert!(err.starts_with("error: 2 of 4 files failed"), "{err}");
    assert!(err.contains("in/b.png") && err.contains("in/c.jpg") && !err.contains("in/a.png"), "{err}");
    (out, err)
}

#[test]
fn files_that_fail_do_not_stop_the_others_and_are_listed_at_the_end() {
    let program = program();
    for (words, results) in [
        ("upscale in --method bicubic", ["a_x2.png", "d_x2.png"]),
        ("restore in --task denoise --sigma 3", ["a.png", "d.png"]),
        ("sense in --ratio 0.5", ["a.npz", "d.npz"]),
    ] {
        let (out, _) = partly(&program, &format!("{words} -o out"));
        for result in results {
            assert!(out.contains(&format!("wrote out/{result}")), "{out}");
            assert!(program.path("out").join(result).is_file());
        }
        for input in ["in/a.png: ", "in/d.png: "] {
            assert!(out.contains(input), "the lines of {words} do not say of what: {out}");
        }
        let left = fs::read_dir(program.path("out")).unwrap().count();
        assert_eq!(left, 2, "nothing of what failed is left");
        if words.starts_with("sense") {
            let (out, _) = program.succeed("recover out/a.npz out/d.npz -o recovered --reference in/a.png");
            assert_eq!(out.matches("PSNR").count(), 2, "{out}");
            assert_eq!(read(program.path("recovered/d.png")).unwrap().size(), Size { width: 40, height: 32 });
            let (out, _) = program.succeed("recover out -o from_folder");
            assert_eq!(out.matches("wrote from_folder/").count(), 2, "{out}");
        }
        fs::remove_dir_all(program.path("out")).unwrap();
    }
    let (out, _) = partly(&program, "eval in --reference in/a.png");
    assert!(out.contains("in/a.png") && out.contains("mean of 2"), "{out}");
}

#[test]
fn a_second_run_can_leave_out_what_is_done() {
    let program = program();
    partly(&program, "upscale in --method bicubic -o out");
    let before = program.bytes("out/a_x2.png");
    let refused = program.fail("upscale in --method bicubic -o out", 1);
    assert_eq!(
        refused,
        "out/a_x2.png exists; add --skip-existing to leave out what is done, or --force to do it again"
    );
    for name in ["b.png", "c.jpg"] {
        fs::copy(program.path("in/a.png"), program.path("in").join(name)).unwrap();
    }
    let (out, _) = program.succeed("upscale in --method bicubic -o out --skip-existing");
    assert_eq!(out.matches("wrote").count(), 2, "{out}");
    assert_eq!(program.bytes("out/a_x2.png"), before);
    let (out, _) = program.succeed("upscale in --method bicubic -o out --skip-existing");
    assert_eq!(out, "nothing is left to do: all results exist\n");
}

#[test]
fn one_file_that_fails_says_so_in_one_line() {
    let program = program();
    assert!(program.fail("restore in/b.png --task denoise -o x.png", 1).starts_with("in/b.png: "));
    assert!(program.fail("eval in/c.jpg --reference in/a.png", 1).starts_with("in/c.jpg: "));
    assert!(!program.path("x.png").exists());
}

#[test]
fn a_folder_of_which_one_file_is_left_and_fails_still_prints_its_object() {
    let program = program();
    fs::create_dir(program.path("one")).unwrap();
    fs::copy(program.path("in/b.png"), program.path("one/b.png")).unwrap();
    fs::remove_file(program.path("in/c.jpg")).unwrap();
    for words in ["upscale in --method bicubic", "restore in --task denoise", "sense in"] {
        assert_eq!(program.run(&format!("{words} -o out")).status.code(), Some(1), "{words}");
        for left in [format!("{words} -o out --skip-existing"), words.replacen("in", "one", 1) + " -o new"] {
            let output = program.run(&format!("{left} --json"));
            assert_eq!(output.status.code(), Some(1), "{left}");
            let object: serde_json::Value = serde_json::from_slice(&output.stdout).expect(&left);
            assert_eq!(object["pictures"].as_array().unwrap().len(), 0, "{left}");
            assert!(object["failed"][0]["input"].as_str().unwrap().ends_with("b.png"), "{left}");
            let said = String::from_utf8(output.stderr).unwrap();
            assert!(said.starts_with("error: ") && said.lines().count() == 1 && said.contains("b.png: "), "{said}");
        }
        fs::remove_dir_all(program.path("out")).unwrap();
    }
    let output = program.run("eval one --reference in/a.png --json");
    let object: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(object["mean"].is_null() && object["failed"].as_array().unwrap().len() == 1, "{object}");
}

#[test]
fn names_that_are_no_text_are_kept() {
    #[cfg(target_os = "linux")]
    {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;

        let program = program();
        let name = OsStr::from_bytes(b"caf\xe9.png");
        fs::create_dir(program.path("odd")).unwrap();
        fs::copy(program.path("in/a.png"), program.path("odd").join(name)).unwrap();
        program.succeed("upscale odd --method bicubic -o out");
        assert!(program.path("out").join(OsStr::from_bytes(b"caf\xe9_x2.png")).is_file());
    }
}
