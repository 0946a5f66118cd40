//! Degradations: Φ as it is given to a training, and as an object of its own.

use numpy::{Element, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use sparsemble::degradation::{
    self, Blur, ContinuedBlocks, Degradation, Dense, Mask, adjoint_of_columns, apply_to_columns,
};
use sparsemble::image::Size;
use sparsemble::model_file::PhiRecord;
use sparsemble::{Matrix, MatrixView, Result, Scalar};

use crate::array::{Floats, Reals, Rows, rows_of};
use crate::error::to_python;

/// Φ of samples: a text, or a matrix of the dtype of the samples with a measurement a row.
#[derive(FromPyObject)]
pub(crate) enum Phi<'py> {
    Text(String),
    Matrix(Floats<'py>),
}

impl Phi<'_> {
    /// The matrix for samples of this many features.
    pub(crate) fn matrix<T: Scalar + Element>(&self, n_features: usize) -> PyResult<Dense<T>> {
        match self {
            Self::Text(text) => operator(text)?.matrix(n_features),
            Self::Matrix(array) => Dense::new(Rows::<T>::new(array)?.matrix()?),
        }
        .map_err(to_python)
    }

    /// The matrix, and what is told of it.
    pub(crate) fn record<T: Scalar + Element>(&self, n_features: usize) -> PyResult<PhiRecord<T>> {
        let description = match self {
            Self::Text(text) => operator(text)?.to_string(),
            Self::Matrix(_) => "a matrix".into(),
        };
        Ok(PhiRecord { description, matrix: Some(self.matrix(n_features)?) })
    }
}

/// Φ as it was given.
///
/// Python: `NDArray[np.float32] | NDArray[np.float64] | str`
pub(crate) type GivenPhi<'py> = Bound<'py, PyAny>;

/// Φ of a file as it was given: its text, unless that is no operator's or makes another matrix than the file holds.
pub(crate) fn given<'py, T: Scalar + Element>(py: Python<'py>, phi: &PhiRecord<T>) -> PyResult<GivenPhi<'py>> {
    let makes = |matrix: &Dense<T>| {
        let operator: Result<degradation::Operator> = phi.description.parse();
        operator.and_then(|operator| operator.matrix(matrix.n_features())).is_ok_and(|made| made == *matrix)
    };
    match &phi.matrix {
        Some(matrix) if !makes(matrix) => Ok(rows_of(py, matrix.matrix().transposed().to_matrix())?.into_any()),
        _ => Ok(PyString::new(py, &phi.description).into_any()),
    }
}

fn operator(text: &str) -> PyResult<degradation::Operator> {
    text.parse().map_err(to_python)
}

/// Φ built for samples or pictures.
#[pyclass(frozen, module = "sparsemble._native")]
pub(crate) struct Operator {
    made_of: MadeOf,
    numbers: Numbers,
    /// The height and width of what is measured, if it is a picture.
    measured: Option<(usize, usize)>,
}

/// What Φ was made of, as the restoration of pictures wants to know.
pub(crate) enum MadeOf {
    /// A text, and the side of the blocks of pictures.
    Text(degradation::Operator, usize),
    /// The matrix of samples or whole pictures.
    Matrix(Dense<f64>),
    /// The matrix of each block of pictures.
    Blocks(Dense<f64>),
    Mask(Mask),
    Blur(Blur),
}

enum Numbers {
    Single(Box<dyn Degradation<f32>>),
    Double(Box<dyn Degradation<f64>>),
}

/// The same expression for Φ in either number type.
macro_rules! each {
    ($operator:expr, $phi:ident => $result:expr) => {
        match &$operator.numbers {
            Numbers::Single($phi) => $result,
            Numbers::Double($phi) => $result,
        }
    };
}

#[pymethods]
impl Operator {
    /// Φ for samples, `shape` being `[n_features]`, or for pictures, `shape` being `[height, width]`.
    #[new]
    fn new(text: &str, shape: Vec<usize>, block_side: usize, is_single: bool) -> PyResult<Self> {
        let operator = operator(text)?;
        let numbers = if is_single {
            Numbers::Single(built(&operator, &shape, block_side)?)
        } else {
            Numbers::Double(built(&operator, &shape, block_side)?)
        };
        let measured = size(&shape).and_then(|size| operator.measured_size(size));
        Ok(Self { made_of: MadeOf::Text(operator, block_side), numbers, measured: measured.map(sides) })
    }

    /// Φ as a matrix, a measurement a row: of samples, of pictures, or of each block of pictures.
    #[staticmethod]
    fn of_matrix(matrix: Reals<'_>, shape: Vec<usize>, is_single: bool) -> PyResult<Self> {
        let phi = Dense::new(Rows::<f64>::new(&matrix)?.matrix()?).map_err(to_python)?;
        let by_block = size(&shape).filter(|size| size.width * size.height != phi.n_features());
        let numbers = match by_block {
            Some(size) if is_single => Numbers::Single(Box::new(in_blocks(size, &single(&phi)?)?)),
            Some(size) => Numbers::Double(Box::new(in_blocks(size, &phi)?)),
            None if is_single => Numbers::Single(Box::new(single(&phi)?)),
            None => Numbers::Double(Box::new(phi.clone())),
        };
        let made_of = if by_block.is_some() { MadeOf::Blocks(phi) } else { MadeOf::Matrix(phi) };
        Ok(Self { made_of, numbers, measured: None })
    }

    /// Φ that keeps the features whose byte is not 0.
    #[staticmethod]
    fn of_mask(seen: PyReadonlyArray1<'_, u8>, is_single: bool) -> PyResult<Self> {
        let seen: Vec<bool> = seen.as_array().iter().map(|&byte| byte != 0).collect();
        let mask = Mask::new(&seen).map_err(to_python)?;
        let numbers = either(mask.clone(), is_single);
        Ok(Self { made_of: MadeOf::Mask(mask), numbers, measured: None })
    }

    /// Φ that blurs pictures of this height and width, of which every so many pixels one is kept.
    #[staticmethod]
    fn of_kernel(kernel: Reals<'_>, shape: (usize, usize), decimate: usize, is_single: bool) -> PyResult<Self> {
        let (height, width) = shape;
        let blur = Blur::new(Size { width, height }, Rows::<f64>::new(&kernel)?.matrix()?);
        let blur = blur.and_then(|blur| blur.decimated(decimate)).map_err(to_python)?;
        let (numbers, measured) = (either(blur.clone(), is_single), Some(sides(blur.measured_size())));
        Ok(Self { made_of: MadeOf::Blur(blur), numbers, measured })
    }

    /// Φ of each row.
    fn apply<'py>(&self, py: Python<'py>, rows: Floats<'py>) -> PyResult<Floats<'py>> {
        each!(self, phi => map_rows(py, &rows, |rows| apply_to_columns(phi.as_ref(), rows)))
    }

    /// Φᵀ of each row.
    fn adjoint<'py>(&self, py: Python<'py>, rows: Floats<'py>) -> PyResult<Floats<'py>> {
        each!(self, phi => map_rows(py, &rows, |rows| adjoint_of_columns(phi.as_ref(), rows)))
    }

    /// The text it was built from, without what is a default.
    #[getter]
    fn text(&self) -> Option<String> {
        match &self.made_of {
            MadeOf::Text(operator, _) => Some(operator.to_string()),
            MadeOf::Matrix(_) | MadeOf::Blocks(_) | MadeOf::Mask(_) | MadeOf::Blur(_) => None,
        }
    }

    /// The numbers of measurements and features.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        each!(self, phi => (phi.n_measurements(), phi.n_features()))
    }

    /// Height and width of what is measured, if it is a picture.
    #[getter]
    fn measured(&self) -> Option<(usize, usize)> {
        self.measured
    }
}

impl Operator {
    pub(crate) fn made_of(&self) -> &MadeOf {
        &self.made_of
    }
}

/// The size of pictures, if it is one.
fn size(shape: &[usize]) -> Option<Size> {
    if let &[height, width] = shape { Some(Size { width, height }) } else { None }
}

fn sides(size: Size) -> (usize, usize) {
    (size.height, size.width)
}

/// Φ of any number type in that which is asked for.
fn either<D: Degradation<f32> + Degradation<f64> + 'static>(phi: D, is_single: bool) -> Numbers {
    if is_single { Numbers::Single(Box::new(phi)) } else { Numbers::Double(Box::new(phi)) }
}

fn single(phi: &Dense<f64>) -> PyResult<Dense<f32>> {
    Dense::new(phi.matrix().converted().view()).map_err(to_python)
}

fn in_blocks<T: Scalar>(size: Size, phi: &Dense<T>) -> PyResult<ContinuedBlocks<T>> {
    ContinuedBlocks::new(size, phi.n_features().isqrt(), phi).map_err(to_python)
}

fn built<T: Scalar>(
    operator: &degradation::Operator,
    shape: &[usize],
    block_side: usize,
) -> PyResult<Box<dyn Degradation<T>>> {
    match *shape {
        [n_features] => operator.of_samples(n_features).map_err(to_python),
        [height, width] => operator.of_image(Size { width, height }, block_side).map_err(to_python),
        _ => Err(PyValueError::new_err("shape: must be a number of features or (height, width)")),
    }
}

fn map_rows<'py, T: Scalar + Element>(
    py: Python<'py>,
    rows: &Floats<'py>,
    map: impl Fn(MatrixView<'_, T>) -> Result<Matrix<T>> + Sync,
) -> PyResult<Floats<'py>> {
    let rows = Rows::<T>::new(rows)?;
    let columns = rows.columns()?;
    rows_of(py, py.detach(|| map(columns)).map_err(to_python)?)
}
