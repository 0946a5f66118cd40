//! Restoration of pictures: planes in, planes and their deviations out.

use numpy::prelude::*;
use numpy::{IntoPyArray, PyArray3, PyReadonlyArray2, PyReadonlyArray3};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sparsemble::degradation::{Blur, Degradation, Dense, Mask};
use sparsemble::ensemble::LocalGaussians;
use sparsemble::image::{GrayImage, Size};
use sparsemble::restoration::{
    self, BlockMeasurements, Blockwise, BothPriors, CompressiveRecovery, Dc, Observation, Operated, Restored,
    natural_gaussians,
};
use sparsemble::{MatrixView, Result, Run};

use crate::array::{Reals, Rows};
use crate::degradation::{MadeOf, Operator};
use crate::error::to_python;
use crate::functions::{Functions, Way};
use crate::held::Held;
use crate::model::{Model, Numbers};
use crate::run::RunOptions;

/// The planes of a picture and how far from the truth each pixel may be, both `(n_planes, height, width)`.
pub(crate) type RestoredPlanes<'py> = (Bound<'py, PyArray3<f64>>, Bound<'py, PyArray3<f64>>);

/// The planes, and how far the members of the model are apart, if it has any.
pub(crate) type BlockPlanes<'py> = (Bound<'py, PyArray3<f64>>, Option<Bound<'py, PyArray3<f64>>>);

/// Takes noise out of each plane.
#[pyfunction]
pub(crate) fn denoise<'py>(
    py: Python<'py>,
    planes: PyReadonlyArray3<'py, f64>,
    noise: f64,
    run: RunOptions,
) -> PyResult<RestoredPlanes<'py>> {
    let (planes, size) = images(&planes)?;
    let work = |plane: &GrayImage, run: Run<'_>| restoration::denoise(plane, noise, run);
    arrays(py, run.call(py, |run| in_turn(&planes, size, run, work))?)
}

/// Fills in the pixels of each plane that are not seen: a byte for each pixel, 0 is missing.
#[pyfunction]
pub(crate) fn inpaint<'py>(
    py: Python<'py>,
    planes: PyReadonlyArray3<'py, f64>,
    seen: PyReadonlyArray3<'py, u8>,
    noise: f64,
    run: RunOptions,
) -> PyResult<RestoredPlanes<'py>> {
    let (planes, size) = images(&planes)?;
    let masks = seen.as_array();
    let masks = masks.outer_iter().map(|seen| Mask::new(&seen.iter().map(|&byte| byte != 0).collect::<Vec<_>>()));
    let masks = masks.collect::<Result<Vec<_>>>().map_err(to_python)?;
    let pairs: Vec<_> = planes.iter().zip(&masks).collect();
    let work = |&(plane, mask): &(&GrayImage, &Mask), run: Run<'_>| restoration::inpaint(plane, mask, noise, run);
    arrays(py, run.call(py, |run| in_turn(&pairs, size, run, work))?)
}

/// The standard deviation of a Gaussian, or any kernel.
#[derive(FromPyObject)]
pub(crate) enum Kernel<'py> {
    Gaussian(f64),
    Any(Reals<'py>),
}

/// Undoes the blur of each plane.
#[pyfunction]
pub(crate) fn deblur<'py>(
    py: Python<'py>,
    planes: PyReadonlyArray3<'py, f64>,
    kernel: Kernel<'py>,
    noise: f64,
    run: RunOptions,
) -> PyResult<RestoredPlanes<'py>> {
    let (planes, size) = images(&planes)?;
    let blur = match kernel {
        Kernel::Gaussian(sigma) => Blur::gaussian(size, sigma),
        Kernel::Any(kernel) => Blur::new(size, Rows::<f64>::new(&kernel)?.matrix()?),
    };
    let blur = blur.map_err(to_python)?;
    let work = |plane: &GrayImage, run: Run<'_>| restoration::deblur(plane, &blur, noise, run);
    arrays(py, run.call(py, |run| in_turn(&planes, size, run, work))?)
}

/// The measurements of each plane, `(n_planes, n_blocks, n_measurements)`.
#[pyfunction]
pub(crate) fn sense<'py>(
    py: Python<'py>,
    planes: PyReadonlyArray3<'py, f64>,
    phi: Reals<'py>,
) -> PyResult<Bound<'py, PyArray3<f64>>> {
    let (planes, _) = images(&planes)?;
    let phi = matrix(&phi)?;
    let sense = || planes.iter().map(|plane| BlockMeasurements::sense(plane, phi.clone())).collect::<Result<Vec<_>>>();
    let sensed = py.detach(sense).map_err(to_python)?;
    let (blocks, rows) = sensed.first().map_or((0, 0), |first| (first.values().columns(), first.values().rows()));
    let values: Vec<f64> = sensed.iter().flat_map(|plane| plane.values().to_matrix().into_vec()).collect();
    values.into_pyarray(py).reshape([sensed.len(), blocks, rows])
}

/// The measurements of blocks, `(n_planes, n_blocks, n_measurements)`, and their means if they are known.
pub(crate) type BlocksAndMeans<'py> = (PyReadonlyArray3<'py, f64>, Option<PyReadonlyArray2<'py, f64>>);

/// The noise of measurements, and local Gaussians of blocks, if not those of the library are to be the first estimate.
pub(crate) type NoiseAndGaussians<'py> = (f64, Option<PyRef<'py, Model>>);

/// A picture of this height and width from the measurements of its blocks.
#[pyfunction]
pub(crate) fn recover<'py>(
    py: Python<'py>,
    measured: BlocksAndMeans<'py>,
    phi: Reals<'py>,
    shape: (usize, usize),
    known: NoiseAndGaussians<'py>,
    run: RunOptions,
) -> PyResult<RestoredPlanes<'py>> {
    let (planes, size) = sensed(&measured, &phi, shape)?;
    let (noise, own) = (known.0, known.1.as_ref().map(gaussians).transpose()?);
    let recovery = CompressiveRecovery { noise, ..CompressiveRecovery::default() };
    let work = |plane: &BlockMeasurements, run: Run<'_>| match own {
        None => restoration::recover(plane, noise, run),
        Some(own) => recovery.recover(plane, own, &mut BothPriors::new(own.clone()), run),
    };
    arrays(py, run.call(py, |run| in_turn(&planes, size, run, work))?)
}

/// The same picture with every block on its own, by any model of blocks: the planes, and how far its members are apart.
#[pyfunction]
pub(crate) fn recover_blocks<'py>(
    py: Python<'py>,
    measured: BlocksAndMeans<'py>,
    phi: Reals<'py>,
    shape: (usize, usize),
    known: (f64, PyRef<'py, Model>),
    run: RunOptions,
) -> PyResult<BlockPlanes<'py>> {
    let (noise, held) = (known.0, single(&known.1)?);
    let coder = held.coder().map_err(to_python)?;
    let means = measured.1.as_ref().map(PyReadonlyArray2::as_slice).transpose()?;
    let (planes, size) = sensed(&(measured.0, None), &phi, shape)?;
    let n_blocks = planes.first().map_or(0, |plane| plane.values().columns());
    let numbered: Vec<_> = planes.iter().enumerate().collect();
    let work = |&(number, plane): &(usize, &BlockMeasurements), run: Run<'_>| {
        let dc = means.map_or(Dc::Free, |means| Dc::Known(&means[number * n_blocks..][..n_blocks]));
        Blockwise { coder: &coder, dc, noise }.picture(&held.model, plane, run)
    };
    let pictures = run.call(py, |run| in_turn(&numbered, size, run, work))?;
    let (images, spreads): (Vec<_>, Vec<_>) = pictures.into_iter().map(|made| (made.image, made.spread)).unzip();
    let spreads: Option<Vec<GrayImage>> = spreads.into_iter().collect();
    Ok((array(py, images)?, spreads.map(|spreads| array(py, spreads)).transpose()?))
}

/// A model for pictures, which are worked on in numbers of 32 bits.
fn single<'a>(model: &'a PyRef<'_, Model>) -> PyResult<&'a Held<f32>> {
    match &model.0 {
        Numbers::Single(held) => Ok(held),
        Numbers::Double(_) => {
            Err(PyValueError::new_err("model: holds numbers of 64 bits, pictures take 32; train it on float32"))
        }
    }
}

fn gaussians<'a>(model: &'a PyRef<'_, Model>) -> PyResult<&'a LocalGaussians<f32>> {
    match &single(model)?.model {
        sparsemble::Model::Gaussians(gaussians) => Ok(gaussians),
        _ => Err(PyValueError::new_err("model: holds no local Gaussians")),
    }
}

/// The same picture with every block on its own.
#[pyfunction]
pub(crate) fn first_estimate<'py>(
    py: Python<'py>,
    measured: BlocksAndMeans<'py>,
    phi: Reals<'py>,
    shape: (usize, usize),
    known: NoiseAndGaussians<'py>,
    run: RunOptions,
) -> PyResult<Bound<'py, PyArray3<f64>>> {
    let (planes, size) = sensed(&measured, &phi, shape)?;
    let recovery = CompressiveRecovery { noise: known.0, ..CompressiveRecovery::default() };
    let natural = if known.1.is_none() { Some(natural_gaussians().map_err(to_python)?) } else { None };
    let own = known.1.as_ref().map(gaussians).transpose()?;
    let work = |plane: &BlockMeasurements, run: Run<'_>| match own.or(natural.as_ref()) {
        Some(gaussians) => Ok(Some(recovery.first_estimate(plane, gaussians, run)?.image)),
        None => Ok(None),
    };
    let planes = run.call(py, |run| in_turn(&planes, size, run, work))?;
    array(py, planes.into_iter().flatten().collect())
}

fn sensed(
    (measurements, means): &BlocksAndMeans<'_>,
    phi: &Reals<'_>,
    (height, width): (usize, usize),
) -> PyResult<(Vec<BlockMeasurements>, Size)> {
    let (size, phi) = (Size { width, height }, matrix(phi)?);
    let [_, blocks, rows] = dimensions(measurements);
    let plane =
        |values: &[f64]| BlockMeasurements::new(size, phi.clone(), MatrixView::from_columns(values, rows, blocks)?);
    let planes = measurements.as_slice()?.chunks((blocks * rows).max(1)).map(plane).collect::<Result<Vec<_>>>();
    let mut planes = planes.map_err(to_python)?;
    if let Some(means) = means {
        let with_means = planes.iter().zip(means.as_slice()?.chunks(blocks.max(1)));
        let with_means = with_means.map(|(plane, means)| plane.with_means(means)).collect::<Result<_>>();
        planes = with_means.map_err(to_python)?;
    }
    Ok((planes, size))
}

/// Pictures of this height and width from what an operator has left of them, one a row.
#[pyfunction]
pub(crate) fn restore<'py>(
    py: Python<'py>,
    measurements: Reals<'py>,
    operator: PyRef<'py, Operator>,
    shape: (usize, usize),
    noise: f64,
    run: RunOptions,
) -> PyResult<RestoredPlanes<'py>> {
    let size = Size { width: shape.1, height: shape.0 };
    let made_of = operator.made_of();
    let work = |plane: &&[f64], run: Run<'_>| undo(made_of, (size, noise), plane, run);
    each_row(py, &measurements, size, run, work)
}

/// The same for any linear map, by functions of vectors for it and its adjoint.
#[pyfunction]
pub(crate) fn restore_linear<'py>(
    py: Python<'py>,
    measurements: Reals<'py>,
    ways: (Way, Way),
    shape: (usize, usize),
    noise: f64,
    run: RunOptions,
) -> PyResult<RestoredPlanes<'py>> {
    let size = Size { width: shape.1, height: shape.0 };
    let n_measurements = Rows::<f64>::new(&measurements)?.columns()?.rows();
    let phi = Functions::new(ways, (n_measurements, size.width * size.height));
    let work = |measurements: &&[f64], run: Run<'_>| {
        let seen = Observation { size, phi: &phi, measurements, noise };
        restoration::restore_from_nothing(&seen, run)
    };
    let restored = each_row(py, &measurements, size, run, work);
    // What a function raised is more than what came of it.
    phi.raised().map_or(restored, Err)
}

/// The picture behind what Φ has left of it.
fn undo(made_of: &MadeOf, (size, noise): (Size, f64), measurements: &[f64], run: Run<'_>) -> Result<Restored> {
    match made_of {
        MadeOf::Text(operator, block_side) => {
            Operated { operator, size, block_side: *block_side, noise }.restore(measurements, run)
        }
        MadeOf::Blocks(phi) => {
            let rows = phi.n_measurements();
            let values = MatrixView::from_columns(measurements, rows, measurements.len() / rows)?;
            restoration::recover(&BlockMeasurements::new(size, phi.clone(), values)?, noise, run)
        }
        MadeOf::Mask(mask) => {
            let mut pixels = vec![0.0; size.width * size.height];
            mask.adjoint(measurements, &mut pixels);
            restoration::inpaint(&GrayImage::new(size, pixels)?, mask, noise, run)
        }
        MadeOf::Blur(blur) if blur.measured_size() == size => {
            restoration::deblur(&GrayImage::new(size, measurements.to_vec())?, blur, noise, run)
        }
        MadeOf::Blur(blur) => {
            restoration::restore_from_nothing(&Observation { size, phi: blur, measurements, noise }, run)
        }
        MadeOf::Matrix(phi) => restoration::restore_from_nothing(&Observation { size, phi, measurements, noise }, run),
    }
}

fn each_row<'py>(
    py: Python<'py>,
    measurements: &Reals<'py>,
    size: Size,
    run: RunOptions,
    work: impl Fn(&&[f64], Run<'_>) -> Result<Restored> + Send,
) -> PyResult<RestoredPlanes<'py>> {
    let measurements = Rows::<f64>::new(measurements)?.columns()?.to_matrix();
    let planes: Vec<&[f64]> = (0..measurements.columns()).map(|plane| measurements.column(plane)).collect();
    arrays(py, run.call(py, |run| in_turn(&planes, size, run, work))?)
}

fn matrix(phi: &Reals<'_>) -> PyResult<Dense<f64>> {
    Dense::new(Rows::<f64>::new(phi)?.matrix()?).map_err(to_python)
}

fn dimensions(array: &PyReadonlyArray3<'_, f64>) -> [usize; 3] {
    let dimensions = array.shape();
    [dimensions[0], dimensions[1], dimensions[2]]
}

/// The planes, and their size.
pub(crate) fn images(planes: &PyReadonlyArray3<'_, f64>) -> PyResult<(Vec<GrayImage>, Size)> {
    let [_, height, width] = dimensions(planes);
    let size = Size { width, height };
    let image = |samples: &[f64]| GrayImage::new(size, samples.to_vec());
    let images = planes.as_slice()?.chunks((height * width).max(1)).map(image).collect::<Result<_>>();
    Ok((images.map_err(to_python)?, size))
}

/// Restores plane after plane; progress is told in pixels of the whole picture.
fn in_turn<P, R>(planes: &[P], size: Size, run: Run<'_>, work: impl Fn(&P, Run<'_>) -> Result<R>) -> Result<Vec<R>> {
    let pixels = size.width * size.height;
    let part = |plane: usize| run.part(plane * pixels..(plane + 1) * pixels, planes.len() * pixels);
    planes.iter().enumerate().map(|(number, plane)| work(plane, part(number))).collect()
}

fn arrays(py: Python<'_>, planes: Vec<Restored>) -> PyResult<RestoredPlanes<'_>> {
    let (images, deviations) = planes.into_iter().map(|Restored { image, deviation }| (image, deviation)).unzip();
    Ok((array(py, images)?, array(py, deviations)?))
}

pub(crate) fn array(py: Python<'_>, planes: Vec<GrayImage>) -> PyResult<Bound<'_, PyArray3<f64>>> {
    let size = planes.first().map_or(Size { width: 0, height: 0 }, GrayImage::size);
    let shape = [planes.len(), size.height, size.width];
    let samples: Vec<f64> = planes.into_iter().flat_map(GrayImage::into_samples).collect();
    samples.into_pyarray(py).reshape(shape)
}
