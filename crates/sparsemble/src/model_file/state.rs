//! The state of a training that is in no model: the codes of all samples in a member, or what is left of the samples.
//!
//! | bytes | what |
//! | --- | --- |
//! | 8, 8 and 8 | how many strips of codes there are; the rows and the columns of the residuals, zeros if there are none |
//! | 8, 8 and 8 | for each strip: its atoms K, its samples, its coefficients |
//! | 2 or 4 each | how many coefficients each sample has, then the atoms of all; 2 if K is below 2¹⁶ |
//! | 4 or 8 each | the coefficients |
//! | 4 or 8 each | the residuals, column after column |

use std::io::{self, Read, Write};

use crate::coding::SparseCodes;
use crate::matrix::{Matrix, first_not_finite};
use crate::reason::Outcome;
use crate::scalar::Scalar;

/// Three numbers.
const HEAD: u64 = 24;
/// Numbers that are converted at a time.
const CHUNK: usize = 1 << 14;

/// What is read back.
type State<T> = (Vec<SparseCodes<T>>, Option<Matrix<T>>);

/// The bytes of a whole number up to the number of atoms.
fn width(n_atoms: usize) -> u64 {
    if n_atoms < 1 << 16 { 2 } else { 4 }
}

/// The bytes that [`write()`] takes.
pub(super) fn length<T: Scalar>(codes: &[SparseCodes<T>], residuals: Option<&Matrix<T>>) -> u64 {
    let strip = |codes: &SparseCodes<T>| {
        let (samples, nonzero) = (codes.n_samples() as u64, codes.n_nonzero() as u64);
        HEAD + (samples + nonzero) * width(codes.n_atoms()) + nonzero * size_of::<T>() as u64
    };
    let values = residuals.map_or(0, |residuals| residuals.as_slice().len());
    HEAD + codes.iter().map(strip).sum::<u64>() + (values * size_of::<T>()) as u64
}

pub(super) fn write<T: Scalar>(
    file: &mut dyn Write,
    codes: &[SparseCodes<T>],
    residuals: Option<&Matrix<T>>,
) -> io::Result<()> {
    let (rows, columns) = residuals.map_or((0, 0), |residuals| (residuals.rows(), residuals.columns()));
    let mut bytes = Vec::new();
    add_head(&mut bytes, [codes.len(), rows, columns]);
    for codes in codes {
        let width = width(codes.n_atoms());
        add_head(&mut bytes, [codes.n_atoms(), codes.n_samples(), codes.n_nonzero()]);
        for ends in codes.starts().windows(2) {
            add_whole(&mut bytes, (ends[1] - ends[0]) as u32, width);
        }
        for &atom in codes.atoms() {
            add_whole(&mut bytes, atom, width);
        }
        for &value in codes.coefficients() {
            add_scalar(&mut bytes, value);
        }
        file.write_all(&bytes)?;
        bytes.clear();
    }
    for values in residuals.map_or(&[][..], Matrix::as_slice).chunks(CHUNK) {
        for &value in values {
            add_scalar(&mut bytes, value);
        }
        file.write_all(&bytes)?;
        bytes.clear();
    }
    file.write_all(&bytes)
}

fn add_head(bytes: &mut Vec<u8>, numbers: [usize; 3]) {
    for number in numbers {
        bytes.extend((number as u64).to_le_bytes());
    }
}

fn add_whole(bytes: &mut Vec<u8>, number: u32, width: u64) {
    bytes.extend(&number.to_le_bytes()[..width as usize]);
}

fn add_scalar<T: Scalar>(bytes: &mut Vec<u8>, value: T) {
    if size_of::<T>() == size_of::<f32>() {
        bytes.extend((value.to_f64() as f32).to_le_bytes());
    } else {
        bytes.extend(value.to_f64().to_le_bytes());
    }
}

/// Reads a state of this many bytes. No more memory is asked for than they can fill.
pub(super) fn read<T: Scalar>(file: &mut dyn Read, length: u64) -> Outcome<State<T>> {
    let mut source = Source { file, left: length };
    let [n_strips, rows, columns] = source.head()?;
    let mut codes = Vec::new();
    // A strip that is not there ends it, whatever number the file tells.
    for _ in 0..n_strips {
        codes.push(source.strip()?);
    }
    let values: Vec<T> = source.scalars(rows.saturating_mul(columns))?;
    if source.left > 0 {
        return Err("the state of a step is longer than it should be; the checkpoint is damaged".into());
    }
    if first_not_finite(&values).is_some() {
        return Err("the residuals hold a NaN or infinite value; the checkpoint is damaged".into());
    }
    let residuals =
        if values.is_empty() { None } else { Some(Matrix::from_columns(values, rows as usize, columns as usize)?) };
    Ok((codes, residuals))
}

/// Bytes of which it is known how many there are.
struct Source<'a> {
    file: &'a mut dyn Read,
    left: u64,
}

impl Source<'_> {
    fn head(&mut self) -> Outcome<[u64; 3]> {
        let numbers: Vec<u64> = self.numbers(3, u64::from_le_bytes)?;
        Ok([numbers[0], numbers[1], numbers[2]])
    }

    fn strip<T: Scalar>(&mut self) -> Outcome<SparseCodes<T>> {
        let [n_atoms, samples, nonzero] = self.head()?;
        let n_atoms = usize::try_from(n_atoms).map_err(|_| "a strip has too many atoms; the checkpoint is damaged")?;
        let counts = self.wholes(samples, width(n_atoms))?;
        let mut starts = Vec::with_capacity(counts.len() + 1);
        starts.push(0);
        for count in counts {
            starts.push(starts.last().map_or(0, |start: &usize| start.saturating_add(count as usize)));
        }
        let atoms = self.wholes(nonzero, width(n_atoms))?;
        let coefficients = self.scalars(nonzero)?;
        Ok(SparseCodes::from_parts(n_atoms, starts, atoms, coefficients)?)
    }

    fn wholes(&mut self, count: u64, width: u64) -> Outcome<Vec<u32>> {
        if width == 2 {
            self.numbers(count, |bytes| u16::from_le_bytes(bytes).into())
        } else {
            self.numbers(count, u32::from_le_bytes)
        }
    }

    fn scalars<T: Scalar>(&mut self, count: u64) -> Outcome<Vec<T>> {
        if size_of::<T>() == size_of::<f32>() {
            self.numbers(count, |bytes| T::from_f64(f32::from_le_bytes(bytes).into()))
        } else {
            self.numbers(count, |bytes| T::from_f64(f64::from_le_bytes(bytes)))
        }
    }

    fn numbers<const SIZE: usize, V>(&mut self, count: u64, convert: impl Fn([u8; SIZE]) -> V) -> Outcome<Vec<V>> {
        let bytes = count.checked_mul(SIZE as u64).filter(|bytes| *bytes <= self.left);
        let bytes = bytes.ok_or("the state of a step is shorter than it should be; the checkpoint is damaged")?;
        self.left -= bytes;
        let mut left = count as usize;
        let mut values = Vec::new();
        values.try_reserve_exact(left).map_err(|_| format!("there is not enough memory for {bytes} bytes"))?;
        let mut chunk = vec![0; SIZE * left.min(CHUNK)];
        while left > 0 {
            let part = &mut chunk[..SIZE * left.min(CHUNK)];
            self.file.read_exact(part)?;
            values.extend(part.as_chunks().0.iter().map(|&bytes| convert(bytes)));
            left -= part.len() / SIZE;
        }
        Ok(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(n_atoms: usize) -> Vec<SparseCodes<f32>> {
        let strip = |starts: Vec<usize>, atoms: Vec<u32>| {
            let coefficients = atoms.iter().map(|&atom| atom as f32 - 1.5).collect();
            SparseCodes::from_parts(n_atoms, starts, atoms, coefficients).unwrap()
        };
        vec![strip(vec![0, 2, 2, 3], vec![1, n_atoms as u32 - 1, 0]), strip(vec![0], vec![])]
    }

    fn written<T: Scalar>(codes: &[SparseCodes<T>], residuals: Option<&Matrix<T>>) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(&mut bytes, codes, residuals).unwrap();
        assert_eq!(bytes.len() as u64, length(codes, residuals));
        bytes
    }

    fn read_back<T: Scalar>(bytes: &[u8]) -> Outcome<State<T>> {
        read(&mut &bytes[..], bytes.len() as u64)
    }

    #[test]
    fn what_is_written_is_read() {
        for n_atoms in [3, 65_535, 65_536, 100_000] {
            let codes = codes(n_atoms);
            assert_eq!(read_back(&written(&codes, None)).unwrap(), (codes, None));
        }
        let residuals = Matrix::from_fn(5, CHUNK / 2, |r, c| (r * c) as f64 / 3.0);
        assert_eq!(read_back(&written(&[], Some(&residuals))).unwrap(), (vec![], Some(residuals)));
        assert_eq!(read_back::<f64>(&written::<f64>(&[], None)).unwrap(), (vec![], None));
    }

    #[test]
    fn what_is_cut_changed_or_hostile_is_refused_or_read_but_never_more_than_there_is() {
        let residuals = Matrix::from_fn(2, 3, |r, c| (r + c) as f32);
        let bytes = written(&codes(9), Some(&residuals));
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
