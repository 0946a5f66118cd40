//! Inputs and targets that a map is learned from, wherever they are.

use crate::error::{Result, expect_size};
use crate::masses::Masses;
use crate::matrix::MatrixView;
use crate::scalar::Scalar;

/// Pairs of an input and a target, read one at a time and as often as wanted: nothing of their number is stored.
pub(crate) trait Pairs<T>: Sync {
    /// T, how many there are.
    fn count(&self) -> usize;
    /// The length of an input.
    fn n_inputs(&self) -> usize;
    /// The length of a target.
    fn n_outputs(&self) -> usize;
    /// How much a pair counts; one on average, or so.
    fn mass(&self, _sample: usize) -> f64 {
        1.0
    }
    /// Writes the input of a pair to `out`; `space` is for intermediate results.
    fn copy_input(&self, sample: usize, space: &mut Vec<T>, out: &mut [T]);
    /// Writes the target of a pair to `out`, as [`copy_input`](Self::copy_input).
    fn copy_target(&self, sample: usize, space: &mut Vec<T>, out: &mut [T]);
}

/// One pair, and the room to read it.
pub(super) struct Reader<T> {
    input: Vec<T>,
    target: Vec<T>,
    space: Vec<T>,
}

impl<T: Scalar> Reader<T> {
    pub(super) fn new(pairs: &dyn Pairs<T>) -> Self {
        Self { input: vec![T::ZERO; pairs.n_inputs()], target: vec![T::ZERO; pairs.n_outputs()], space: Vec::new() }
    }

    /// The input and the target of a pair.
    pub(super) fn read(&mut self, pairs: &dyn Pairs<T>, sample: usize) -> (&[T], &[T]) {
        pairs.copy_target(sample, &mut self.space, &mut self.target);
        pairs.copy_input(sample, &mut self.space, &mut self.input);
        (&self.input, &self.target)
    }

    /// The input of a pair.
    pub(super) fn read_input(&mut self, pairs: &dyn Pairs<T>, sample: usize) -> &[T] {
        pairs.copy_input(sample, &mut self.space, &mut self.input);
        &self.input
    }
}

/// The columns of two matrices, with masses.
pub(super) struct ColumnPairs<'a, T> {
    inputs: MatrixView<'a, T>,
    targets: MatrixView<'a, T>,
    masses: Masses<'a>,
}

impl<'a, T: Scalar> ColumnPairs<'a, T> {
    pub(super) fn new(
        inputs: MatrixView<'a, T>,
        targets: MatrixView<'a, T>,
        masses: Option<&'a [f64]>,
    ) -> Result<Self> {
        expect_size("targets: number of samples (that of the inputs)", inputs.columns(), targets.columns())?;
        let masses = Masses::new(masses, inputs.columns())?;
        inputs.expect_finite("inputs")?;
        targets.expect_finite("targets")?;
        Ok(Self { inputs, targets, masses })
    }
}

impl<T: Scalar> Pairs<T> for ColumnPairs<'_, T> {
    fn count(&self) -> usize {
        self.inputs.columns()
    }

    fn n_inputs(&self) -> usize {
        self.inputs.rows()
    }

    fn n_outputs(&self) -> usize {
        self.targets.rows()
    }

    fn mass(&self, sample: usize) -> f64 {
        self.masses.share(sample) * self.count() as f64
    }

    fn copy_input(&self, sample: usize, _: &mut Vec<T>, out: &mut [T]) {
        self.inputs.copy_column(sample, out);
    }

    fn copy_target(&self, sample: usize, _: &mut Vec<T>, out: &mut [T]) {
        self.targets.copy_column(sample, out);
    }
}
