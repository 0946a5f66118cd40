//! Laws of restored pictures: they fit what was seen, are nearer to the truth than the start, and are the same bits for
//! any number of threads.

#![allow(clippy::unwrap_used)] // in a test, a panic is the report

use std::ops::ControlFlow;
use std::path::Path;

use sparsemble::degradation::{Blur, Degradation, Dense, Identity, Mask, Projection};
use sparsemble::image::{GrayImage, Size, read};
use sparsemble::metrics::psnr;
use sparsemble::restoration::{
    BlockMeasurements, BothPriors, CompressiveRecovery, ImageLevel, NonLocal, Observation, PicturePrior, Restored,
    deblur, denoise, inpaint, natural_gaussians,
};
use sparsemble::{Error, Matrix, MatrixView, Run};

use crate::problems::Values;

/// A piece of a committed photograph.
fn photo(size: Size) -> GrayImage {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/cc0/camera.png");
    let whole = read(path).unwrap();
    GrayImage::from_fn(size, |row, column| whole.row(row + 90)[column + 190]).unwrap()
}

fn phi(text: &str) -> Dense<f64> {
    text.parse::<Projection>().unwrap().matrix(64).unwrap()
}

#[test]
fn recovery_fits_the_measurements_and_beats_its_start_by_far() {
    let photo = photo(Size { width: 96, height: 80 });
    let gaussians = natural_gaussians().unwrap();
    let recovery = CompressiveRecovery::default();
    for (text, gain) in [("orthonormal:measurements=16,seed=3", 1.0), ("gaussian:measurements=24,seed=3", 1.0)] {
        let measurements = BlockMeasurements::sense(&photo, phi(text)).unwrap();
        let first = recovery.first_estimate(&measurements, &gaussians, Run::default()).unwrap();
        let recover = |threads| {
            let prior = &mut BothPriors::new(gaussians.clone());
            recovery.recover(&measurements, &gaussians, prior, Run::threads(threads)).unwrap()
        };
        let found = recover(1);
        assert_eq!(recover(3), found);
        let [start, quality] = [&first.image, &found.image].map(|image| psnr(&photo, image).unwrap());
        assert!(quality > start + gain, "{text}: {quality} after {start}");
        let again = BlockMeasurements::sense(&found.image, measurements.phi().clone()).unwrap();
        for (a, b) in columns(again.values()).iter().zip(columns(measurements.values())) {
            assert!((a - b).abs() < 1e-6, "{text}: {a} for {b}");
        }
        // What it expects of itself is about right.
        let error = 255.0 / 10.0_f64.powf(start / 20.0);
        assert!((0.5..2.0).contains(&(first.expected_error / error)), "{text}: {} for {error}", first.expected_error);
    }
}

/// Measurements in another unit are the same measurements: rows, sums and noise grow alike.
#[test]
fn the_unit_of_the_measurements_does_not_matter() {
    let photo = photo(Size { width: 64, height: 48 });
    let gaussians = natural_gaussians().unwrap();
    let plain = BlockMeasurements::sense(&photo, phi("orthonormal:measurements=20,seed=3")).unwrap();
    let mut values = Values::new(8);
    for (noise, unit) in [(0.0, 8.0), (6.0, 8.0), (6.0, 1.0 / 64.0)] {
        let (n, count) = (plain.values().rows(), plain.values().columns());
        let z = columns(plain.values());
        let noisy = Matrix::from_columns(z.iter().map(|z| z + noise * values.normal()).collect(), n, count).unwrap();
        let recover = |unit: f64| {
            let rows = plain.phi().matrix().to_matrix();
            let rows = Dense::new(Matrix::from_fn(n, 64, |r, c| unit * rows.column(c)[r]).view()).unwrap();
            let z = Matrix::from_fn(n, count, |r, c| unit * noisy.column(c)[r]);
            let measurements = BlockMeasurements::new(photo.size(), rows, z.view()).unwrap();
            let recovery = CompressiveRecovery { noise: unit * noise, ..CompressiveRecovery::default() };
            let first = recovery.first_estimate(&measurements, &gaussians, Run::default()).unwrap();
            let prior = &mut BothPriors::new(gaussians.clone());
            (first, recovery.recover(&measurements, &gaussians, prior, Run::default()).unwrap().image)
        };
        let [(first, image), (same_first, same)] = [1.0, unit].map(recover);
        assert!((first.expected_error / same_first.expected_error - 1.0).abs() < 1e-3, "{noise} {unit}");
        assert!(psnr(&first.image, &same_first.image).unwrap() > 70.0, "{noise} {unit}");
        assert!(psnr(&image, &same).unwrap() > 50.0, "{noise} {unit}: {}", psnr(&image, &same).unwrap());
    }
}

fn columns(view: MatrixView<'_, f64>) -> Vec<f64> {
    view.to_matrix().into_vec()
}

#[test]
fn doubt_is_larger_where_the_error_is() {
    let photo = photo(Size { width: 160, height: 128 });
    let measurements = BlockMeasurements::sense(&photo, phi("orthonormal:measurements=16,seed=1")).unwrap();
    let (recovery, gaussians) = (CompressiveRecovery::default(), natural_gaussians().unwrap());
    let prior = &mut BothPriors::new(gaussians.clone());
    let found = recovery.recover(&measurements, &gaussians, prior, Run::default()).unwrap();
    let mut pixels: Vec<(f64, f64)> = found
        .deviation
        .samples()
        .iter()
        .zip(found.image.samples().iter().zip(photo.samples()))
        .map(|(doubt, (a, b))| (*doubt, (a - b).powi(2)))
        .collect();
    pixels.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let quarter = pixels.len() / 4;
    let error = |part: &[(f64, f64)]| (part.iter().map(|(_, square)| square).sum::<f64>() / part.len() as f64).sqrt();
    let errors: Vec<f64> = pixels.chunks(quarter).take(4).map(error).collect();
    assert!(errors.is_sorted() && errors[3] > 4.0 * errors[0], "{errors:?}");
}

#[test]
fn a_picture_that_is_no_multiple_of_a_block_comes_back_in_its_size() {
    let photo = photo(Size { width: 37, height: 21 });
    let measurements = BlockMeasurements::sense(&photo, phi("orthonormal:measurements=32")).unwrap();
    assert_eq!(measurements.values().columns(), 5 * 3);
    let (recovery, gaussians) = (CompressiveRecovery::default(), natural_gaussians().unwrap());
    let prior = &mut BothPriors::new(gaussians.clone());
    let found = recovery.recover(&measurements, &gaussians, prior, Run::default()).unwrap();
    assert_eq!((found.image.size(), found.deviation.size()), (photo.size(), photo.size()));
    assert!(psnr(&photo, &found.image).unwrap() > 26.0);
}

#[test]
fn an_even_picture_stays_even() {
    let size = Size { width: 32, height: 24 };
    let even = GrayImage::from_fn(size, |_, _| 77.0).unwrap();
    let near = |found: &GrayImage| found.samples().iter().all(|value| (value - 77.0).abs() < 0.5);
    let measurements = BlockMeasurements::sense(&even, phi("orthonormal:measurements=16")).unwrap();
    let (recovery, gaussians) = (CompressiveRecovery::default(), natural_gaussians().unwrap());
    let prior = &mut BothPriors::new(gaussians.clone());
    let found = recovery.recover(&measurements, &gaussians, prior, Run::default()).unwrap();
    assert!(near(&found.image));
    assert!(near(&denoise(&even, 10.0, Run::default()).unwrap().image));
    let mask = Mask::random(32 * 24, 0.5, 1).unwrap();
    assert!(near(&inpaint(&even, &mask, 0.0, Run::default()).unwrap().image));
    assert!(near(&deblur(&even, &Blur::gaussian(size, 1.6).unwrap(), 1.0, Run::default()).unwrap().image));
}

#[test]
fn tasks_give_the_same_bits_for_any_threads_and_better_pictures() {
    let photo = photo(Size { width: 90, height: 70 });
    let mut values = Values::new(5);
    let noisy = GrayImage::from_fn(photo.size(), |r, c| photo.row(r)[c] + 20.0 * values.normal()).unwrap();
    let clean = denoise(&noisy, 20.0, Run::threads(1)).unwrap();
    assert_eq!(denoise(&noisy, 20.0, Run::threads(3)).unwrap(), clean);
    assert!(psnr(&photo, &clean.image).unwrap() > psnr(&photo, &noisy).unwrap() + 5.0);

    let mask = Mask::random(90 * 70, 0.7, 1).unwrap();
    let whole = inpaint(&photo, &mask, 0.0, Run::threads(1)).unwrap();
    // What is missing may be anything, and is not looked at.
    let anything = |pixel: usize| [f64::NAN, f64::INFINITY, 1e300][pixel % 3];
    let mut samples: Vec<f64> = (0..90 * 70).map(anything).collect();
    mask.seen().iter().for_each(|&pixel| samples[pixel] = photo.samples()[pixel]);
    let damaged = GrayImage::new(photo.size(), samples).unwrap();
    assert_eq!(inpaint(&damaged, &mask, 0.0, Run::threads(2)).unwrap(), whole);
    assert_eq!(inpaint(&photo, &mask, 0.0, Run::threads(3)).unwrap(), whole);
    assert!(psnr(&photo, &whole.image).unwrap() > 24.0);
    for &pixel in mask.seen() {
        assert!((whole.image.samples()[pixel] - photo.samples()[pixel]).abs() < 1e-9);
    }

    let blur = Blur::gaussian(photo.size(), 1.6).unwrap();
    let mut blurred = vec![0.0; 90 * 70];
    blur.apply(photo.samples(), &mut blurred);
    let blurred = GrayImage::new(photo.size(), blurred.iter().map(|value| value + values.normal()).collect()).unwrap();
    let sharp = deblur(&blurred, &blur, 1.0, Run::threads(1)).unwrap();
    assert_eq!(deblur(&blurred, &blur, 1.0, Run::threads(2)).unwrap(), sharp);
    assert!(psnr(&photo, &sharp.image).unwrap() > psnr(&photo, &blurred).unwrap() + 2.0);
}

#[test]
fn what_does_not_fit_together_is_refused_by_name() {
    let photo = photo(Size { width: 32, height: 24 });
    let size = photo.size();
    let gaussians = natural_gaussians().unwrap();
    let odd = Dense::new(Matrix::from_fn(2, 60, |r, c| (r + c) as f64).view()).unwrap();
    assert!(BlockMeasurements::sense(&photo, odd).unwrap_err().to_string().contains("square block"));
    let few = Matrix::from_fn(16, 11, |_, _| 0.0);
    let refused = BlockMeasurements::new(size, phi("orthonormal:measurements=16"), few.view()).unwrap_err();
    assert!(refused.to_string().contains("number of blocks"));
    let small = Dense::new(Matrix::from_fn(4, 16, |r, c| (r * c) as f64).view()).unwrap();
    let measurements = BlockMeasurements::sense(&photo, small).unwrap();
    let refused = CompressiveRecovery::default().first_estimate(&measurements, &gaussians, Run::default());
    assert!(refused.unwrap_err().to_string().contains("number of features"));

    let identity = Identity::new(size.width * size.height);
    let restore = |level: ImageLevel, measurements: &[f64], noise: f64| {
        let seen = Observation { size, phi: &identity, measurements, noise };
        level.restore(&seen, photo.clone(), &mut NonLocal::default(), Run::default()).unwrap_err().to_string()
    };
    let level = ImageLevel::default();
    assert!(restore(level, &photo.samples()[1..], 1.0).contains("measurements: length"));
    assert!(restore(level, &[f64::NAN; 32 * 24], 1.0).contains("NaN"));
    assert!(restore(level, photo.samples(), -1.0).contains("noise"));
    assert!(restore(ImageLevel { turns: 0, ..level }, photo.samples(), 1.0).contains("turns"));
    assert!(restore(ImageLevel { momentum: 2.0, ..level }, photo.samples(), 1.0).contains("momentum"));
    assert!(restore(ImageLevel { last_noise: 0.0, ..level }, photo.samples(), 1.0).contains("last_noise"));

    // So much noise that its square would be none.
    let mask = Mask::random(32 * 24, 0.5, 1).unwrap();
    let blur = Blur::gaussian(size, 1.0).unwrap();
    for (noise, is_refused) in [(1e155, true), (1e6, false)] {
        for restored in [
            denoise(&photo, noise, Run::default()),
            inpaint(&photo, &mask, noise, Run::default()),
            deblur(&photo, &blur, noise, Run::default()),
        ] {
            assert_eq!(restored.is_err(), is_refused, "{noise}");
            let finite = |found: Restored| found.image.samples().iter().all(|value| value.is_finite());
            assert!(restored.is_err() || restored.is_ok_and(finite), "{noise}");
        }
    }
    let mut samples = photo.samples().to_vec();
    samples[mask.seen()[40]] = f64::NAN;
    let refused = inpaint(&GrayImage::new(size, samples).unwrap(), &mask, 0.0, Run::default()).unwrap_err();
    let (row, column) = (mask.seen()[40] / 32, mask.seen()[40] % 32);
    assert!(matches!(refused, Error::NotFinite { what: "image", row: r, column: c } if (r, c) == (row, column)));

    let tiny = GrayImage::from_fn(Size { width: 5, height: 40 }, |_, _| 1.0).unwrap();
    assert!(denoise(&tiny, 5.0, Run::default()).is_err());
    assert!(denoise(&photo, f64::NAN, Run::default()).is_err());
    assert!(deblur(&photo, &Blur::gaussian(size, 1.0).unwrap(), -1.0, Run::default()).is_err());
    let decimated = Blur::gaussian(size, 1.0).unwrap().decimated(2).unwrap();
    assert!(deblur(&photo, &decimated, 1.0, Run::default()).unwrap_err().to_string().contains("another task"));
}

#[test]
fn a_restoration_can_be_stopped() {
    let photo = photo(Size { width: 64, height: 64 });
    let stop =
        |done: usize, total: usize| if 2 * done > total { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let mask = Mask::random(64 * 64, 0.5, 1).unwrap();
    let stopped = inpaint(&photo, &mask, 0.0, Run::threads(2).on_progress(&stop));
    assert!(matches!(stopped, Err(Error::Interrupted { .. })), "{stopped:?}");
}

#[test]
fn multiply_adds_are_those_of_the_groups_of_a_turn() {
    let wave = |row: usize, column: usize| 128.0 + 60.0 * (0.3 * (row * 3 + column * column) as f64).sin();
    let noisy = GrayImage::from_fn(Size { width: 60, height: 66 }, wave).unwrap();
    let mut prior = NonLocal { group: 2, reach: 2, ..NonLocal::default() };
    let (found, counted) = prior.denoise_and_count(&noisy, 15.0, 3, Run::default()).unwrap();
    assert_eq!(found, prior.denoise(&noisy, 15.0, 3, Run::default()).unwrap());
    let each = (4 * 6_u64).pow(2) + 3 * (6 * 2_u64).pow(2) / 2 + 8 / 2;
    // At most the 12 × 13 patches of the grid, and so many that no pixel is left without an estimate.
    let groups = counted / each;
    assert!(counted.is_multiple_of(each) && (50..=156).contains(&groups), "{counted} = {each} × {groups}");
    let wide = NonLocal { group: 32, ..NonLocal::default() };
    assert!(wide.denoise_and_count(&noisy, 15.0, 3, Run::default()).unwrap().1 > 10 * counted);
}

/// Every turn of a prior on the same picture.
fn turns(prior: &mut BothPriors, image: &GrayImage, threads: usize) -> Vec<GrayImage> {
    (0..20).map(|turn| prior.denoise(image, 12.0, turn, Run::threads(threads)).unwrap()).collect()
}

#[test]
fn both_priors_listen_and_then_take_turns_and_begin_anew_with_each_picture() {
    let photo = photo(Size { width: 61, height: 45 });
    let gaussians = natural_gaussians().unwrap();
    let own: Vec<_> = (0..20).map(|t| NonLocal::default().denoise(&photo, 12.0, t, Run::default()).unwrap()).collect();
    let mut both = BothPriors::new(gaussians.clone());
    let found = turns(&mut both, &photo, 1);
    for (turn, (found, own)) in found.iter().zip(&own).enumerate() {
        assert_eq!(found == own, turn < both.listening || turn % 2 == 1, "turn {turn}");
    }
    assert_eq!(turns(&mut both, &photo, 3), found);
    // After one lesson, what the Gaussians say differs from the second on, and only then.
    let mut deaf = BothPriors::new(gaussians);
    deaf.period = 1000;
    (both.listening, deaf.listening) = (4, 4);
    let same: Vec<bool> =
        turns(&mut both, &photo, 2).iter().zip(turns(&mut deaf, &photo, 2)).map(|(a, b)| *a == b).collect();
    assert_eq!(same, (0..20).map(|turn| turn < 8 || turn % 2 == 1).collect::<Vec<_>>());
}

#[test]
fn a_turn_of_the_gaussians_takes_noise_out() {
    let photo = photo(Size { width: 96, height: 80 });
    let mut values = Values::new(7);
    let noisy = GrayImage::from_fn(photo.size(), |r, c| photo.row(r)[c] + 8.0 * values.normal()).unwrap();
    let mut both = BothPriors::new(natural_gaussians().unwrap());
    (both.listening, both.caution) = (0, 1.0);
    let found = both.denoise(&noisy, 8.0, 0, Run::default()).unwrap();
    let [before, after] = [&noisy, &found].map(|image| psnr(&photo, image).unwrap());
    assert!(after > before + 3.0, "{after} dB of {before} dB");
}

#[test]
fn multiply_adds_of_both_priors_are_those_of_their_parts() {
    let photo = photo(Size { width: 64, height: 48 });
    let gaussians = natural_gaussians().unwrap();
    let most = (gaussians.count() * gaussians.n_features().pow(2)) as u64;
    let mut both = BothPriors::new(gaussians);
    (both.period, both.listening) = (4, 6);
    // Patches of 8 × 8 at a stride of 3, and those at both ends.
    let patches = 20 * 15..=21_u64 * 15;
    let mut counted = |turn: usize| both.denoise_and_count(&photo, 12.0, turn, Run::default()).unwrap().1;
    let alone = |turn: usize| NonLocal::default().denoise_and_count(&photo, 12.0, turn, Run::default()).unwrap().1;
    assert_eq!(counted(0), alone(0), "nothing but listening");
    assert_eq!(counted(5), alone(5), "what was heard is learned when it is needed");
    let both_of_them = counted(6);
    assert!(counted(8) > alone(8));
    let said = counted(10);
    assert!(said > most * patches.start() / 2 && said < 2 * most * patches.end(), "{said} for what is said");
    let lesson = both_of_them.checked_sub(said).expect("the first turn of the Gaussians begins with a lesson");
    assert!(lesson > most * patches.start() / 2 && lesson < most * patches.end(), "{lesson} for a lesson");
    assert_eq!(counted(9), alone(9), "a turn of the non-local prior");
    assert_eq!(counted(11), alone(11));
    assert!(counted(12) > said + lesson / 2, "every period begins with a lesson");
}

#[test]
fn the_gaussians_are_joined_by_what_the_non_local_prior_has_said_before_them() {
    let photo = photo(Size { width: 48, height: 40 });
    let gaussians = natural_gaussians().unwrap();
    let said = |weight: f64| {
        let mut both = BothPriors::new(gaussians.clone());
        (both.weight, both.listening) = (weight, 2);
        [0, 1, 2].map(|turn| both.denoise(&photo, 9.0, turn, Run::default()).unwrap())
    };
    let ([_, before, alone], [.., joined]) = (said(1.0), said(0.25));
    for ((before, alone), joined) in before.samples().iter().zip(alone.samples()).zip(joined.samples()) {
        assert!((0.75 * before + 0.25 * alone - joined).abs() < 1e-9, "{joined}");
    }
    assert_ne!(before, alone);
}

#[test]
fn both_priors_refuse_settings_out_of_range() {
    let image = photo(Size { width: 40, height: 40 });
    let gaussians = natural_gaussians().unwrap();
    let refused = |name: &str, change: &dyn Fn(&mut BothPriors)| {
        let mut prior = BothPriors::new(gaussians.clone());
        change(&mut prior);
        let error = prior.denoise(&image, 5.0, 0, Run::default()).unwrap_err().to_string();
        assert!(error.contains(name), "{error}");
    };
    refused("caution", &|prior| prior.caution = 0.0);
    refused("period", &|prior| prior.period = 0);
    refused("weight", &|prior| prior.weight = 0.0);
    refused("weight", &|prior| prior.weight = 1.1);
    refused("prior_samples", &|prior| prior.prior_samples = f64::NAN);
    refused("stride", &|prior| prior.stride = 9);
    refused("group", &|prior| prior.non_local.group = 1);
    // A turn of the Gaussians refuses what one of the non-local prior does, in the same words.
    let mut speaking = BothPriors::new(gaussians.clone());
    speaking.listening = 0;
    let mut broken = image.samples().to_vec();
    broken[3 * 40 + 5] = 1e13;
    let broken = GrayImage::new(image.size(), broken).unwrap();
    for (image, sigma) in [(&image, -1.0), (&image, f64::NAN), (&broken, 5.0)] {
        let [own, theirs] = [&mut NonLocal::default() as &mut dyn PicturePrior, &mut speaking]
            .map(|prior| prior.denoise(image, sigma, 0, Run::default()).unwrap_err().to_string());
        assert_eq!(own, theirs);
    }
    let thin = image.cropped((0, 0), Size { width: 7, height: 40 }).unwrap();
    let error = BothPriors::new(gaussians).denoise(&thin, 5.0, 0, Run::default()).unwrap_err().to_string();
    assert!(error.contains("no larger than the image"), "{error}");
}

#[test]
fn what_denoising_says_of_its_errors_is_about_what_they_are() {
    let size = Size { width: 160, height: 160 };
    let photo = photo(size);
    for sigma in [10.0, 25.0, 50.0] {
        let mut values = Values::new(7);
        let noisy = GrayImage::from_fn(size, |row, column| photo.row(row)[column] + sigma * values.normal()).unwrap();
        let found = denoise(&noisy, sigma, Run::default()).unwrap();
        let errors = found.image.samples().iter().zip(photo.samples()).map(|(a, b)| (a - b).powi(2));
        let mut pixels: Vec<(f64, f64)> = found.deviation.samples().iter().copied().zip(errors).collect();
        pixels.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut before = 0.0;
        for quarter in pixels.chunks(pixels.len() / 4) {
            let count = quarter.len() as f64;
            let said = (quarter.iter().map(|(said, _)| said * said).sum::<f64>() / count).sqrt();
            let error = (quarter.iter().map(|(_, square)| square).sum::<f64>() / count).sqrt();
            assert!(error > before, "sigma {sigma}: errors of {error} where fewer than {before} were expected");
            assert!((0.5..2.0).contains(&(said / error)), "sigma {sigma}: {said} was said, but it is {error}");
            before = error;
        }
    }
    let still = denoise(&photo, 0.0, Run::default()).unwrap();
    assert!(still.deviation.samples().iter().all(|deviation| *deviation <= 0.0));
}
