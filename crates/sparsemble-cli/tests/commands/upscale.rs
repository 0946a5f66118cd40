//! `sparsemble upscale` and `sparsemble eval`.

use std::fs;

use sparsemble::image::{
    BitDepth, GrayImage, Interpolation, Layout, Picture, Raster, Size, read, read_picture, resize, write_by_rows,
    write_picture,
};
use sparsemble::metrics::{Protocol, Quality, mse};
use sparsemble::{Matrix, Run, matrix_file};

use crate::program::{Program, exif, photograph};

const SIZE: Size = Size { width: 60, height: 45 };

/// A piece of a photograph in colour.
fn original() -> Picture {
    let photo = read_picture(photograph("chelsea.png")).unwrap();
    let piece = |plane: &GrayImage| plane.cropped((90, 120), Size { width: 120, height: 90 }).unwrap();
    Picture { planes: photo.planes.iter().map(piece).collect(), depth: BitDepth::Eight }
}

/// A folder with it, `original.png`, and with what is left of it at half the size, `small.png`.
fn with_pictures() -> Program {
    let program = Program::new();
    write_picture(program.path("original.png"), &original()).unwrap();
    let half = |plane: &GrayImage| resize(plane, SIZE, Interpolation::Bicubic, Run::default()).unwrap();
    let small = Picture { planes: original().planes.iter().map(half).collect(), depth: BitDepth::Eight };
    write_picture(program.path("small.png"), &small).unwrap();
    program
}

fn size_of(program: &Program, name: &str) -> Size {
    read(program.path(name)).unwrap().size()
}

#[test]
fn interpolation_is_that_of_the_library_and_is_judged_by_name() {
    let program = with_pictures();
    for (method, interpolation) in [("bicubic", Interpolation::Bicubic), ("lanczos", Interpolation::Lanczos3)] {
        let report = program.json(&format!("upscale small.png --method {method} -o {method}.png"));
        assert_eq!((&report["pictures"][0]["width"], &report["method"]), (&120.into(), &method.into()));
        let found = read_picture(program.path(&format!("{method}.png"))).unwrap();
        let small = read_picture(program.path("small.png")).unwrap();
        // The brightness and both colours are by the method for bicubic; for Lanczos the brightness alone is.
        let expected =
            |plane: &GrayImage| resize(plane, found.planes[0].size(), interpolation, Run::default()).unwrap();
        if interpolation == Interpolation::Bicubic {
            for (plane, found) in small.planes.iter().zip(&found.planes) {
                // By way of brightness and colour: what was half way between two levels may go to the other.
                let apart = mse(&expected(plane).quantised(BitDepth::Eight), found).unwrap();
                assert!(apart < 0.01, "{apart}");
            }
        }
        let judged = program.json(&format!("eval {method}.png --reference original.png --shave 2"));
        let quality = Quality::of(&original(), &found, Protocol::Brightness, 2, Run::default()).unwrap();
        assert!((judged["mean"]["psnr"].as_f64().unwrap() - quality.psnr).abs() < 1e-12);
        assert!((judged["pictures"][0]["ssim"].as_f64().unwrap() - quality.ssim).abs() < 1e-12);
        assert!(judged["protocol"].as_str().unwrap().contains("BT.601"));
    }
    let colours = program.json("eval bicubic.png --reference original.png --protocol colours");
    assert!(colours["protocol"].as_str().unwrap().starts_with("colours"));
    let (text, _) = program.succeed("eval bicubic.png lanczos.png -r original.png");
    assert!(text.contains("mean of 2") && text.contains("dB") && text.contains("0 pixels shaved"), "{text}");
}

#[test]
fn the_size_is_exact_for_any_scale_and_any_kind_of_file() {
    let program = with_pictures();
    for (words, name, width, height) in [
        ("--scale 1", "one.png", 60, 45),
        ("--scale 1.5", "half.tif", 90, 68),
        ("--scale 3", "three.webp", 180, 135),
        ("-s 4", "four.bmp", 240, 180),
        ("--size 100x171", "any.jpg", 100, 171),
    ] {
        program.succeed(&format!("upscale small.png {words} --method bicubic -o {name}"));
        assert_eq!(size_of(&program, name), Size { width, height }, "{words}");
    }
    program.succeed("upscale small.png --method bicubic");
    assert_eq!(size_of(&program, "small_x2.png"), Size { width: 120, height: 90 });
    program.succeed("upscale small.png --method bicubic --scale 1.5");
    assert_eq!(size_of(&program, "small_x1.5.png").width, 90);
}

#[test]
fn alpha_depth_profile_and_turn_are_kept_or_it_is_said_that_they_are_not() {
    let program = Program::new();
    let layout = Layout {
        size: Size { width: 20, height: 10 },
        channels: 4,
        depth: BitDepth::Sixteen,
        profile: Some(vec![1, 2, 3]),
        exif: Some(exif(6)),
    };
    let plane =
        |c: usize| GrayImage::from_fn(layout.size, |row, column| (row * 7 + column * 3 + 40 * c) as f64).unwrap();
    write_by_rows(program.path("deep.png"), &layout, 10, |_| Ok((0..4).map(plane).collect())).unwrap();
    let (_, warnings) = program.succeed("upscale deep.png --method bicubic -o same.png");
    assert_eq!(warnings, "");
    let same = Raster::read(program.path("same.png")).unwrap().layout();
    assert_eq!(same, Layout { size: Size { width: 20, height: 40 }, exif: Some(exif(1)), ..layout.clone() });

    let (_, warnings) = program.succeed("upscale deep.png --method bicubic -o turned.tif");
    assert!(warnings.contains("EXIF") && !warnings.contains("profile"), "{warnings}");
    let turned = Raster::read(program.path("turned.tif")).unwrap().layout();
    assert_eq!((turned.size, turned.depth), (Size { width: 20, height: 40 }, BitDepth::Sixteen));

    let (_, warnings) = program.succeed("upscale deep.png --method bicubic -o shallow.webp");
    assert!(warnings.contains("16 bits"), "{warnings}");
    assert!(program.fail("upscale deep.png --method bicubic -o no.jpg", 1).contains("alpha"));
    assert!(!program.files().contains(&"no.jpg".to_owned()));

    // Sizes, and all that is written, are of the picture as it is seen.
    let words = "upscale deep.png --size 15x30 --report page.html --uncertainty doubt.npy -o sized.png";
    let (text, _) = program.succeed(words);
    assert!(text.starts_with("deep.png: 10×20 to 15×30"), "{text}");
    assert_eq!(size_of(&program, "sized.png"), Size { width: 15, height: 30 });
    let doubt = matrix_file::read::<f64>(program.path("doubt.npy")).unwrap().to_matrix();
    assert_eq!((doubt.rows(), doubt.columns()), (15, 30));
    assert!(String::from_utf8(program.bytes("page.html")).unwrap().contains("From 10×20 to 15×30 pixels"));
}

#[test]
fn folders_are_enlarged_into_folders_and_judged_by_their_names() {
    let program = with_pictures();
    fs::create_dir(program.path("in")).unwrap();
    for name in ["a.png", "b.png"] {
        fs::copy(program.path("small.png"), program.path("in").join(name)).unwrap();
        fs::copy(program.path("original.png"), program.path(name)).unwrap();
    }
    fs::write(program.path("in/notes.txt"), "no picture").unwrap();
    let report = program.json("upscale in small.png --method bicubic -o out");
    assert_eq!(report["pictures"].as_array().unwrap().len(), 3);
    let judged = program.json("eval out/a_x2.png out/b_x2.png --reference . --shave 2");
    assert!(judged["pictures"][1]["reference"].as_str().unwrap().ends_with("b.png"));
    assert!(program.fail("upscale in --method bicubic -o out", 1).contains("exists"));
    program.succeed("upscale in --method bicubic -o out --force");
    assert!(program.fail("upscale in -o else --uncertainty u.png", 2).contains("one picture"));
    assert!(program.fail("upscale small.png in/../small.png -o else", 2).contains("both become"));
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_written() {
    let program = with_pictures();
    let before = program.files();
    for (words, code, says) in [
        ("upscale small.png --scale 5 -o x.png", 2, "1 to 4"),
        ("upscale small.png --scale nan -o x.png", 2, "1 to 4"),
        ("upscale small.png --size 30x30 --method bicubic -o x.png", 2, "60×45"),
        ("upscale small.png --size 600x450 --method bicubic -o x.png", 2, "60×45"),
        ("upscale small.png -o x.png --report page.txt", 2, "ends in .html"),
        ("upscale small.png --size 30 --method bicubic -o x.png", 2, "WIDTHxHEIGHT"),
        ("upscale small.png --method bicubic -o x.gif", 1, "ends in .png"),
        ("upscale small.png --method bicubic -o no/x.png", 1, "no folder"),
        ("upscale small.png -o x.png --uncertainty x.mat", 1, ".npy or .csv"),
        ("upscale small.png --method bicubic -o x.png --uncertainty u.png", 2, "one opinion"),
        ("upscale small.png --method lanczos -o x.png --uncertainty u.npy", 2, "one opinion"),
        ("upscale small.png --method pair-dict -o x.png --uncertainty u.png", 2, "one opinion"),
        ("upscale small.png --method ex-dict -o x.png --uncertainty u.png", 2, "one opinion"),
        ("upscale none.png --method bicubic -o x.png", 1, "cannot read none.png"),
        ("eval small.png --reference original.png", 1, "60×45"),
        ("eval small.png --reference small.png --shave 40", 2, "--shave"),
    ] {
        let line = program.fail(words, code);
        assert!(line.contains(says), "{words}: {line}");
    }
    assert_eq!(program.files(), before);
}

#[test]
fn the_model_of_the_program_beats_interpolation_and_keeps_brightness_and_colours() {
    let program = with_pictures();
    let judged = |method: &str| {
        program.succeed(&format!("upscale small.png --method {method} -o {method}.png"));
        program.json(&format!("eval {method}.png --reference original.png --shave 2"))["mean"]["psnr"].as_f64().unwrap()
    };
    let (anchored, bicubic, lanczos) = (judged("anchored"), judged("bicubic"), judged("lanczos"));
    assert!(anchored > bicubic + 0.5 && anchored > lanczos + 0.3, "{anchored} against {bicubic} and {lanczos}");
    let means = |name: &str| {
        let planes = read_picture(program.path(name)).unwrap().planes;
        planes
            .iter()
            .map(|plane| plane.samples().iter().sum::<f64>() / plane.samples().len() as f64)
            .collect::<Vec<_>>()
    };
    for (small, large) in means("small.png").iter().zip(means("anchored.png")) {
        assert!((small - large).abs() < 0.5, "{small} became {large}");
    }
}

#[test]
fn an_upscaler_is_trained_on_pictures_resumed_and_used() {
    let program = with_pictures();
    let words = "train --method upscaler --atoms 4 --models 2 --precision byte --seed 3";
    let report = program.json(&format!("{words} -o own.safetensors original.png small.png"));
    assert_eq!((&report["model"]["kind"], &report["n_pictures"]), (&"upscaler".into(), &2.into()));
    program.succeed(&format!("{words} -o again.safetensors original.png small.png --threads 1"));
    assert_eq!(program.bytes("again.safetensors"), program.bytes("own.safetensors"));
    program.succeed("upscale small.png --model own.safetensors -o out.png --uncertainty doubt.npy");
    assert_eq!(size_of(&program, "out.png"), Size { width: 120, height: 90 });
    assert!(program.succeed("info own.safetensors").0.contains("upscaler"));
    for (words, code, says) in [
        ("upscale small.png --model own.safetensors --scale 3 -o x.png", 2, "--scale 2 or less"),
        ("train --method upscaler --phi gaussian:measurements=4 -o x.safetensors small.png", 2, "--phi"),
        ("train --method upscaler --scale 7 -o x.safetensors small.png", 2, "2, 3 or 4"),
        ("train --method upscaler --models 3 -o x.safetensors small.png", 2, "--models 3: give an even number"),
        ("train --method gaussians --scale 2 -o x.safetensors small.png", 2, "--scale"),
    ] {
        let line = program.fail(words, code);
        assert!(line.contains(says), "{words}: {line}");
    }
}

/// The PSNR of an enlarged picture in `program`.
fn psnr_of(program: &Program, name: &str) -> f64 {
    let judged = program.json(&format!("eval {name} --reference original.png --shave 2"));
    judged["mean"]["psnr"].as_f64().unwrap()
}

#[test]
fn the_papers_methods_learn_from_the_photographs_in_the_program_and_beat_interpolation() {
    let program = with_pictures();
    program.succeed("upscale small.png --method bicubic -o bicubic.png");
    let bicubic = psnr_of(&program, "bicubic.png");
    for (method, fewer) in [
        ("pair-dict", "--atoms 32"),
        ("ex-dict", "--atoms 200"),
        ("rand-ex-av", "--atoms 200 --models 4"),
        ("boost-ex", "--atoms 200 --models 4"),
        ("boost-km", "--atoms 64 --models 2"),
    ] {
        let words = format!("upscale small.png --method {method} {fewer} -o {method}.png");
        let (_, warning) = program.succeed(&words);
        assert!(warning.contains("repeat the paper"), "{warning}");
        assert_eq!(size_of(&program, &format!("{method}.png")), Size { width: 120, height: 90 });
        let psnr = psnr_of(&program, &format!("{method}.png"));
        assert!(psnr > bicubic + 0.3, "{method}: {psnr} dB, bicubic {bicubic} dB");
    }
    for (words, says) in [
        ("upscale small.png --atoms 20 -o x.png", "anchored has no use for --atoms"),
        ("upscale small.png --method pair-dict --models 2 -o x.png", "pair-dict has no use for --models"),
        ("upscale small.png --method boost-ex --atoms 0 -o x.png", "error: --atoms 0: must be at least 1"),
        ("upscale small.png --model m.safetensors --atoms 20 -o x.png", "cannot be used with"),
    ] {
        let output = program.run(words);
        let lines = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && lines.contains(says), "{words}: {lines}");
    }
}

#[test]
fn a_model_of_pairs_is_trained_on_pictures_of_ones_own_and_used() {
    let program = with_pictures();
    program.succeed("upscale small.png --method bicubic -o bicubic.png");
    let bicubic = psnr_of(&program, "bicubic.png");
    let photo = photograph("coffee.png");
    for (method, fewer, n_models) in [
        ("alt-opt", "--atoms 32 --iterations 4", 1),
        ("online", "--atoms 32", 1),
        ("rand-ex-av", "--atoms 100 --models 4", 4),
        ("boost-ex", "--atoms 100 --models 4", 4),
        ("boost-km", "--atoms 32 --models 2", 2),
    ] {
        let words = format!("train --method {method} {fewer} --scale 2 --samples 4000 --seed 1");
        let report = program.json(&format!("{words} -o {method}.safetensors {}", photo.display()));
        assert_eq!(report["model"]["kind"], "ensemble");
        assert_eq!(report["model"]["n_models"], n_models);
        assert_eq!((&report["model"]["n_inputs"], &report["model"]["n_features"]), (&100.into(), &25.into()));
        program.succeed(&format!("{words} -o again.safetensors --force --threads 1 {}", photo.display()));
        assert_eq!(program.bytes("again.safetensors"), program.bytes(&format!("{method}.safetensors")));
        program.succeed(&format!("upscale small.png --model {method}.safetensors -o {method}.png"));
        assert_eq!(size_of(&program, &format!("{method}.png")), Size { width: 120, height: 90 });
        let psnr = psnr_of(&program, &format!("{method}.png"));
        assert!(psnr > bicubic + 0.3, "{method}: {psnr} dB, bicubic {bicubic} dB");
        assert!(program.succeed(&format!("info {method}.safetensors")).0.contains("pairs of 5 × 5 pixels"));
    }
    // Of boosting the errors are those of patches, whose norm is √0.2 as they are learned from.
    let report = program.json(&format!(
        "train --method boost-ex --atoms 100 --models 1 --scale 2 --samples 4000 -o one.safetensors {}",
        photo.display()
    ));
    assert!((0.0..0.2).contains(&report["error"].as_f64().unwrap()), "{report}");
    matrix_file::write(program.path("samples.npy"), Matrix::<f32>::zeros(4, 9).view()).unwrap();
    for (words, says) in [
        ("train --method mld --scale 2 -o x.safetensors small.png", "mld has no use for --scale"),
        ("upscale small.png --model one.safetensors --scale 3 -o x.png", "has learned --scale 2"),
        ("train --method boost-ex --scale 5 -o x.safetensors small.png", "2, 3 or 4"),
        ("train --method boost-ex --scale 2 --phi mask:missing=0.5 -o x.safetensors small.png", "no use for --phi"),
        ("train --method boost-ex --scale 2 --keep-norm -o x.safetensors small.png", "no use for --keep-norm"),
        ("train --method boost-ex --scale 2 -o x.safetensors samples.npy", "--scale is for pictures"),
    ] {
        let line = program.fail(words, 2);
        assert!(line.contains(says), "{words}: {line}");
    }
}

#[test]
fn a_report_compares_with_bicubic_interpolation_and_shows_the_middle_of_what_is_large() {
    let program = with_pictures();
    program.succeed("upscale small.png --report page.html -o large.png");
    let page = String::from_utf8(program.bytes("page.html")).unwrap();
    assert!(page.contains("data-name=\"bicubic interpolation\"") && page.contains("data-name=\"enlarged, anchored\""));
    assert!(!page.contains("in the middle of"));
    let refused = program.fail("upscale small.png original.png --report many.html -o folder", 2);
    assert!(refused.starts_with("--report is for one picture"), "{refused}");
    // Strip by strip, with alpha: the piece on the page is the middle of what was written.
    let wide = Size { width: 1100, height: 900 };
    let plane = |level: usize| GrayImage::from_fn(wide, |row, column| ((row * level + column) % 256) as f64).unwrap();
    let layout = Layout { size: wide, channels: 4, depth: BitDepth::Eight, profile: None, exif: None };
    let planes = [1, 2, 3, 0].map(plane);
    write_by_rows(program.path("wide.png"), &layout, wide.height, |_| Ok(planes.to_vec())).unwrap();
    program.succeed("upscale wide.png --method bicubic --report page.html --force -o wider.png");
    let page = String::from_utf8(program.bytes("page.html")).unwrap();
    assert!(page.contains("in the middle of 2200×1800"), "{}", page.len());
    // Interpolation beside itself: both pieces are the same picture.
    let pieces: Vec<&str> = page.split("src=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert!(pieces[0] == pieces[1] && pieces[0].len() > 1000);
}
