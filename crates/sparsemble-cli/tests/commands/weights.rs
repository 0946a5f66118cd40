//! `sparsemble weights`.

use sparsemble::matrix_file::read;
use sparsemble::model_file::load;
use sparsemble::{Model, matrix_file};

use crate::program::{Program, samples};

fn trained() -> Program {
    let program = Program::with_samples::<f64>();
    program.succeed("train --method boost-ex --atoms 6 --models 4 --lambda 0.1 --seed 1 -o m samples.npy");
    program
}

#[test]
fn shared_weights_make_a_model_that_is_as_good_as_the_certificate_says() {
    let program = trained();
    let before = program.json("reconstruct m --samples samples.npy -o before.npy")["error"]["mean"].as_f64().unwrap();
    for (constraint, below) in [("simplex", None), ("affine", Some(before)), ("unconstrained", Some(before))] {
        let report = program.json(&format!("weights m samples.npy --constraint {constraint} -o w --force"));
        let error = report["error"].as_f64().unwrap();
        assert_eq!(report["holds"], true);
        assert!(error <= report["best_member_error"].as_f64().unwrap());
        assert!(below.is_none_or(|below| error <= below * (1.0 + 1e-9)), "{constraint}: {error} for {before}");
        let after = program.json("reconstruct w --samples samples.npy -o after.npy --force");
        assert!((after["error"]["mean"].as_f64().unwrap() - error).abs() < 1e-9 * error, "{constraint}");
        let Model::Ensemble(ensemble) = load::<f64>(program.path("w")).unwrap().model else { panic!("an ensemble") };
        let sum: f64 = ensemble.beta().iter().sum();
        assert!(constraint == "unconstrained" || (sum - 1.0).abs() < 1e-9);
        // The curve is that of the training, the error of other weights is not in it.
        let info = program.json("info w");
        assert!(info["error"].is_null() && info["curve"].as_array().unwrap().len() == 4);
        assert_eq!(info["parameters"]["weights"], format!("{constraint} of samples.npy"));
    }
    assert!(program.json("info m")["error"].is_f64());
    program.succeed("weights m samples.npy --one-sparse -o other");
    assert_eq!(program.json("info other")["coder"], "one-sparse");
}

#[test]
fn weights_of_each_sample_are_a_row_each_and_better_than_shared_ones() {
    let program = trained();
    let shared = program.json("weights m samples.npy -o w")["error"].as_f64().unwrap();
    let report = program.json("weights m samples.npy --per-sample -o beta.npy");
    assert!(report["error"].as_f64().unwrap() < shared && report["holds"] == true);
    let beta = read::<f64>(program.path("beta.npy")).unwrap().to_matrix();
    assert_eq!((beta.rows(), beta.columns()), (4, 300));
    for i in 0..300 {
        let weights = beta.column(i);
        assert!(weights.iter().all(|weight| *weight >= 0.0) && (weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }
    let (text, _) = program.succeed("weights m samples.npy --per-sample -o beta.csv");
    assert!(text.starts_with("simplex weights for each of 300 samples\nmean ‖x − x̂‖² "), "{text}");
}

#[test]
fn what_cannot_be_weighted_is_refused() {
    let program = trained();
    matrix_file::write(program.path("narrow.csv"), samples::<f64>().view()).unwrap();
    program.succeed("train --method mod --atoms 4 --iterations 1 -o one samples.npy");
    let before = program.files();
    for (words, code, message) in [
        ("weights one samples.npy -o w", 1, "one is no ensemble"),
        ("weights m samples.npy -o one", 1, "one exists"),
        ("weights m samples.npy --per-sample -o w", 1, "must end in .npy or .csv"),
    ] {
        let line = program.fail(words, code);
        assert!(line.contains(message), "{words}: {line}");
    }
    let unknown = program.run("weights m samples.npy --constraint convex -o w");
    assert_eq!(unknown.status.code(), Some(2));
    assert!(String::from_utf8(unknown.stderr).unwrap().contains("unconstrained, non-negative, affine, simplex"));
    assert_eq!(program.files(), before);
}
