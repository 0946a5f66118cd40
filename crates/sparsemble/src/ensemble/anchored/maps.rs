//! The linear maps of a member's atoms: what they have in common, and how each differs from it.

use crate::error::{Error, Result, expect_size};
use crate::matrix::Matrix;
use crate::scalar::Scalar;

use super::half::{from_half, to_half};

/// The largest entry of a map: far beyond any that was ever learned, and small enough that no sum overflows.
const LARGEST: f64 = 1e6;

/// How finely the differences of maps are kept. A model computes with what is kept, so a file holds it exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// As they were learned.
    Full,
    /// Sixteen bits (IEEE 754 binary16).
    Half,
    /// Eight bits, and one scale for each output of each atom.
    Byte,
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

/// K linear maps of inputs to outputs, W_k = W + ΔW_k.
///
/// # Shapes
/// Each output of a map is a column of as many entries as there are inputs: W has one for each output, and the
/// differences have those of the first atom, then those of the second, and so on.
#[derive(Debug, Clone, PartialEq)]
pub struct Maps<T> {
    common: Matrix<T>,
    differences: Differences<T>,
}

/// The differences as they are kept, column after column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Differences<T> {
    Full(Vec<T>),
    Half(Vec<u16>),
    Byte { values: Vec<i8>, scales: Vec<T> },
}

impl<T: Scalar> Maps<T> {
    /// The maps with these differences from a common one; `differences` has its columns once for each atom.
    ///
    /// # Errors
    /// If there is no atom, sizes do not fit, or a value is not finite or beyond a million.
    pub fn new(common: Matrix<T>, differences: Matrix<T>) -> Result<Self> {
        expect_size("differences: number of rows (that of the common map)", common.rows(), differences.rows())?;
        Self::from_parts(common, Differences::Full(differences.into_vec()))
    }

    /// As [`new`](Self::new), from what a file holds.
    pub(crate) fn from_parts(common: Matrix<T>, differences: Differences<T>) -> Result<Self> {
        let size = common.as_slice().len();
        let length = match &differences {
            Differences::Full(values) => values.len(),
            Differences::Half(values) => values.len(),
            Differences::Byte { values, .. } => values.len(),
        };
        if size == 0 || length == 0 {
            return Err(Error::Empty { what: "maps", unit: "atom" });
        }
        expect_size("differences: number of values (a multiple of those of the common map)", 0, length % size)?;
        if let Differences::Byte { scales, .. } = &differences {
            expect_size("scales: number of columns of the differences", length / common.rows(), scales.len())?;
        }
        let maps = Self { common, differences };
        let mut column = vec![T::ZERO; maps.n_inputs()];
        for atom in 0..maps.n_atoms() {
            for output in 0..maps.n_outputs() {
                maps.copy_column(atom, output, &mut column);
                // Also refuses NaN.
                if let Some(bad) =
                    column.iter().find(|value| value.abs().to_f64().is_nan() || value.abs().to_f64() > LARGEST)
                {
                    return Err(Error::parameter("maps", bad, "every entry must be finite and at most a million"));
                }
            }
        }
        Ok(maps)
    }

    /// K.
    pub fn n_atoms(&self) -> usize {
        let values = match &self.differences {
            Differences::Full(values) => values.len(),
            Differences::Half(values) => values.len(),
            Differences::Byte { values, .. } => values.len(),
        };
        values / self.common.as_slice().len()
    }

    /// The length of an input.
    pub fn n_inputs(&self) -> usize {
        self.common.rows()
    }

    /// The length of an output.
    pub fn n_outputs(&self) -> usize {
        self.common.columns()
    }

    /// W, a column for each output.
    pub fn common(&self) -> &Matrix<T> {
        &self.common
    }

    /// How finely the differences are kept.
    pub fn precision(&self) -> Precision {
        match self.differences {
            Differences::Full(_) => Precision::Full,
            Differences::Half(_) => Precision::Half,
            Differences::Byte { .. } => Precision::Byte,
        }
    }

    #[cfg(feature = "io")]
    pub(crate) fn differences(&self) -> &Differences<T> {
        &self.differences
    }

    /// Writes the entries of one output of one atom's map.
    ///
    /// # Panics
    /// If there is no such atom or output, or `out` is not as long as an input.
    pub fn copy_column(&self, atom: usize, output: usize, out: &mut [T]) {
        self.copy_difference(atom * self.n_outputs() + output, out);
        out.iter_mut().zip(self.common.column(output)).for_each(|(out, common)| *out += *common);
    }

    fn copy_difference(&self, column: usize, out: &mut [T]) {
        let range = column * self.n_inputs()..(column + 1) * self.n_inputs();
        match &self.differences {
            Differences::Full(values) => out.copy_from_slice(&values[range]),
            Differences::Half(values) => {
                out.iter_mut().zip(&values[range]).for_each(|(out, &half)| *out = T::from_f64(from_half(half).into()));
            }
            Differences::Byte { values, scales } => {
                let scale = scales[column];
                let bytes = out.iter_mut().zip(&values[range]);
                bytes.for_each(|(out, &byte)| *out = scale * T::from_f64(byte.into()));
            }
        }
    }

    /// The same maps, their differences kept as finely as this; what was lost before does not come back.
    #[must_use]
    pub fn with_precision(&self, precision: Precision) -> Self {
        let columns = self.n_atoms() * self.n_outputs();
        let mut full = vec![T::ZERO; columns * self.n_inputs()];
        full.chunks_exact_mut(self.n_inputs()).enumerate().for_each(|(c, out)| self.copy_difference(c, out));
        let differences = match precision {
            Precision::Full => Differences::Full(full),
            Precision::Half => Differences::Half(full.iter().map(|value| to_half(value.to_f64() as f32)).collect()),
            Precision::Byte => in_bytes(&full, self.n_inputs()),
        };
        Self { common: self.common.clone(), differences }
    }

    /// The same maps of inputs and outputs in another order: entry i of an input is found at `inputs[i]`, and so for
    /// outputs.
    pub(crate) fn reordered(&self, inputs: &[usize], outputs: &[usize]) -> Self {
        let move_column =
            |from: &[T], to: &mut [T]| inputs.iter().zip(from).for_each(|(&place, value)| to[place] = *value);
        let mut common = Matrix::zeros(self.n_inputs(), self.n_outputs());
        let mut full = vec![T::ZERO; self.n_atoms() * self.n_outputs() * self.n_inputs()];
        let mut column = vec![T::ZERO; self.n_inputs()];
        for (output, &place) in outputs.iter().enumerate() {
            move_column(self.common.column(output), common.column_mut(place));
            for atom in 0..self.n_atoms() {
                self.copy_difference(atom * self.n_outputs() + output, &mut column);
                let start = (atom * self.n_outputs() + place) * self.n_inputs();
                move_column(&column, &mut full[start..start + self.n_inputs()]);
            }
        }
        Self { common, differences: Differences::Full(full) }.with_precision(self.precision())
    }
}

/// Each column as whole numbers up to 127 and a scale.
fn in_bytes<T: Scalar>(values: &[T], rows: usize) -> Differences<T> {
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
    Differences::Byte { values: bytes, scales }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn maps() -> Maps<f32> {
        let common = Matrix::from_fn(5, 3, |r, c| (r as f32 - c as f32) * 0.3);
        let differences = Matrix::from_fn(5, 3 * 4, |r, c| ((r * 7 + c * 3) as f32).sin() * 0.1 * c as f32);
        Maps::new(common, differences).unwrap()
    }

    fn column(maps: &Maps<f32>, atom: usize, output: usize) -> Vec<f32> {
        let mut column = vec![0.0; maps.n_inputs()];
        maps.copy_column(atom, output, &mut column);
        column
    }

    #[test]
    fn kept_coarsely_a_map_is_near_and_kept_again_the_same() {
        let full = maps();
        for (precision, share) in [(Precision::Full, 0.0), (Precision::Half, 1e-3), (Precision::Byte, 1.0 / 250.0)] {
            let kept = full.with_precision(precision);
            assert_eq!(kept.precision(), precision);
            assert_eq!(kept.with_precision(precision), kept);
            for atom in 0..4 {
                for output in 0..3 {
                    let largest = 0.1 * (atom * 3 + output) as f32;
                    for (a, b) in column(&full, atom, output).iter().zip(column(&kept, atom, output)) {
                        assert!((a - b).abs() <= share * largest + 1e-7, "{precision:?}: {b} for {a}");
                    }
                }
            }
        }
    }

    #[test]
    fn reordered_maps_take_and_give_entries_in_their_new_places() {
        let (full, inputs, outputs) = (maps(), [2, 0, 1, 4, 3], [1, 2, 0]);
        let moved = full.reordered(&inputs, &outputs);
        for atom in 0..4 {
            for output in 0..3 {
                let (before, after) = (column(&full, atom, output), column(&moved, atom, outputs[output]));
                (0..5).for_each(|i| assert_eq!(before[i].to_bits(), after[inputs[i]].to_bits()));
            }
        }
    }

    #[test]
    fn maps_that_fit_nothing_or_are_not_finite_are_refused() {
        let common = || Matrix::from_fn(2, 2, |_, _| 1.0);
        assert!(Maps::new(common(), Matrix::from_fn(2, 3, |_, _| 1.0)).is_err());
        assert!(Maps::new(common(), Matrix::from_fn(2, 0, |_, _| 1.0)).is_err());
        assert!(Maps::new(common(), Matrix::from_fn(2, 2, |_, _| f64::NAN)).is_err());
        assert!(Maps::new(common(), Matrix::from_fn(2, 2, |_, _| 1e7)).is_err());
        let byte = |values, scales| Maps::from_parts(common(), Differences::Byte { values, scales });
        assert!(byte(vec![1; 4], vec![1.0; 2]).is_ok());
        assert!(byte(vec![1; 4], vec![1.0; 3]).is_err() && byte(vec![1; 4], vec![1.0, f64::INFINITY]).is_err());
    }
}
