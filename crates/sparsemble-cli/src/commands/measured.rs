//! Measurements in files: what `sparsemble sense` writes and `sparsemble recover` reads, or matrices of your own.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use sparsemble::degradation::{Degradation, Dense};
use sparsemble::image::Size;
use sparsemble::restoration::BlockMeasurements;
use sparsemble::{Matrix, MatrixView, matrix_file};

use crate::args::RecoverArguments;
use crate::failure::Usage;

/// The measurements of a picture, colour by colour, and the means of their blocks if they were kept.
pub(super) struct Measured {
    pub(super) planes: Vec<BlockMeasurements>,
    pub(super) means: Option<Vec<Vec<f64>>>,
}

/// What a file holds.
struct Arrays {
    size: Size,
    n_planes: usize,
    phi: Matrix<f64>,
    /// A column for each block, plane after plane.
    z: Matrix<f64>,
    means: Option<Matrix<f64>>,
}

impl Measured {
    pub(super) fn read(measurements: &Path, arguments: &RecoverArguments) -> Result<Self> {
        let Arrays { size, n_planes, phi, z, means } = match (&arguments.phi, &arguments.size) {
            (Some(phi), Some(size)) => Arrays {
                size: parse_size(size)?,
                n_planes: 1,
                phi: matrix_of_rows(phi)?,
                z: matrix_file::read::<f64>(measurements)?.to_matrix(),
                means: None,
            },
            _ => sensed(measurements).map_err(|error| {
                if matches!(error.downcast_ref(), Some(sparsemble::Error::Io { .. })) {
                    return error;
                }
                let file = measurements.display();
                error.context(format!(
                    "{file} is not what `sparsemble sense` writes; for measurements of your own give --phi and --size"
                ))
            })?,
        };
        let phi = Dense::new(phi.view())?;
        let blocks = z.columns() / n_planes;
        let plane = |number: usize| {
            let values = z.as_slice().chunks((blocks * z.rows()).max(1)).nth(number).unwrap_or_default();
            BlockMeasurements::new(size, phi.clone(), MatrixView::from_columns(values, z.rows(), blocks)?)
        };
        let planes = (0..n_planes).map(plane).collect::<sparsemble::Result<_>>()?;
        let means = means.map(|means| means.as_slice().chunks(blocks.max(1)).map(<[f64]>::to_vec).collect());
        Ok(Self { planes, means })
    }

    /// How many numbers of each block there are.
    pub(super) fn numbers_of_block(&self) -> usize {
        self.planes[0].phi().n_measurements() + usize::from(self.means.is_some())
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
    let part = |name: &str| matrix_file::read::<f64>(array(path, name)).map(|file| file.to_matrix());
    let (size, n_planes) = counts(part("size")?.as_slice())?;
    // Means are there only if they were asked for.
    Ok(Arrays { size, n_planes, phi: matrix_of_rows(&array(path, "phi"))?, z: part("z")?, means: part("means").ok() })
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

pub(super) fn parse_size(text: &str) -> Result<Size> {
    let sides = text.split_once('x').and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
    match sides {
        Some((width, height)) if width > 0 && height > 0 => Ok(Size { width, height }),
        _ => Err(Usage(format!("--size {text}: give WIDTHxHEIGHT, such as 512x512")).into()),
    }
}
