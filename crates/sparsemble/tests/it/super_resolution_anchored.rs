//! Laws of enlarging by anchored ensembles: learned and used on any number of threads to the same bits, strip by strip as
//! at once, better than bicubic on what was not learned from, and through a file unchanged.

#![allow(clippy::unwrap_used)] // in a test, a panic is the report

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::LazyLock;

use sparsemble::ensemble::{Precision, Upscaler};
use sparsemble::image::{GrayImage, Interpolation, Size, read, rescale};
use sparsemble::metrics::psnr;
use sparsemble::model_file::{self, Record};
use sparsemble::restoration::super_resolution::{Enlargement, StageSettings, UpscalerLearner, natural_upscaler};
use sparsemble::{Error, Model, Run};

/// A piece of a committed photograph.
fn photo(name: &str, origin: (usize, usize), size: Size) -> GrayImage {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/cc0").join(name);
    read(path).unwrap().cropped(origin, size).unwrap()
}

const LEARNED: Size = Size { width: 150, height: 130 };

fn pictures() -> Vec<GrayImage> {
    [("camera.png", (60, 150)), ("astronaut.png", (20, 150)), ("coffee.png", (120, 200)), ("camera.png", (300, 100))]
        .map(|(name, origin)| photo(name, origin, LEARNED))
        .into()
}

/// Held out: no pixel of it is in the pictures.
fn held_out(scale: usize) -> (GrayImage, GrayImage) {
    let picture = photo("chelsea.png", (40, 120), Size { width: 40 * scale, height: 36 * scale });
    let small = rescale(&picture, 1.0 / scale as f64, Interpolation::Bicubic, Run::default()).unwrap();
    (picture, small)
}

fn learner(scale: usize) -> UpscalerLearner {
    let first = StageSettings {
        low_side: 7,
        n_atoms: 24,
        n_models: 2,
        n_features: 8,
        n_directions: 20,
        n_parts: 12,
        ..StageSettings::first(scale)
    };
    let second = StageSettings {
        low_side: 3,
        n_atoms: 16,
        n_models: 2,
        n_features: 8,
        n_directions: 20,
        n_parts: 12,
        ..StageSettings::later(scale)
    };
    UpscalerLearner { stages: vec![first, second], copies: vec![1.0, 0.7], ..UpscalerLearner::new(scale) }
}

static UPSCALER: LazyLock<Upscaler<f32>> =
    LazyLock::new(|| learner(2).fit::<f32>(&pictures(), Run::threads(1)).unwrap());

fn bytes(upscaler: &Upscaler<f32>) -> Vec<u8> {
    model_file::encode(upscaler, &Record::default()).unwrap()
}

#[test]
fn it_is_learned_to_the_same_bits_on_any_number_of_threads() {
    let three = learner(2).fit::<f32>(&pictures(), Run::threads(3)).unwrap();
    assert_eq!(bytes(&three), bytes(&UPSCALER));
    let (_, small) = held_out(2);
    assert_eq!(three.enlarge(&small, Run::threads(3)).unwrap(), UPSCALER.enlarge(&small, Run::threads(1)).unwrap());
    let other = UpscalerLearner { seed: 1, ..learner(2) }.fit::<f32>(&pictures(), Run::default()).unwrap();
    assert_ne!(bytes(&other), bytes(&UPSCALER));
}

#[test]
fn every_stage_is_better_than_what_came_before_on_a_picture_it_never_saw() {
    for (scale, gain) in [(2, 1.0), (3, 0.5), (4, 0.3)] {
        let (picture, small) = held_out(scale);
        let mut best = psnr(&picture, &rescale(&small, scale as f64, Interpolation::Bicubic, Run::default()).unwrap());
        let mut learning = learner(scale).begin::<f32>(&pictures(), Run::default()).unwrap();
        let mut gains = Vec::new();
        while !learning.is_complete() {
            learning.step(Run::default()).unwrap();
            if learning.n_done().is_multiple_of(2) {
                let enlarged = learning.upscaler().unwrap().enlarge(&small, Run::default()).unwrap().image;
                let quality = psnr(&picture, &enlarged);
                gains.push(quality.clone().unwrap() - best.unwrap());
                best = quality;
            }
        }
        assert!(gains[0] > gain && gains[1] > 0.0, "scale {scale}: {gains:?}");
    }
}

#[test]
fn rows_are_those_of_the_whole() {
    let (_, small) = held_out(2);
    let whole = UPSCALER.enlarge(&small, Run::default()).unwrap();
    for rows in [0..1, 0..36, 5..6, 7..20, 30..36, 35..36] {
        let part = UPSCALER.enlarge_rows(&small, rows.clone(), Run::threads(2)).unwrap();
        let size = Size { width: 80, height: 2 * rows.len() };
        assert_eq!(part.image, whole.image.cropped((2 * rows.start, 0), size).unwrap(), "{rows:?}");
        assert_eq!(part.deviation, whole.deviation.cropped((2 * rows.start, 0), size).unwrap(), "{rows:?}");
    }
    for rows in [3..3, 30..37, 36..40] {
        assert!(UPSCALER.enlarge_rows(&small, rows, Run::default()).is_err());
    }
}

#[test]
fn brightness_is_kept_and_even_pictures_stay_even() {
    let mean = |image: &GrayImage| image.samples().iter().sum::<f64>() / image.samples().len() as f64;
    let (_, small) = held_out(2);
    let found = UPSCALER.enlarge(&small, Run::default()).unwrap();
    assert!((mean(&found.image) - mean(&small)).abs() < 0.1, "{} for {}", mean(&found.image), mean(&small));
    for (size, level) in [(Size { width: 9, height: 7 }, 77.0), (Size { width: 1, height: 1 }, 255.0)] {
        let even = GrayImage::from_fn(size, |_, _| level).unwrap();
        let found = UPSCALER.enlarge(&even, Run::default()).unwrap();
        assert_eq!(found.image.size(), Size { width: 2 * size.width, height: 2 * size.height });
        assert!(found.image.samples().iter().all(|value| (value - level).abs() < 1e-3));
        assert!(found.deviation.samples().iter().all(|doubt| *doubt < 1e-2));
    }
}

#[test]
fn doubt_is_larger_where_the_error_is() {
    let (picture, small) = held_out(2);
    let found = UPSCALER.enlarge(&small, Run::default()).unwrap();
    let errors = found.image.samples().iter().zip(picture.samples()).map(|(a, b)| (a - b).powi(2));
    let mut pixels: Vec<(f64, f64)> = found.deviation.samples().iter().copied().zip(errors).collect();
    pixels.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let error = |part: &[(f64, f64)]| part.iter().map(|(_, square)| square).sum::<f64>() / part.len() as f64;
    let errors: Vec<f64> = pixels.chunks(pixels.len() / 4).take(4).map(error).collect();
    assert!(errors.is_sorted() && errors[3] > 2.0 * errors[0], "{errors:?}");
}

#[test]
fn a_file_keeps_every_bit_in_every_precision() {
    let (picture, small) = held_out(2);
    let full = UPSCALER.with_precision(Precision::Full).unwrap();
    let quality =
        |upscaler: &Upscaler<f32>| psnr(&picture, &upscaler.enlarge(&small, Run::default()).unwrap().image).unwrap();
    for (precision, bits) in [(Precision::Full, 32), (Precision::Half, 16), (Precision::Byte, 8)] {
        let kept = full.with_precision(precision).unwrap();
        assert!((quality(&kept) - quality(&full)).abs() < 0.05, "{precision:?}");
        let bytes = bytes(&kept);
        let maps = kept.stages().iter().map(|stage| stage.ensemble().n_atoms() * 20 * 12);
        assert!(bytes.len() < maps.sum::<usize>() * bits / 8 * 5 / 4 + 50_000, "{precision:?}: {}", bytes.len());
        let Model::Upscaler(again) = model_file::decode::<f32>(&bytes).unwrap().model else { panic!("no upscaler") };
        assert_eq!(self::bytes(&again), bytes);
        assert_eq!(again.enlarge(&small, Run::default()).unwrap(), kept.enlarge(&small, Run::default()).unwrap());
    }
}

#[test]
fn a_training_that_was_left_is_resumed_to_the_same_bits() {
    let mut learning = learner(2).begin::<f32>(&pictures(), Run::default()).unwrap();
    for done in 1..=4 {
        learning.step(Run::default()).unwrap();
        assert_eq!((learning.n_done(), learning.n_steps()), (done, 4));
        let so_far = learning.upscaler().unwrap();
        let mut resumed = learner(2).resume(&pictures(), &so_far, Run::default()).unwrap();
        assert_eq!(resumed.n_done(), done);
        if done == 1 || done == 3 {
            while !resumed.is_complete() {
                resumed.step(Run::default()).unwrap();
            }
            assert_eq!(bytes(&resumed.upscaler().unwrap()), bytes(&UPSCALER));
        }
    }
    let other = UpscalerLearner { orientations: 2, ..learner(2) };
    assert!(other.resume(&pictures(), &UPSCALER, Run::default()).is_err());
}

#[test]
fn a_training_and_an_enlargement_can_be_stopped() {
    let stop =
        |done: usize, total: usize| if 3 * done > total { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let run = || Run::threads(2).on_progress(&stop);
    let stopped = learner(2).fit::<f32>(&pictures(), run());
    assert!(matches!(stopped, Err(Error::Interrupted { .. })), "{stopped:?}");
    let (_, small) = held_out(2);
    assert!(matches!(UPSCALER.enlarge(&small, run()), Err(Error::Interrupted { .. })));
}

#[test]
fn what_makes_no_sense_is_refused_by_name() {
    let refused = |change: &dyn Fn(&mut UpscalerLearner)| {
        let mut learner = learner(2);
        change(&mut learner);
        learner.fit::<f32>(&pictures(), Run::default()).unwrap_err().to_string()
    };
    assert!(refused(&|learner| learner.scale = 1).contains("scale"));
    assert!(refused(&|learner| learner.orientations = 9).contains("orientations"));
    assert!(refused(&|learner| learner.folds = 0).contains("folds"));
    assert!(refused(&|learner| learner.folds = 3).contains("n_models"));
    assert!(refused(&|learner| learner.copies = vec![2.0]).contains("copies"));
    assert!(refused(&|learner| learner.stages.clear()).contains("stages"));
    assert!(refused(&|learner| learner.stages[0].high_side = 8).contains("high_side"));
    assert!(refused(&|learner| learner.stages[1].high_side = 7).contains("high_side"));
    assert!(refused(&|learner| learner.stages[0].low_side = 8).contains("low_side"));
    assert!(refused(&|learner| learner.stages[0].view_side = 9).contains("view_side"));
    assert!(refused(&|learner| learner.stages[0].shrinkage = f64::NAN).contains("shrinkage"));
    assert!(refused(&|learner| learner.stages[0].n_atoms = 1 << 20).contains("contrast"));
    assert!(learner(2).fit::<f32>(&[], Run::default()).unwrap_err().to_string().contains("picture"));
    let size = Size { width: 4, height: 4 };
    for value in [f64::NAN, f64::INFINITY, 1e10] {
        let bad = GrayImage::from_fn(size, |row, _| if row == 2 { value } else { 0.0 }).unwrap();
        assert!(UPSCALER.enlarge(&bad, Run::default()).unwrap_err().to_string().contains("image"));
    }
    assert!(Model::Upscaler(UPSCALER.with_precision(Precision::Half).unwrap()).atoms().rows() == 36);
}

#[test]
fn files_that_are_damaged_or_made_up_are_refused() {
    let tiny = UpscalerLearner {
        stages: vec![StageSettings {
            low_side: 3,
            view_side: 3,
            n_atoms: 2,
            n_models: 2,
            n_features: 2,
            n_directions: 6,
            n_parts: 5,
            ..StageSettings::first(2)
        }],
        copies: vec![1.0],
        precision: Precision::Byte,
        ..UpscalerLearner::new(2)
    };
    let good = bytes(&tiny.fit::<f32>(&pictures(), Run::default()).unwrap());
    assert!(model_file::decode::<f32>(&good).is_ok());
    for length in (0..good.len()).step_by(97) {
        assert!(model_file::decode::<f32>(&good[..length]).is_err(), "cut at {length}");
    }
    let length = u64::from_le_bytes(good[..8].try_into().unwrap()) as usize;
    let header = std::str::from_utf8(&good[8..8 + length]).unwrap();
    let with = |from: &str, to: &str| {
        assert!(header.contains(from), "{from}: {header}");
        let header = header.replacen(from, to, 1);
        let bytes = [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &good[8 + length..]].concat();
        model_file::decode::<f32>(&bytes).unwrap_err().to_string()
    };
    assert!(with("\"scale\":\"2\"", "\"scale\":\"3\"").contains("length of an output"));
    assert!(with("\"scale\":\"2\"", "\"scale\":\"99\"").contains("scale"));
    assert!(with("\"stages\":\"1\"", "\"stages\":\"18446744073709551615\"").contains("stage.1"));
    assert!(with("\"stages\":\"1\"", "\"stages\":\"0\"").contains("stage"));
    assert!(with("\"stage.0.low_side\":\"3\"", "\"stage.0.low_side\":\"5\"").contains("input"));
    assert!(with("\"stage.0.high_side\":\"0\"", "\"stage.0.high_side\":\"4\"").contains("input"));
    assert!(with("\"shape\":[10,6]", "\"shape\":[6,10]").contains("maps"));
    assert!(with("stage.0.member.0.scales", "stage.0.member.0.sizes").contains("missing"));
    // Any byte may be wrong: the file is refused, or it is an upscaler that still works.
    let (_, small) = held_out(2);
    let small = small.cropped((0, 0), Size { width: 5, height: 5 }).unwrap();
    let mut damaged = good.clone();
    for place in (8 + length..good.len()).step_by(5) {
        damaged[place] ^= 0x7f;
        if let Ok(loaded) = model_file::decode::<f32>(&damaged) {
            let Model::Upscaler(upscaler) = loaded.model else { panic!("no upscaler") };
            let found = upscaler.enlarge(&small, Run::threads(1)).unwrap();
            assert!(found.image.samples().iter().chain(found.deviation.samples()).all(|value| value.is_finite()));
        }
        damaged[place] = good[place];
    }
}

#[test]
fn pictures_by_rows_have_no_seams_with_the_models_of_the_library() {
    let small = photo("chelsea.png", (60, 100), Size { width: 24, height: 70 });
    for scale in [2, 3, 4] {
        let upscaler = natural_upscaler(scale).unwrap();
        let whole = upscaler.enlarge(&small, Run::default()).unwrap();
        let enlargement = Enlargement::new(&upscaler, small.size(), whole.image.size()).unwrap();
        let source = |rows: std::ops::Range<usize>| {
            Ok(vec![small.cropped((rows.start, 0), Size { width: 24, height: rows.len() })?])
        };
        let (mut samples, mut deviations) = (Vec::new(), Vec::new());
        for start in (0..enlargement.size().height).step_by(37) {
            let rows = start..(start + 37).min(enlargement.size().height);
            let strip = enlargement.rows(rows, &source, Run::default()).unwrap();
            samples.extend_from_slice(strip.planes[0].samples());
            deviations.extend_from_slice(strip.deviation.samples());
        }
        assert!(samples == whole.image.samples() && deviations == whole.deviation.samples(), "×{scale}");
    }
    assert!(natural_upscaler(5).unwrap_err().to_string().contains("2, 3 or 4"));
}
