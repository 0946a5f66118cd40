//! `.mat`: matrices of MATLAB by name, in the format of its versions 5 to 7.
//!
//! Full real matrices of numbers are read, packed or not. All else in a file (text, structures, cells, sparse matrices) is
//! passed over. Version 7.3 is another format, HDF5, for which the message says how to save the file again.

mod element;

use std::io::{Read, Seek, SeekFrom};

use flate2::read::ZlibDecoder;

use crate::scalar::Scalar;

use super::expansion::check_expansion;
use super::location::choose;
use super::numbers::NumberType;
use super::storage::{MatrixFile, Order};
use crate::reason::Outcome;

use element::{Elements, MATRIX, PACKED, Tag, number_type};

/// The text and the version that a file starts with.
const PREFACE: usize = 128;
/// The longest name, and the most dimensions of a matrix times their size.
const LONGEST: u64 = 256;
/// What the flags of a matrix say: its class in the lowest byte, and whether it has imaginary parts.
const CLASS: u32 = 0xff;
const COMPLEX: u32 = 0x800;
/// The classes of full matrices of numbers, from `double` to `uint64`.
const NUMERIC: std::ops::RangeInclusive<u32> = 6..=15;
/// The class of 32-bit reals, and of 8- and 16-bit whole numbers.
const SINGLE_CLASSES: [u32; 5] = [7, 8, 9, 10, 11];

/// A matrix of a file, and where it is.
struct Variable {
    head: Head,
    start: u64,
    tag: Tag,
}

/// What a matrix says about itself.
struct Head {
    name: String,
    class: u32,
    /// Rows and columns of the file: samples and features.
    shape: (usize, usize),
}

/// The samples in the matrix of this name, or in the only matrix.
pub(super) fn samples<T: Scalar>(
    mut file: impl Read + Seek,
    length: u64,
    name: Option<&str>,
) -> Outcome<MatrixFile<T>> {
    let big_endian = read_preface(&mut file, length)?;
    let variable = find(&mut file, length, big_endian, name)?;
    file.seek(SeekFrom::Start(variable.start))?;
    let packed = file.take(variable.tag.size);
    let values = if variable.tag.kind == PACKED {
        numbers(&mut Elements { source: ZlibDecoder::new(packed), big_endian }, &variable)
    } else {
        numbers(&mut Elements { source: packed, big_endian }, &variable)
    };
    let (n_samples, n_features) = variable.head.shape;
    let values = values.map_err(|reason| reason.within(&variable.head.name))?;
    Ok(MatrixFile::owned(values, (n_features, n_samples), Order::Columns)?)
}

/// Whether `f32` holds all numbers of that matrix.
pub(super) fn fits_single(mut file: impl Read + Seek, length: u64, name: Option<&str>) -> Outcome<bool> {
    let big_endian = read_preface(&mut file, length)?;
    Ok(SINGLE_CLASSES.contains(&find(&mut file, length, big_endian, name)?.head.class))
}

/// Reads the preface and tells whether the numbers of the file have their highest byte first.
fn read_preface(file: &mut impl Read, length: u64) -> Outcome<bool> {
    let not_matlab = "this is not a MATLAB file of version 5 to 7; save it with save(FILE, NAME, '-v7')";
    if length < PREFACE as u64 {
        return Err(not_matlab.into());
    }
    let mut preface = [0; PREFACE];
    file.read_exact(&mut preface)?;
    let big_endian = match &preface[126..] {
        b"IM" => false,
        b"MI" => true,
        _ => return Err(not_matlab.into()),
    };
    let version = if big_endian { preface[124] } else { preface[125] };
    match version {
        1 => Ok(big_endian),
        2 => {
            Err("this MATLAB file is of version 7.3, which is not read; save it again with save(FILE, NAME, '-v7')"
                .into())
        }
        _ => Err(not_matlab.into()),
    }
}

/// The names of all matrices of numbers.
pub(super) fn names(mut file: impl Read + Seek, length: u64) -> Outcome<Vec<String>> {
    let big_endian = read_preface(&mut file, length)?;
    Ok(variables(&mut file, length, big_endian)?.into_iter().map(|variable| variable.head.name).collect())
}

/// Chooses among all matrices.
fn find(file: &mut (impl Read + Seek), length: u64, big_endian: bool, name: Option<&str>) -> Outcome<Variable> {
    let variables = variables(file, length, big_endian)?;
    let names: Vec<_> = variables.iter().map(|variable| variable.head.name.clone()).collect();
    let chosen = choose(&names, name)?;
    variables.into_iter().find(|variable| variable.head.name == chosen).ok_or_else(|| "the file is damaged".into())
}

/// Looks at all matrices.
fn variables(file: &mut (impl Read + Seek), length: u64, big_endian: bool) -> Outcome<Vec<Variable>> {
    let mut variables = Vec::new();
    let mut place = PREFACE as u64;
    while place < length {
        file.seek(SeekFrom::Start(place))?;
        let Some(tag) = (Elements { source: &mut *file, big_endian }).tag()? else { break };
        let start = file.stream_position()?;
        place = start.saturating_add(tag.space);
        if start + tag.size > length {
            return Err("a matrix goes beyond the end of the file, which is damaged or was cut".into());
        }
        variables.extend(look(file, start, tag, big_endian)?);
    }
    Ok(variables)
}

/// What an element is, if it is a matrix of numbers.
fn look(file: &mut impl Read, start: u64, tag: Tag, big_endian: bool) -> Outcome<Option<Variable>> {
    let source = file.take(tag.size);
    let described = if tag.kind == PACKED {
        let mut elements = Elements { source: ZlibDecoder::new(source), big_endian };
        let inner = elements.expect_tag()?;
        if inner.kind == MATRIX { describe(&mut elements)? } else { None }
    } else if tag.kind == MATRIX {
        describe(&mut Elements { source, big_endian })?
    } else {
        None
    };
    Ok(described.map(|head| Variable { head, start, tag }))
}

/// What a matrix says about itself, if it is one that we read.
fn describe<R: Read>(elements: &mut Elements<R>) -> Outcome<Option<Head>> {
    let flags = elements.words(LONGEST)?;
    let &[flags, ..] = &flags[..] else { return Err("a matrix has no flags; the file is damaged".into()) };
    if !NUMERIC.contains(&(flags & CLASS)) || flags & COMPLEX != 0 {
        return Ok(None);
    }
    let &[n_samples, n_features] = &elements.words(LONGEST)?[..] else { return Ok(None) };
    let name = String::from_utf8_lossy(&elements.bytes(LONGEST)?).into_owned();
    // Negative sizes are read as huge ones, and refused when they are compared with the data.
    let head = Head { name, class: flags & CLASS, shape: (n_samples as usize, n_features as usize) };
    Ok((n_samples > 0 && n_features > 0).then_some(head))
}

/// The numbers of a matrix, feature after feature.
fn numbers<T: Scalar, R: Read>(elements: &mut Elements<R>, variable: &Variable) -> Outcome<Vec<T>> {
    if variable.tag.kind == PACKED {
        elements.expect_tag()?;
    }
    for _ in ["flags", "dimensions", "name"] {
        let tag = elements.expect_tag()?;
        elements.skip(tag.space)?;
    }
    let tag = elements.expect_tag()?;
    let number: NumberType = number_type(tag.kind, elements.big_endian)?;
    check_expansion(variable.tag.size, tag.size)?;
    let (n_samples, n_features) = variable.head.shape;
    let promised = n_samples.checked_mul(n_features).and_then(|count| count.checked_mul(number.size));
    if promised.map(|bytes| bytes as u64) != Some(tag.size) {
        return Err(format!(
            "a matrix of {n_samples} rows and {n_features} columns does not have {} bytes; the file is damaged",
            tag.size
        )
        .into());
    }
    // Not packed, the bytes are there: the whole element is within the file. Packed, they are believable.
    number.read(&mut elements.source, n_samples * n_features, |number| Ok(number.scalar()))
}

#[cfg(test)]
mod tests;
