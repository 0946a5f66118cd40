//! The first lines of a `.npy` file: what its numbers are, and how they lie.

use std::io::Read;

use crate::matrix_file::numbers::{NumberKind, NumberType};
use crate::reason::{Outcome, quoted};

/// What every `.npy` file starts with.
const MAGIC: &[u8] = b"\x93NUMPY";
/// The longest header that is read; NumPy writes less than a hundred bytes for a matrix.
const MAX_HEADER: u64 = 1 << 16;
/// NumPy aligns the numbers behind the header to this.
const ALIGNMENT: usize = 64;

/// A parsed header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::matrix_file) struct Header {
    /// The type of an element as NumPy writes it: `<f8`, `|S3`.
    pub(in crate::matrix_file) descr: String,
    pub(in crate::matrix_file) fortran_order: bool,
    pub(in crate::matrix_file) shape: Vec<usize>,
    /// Where the numbers start.
    pub(in crate::matrix_file) length: u64,
}

impl Header {
    /// Reads the header of a file of this many bytes.
    pub(in crate::matrix_file) fn read(source: &mut (impl Read + ?Sized), file_length: u64) -> Outcome<Self> {
        let mut start = [0; 8];
        source.read_exact(&mut start).map_err(|_| "this is not a .npy file: it is too short")?;
        if &start[..6] != MAGIC {
            return Err("this is not a .npy file, or its beginning is damaged; write it with numpy.save".into());
        }
        let (length, before) = match start[6] {
            1 => (u64::from(u16::from_le_bytes(bytes(source)?)), 10),
            2 | 3 => (u64::from(u32::from_le_bytes(bytes(source)?)), 12),
            version => return Err(format!("version {version} of the .npy format is not known").into()),
        };
        if length > MAX_HEADER || before + length > file_length {
            return Err("the header of the .npy file is damaged: it promises to be longer than it can be".into());
        }
        let mut text = vec![0; length as usize];
        source.read_exact(&mut text)?;
        let text = String::from_utf8_lossy(&text);
        let header =
            parse(&text).ok_or_else(|| format!("the header of the .npy file is damaged: {}", quoted(&text)))?;
        Ok(Self { length: before + length, ..header })
    }

    /// The header that NumPy writes for an array in C order, padded so that what follows is aligned.
    pub(in crate::matrix_file) fn bytes(descr: &str, shape: &str) -> Vec<u8> {
        let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
        let length = (MAGIC.len() + 4 + text.len() + 1).next_multiple_of(ALIGNMENT);
        let padding = length - MAGIC.len() - 4 - text.len() - 1;
        let header_length = (length - MAGIC.len() - 4) as u16;
        let mut bytes = [MAGIC, &[1, 0], &header_length.to_le_bytes(), text.as_bytes()].concat();
        bytes.resize(bytes.len() + padding, b' ');
        bytes.push(b'\n');
        bytes
    }

    /// The type of the numbers, if they are numbers that we read.
    pub(in crate::matrix_file) fn number_type(&self) -> Outcome<NumberType> {
        number_type(&self.descr).ok_or_else(|| {
            let what = match self.descr.trim_start_matches(['<', '>', '|', '=']).chars().next() {
                Some('O') => "Python objects, which are never read",
                Some('S' | 'U') => "text",
                Some('c') => "complex numbers",
                Some('[') => "records of several fields",
                _ => "elements of another type than numbers of 32 and 64 bits",
            };
            format!("the array holds {what} (dtype {}); convert it with .astype(numpy.float32)", quoted(&self.descr))
                .into()
        })
    }

    /// How many elements there are, if their bytes fill the file to its end exactly.
    pub(in crate::matrix_file) fn count(&self, size: usize, file_length: u64) -> Outcome<usize> {
        let follow = file_length.saturating_sub(self.length);
        let count = self.shape.iter().try_fold(1_usize, |count, &side| count.checked_mul(side));
        let promised = count.and_then(|count| count.checked_mul(size));
        match (count, promised) {
            (Some(count), Some(promised)) if promised as u64 == follow => Ok(count),
            _ => Err(format!(
                "the header promises an array of shape {:?} with {size} bytes each, and {follow} bytes follow; the file \
                 is damaged or was cut",
                self.shape
            )
            .into()),
        }
    }
}

fn bytes<const SIZE: usize>(source: &mut (impl Read + ?Sized)) -> Outcome<[u8; SIZE]> {
    let mut bytes = [0; SIZE];
    source.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Reads the Python dictionary of the header: three keys in any order.
fn parse(text: &str) -> Option<Header> {
    let value = |key: &str| {
        let behind = |quote: char| Some(text.split_once(&format!("{quote}{key}{quote}"))?.1);
        Some(behind('\'').or_else(|| behind('"'))?.trim_start().strip_prefix(':')?.trim_start())
    };
    let descr = value("descr")?;
    let descr = match descr.chars().next()? {
        quote @ ('\'' | '"') => descr[1..].split(quote).next()?,
        // The description of a record; that it is one is all we say about it.
        '[' => "[",
        _ => return None,
    };
    let order = value("fortran_order")?;
    let shape = value("shape")?.strip_prefix('(')?.split_once(')')?.0;
    let sides = shape.split(',').map(str::trim).filter(|side| !side.is_empty());
    Some(Header {
        descr: descr.to_owned(),
        fortran_order: if order.starts_with("True") { true } else { order.strip_prefix("False").map(|_| false)? },
        shape: sides.map(|side| side.trim_end_matches('L').parse().ok()).collect::<Option<_>>()?,
        length: 0,
    })
}

fn number_type(descr: &str) -> Option<NumberType> {
    let mut characters = descr.chars();
    let big_endian = match characters.next()? {
        '<' | '|' => false,
        '>' => true,
        '=' => cfg!(target_endian = "big"),
        _ => return None,
    };
    let kind = match characters.next()? {
        'f' => NumberKind::Real,
        'i' => NumberKind::Signed,
        'u' | 'b' => NumberKind::Unsigned,
        _ => return None,
    };
    let size = characters.as_str().parse().ok()?;
    let known = match kind {
        NumberKind::Real => matches!(size, 4 | 8),
        NumberKind::Signed | NumberKind::Unsigned => matches!(size, 1 | 2 | 4 | 8),
    };
    known.then_some(NumberType { kind, size, big_endian })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(text: &str) -> Outcome<Header> {
        let bytes = [MAGIC, &[1, 0], &(text.len() as u16).to_le_bytes(), text.as_bytes()].concat();
        Header::read(&mut &bytes[..], bytes.len() as u64)
    }

    #[test]
    fn headers_are_read_in_any_spelling_that_python_has() {
        let expected = |descr: &str, fortran_order, shape: &[usize], length: usize| Header {
            descr: descr.into(),
            fortran_order,
            shape: shape.to_vec(),
            length: 10 + length as u64,
        };
        for (text, descr, fortran_order, shape) in [
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }      \n", "<f8", false, &[3, 4][..]),
            ("{\"shape\":(3,),\"fortran_order\":True,\"descr\":\">i2\"}", ">i2", true, &[3]),
            ("{'descr': '|b1', 'fortran_order': False, 'shape': ()}", "|b1", false, &[]),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (10L, 2L)}", "<f4", false, &[10, 2]),
        ] {
            assert_eq!(header(text).unwrap(), expected(descr, fortran_order, shape, text.len()), "{text}");
        }
    }

    #[test]
    fn what_is_written_is_read_and_aligned() {
        for shape in ["(3, 4)", "(12345678, 64)", "()", "(7,)"] {
            let bytes = Header::bytes("<f4", shape);
            assert!(bytes.len().is_multiple_of(64) && bytes.ends_with(b"\n"));
            let header = Header::read(&mut &bytes[..], bytes.len() as u64).unwrap();
            assert_eq!((header.length, header.fortran_order), (bytes.len() as u64, false));
            let sides = shape.trim_matches(['(', ')']).split(',').filter_map(|side| side.trim().parse().ok());
            assert_eq!(header.shape, sides.collect::<Vec<usize>>());
        }
    }

    #[test]
    fn damaged_headers_are_refused_and_quoted_in_short() {
        for text in [
            "",
            "{}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (3, -4)}",
            "{'descr': '<f8', 'fortran_order': Maybe, 'shape': (3, 4)}",
            "{'descr': 8, 'fortran_order': False, 'shape': (3, 4)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 99999999999999999999999)}",
            "{'descr': '<f8', 'shape': (3, 4)}",
        ] {
            assert!(header(text).is_err(), "{text}");
        }
        let long = format!("{:?}", header(&"x\u{1b}".repeat(1000)).unwrap_err());
        assert!(long.len() < 800 && !long.contains('\u{1b}'), "{long}");
    }

    #[test]
    fn sizes_are_compared_with_the_length_of_the_file_before_anything_else() {
        let header =
            |shape: &[usize]| Header { descr: "<f8".into(), fortran_order: false, shape: shape.into(), length: 64 };
        assert_eq!(header(&[2, 3]).count(8, 64 + 48).unwrap(), 6);
        for (shape, length) in [(&[2, 3][..], 64 + 47), (&[2, 3], 64 + 49), (&[usize::MAX, 3], 200), (&[usize::MAX], 0)]
        {
            assert!(header(shape).count(8, length).is_err(), "{shape:?}");
        }
    }
}
