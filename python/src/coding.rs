//! Sparse coding: `sparse_encode` and `lambda_max`.

use numpy::prelude::*;
use numpy::{Element, IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sparsemble::coding::{self, CodingBasis, CodingReport, Penalty, SampleStatus, Samples, SparseCodes};
use sparsemble::{Run, Scalar};

use crate::array::{Floats, Indices, Reals, Rows, Truths, is_single, rows_of, truths};
use crate::parameters::Parameters;
use crate::run::RunOptions;

/// `(X, mask, exclude, weights)`: the samples, a byte for each entry (0 is missing), the atom each must not use (-1 is none),
/// and a row of prices of the atoms for each.
#[derive(FromPyObject)]
pub(crate) struct SampleArrays<'py>(
    Floats<'py>,
    Option<Truths<'py>>,
    Option<PyReadonlyArray1<'py, i64>>,
    Option<Reals<'py>>,
);

/// `(data, indices, indptr)` of a SciPy CSR matrix.
pub(crate) type Csr<'py> = (Floats<'py>, Indices<'py>, Indices<'py>);

/// `(converged, iterations, worst_gap, status)`.
pub(crate) type Report<'py> = (bool, usize, Option<f64>, Bound<'py, PyArray1<u8>>);

/// Codes the rows of X in the rows of the dictionary.
#[pyfunction]
pub(crate) fn encode<'py>(
    py: Python<'py>,
    samples: SampleArrays<'py>,
    dictionary: Floats<'py>,
    parameters: Parameters,
    run: RunOptions,
) -> PyResult<(Csr<'py>, Report<'py>)> {
    if is_single(&samples.0) {
        encode_as::<f32>(py, &samples, &dictionary, &parameters, run)
    } else {
        encode_as::<f64>(py, &samples, &dictionary, &parameters, run)
    }
}

fn encode_as<'py, T: Scalar + Element>(
    py: Python<'py>,
    samples: &SampleArrays<'py>,
    dictionary: &Floats<'py>,
    parameters: &Parameters,
    run: RunOptions,
) -> PyResult<(Csr<'py>, Report<'py>)> {
    let coder = parameters.coder::<T>()?;
    let call = |basis: &CodingBasis<T>, samples: &Samples<'_, T>, run: Run<'_>| coder.encode(basis, samples, run);
    let coding = with_samples(py, samples, dictionary, run, call)?;
    Ok((csr(py, &coding.codes), report(py, &coding.report)))
}

/// The smallest λ that gives each row of X the zero code.
#[pyfunction]
pub(crate) fn lambda_max<'py>(
    py: Python<'py>,
    samples: SampleArrays<'py>,
    dictionary: Floats<'py>,
    run: RunOptions,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let largest = if is_single(&samples.0) {
        with_samples(py, &samples, &dictionary, run, coding::lambda_max::<f32>)
    } else {
        with_samples(py, &samples, &dictionary, run, coding::lambda_max::<f64>)
    };
    Ok(largest?.into_pyarray(py))
}

/// The corners of the lasso of the one row of X: `(lambdas, codes)`, one code a row.
///
/// They go down to where the end, a name and its value, holds, and are at most so many.
#[pyfunction]
pub(crate) fn lasso_path<'py>(
    py: Python<'py>,
    sample: Reals<'py>,
    dictionary: Reals<'py>,
    end: (String, f64, usize),
    positive: bool,
    run: RunOptions,
) -> PyResult<(Bound<'py, PyArray1<f64>>, Reals<'py>)> {
    let (name, value, most) = end;
    let end = match name.as_str() {
        "max_error" => Penalty::Error(value),
        "max_l1_norm" => Penalty::L1Norm(value),
        _ => Penalty::Lambda(value),
    };
    let (sample, atoms) = (Rows::<f64>::new(&sample)?, Rows::<f64>::new(&dictionary)?);
    let (sample, atoms) = (sample.columns()?.to_matrix(), atoms.columns()?);
    let path = run.call(py, |run| coding::lasso_path(atoms, sample.as_slice(), (end, positive), most, run))?;
    Ok((path.lambdas.into_pyarray(py), rows_of(py, path.codes)?))
}

/// Borrows the arrays and calls `work` with them while other Python threads run.
fn with_samples<T: Scalar + Element, R: Send>(
    py: Python<'_>,
    SampleArrays(x, mask, exclude, weights): &SampleArrays<'_>,
    dictionary: &Floats<'_>,
    run: RunOptions,
    work: impl FnOnce(&CodingBasis<T>, &Samples<'_, T>, Run<'_>) -> sparsemble::Result<R> + Send,
) -> PyResult<R> {
    let (x, dictionary) = (Rows::<T>::new(x)?, Rows::<T>::new(dictionary)?);
    let (x, atoms) = (x.columns()?, dictionary.columns()?);
    let observed = mask.as_ref().map(truths).transpose()?;
    let excluded = exclude.as_ref().map(excluded_atoms).transpose()?;
    let weights = weights.as_ref().map(Rows::<f64>::new).transpose()?;
    let weights = weights.as_ref().map(Rows::columns).transpose()?;
    run.call(py, |run| {
        let basis = CodingBasis::new(atoms)?;
        let mut samples = Samples::new(x);
        if let Some(observed) = &observed {
            samples = samples.observed(observed.view());
        }
        if let Some(excluded) = &excluded {
            samples = samples.excluding(excluded);
        }
        if let Some(weights) = weights {
            samples = samples.weighing(weights);
        }
        work(&basis, &samples, run)
    })
}

fn excluded_atoms(exclude: &PyReadonlyArray1<'_, i64>) -> PyResult<Vec<Option<usize>>> {
    let atom = |&atom: &i64| match usize::try_from(atom) {
        Ok(atom) => Ok(Some(atom)),
        Err(_) if atom == -1 => Ok(None),
        Err(_) => Err(PyValueError::new_err(format!("exclude={atom}: must be an atom, or -1 for none"))),
    };
    exclude.as_array().iter().map(atom).collect()
}

/// The codes as SciPy stores them: 32-bit indices where they suffice.
pub(crate) fn csr<'py, T: Scalar + Element>(py: Python<'py>, codes: &SparseCodes<T>) -> Csr<'py> {
    csr_of(py, codes.starts(), codes.atoms(), codes.coefficients())
}

/// Compressed sparse rows as SciPy stores them.
pub(crate) fn csr_of<'py, T: Element>(py: Python<'py>, starts: &[usize], columns: &[u32], values: &[T]) -> Csr<'py> {
    let data = PyArray1::from_slice(py, values).as_untyped().clone();
    let (starts, columns) = (starts.iter(), columns.iter());
    if i32::try_from(values.len()).is_ok() {
        let indices = PyArray1::from_iter(py, columns.map(|&column| column as i32));
        let starts = PyArray1::from_iter(py, starts.map(|&start| start as i32));
        (data, indices.as_untyped().clone(), starts.as_untyped().clone())
    } else {
        let indices = PyArray1::from_iter(py, columns.map(|&column| i64::from(column)));
        let starts = PyArray1::from_iter(py, starts.map(|&start| start as i64));
        (data, indices.as_untyped().clone(), starts.as_untyped().clone())
    }
}

pub(crate) fn report<'py>(py: Python<'py>, report: &CodingReport) -> Report<'py> {
    // The numbers are those of `sparsemble.SampleStatus`.
    let number = |status: &SampleStatus| match status {
        SampleStatus::Converged => 0,
        SampleStatus::IterationLimit => 1,
        SampleStatus::PrecisionLimit => 2,
        SampleStatus::Unreachable => 3,
        _ => u8::MAX,
    };
    let status = PyArray1::from_iter(py, report.status.iter().map(number));
    (report.converged, report.iterations, report.worst_gap, status)
}
