//! Super-resolution: pictures made larger, and what does it learned.

use numpy::PyReadonlyArray3;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sparsemble::ensemble::Upscaler;
use sparsemble::image::{BitDepth, GrayImage, Interpolation, Picture, Size};
use sparsemble::model_file::{Record, TrainingData};
use sparsemble::restoration::super_resolution::{
    Enlarge, EnlargedRows, Enlargement, Interpolated, UpscalerLearner, natural_upscaler,
};
use sparsemble::{Result, Run};

use crate::error::to_python;
use crate::held::Held;
use crate::model::{Model, Numbers};
use crate::restoration::{RestoredPlanes, array, images};
use crate::run::RunOptions;

/// A model, or the name of an interpolation.
#[derive(FromPyObject)]
pub(crate) enum Method<'py> {
    Learned(PyRef<'py, Model>),
    Interpolation(String),
}

/// The upscaler of this scale that is part of the library.
#[pyfunction]
pub(crate) fn natural(scale: usize) -> PyResult<Model> {
    let upscaler = natural_upscaler(scale).map_err(to_python)?;
    Ok(held(upscaler, Record::default()))
}

/// Enlarges the planes of a picture to a height and width: grey or red, green and blue, and alpha. Returns the planes, and
/// how far from the truth the brightness of each pixel may be.
#[pyfunction]
pub(crate) fn enlarge<'py>(
    py: Python<'py>,
    planes: PyReadonlyArray3<'py, f64>,
    method: Method<'py>,
    shape: (usize, usize),
    run: RunOptions,
) -> PyResult<RestoredPlanes<'py>> {
    let (planes, from) = images(&planes)?;
    let to = Size { width: shape.1, height: shape.0 };
    let made = match &method {
        Method::Learned(model) => {
            let upscaler = upscaler(model)?;
            run.call(py, |run| enlarged(&planes, upscaler, (from, to), run))?
        }
        Method::Interpolation(name) => {
            let kind = if name == "lanczos" { Interpolation::Lanczos3 } else { Interpolation::Bicubic };
            let scale = to.width.div_ceil(from.width.max(1)).max(to.height.div_ceil(from.height.max(1)));
            let interpolated = Interpolated::new(scale.max(1), kind).map_err(to_python)?;
            run.call(py, |run| enlarged(&planes, &interpolated, (from, to), run))?
        }
    };
    Ok((array(py, made.planes)?, array(py, vec![made.deviation])?))
}

/// Learns an upscaler from the brightness of pictures: `(scale, atoms, members, seed)`, with 0 for what is to be as always.
#[pyfunction]
pub(crate) fn train_upscaler(
    py: Python<'_>,
    pictures: Vec<PyReadonlyArray3<'_, f64>>,
    settings: (usize, usize, usize, u64),
    run: RunOptions,
) -> PyResult<Model> {
    let picture = |planes: &PyReadonlyArray3<'_, f64>| {
        let (mut planes, _) = images(planes)?;
        // Alpha has no part in what is learned.
        planes.truncate(3);
        Picture { planes, depth: BitDepth::Eight }.brightness().map_err(to_python)
    };
    let pictures = pictures.iter().map(picture).collect::<PyResult<Vec<_>>>()?;
    let (scale, n_atoms, n_models, seed) = settings;
    let mut learner = UpscalerLearner { seed, ..UpscalerLearner::new(scale) };
    for stage in &mut learner.stages {
        stage.n_atoms = if n_atoms == 0 { stage.n_atoms } else { n_atoms };
        stage.n_models = if n_models == 0 { stage.n_models } else { n_models };
    }
    let upscaler = run.call(py, |run| learner.fit::<f32>(&pictures, run))?;
    let data = TrainingData { description: format!("{} pictures", pictures.len()), ..TrainingData::default() };
    Ok(held(upscaler, Record { parameters: learner.parameters(), data, phi: None }))
}

fn held(upscaler: Upscaler<f32>, record: Record<f32>) -> Model {
    Held { model: sparsemble::Model::Upscaler(upscaler), record, complete: true }.into()
}

fn upscaler<'a>(model: &'a PyRef<'_, Model>) -> PyResult<&'a (dyn Enlarge + Sync)> {
    match &model.0 {
        Numbers::Single(Held { model: sparsemble::Model::Upscaler(upscaler), .. }) => Ok(upscaler),
        Numbers::Double(Held { model: sparsemble::Model::Upscaler(upscaler), .. }) => Ok(upscaler),
        _ => Err(PyValueError::new_err("the model holds no upscaler")),
    }
}

/// All rows, as many at a time as is best.
fn enlarged(
    planes: &[GrayImage],
    method: &dyn Enlarge,
    (from, to): (Size, Size),
    run: Run<'_>,
) -> Result<EnlargedRows> {
    let enlargement = Enlargement::new(method, from, to)?;
    let source = |rows: std::ops::Range<usize>| {
        let size = Size { width: from.width, height: rows.len() };
        planes.iter().map(|plane| plane.cropped((rows.start, 0), size)).collect()
    };
    let mut made = vec![Vec::new(); planes.len()];
    let mut deviations = Vec::new();
    for start in (0..to.height).step_by(enlargement.step()) {
        let rows = start..(start + enlargement.step()).min(to.height);
        let pixels = rows.start * to.width..rows.end * to.width;
        let strip = enlargement.rows(rows, &source, run.part(pixels, to.width * to.height))?;
        made.iter_mut().zip(strip.planes).for_each(|(plane, rows)| plane.extend(rows.into_samples()));
        deviations.extend(strip.deviation.into_samples());
    }
    let planes = made.into_iter().map(|samples| GrayImage::new(to, samples)).collect::<Result<_>>()?;
    Ok(EnlargedRows { planes, deviation: GrayImage::new(to, deviations)? })
}
