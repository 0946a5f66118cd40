//! `.npy`: one array of NumPy. A large one of our own number type stays in its file.

mod header;

use std::io::{self, Read, Write};
use std::path::Path;

use crate::blocks::Run;
use crate::error::Result;
use crate::files::{self, MappedFile};
use crate::scalar::Scalar;

use super::numbers::{Number, NumberType};
use super::storage::{MatrixFile, Order};
use super::stored::StoredNumbers;
use super::watched;
use crate::reason::Outcome;

pub(super) use header::Header;

/// From this many bytes on, a file stays where it is: a smaller one is soon read, and then nobody can change it under us.
const STAYS_FROM: u64 = 1 << 26;

/// Reads the samples of a file.
pub(super) fn read<T: Scalar>(path: &Path, run: Run<'_>) -> Result<MatrixFile<T>> {
    read_or_leave(path, STAYS_FROM, run)
}

/// The type of the numbers of a file.
pub(super) fn number_type(path: &Path) -> Result<NumberType> {
    let (mut file, length) = files::open(path)?;
    Header::read(&mut file, length).and_then(|header| header.number_type()).map_err(|reason| reason.about_data(path))
}

fn read_or_leave<T: Scalar>(path: &Path, stays_from: u64, run: Run<'_>) -> Result<MatrixFile<T>> {
    let (mut file, length) = watched::open(path, run)?;
    if length >= stays_from
        && let Some(samples) = in_place(path)?
    {
        return Ok(samples);
    }
    read_matrix(&mut file, length).map_err(|reason| reason.about_data(path))
}

/// The samples of a file that stay in it, if its numbers are ours as they lie.
fn in_place<T: Scalar>(path: &Path) -> Result<Option<MatrixFile<T>>> {
    let (mut file, length) = files::open(path)?;
    let place = Place::read(&mut file, length).map_err(|reason| reason.about_data(path))?;
    match place.order {
        _ if !place.number.is_native::<T>() => Ok(None),
        Order::Rows => {
            let count = place.shape.0 * place.shape.1;
            let numbers = StoredNumbers::new(file, path.to_owned(), place.start, count);
            MatrixFile::stored(numbers, place.shape).map(Some)
        }
        Order::Columns => files::map(path).map_or(Ok(None), mapped).map_err(|reason| reason.about_data(path)),
    }
}

/// The samples of a mapped file, if its numbers are ours as they lie. All is told from the bytes that were mapped: the file
/// of this name may be another one by now.
fn mapped<T: Scalar>(file: MappedFile) -> Outcome<Option<MatrixFile<T>>> {
    let Place { order, shape, number, start } = Place::read(&mut &file[..], file.len() as u64)?;
    Ok(if number.is_native::<T>() { MatrixFile::mapped(file, start as usize, shape, order) } else { None })
}

/// Where the numbers of a matrix are in its file, and what they are.
struct Place {
    order: Order,
    shape: (usize, usize),
    number: NumberType,
    start: u64,
}

impl Place {
    fn read(file: &mut impl Read, length: u64) -> Outcome<Self> {
        let header = Header::read(file, length)?;
        let (order, shape) = matrix_shape(&header)?;
        let number = header.number_type()?;
        header.count(number.size, length)?;
        Ok(Self { order, shape, number, start: header.length })
    }
}

/// The numbers of a file whose array has one dimension; `None` if it has another number of them.
pub(super) fn read_list(path: &Path) -> Result<Option<Vec<f64>>> {
    let (mut file, length) = files::open(path)?;
    list(&mut file, length).map_err(|reason| reason.about_data(path))
}

/// The same for an array of an archive.
pub(super) fn list(source: &mut (impl Read + ?Sized), length: u64) -> Outcome<Option<Vec<f64>>> {
    let header = Header::read(source, length)?;
    match header.shape[..] {
        [_] => read_elements(&header, source, length, |number| Ok(number.scalar())).map(Some),
        _ => Ok(None),
    }
}

/// Reads an array of this many bytes, header and all, as samples.
pub(super) fn read_matrix<T: Scalar>(source: &mut (impl Read + ?Sized), length: u64) -> Outcome<MatrixFile<T>> {
    let header = Header::read(source, length)?;
    let (order, shape) = matrix_shape(&header)?;
    let values = read_elements(&header, source, length, |number| Ok(number.scalar()))?;
    Ok(MatrixFile::owned(values, shape, order)?)
}

/// Reads the elements of an array behind its header.
pub(super) fn read_elements<V>(
    header: &Header,
    source: &mut (impl Read + ?Sized),
    length: u64,
    convert: impl Fn(Number) -> Outcome<V>,
) -> Outcome<Vec<V>> {
    let number = header.number_type()?;
    let count = header.count(number.size, length)?;
    number.read(source, count, convert)
}

/// The number of features and of samples, if the array is a matrix that has any.
fn matrix_shape(header: &Header) -> Outcome<(Order, (usize, usize))> {
    match header.shape[..] {
        [0, _] | [_, 0] => Err("the array is empty; give at least one sample of at least one feature".into()),
        [n_samples, n_features] => {
            let order = if header.fortran_order { Order::Columns } else { Order::Rows };
            Ok((order, (n_features, n_samples)))
        }
        [n] => Err(format!(
            "the array has one dimension and {n} numbers, but samples are the rows of a matrix; save x.reshape(1, -1) if \
             this is one sample, x.reshape(-1, 1) if these are samples of one feature"
        )
        .into()),
        [] => Err("the array is a single number, but samples are the rows of a matrix".into()),
        ref shape => Err(format!(
            "the array has {} dimensions, but samples are the rows of a matrix; save x.reshape(len(x), -1)",
            shape.len()
        )
        .into()),
    }
}

/// Writes a matrix whose rows are made one at a time by `fill`.
pub(super) fn write<T: Scalar>(
    file: &mut dyn Write,
    (n_rows, n_columns): (usize, usize),
    fill: impl FnMut(usize, &mut [T]),
) -> io::Result<()> {
    write_shaped(file, &format!("({n_rows}, {n_columns})"), (n_rows, n_columns), fill)
}

/// The same for rows of an array that has this shape.
pub(super) fn write_shaped<T: Scalar>(
    file: &mut dyn Write,
    shape: &str,
    (n_rows, n_columns): (usize, usize),
    mut fill: impl FnMut(usize, &mut [T]),
) -> io::Result<()> {
    file.write_all(&Header::bytes(descr::<T>(), shape))?;
    let mut row = vec![T::ZERO; n_columns];
    let mut bytes = Vec::new();
    for index in 0..n_rows {
        row.fill(T::ZERO);
        fill(index, &mut row);
        bytes.clear();
        append(&mut bytes, &row);
        file.write_all(&bytes)?;
    }
    Ok(())
}

/// Appends numbers in the byte order of the files we write.
pub(super) fn append<T: Scalar>(bytes: &mut Vec<u8>, values: &[T]) {
    for &value in values {
        if size_of::<T>() == size_of::<f32>() {
            bytes.extend_from_slice(&(value.to_f64() as f32).to_le_bytes());
        } else {
            bytes.extend_from_slice(&value.to_f64().to_le_bytes());
        }
    }
}

/// The type of our numbers as NumPy writes it.
pub(super) fn descr<T: Scalar>() -> &'static str {
    if size_of::<T>() == size_of::<f32>() { "<f4" } else { "<f8" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Matrix;

    /// A file of this header and these numbers.
    fn file(
        folder: &tempfile::TempDir,
        descr: &str,
        fortran_order: &str,
        shape: &str,
        numbers: &[u8],
    ) -> std::path::PathBuf {
        let header = String::from_utf8(Header::bytes(descr, shape)[10..].to_vec()).unwrap();
        let header = header.replace("False", fortran_order);
        let path = folder.path().join("a.npy");
        let length = (header.len() as u16).to_le_bytes();
        let bytes = [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), numbers].concat();
        files::write_atomically(&path, |file| file.write_all(&bytes)).unwrap();
        path
    }

    fn numbers(values: impl IntoIterator<Item = f64>) -> Vec<u8> {
        values.into_iter().flat_map(f64::to_le_bytes).collect()
    }

    #[test]
    fn a_file_that_stays_and_one_that_is_read_are_the_same_samples_in_both_orders() {
        let folder = tempfile::tempdir().unwrap();
        let values = numbers((0..6).map(f64::from));
        for (order, expected) in [("False", [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]), ("True ", [0.0, 3.0, 1.0, 4.0, 2.0, 5.0])]
        {
            let path = file(&folder, "<f8", order, "(3, 2)", &values);
            for stays_from in [0, u64::MAX] {
                let samples = read_or_leave::<f64>(&path, stays_from, Run::default()).unwrap();
                assert_eq!(samples.is_in_file(), stays_from == 0);
                assert_eq!(samples.view().to_matrix(), Matrix::from_columns(expected.to_vec(), 2, 3).unwrap());
            }
        }
    }

    #[test]
    fn only_numbers_of_our_own_type_stay_where_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let path = file(&folder, "<f8", "False", "(1, 2)", &numbers([0.5, -1.0]));
        let single = read_or_leave::<f32>(&path, 0, Run::default()).unwrap();
        assert!(!single.is_in_file());
        assert_eq!(single.to_matrix().as_slice(), [0.5, -1.0]);
        let path = file(&folder, ">f8", "False", "(1, 1)", &0.5_f64.to_be_bytes());
        let turned = read_or_leave::<f64>(&path, 0, Run::default()).unwrap();
        assert!(!turned.is_in_file());
        assert_eq!(turned.to_matrix().as_slice(), [0.5]);
    }

    #[test]
    fn what_is_wrong_is_told_with_the_fix_whether_it_stays_or_is_read() {
        let folder = tempfile::tempdir().unwrap();
        for (descr, shape, fix) in [
            ("<f8", "(2,)", "x.reshape(1, -1)"),
            ("<f8", "(1, 1, 2)", "x.reshape(len(x), -1)"),
            ("<f8", "()", "rows of a matrix"),
            ("<f8", "(0, 2)", "at least one sample"),
            ("<f8", "(2, 2)", "is damaged or was cut"),
            ("|O8", "(1, 2)", "Python objects"),
            ("<c16", "(1, 1)", "complex numbers"),
            ("<f2", "(1, 8)", ".astype(numpy.float32)"),
        ] {
            let path = file(&folder, descr, "False", shape, &numbers([1.0, 2.0]));
            for stays_from in [0, u64::MAX] {
                let message = read_or_leave::<f64>(&path, stays_from, Run::default()).unwrap_err().to_string();
                assert!(message.contains(fix) && message.contains("a.npy: "), "{descr} {shape}: {message}");
            }
        }
    }
}
