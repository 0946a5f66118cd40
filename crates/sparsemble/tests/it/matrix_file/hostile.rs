//! Files that are damaged, made up, or made to do harm: each is one clear error, or samples of a believable size.

use std::fs;
use std::path::Path;

use sparsemble::Error;
use sparsemble::coding::SparseCodes;
use sparsemble::matrix_file::{read, read_codes, write, write_codes};

use super::codes;
use crate::problems::Values;

/// The reason a file of this name and these bytes is refused for.
fn reason(folder: &Path, name: &str, bytes: &[u8]) -> String {
    let path = folder.join(name);
    fs::write(&path, bytes).unwrap();
    match read::<f64>(&path) {
        Err(Error::Data { name, reason }) => {
            assert!(name.ends_with(path.file_name().unwrap().to_str().unwrap()));
            assert!(reason.len() < 600 && !reason.contains('\u{1b}'), "{reason}");
            reason
        }
        other => panic!("expected a refused file, found {other:?}"),
    }
}

#[test]
fn files_that_are_empty_or_something_else_are_refused_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.npy", "a.npz", "a.csv", "a.mat"] {
        for bytes in [&b""[..], b"\x1b[31m", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"] {
            let message = reason(folder.path(), name, bytes);
            assert!(!message.is_empty(), "{name}");
        }
    }
    let folder_as_file = folder.path().join("b.npy");
    fs::create_dir(&folder_as_file).unwrap();
    assert!(matches!(read::<f64>(&folder_as_file), Err(Error::Io { .. })));
}

#[test]
fn a_header_that_promises_what_is_not_there_is_refused_before_memory_is_spent() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npy");
    write(&path, Values::new(1).matrix::<f64>(3, 2).view()).unwrap();
    let good = fs::read(&path).unwrap();
    for shape in ["(9999999999, 999999999)", "(18446744073709551615, 18446744073709551615)", "(2, 4)", "(3, 3)"] {
        let text = String::from_utf8_lossy(&good[10..128]).replace("(2, 3)", shape);
        let bytes = [&good[..10], &text.as_bytes()[..118], &good[128..]].concat();
        assert!(reason(folder.path(), "b.npy", &bytes).contains("48 bytes follow"), "{shape}");
    }
    assert!(reason(folder.path(), "b.npy", &good[..good.len() - 1]).contains("47 bytes follow"));
    assert!(reason(folder.path(), "b.npy", &[&good[..], &[0]].concat()).contains("49 bytes follow"));
}

#[test]
fn damage_anywhere_is_an_error_or_harmless() {
    let folder = tempfile::tempdir().unwrap();
    let samples = Values::new(2).matrix::<f64>(3, 2);
    let expected: SparseCodes<f32> = codes(5, 4, 3);
    let (dense, sparse, damaged) =
        (folder.path().join("a.npy"), folder.path().join("a.npz"), folder.path().join("b.npz"));
    write(&dense, samples.view()).unwrap();
    write_codes(&sparse, &expected).unwrap();
    let mut bytes = fs::read(&dense).unwrap();
    for place in 0..bytes.len() {
        for mask in [0x01, 0x80] {
            bytes[place] ^= mask;
            let path = damaged.with_extension("npy");
            fs::write(&path, &bytes).unwrap();
            match read::<f64>(&path) {
                Ok(samples) => assert_eq!(samples.n_samples() * samples.n_features(), 6, "{place} ^ {mask}"),
                Err(error) => assert!(matches!(error, Error::Data { .. }), "{place} ^ {mask}: {error:?}"),
            }
            bytes[place] ^= mask;
        }
    }
    let mut bytes = fs::read(&sparse).unwrap();
    for place in 0..bytes.len() {
        bytes[place] ^= 0x41;
        fs::write(&damaged, &bytes).unwrap();
        match read_codes::<f32>(&damaged) {
            // A checksum holds the arrays; what it does not hold does not change them.
            Ok(codes) => assert_eq!(codes, expected, "{place}"),
            Err(error) => assert!(matches!(error, Error::Data { .. }), "{place}: {error:?}"),
        }
        bytes[place] ^= 0x41;
    }
    for length in (0..bytes.len()).step_by(7) {
        fs::write(&damaged, &bytes[..length]).unwrap();
        assert!(read_codes::<f32>(&damaged).is_err(), "cut at {length}");
    }
}

#[test]
fn an_archive_of_codes_is_no_archive_of_samples_and_the_other_way_round() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    write_codes(&path, &codes::<f64>(5, 4, 3)).unwrap();
    let bytes = fs::read(&path).unwrap();
    assert!(reason(folder.path(), "b.npz", &bytes).contains("choose one of \"indices\""));
    let chosen = read::<f64>(folder.path().join("b.npz:indices")).unwrap_err().to_string();
    assert!(chosen.contains("one dimension"), "{chosen}");
    let unknown = read::<f64>(folder.path().join("b.npz:train")).unwrap_err().to_string();
    assert!(unknown.contains("no matrix of the name \"train\""), "{unknown}");
}
