//! Files that are damaged, made up, or made to do harm: each is an error or a model of the same shape, and never more.

use std::fs;

use sparsemble::model_file::{self, Loaded, Record};
use sparsemble::{Error, Model, Result, Scalar};

use super::models::{dictionary, ensemble, record, training};
use crate::problems::Values;

type Shape = (usize, usize, usize, usize);

fn shape<T: Scalar>(loaded: Loaded<T>) -> Shape {
    let model = loaded.model;
    (model.n_atoms(), model.n_inputs(), model.n_features(), model.training().curve.len())
}

/// The reason a file is refused for.
fn reason(bytes: &[u8]) -> String {
    match model_file::decode::<f64>(bytes) {
        Err(Error::Model { reason, .. }) => reason,
        other => panic!("expected a refused file, found {other:?}"),
    }
}

/// A file of this header and this body.
fn file(header: &str, body: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), body].concat()
}

fn split(bytes: &[u8]) -> (String, Vec<u8>) {
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    (String::from_utf8(bytes[8..8 + length].to_vec()).unwrap(), bytes[8 + length..].to_vec())
}

fn good() -> Vec<u8> {
    model_file::encode(&ensemble::<f64>(), &record()).unwrap()
}

/// The good file with something else in its header.
fn with(from: &str, to: &str) -> Vec<u8> {
    let (header, body) = split(&good());
    assert!(header.contains(from), "{header}");
    file(&header.replace(from, to), &body)
}

/// The good file with another number at a place of a tensor.
fn with_number(tensor: &str, place: usize, number: f64) -> Vec<u8> {
    let (header, mut body) = split(&good());
    let info = header.split(&format!("\"{tensor}\":")).nth(1).unwrap();
    let start = info.split("\"data_offsets\":[").nth(1).unwrap().split(',').next().unwrap();
    let start = start.parse::<usize>().unwrap() + 8 * place;
    body[start..start + 8].copy_from_slice(&number.to_le_bytes());
    file(&header, &body)
}

fn assert_same_shape_or_refused<T: Scalar>(result: Result<Loaded<T>>, expected: Shape, what: &str) {
    match result {
        Ok(loaded) => assert_eq!(shape(loaded), expected, "{what}"),
        Err(Error::Model { reason, .. }) => assert!(reason.len() < 1000, "{what}: a reason of {}", reason.len()),
        Err(other) => panic!("{what}: {other:?}"),
    }
}

fn damage_is_noticed_or_harmless<T: Scalar>(bytes: &[u8]) {
    let expected = shape(model_file::decode::<T>(bytes).unwrap());
    for length in 0..bytes.len() {
        assert!(model_file::decode::<T>(&bytes[..length]).is_err(), "cut at {length}");
    }
    let header = 8 + split(bytes).0.len();
    let mut values = Values::new(11);
    let mut damaged = bytes.to_vec();
    for place in 0..bytes.len() {
        let more = if place < header { 4 } else { 1 };
        for mask in [0x01, 0x80].into_iter().chain((0..more).map(|_| 1 + values.below(255) as u8)) {
            damaged[place] ^= mask;
            assert_same_shape_or_refused(model_file::decode::<T>(&damaged), expected, &format!("{place} ^ {mask}"));
            damaged[place] ^= mask;
        }
    }
    for number in 0..2000 {
        let mut damaged = bytes.to_vec();
        for _ in 0..=values.below(8) {
            let place = values.below(bytes.len());
            damaged[place] = values.below(256) as u8;
        }
        assert_same_shape_or_refused(model_file::decode::<T>(&damaged), expected, &format!("number {number}"));
    }
}

#[test]
fn damage_anywhere_is_an_error_or_a_model_of_the_same_shape() {
    damage_is_noticed_or_harmless::<f64>(&good());
    damage_is_noticed_or_harmless::<f32>(&model_file::encode(&ensemble::<f32>(), &record()).unwrap());
    let plain = model_file::encode((&dictionary::<f32>(), &training()), &Record::default()).unwrap();
    damage_is_noticed_or_harmless::<f32>(&plain);
}

#[test]
fn bytes_that_are_no_model_are_refused() {
    for bytes in [&b""[..], b"1234567", b"this is not a model file, and it is long enough", &[0xff; 64], &[0; 64]] {
        assert!(reason(bytes).contains("not a safetensors file"), "{}", reason(bytes));
    }
    let others =
        file(r#"{"__metadata__":{"format":"pt"},"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#, &[0; 4]);
    assert!(reason(&others).contains("not a model of sparsemble"));
    assert!(reason(&file("{}", &[])).contains("not a model of sparsemble"));
}

#[test]
fn a_newer_file_says_to_update() {
    let newer = reason(&with(r#""format_version":"1""#, r#""format_version":"2""#));
    assert!(newer.contains("made by a newer version") && newer.contains("update"), "{newer}");
    // Whatever else the newer format has.
    let unknown = file(r#"{"__metadata__":{"format":"sparsemble","format_version":"9","new":"thing"}}"#, &[]);
    assert!(reason(&unknown).contains("made by a newer version"));
    assert!(reason(&with(r#""format_version":"1""#, r#""format_version":"0""#)).contains("version 0"));
    assert!(reason(&with(r#""kind":"ensemble""#, r#""kind":"universe""#)).contains("update"));
}

#[test]
fn a_header_that_promises_too_much_is_refused_before_memory_is_spent() {
    let tensor = |shape: &str, end: u64| {
        let texts = r#""__metadata__":{"format":"sparsemble","format_version":"1"}"#;
        file(&format!(r#"{{{texts},"beta":{{"dtype":"F64","shape":{shape},"data_offsets":[0,{end}]}}}}"#), &[0; 8])
    };
    for (shape, end) in [
        ("[1152921504606846976]", 1 << 63),
        ("[1000000000000]", 8_000_000_000_000),
        ("[4294967296,4294967296]", 8),
        ("[18446744073709551615]", 8),
        ("[0,18446744073709551615]", 0),
        ("[2]", 16),
        ("[2]", 8),
    ] {
        assert!(model_file::decode::<f64>(&tensor(shape, end)).is_err(), "{shape}");
    }
    // The header itself.
    for length in [u64::MAX, 1 << 40, 1 << 21, 1000] {
        assert!(reason(&[&length.to_le_bytes(), &b"{}"[..]].concat()).contains("not a safetensors file"));
    }
    let long = format!("{}{}", "{", " ".repeat(2 << 20));
    assert!(reason(&file(&long, &[])).contains("not a safetensors file"));
}

#[test]
fn deep_wide_and_long_headers_are_refused() {
    for open in ["[", r#"{"a":"#] {
        let deep = format!(r#"{{"a":{}"#, open.repeat(900_000 / open.len()));
        assert!(reason(&file(&deep, &[])).starts_with("damaged header"));
    }
    let many: Vec<_> =
        (0..17_000).map(|i| format!(r#""{i}":{{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}"#)).collect();
    let many = file(&format!("{{{}}}", many.join(",")), &[]);
    assert!(reason(&many).contains("16384"), "{}", reason(&many));
    let name = "x".repeat(1000);
    assert!(reason(&with("\"beta\"", &format!("\"{name}\""))).contains("longer than"));
    // A message never repeats what a file holds at length.
    let quoting = format!(r#"{{"x":{{"dtype":"{}","shape":[1],"data_offsets":[0,8]}}}}"#, "y".repeat(100_000));
    assert!(reason(&file(&quoting, &[0; 8])).len() < 1000);
}

#[test]
fn values_that_no_model_has_are_refused() {
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for tensor in ["member.0.dictionary", "member.1.coding", "member.1.synthesis", "phi", "beta", "curve.error"] {
            let reason = reason(&with_number(tensor, 1, number));
            assert!(reason.contains("NaN or infinite"), "{tensor}: {reason}");
        }
    }
    assert!(reason(&with_number("member.0.dictionary", 4, 0.9)).contains("unit norm"));
    assert!(model_file::decode::<f64>(&with_number("member.1.coding", 4, 0.9)).is_ok(), "a pair may have any norm");
}

#[test]
fn missing_unknown_and_misplaced_parts_are_refused() {
    assert!(reason(&with("member.0.dictionary", "member.0.dictionarx")).contains("`member.0.coding` is missing"));
    assert!(reason(&with("member.0.sources", "member.0.resources")).contains("no place for the tensor"));
    assert!(reason(&with("\"objective\"", "\"objectives\"")).contains("no place for the tensor"));
    assert!(reason(&with("curve.alpha", "curve.alpha2")).contains("no place for the tensor"));
    assert!(reason(&with(r#""coder":"#, r#""code\u001br":"#)).contains("lacks the text `coder`"));
    assert!(reason(&with(r#""data":"#, r#""more":"","data":"#)).contains(r#"no place for the text "more""#));
    assert!(reason(&with(r#""complete":"true""#, r#""complete":"maybe""#)).contains("`complete`"));
    assert!(reason(&with(r#""seed":"1"#, r#""seed":"91"#)).contains("`seed`"));
    assert!(reason(&with(r#""shape":[4,3]"#, r#""shape":[12]"#)).contains("1 dimensions, not 2"));
    assert!(reason(&with(r#""shape":[4,3]"#, r#""shape":[2,6]"#)).contains("unit norm"));
    assert!(reason(&with(r#""shape":[5,3]"#, r#""shape":[3,5]"#)).contains("expected 3, found 5"), "atoms and sources");
    assert!(reason(&with(r#""kind":"ensemble""#, r#""kind":"dictionary""#)).contains("is missing"));
    // Only plain members can be gone on with.
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path().to_owned(), folder.path().join("missing")] {
        assert!(matches!(model_file::load::<f64>(&path), Err(Error::Io { action: "read", .. })));
        assert!(matches!(model_file::inspect(&path), Err(Error::Io { action: "read", .. })));
    }
    let path = folder.path().join("damaged");
    fs::write(&path, &good()[..100]).unwrap();
    for error in [model_file::load::<f64>(&path).unwrap_err(), model_file::inspect(&path).unwrap_err()] {
        assert!(error.to_string().starts_with(&path.display().to_string()), "{error}");
    }
    // Longer than any model may be, though it takes no room on the disk.
    fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
    assert!(model_file::load::<f64>(&path).unwrap_err().to_string().contains("more than the 4294967296 allowed"));
}

#[test]
fn a_good_file_is_good() {
    assert!(matches!(model_file::decode::<f64>(&good()).unwrap().model, Model::Ensemble(_)));
}
