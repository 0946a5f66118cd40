//! Pictures in other sizes against Pillow, similarities against scikit-image, and the figures of the literature.

#![allow(clippy::unwrap_used)] // in a test, a panic is the report

use std::path::Path;

use sparsemble::Run;
use sparsemble::image::{BitDepth, GrayImage, Interpolation, Picture, Size, read_picture, rescale, resize};
use sparsemble::metrics::{psnr, ssim};

use crate::npy::golden;

fn picture(name: &str) -> GrayImage {
    let values = golden(&format!("image_{name}"));
    let size = Size { width: values.rows(), height: values.columns() };
    GrayImage::new(size, values.into_vec()).unwrap()
}

/// The largest difference of two pictures further than `border` from theirs.
fn apart(a: &GrayImage, b: &GrayImage, border: usize) -> f64 {
    let [a, b] = [a, b].map(|image| image.shaved(border).unwrap());
    assert_eq!(a.size(), b.size());
    a.samples().iter().zip(b.samples()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn inside_the_picture_is_that_of_pillow() {
    let original = picture("picture");
    for (name, interpolation, border) in [
        ("doubled", Interpolation::Bicubic, 4),
        ("halved", Interpolation::Bicubic, 2),
        ("third", Interpolation::Bicubic, 2),
        ("lanczos", Interpolation::Lanczos3, 3),
    ] {
        let expected = picture(name);
        let found = resize(&original, expected.size(), interpolation, Run::default()).unwrap();
        let apart = apart(&found, &expected, border);
        assert!(apart < 1e-3, "{name}: {apart}"); // Pillow computes in single precision
    }
}

#[test]
fn the_whole_picture_with_its_border_is_that_of_the_rule_of_matlab() {
    let original = picture("picture");
    for name in ["mirrored_doubled", "mirrored_halved", "mirrored_third"] {
        let expected = picture(name);
        let found = resize(&original, expected.size(), Interpolation::Bicubic, Run::default()).unwrap();
        let apart = apart(&found, &expected, 0);
        assert!(apart < 1e-9, "{name}: {apart}");
    }
}

#[test]
fn similarities_are_those_of_scikit_image() {
    let (original, expected) = (picture("picture"), golden("image_ssim"));
    for (name, expected) in ["noisy", "enlarged"].iter().zip(expected.column(0)) {
        let found = ssim(&original, &picture(name), Run::default()).unwrap();
        assert!((found - expected).abs() < 1e-6, "{name}: {found} for {expected}");
    }
}

#[test]
fn sizes_and_similarities_are_the_same_bits_for_any_number_of_threads() {
    let original = picture("picture");
    let enlarged = |threads| rescale(&original, 3.7, Interpolation::Bicubic, Run::threads(threads)).unwrap();
    let other = enlarged(1).quantised(BitDepth::Eight);
    assert_eq!(enlarged(3), enlarged(1));
    let [one, three] = [1, 3].map(|threads| ssim(&enlarged(1), &other, Run::threads(threads)).unwrap());
    assert!(one.to_bits() == three.to_bits());
}

#[test]
fn brightness_is_kept_and_what_is_constant_stays_so() {
    let flat = GrayImage::from_fn(Size { width: 13, height: 7 }, |_, _| 200.0).unwrap();
    for factor in [0.3, 0.5, 1.0, 1.7, 4.0] {
        let found = rescale(&flat, factor, Interpolation::Bicubic, Run::default()).unwrap();
        assert!(found.samples().iter().all(|value| (value - 200.0).abs() < 1e-9));
    }
    // Every pixel counts as much: mirrored borders take nothing away.
    let original = picture("picture");
    let mean = |image: &GrayImage| image.samples().iter().sum::<f64>() / image.samples().len() as f64;
    for factor in [0.5, 2.0, 3.0] {
        let found = rescale(&original, factor, Interpolation::Bicubic, Run::default()).unwrap();
        assert!((mean(&found) - mean(&original)).abs() < 1e-9, "{factor}: {} for {}", mean(&found), mean(&original));
    }
}

/// The brightness, cut to sides that the scale divides.
fn brightness(picture: &Picture, scale: usize) -> GrayImage {
    let brightness = picture.brightness().unwrap();
    let Size { width, height } = brightness.size();
    brightness.cropped((0, 0), Size { width: width / scale * scale, height: height / scale * scale }).unwrap()
}

#[test]
fn bicubic_has_the_published_figures() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/images/sr");
    for (set, scale, published) in
        [("Set5", 2, 33.66), ("Set14", 2, 30.23), ("Set5", 3, 30.39), ("Set14", 3, 27.54), ("Set5", 4, 28.42)]
    {
        let Ok(files) = std::fs::read_dir(folder.join(set)) else {
            return eprintln!("SKIPPED: {} is not there", folder.display());
        };
        let mut psnrs = Vec::new();
        for file in files {
            let truth = brightness(&read_picture(file.unwrap().path()).unwrap(), scale);
            let resample = |image: &GrayImage, factor| rescale(image, factor, Interpolation::Bicubic, Run::default());
            let small = resample(&truth, 1.0 / scale as f64).unwrap();
            let found = resample(&small, scale as f64).unwrap().quantised(BitDepth::Eight);
            psnrs.push(psnr(&truth.shaved(scale).unwrap(), &found.shaved(scale).unwrap()).unwrap());
        }
        let mean = psnrs.iter().sum::<f64>() / psnrs.len() as f64;
        assert!((mean - published).abs() < 0.012, "{set} ×{scale}: {mean} for {published}");
    }
}
