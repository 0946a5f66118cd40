//! A survey of the pairs: what all members share, from sums over evenly spaced ones.

use crate::blocks::Run;
use crate::eigen::Eigen;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::scalar::Scalar;

use super::frame::Frame;
use super::pairs::{Pairs, Reader};
use super::ridge::{CHUNK, Sums};

/// Pairs that are surveyed, at most.
const SURVEYED: usize = 1 << 17;

/// Pairs that are surveyed at a time.
const BLOCK: usize = 64 * CHUNK;

/// The ridge of the common map, as a share of the mean square of an input's entries.
const RIDGE: f64 = 1e-5;

/// Directions with less than this share of the variance of the first hold rounding, and are left out.
const TELLING: f64 = 1e-8;

/// How many pairs are surveyed.
pub(super) fn surveyed_count<T>(pairs: &dyn Pairs<T>) -> usize {
    pairs.count().min(SURVEYED)
}

/// The i-th of the surveyed pairs.
pub(super) fn surveyed<T>(pairs: &dyn Pairs<T>, i: usize) -> usize {
    (i as u128 * pairs.count() as u128 / surveyed_count(pairs) as u128) as usize
}

/// The frame that leaves no direction out; `view` times an input is what the choice of an atom may look at.
pub(super) fn frame<T: Scalar>(
    pairs: &dyn Pairs<T>,
    view: &Matrix<f64>,
    n_features: usize,
    run: Run<'_>,
) -> Result<Frame<T>> {
    let sums = sums(pairs, run)?;
    let common = sums.map(RIDGE * sums.mean_square() * sums.mass());
    let inputs = Matrix::from_fn(pairs.n_inputs(), pairs.n_inputs(), |r, c| sums.input_moment(r, c));
    let directions = scaled_directions(&inputs, pairs.n_inputs(), -0.5)?;
    // The leading directions of what is in view, half whitened; then what they are of the whole input.
    let across = view.view().transposed().to_matrix();
    let seen = view.times(&inputs).times(&across);
    let features = across.times(&scaled_directions(&seen, n_features, -0.25)?);
    let n_outputs = pairs.n_outputs();
    let outputs = Matrix::from_fn(n_outputs, n_outputs, |r, c| f64::from(u8::from(r == c)));
    let narrow = |matrix: &Matrix<f64>| {
        Matrix::from_fn(matrix.rows(), matrix.columns(), |r, c| T::from_f64(matrix.column(c)[r]))
    };
    Frame::new(narrow(&common), narrow(&features), narrow(&directions), narrow(&outputs))
}

/// The sums of all products over the surveyed pairs.
fn sums<T: Scalar>(pairs: &dyn Pairs<T>, run: Run<'_>) -> Result<Sums> {
    if u32::try_from(pairs.count()).is_err() {
        return Err(Error::parameter("pairs", pairs.count(), "must be below 2³²; take fewer"));
    }
    let new = || Sums::new(pairs.n_inputs(), pairs.n_outputs());
    let blocks = run.map_blocks(
        surveyed_count(pairs),
        BLOCK,
        || Reader::new(pairs),
        |reader, range| {
            let mut sums = new();
            for i in range {
                let sample = surveyed(pairs, i);
                let (input, target) = reader.read(pairs, sample);
                sums.add(pairs.mass(sample), input.iter().chain(target).map(|value| value.to_f64()));
            }
            sums.finish();
            Ok(sums)
        },
    )?;
    let mut all = new();
    for block in &blocks {
        all.merge(block);
    }
    if all.mass() > 0.0 { Ok(all) } else { Err(Error::Empty { what: "pairs", unit: "pair" }) }
}

/// The leading eigenvectors, each times a power of its eigenvalue.
fn scaled_directions(covariance: &Matrix<f64>, most: usize, power: f64) -> Result<Matrix<f64>> {
    let eigen = Eigen::new(covariance);
    let least = TELLING * eigen.values.first().copied().unwrap_or(0.0);
    let telling = eigen.values.iter().take(most).take_while(|value| **value > least).count();
    if telling == 0 {
        return Err(Error::Empty { what: "inputs (all are zero)", unit: "direction" });
    }
    let scaled = |r: usize, c: usize| eigen.values[c].powf(power) * eigen.vectors.column(c)[r];
    Ok(Matrix::from_fn(covariance.rows(), telling, scaled))
}
