//! Measurements in files: what `sparsemble sense` writes and `sparsemble recover` reads, or matrices of your own.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use sparsemble::degradation::{Degradation, Dense};
use sparsemble::image::Size;
use sparsemble::restoration::BlockMeasurements;
use sparsemble::{Matrix, MatrixView, matrix_file};

use crate::args::RecoverArguments;
use crate::failure::Usage;

/// The measurements of one colour of a picture.
pub(super) struct MeasuredPlane {
    pub(super) measurements: BlockMeasurements,
    /// The mean of each block, if they were kept.
    pub(super) means: Option<Vec<f64>>,
}

/// The measurements of a picture, colour by colour.
pub(super) struct Measured {
    pub(super) size: Size,
    pub(super) planes: Vec<MeasuredPlane>,
    /// How many numbers of each block there are: its measurements, and its mean if that was kept.
    pub(super) numbers_of_block: usize,
    pub(super) n_measurements: usize,
    /// The side of a block.
    pub(super) side: usize,
}

/// What a file holds, or several.
struct Arrays {
    size: Size,
    n_planes: usize,
    phi: Matrix<f64>,
    /// A column for each block, plane after plane.
    z: Matrix<f64>,
    means: Option<Vec<f64>>,
}

impl Measured {
    pub(super) fn read(file: &Path, arguments: &RecoverArguments) -> Result<Self> {
        let arrays = match (&arguments.phi, &arguments.size) {
            (Some(phi), Some(size)) => {
                let (size, n_planes) = size_and_planes(size)?;
                let means = arguments.means.as_ref().map(matrix_file::read_list).transpose()?;
                let z = matrix_file::read::<f64>(file)?.to_matrix();
                Arrays { size, n_planes, phi: matrix_of_rows(phi)?, z, means }
            }
            _ => sensed(file).map_err(|error| {
                if matches!(error.downcast_ref(), Some(sparsemble::Error::Io { .. })) {
                    return error;
                }
                error.context(format!(
                    "{} is not what `sparsemble sense` writes; for measurements of your own give --phi and --size",
                    file.display()
                ))
            })?,
        };
        arrays.by_plane().with_context(|| file.display().to_string())
    }

    /// How many numbers there are for each of the picture.
    pub(super) fn share(&self) -> f64 {
        share(self.size, self.side, self.numbers_of_block)
    }
}

/// How many numbers are kept for each pixel of a picture. Its last blocks may go beyond its border.
pub(super) fn share(size: Size, side: usize, numbers_of_block: usize) -> f64 {
    let n_blocks = size.width.div_ceil(side) * size.height.div_ceil(side);
    (n_blocks * numbers_of_block) as f64 / (size.width * size.height) as f64
}

impl Arrays {
    /// A picture has as many blocks, and means if there are any, as its size says: no more and no fewer.
    fn by_plane(self) -> Result<Measured> {
        let Self { size, n_planes, phi, z, means } = self;
        let phi = Dense::new(phi.view())?;
        let blocks = BlockMeasurements::n_blocks(size, &phi)?;
        let side = phi.n_features().isqrt();
        let expected = blocks.saturating_mul(n_planes);
        let expect = |what: &str, found: usize| {
            if found == expected {
                return Ok(());
            }
            let colours = if n_planes == 1 { String::new() } else { format!(" in {n_planes} colours") };
            bail!(
                "the number of blocks of {side} × {side} in {size} pixels{colours} is {expected}, but there are {found} {what}"
            )
        };
        expect("rows of measurements", z.columns())?;
        means.as_ref().map_or(Ok(()), |means| expect("means", means.len()))?;
        let plane = |number: usize| {
            let own = number * blocks..(number + 1) * blocks;
            let values = &z.as_slice()[own.start * z.rows()..own.end * z.rows()];
            let measurements =
                BlockMeasurements::new(size, phi.clone(), MatrixView::from_columns(values, z.rows(), blocks)?)?;
            Ok(MeasuredPlane { measurements, means: means.as_ref().map(|means| means[own].to_vec()) })
        };
        let n_measurements = phi.n_measurements();
        Ok(Measured {
            size,
            planes: (0..n_planes).map(plane).collect::<sparsemble::Result<_>>()?,
            numbers_of_block: n_measurements + usize::from(means.is_some()),
            n_measurements,
            side,
        })
    }
}

/// Writes the measurements of a picture, colour by colour, and the means of their blocks if they are to be kept.
pub(super) fn write(path: &Path, planes: &[BlockMeasurements], means: Option<&[f64]>) -> Result<()> {
    let [first, ..] = planes else { bail!("there is no plane to write") };
    let size = first.image_size();
    let numbers = [size.height as f64, size.width as f64, planes.len() as f64];
    let columns: Vec<f64> = planes.iter().flat_map(|plane| plane.values().to_matrix().into_vec()).collect();
    let z = MatrixView::from_columns(&columns, first.values().rows(), first.values().columns() * planes.len())?;
    // A row of a file is a column to the library.
    let phi = first.phi().matrix().transposed();
    let mut arrays = vec![("z", z), ("phi", phi), ("size", MatrixView::from_columns(&numbers, 3, 1)?)];
    if let Some(means) = means {
        arrays.push(("means", MatrixView::from_columns(means, 1, means.len())?));
    }
    Ok(matrix_file::write_arrays(path, &arrays)?)
}

fn sensed(path: &Path) -> Result<Arrays> {
    let names = matrix_file::array_names(path)?;
    let list = |name: &str| matrix_file::read_list(array(path, name));
    let (size, n_planes) = counts(&list("size")?)?;
    Ok(Arrays {
        size,
        n_planes,
        phi: matrix_of_rows(&array(path, "phi"))?,
        z: matrix_file::read::<f64>(array(path, "z"))?.to_matrix(),
        // They are there only if they were asked for; what is there must be readable.
        means: names.iter().any(|name| name == "means").then(|| list("means")).transpose()?,
    })
}

/// `FILE.npz:NAME`.
fn array(path: &Path, name: &str) -> PathBuf {
    let mut text = OsString::from(path);
    text.push(":");
    text.push(name);
    PathBuf::from(text)
}

/// A matrix as it stands in a file: a row of the file is a column to the library.
pub(super) fn matrix_of_rows(path: &Path) -> Result<Matrix<f64>> {
    Ok(matrix_file::read::<f64>(path)?.view().transposed().to_matrix())
}

/// Height, width and number of planes.
fn counts(numbers: &[f64]) -> Result<(Size, usize)> {
    let count = |value: f64| (1.0..=f64::from(u16::MAX)).contains(&value) && value.fract().abs() <= 0.0;
    match numbers {
        &[height, width, planes]
            if [height, width, planes].into_iter().all(count) && [1, 3].contains(&(planes as i64)) =>
        {
            Ok((Size { width: width as usize, height: height as usize }, planes as usize))
        }
        _ => bail!("its size is that of no picture"),
    }
}

/// `WIDTHxHEIGHT`, or `WIDTHxHEIGHTx3` for a picture in colour.
fn size_and_planes(text: &str) -> Result<(Size, usize)> {
    match text.rsplit_once('x') {
        Some((size, "3")) if size.contains('x') => Ok((parse_size(size)?, 3)),
        _ => Ok((parse_size(text)?, 1)),
    }
}

pub(super) fn parse_size(text: &str) -> Result<Size> {
    let sides = text.split_once('x').and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
    match sides {
        Some((width, height)) if width > 0 && height > 0 => Ok(Size { width, height }),
        _ => Err(Usage(format!("--size {text}: give WIDTHxHEIGHT, such as 512x512")).into()),
    }
}
