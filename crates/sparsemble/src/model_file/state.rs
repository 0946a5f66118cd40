//! The state of a training that is in no model: the codes of all samples in a member, or what is left of the samples.
//!
//! | bytes | what |
//! | --- | --- |
//! | 8, 8 and 8 | how many strips of codes there are; the rows and the columns of the residuals, zeros if there are none |
//! | | each strip of codes: see [`crate::coding::bytes`] |
//! | 4 or 8 each | the residuals, column after column |

use std::io::{self, Write};
use std::sync::Arc;

use crate::coding::bytes::{CODES_HEAD, add_scalar, codes_length, scalars};
use crate::coding::{CodeStrip, CodeStrips, StoredCodes};
use crate::files::SharedFile;
use crate::matrix::{Matrix, first_not_finite};
use crate::reason::Outcome;
use crate::scalar::Scalar;

/// Three numbers.
const HEAD: usize = 24;
/// Numbers that are converted at a time.
const CHUNK: usize = 1 << 14;

const TOO_SHORT: &str = "the state of a step is shorter than it should be; the checkpoint is damaged";

/// What is read back.
type State<T> = (CodeStrips<T>, Option<Matrix<T>>);

/// The bytes that [`write()`] takes.
pub(super) fn length<T: Scalar>(codes: Option<&CodeStrips<T>>, residuals: Option<&Matrix<T>>) -> u64 {
    let values = residuals.map_or(0, |residuals| residuals.as_slice().len());
    HEAD as u64 + codes.map_or(0, CodeStrips::n_bytes) + (values * size_of::<T>()) as u64
}

pub(super) fn write<T: Scalar>(
    file: &mut dyn Write,
    codes: Option<&CodeStrips<T>>,
    residuals: Option<&Matrix<T>>,
) -> io::Result<()> {
    let (rows, columns) = residuals.map_or((0, 0), |residuals| (residuals.rows(), residuals.columns()));
    for number in [codes.map_or(0, CodeStrips::len), rows, columns] {
        file.write_all(&(number as u64).to_le_bytes())?;
    }
    for bytes in codes.into_iter().flat_map(CodeStrips::bytes) {
        file.write_all(&bytes.map_err(io::Error::other)?)?;
    }
    let mut bytes = Vec::new();
    for values in residuals.map_or(&[][..], Matrix::as_slice).chunks(CHUNK) {
        for &value in values {
            add_scalar(&mut bytes, value);
        }
        file.write_all(&bytes)?;
        bytes.clear();
    }
    Ok(())
}

/// Reads a state of this many bytes that starts here. The codes stay in the file, of which a few numbers a strip are kept; of
/// the rest, no more memory is asked for than there are bytes.
pub(super) fn read<T: Scalar>(file: &Arc<SharedFile>, start: u64, length: u64) -> Outcome<State<T>> {
    let mut source = Source { file, place: start, end: start.saturating_add(length) };
    let [n_strips, rows, columns] = source.head()?;
    let mut codes = Vec::new();
    // A strip that is not there ends it, whatever number the file tells.
    for _ in 0..n_strips {
        codes.push(source.strip::<T>()?);
    }
    let values: Vec<T> = source.scalars(rows.saturating_mul(columns))?;
    if source.place < source.end {
        return Err("the state of a step is longer than it should be; the checkpoint is damaged".into());
    }
    if first_not_finite(&values).is_some() {
        return Err("the residuals hold a NaN or infinite value; the checkpoint is damaged".into());
    }
    let residuals =
        if values.is_empty() { None } else { Some(Matrix::from_columns(values, rows as usize, columns as usize)?) };
    Ok((codes.into_iter().collect(), residuals))
}

/// A part of a file.
struct Source<'a> {
    file: &'a Arc<SharedFile>,
    place: u64,
    end: u64,
}

impl Source<'_> {
    /// Goes on by so many bytes, if there are so many, and tells from where.
    fn skip(&mut self, bytes: Option<u64>) -> Outcome<u64> {
        let start = self.place;
        let end = bytes.and_then(|bytes| start.checked_add(bytes)).filter(|end| *end <= self.end);
        self.place = end.ok_or(TOO_SHORT)?;
        Ok(start)
    }

    fn head(&mut self) -> Outcome<[u64; 3]> {
        let mut head = [0; HEAD];
        let start = self.skip(Some(HEAD as u64))?;
        self.file.read_into(start, &mut head)?;
        let (numbers, _) = head.as_chunks();
        Ok(std::array::from_fn(|i| u64::from_le_bytes(numbers[i])))
    }

    /// Finds a strip and leaves it where it is.
    fn strip<T: Scalar>(&mut self) -> Outcome<CodeStrip<T>> {
        let mut head = [0; CODES_HEAD];
        let start = self.skip(Some(CODES_HEAD as u64))?;
        self.file.read_into(start, &mut head)?;
        self.place = start;
        self.skip(codes_length::<T>(head))?;
        Ok(CodeStrip::Stored(StoredCodes { file: Arc::clone(self.file), place: start..self.place }))
    }

    fn scalars<T: Scalar>(&mut self, count: u64) -> Outcome<Vec<T>> {
        let size = size_of::<T>() as u64;
        let mut start = self.skip(count.checked_mul(size))?;
        let mut values = Vec::new();
        let no_memory = |_| format!("there is not enough memory for {count} numbers");
        values.try_reserve_exact(count as usize).map_err(no_memory)?;
        while start < self.place {
            let end = self.place.min(start + CHUNK as u64 * size);
            values.extend(scalars::<T>(&self.file.read(start..end)?));
            start = end;
        }
        Ok(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coding::SparseCodes;
    use crate::error::Error;

    fn codes(n_atoms: usize) -> Vec<SparseCodes<f32>> {
        let strip = |starts: Vec<usize>, atoms: Vec<u32>| {
            let coefficients = atoms.iter().map(|&atom| atom as f32 - 1.5).collect();
            SparseCodes::from_parts(n_atoms, starts, atoms, coefficients).unwrap()
        };
        vec![strip(vec![0, 2, 2, 3], vec![1, n_atoms as u32 - 1, 0]), strip(vec![0], vec![])]
    }

    fn written<T: Scalar>(codes: Vec<SparseCodes<T>>, residuals: Option<&Matrix<T>>) -> Vec<u8> {
        let (mut bytes, codes) = (Vec::new(), codes.into());
        write(&mut bytes, Some(&codes), residuals).unwrap();
        assert_eq!(bytes.len() as u64, length(Some(&codes), residuals));
        bytes
    }

    type Read<T> = (Vec<SparseCodes<T>>, Option<Matrix<T>>);

    /// Puts the bytes into the middle of a file and reads all of them.
    fn read_back<T: Scalar>(bytes: &[u8]) -> Outcome<Read<T>> {
        let folder = tempfile::tempdir().unwrap();
        let file = Arc::new(SharedFile::nameless(folder.path()).unwrap());
        file.write(0, &[&[7; 5], bytes, &[7; 5]].concat()).unwrap();
        let (codes, residuals) = read(&file, 5, bytes.len() as u64)?;
        let codes = codes.iter().map(|codes| Ok(codes?.into_owned())).collect::<Result<_, Error>>()?;
        Ok((codes, residuals))
    }

    #[test]
    fn what_is_written_is_read() {
        for n_atoms in [3, 65_535, 65_536, 100_000] {
            let codes = codes(n_atoms);
            assert_eq!(read_back(&written(codes.clone(), None)).unwrap(), (codes, None));
        }
        let residuals = Matrix::from_fn(5, CHUNK / 2, |r, c| (r * c) as f64 / 3.0);
        assert_eq!(read_back(&written(vec![], Some(&residuals))).unwrap(), (vec![], Some(residuals)));
        assert_eq!(read_back::<f64>(&written::<f64>(vec![], None)).unwrap(), (vec![], None));
    }

    #[test]
    fn what_is_cut_changed_or_hostile_is_refused_or_read_but_never_more_than_there_is() {
        let residuals = Matrix::from_fn(2, 3, |r, c| (r + c) as f32);
        let bytes = written(codes(9), Some(&residuals));
        for end in 0..bytes.len() {
            assert!(read_back::<f32>(&bytes[..end]).is_err(), "{end}");
        }
        assert!(read_back::<f32>(&[&bytes[..], &[0]].concat()).is_err());
        for (place, _) in bytes.iter().enumerate() {
            for bit in 0..8 {
                let mut changed = bytes.clone();
                changed[place] ^= 1 << bit;
                // Refused, or other codes that are codes: none of it may take memory that is not in the bytes.
                let _ = read_back::<f32>(&changed);
            }
        }
        let mut infinite = bytes.clone();
        let last = bytes.len() - 4;
        infinite[last..].copy_from_slice(&f32::INFINITY.to_le_bytes());
        assert!(read_back::<f32>(&infinite).is_err());
    }
}
