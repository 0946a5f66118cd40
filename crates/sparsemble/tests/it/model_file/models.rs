//! Small models with one of everything, the same bits on every machine.

use sparsemble::coding::{Lasso, OneSparse, Pursuit, SparseCoder};
use sparsemble::degradation::Dense;
use sparsemble::dictionary::Dictionary;
use sparsemble::ensemble::{Ensemble, Round, SparseModel, Training};
use sparsemble::model_file::{PhiRecord, Record, TrainingData};
use sparsemble::{Matrix, Scalar};

pub(super) fn coders<T: Scalar>() -> [Box<dyn SparseCoder<T> + Sync>; 3] {
    [Box::new(OneSparse::default()), Box::new(Lasso::lambda(0.1)), Box::new(Pursuit::omp(2))]
}

/// Halves and quarters, which both number types hold exactly.
fn matrix<T: Scalar>(rows: usize, columns: usize) -> Matrix<T> {
    Matrix::from_fn(rows, columns, |r, c| T::from_f64(((r * 7 + c * 5) % 11) as f64 / 4.0 - 1.125))
}

pub(super) fn dictionary<T: Scalar>() -> Dictionary<T> {
    Dictionary::new(matrix(3, 4)).unwrap().with_sources(vec![9, 8, 7, 1 << 33]).unwrap()
}

/// A plain member and a pair.
pub(super) fn ensemble<T: Scalar>() -> Ensemble<T> {
    let (coding, synthesis) = (matrix::<T>(3, 5), Matrix::from_fn(3, 5, |r, c| T::from_f64((r + c) as f64)));
    let paired =
        SparseModel::paired(coding.view(), synthesis.view()).unwrap().with_sources(vec![1, 2, 3, 4, 5]).unwrap();
    let models = vec![SparseModel::plain(&dictionary()).unwrap(), paired];
    Ensemble::new(models, vec![1.25, -0.25]).unwrap().with_training(training())
}

pub(super) fn training() -> Training {
    let round = |alpha: f64, unconverged: usize| Round {
        alpha,
        member_error: 3.0 * alpha,
        error: alpha / 3.0,
        validation_error: Some(0.1 + alpha),
        unconverged,
    };
    Training {
        method: "boost-ex".into(),
        learner: "examples:n_atoms=4".into(),
        coder: "lasso:lambda=0.2".into(),
        seed: u64::MAX,
        curve: vec![round(1.0, 0), round(0.5, 3)],
        objective: vec![2.0, 1.0 / 3.0],
    }
}

pub(super) fn data() -> TrainingData {
    TrainingData {
        description: "a \"quoted\"\nline, λ".into(),
        n_samples: 1000,
        n_features: 3,
        fingerprint: u64::MAX - 1,
    }
}

pub(super) fn record<T: Scalar>() -> Record<T> {
    let matrix = Some(Dense::new(matrix(2, 3).view()).unwrap());
    Record {
        parameters: [("lambda".into(), "0.2".into()), ("n_models".into(), "2".into())].into(),
        data: data(),
        phi: Some(PhiRecord { description: "projection:2".into(), matrix }),
    }
}
