//! `.npz`: arrays of NumPy by name, in a zip archive.

use std::io::{self, Read, Seek, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use crate::matrix::MatrixView;
use crate::scalar::Scalar;

use super::expansion::check_expansion;
use super::location::choose;
use super::npy::{self, Header};
use super::numbers::{Number, NumberType};
use super::storage::MatrixFile;
use crate::reason::Outcome;

/// What the names of the arrays end with in the archive.
pub(super) const SUFFIX: &str = ".npy";

/// An opened archive and its length.
pub(super) struct Archive<R> {
    entries: ZipArchive<R>,
    length: u64,
}

impl<R: Read + Seek> Archive<R> {
    pub(super) fn open(file: R, length: u64) -> Outcome<Self> {
        Ok(Self { entries: ZipArchive::new(file)?, length })
    }

    /// The samples in the array of this name, or in the only array.
    pub(super) fn samples<T: Scalar>(&mut self, name: Option<&str>) -> Outcome<MatrixFile<T>> {
        let name = choose(&self.names(), name)?;
        self.array(&name, |source, length| npy::read_matrix(source, length))
    }

    /// The numbers of that array if it has one dimension.
    pub(super) fn list(&mut self, name: Option<&str>) -> Outcome<Option<Vec<f64>>> {
        let name = choose(&self.names(), name)?;
        let entry = self.entries.by_name(&format!("{name}{SUFFIX}"))?;
        let length = entry.size();
        if Header::read(&mut { entry }, length)?.shape.len() != 1 {
            return Ok(None);
        }
        self.array(&name, |source, length| npy::list(source, length))
    }

    /// The type of the numbers of that array.
    pub(super) fn number_type(&mut self, name: Option<&str>) -> Outcome<NumberType> {
        let name = choose(&self.names(), name)?;
        let entry = self.entries.by_name(&format!("{name}{SUFFIX}"))?;
        let length = entry.size();
        Header::read(&mut { entry }, length)?.number_type()
    }

    /// The elements of an array of any shape, with its header.
    pub(super) fn elements<V>(
        &mut self,
        name: &str,
        convert: impl Fn(Number) -> Outcome<V>,
    ) -> Outcome<(Header, Vec<V>)> {
        self.array(name, |source, length| {
            let header = Header::read(source, length)?;
            let elements = npy::read_elements(&header, source, length, convert)?;
            Ok((header, elements))
        })
    }

    /// The bytes of a short text; what is no text gives bytes that nobody knows.
    pub(super) fn text(&mut self, name: &str) -> Outcome<Vec<u8>> {
        const LONGEST: usize = 64;
        self.array(name, |source, length| {
            let header = Header::read(source, length)?;
            let size = (length - header.length) as usize;
            if size > LONGEST {
                return Err("this is no short text".into());
            }
            let mut bytes = vec![0; size];
            source.read_exact(&mut bytes)?;
            // NumPy's text of four bytes a character is padded with zeros, as is that of one.
            bytes.retain(|&byte| byte != 0);
            Ok(bytes)
        })
    }

    /// The names of all arrays; what is no array, or has no proper name, is passed over.
    pub(super) fn names(&self) -> Vec<String> {
        let names = self.entries.file_names().filter_map(std::result::Result::ok);
        names.filter_map(|name| Some(name.strip_suffix(SUFFIX)?.to_owned())).collect()
    }

    /// Reads an array to its end, where its checksum is compared.
    fn array<V>(&mut self, name: &str, read: impl FnOnce(&mut dyn Read, u64) -> Outcome<V>) -> Outcome<V> {
        let mut entry = self.entries.by_name(&format!("{name}{SUFFIX}"))?;
        let (packed, length) = (entry.compressed_size(), entry.size());
        if packed > self.length {
            return Err("the archive promises more bytes than it has; it is damaged".into());
        }
        check_expansion(packed, length)?;
        let value = read(&mut entry, length).map_err(|reason| reason.within(name))?;
        if entry.read(&mut [0])? > 0 {
            return Err("an array is longer than the archive says; it is damaged".into());
        }
        Ok(value)
    }
}

/// Writes matrices by name, a column of each as a row of its array.
pub(super) fn write<T: Scalar>(file: &mut dyn Write, arrays: &[(&str, MatrixView<'_, T>)]) -> io::Result<()> {
    let mut archive = ZipWriter::new_stream(file);
    for (name, matrix) in arrays {
        start(&mut archive, name, (matrix.rows() * matrix.columns()) as u64 * 8)?;
        let shape = format!("({}, {})", matrix.columns(), matrix.rows());
        archive.write_all(&Header::bytes(npy::descr::<T>(), &shape))?;
        let (mut row, mut bytes) = (vec![T::ZERO; matrix.rows()], Vec::new());
        for c in 0..matrix.columns() {
            matrix.copy_column(c, &mut row);
            bytes.clear();
            npy::append(&mut bytes, &row);
            archive.write_all(&bytes)?;
        }
    }
    archive.finish()?;
    Ok(())
}

/// Begins an array. It is not packed: real numbers hardly shrink, and packing takes longer than what made them.
pub(super) fn start<W: Write + Seek>(archive: &mut ZipWriter<W>, name: &str, at_most: u64) -> io::Result<()> {
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .large_file(at_most >= u64::from(u32::MAX) - 1024);
    archive.start_file(format!("{name}{SUFFIX}"), options)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Matrix;
    use std::io::Cursor;

    /// An archive of these entries, packed as `numpy.savez_compressed` does.
    fn packed(entries: &[(&str, Vec<u8>)]) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in entries {
            let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
            writer.start_file(*name, options).unwrap();
            writer.write_all(bytes).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    fn array(shape: &str, values: &[f64]) -> Vec<u8> {
        let mut bytes = Header::bytes("<f8", shape);
        npy::append(&mut bytes, values);
        bytes
    }

    fn read(bytes: &[u8], name: Option<&str>) -> Outcome<Matrix<f64>> {
        let mut archive = Archive::open(Cursor::new(bytes), bytes.len() as u64)?;
        assert!(archive.number_type(name).is_ok_and(NumberType::is_native::<f64>));
        Ok(archive.samples(name)?.to_matrix())
    }

    #[test]
    fn packed_arrays_are_chosen_by_name_and_other_entries_are_passed_over() {
        let (a, b) = (array("(1, 2)", &[1.0, 2.0]), array("(2, 1)", &[3.0, 4.0]));
        let one = packed(&[("readme.txt", b"hello".to_vec()), ("a.npy", a.clone())]);
        assert_eq!(read(&one, None).unwrap(), Matrix::from_columns(vec![1.0, 2.0], 2, 1).unwrap());
        let two = packed(&[("a.npy", a), ("deep/b.npy", b)]);
        assert_eq!(read(&two, Some("deep/b")).unwrap(), Matrix::from_columns(vec![3.0, 4.0], 1, 2).unwrap());
    }

    #[test]
    fn an_archive_that_unpacks_to_far_more_than_it_holds_is_refused_before_memory_is_spent() {
        // A hundred megabytes of zeros in a hundred kilobytes.
        let mut zeros = Header::bytes("<f8", "(200000, 64)");
        zeros.resize(zeros.len() + 200_000 * 64 * 8, 0);
        let bomb = packed(&[("a.npy", zeros)]);
        assert!(bomb.len() < 200_000);
        let refused = format!("{:?}", read(&bomb, None).unwrap_err());
        assert!(refused.contains("promise to become"), "{refused}");
    }

    #[test]
    fn a_list_of_one_dimension_is_told_from_a_matrix() {
        let bytes = packed(&[("size.npy", array("(3,)", &[4.0, 5.0, 1.0])), ("z.npy", array("(1, 2)", &[1.0, 2.0]))]);
        let mut archive = Archive::open(Cursor::new(&bytes), bytes.len() as u64).unwrap();
        assert_eq!(archive.list(Some("size")).ok().unwrap(), Some(vec![4.0, 5.0, 1.0]));
        assert_eq!(archive.list(Some("z")).ok().unwrap(), None);
        assert!(archive.list(Some("means")).is_err());
    }
}
