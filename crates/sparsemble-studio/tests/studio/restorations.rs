//! What the studio makes is what the library makes.

use serde_json::{Value, json};
use sparsemble::Run;
use sparsemble::degradation::{Mask, with_white_noise};
use sparsemble::image::{BitDepth, GrayImage, Layout, Raster, Size, decode, encode_by_rows};
use sparsemble::metrics::psnr;
use sparsemble::restoration::super_resolution::natural_upscaler;
use sparsemble::restoration::{denoise, inpaint};

use super::client::{Running, photograph, png};

/// Runs a task on a picture: what is told of it, and its result.
fn restored(studio: &Running, file: &[u8], task: &Value, simulate: bool) -> (Value, Vec<u8>) {
    let picture = studio.picture(file);
    let job = studio.start(&picture, task, simulate);
    let told = studio.ended(&job, "done")["result"].clone();
    (told, studio.get(&format!("/api/jobs/{job}/after")).send().body)
}

fn figure(told: &Value, of: &str) -> f64 {
    told[of]["psnr"].as_f64().unwrap()
}

#[test]
fn an_uploaded_picture_comes_back_as_it_was() {
    let studio = Running::new();
    let picture = photograph(37);
    let id = studio.picture(&png(&picture));
    assert_eq!(decode(&studio.get(&format!("/api/pictures/{id}")).send().body).unwrap(), picture);
    let sample = studio.get("/samples/camera.png").send().body;
    assert_eq!(decode(&sample).unwrap().size(), Size { width: 512, height: 512 });
}

#[test]
fn enlarging_is_that_of_the_library_and_better_than_interpolation() {
    let studio = Running::new();
    let picture = photograph(40);
    let task = json!({ "name": "enlarge", "scale": 3 });
    let (told, after) = restored(&studio, &png(&picture), &task, false);
    let expected = natural_upscaler(3).unwrap().enlarge(&picture, Run::default()).unwrap().image;
    assert_eq!(decode(&after).unwrap(), expected.quantised(BitDepth::Eight));
    assert_eq!((&told["width"], &told["before"], &told["after"]), (&json!(120), &Value::Null, &Value::Null));
    let (told, after) = restored(&studio, &png(&photograph(122)), &task, true);
    assert_eq!(decode(&after).unwrap().size(), Size { width: 120, height: 120 });
    assert!(figure(&told, "after") > figure(&told, "before") + 0.5, "{told}");
}

#[test]
fn denoising_is_that_of_the_library_and_takes_out_what_was_put_in() {
    let studio = Running::new();
    let picture = photograph(64);
    let task = json!({ "name": "denoise", "sigma": 20 });
    let (told, after) = restored(&studio, &png(&picture), &task, true);
    let damaged = with_white_noise(&picture, 20.0, 0).unwrap().quantised(BitDepth::Eight);
    let expected = denoise(&damaged, 20.0, Run::default()).unwrap().image.quantised(BitDepth::Eight);
    assert_eq!(decode(&after).unwrap(), expected);
    assert!((figure(&told, "before") - psnr(&picture, &damaged).unwrap()).abs() < 1e-9);
    assert!((figure(&told, "after") - psnr(&picture, &expected).unwrap()).abs() < 1e-9);
    assert!(figure(&told, "after") > figure(&told, "before") + 3.0, "{told}");
    let (told, _) = restored(&studio, &png(&picture), &task, false);
    assert!(told["after"].is_null() && told["has_before"] == false);
}

#[test]
fn inpainting_is_that_of_the_library_and_leaves_the_rest_as_it_is() {
    let studio = Running::new();
    let picture = photograph(48);
    let painted = GrayImage::from_fn(picture.size(), |row, column| if (row + column) % 12 < 2 { 255.0 } else { 0.0 });
    let painted = painted.unwrap();
    let mask = studio.picture(&png(&painted));
    let (told, after) = restored(&studio, &png(&picture), &json!({ "name": "inpaint", "mask": mask }), true);
    let found = decode(&after).unwrap();
    let mask = Mask::where_white(&painted).unwrap();
    let expected = inpaint(&picture, &mask, 0.0, Run::default()).unwrap().image.quantised(BitDepth::Eight);
    assert_eq!(found, expected);
    assert!(mask.seen().iter().all(|&pixel| (found.samples()[pixel] - picture.samples()[pixel]).abs() < 1e-9));
    assert!(figure(&told, "after") > 25.0, "{told}");
}

#[test]
fn more_measurements_recover_more() {
    let studio = Running::new();
    let file = png(&photograph(64));
    let [few, many] = [8, 32].map(|measurements| {
        let task = json!({ "name": "recover", "measurements": measurements });
        figure(&restored(&studio, &file, &task, false).0, "after")
    });
    assert!(many > few + 2.0, "{few} {many}");
}

#[test]
fn colours_alpha_and_sixteen_bits_are_kept() {
    let studio = Running::new();
    let size = Size { width: 16, height: 24 };
    let plane = |shift: usize| {
        GrayImage::from_fn(size, move |row, column| ((7 * row + 5 * column + 60 * shift) % 200) as f64 + 1.0 / 257.0)
    };
    let planes: Vec<_> = (0..4).map(|shift| plane(shift).unwrap()).collect();
    let layout = Layout { size, channels: 4, depth: BitDepth::Sixteen, profile: None, exif: None };
    let file = encode_by_rows(&layout, 24, |_| Ok(planes.clone())).unwrap();
    let (_, after) = restored(&studio, &file, &json!({ "name": "denoise", "sigma": 3 }), false);
    let raster = Raster::decode(&after, 1000).unwrap();
    assert_eq!(raster.layout(), layout);
    let found = raster.rows(0..24).unwrap();
    assert_eq!(found[3], planes[3].quantised(BitDepth::Sixteen));
    assert_ne!(found[0], planes[0].quantised(BitDepth::Sixteen));
    let (_, after) = restored(&studio, &file, &json!({ "name": "enlarge", "scale": 2 }), false);
    let larger = Size { width: 32, height: 48 };
    assert_eq!(Raster::decode(&after, 10_000).unwrap().layout(), Layout { size: larger, ..layout });
}
