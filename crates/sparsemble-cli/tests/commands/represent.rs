//! `sparsemble encode` and `sparsemble reconstruct`.

use sparsemble::coding::Coder;
use sparsemble::degradation::Operator;
use sparsemble::matrix_file::{read, read_codes};
use sparsemble::model_file::load;
use sparsemble::restoration::measure;
use sparsemble::{Matrix, Run, Scalar};

use crate::program::{Program, samples};

/// A folder with samples and a model of them.
fn trained<T: Scalar>(options: &str) -> Program {
    let program = Program::with_samples::<T>();
    program.succeed(&format!("train {options} --seed 1 -o m samples.npy"));
    program
}

const BOOST: &str = "--method boost-ex --atoms 6 --models 3 --lambda 0.1";

#[test]
fn codes_are_those_of_the_library_in_every_format_and_give_the_approximations_back() {
    let program = trained::<f64>(BOOST);
    let model = load::<f64>(program.path("m")).unwrap().model;
    let expected = model.transform(samples().view(), &Coder::lambda(0.1), Run::default()).unwrap().codes;
    for name in ["codes.npz", "codes.npy", "codes.csv"] {
        let report = program.json(&format!("encode m samples.npy -o {name}"));
        assert_eq!((&report["n_samples"], &report["n_atoms"]), (&300.into(), &18.into()));
        assert_eq!(report["n_nonzero"], expected.n_nonzero());
        assert_eq!(report["coder"], "lasso:lambda=0.1");
        assert_eq!(read_codes::<f64>(program.path(name)).unwrap(), expected);
        program.succeed(&format!("reconstruct m {name} -o {name}.npy"));
        let approximations = read::<f64>(program.path(&format!("{name}.npy"))).unwrap().to_matrix();
        assert_eq!(approximations, model.reconstruct(&expected, Run::default()).unwrap());
    }
}

#[test]
fn samples_are_approximated_with_their_errors_and_the_spread_of_the_members() {
    let program = trained::<f32>(BOOST);
    let report = program.json("reconstruct m --samples samples.npy -o out.npy --spread spread.npy");
    let model = load::<f32>(program.path("m")).unwrap().model;
    let expected = model.approximate(samples().view(), &Coder::lambda(0.1), Run::default()).unwrap();
    assert_eq!(read::<f32>(program.path("out.npy")).unwrap().to_matrix(), expected.values);
    assert_eq!(read::<f64>(program.path("spread.npy")).unwrap().to_matrix().into_vec(), expected.spread.unwrap());

    let original: Matrix<f32> = samples();
    let error = |i: usize| -> f64 {
        let pairs = original.column(i).iter().zip(expected.values.column(i));
        pairs.map(|(&x, &y)| (f64::from(x) - f64::from(y)).powi(2)).sum()
    };
    let mean = (0..300).map(error).sum::<f64>() / 300.0;
    assert!((report["error"]["mean"].as_f64().unwrap() - mean).abs() < 1e-9 * mean);
    assert!(report["error"]["relative"].as_f64().unwrap() < 0.3);
    let worst = report["error"]["worst_sample"].as_u64().unwrap() as usize;
    assert!((0..300).all(|i| error(i) <= error(worst)));
    let (text, _) = program.succeed("reconstruct m --samples samples.npy -o again.csv");
    assert!(text.contains("300 samples of 16 features by lasso:lambda=0.1\nmean ‖x − x̂‖² "), "{text}");
}

#[test]
fn another_coder_may_be_asked_for() {
    let program = trained::<f64>(BOOST);
    let report = program.json("encode m samples.npy -o codes.npz --sparsity 2");
    assert_eq!(report["coder"], "omp:sparsity=2");
    // Two atoms of each of three dictionaries; a sample that is itself an atom needs one.
    assert!((5.5..=6.0).contains(&report["atoms_per_sample"].as_f64().unwrap()), "{report}");
    let (_, warning) = program.succeed("encode m samples.npy -o none.npz --lambda 1e6");
    assert_eq!(warning, "warning: all codes are zero: the penalty is too large for these samples\n");
}

#[test]
fn levels_code_in_their_own_way_and_one_dictionary_has_no_spread() {
    let program = trained::<f32>("--method ex-mld --atoms 4 --models 2 --levels 3");
    assert_eq!(program.json("encode m samples.npy -o codes.npz")["coder"], "multilevel");
    program.succeed("reconstruct m codes.npz -o a.npy");
    program.succeed("reconstruct m --samples samples.npy -o b.npy");
    assert!(program.bytes("a.npy") == program.bytes("b.npy"));
    let usage = program.fail("encode m samples.npy -o c.npz --sparsity 2", 2);
    assert_eq!(usage, "a multilevel dictionary codes in its own way; leave the coder out");
    program.succeed("reconstruct m --samples samples.npy -o c.npy --spread s.npy");
    let spread = read::<f64>(program.path("s.npy")).unwrap().to_matrix().into_vec();
    assert!(spread.len() == 300 && spread.iter().any(|spread| *spread > 0.0));
    let program = trained::<f32>("--method mld --atoms 4 --levels 3");
    let spread = program.fail("reconstruct m --samples samples.npy -o c.npy --spread s.npy", 1);
    assert_eq!(spread, "--spread: the model has one dictionary, and none that it can differ from; leave it out");
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_is_written() {
    let program = trained::<f32>(BOOST);
    let narrow = Matrix::<f32>::from_fn(3, 5, |r, i| (r + i) as f32);
    sparsemble::matrix_file::write(program.path("narrow.npy"), narrow.view()).unwrap();
    let mut bad = samples::<f32>();
    bad.column_mut(7)[2] = f32::NAN;
    sparsemble::matrix_file::write(program.path("bad.npy"), bad.view()).unwrap();
    let before = program.files();
    for (words, message) in [
        ("encode m narrow.npy -o c.npz", "expected 16, found 3"),
        ("encode m bad.npy -o c.npz", "samples: the value in row 7, column 2 (counted from 0) is NaN or infinite"),
        ("encode m samples.npy -o c.txt", "c.txt: the name of this file must end in .npz, .npy or .csv"),
        ("reconstruct m narrow.npy -o c.npy", "expected 18, found 3"),
        ("reconstruct m --samples samples.npy -o c.npz", "must end in .npy or .csv"),
        ("encode samples.npy m -o c.npz", "this is not a safetensors file"),
    ] {
        let line = program.fail(words, 1);
        assert!(line.contains(message), "{words}: {line}");
    }
    for words in
        ["reconstruct m -o c.npy", "reconstruct m c.npz --samples samples.npy -o c.npy", "encode m samples.npy"]
    {
        assert_eq!(program.run(words).status.code(), Some(2), "{words}");
    }
    assert_eq!(program.files(), before);
}

#[test]
fn a_model_that_was_trained_through_phi_recovers_samples_from_measurements() {
    let program = Program::with_samples::<f64>();
    let (phi, samples) = (Matrix::from_fn(16, 6, |r, c| f64::from(u8::from(r % 6 == c))), samples::<f64>());
    let measurement = |n: usize, i: usize| (0..16).filter(|r| r % 6 == n).map(|r| samples.column(i)[r]).sum::<f64>();
    let measured = Matrix::from_fn(6, 300, measurement);
    sparsemble::matrix_file::write(program.path("phi.npy"), phi.view()).unwrap();
    sparsemble::matrix_file::write(program.path("measured.npy"), measured.view()).unwrap();
    program.succeed("train --method boost-ex --atoms 20 --models 3 --one-sparse --phi phi.npy -o m samples.npy");
    assert_eq!(program.json("encode m measured.npy -o codes.npz")["n_atoms"], 60);
    let report = program.json("reconstruct m --samples measured.npy -o a.npy");
    assert!(report["error"].is_null() && report["n_features"] == 16, "{report}");
    program.succeed("reconstruct m codes.npz -o b.npy");
    assert!(program.bytes("a.npy") == program.bytes("b.npy"));
    let recovered = read::<f64>(program.path("a.npy")).unwrap().to_matrix();
    let energy = |matrix: &Matrix<f64>| matrix.as_slice().iter().map(|x| x * x).sum::<f64>();
    let left = Matrix::from_fn(16, 300, |r, i| samples.column(i)[r] - recovered.column(i)[r]);
    assert!(energy(&left) < 0.6 * energy(&samples), "{}", energy(&left) / energy(&samples));
}

#[test]
fn as_many_measurements_as_pixels_are_measurements_if_that_is_said() {
    let program = Program::with_samples::<f64>();
    let blur = "blur:sigma=1.6".parse::<Operator>().unwrap().matrix::<f64>(16).unwrap();
    let measured = measure(&blur, samples::<f64>().view()).unwrap();
    sparsemble::matrix_file::write(program.path("measured.npy"), measured.view()).unwrap();
    program.succeed("train --method boost-ex --atoms 20 --models 3 --one-sparse --phi blur:sigma=1.6 -o m samples.npy");
    program.succeed("encode m measured.npy --measurements -o codes.npz");
    let loaded = load::<f64>(program.path("m")).unwrap();
    let (coder, model) = (loaded.model.coder().unwrap(), loaded.model.degraded_by(&blur).unwrap());
    let expected = model.transform(measured.view(), &coder, Run::default()).unwrap().codes;
    assert_eq!(read_codes::<f64>(program.path("codes.npz")).unwrap(), expected);

    let report = program.json("reconstruct m --samples measured.npy --measurements -o a.npy");
    assert!(report["error"].is_null(), "{report}");
    program.succeed("reconstruct m codes.npz -o b.npy");
    assert!(program.bytes("a.npy") == program.bytes("b.npy"));
    // Without the word they are samples.
    program.succeed("encode m measured.npy -o plain.npz");
    assert!(program.bytes("plain.npz") != program.bytes("codes.npz"));

    program.succeed("train --method boost-ex --atoms 20 --models 3 --one-sparse -o p samples.npy");
    assert!(program.fail("encode p measured.npy --measurements -o n.npz", 1).contains("leave --measurements out"));
    let refused = program.run("reconstruct m codes.npz --measurements -o n.npy");
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(2) && said.contains("--measurements") && said.contains("CODES"), "{said}");
}
