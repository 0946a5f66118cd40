//! Sparse codes as `scipy.sparse.save_npz` writes them: the arrays of a CSR matrix in an `.npz` archive.

use std::io::{self, Read, Seek, Write};

use zip::ZipWriter;

use crate::coding::SparseCodes;
use crate::scalar::Scalar;

use super::archive::{Archive, start};
use super::npy::{self, Header};
use super::numbers::Number;
use crate::reason::Outcome;

/// Numbers that are written at a time.
const CHUNK: usize = 1 << 14;

/// Writes the codes as a CSR array of shape (samples, atoms).
pub(super) fn write<T: Scalar>(file: &mut dyn Write, codes: &SparseCodes<T>) -> io::Result<()> {
    let mut archive = ZipWriter::new_stream(file);
    // SciPy wants both index arrays of one type.
    let narrow = i32::try_from(codes.n_nonzero().max(codes.n_atoms())).is_ok();
    let index = if narrow { "<i4" } else { "<i8" };
    let bytes = |value: u64, out: &mut Vec<u8>| {
        out.extend_from_slice(&value.to_le_bytes()[..if narrow { 4 } else { 8 }]);
    };
    array(&mut archive, "indices", index, codes.atoms(), |&atom, out| bytes(atom.into(), out))?;
    array(&mut archive, "indptr", index, codes.starts(), |&start, out| bytes(start as u64, out))?;
    scalar(&mut archive, "format", "|S3", b"csr")?;
    let shape = [codes.n_samples(), codes.n_atoms()];
    array(&mut archive, "shape", "<i8", &shape, |&side, out| out.extend_from_slice(&(side as u64).to_le_bytes()))?;
    array(&mut archive, "data", npy::descr::<T>(), codes.coefficients(), |&value, out| npy::append(out, &[value]))?;
    scalar(&mut archive, "_is_array", "|b1", &[1])?;
    archive.finish()?;
    Ok(())
}

/// Reads what [`write()`] or SciPy wrote: a CSR matrix or array.
pub(super) fn read<T: Scalar>(file: impl Read + Seek, length: u64) -> Outcome<SparseCodes<T>> {
    let mut archive = Archive::open(file, length)?;
    let names = archive.names();
    if !["format", "shape", "indptr", "indices", "data"].iter().all(|part| names.iter().any(|name| name == part)) {
        return Err("this archive holds no sparse matrix; write one with scipy.sparse.save_npz".into());
    }
    if archive.text("format")? != b"csr" {
        return Err("the sparse matrix is not in CSR format; save it with .tocsr()".into());
    }
    let (_, shape) = archive.elements("shape", Number::count)?;
    let &[n_samples, n_atoms] = &shape[..] else { return Err("the sparse matrix does not have two dimensions".into()) };
    let (_, starts) = archive.elements("indptr", Number::count)?;
    let too_many = "the sparse matrix has more columns than codes can have atoms";
    let atom = |number: Number| u32::try_from(number.count()?).map_err(|_| too_many.into());
    let (_, atoms) = archive.elements("indices", atom)?;
    let (_, coefficients) = archive.elements("data", |number| Ok(number.scalar()))?;
    if starts.len() != n_samples.saturating_add(1) {
        return Err("the sparse matrix has not as many rows as it says; the file is damaged".into());
    }
    let (atoms, coefficients) = sorted(&starts, atoms, coefficients);
    Ok(SparseCodes::from_parts(n_atoms, starts, atoms, coefficients)?)
}

/// Sorts the entries of each row by column, as SciPy does not promise that they are.
fn sorted<T: Scalar>(starts: &[usize], mut atoms: Vec<u32>, mut coefficients: Vec<T>) -> (Vec<u32>, Vec<T>) {
    for range in starts.windows(2).map(|ends| ends[0]..ends[1]) {
        let (Some(row), Some(values)) = (atoms.get_mut(range.clone()), coefficients.get_mut(range)) else {
            // Damaged; `SparseCodes::from_parts` says how.
            break;
        };
        if !row.is_sorted() {
            let mut entries: Vec<(u32, T)> = row.iter().copied().zip(values.iter().copied()).collect();
            entries.sort_by_key(|(atom, _)| *atom);
            for (place, (atom, value)) in entries.into_iter().enumerate() {
                (row[place], values[place]) = (atom, value);
            }
        }
    }
    (atoms, coefficients)
}

/// Adds an array of one dimension to an archive.
fn array<W: Write + Seek, V>(
    archive: &mut ZipWriter<W>,
    name: &str,
    descr: &str,
    values: &[V],
    append: impl Fn(&V, &mut Vec<u8>),
) -> io::Result<()> {
    start(archive, name, values.len() as u64 * 8)?;
    archive.write_all(&Header::bytes(descr, &format!("({},)", values.len())))?;
    let mut bytes = Vec::new();
    for chunk in values.chunks(CHUNK) {
        bytes.clear();
        for value in chunk {
            append(value, &mut bytes);
        }
        archive.write_all(&bytes)?;
    }
    Ok(())
}

/// Adds an array without dimensions to an archive.
fn scalar<W: Write + Seek>(archive: &mut ZipWriter<W>, name: &str, descr: &str, value: &[u8]) -> io::Result<()> {
    start(archive, name, value.len() as u64)?;
    archive.write_all(&Header::bytes(descr, "()"))?;
    archive.write_all(value)
}
