//! `sparsemble sense`, `sparsemble recover` and `sparsemble restore`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sparsemble::degradation::{Blur, Degradation, Projection, with_white_noise};
use sparsemble::image::{
    BitDepth, GrayImage, Layout, Picture, Raster, Size, decode_picture, read, read_picture, write_by_rows,
    write_picture, write_png,
};
use sparsemble::metrics::psnr;
use sparsemble::{Matrix, Run, matrix_file};
use sparsemble_paper::{Blocks, Contender, Recovery, Sensing};

use crate::program::{Program, exif, photograph};

/// A folder with a piece of a photograph whose sides are no multiples of 8: `photo.png`, in grey.
fn with_photo() -> (Program, GrayImage) {
    let program = Program::new();
    let photo = piece(&read(photograph("camera.png")).unwrap().quantised(BitDepth::Eight));
    write_png(program.path("photo.png"), &photo, BitDepth::Eight).unwrap();
    (program, photo)
}

fn piece(plane: &GrayImage) -> GrayImage {
    GrayImage::from_fn(Size { width: 84, height: 67 }, |row, column| plane.row(row + 100)[column + 200]).unwrap()
}

#[test]
fn a_picture_comes_back_from_a_quarter_of_its_numbers_better_than_block_by_block() {
    let (program, photo) = with_photo();
    let sensed = program.picture("sense photo.png --ratio 0.25 --seed 5 -o z.npz");
    assert_eq!((&sensed["n_measurements"], &sensed["n_blocks"]), (&16.into(), &(11 * 9).into()));
    // Nothing but measurements, Φ and the size.
    let array = |name: &str| matrix_file::read::<f64>(program.path(&format!("z.npz:{name}"))).unwrap().to_matrix();
    assert_eq!((array("z").rows(), array("z").columns()), (16, 11 * 9));
    assert_eq!(array("size").into_vec(), [67.0, 84.0, 1.0]);
    let phi = "orthonormal:measurements=16,seed=5".parse::<Projection>().unwrap().matrix::<f64>(64).unwrap();
    assert!((array("phi").column(3)[10] - phi.matrix().get(3, 10)).abs() < 1e-12);

    let report = program.picture("recover z.npz -o out.png --reference photo.png --uncertainty doubt.npy");
    let found = read(program.path("out.png")).unwrap();
    let quality = psnr(&photo, &found).unwrap();
    assert!((report["psnr"].as_f64().unwrap() - quality).abs() < 1e-9);
    assert!(quality > report["psnr_of_blocks"].as_f64().unwrap() + 1.0, "{report}");
    let doubt = matrix_file::read::<f64>(program.path("doubt.npy")).unwrap().to_matrix();
    assert_eq!((doubt.rows(), doubt.columns()), (84, 67));

    program.succeed("sense photo.png --ratio 0.5 --block 12 -o large.npz");
    let report = program.picture("recover large.npz -o large.png --reference photo.png");
    assert!(report["psnr"].as_f64().unwrap() > 24.0, "{report}");

    let (text, _) = program.succeed("recover z.npz -o again.png --threads 1");
    assert!(text.starts_with("z.npz: 84×67 pixels from 28.1 % of their numbers, by best"), "{text}");
    assert_eq!(program.bytes("again.png"), program.bytes("out.png"));
}

#[test]
fn means_are_used_by_both_presets_if_they_were_kept() {
    let (program, _) = with_photo();
    program.succeed("sense photo.png --ratio 0.125 -o z.npz");
    let (text, _) = program.succeed("sense photo.png --ratio 0.125 --means -o means.npz");
    assert!(text.contains("8 measurements and the mean of each (15.8 %)"), "{text}");
    for preset in ["best", "paper"] {
        let quality = |file: &str| {
            let recover = format!("recover {file} --preset {preset} --reference photo.png --force -o out.png");
            program.picture(&recover)["psnr"].as_f64().unwrap()
        };
        assert!(quality("means.npz") > quality("z.npz") + 0.1, "{preset}");
    }
    assert!(program.succeed("recover means.npz --force -o out.png").0.contains("from 15.8 % of their numbers"));
}

#[test]
fn the_preset_of_the_paper_takes_any_model() {
    let (program, _) = with_photo();
    program.succeed("sense photo.png -o z.npz");
    let quality = |words: &str| {
        let report =
            program.picture(&format!("recover {words} --preset paper --reference photo.png --force -o out.png"));
        report["psnr"].as_f64().unwrap()
    };
    assert!(quality("z.npz") > 18.0);
    program.succeed(&format!(
        "train --method rand-ex-av --atoms 64 --models 3 --samples 2000 --keep-norm -o m {}",
        photograph("coffee.png").display()
    ));
    assert!(quality("z.npz --model m") > 18.0);
    // One dictionary of a file has no spread; it is refused before anything is written.
    let coffee = photograph("coffee.png");
    program.succeed(&format!("train --method alt-opt --atoms 64 --samples 2000 -o one {}", coffee.display()));
    let refused = program.fail("recover z.npz --preset paper --model one --uncertainty u.npy -o x.png", 1);
    assert!(refused.starts_with("--uncertainty: the model has no members"), "{refused}");
    assert!(!program.files().iter().any(|name| ["x.png", "u.npy"].contains(&name.as_str())));
    assert!(program.fail("recover z.npz --model m -o x.png", 1).contains("holds no local Gaussians"));
    assert!(program.fail("recover z.npz --method boost-ex -o x.png", 2).contains("--preset paper"));
}

#[test]
fn the_preset_of_the_paper_is_the_reading_of_table_1() {
    let (program, photo) = with_photo();
    program.succeed("sense photo.png --ratio 0.125 --means -o z.npz");
    let photographs = ["chelsea.png", "coffee.png"].map(|name| read(photograph(name)).unwrap());
    let mut recovery = Recovery::prepare(Sensing::paper(0), &photographs).unwrap();
    // The picture with whole blocks that was measured.
    let size = Size { width: 88, height: 72 };
    let whole = GrayImage::from_fn(size, |row, column| photo.row(row.min(66))[column.min(83)]).unwrap();
    let blocks = Blocks::cut(recovery.settings(), vec![("photo".into(), whole)]).unwrap();
    let phi = "orthonormal:measurements=8".parse::<Projection>().unwrap().matrix::<f32>(64).unwrap();
    let mut linear = None;
    for (method, contender) in
        [("lmmse", Contender::Lmmse), ("boost-ex", Contender::BoostEx), ("rand-ex-av", Contender::RandExAv)]
    {
        let words = format!("recover z.npz --preset paper --method {method} --reference photo.png --force -o out.png");
        let told = program.picture(&words);
        let expected = recovery.recover(contender, &phi, &blocks, Run::default()).unwrap();
        let expected = psnr(&photo, &expected[0].cropped((0, 0), photo.size()).unwrap()).unwrap();
        assert!((told["psnr"].as_f64().unwrap() - expected).abs() < 0.01, "{method}: {told}, {expected}");
        // The linear estimator is always told.
        let linear = linear.get_or_insert_with(|| told["psnr"].clone());
        assert_eq!(told["psnr_linear"], *linear, "{method}");
    }
    let (text, _) = program.succeed("recover z.npz --reference photo.png --force -o out.png");
    assert!(
        text.contains(&format!("; linear estimator (LMMSE) {:.2} dB", linear.unwrap().as_f64().unwrap())),
        "{text}"
    );
    assert!(program.fail("recover z.npz --preset paper --noise 3 -o x.png", 2).contains("have their λ for it"));
    assert_eq!(program.run("recover z.npz --preset paper --method mld -o x.png").status.code(), Some(2));
}

#[test]
fn the_spread_of_the_paper_tells_where_errors_are_or_is_refused() {
    let (program, photo) = with_photo();
    program.succeed("sense photo.png -o z.npz");
    for method in ["ex-mld", "rand-ex-av"] {
        let words = "recover z.npz --preset paper --uncertainty u.npy --force -o out.png --method";
        program.succeed(&format!("{words} {method}"));
        let spread = matrix_file::read::<f64>(program.path("u.npy")).unwrap().to_matrix().into_vec();
        let found = read(program.path("out.png")).unwrap();
        let errors: Vec<f64> =
            photo.samples().iter().zip(found.samples()).map(|(truth, found)| (truth - found).abs()).collect();
        let mut sorted = spread.clone();
        sorted.sort_by(f64::total_cmp);
        let median = sorted[sorted.len() / 2];
        // In even blocks all dictionaries may say the same: nothing.
        assert!(median > 0.0 || method == "rand-ex-av", "{method}");
        let error = |unsure: bool| {
            let own: Vec<f64> =
                errors.iter().zip(&spread).filter(|(_, s)| (**s > median) == unsure).map(|(e, _)| *e).collect();
            own.iter().sum::<f64>() / own.len() as f64
        };
        assert!(error(true) > 1.3 * error(false), "{method}: {} {}", error(true), error(false));
    }
    // One Gaussian would expect the same error of every block.
    for method in ["alt-opt", "lmmse"] {
        let words = format!("recover z.npz --preset paper --method {method}");
        let refused = program.fail(&format!("{words} --uncertainty x.npy -o x.png"), 2);
        assert_eq!(refused, format!("--uncertainty: {method} has no members that could differ; leave it out"));
        program.succeed(&format!("{words} --report page.html --force -o one.png"));
        assert!(!String::from_utf8(program.bytes("page.html")).unwrap().contains("id=\"uncertainty\""));
    }
}

#[test]
fn a_file_of_measurements_has_as_many_blocks_and_means_as_its_size_says() {
    let program = Program::new();
    let photo = read_picture(photograph("chelsea.png")).unwrap();
    let planes: Vec<GrayImage> = photo.planes.iter().map(piece).collect();
    write_picture(program.path("photo.png"), &Picture { planes, depth: BitDepth::Eight }).unwrap();
    program.succeed("sense photo.png --means -o z.npz");
    let array = |name: &str| matrix_file::read::<f64>(program.path(&format!("z.npz:{name}"))).unwrap().to_matrix();
    let [z, phi, size, means] = ["z", "phi", "size", "means"].map(array);
    let first = |matrix: &Matrix<f64>, count: usize| {
        Matrix::from_fn(matrix.rows(), count, |r, i| matrix.column(i % matrix.columns())[r])
    };
    for (z, means, part) in [
        (z.clone(), first(&means, 99), "99 means"),
        (z.clone(), first(&means, 594), "594 means"),
        (first(&z, 298), means.clone(), "298 rows of measurements"),
        (first(&z, 300), first(&means, 300), "300 rows of measurements"),
        (z.clone(), first(&z, 297), "16 numbers a row"),
    ] {
        let arrays = [("z", z.view()), ("phi", phi.view()), ("size", size.view()), ("means", means.view())];
        matrix_file::write_arrays(program.path("bad.npz"), &arrays).unwrap();
        for preset in ["best", "paper"] {
            let refused = program.fail(&format!("recover bad.npz --preset {preset} -o x.png"), 1);
            assert!(refused.contains("bad.npz") && refused.contains(part), "{refused}");
        }
    }
    assert!(!program.files().contains(&"x.png".to_owned()));
    // The same numbers from files of their own, with the means in one row.
    matrix_file::write(program.path("z.npy"), z.view()).unwrap();
    matrix_file::write(program.path("phi.npy"), phi.view()).unwrap();
    let in_a_row = Matrix::from_columns(means.into_vec(), 297, 1).unwrap();
    matrix_file::write(program.path("means.csv"), in_a_row.view()).unwrap();
    program.succeed("recover z.npz -o out.png --uncertainty doubt.npy");
    program.succeed("recover z.npy --phi phi.npy --means means.csv --size 84x67x3 -o own.png");
    assert_eq!(program.bytes("own.png"), program.bytes("out.png"));
    let header = String::from_utf8_lossy(&program.bytes("doubt.npy")[..128]).into_owned();
    assert!(header.contains("(67, 84, 3)"), "{header}");
    assert!(program.fail("recover z.npy --phi phi.npy --size 84x67x2 -o x.png", 2).contains("WIDTHxHEIGHT"));
}

/// How large the steps between neighbours are at the borders of blocks, compared with those within them.
fn seams(image: &GrayImage) -> f64 {
    let Size { width, height } = image.size();
    let (mut sums, mut counts) = ([0.0, 0.0], [0.0, 0.0]);
    let mut add = |inside: bool, step: f64| {
        sums[usize::from(inside)] += step.abs();
        counts[usize::from(inside)] += 1.0;
    };
    for row in 1..height {
        for column in 1..width {
            let pixel = image.row(row)[column];
            add(column % 8 != 0, pixel - image.row(row)[column - 1]);
            add(row % 8 != 0, pixel - image.row(row - 1)[column]);
        }
    }
    (sums[0] / counts[0]) / (sums[1] / counts[1])
}

#[test]
fn the_best_preset_leaves_no_seams_of_blocks() {
    let program = Program::new();
    let photo = read(photograph("camera.png")).unwrap().quantised(BitDepth::Eight);
    let photo = photo.cropped((100, 200), Size { width: 160, height: 160 }).unwrap();
    write_png(program.path("photo.png"), &photo, BitDepth::Eight).unwrap();
    program.succeed("sense photo.png --ratio 0.125 --seed 5 -o z.npz");
    let left = |preset: &str| {
        program.succeed(&format!("recover z.npz --preset {preset} --force -o out.png"));
        seams(&read(program.path("out.png")).unwrap()) / seams(&photo)
    };
    let (best, paper) = (left("best"), left("paper"));
    assert!(best < 1.15, "{best}");
    assert!(paper > 2.0, "{paper}");
}

#[test]
fn measurements_made_elsewhere_are_recovered_with_their_phi_and_size() {
    let (program, photo) = with_photo();
    program.succeed("sense photo.png --ratio 0.5 -o z.npz");
    for name in ["z", "phi"] {
        let part = matrix_file::read::<f64>(program.path(&format!("z.npz:{name}"))).unwrap().to_matrix();
        matrix_file::write(program.path(&format!("{name}.npy")), part.view()).unwrap();
    }
    program.succeed("recover z.npz -o out.png");
    program.succeed("recover z.npy --phi phi.npy --size 84x67 -o own.png");
    assert_eq!(program.bytes("own.png"), program.bytes("out.png"));
    program.succeed("sense photo.png --phi phi.npy -o again.npz");
    assert_eq!(program.bytes("again.npz"), program.bytes("z.npz"));
    assert!(psnr(&photo, &read(program.path("out.png")).unwrap()).unwrap() > 28.0);
    assert!(program.fail("recover z.npy -o x.png", 1).contains("give --phi and --size"));
    assert!(program.fail("recover z.npy --phi phi.npy --size 84 -o x.png", 2).contains("WIDTHxHEIGHT"));
    assert!(program.fail("recover z.npy --phi phi.npy --size 84x99 -o x.png", 1).contains("number of blocks"));
    assert_eq!(program.run("sense photo.png --phi phi.npy --seed 3 -o x.npz").status.code(), Some(2));
    assert!(program.fail("sense photo.png --ratio 2 -o x.npz", 2).contains("--ratio 2"));
    assert!(program.fail("sense photo.png -o x.png", 1).contains(".npz"));
    assert_eq!(program.run("sense photo.png --kind sparse -o x.npz").status.code(), Some(2));
    assert!(program.fail("recover z.npz -o x.gif", 1).contains("ends in .png"));
    assert!(program.fail("recover z.npz -o x.png --uncertainty x.mat", 1).contains(".npy or .csv"));
    let coffee = photograph("coffee.png");
    let refused = program.fail(&format!("recover z.npz -o x.png --reference {}", coffee.display()), 1);
    assert!(refused.contains("coffee.png has 600×400 pixels, the result 84×67"), "{refused}");
    assert!(program.fail("recover nothing.npz -o x.png", 1).starts_with("cannot read nothing.npz"));
    assert!(!program.files().iter().any(|name| name.starts_with('x')));
}

#[test]
fn blocks_too_small_or_too_large_for_the_linear_estimator_are_recovered_and_compared_without_it() {
    let (program, photo) = with_photo();
    for (block, ratio) in [(1, 1.0), (17, 0.5)] {
        program.succeed(&format!("sense photo.png --block {block} --ratio {ratio} --force -o z.npz"));
        let told = program.picture("recover z.npz --reference photo.png --force -o out.png");
        // The linear estimator of such blocks is not to be had, or not quickly.
        assert!(told["psnr_linear"].is_null(), "{block}: {told}");
        let found = read(program.path("out.png")).unwrap();
        match told["psnr"].as_f64() {
            Some(quality) => assert!(quality > 20.0, "{block}: {told}"),
            // Infinite, which JSON has no number for: of which every number is kept, that comes back as it was.
            None => assert!(block == 1 && found == photo, "{block}: {told}"),
        }
    }
}

#[test]
fn colours_are_recovered_one_by_one_or_as_brightness() {
    let program = Program::new();
    let photo = read_picture(photograph("chelsea.png")).unwrap();
    let planes: Vec<GrayImage> = photo.planes.iter().map(piece).collect();
    write_picture(program.path("photo.png"), &Picture { planes, depth: BitDepth::Eight }).unwrap();
    let sensed = program.picture("sense photo.png --ratio 0.5 -o z.npz");
    assert_eq!(sensed["planes"], 3);
    let report = program.picture("recover z.npz -o out.png --reference photo.png --sixteen-bit");
    assert!(report["psnr"].as_f64().unwrap() > 30.0, "{report}");
    let grey = read(program.path("photo.png")).unwrap();
    write_png(program.path("grey.png"), &grey, BitDepth::Eight).unwrap();
    let refused = program.fail("recover z.npz -o x.png --reference grey.png", 1);
    assert!(refused.contains("grey.png is in grey, the result in colour"), "{refused}");
    let found = read_picture(program.path("out.png")).unwrap();
    assert_eq!((found.planes.len(), found.depth), (3, BitDepth::Sixteen));
    assert_eq!(program.picture("sense photo.png --luma -o luma.npz")["planes"], 1);
}

#[test]
fn kernels_are_scaled_to_sum_to_one_and_small_pictures_are_refused_by_their_size() {
    let (program, photo) = with_photo();
    let even = |level: f64| Matrix::from_fn(3, 3, |_, _| level);
    for (name, level) in [("even.npy", 1.0 / 9.0), ("ones.npy", 1.0), ("zeros.npy", 0.0)] {
        matrix_file::write(program.path(name), even(level).view()).unwrap();
    }
    let blur = Blur::new(photo.size(), even(1.0 / 9.0).view()).unwrap();
    let mut blurred = vec![0.0; photo.samples().len()];
    blur.apply(photo.samples(), &mut blurred);
    write_png(program.path("blurred.png"), &GrayImage::new(photo.size(), blurred).unwrap(), BitDepth::Eight).unwrap();
    let (_, quiet) = program.succeed("restore blurred.png --task deblur --kernel even.npy -o even.png");
    let (_, told) = program.succeed("restore blurred.png --task deblur --kernel ones.npy -o ones.png");
    assert!(quiet.is_empty() && told.contains("ones.npy sums to 9"), "{quiet}{told}");
    let [even, ones] = ["even.png", "ones.png"].map(|name| psnr(&photo, &read(program.path(name)).unwrap()).unwrap());
    assert!((even - ones).abs() < 0.1, "{even} {ones}");
    let refused = program.fail("restore blurred.png --task deblur --kernel zeros.npy -o x.png", 1);
    assert!(refused.contains("zeros.npy") && refused.contains("kernel sum"), "{refused}");

    let small = photo.cropped((0, 0), Size { width: 7, height: 30 }).unwrap();
    write_png(program.path("small.png"), &small, BitDepth::Eight).unwrap();
    for task in ["denoise", "deblur --kernel gaussian:sigma=1"] {
        let refused = program.fail(&format!("restore small.png --task {task} -o x.png"), 1);
        assert!(refused.contains("image = 7×30: both sides must be at least 8 pixels"), "{refused}");
    }
}

#[test]
fn noise_is_taken_out_and_holes_are_filled_in() {
    let (program, photo) = with_photo();
    let size = photo.size();
    // The sum of twelve numbers that look random is nearly normal.
    let number = |i: u64| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (i << 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 11;
    let uniform = |i: u64| number(i) as f64 / (1_u64 << 53) as f64;
    let noise = |row: usize, column: usize| {
        let first = 12 * (row * 84 + column) as u64;
        25.0 * ((first..first + 12).map(uniform).sum::<f64>() - 6.0)
    };
    let noisy = GrayImage::from_fn(size, |row, column| photo.row(row)[column] + noise(row, column)).unwrap();
    write_png(program.path("noisy.png"), &noisy, BitDepth::Eight).unwrap();
    let report = program.picture("restore noisy.png --task denoise --sigma 25 --reference photo.png -o clean.png");
    assert!(report["psnr"].as_f64().unwrap() > report["psnr_before"].as_f64().unwrap() + 4.0, "{report}");

    let missing = |row: usize, column: usize| (row * 31 + column * 17) % 7 < 3;
    let mask = GrayImage::from_fn(size, |row, column| if missing(row, column) { 255.0 } else { 0.0 }).unwrap();
    write_png(program.path("mask.png"), &mask, BitDepth::Eight).unwrap();
    let holes = GrayImage::from_fn(size, |row, column| if missing(row, column) { 0.0 } else { photo.row(row)[column] });
    write_png(program.path("holes.png"), &holes.unwrap(), BitDepth::Eight).unwrap();
    let report = program.picture("restore holes.png --task inpaint --mask mask.png --reference photo.png -o whole.png");
    assert!(report["psnr"].as_f64().unwrap() > 27.0, "{report}");
    let whole = read(program.path("whole.png")).unwrap();
    for (row, column) in (0..67).flat_map(|row| (0..84).map(move |column| (row, column))) {
        assert!(missing(row, column) || (whole.row(row)[column] - photo.row(row)[column]).abs() < 1e-9);
    }
    assert_eq!(program.run("restore holes.png --task inpaint -o x.png").status.code(), Some(2));
    assert!(program.fail("restore holes.png --task denoise --mask mask.png -o x.png", 2).contains("--mask"));
    assert!(program.fail("restore holes.png --task denoise --sigma=-1 -o x.png", 2).starts_with("--sigma -1: "));
}

#[test]
fn alpha_depth_profile_and_turn_of_what_is_restored_are_kept_or_it_is_said_that_they_are_not() {
    let (program, photo) = with_photo();
    let layout = Layout {
        size: photo.size(),
        channels: 4,
        depth: BitDepth::Eight,
        profile: Some((0..200).collect()),
        exif: Some(exif(6)),
    };
    let alpha = GrayImage::from_fn(photo.size(), |row, column| ((row * 3 + column) % 256) as f64).unwrap();
    let channels = [photo.clone(), photo.clone(), photo.clone(), alpha];
    write_by_rows(program.path("held.png"), &layout, 67, |_| Ok(channels.to_vec())).unwrap();
    let (text, warnings) = program.succeed("restore held.png --task denoise --sigma 5 -o seen.png");
    assert!(warnings.is_empty() && text.contains("67×84 pixels"), "{text}{warnings}");
    let seen = Raster::read(program.path("seen.png")).unwrap();
    let upright = Layout { size: Size { width: 67, height: 84 }, exif: Some(exif(1)), ..layout.clone() };
    assert_eq!(seen.layout(), upright);
    let before = Raster::read(program.path("held.png")).unwrap().rows(0..84).unwrap();
    let after = seen.rows(0..84).unwrap();
    assert_eq!(after[3], before[3]);
    assert!(after[0] != before[0] && psnr(&before[0], &after[0]).unwrap() > 30.0);

    assert!(program.fail("restore held.png --task denoise --sigma 5 -o no.jpg", 1).contains("alpha"));
    let (_, warnings) = program.succeed("restore held.png --task denoise --sigma 5 --sixteen-bit -o shallow.webp");
    assert!(warnings.contains("16 bits") && !warnings.contains("profile"), "{warnings}");

    // A photograph of a telephone, its mask and its original are all turned.
    let opaque = Layout { channels: 3, ..layout };
    write_by_rows(program.path("held.jpg"), &opaque, 67, |_| Ok(channels[..3].to_vec())).unwrap();
    let mask = GrayImage::from_fn(photo.size(), |row, column| if row + column < 9 { 255.0 } else { 0.0 }).unwrap();
    let marked = Layout { channels: 1, ..opaque.clone() };
    write_by_rows(program.path("mask.png"), &marked, 67, |_| Ok(vec![mask.clone()])).unwrap();
    let words = "restore held.jpg --task inpaint --mask mask.png --reference held.png -o whole.jpg";
    assert!(program.picture(words)["psnr"].as_f64().unwrap() > 25.0);
    let whole = Raster::read(program.path("whole.jpg")).unwrap().layout();
    assert_eq!(whole, Layout { size: upright.size, exif: upright.exif, ..opaque });
}

#[test]
fn a_blur_is_undone_by_its_name_or_its_kernel() {
    let (program, photo) = with_photo();
    let blur = Blur::gaussian(photo.size(), 1.6).unwrap();
    let mut blurred = vec![0.0; photo.samples().len()];
    blur.apply(photo.samples(), &mut blurred);
    let blurred = GrayImage::new(photo.size(), blurred).unwrap();
    write_png(program.path("blurred.png"), &blurred, BitDepth::Eight).unwrap();
    let words = "restore blurred.png --task deblur --reference photo.png --force -o sharp.png";
    let report = program.picture(&format!("{words} --kernel gaussian:sigma=1.6"));
    let quality = report["psnr"].as_f64().unwrap();
    assert!(quality > report["psnr_before"].as_f64().unwrap() + 2.0, "{report}");

    let tap = |i: usize| (-0.5 * ((i as f64 - 6.0) / 1.6).powi(2)).exp();
    let total: f64 = (0..13).map(tap).sum();
    let kernel = Matrix::from_fn(13, 13, |r, c| tap(r) * tap(c) / total / total);
    matrix_file::write(program.path("kernel.npy"), kernel.view()).unwrap();
    let again = program.picture(&format!("{words} --kernel kernel.npy"))["psnr"].as_f64().unwrap();
    assert!((again - quality).abs() < 0.1, "{again} for {quality}");
    assert!(program.fail(&format!("{words} --kernel gaussian:sigma=1.6 --sigma=-1"), 2).starts_with("--sigma -1: "));
    assert!(program.fail(&format!("{words} --kernel box"), 2).contains("gaussian:sigma=1.6"));
}

#[test]
fn a_report_has_the_pictures_the_figures_and_the_command() {
    let (program, photo) = with_photo();
    let noisy = with_white_noise(&photo, 25.0, 3).unwrap();
    write_png(program.path("noisy.png"), &noisy, BitDepth::Eight).unwrap();
    let words = "restore noisy.png --task denoise --sigma 25 --reference photo.png --report page.html -o clean.png";
    let told = program.json(words);
    assert_eq!(told["report"], "page.html");
    let told = &told["pictures"][0];
    let page = String::from_utf8(program.bytes("page.html")).unwrap();
    assert_eq!(page.matches("<figure class=\"layer\"").count(), 3);
    for (name, psnr) in [("before", &told["psnr_before"]), ("restored", &told["psnr"])] {
        assert!(page.contains(&format!("data-name=\"{name}, {:.2} dB\"", psnr.as_f64().unwrap())), "{name}");
    }
    let typed: Vec<String> = words.split(' ').map(|word| format!("<span>{word}</span>")).collect();
    assert!(page.contains(&typed.join(" ")));
    assert!(page.contains("grey levels and more") && !page.contains("http:") && !page.contains("https:"));
    // Recovered without an original: still before and after.
    program.succeed("sense photo.png -o z.npz");
    let (text, _) = program.succeed("recover z.npz --report found.html --uncertainty error.png -o found.png");
    assert!(text.ends_with("wrote found.png, error.png, found.html\n"), "{text}");
    let page = String::from_utf8(program.bytes("found.html")).unwrap();
    assert!(page.contains("data-name=\"every block on its own\"") && page.contains("data-name=\"recovered\""));
    assert!(!page.contains("id=\"atoms\""));
    // Nothing is lost to two outputs of one name, or written over unasked.
    let same = program.fail("restore noisy.png --task denoise --report ./out.png -o out.png", 2);
    assert_eq!(same, "--report and --output are the same file ./out.png; choose two");
    assert!(program.fail("restore noisy.png --task denoise --report page.html -o out.png", 1).contains("--force"));
    assert!(!program.files().contains(&"out.png".to_owned()));
}

#[test]
fn the_page_of_a_megapixel_is_no_larger_than_five_megabytes() {
    let program = Program::new();
    // Three colours of nothing but noise, of which every level is as likely, are what is hardest to write down.
    let mut state = 1_u64;
    let mut level = |_: usize, _: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as f64
    };
    let size = Size { width: 1280, height: 800 };
    let planes = (0..3).map(|_| GrayImage::from_fn(size, &mut level).unwrap()).collect();
    write_picture(program.path("noise.png"), &Picture { planes, depth: BitDepth::Eight }).unwrap();
    for words in [
        "upscale noise.png --report page.html -o large.png",
        "upscale noise.png --scale 1 --report page.html -o same.png",
    ] {
        program.succeed(&format!("{words} --force"));
        let bytes = program.bytes("page.html").len();
        assert!((2_000_000..5_000_000).contains(&bytes), "{words}: {bytes} bytes");
    }
}

/// The pictures inside a page, one after the other.
fn pictures_of(page: &str) -> Vec<Picture> {
    let files = page.split("src=\"data:image/png;base64,").skip(1).map(|rest| rest.split('"').next().unwrap());
    files.map(|file| decode_picture(&STANDARD.decode(file).unwrap()).unwrap()).collect()
}

#[test]
fn the_page_of_a_picture_that_was_filled_in_shows_what_was_missing() {
    let (program, photo) = with_photo();
    let hole = |row: usize, column: usize| (20..30).contains(&row) && (40..60).contains(&column);
    let mask = GrayImage::from_fn(photo.size(), |row, column| if hole(row, column) { 255.0 } else { 0.0 }).unwrap();
    write_png(program.path("mask.png"), &mask, BitDepth::Eight).unwrap();
    // The picture itself has no holes: only the mask tells.
    program.succeed("restore photo.png --task inpaint --mask mask.png --report page.html -o whole.png");
    let page = String::from_utf8(program.bytes("page.html")).unwrap();
    assert!(page.contains("84×67 pixels, missing pixels, pink before, filled in. It took ") && !page.contains("in in"));
    let [before, after, ..] = &pictures_of(&page)[..] else { panic!("there are no pictures") };
    assert_eq!((before.planes.len(), after.planes.len()), (3, 1));
    for row in 0..67 {
        for column in 0..84 {
            let shown: Vec<f64> = before.planes.iter().map(|plane| plane.row(row)[column]).collect();
            let grey = photo.row(row)[column];
            let expected = if hole(row, column) { vec![255.0, 59.0, 107.0] } else { vec![grey; 3] };
            assert_eq!(shown, expected, "{row}, {column}");
        }
    }
}
