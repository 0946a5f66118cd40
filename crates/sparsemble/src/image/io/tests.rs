use std::fs;

use ::image::{ImageFormat, Luma, LumaA, Rgb, Rgba};

use super::*;

const SIZE: Size = Size { width: 5, height: 3 };

fn picture(scale: f64) -> GrayImage {
    GrayImage::from_fn(SIZE, |row, column| (row * 40 + column * 10) as f64 / scale).unwrap()
}

fn encoded(picture: impl Into<DynamicImage>, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    picture.into().write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

fn reason(result: Result<GrayImage>) -> String {
    match result {
        Err(Error::Image { reason, .. }) => reason,
        other => panic!("expected an image error, found {other:?}"),
    }
}

#[test]
fn png_gives_back_what_was_written_in_both_depths() {
    assert_eq!(decode(&encode_png(&picture(1.0), BitDepth::Eight).unwrap()), Ok(picture(1.0)));
    let sixteen = picture(257.0);
    assert_eq!(decode(&encode_png(&sixteen, BitDepth::Sixteen).unwrap()), Ok(sixteen));
    let out_of_range = GrayImage::new(Size { width: 2, height: 1 }, vec![-7.0, 999.0]).unwrap();
    let back = decode(&encode_png(&out_of_range, BitDepth::Eight).unwrap()).unwrap();
    assert_eq!(back.samples(), [0.0, 255.0]);
}

#[test]
fn every_format_of_a_grey_picture_is_read() {
    let gray = ::image::GrayImage::from_fn(5, 3, |x, y| Luma([(y * 40 + x * 10) as u8]));
    for format in [ImageFormat::Png, ImageFormat::Pnm, ImageFormat::Tiff, ImageFormat::Bmp] {
        assert_eq!(decode(&encoded(gray.clone(), format)), Ok(picture(1.0)), "{format:?}");
    }
    let flat = ::image::GrayImage::from_pixel(16, 16, Luma([77]));
    let jpeg = decode(&encoded(flat, ImageFormat::Jpeg)).unwrap();
    assert!(jpeg.samples().iter().all(|value| (value - 77.0).abs() <= 1.0));
}

#[test]
fn colour_becomes_bt_601_luma_and_alpha_is_ignored() {
    let bytes = |pixel: [u8; 4]| encoded(::image::RgbaImage::from_pixel(1, 1, Rgba(pixel)), ImageFormat::Png);
    let value = |bytes: &[u8]| decode(bytes).unwrap().samples()[0];
    for (pixel, expected) in
        [([255, 0, 0, 255], 76.245), ([0, 255, 0, 0], 149.685), ([0, 0, 255, 9], 29.07), ([200, 200, 200, 1], 200.0)]
    {
        assert!((value(&bytes(pixel)) - expected).abs() < 1e-12, "{pixel:?}");
    }
    let deep: ::image::ImageBuffer<Rgb<u16>, Vec<u16>> = ::image::ImageBuffer::from_pixel(1, 1, Rgb([65_535, 0, 257]));
    assert!((value(&encoded(deep, ImageFormat::Png)) - (0.299 * 255.0 + 0.114)).abs() < 1e-12);
    let veiled = ::image::GrayAlphaImage::from_pixel(1, 1, LumaA([42, 3]));
    assert_eq!(decode(&encoded(veiled, ImageFormat::Png)).unwrap().samples(), [42.0]);
}

#[test]
fn a_file_that_promises_too_much_is_refused_before_it_is_decoded() {
    assert!(reason(decode(b"P5 60000 60000 255\n")).contains("60000×60000 pixels are more than the 134217728"));
    assert!(reason(decode(b"P5 4000000000 1 255\n")).contains("more than the 65536 that are allowed"));
    let mut png = encode_png(&picture(1.0), BitDepth::Eight).unwrap();
    png[16..24].copy_from_slice(&[0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff]);
    let checksum = crc(&png[12..29]).to_be_bytes();
    png[29..33].copy_from_slice(&checksum);
    assert!(reason(decode(&png)).contains("that are allowed"));
}

#[test]
fn damaged_and_unknown_files_are_refused() {
    assert!(decode(b"").is_err());
    assert!(decode(b"this is not a picture").is_err());
    let png = encode_png(&picture(1.0), BitDepth::Eight).unwrap();
    (0..png.len() - 12).for_each(|length| assert!(decode(&png[..length]).is_err(), "cut at {length}"));
    let floats = ::image::Rgb32FImage::from_pixel(2, 2, Rgb([0.5, f32::NAN, 1.0]));
    assert!(reason(decode(&encoded(floats, ImageFormat::Tiff))).contains("8 or 16 bits"));
    assert!(reason(decode(&tiff_of_one_float())).contains("8 or 16 bits"));
}

/// The checksum of a piece of a PNG file.
fn crc(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| if crc & 1 == 1 { 0xedb8_8320 ^ (crc >> 1) } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), step))
}

/// A TIFF file of one grey pixel in floating point: tags and their values, and the pixel behind them.
fn tiff_of_one_float() -> Vec<u8> {
    let tags = [(256, 1), (257, 1), (258, 32), (259, 1), (262, 1), (273, 8), (277, 1), (278, 1), (279, 4), (339, 3)];
    let entry = |(tag, value): (u16, u32)| {
        let kind_and_count = [3, 0, 1, 0, 0, 0];
        [&tag.to_le_bytes()[..], &kind_and_count, &value.to_le_bytes()].concat()
    };
    let entries: Vec<u8> = tags.into_iter().flat_map(entry).collect();
    [b"II*\0\x0c\0\0\0", &0.5_f32.to_le_bytes()[..], &[10, 0], &entries, &[0; 4]].concat()
}

#[test]
fn a_jpeg_file_without_its_end_is_refused_and_one_with_more_after_it_is_not() {
    let noise = |row: usize, column: usize| ((row * 7919 + column * 104_729) % 251) as f64;
    let plane = GrayImage::from_fn(Size { width: 64, height: 48 }, noise).unwrap();
    let picture = Picture { planes: vec![plane; 3], depth: BitDepth::Eight };
    let jpeg = encode_jpeg(&picture, 90).unwrap();
    for length in (0..jpeg.len()).step_by(97).chain([jpeg.len() - 1]) {
        assert!(decode(&jpeg[..length]).is_err(), "cut at {length} of {}", jpeg.len());
    }
    assert!(reason(decode(&jpeg[..jpeg.len() / 2])).contains("ends before its picture"));
    assert_eq!(decode(&[&jpeg[..], b"more"].concat()), decode(&jpeg));
    // A small picture in a segment of its own, as cameras put it there, has an end that does not count.
    let length = (jpeg.len() as u16 + 2).to_be_bytes();
    let within = [&jpeg[..2], &[0xff, 0xe5], &length, &jpeg, &jpeg[2..]].concat();
    assert_eq!(decode(&within), decode(&jpeg));
    assert!(decode(&within[..within.len() - 2]).is_err());
}

#[test]
fn of_a_file_that_is_empty_or_cut_off_it_is_said_so() {
    let png = encode_png(&picture(1.0), BitDepth::Eight).unwrap();
    for length in [20, png.len() / 2] {
        assert!(reason(decode(&png[..length])).contains("ends before its picture"), "cut at {length}");
    }
    assert!(reason(decode(b"")).starts_with("the file is empty"));
}

#[test]
fn writing_replaces_a_file_and_leaves_nothing_else_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("picture.png");
    fs::write(&path, "old").unwrap();
    write_png(&path, &picture(1.0), BitDepth::Eight).unwrap();
    assert_eq!(read(&path), Ok(picture(1.0)));
    let names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["picture.png"]);
}

#[test]
fn a_failed_write_leaves_the_target_and_no_scraps() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("taken");
    fs::create_dir(&target).unwrap();
    fs::write(target.join("inside"), "kept").unwrap();
    let refused = write_png(&target, &picture(1.0), BitDepth::Eight);
    assert!(matches!(refused, Err(Error::Io { action: "write", .. })), "{refused:?}");
    assert_eq!(fs::read_to_string(target.join("inside")).unwrap(), "kept");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_missing_file_is_named() {
    let error = read("no/such/picture.png").unwrap_err();
    assert!(matches!(&error, Error::Io { kind: std::io::ErrorKind::NotFound, .. }));
    assert!(error.to_string().starts_with("cannot read no/such/picture.png: "), "{error}");
}

#[test]
fn colours_and_depth_survive_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let size = Size { width: 3, height: 2 };
    let plane = |shift: usize, depth: BitDepth| {
        let image = GrayImage::from_fn(size, |row, column| ((row * 3 + column + shift) * 37 % 256) as f64 + 0.4);
        image.unwrap().quantised(depth)
    };
    for depth in [BitDepth::Eight, BitDepth::Sixteen] {
        for count in [1, 3] {
            let picture = Picture { planes: (0..count).map(|shift| plane(shift, depth)).collect(), depth };
            let path = folder.path().join("picture.png");
            write_picture(&path, &picture).unwrap();
            assert_eq!(read_picture(&path).unwrap(), picture);
        }
        let two = Picture { planes: vec![plane(0, depth), plane(1, depth)], depth };
        assert!(write_picture(folder.path().join("two.png"), &two).unwrap_err().to_string().contains("planes = 2"));
    }
}

fn layout(channels: usize, depth: BitDepth) -> Layout {
    Layout { size: SIZE, channels, depth, profile: None, exif: None }
}

/// A channel of its own for each.
fn planes(channels: usize, rows: std::ops::Range<usize>, depth: BitDepth) -> Vec<GrayImage> {
    let of = |channel: usize| {
        let size = Size { width: SIZE.width, height: rows.len() };
        GrayImage::from_fn(size, |row, column| (((row + rows.start) * 5 + column + channel * 90) % 256) as f64 + 0.4)
    };
    (0..channels).map(|channel| of(channel).unwrap().quantised(depth)).collect()
}

#[test]
fn every_kind_of_file_gives_back_what_was_written_by_rows() {
    let folder = tempfile::tempdir().unwrap();
    for (name, channels, depth) in [
        ("a.png", 1, BitDepth::Eight),
        ("a.png", 2, BitDepth::Sixteen),
        ("a.png", 3, BitDepth::Sixteen),
        ("a.png", 4, BitDepth::Eight),
        ("a.tif", 3, BitDepth::Sixteen),
        ("a.tiff", 4, BitDepth::Eight),
        ("a.webp", 3, BitDepth::Eight),
        ("a.webp", 4, BitDepth::Eight),
        ("a.bmp", 1, BitDepth::Eight),
        ("a.bmp", 3, BitDepth::Eight),
        ("a.PGM", 1, BitDepth::Sixteen),
        ("a.pgm", 1, BitDepth::Eight),
        ("a.ppm", 3, BitDepth::Eight),
        ("a.ppm", 3, BitDepth::Sixteen),
        ("a.pnm", 4, BitDepth::Eight),
        ("a.pam", 1, BitDepth::Eight),
        ("a.pam", 2, BitDepth::Eight),
        ("a.pam", 3, BitDepth::Sixteen),
    ] {
        let (path, layout) = (folder.path().join(name), layout(channels, depth));
        assert_eq!(PictureFormat::of(&path).unwrap().fitted(&layout).unwrap(), layout);
        write_by_rows(&path, &layout, 2, |rows| Ok(planes(channels, rows, depth))).unwrap();
        let raster = Raster::read(&path).unwrap();
        assert_eq!(raster.layout(), layout, "{name}");
        assert_eq!(raster.rows(0..3).unwrap(), planes(channels, 0..3, depth), "{name}");
        assert_eq!(raster.rows(1..2).unwrap(), planes(channels, 1..2, depth), "{name}");
        assert!(raster.rows(1..1).is_err() && raster.rows(2..4).is_err());
    }
}

/// The EXIF data of a camera: with 6 it was held sideways, and the picture is to be turned by 90 degrees clockwise.
fn exif(orientation: u8) -> Vec<u8> {
    let one_entry = [b'M', b'M', 0, 42, 0, 0, 0, 8, 0, 1];
    let entry = [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0];
    let no_more = [0; 4];
    [&one_entry[..], &entry, &no_more].concat()
}

#[test]
fn profile_and_exif_data_are_kept_where_they_can_be() {
    let folder = tempfile::tempdir().unwrap();
    let profile: Vec<u8> = (0..200).collect();
    let full = Layout { profile: Some(profile), exif: Some(exif(6)), ..layout(3, BitDepth::Eight) };
    for name in ["a.png", "a.jpg", "a.webp"] {
        let path = folder.path().join(name);
        write_by_rows(&path, &full, 3, |rows| Ok(planes(3, rows, BitDepth::Eight))).unwrap();
        let raster = Raster::read(&path).unwrap();
        let turned = Layout { size: Size { width: 3, height: 5 }, exif: Some(exif(1)), ..full.clone() };
        assert_eq!(raster.layout(), turned, "{name}");
    }
    // Of a TIFF file the profile is kept even if it is much larger than the picture.
    let (path, large) = (folder.path().join("a.tif"), Some(vec![7; 50_000]));
    let plain = Layout { profile: large, ..layout(3, BitDepth::Eight) };
    write_by_rows(&path, &plain, 3, |rows| Ok(planes(3, rows, BitDepth::Eight))).unwrap();
    assert_eq!(Raster::read(&path).unwrap().layout(), plain);
    for (format, exif, profile) in [(PictureFormat::Tiff, false, true), (PictureFormat::Bmp, false, false)] {
        let fitted = format.fitted(&full).unwrap();
        assert_eq!((fitted.exif.is_some(), fitted.profile.is_some()), (exif, profile));
    }
}

#[test]
fn every_reader_turns_a_picture_as_the_camera_was_held() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.png");
    let layout = Layout { exif: Some(exif(6)), ..layout(1, BitDepth::Eight) };
    write_by_rows(&path, &layout, 3, |_| Ok(vec![picture(1.0)])).unwrap();
    // The last row has become the first column.
    let upright = GrayImage::from_fn(Size { width: 3, height: 5 }, |row, column| picture(1.0).row(2 - column)[row]);
    let upright = upright.unwrap();
    assert_eq!(Raster::read(&path).unwrap().rows(0..5).unwrap(), std::slice::from_ref(&upright));
    assert_eq!(read_picture(&path).unwrap().planes, std::slice::from_ref(&upright));
    assert_eq!(read(&path).unwrap(), upright);
}

#[test]
fn what_a_kind_of_file_cannot_hold_is_lowered_or_refused() {
    let deep = layout(3, BitDepth::Sixteen);
    assert_eq!(PictureFormat::Jpeg.fitted(&deep).unwrap().depth, BitDepth::Eight);
    for (format, channels) in [(PictureFormat::Jpeg, 4), (PictureFormat::Tiff, 2), (PictureFormat::Bmp, 2)] {
        assert!(format.fitted(&layout(channels, BitDepth::Eight)).unwrap_err().to_string().contains(".png"));
    }
    assert!(PictureFormat::of(Path::new("a.gif")).is_err() && PictureFormat::of(Path::new("png")).is_err());
}

#[test]
fn a_palette_in_tiff_and_a_gif_are_refused_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    // One pixel of a palette: width, height, bits, no compression, palette, strip, rows, bytes, the colours.
    let entries: [[u16; 4]; 9] = [
        [256, 3, 1, 1],
        [257, 3, 1, 1],
        [258, 3, 1, 8],
        [259, 3, 1, 1],
        [262, 3, 1, 3],
        [273, 4, 1, 8],
        [278, 3, 1, 1],
        [279, 4, 1, 1],
        [320, 3, 768, 128],
    ];
    let mut tiff = b"II*\0\x0c\0\0\0\0\0\0\0".to_vec();
    tiff.extend(9_u16.to_le_bytes());
    for [tag, kind, count, value] in entries {
        tiff.extend([tag, kind, count, 0, value, 0].into_iter().flat_map(u16::to_le_bytes));
    }
    tiff.resize(128 + 2 * 768, 0);
    let gif = b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;".to_vec();
    for (name, bytes, says) in [("a.tif", tiff, "a palette in TIFF"), ("a.gif", gif, "an animation")] {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        let refused = read(&path).unwrap_err().to_string();
        assert!(refused.contains(says) && refused.contains("PNG"), "{refused}");
    }
}

#[test]
fn a_pnm_file_is_what_its_name_says() {
    let folder = tempfile::tempdir().unwrap();
    for (name, channels, header) in [
        ("a.pgm", 1, "P5\n5 3\n255\n"),
        ("a.ppm", 3, "P6\n5 3\n255\n"),
        ("a.pnm", 3, "P6\n5 3\n255\n"),
        ("a.pam", 3, "P7\nWIDTH 5\nHEIGHT 3\nDEPTH 3\nMAXVAL 255\nTUPLTYPE RGB\nENDHDR\n"),
        ("a.ppm", 4, "P7\nWIDTH 5\nHEIGHT 3\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n"),
    ] {
        let path = folder.path().join(name);
        let layout = layout(channels, BitDepth::Eight);
        write_by_rows(&path, &layout, 2, |rows| Ok(planes(channels, rows, BitDepth::Eight))).unwrap();
        let bytes = fs::read(&path).unwrap();
        assert!(bytes.starts_with(header.as_bytes()), "{name}: {:?}", String::from_utf8_lossy(&bytes));
        assert_eq!(bytes.len(), header.len() + 15 * channels, "{name}");
    }
}

#[test]
fn a_jpeg_file_of_less_quality_is_shorter_and_further_from_the_picture() {
    let waves = |row: usize, column: usize| 128.0 + 100.0 * ((row * column) as f64 / 5.0).sin();
    let plane = GrayImage::from_fn(Size { width: 64, height: 48 }, waves).unwrap();
    let picture = Picture { planes: vec![plane.clone(); 3], depth: BitDepth::Eight };
    let [fine, coarse] = [95, 40].map(|quality| encode_jpeg(&picture, quality).unwrap());
    assert_eq!(fine, encode_picture(&picture, PictureFormat::Jpeg).unwrap());
    assert!(coarse.len() < fine.len());
    let away = |bytes: &[u8]| -> f64 {
        let read = decode(bytes).unwrap();
        read.samples().iter().zip(plane.samples()).map(|(a, b)| (a - b).abs()).sum()
    };
    assert!(away(&fine) < away(&coarse));
    assert_eq!(encode_jpeg(&picture, 0).unwrap(), encode_jpeg(&picture, 1).unwrap());
}

#[test]
fn rows_that_fail_half_way_leave_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.png", "a.bmp"] {
        let path = folder.path().join(name);
        let stopped = write_by_rows(&path, &layout(1, BitDepth::Eight), 1, |rows| match rows.start {
            0 => Ok(planes(1, rows, BitDepth::Eight)),
            _ => Err(Error::Interrupted { done: 1, total: 3 }),
        });
        assert_eq!(stopped, Err(Error::Interrupted { done: 1, total: 3 }));
        assert!(write_by_rows(&path, &layout(1, BitDepth::Eight), 1, |_| Ok(vec![])).is_err());
        assert!(write_by_rows(&path, &layout(1, BitDepth::Eight), 1, |_| Ok(vec![picture(1.0)])).is_err());
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_bmp_file_that_lists_only_greys_is_grey() {
    let gray = ::image::GrayImage::from_fn(5, 3, |x, y| Luma([(y * 40 + x * 10) as u8]));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("grey.bmp");
    fs::write(&path, encoded(gray.clone(), ImageFormat::Bmp)).unwrap();
    assert_eq!(read_picture(&path).unwrap().planes, [picture(1.0)]);
    fs::write(&path, encoded(DynamicImage::from(gray).into_rgb8(), ImageFormat::Bmp)).unwrap();
    assert_eq!(read_picture(&path).unwrap().planes.len(), 3);
}
