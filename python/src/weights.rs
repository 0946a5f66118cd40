//! The weights of an ensemble under the four constraints, for each sample or shared by all.

use numpy::prelude::*;
use numpy::{Element, IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use sparsemble::ensemble::{self, Certificate, WeightConstraint};
use sparsemble::{Run, Scalar};

use crate::array::{Floats, Reals, Rows, is_single, rows_of};
use crate::coding::{Csr, csr};
use crate::error::to_python;
use crate::held::Held;
use crate::model::{Model, Numbers, each};
use crate::run::RunOptions;

/// `(X, y, sample_weight)`: the samples, what they should be, and how much each counts.
#[derive(FromPyObject)]
pub(crate) struct WeighedArrays<'py>(Floats<'py>, Floats<'py>, Option<PyReadonlyArray1<'py, f64>>);

/// `(holds, [residual, best_member, optimality, rounding])` of each sample, or of all.
type Certificates<'py> = (bool, [Bound<'py, PyArray1<f64>>; 4]);

/// The best weights of each sample, one row a sample, or those that are the same for all.
#[pyfunction]
pub(crate) fn ensemble_weights<'py>(
    py: Python<'py>,
    model: &Model,
    arrays: WeighedArrays<'py>,
    kind: (String, bool),
    run: RunOptions,
) -> PyResult<(Reals<'py>, Certificates<'py>)> {
    let kind = (kind.0.parse().map_err(to_python)?, kind.1);
    each!(model, held => weights(py, held, &arrays, kind, run))
}

fn weights<'py, T: Scalar + Element>(
    py: Python<'py>,
    held: &Held<T>,
    WeighedArrays(x, targets, masses): &WeighedArrays<'py>,
    (constraint, per_sample): (WeightConstraint, bool),
    run: RunOptions,
) -> PyResult<(Reals<'py>, Certificates<'py>)> {
    let (x, targets) = (Rows::<T>::new(x)?, Rows::<T>::new(targets)?);
    let (x, targets) = (x.columns()?, targets.columns()?);
    let masses = masses.as_ref().map(PyReadonlyArray1::as_slice).transpose()?;
    let (ensemble, coder) = (held.ensemble().map_err(to_python)?, held.coder().map_err(to_python)?);
    if per_sample {
        let work = |run: Run<'_>| ensemble.oracle_weights(x, targets, &[constraint], &coder, run);
        let weights = run.call(py, work)?.swap_remove(0);
        return Ok((rows_of(py, weights.beta)?, certificates(py, &weights.certificates)));
    }
    let gram = run.call(py, |run| ensemble.member_gram(x, targets, masses, &coder, run))?;
    let weights = gram.weights(constraint);
    Ok((weights.beta.into_pyarray(py).as_untyped().clone(), certificates(py, &[weights.certificate])))
}

/// The best weights, of sum one and not negative, of the rows of `points` for each row of X: a CSR matrix.
#[pyfunction]
pub(crate) fn simplex_weights<'py>(
    py: Python<'py>,
    samples: Floats<'py>,
    points: Floats<'py>,
    run: RunOptions,
) -> PyResult<Csr<'py>> {
    fn of<'py, T: Scalar + Element>(
        py: Python<'py>,
        (samples, points): (&Floats<'py>, &Floats<'py>),
        run: RunOptions,
    ) -> PyResult<Csr<'py>> {
        let (samples, points) = (Rows::<T>::new(samples)?, Rows::<T>::new(points)?);
        let (samples, points) = (samples.columns()?, points.columns()?);
        Ok(csr(py, &run.call(py, |run| ensemble::simplex_weights(samples, points, run))?))
    }
    let arrays = (&samples, &points);
    if is_single(&samples) { of::<f32>(py, arrays, run) } else { of::<f64>(py, arrays, run) }
}

fn certificates<'py>(py: Python<'py>, all: &[Certificate]) -> Certificates<'py> {
    let column = |value: fn(&Certificate) -> f64| PyArray1::from_iter(py, all.iter().map(value));
    let columns = [
        column(|one| one.residual),
        column(|one| one.best_member),
        column(|one| one.optimality),
        column(|one| one.rounding),
    ];
    (all.iter().all(Certificate::holds), columns)
}
