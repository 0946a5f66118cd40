//! The linear maps of a member's atoms, and how finely they are kept.

use std::str::FromStr;

use crate::error::{Error, Result, expect_size};
use crate::matrix::Matrix;
use crate::scalar::Scalar;

use super::half::{from_half, to_half};

/// The largest entry of a map: far beyond any that was ever learned, and small enough that no sum overflows.
const LARGEST: f64 = 1e6;

/// How finely maps are kept. A model computes with what is kept, so a file holds it exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// As they were learned.
    Full,
    /// Sixteen bits (IEEE 754 binary16).
    Half,
    /// Eight bits, and one scale for each output of each atom.
    Byte,
}

impl FromStr for Precision {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let known = [Self::Full, Self::Half, Self::Byte];
        let found = known.into_iter().find(|precision| precision.name() == text);
        found.ok_or_else(|| Error::parameter("precision", text, "must be full, half or byte"))
    }
}

impl Precision {
    /// The name in a model file and in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Half => "half",
            Self::Byte => "byte",
        }
    }
}

/// K linear maps Q_k of r directions of the inputs to m directions of the outputs: see [`Frame`](super::Frame).
///
/// # Shapes
/// Each direction of the outputs is a column of r entries: first those of the first atom, then those of the second, and
/// so on.
#[derive(Debug, Clone, PartialEq)]
pub struct Maps<T> {
    n_inputs: usize,
    n_outputs: usize,
    kept: Kept<T>,
}

/// The entries as they are kept, column after column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kept<T> {
    Full(Vec<T>),
    Half(Vec<u16>),
    Byte { values: Vec<i8>, scales: Vec<T> },
}

impl<T> Kept<T> {
    fn len(&self) -> usize {
        match self {
            Self::Full(values) => values.len(),
            Self::Half(values) => values.len(),
            Self::Byte { values, .. } => values.len(),
        }
    }
}

impl<T: Scalar> Maps<T> {
    /// Takes the maps one after the other, each with `n_outputs` columns.
    ///
    /// # Errors
    /// If there is none, the columns are not a multiple of `n_outputs`, or a value is not finite or beyond a million.
    pub fn new(columns: Matrix<T>, n_outputs: usize) -> Result<Self> {
        let n_inputs = columns.rows();
        Self::from_parts((n_inputs, n_outputs), Kept::Full(columns.into_vec()))
    }

    /// As [`new`](Self::new), from what a file holds of maps with so many inputs and outputs.
    pub(crate) fn from_parts((n_inputs, n_outputs): (usize, usize), kept: Kept<T>) -> Result<Self> {
        let size = n_inputs.saturating_mul(n_outputs);
        if size == 0 || kept.len() == 0 {
            return Err(Error::Empty { what: "maps", unit: "atom" });
        }
        expect_size("maps: number of values (beyond a multiple of one map's)", 0, kept.len() % size)?;
        if let Kept::Byte { values, scales } = &kept {
            expect_size("scales: number of columns of the maps", values.len() / n_inputs, scales.len())?;
        }
        let maps = Self { n_inputs, n_outputs, kept };
        let mut column = vec![T::ZERO; n_inputs];
        for number in 0..maps.n_atoms() * n_outputs {
            maps.copy_column(number, &mut column);
            check_entries(&column)?;
        }
        Ok(maps)
    }

    /// K.
    pub fn n_atoms(&self) -> usize {
        self.kept.len() / (self.n_inputs * self.n_outputs)
    }

    /// r, the directions of the inputs that they look at.
    pub fn n_inputs(&self) -> usize {
        self.n_inputs
    }

    /// m, the directions of the outputs that they make.
    pub fn n_outputs(&self) -> usize {
        self.n_outputs
    }

    /// How finely the entries are kept.
    pub fn precision(&self) -> Precision {
        match self.kept {
            Kept::Full(_) => Precision::Full,
            Kept::Half(_) => Precision::Half,
            Kept::Byte { .. } => Precision::Byte,
        }
    }

    pub(crate) fn kept(&self) -> &Kept<T> {
        &self.kept
    }

    /// Writes one column: atom · m + direction of the outputs.
    ///
    /// # Panics
    /// If there is no such column, or `out` is not as long.
    pub fn copy_column(&self, column: usize, out: &mut [T]) {
        let range = column * self.n_inputs..(column + 1) * self.n_inputs;
        match &self.kept {
            Kept::Full(values) => out.copy_from_slice(&values[range]),
            Kept::Half(values) => {
                out.iter_mut().zip(&values[range]).for_each(|(out, &half)| *out = T::from_f64(from_half(half).into()));
            }
            Kept::Byte { values, scales } => {
                let scale = scales[column];
                let bytes = out.iter_mut().zip(&values[range]);
                bytes.for_each(|(out, &byte)| *out = scale * T::from_f64(byte.into()));
            }
        }
    }

    /// The same maps, kept as finely as this; what was lost before does not come back.
    #[must_use]
    pub fn with_precision(&self, precision: Precision) -> Self {
        let mut full = vec![T::ZERO; self.kept.len()];
        full.chunks_exact_mut(self.n_inputs).enumerate().for_each(|(c, out)| self.copy_column(c, out));
        let kept = match precision {
            Precision::Full => Kept::Full(full),
            Precision::Half => Kept::Half(full.iter().map(|value| to_half(value.to_f64() as f32)).collect()),
            Precision::Byte => in_bytes(&full, self.n_inputs),
        };
        Self { kept, ..*self }
    }
}

/// Refuses entries that are not finite, or so large that sums may overflow.
pub(super) fn check_entries<T: Scalar>(values: &[T]) -> Result<()> {
    match values.iter().find(|value| !(-LARGEST..=LARGEST).contains(&value.to_f64())) {
        None => Ok(()),
        Some(bad) => Err(Error::parameter("maps", bad, "every entry must be finite and at most a million")),
    }
}

/// Each column as whole numbers up to 127 and a scale.
fn in_bytes<T: Scalar>(values: &[T], rows: usize) -> Kept<T> {
    const STEPS: f64 = 127.0;
    let (mut bytes, mut scales) = (Vec::with_capacity(values.len()), Vec::with_capacity(values.len() / rows));
    for column in values.chunks_exact(rows) {
        let largest = column.iter().fold(0.0_f64, |largest, value| largest.max(value.abs().to_f64()));
        // The scale as it is kept, so that what is read again rounds to the same bytes.
        let scale = T::from_f64(largest / STEPS);
        let inverse = if scale > T::ZERO { 1.0 / scale.to_f64() } else { 0.0 };
        bytes.extend(column.iter().map(|value| (value.to_f64() * inverse).round().clamp(-STEPS, STEPS) as i8));
        scales.push(scale);
    }
    Kept::Byte { values: bytes, scales }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn maps() -> Maps<f32> {
        Maps::new(Matrix::from_fn(5, 3 * 4, |r, c| ((r * 7 + c * 3) as f32).sin() * 0.1 * c as f32), 3).unwrap()
    }

    fn column(maps: &Maps<f32>, number: usize) -> Vec<f32> {
        let mut column = vec![0.0; maps.n_inputs()];
        maps.copy_column(number, &mut column);
        column
    }

    #[test]
    fn kept_coarsely_a_map_is_near_and_kept_again_the_same() {
        let full = maps();
        assert_eq!((full.n_atoms(), full.n_inputs(), full.n_outputs()), (4, 5, 3));
        for (precision, share) in [(Precision::Full, 0.0), (Precision::Half, 1e-3), (Precision::Byte, 1.0 / 250.0)] {
            let kept = full.with_precision(precision);
            assert_eq!(kept.precision(), precision);
            assert_eq!(kept.with_precision(precision), kept);
            for number in 0..12 {
                for (a, b) in column(&full, number).iter().zip(column(&kept, number)) {
                    assert!((a - b).abs() <= share * 0.1 * number as f32 + 1e-7, "{precision:?}: {b} for {a}");
                }
            }
        }
    }

    #[test]
    fn maps_that_fit_nothing_or_are_not_finite_are_refused() {
        assert!(Maps::new(Matrix::from_fn(2, 4, |_, _| 1.0), 2).is_ok());
        assert!(Maps::new(Matrix::from_fn(2, 3, |_, _| 1.0), 2).is_err());
        assert!(Maps::new(Matrix::from_fn(2, 0, |_, _| 1.0), 2).is_err());
        assert!(Maps::new(Matrix::from_fn(2, 2, |_, _| f64::NAN), 2).is_err());
        assert!(Maps::new(Matrix::from_fn(2, 2, |_, _| 1e7), 2).is_err());
        let byte = |values, scales| Maps::from_parts((2, 2), Kept::Byte { values, scales });
        assert!(byte(vec![1; 4], vec![1.0; 2]).is_ok());
        assert!(byte(vec![1; 4], vec![1.0; 3]).is_err() && byte(vec![1; 4], vec![1.0, f64::INFINITY]).is_err());
    }
}
