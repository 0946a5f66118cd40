//! Files put together byte by byte, as MATLAB's description of the format has them.

use std::io::{Cursor, Write};

use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::*;
use crate::matrix::Matrix;

/// A file under construction.
struct Builder {
    bytes: Vec<u8>,
    big_endian: bool,
}

impl Builder {
    fn new(version: u8, big_endian: bool) -> Self {
        let mut bytes = vec![b' '; PREFACE];
        let end: [u8; 4] = if big_endian { [version, 0, b'M', b'I'] } else { [0, version, b'I', b'M'] };
        bytes[124..].copy_from_slice(&end);
        Self { bytes, big_endian }
    }

    fn word(&self, word: u32) -> [u8; 4] {
        if self.big_endian { word.to_be_bytes() } else { word.to_le_bytes() }
    }

    fn element(&self, kind: u32, data: &[u8]) -> Vec<u8> {
        let mut bytes = [self.word(kind), self.word(data.len() as u32)].concat();
        bytes.extend_from_slice(data);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes
    }

    fn short(&self, kind: u32, data: &[u8]) -> Vec<u8> {
        let mut bytes = self.word((data.len() as u32) << 16 | kind).to_vec();
        bytes.extend_from_slice(data);
        bytes.resize(8, 0);
        bytes
    }

    /// A matrix with these flags, sides, name and data.
    fn matrix(&self, flags: u32, sides: &[u32], name: &str, data: &[u8]) -> Vec<u8> {
        let words = |words: &[u32]| words.iter().flat_map(|&word| self.word(word)).collect::<Vec<u8>>();
        let name = if name.len() > 4 { self.element(1, name.as_bytes()) } else { self.short(1, name.as_bytes()) };
        let parts =
            [self.element(6, &words(&[flags, 0])), self.element(5, &words(sides)), name, data.to_vec()].concat();
        self.element(MATRIX, &parts)
    }

    fn doubles(&self, values: &[f64]) -> Vec<u8> {
        let bytes = values.iter().flat_map(|v| if self.big_endian { v.to_be_bytes() } else { v.to_le_bytes() });
        self.element(9, &bytes.collect::<Vec<u8>>())
    }

    fn with(mut self, element: Vec<u8>) -> Self {
        self.bytes.extend(element);
        self
    }

    fn with_packed(mut self, element: &[u8]) -> Self {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(element).unwrap();
        let packed = encoder.finish().unwrap();
        self.bytes.extend([self.word(PACKED), self.word(packed.len() as u32)].concat());
        self.bytes.extend(packed);
        self
    }
}

fn read(bytes: &[u8], name: Option<&str>) -> Outcome<Matrix<f64>> {
    Ok(samples(Cursor::new(bytes), bytes.len() as u64, name)?.to_matrix())
}

fn reason(bytes: &[u8], name: Option<&str>) -> String {
    read(bytes, name).unwrap_err().about_data(std::path::Path::new("f.mat")).to_string()
}

/// Two samples of three features: MATLAB's [1 2 3; 4 5 6], whose columns lie side by side.
const VALUES: [f64; 6] = [1.0, 4.0, 2.0, 5.0, 3.0, 6.0];

fn expected() -> Matrix<f64> {
    Matrix::from_columns(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 3, 2).unwrap()
}

#[test]
fn rows_are_samples_packed_or_not_in_both_byte_orders() {
    for big_endian in [false, true] {
        let builder = || Builder::new(1, big_endian);
        let matrix = builder().matrix(6, &[2, 3], "samples", &builder().doubles(&VALUES));
        assert_eq!(read(&builder().with(matrix.clone()).bytes, None).unwrap(), expected());
        assert_eq!(read(&builder().with_packed(&matrix).bytes, Some("samples")).unwrap(), expected());
    }
}

#[test]
fn doubles_that_matlab_saved_as_bytes_are_doubles() {
    let builder = Builder::new(1, false);
    let bytes = builder.matrix(6, &[2, 3], "X", &builder.element(2, &[1, 4, 2, 5, 3, 6]));
    assert_eq!(read(&builder.with_packed(&bytes).bytes, None).unwrap(), expected());
    let builder = Builder::new(1, false);
    let one = builder.matrix(9, &[1, 3], "X", &builder.short(2, &[7, 8, 9]));
    let samples = read(&builder.with(one).bytes, None).unwrap();
    assert_eq!(samples, Matrix::from_columns(vec![7.0, 8.0, 9.0], 3, 1).unwrap());
}

#[test]
fn other_variables_are_passed_over_and_several_matrices_are_listed() {
    let builder = Builder::new(1, false);
    let [a, b] = ["Dh", "Dl"].map(|name| builder.matrix(6, &[2, 3], name, &builder.doubles(&VALUES)));
    let text = builder.matrix(4, &[1, 3], "note", &builder.element(4, b"a\0b\0c\0"));
    let cells = builder.matrix(1, &[1, 1], "cell", &[]);
    let complex =
        builder.matrix(6 | COMPLEX, &[1, 1], "z", &[builder.doubles(&[1.0]), builder.doubles(&[2.0])].concat());
    let cube = builder.matrix(6, &[1, 2, 3], "cube", &builder.doubles(&VALUES));
    let file = Builder::new(1, false).with(text).with_packed(&a).with(cells).with(complex).with(cube);
    assert_eq!(read(&file.bytes, None).unwrap(), expected());
    let both = file.with(b);
    assert_eq!(read(&both.bytes, Some("Dl")).unwrap(), expected());
    assert!(reason(&both.bytes, None).contains("choose one of \"Dh\", \"Dl\" by FILE:NAME"));
    assert!(reason(&both.bytes, Some("note")).contains("no matrix of the name \"note\""));
}

#[test]
fn other_versions_are_told_apart_with_the_way_out() {
    assert!(reason(&Builder::new(2, false).bytes, None).contains("version 7.3"));
    assert!(reason(&[0; 200], None).contains("'-v7'"));
    assert!(reason(&[], None).contains("'-v7'"));
    assert!(reason(&Builder::new(1, false).bytes, None).contains("no matrix of numbers"));
}

#[test]
fn sizes_that_are_not_there_are_refused_before_memory_is_spent() {
    let builder = Builder::new(1, false);
    for sides in [[2, 4], [u32::MAX, u32::MAX], [1 << 31, 3]] {
        let matrix = builder.matrix(6, &sides, "X", &builder.doubles(&VALUES));
        assert!(reason(&Builder::new(1, false).with(matrix).bytes, None).contains("does not have 48 bytes"));
    }
    // Three gigabytes of zeros that pack to three megabytes would be believed; half a kilobyte that claims them is not.
    let huge = [builder.word(9), builder.word(3 << 30)].concat();
    let matrix = builder.matrix(6, &[3 << 20, 128], "X", &huge);
    assert!(reason(&Builder::new(1, false).with_packed(&matrix).bytes, None).contains("promise to become 3221225472"));
    assert!(reason(&Builder::new(1, false).with(matrix).bytes, None).contains("promise to become 3221225472"));
}

#[test]
fn damage_anywhere_is_an_error_or_the_same_shape_and_never_a_panic() {
    let builder = Builder::new(1, false);
    let matrix = builder.matrix(6, &[2, 3], "samples", &builder.doubles(&VALUES));
    for good in [Builder::new(1, false).with(matrix.clone()).bytes, Builder::new(1, false).with_packed(&matrix).bytes] {
        for length in 0..good.len() {
            assert!(read(&good[..length], None).is_err(), "cut at {length}");
        }
        let mut damaged = good.clone();
        for place in 0..good.len() {
            for mask in [0x01, 0x10, 0x80, 0xff] {
                damaged[place] ^= mask;
                if let Ok(samples) = read(&damaged, None) {
                    assert_eq!(samples.as_slice().len(), 6, "{place} ^ {mask}");
                }
                damaged[place] ^= mask;
            }
        }
    }
}
