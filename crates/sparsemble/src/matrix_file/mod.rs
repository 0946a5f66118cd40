//! Samples and codes from files and to files (feature `io`).
//!
//! One row of a file is one sample, as NumPy and scikit-learn have it; it is a column of [`MatrixFile::view`].
//!
//! | file | read | written |
//! | --- | --- | --- |
//! | `.npy` | real, integer and truth values, in C and Fortran order, of both byte orders | C order, little-endian |
//! | `.npz`, `FILE.npz:NAME` | the only array, or that of this name | codes, as `scipy.sparse.save_npz` does; several matrices |
//! | `.csv`, `.tsv` | separated by tabs, semicolons, commas or spaces, with or without a header, with a column of classes | commas, no header; clusters |
//! | `.mat`, `FILE.mat:NAME` | the only matrix, or that of this name; versions 5 to 7 | – |
//!
//! A file is not trusted. What its header promises is compared with the length of the file before memory is spent; packed
//! data may grow to 64 MiB or 256-fold; nothing in a file is ever run. NaN and infinities are read as they are: whoever uses
//! the samples names their place.
//!
//! Files are written beside their target and renamed, so nobody ever sees half of one.

mod archive;
mod codes;
mod expansion;
mod labelled;
mod location;
mod mat;
mod npy;
mod numbers;
mod storage;
mod stored;
mod table;
mod watched;

pub use labelled::{
    Classes, LabelledSamples, expect_clusters_name, read_labelled, read_labelled_watched, write_clusters,
};
pub use storage::MatrixFile;

use std::path::Path;

use crate::blocks::Run;
use crate::coding::SparseCodes;
use crate::error::{Error, Result};
use crate::files;
use crate::image::{GrayImage, Size};
use crate::matrix::MatrixView;
use crate::scalar::Scalar;

use archive::Archive;
use location::{Format, Location};

/// Reads the samples of a file, whose format is told by its name.
///
/// Numbers of another type are converted. A `.npy` file of the type that is asked for and of 64 MiB or more is mapped
/// instead: see [`MatrixFile`].
///
/// # Shapes
/// A file of T rows and M columns gives M × T.
///
/// # Errors
/// [`Error::Io`] if the file cannot be opened; [`Error::Data`] if it is damaged, empty, of another format, holds other
/// things than a matrix of numbers, or several matrices of which none was named.
///
/// # Example
/// ```
/// use sparsemble::Matrix;
/// use sparsemble::matrix_file::{read, write};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("samples.npy");
/// let samples = Matrix::from_columns(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2, 3)?; // three samples of two features
/// write(&path, samples.view())?;
/// assert_eq!(read::<f64>(&path)?.to_matrix(), samples);
/// # Ok::<(), sparsemble::Error>(())
/// ```
pub fn read<T: Scalar>(location: impl AsRef<Path>) -> Result<MatrixFile<T>> {
    read_watched(location, Run::default())
}

/// The same for a file that takes its time: `run` is told how many of its bytes are read, and may end it.
///
/// # Errors
/// As [`read`]; [`Error::Interrupted`].
pub fn read_watched<T: Scalar>(location: impl AsRef<Path>, run: Run<'_>) -> Result<MatrixFile<T>> {
    let Location { path, format, name } = Location::parse(location.as_ref())?;
    if format == Format::Npy {
        return npy::read(&path, run);
    }
    let (file, length) = watched::open(&path, run)?;
    let samples = match format {
        Format::Npz => Archive::open(file, length).and_then(|mut archive| archive.samples(name.as_deref())),
        Format::Mat => mat::samples(file, length, name.as_deref()),
        Format::Csv | Format::Npy => table::read(file, None).map(|table| table.samples),
    };
    samples.map_err(|reason| reason.about_data(&path))
}

/// Reads a list of numbers: one a row, all in one row, or an array of NumPy of one dimension.
///
/// # Errors
/// As [`read`]; [`Error::Data`] if there are several rows of more than one number.
pub fn read_list(location: impl AsRef<Path>) -> Result<Vec<f64>> {
    let Location { path, format, name } = Location::parse(location.as_ref())?;
    let list = match format {
        Format::Npy => npy::read_list(&path)?,
        Format::Npz => {
            let (file, length) = files::open(&path)?;
            let list = Archive::open(file, length).and_then(|mut archive| archive.list(name.as_deref()));
            list.map_err(|reason| reason.about_data(&path))?
        }
        Format::Csv | Format::Mat => None,
    };
    if let Some(list) = list {
        return Ok(list);
    }
    let file = read::<f64>(location)?;
    match (file.n_features(), file.n_samples()) {
        (1, _) | (_, 1) => Ok(file.to_matrix().into_vec()),
        (n, _) => {
            let reason = format!("it has {n} numbers a row, but a list has one");
            Err(Error::Data { name: path.display().to_string(), reason })
        }
    }
}

/// The names of the arrays in a `.npz` file, or of the matrices of numbers in a `.mat` file; none in files of other
/// formats, which hold a single one.
///
/// # Errors
/// [`Error::Io`] if the file cannot be opened; [`Error::Data`] if it is damaged or of another format.
///
/// # Example
/// ```
/// use sparsemble::Matrix;
/// use sparsemble::matrix_file::{array_names, write_arrays};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("measured.npz");
/// let z = Matrix::from_columns(vec![1.0, 2.0], 2, 1)?;
/// write_arrays(&path, &[("z", z.view())])?;
/// assert_eq!(array_names(&path)?, ["z"]);
/// # Ok::<(), sparsemble::Error>(())
/// ```
pub fn array_names(path: impl AsRef<Path>) -> Result<Vec<String>> {
    let Location { path, format, .. } = Location::parse(path.as_ref())?;
    if matches!(format, Format::Npy | Format::Csv) {
        return Ok(Vec::new());
    }
    let (file, length) = files::open(&path)?;
    let names = match format {
        Format::Mat => mat::names(file, length),
        _ => Archive::open(file, length).map(|archive| archive.names()),
    };
    names.map_err(|reason| reason.about_data(&path))
}

/// Whether a file of this name is one that [`read`] knows.
pub fn is_matrix_file(location: impl AsRef<Path>) -> bool {
    Location::parse(location.as_ref()).is_ok()
}

/// The number type to read a file as, in NumPy's words: `float32` if that holds all it can have, else `float64`.
///
/// # Errors
/// As [`read`].
pub fn dtype(location: impl AsRef<Path>) -> Result<&'static str> {
    let Location { path, format, name } = Location::parse(location.as_ref())?;
    let name = name.as_deref();
    let fits_single = match format {
        Format::Npy => npy::number_type(&path)?.fits_single(),
        Format::Csv => false,
        Format::Npz | Format::Mat => {
            let (file, length) = files::open(&path)?;
            let fits_single = if format == Format::Mat {
                mat::fits_single(file, length, name)
            } else {
                Archive::open(file, length).and_then(|mut archive| Ok(archive.number_type(name)?.fits_single()))
            };
            fits_single.map_err(|reason| reason.about_data(&path))?
        }
    };
    Ok(if fits_single { f32::NAME } else { f64::NAME })
}

/// Whether [`write()`] could write a file of this name: worth asking before long work.
///
/// # Errors
/// [`Error::Data`] if not; it says which names are known.
pub fn expect_samples_name(path: impl AsRef<Path>) -> Result<()> {
    expect_format(path.as_ref(), &[Format::Npy, Format::Csv], ".npy or .csv")
}

/// Whether [`write_codes`] could write a file of this name: worth asking before long work.
///
/// # Errors
/// [`Error::Data`] if not; it says which names are known.
pub fn expect_codes_name(path: impl AsRef<Path>) -> Result<()> {
    expect_format(path.as_ref(), &[Format::Npz, Format::Npy, Format::Csv], ".npz, .npy or .csv")
}

/// Writes samples to a `.npy` or `.csv` file, one sample a row, replacing any file of that name at once.
///
/// # Errors
/// [`Error::Data`] if the name ends otherwise, [`Error::Io`] if the folder cannot be written to. A file of that name is
/// then left as it was.
pub fn write<T: Scalar>(path: impl AsRef<Path>, samples: MatrixView<'_, T>) -> Result<()> {
    expect_samples_name(&path)?;
    let shape = (samples.columns(), samples.rows());
    write_rows(path.as_ref(), shape, |index, row| samples.copy_column(index, row))
}

/// Writes the planes of a picture, as they are: to a `.npy` file as height × width, or height × width × planes if there are
/// several; to a `.csv` file one below the other.
///
/// # Errors
/// As [`write()`]; if there is no plane, or one is of another size.
///
/// # Example
/// ```
/// use sparsemble::image::{GrayImage, Size};
/// use sparsemble::matrix_file::write_planes;
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("errors.npy");
/// let plane = |level: f64| GrayImage::from_fn(Size { width: 5, height: 4 }, |_, _| level);
/// write_planes(&path, &[plane(1.0)?, plane(2.0)?, plane(3.0)?])?; // numpy.load(path).shape == (4, 5, 3)
/// # Ok::<(), sparsemble::Error>(())
/// ```
pub fn write_planes(path: impl AsRef<Path>, planes: &[GrayImage]) -> Result<()> {
    expect_samples_name(&path)?;
    let Some(first) = planes.first() else { return Err(Error::Empty { what: "picture", unit: "plane" }) };
    let Size { width, height } = first.size();
    planes.iter().try_for_each(|plane| plane.expect_size(first.size()))?;
    if planes.len() == 1 || Format::of_path(path.as_ref()) == Some(Format::Csv) {
        let below = |row: usize, values: &mut [f64]| values.copy_from_slice(planes[row / height].row(row % height));
        return write_rows(path.as_ref(), (height * planes.len(), width), below);
    }
    let shape = format!("({height}, {width}, {})", planes.len());
    let mixed = |row: usize, values: &mut [f64]| {
        for (plane, number) in planes.iter().zip(0..) {
            values
                .iter_mut()
                .skip(number)
                .step_by(planes.len())
                .zip(plane.row(row))
                .for_each(|(to, value)| *to = *value);
        }
    };
    files::write_atomically(path.as_ref(), |file| {
        npy::write_shaped(file, &shape, (height, width * planes.len()), mixed)
    })
}

/// Writes matrices by name to a `.npz` file, one sample a row, replacing any file of that name at once.
///
/// `numpy.load` reads it, and so does [`read`] by `FILE.npz:NAME`.
///
/// # Errors
/// As [`write()`].
///
/// # Example
/// ```
/// use sparsemble::Matrix;
/// use sparsemble::matrix_file::{read, write_arrays};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("both.npz");
/// let (a, b) = (Matrix::from_columns(vec![1.0, 2.0], 2, 1)?, Matrix::from_columns(vec![3.0], 1, 1)?);
/// write_arrays(&path, &[("a", a.view()), ("b", b.view())])?;
/// assert_eq!(read::<f64>(folder.path().join("both.npz:a"))?.to_matrix(), a);
/// # Ok::<(), sparsemble::Error>(())
/// ```
pub fn write_arrays<T: Scalar>(path: impl AsRef<Path>, arrays: &[(&str, MatrixView<'_, T>)]) -> Result<()> {
    expect_format(path.as_ref(), &[Format::Npz], ".npz")?;
    files::write_atomically(path.as_ref(), |file| archive::write(file, arrays))
}

/// Writes codes, one sample a row: to a `.npz` file as SciPy's CSR array, or to a `.npy` or `.csv` file with all zeros.
///
/// # Errors
/// As [`write()`].
///
/// # Example
/// ```
/// use sparsemble::coding::SparseCodes;
/// use sparsemble::matrix_file::{read_codes, write_codes};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("codes.npz");
/// let codes = SparseCodes::from_parts(5, vec![0, 1, 3], vec![4, 0, 2], vec![1.5_f32, -1.0, 2.0])?;
/// write_codes(&path, &codes)?; // scipy.sparse.load_npz reads it
/// assert_eq!(read_codes::<f32>(&path)?, codes);
/// # Ok::<(), sparsemble::Error>(())
/// ```
pub fn write_codes<T: Scalar>(path: impl AsRef<Path>, codes: &SparseCodes<T>) -> Result<()> {
    expect_codes_name(&path)?;
    let path = path.as_ref();
    if Format::of_path(path) == Some(Format::Npz) {
        return files::write_atomically(path, |file| codes::write(file, codes));
    }
    let fill = |index: usize, row: &mut [T]| codes.column(index).for_each(|(atom, value)| row[atom] = value);
    write_rows(path, (codes.n_samples(), codes.n_atoms()), fill)
}

/// Reads codes: a CSR matrix in a `.npz` file of SciPy, or any file that [`read`] knows, whose zeros are dropped.
///
/// # Errors
/// As [`read`], and if a coefficient is not finite.
pub fn read_codes<T: Scalar>(location: impl AsRef<Path>) -> Result<SparseCodes<T>> {
    let location = location.as_ref();
    if Format::of_path(location) == Some(Format::Npz) {
        let (file, length) = files::open(location)?;
        return codes::read(file, length).map_err(|reason| reason.about_data(location));
    }
    let dense = read::<T>(location)?;
    let view = dense.view();
    view.expect_finite("codes")?;
    let mut codes = SparseCodes::new(view.rows());
    let mut row = vec![T::ZERO; view.rows()];
    for sample in 0..view.columns() {
        view.copy_column(sample, &mut row);
        codes.push((0..).zip(row.iter().copied()));
    }
    Ok(codes)
}

/// Writes rows that are made one at a time.
fn write_rows<T: Scalar>(path: &Path, shape: (usize, usize), fill: impl FnMut(usize, &mut [T])) -> Result<()> {
    files::write_atomically(path, |file| match Format::of_path(path) {
        Some(Format::Csv) => table::write(file, shape, fill),
        _ => npy::write(file, shape, fill),
    })
}

fn expect_format(path: &Path, formats: &[Format], names: &str) -> Result<()> {
    if Format::of_path(path).is_some_and(|format| formats.contains(&format)) {
        return Ok(());
    }
    let reason = format!("the name of this file must end in {names}");
    Err(Error::Data { name: path.display().to_string(), reason })
}
