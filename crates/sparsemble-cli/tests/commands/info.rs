//! `sparsemble info`.

use std::fs;

use sparsemble::image::{Size, read};
use sparsemble::model_file::{Checkpoint, load, save};
use sparsemble::recipe::ToKeep;

use crate::program::Program;

fn trained() -> Program {
    let program = Program::with_samples::<f32>();
    program.succeed("train --method boost-km --atoms 6 --models 4 --lambda 0.1 --seed 7 -o m samples.npy");
    program
}

#[test]
fn a_model_tells_what_it_is_in_words_and_in_json() {
    let program = trained();
    let (text, _) = program.succeed("info m");
    for line in [
        "model        ensemble of 4 dictionaries of 6 atoms",
        "features     16",
        "numbers      float32",
        "method       boost-km",
        "coder        lasso:lambda=0.1",
        "seed         7",
        "data         rows of samples.npy",
        "samples      300",
    ] {
        assert!(text.lines().any(|shown| shown == line), "{line}\n{text}");
    }
    let curve = text.lines().find(|line| line.starts_with("curve")).unwrap();
    assert!(curve.contains('█') && curve.contains('▁') && curve.ends_with("(4 values)"), "{curve}");

    let object = program.json("info m");
    let model = load::<f32>(program.path("m")).unwrap().model;
    let rounds = &model.training().curve;
    assert_eq!(object["curve"].as_array().unwrap().len(), 4);
    for (shown, round) in object["curve"].as_array().unwrap().iter().zip(rounds) {
        assert_eq!((shown["error"].as_f64(), shown["alpha"].as_f64()), (Some(round.error), Some(round.alpha)));
    }
    assert_eq!(object["error"].as_f64(), Some(rounds[3].error));
    let beta: f64 = object["beta"].as_array().unwrap().iter().map(|weight| weight.as_f64().unwrap()).sum();
    assert!((beta - 1.0).abs() < 1e-12);
    assert_eq!((&object["complete"], &object["parameters"]["n_models"]), (&true.into(), &"4".into()));
}

#[test]
fn atoms_are_drawn_where_they_are_square() {
    let program = trained();
    program.succeed("info m --atoms atoms.png");
    // 24 atoms of 4 × 4 pixels, five in a row, with lines between them.
    assert_eq!(read(program.path("atoms.png")).unwrap().size(), Size { width: 26, height: 26 });
    let again = program.fail("info m --atoms atoms.png", 1);
    assert_eq!(again, "atoms.png exists; choose another name or add --force to write over it");
    program.succeed("info m --atoms atoms.png --force");
    fs::write(program.path("two.csv"), "1,2\n3,5\n8,1\n").unwrap();
    program.succeed("train --method rand-ex-av --atoms 2 --models 1 -o two two.csv");
    let flat = program.fail("info two --atoms two.png", 1);
    assert_eq!(flat, "atoms of 2 features are no square patches and cannot be drawn; leave --atoms out");
}

#[test]
fn a_file_cannot_command_the_terminal_or_add_lines() {
    let program = trained();
    let mut loaded = load::<f32>(program.path("m")).unwrap();
    loaded.record.data.description = "\u{1b}[31mred\nmodel        another".into();
    save(program.path("c"), &loaded.model, &loaded.record).unwrap();
    let (text, _) = program.succeed("info c");
    assert!(text.contains("data         \\u{1b}[31mred\\nmodel        another\n"), "{text}");
    assert!(!text.contains('\u{1b}'));
}

#[test]
fn a_checkpoint_and_files_of_another_kind_are_told() {
    let program = trained();
    let loaded = load::<f32>(program.path("m")).unwrap();
    let again = || Ok(load::<f32>(program.path("m"))?.model);
    Checkpoint::begin(program.path("c"), &loaded.record).keep(&ToKeep::whole(&again)).unwrap();
    assert!(program.succeed("info c").0.contains("a checkpoint: its training has not ended"));
    assert!(program.fail("info samples.npy", 1).starts_with("samples.npy: this is not a safetensors file"));
    assert!(program.fail("info missing", 1).starts_with("cannot read missing"));
}
