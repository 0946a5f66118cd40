//! The paper's super-resolution: features and back-projection as SciPy has them, laws of pairs and of enlarged pictures,
//! and published figures where the data is.

#![allow(clippy::unwrap_used)] // in a test, a panic is the report

use std::cell::RefCell;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use sparsemble::coding::{Lasso, OneSparse};
use sparsemble::dictionary::{Centers, Examples, WeakLearner};
use sparsemble::ensemble::{Averaging, Boost, Ensemble};
use sparsemble::image::{BitDepth, GrayImage, Interpolation, Size, read, rescale};
use sparsemble::matrix_file::write_arrays;
use sparsemble::metrics::{mse, psnr};
use sparsemble::restoration::super_resolution::{
    BackProjection, ByDictionary, PairLayout, Pairs, TrainingPairs, gradient_features, read_scsr,
};
use sparsemble::{Error, Matrix, Run};

use crate::npy::golden;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn photograph(name: &str) -> GrayImage {
    read(repository().join("data/cc0").join(name)).unwrap()
}

/// A reference as a picture: its rows are columns of the matrix.
fn golden_picture(name: &str) -> GrayImage {
    let matrix = golden(&format!("super_resolution_{name}"));
    GrayImage::new(Size { width: matrix.rows(), height: matrix.columns() }, matrix.into_vec()).unwrap()
}

fn halved(picture: &GrayImage) -> GrayImage {
    rescale(picture, 0.5, Interpolation::Bicubic, Run::default()).unwrap().quantised(BitDepth::Eight)
}

fn doubled(picture: &GrayImage) -> GrayImage {
    rescale(picture, 2.0, Interpolation::Bicubic, Run::default()).unwrap().quantised(BitDepth::Eight)
}

/// A piece of a photograph that nothing here is trained on.
fn truth() -> GrayImage {
    photograph("camera.png").cropped((90, 190), Size { width: 96, height: 80 }).unwrap()
}

fn pairs(count: usize) -> Pairs<f32> {
    let draw = TrainingPairs { count, seed: 3, ..TrainingPairs::default() };
    draw.draw(&["chelsea.png", "coffee.png"].map(photograph), Run::default()).unwrap()
}

/// RandExAv.
fn averaged(n_models: usize) -> Ensemble<f32> {
    let (pairs, examples) = (pairs(4000), Examples { n_atoms: 400 });
    let averaging = Averaging { n_models, seed: 3, ..Averaging::new(&examples) };
    pairs.layout().paired(&averaging.fit(pairs.samples().view(), Run::default()).unwrap()).unwrap()
}

#[test]
fn gradient_features_are_those_of_scipy() {
    let picture = golden_picture("picture");
    let side = picture.size().width;
    let found = gradient_features::<f64>(&picture, side, &[(0, 0)]).unwrap();
    assert_eq!(found, golden("super_resolution_features"));
    // Those of a patch are a part of those of the picture.
    let (row, column) = (4, 7);
    let part = gradient_features::<f64>(&picture, 5, &[(row, column)]).unwrap();
    for (index, value) in part.column(0).iter().enumerate() {
        let (filter, r, c) = (index / 25, row + index / 5 % 5, column + index % 5);
        assert!((value - found.column(0)[(filter * side + r) * side + c]).abs() < 1e-12);
    }
}

#[test]
fn back_projections_are_those_of_scipy() {
    let (estimate, small) = (golden_picture("estimate"), golden_picture("small"));
    let found = BackProjection { iterations: 4 }.apply(&estimate, &small, Run::threads(2)).unwrap();
    let expected = golden_picture("projected");
    for (found, expected) in found.samples().iter().zip(expected.samples()) {
        assert!((found - expected).abs() < 1e-9, "{found} for {expected}");
    }
}

#[test]
fn pairs_have_parts_of_fixed_norms_and_depend_on_the_seed_alone() {
    let images = ["chelsea.png", "coffee.png"].map(photograph);
    let draw = TrainingPairs { count: 3000, seed: 3, ..TrainingPairs::default() };
    let pairs = draw.draw::<f64>(&images, Run::threads(1)).unwrap();
    assert!((1000..=3000).contains(&pairs.samples().columns()));
    for i in 0..pairs.samples().columns() {
        let (hi, lo) = pairs.samples().column(i).split_at(pairs.layout().n_hi());
        let energy = |part: &[f64]| part.iter().map(|value| value * value).sum::<f64>();
        assert!((energy(hi) - 0.2).abs() < 1e-12 && (energy(lo) - 0.8).abs() < 1e-12);
        assert!(hi.iter().sum::<f64>().abs() < 1e-10);
    }
    assert_eq!(draw.draw::<f64>(&images, Run::threads(3)).unwrap(), pairs);
    assert_ne!(TrainingPairs { seed: 4, ..draw }.draw::<f64>(&images, Run::threads(1)).unwrap(), pairs);
    let all = TrainingPairs { min_variance: 0.0, ..draw }.draw::<f64>(&images, Run::threads(1)).unwrap();
    assert!(all.samples().columns() > pairs.samples().columns());
}

#[test]
fn a_paired_ensemble_is_the_stacked_one_of_which_only_the_features_are_seen() {
    let pairs = pairs(2000);
    let (layout, samples) = (pairs.layout(), pairs.samples());
    let (phi, coder) = (layout.seen().unwrap(), OneSparse::default());
    let lo = Matrix::from_fn(layout.n_lo(), 300, |r, i| samples.column(i)[layout.n_hi() + r]);
    let learners: [&dyn WeakLearner<f32>; 2] = [&Examples { n_atoms: 60 }, &Centers::new(60)];
    for learner in learners {
        let n_judged = Some(layout.n_hi());
        let boost = Boost { n_models: 4, phi: Some(&phi), n_judged, ..Boost::new(learner, &coder) };
        let stacked = boost.fit(samples.view(), Run::default()).unwrap();
        let paired = layout.paired(&stacked).unwrap();
        assert_eq!((paired.beta(), paired.training()), (stacked.beta(), stacked.training()));
        assert_eq!(paired.models()[0].sources(), stacked.models()[0].sources());
        let whole = stacked.degraded_by(&phi).unwrap().approximate(lo.view(), &coder, Run::default()).unwrap();
        let found = paired.approximate(lo.view(), &coder, Run::default()).unwrap();
        for i in 0..lo.columns() {
            for (found, expected) in found.values.column(i).iter().zip(whole.values.column(i)) {
                assert!((found - expected).abs() < 1e-5, "{learner}: {found} for {expected}");
            }
        }
    }
}

#[test]
fn an_ensemble_enlarges_better_than_bicubic_and_gives_the_same_bits_for_any_threads() {
    let (truth, ensemble, coder) = (truth(), averaged(5), OneSparse::default());
    let small = halved(&truth);
    let method = ByDictionary::new(&ensemble, &coder);
    let found = method.enlarge(&small, Run::threads(1)).unwrap();
    assert_eq!(method.enlarge(&small, Run::threads(3)).unwrap(), found);
    let bicubic = doubled(&small);
    let projected = BackProjection::default().apply(&bicubic, &small, Run::default()).unwrap();
    let [bicubic, projected, found_psnr] =
        [&bicubic, &projected, &found.image].map(|image| psnr(&truth, image).unwrap());
    assert!(found_psnr > bicubic + 0.7 && found_psnr > projected, "{bicubic} {projected} {found_psnr}");
    // The members differ where there is something to see, and a single one from nobody.
    let doubt = found.deviation.samples().iter().sum::<f64>() / found.deviation.samples().len() as f64;
    assert!((0.1..20.0).contains(&doubt), "{doubt}");
    let alone = ensemble.truncated(1).unwrap();
    let alone = ByDictionary::new(&alone, &coder).enlarge(&small, Run::default()).unwrap();
    assert!(alone.deviation.samples().iter().all(|deviation| *deviation < 1e-3));
    assert!(psnr(&truth, &alone.image).unwrap() < found_psnr);
}

#[test]
fn the_enlarged_picture_made_small_is_the_small_picture() {
    let (ensemble, coder) = (averaged(2), OneSparse::default());
    let small = halved(&truth());
    let missed = |iterations: usize| {
        let method =
            ByDictionary { back_projection: BackProjection { iterations }, ..ByDictionary::new(&ensemble, &coder) };
        let found = method.enlarge(&small, Run::default()).unwrap().image;
        mse(&small, &rescale(&found, 0.5, Interpolation::Bicubic, Run::default()).unwrap()).unwrap().sqrt()
    };
    let (none, some, many) = (missed(0), missed(20), missed(100));
    assert!(none > 1.0 && some < 0.1 * none && many < 0.3 * some, "{none} {some} {many}");
}

#[test]
fn pictures_of_any_size_are_enlarged_by_any_factor() {
    let (ensemble, coder) = (averaged(2), Lasso::lambda(0.4));
    for (width, height, scale) in [(1, 1, 2), (2, 40, 2), (5, 4, 2), (6, 5, 2), (9, 13, 3), (7, 5, 4), (8, 8, 1)] {
        let small = truth().cropped((0, 0), Size { width, height }).unwrap();
        let method = ByDictionary { scale, ..ByDictionary::new(&ensemble, &coder) };
        let found = method.enlarge(&small, Run::default()).unwrap();
        let size = Size { width: width * scale, height: height * scale };
        assert_eq!((found.image.size(), found.deviation.size()), (size, size));
        assert!(found.image.samples().iter().chain(found.deviation.samples()).all(|value| value.is_finite()));
    }
    // Too small for a patch: bicubic and back-projection are left.
    let small = truth().cropped((0, 0), Size { width: 4, height: 30 }).unwrap();
    let projected = BackProjection::default().apply(&doubled(&small), &small, Run::default()).unwrap();
    assert_eq!(ByDictionary::new(&ensemble, &coder).enlarge(&small, Run::default()).unwrap().image, projected);
}

#[test]
fn an_even_picture_stays_even_and_a_picture_keeps_its_brightness() {
    let (ensemble, coder) = (averaged(2), OneSparse::default());
    let enlarge =
        |small: &GrayImage| ByDictionary::new(&ensemble, &coder).enlarge(small, Run::default()).unwrap().image;
    let even = GrayImage::from_fn(Size { width: 20, height: 14 }, |_, _| 93.0).unwrap();
    assert!(enlarge(&even).samples().iter().all(|value| (value - 93.0).abs() < 1e-9));
    let small = halved(&truth());
    let mean = |image: &GrayImage| image.samples().iter().sum::<f64>() / image.samples().len() as f64;
    assert!((mean(&enlarge(&small)) - mean(&small)).abs() < 0.2);
}

#[test]
fn progress_never_falls_and_can_stop_the_work() {
    let (ensemble, coder) = (averaged(2), OneSparse::default());
    let small = halved(&truth());
    let told = RefCell::new(Vec::new());
    let tell = |done: usize, total: usize| {
        told.borrow_mut().push((done, total));
        ControlFlow::Continue(())
    };
    let method = ByDictionary::new(&ensemble, &coder);
    method.enlarge(&small, Run::threads(2).on_progress(&tell)).unwrap();
    let told = told.into_inner();
    let total = told[0].1;
    assert!(told.is_sorted() && told.iter().all(|(done, all)| done <= all && *all == total));
    assert_eq!(told.last(), Some(&(total, total)));
    for share in [0.1, 0.95] {
        let stop = |done: usize, total: usize| {
            if done as f64 > share * total as f64 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let stopped = method.enlarge(&small, Run::threads(1).on_progress(&stop));
        assert!(matches!(stopped, Err(Error::Interrupted { .. })), "{share}");
    }
}

#[test]
fn what_does_not_fit_together_is_refused_by_name() {
    let (ensemble, coder) = (averaged(1), OneSparse::default());
    let small = halved(&truth());
    let refused = |method: ByDictionary<'_, f32>, small: &GrayImage| {
        method.enlarge(small, Run::default()).unwrap_err().to_string()
    };
    let method = ByDictionary::new(&ensemble, &coder);
    assert!(refused(ByDictionary { scale: 0, ..method }, &small).starts_with("scale = 0"));
    assert!(refused(ByDictionary { contrast: f64::NAN, ..method }, &small).starts_with("contrast"));
    let bad = GrayImage::from_fn(Size { width: 9, height: 9 }, |row, _| if row == 3 { f64::NAN } else { 1.0 }).unwrap();
    assert!(refused(method, &bad).contains("image holds a NaN or infinite value at row 3, column 0"));
    let (pairs, examples) = (pairs(500), Examples { n_atoms: 9 });
    let stacked = Averaging { n_models: 1, ..Averaging::new(&examples) }.fit(pairs.samples().view(), Run::default());
    let stacked = stacked.unwrap();
    assert!(refused(ByDictionary::new(&stacked, &coder), &small).contains("125 features to 125 pixels"));
    assert!(PairLayout { side: 4 }.paired(&stacked).is_err());
    for draw in [
        TrainingPairs { scale: 1, ..TrainingPairs::default() },
        TrainingPairs { side: 1, ..TrainingPairs::default() },
        TrainingPairs { count: 0, ..TrainingPairs::default() },
        TrainingPairs { min_variance: f64::NAN, ..TrainingPairs::default() },
    ] {
        assert!(draw.draw::<f32>(&[truth()], Run::default()).is_err(), "{draw:?}");
    }
}

#[test]
fn a_dictionary_of_the_published_program_is_read_with_its_patches_turned_round() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, (lo_rows, hi_rows): (usize, usize)| {
        let path = folder.path().join(name);
        // In the file a row is a feature, which is a column here.
        let lo = Matrix::from_fn(3, lo_rows, |atom, feature| ((7 * atom + feature) as f64).sin());
        let hi = Matrix::from_fn(3, hi_rows, |atom, feature| ((5 * atom + feature) as f64).cos());
        write_arrays(&path, &[("Dl", lo.view()), ("Dh", hi.view())]).unwrap();
        read_scsr::<f64>(&path)
    };
    let read = write("good.npz", (16, 4)).unwrap();
    let model = &read.models()[0];
    assert_eq!((model.n_atoms(), model.n_inputs(), model.n_features()), (3, 16, 4));
    let expected = [0, 2, 1, 3].map(|feature| f64::from(5 + feature).cos());
    assert_eq!(model.synthesis().column(1), expected);
    assert!(write("bad.npz", (15, 4)).unwrap_err().to_string().contains("M and 4M rows"));
    assert!(read_scsr::<f64>(folder.path().join("absent.mat")).is_err());
}

#[test]
fn the_published_program_and_its_dictionary_are_repeated_on_the_real_pictures() {
    let data = repository().join("../shared/data");
    if !data.is_dir() {
        // Past the capture of the test runner, so that it is seen.
        let _ = writeln!(std::io::stderr(), "SKIPPED: the paper's data is not at {}", data.display());
        return;
    }
    let picture = |name: &str| read(data.join("images/standard").join(name)).unwrap();
    for (name, bicubic, projected) in [("lena_512.png", 34.11, 35.48), ("cameraman_256.png", 26.33, 27.22)] {
        let (truth, small) = (picture(name), halved(&picture(name)));
        let enlarged = doubled(&small);
        let found = BackProjection::default().apply(&enlarged, &small, Run::default()).unwrap();
        let [enlarged, found] = [enlarged, found].map(|image| psnr(&truth, &image).unwrap());
        assert!((enlarged - bicubic).abs() < 0.006, "{name}: {enlarged} for {bicubic}");
        assert!((found - projected).abs() < 0.03, "{name}: {found} for {projected}");
    }
    let (truth, coder) = (picture("cameraman_256.png"), Lasso::lambda(0.4));
    let dictionary = read_scsr::<f32>(data.join("scsr/D_1024_0.15_5.mat")).unwrap();
    let found = ByDictionary::new(&dictionary, &coder).enlarge(&halved(&truth), Run::default()).unwrap();
    let found = psnr(&truth, &found.image.quantised(BitDepth::Eight)).unwrap();
    assert!((found - 28.01).abs() < 0.03, "{found}");
}
