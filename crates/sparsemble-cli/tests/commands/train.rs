//! `sparsemble train`.

use std::fs;

use sparsemble::ensemble::Ensemble;
use sparsemble::model_file::{load, save};
use sparsemble::{Matrix, Model, matrix_file};

use crate::program::{Program, photograph, samples};

#[test]
fn every_method_trains_on_a_picture_and_leaves_a_model_and_nothing_else() {
    let picture = photograph("brick.png");
    for (method, options, kind, atoms) in [
        ("alt-opt", "--iterations 3", "dictionary", 8),
        ("mod", "--iterations 3 --lambda 0.3", "dictionary", 8),
        ("k-svd", "--iterations 3 --sparsity 2", "dictionary", 8),
        ("online", "--iterations 2", "dictionary", 8),
        ("rand-ex-av", "--models 3", "ensemble", 24),
        ("boost-ex", "--models 3 --one-sparse", "ensemble", 24),
        ("boost-km", "--models 3 --coder lasso:relative=0.3", "ensemble", 24),
        ("mld", "--levels 3", "multilevel dictionary", 24),
        ("ex-mld", "--levels 3 --models 2", "multilevel dictionary", 48),
    ] {
        let program = Program::new();
        let words = format!(
            "train --method {method} {options} --atoms 8 --patch 4 --samples 400 --seed 1 -o m.safetensors {}",
            picture.display()
        );
        let report = program.json(&words);
        assert_eq!((&report["method"], &report["model"]["kind"]), (&method.into(), &kind.into()));
        assert_eq!((&report["dtype"], &report["n_samples"]), (&"float32".into(), &400.into()));
        assert_eq!(report["model"]["n_features"], 16);
        assert_eq!(report["error"].is_f64(), method != "rand-ex-av", "{method}");
        assert_eq!(program.files(), ["m.safetensors"]);
        let loaded = load::<f32>(program.path("m.safetensors")).unwrap();
        assert!(loaded.complete && loaded.model.n_atoms() == atoms, "{method}");
        assert_eq!(loaded.record.parameters["patch"], "4");
        let described = "400 patches of 4 × 4 pixels of brick.png, mean removed, unit norm";
        assert_eq!(loaded.record.data.description, described);
    }
}

/// The atoms of a model, whatever the file says beside them.
fn atoms(program: &Program, name: &str) -> Vec<f64> {
    load::<f64>(program.path(name)).unwrap().model.atoms().into_vec()
}

#[test]
fn a_matrix_gives_the_same_model_in_every_format_and_for_any_number_of_threads() {
    let program = Program::with_samples::<f64>();
    matrix_file::write(program.path("samples.csv"), samples::<f64>().view()).unwrap();
    let train = |options: &str, output: &str| {
        program.succeed(&format!("train --method boost-km --atoms 6 --models 3 {options} -o {output}"));
    };
    train("--threads 1 samples.npy", "a");
    train("--threads 3 samples.npy", "b");
    train("samples.csv", "c");
    assert!(program.bytes("a") == program.bytes("b"));
    assert_eq!(atoms(&program, "a"), atoms(&program, "c"));
    // Twice the same samples, one file after the other; and single precision if asked for.
    let report = program.json("train --method rand-ex-av --atoms 6 -o d samples.npy samples.csv");
    assert_eq!((&report["n_samples"], &report["dtype"]), (&600.into(), &"float64".into()));
    let report = program.json("train --method rand-ex-av --atoms 6 --dtype f32 -o e samples.npy");
    assert_eq!((&report["model"]["n_models"], &report["dtype"]), (&20.into(), &"float32".into()));
}

#[test]
fn a_folder_is_all_its_pictures_by_name_and_few_patches_are_all_there_are() {
    let program = Program::new();
    let folder = program.path("pictures");
    fs::create_dir(&folder).unwrap();
    let size = sparsemble::image::Size { width: 12, height: 9 };
    for (name, seed) in [("b.png", 1), ("a.PNG", 2)] {
        let picture =
            sparsemble::image::GrayImage::from_fn(size, |r, c| ((r * 31 + c * 17 * seed) % 251) as f64).unwrap();
        sparsemble::image::write_png(folder.join(name), &picture, sparsemble::image::BitDepth::Eight).unwrap();
    }
    fs::write(folder.join("notes.txt"), "no picture").unwrap();
    let report =
        program.json("train --method rand-ex-av --models 2 --atoms 8 --patch 5 --keep-mean --keep-norm -o m pictures");
    assert_eq!(report["n_samples"], 2 * 8 * 5);
    let loaded = load::<f32>(program.path("m")).unwrap();
    assert_eq!(loaded.record.data.description, "80 patches of 5 × 5 pixels of a.PNG, b.png");
    assert_eq!(loaded.record.parameters["remove_mean"], "false");
    let refused = program.fail("train --method rand-ex-av --atoms 8 --patch 5 --samples 81 -o n pictures", 1);
    assert!(refused.contains("--samples 81: needed 81 training patches, found 80"), "{refused}");
}

#[test]
fn boosting_sees_through_phi_and_stops_by_validation() {
    let program = Program::with_samples::<f32>();
    let phi = sparsemble::Matrix::from_fn(16, 5, |r, c| if r % 5 == c { 1.0_f32 } else { 0.0 });
    matrix_file::write(program.path("phi.npy"), phi.view()).unwrap();
    let report =
        program.json("train --method boost-ex --atoms 6 --models 4 --one-sparse --phi phi.npy -o m samples.npy");
    assert_eq!(report["model"]["n_features"], 16);
    let record = load::<f32>(program.path("m")).unwrap().record.phi.unwrap();
    assert_eq!((record.description.as_str(), record.matrix.is_some()), ("phi.npy", true));
    // An operator by its text needs no file.
    for (text, n_measurements) in [
        ("gaussian:measurements=5", 5),
        ("identity", 16),
        ("mask:missing=0.5,seed=3", 8),
        ("blur:sigma=1.6", 16),
        ("blur:sigma=1.6,decimate=2", 4),
    ] {
        program.json(&format!(
            "train --method boost-ex --atoms 6 --models 2 --one-sparse --phi {text} --force -o p samples.npy"
        ));
        let record = load::<f32>(program.path("p")).unwrap().record.phi.unwrap();
        assert_eq!(record.description, text);
        assert_eq!(record.matrix.unwrap().matrix().rows(), n_measurements);
    }
    let refused = program.fail("train --method boost-ex --atoms 6 --phi haar -o n samples.npy", 2);
    assert!(refused.contains("phi") && refused.contains("write identity"), "{refused}");
    program.succeed(
        "train --method boost-ex --atoms 4 --models 9 --one-sparse --validation 0.3 --patience 1 -o v samples.npy",
    );
    let Model::Ensemble(ensemble) = load::<f32>(program.path("v")).unwrap().model else { panic!("an ensemble") };
    assert!(ensemble.training().curve.iter().all(|round| round.validation_error.is_some()));
    let refused = program.fail("train --method rand-ex-av --phi phi.npy -o n samples.npy", 2);
    assert_eq!(refused, "the method rand-ex-av has no use for --phi; leave it out");
}

#[test]
fn rows_count_by_their_masses() {
    let program = Program::with_samples::<f64>();
    let mass = |i: usize| if i < 250 { 0.0_f64 } else { 2.0 };
    matrix_file::write(program.path("masses.csv"), Matrix::from_fn(1, 300, |_, i| mass(i)).view()).unwrap();
    program.succeed("train --method boost-ex --atoms 6 --models 3 --masses masses.csv -o m samples.npy");
    let Model::Ensemble(ensemble) = load::<f64>(program.path("m")).unwrap().model else { panic!("an ensemble") };
    assert!(ensemble.models().iter().flat_map(|model| model.sources().unwrap()).all(|source| *source >= 250));
    let wide = program.fail("train --method boost-ex --atoms 6 --masses samples.npy -o n samples.npy", 1);
    assert_eq!(wide, "samples.npy: it has 16 numbers a row, but a list has one");
    // What `np.save` makes of a list has one dimension.
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (300,), }";
    let mut list = [b"\x93NUMPY\x01\x00\x76\x00", format!("{header:<117}\n").as_bytes()].concat();
    (0..300).for_each(|i| list.extend(mass(i).to_le_bytes()));
    std::fs::write(program.path("masses.npy"), list).unwrap();
    program.succeed("train --method boost-ex --atoms 6 --models 3 --masses masses.npy -o l samples.npy");
    let Model::Ensemble(by_list) = load::<f64>(program.path("l")).unwrap().model else { panic!("an ensemble") };
    let sources = |ensemble: &Ensemble<f64>| {
        ensemble.models().iter().flat_map(|model| model.sources().unwrap().to_vec()).collect::<Vec<_>>()
    };
    assert_eq!(sources(&ensemble), sources(&by_list));
    let (_, warning) = program.succeed("train --method rand-ex-av --atoms 6 --models 2 --patch 4 -o p samples.npy");
    assert!(warning.starts_with("warning: --patch is for pictures"), "{warning}");
    let negative = program.fail("train --method boost-km --atoms 6 --lambda -1 -o n samples.npy", 2);
    assert!(negative.starts_with("--lambda -1: must be"), "{negative}");
}

#[test]
fn nothing_is_written_over_without_force() {
    let program = Program::with_samples::<f32>();
    let train = "train --method rand-ex-av --atoms 4 --models 2 -o m samples.npy";
    fs::write(program.path("m"), "mine").unwrap();
    assert_eq!(program.fail(train, 1), "m exists; choose another name or add --force to write over it");
    assert_eq!(program.bytes("m"), b"mine");
    program.succeed(&format!("{train} --force"));
    assert!(load::<f32>(program.path("m")).is_ok());
    let elsewhere = program.fail("train --method rand-ex-av -o no/m samples.npy", 1);
    assert_eq!(elsewhere, "there is no folder no; make it or choose another");
}

#[test]
fn too_few_iterations_are_one_line_of_warning() {
    let program = Program::with_samples::<f64>();
    let (_, warning) = program.succeed("train --method alt-opt --atoms 6 --iterations 1 -o m samples.npy");
    assert!(warning.starts_with("warning: the iterations were used up") && warning.lines().count() == 1, "{warning}");
    let (_, none) = program.succeed("train --method rand-ex-av --atoms 6 -o n samples.npy");
    assert!(none.is_empty(), "{none}");
}

#[test]
fn what_cannot_be_trained_on_is_named_with_the_fix() {
    let program = Program::with_samples::<f32>();
    fs::create_dir(program.path("empty")).unwrap();
    fs::write(program.path("text.csv"), "1,2\n3,x\n").unwrap();
    for (sources, message) in [
        ("missing.png", "cannot read missing.png"),
        ("missing.npy", "cannot read missing.npy"),
        ("empty", "the folder empty holds no picture"),
        ("text.csv", "text.csv: line 2, column 2: \"x\" is not a number"),
        ("samples.npy picture.png", "picture.png is no matrix, but other sources are"),
        ("samples.npy samples.npy:x", "samples.npy:x"),
    ] {
        let line = program.fail(&format!("train --method rand-ex-av --atoms 2 -o m {sources}"), 1);
        assert!(line.contains(message), "{sources}: {line}");
    }
    let many = program.fail("train --method boost-km --atoms 9999 -o m samples.npy", 1);
    assert!(many.contains("9999"), "{many}");
    assert_eq!(program.files(), ["empty", "samples.npy", "text.csv"]);
}

#[test]
fn wrong_usage_exits_with_2() {
    let program = Program::with_samples::<f32>();
    for (words, message) in [
        ("train --method boost -o m samples.npy", "use one of alt-opt, mod, k-svd"),
        ("train -o m samples.npy", "--method <METHOD>"),
        ("train --method boost-km -o m", "<SOURCE>..."),
        ("train --method boost-km --lambda 1 --sparsity 2 -o m samples.npy", "cannot be used with"),
        ("train --method boost-km --coder magic -o m samples.npy", "is not known"),
        ("train --method boost-km --samples 5 -o m samples.npy", "--samples is for pictures; matrices are taken"),
        ("train --method boost-km --min-variance 5 -o m samples.npy", "--min-variance is for pictures"),
        ("train --method boost-km --masses samples.npy -o m picture.png", "--masses is for the rows of matrices"),
        ("train --method alt-opt --models 3 -o m samples.npy", "has no use for --models"),
        ("train --method ex-mld --lambda 3 -o m samples.npy", "has no use for a coder"),
        ("train --method boost-km --patience 3 -o m samples.npy", "--validation <F>"),
    ] {
        let output = program.run(words);
        let line = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{words}: {line}");
        assert!(line.contains(message), "{words}: {line}");
    }
    assert_eq!(program.files(), ["samples.npy"]);
    let (help, _) = program.succeed("train --help");
    for word in ["Examples:", "--resume", "--phi <PHI>", "rand-ex-av", "MODEL.checkpoint"] {
        assert!(help.contains(word), "{word}");
    }
}

#[test]
fn a_model_that_is_saved_again_is_the_same_file() {
    let program = Program::with_samples::<f32>();
    program.succeed("train --method ex-mld --atoms 3 --models 2 --levels 2 -o m samples.npy");
    let loaded = load::<f32>(program.path("m")).unwrap();
    save(program.path("again"), &loaded.model, &loaded.record).unwrap();
    assert!(program.bytes("m") == program.bytes("again"));
}

#[test]
fn a_warm_start_goes_on_from_the_atoms_of_a_model_and_resumes() {
    let program = Program::with_samples::<f32>();
    let words = "train --method alt-opt --lambda 0.3 --seed 1";
    let first = program.json(&format!("{words} --atoms 12 --iterations 4 -o first samples.npy"));
    let cold = program.json(&format!("{words} --atoms 12 --iterations 1 -o cold samples.npy"));
    let warm = program.json(&format!("{words} --warm-start first --iterations 1 -o warm samples.npy"));
    let error = |report: &serde_json::Value| report["error"].as_f64().unwrap();
    assert!(error(&warm) <= error(&first) * (1.0 + 1e-6) && error(&warm) < error(&cold), "{warm} {first} {cold}");
    assert_eq!(warm["model"]["n_atoms"], 12);
    assert!(program.succeed("info warm").0.contains("warm start first"));
    // Online too, from the same atoms, in their number type.
    program.succeed("train --method online --warm-start first -o online samples.npy");
    assert_eq!(program.json("info online")["dtype"], "float32");
    for (words, code, says) in [
        ("train --method boost-ex --warm-start first -o x samples.npy", 2, "--warm-start"),
        ("train --method alt-opt --warm-start first --dtype f64 -o x samples.npy", 1, "float32"),
        ("train --method alt-opt --warm-start samples.npy -o x samples.npy", 1, "not a safetensors file"),
    ] {
        let line = program.fail(words, code);
        assert!(line.contains(says), "{words}: {line}");
    }
}

#[test]
fn a_report_shows_how_the_error_fell_and_the_atoms() {
    let program = Program::new();
    let train = |options: &str| {
        let picture = photograph("brick.png");
        let words = format!(
            "train --atoms 8 --patch 4 --samples 400 --report page.html --force -o m {options} {}",
            picture.display()
        );
        let (text, _) = program.succeed(&words);
        assert!(text.ends_with("wrote m; look at page.html\n"), "{text}");
        String::from_utf8(program.bytes("page.html")).unwrap()
    };
    let boosted = train("--method boost-km --models 8 --validation 0.3");
    assert!(boosted.contains("id=\"convergence\"") && boosted.contains("data:image/svg+xml;base64,"));
    // Of eight dictionaries the first six are shown.
    assert_eq!(boosted.matches("Mosaic of dictionary").count(), 6);
    assert!(boosted.contains("<dt>min variance</dt><dd>10</dd>"));
    // Averaged dictionaries have no errors to show.
    assert!(!train("--method rand-ex-av --models 2").contains("id=\"convergence\""));
    assert!(train("--method alt-opt --iterations 3").contains("id=\"convergence\""));
    // Samples that are no square patches have no pictures.
    let samples = Program::with_samples::<f32>();
    let narrow = Matrix::from_fn(15, 60, |r, i| (r * i) as f32);
    matrix_file::write(samples.path("narrow.npy"), narrow.view()).unwrap();
    samples.succeed("train --method rand-ex-av --atoms 4 --report page.html -o m narrow.npy");
    assert!(!String::from_utf8(samples.bytes("page.html")).unwrap().contains("id=\"atoms\""));
}
