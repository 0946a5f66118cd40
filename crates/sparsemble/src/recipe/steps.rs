//! The steps of a training: what is told of each, and what is kept of it so that a later run can go on.

use crate::coding::CodeStrips;
use crate::error::Result;
use crate::matrix::Matrix;
use crate::model::Model;
use crate::scalar::Scalar;

/// A step that has been done: a dictionary of an ensemble, an iteration of Alt-Opt, a level, a twentieth of an epoch, a
/// round of Gaussians.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Which one, from 1.
    pub number: usize,
    /// The most there will be.
    pub of: usize,
    /// The error or objective after it: see [`Training`](crate::ensemble::Training). `None` where nothing is coded.
    pub error: Option<f64>,
}

/// Is told of every step and of what to keep of it: [`Checkpoint`](crate::model_file::Checkpoint) writes that to a file, and
/// [`Recipe::resume`](super::Recipe::resume) goes on from it. An error it returns ends the training.
pub type Watch<'a, T> = dyn FnMut(Step, &ToKeep<'_, T>) -> Result<()> + 'a;

/// What a step leaves behind.
///
/// With what was kept of the steps before it, if it [adds](Self::adds) to them, it is all that is needed to go on: nothing
/// is learned or coded again.
pub struct ToKeep<'a, T> {
    model: &'a dyn Fn() -> Result<Model<T>>,
    adds: bool,
    codes: Option<&'a CodeStrips<T>>,
    residuals: Option<&'a Matrix<T>>,
}

/// What was kept of a step, or of all steps up to it.
#[derive(Debug)]
pub struct KeptStep<T> {
    /// The model of this step alone, if it adds to those before it; else that of all steps so far.
    pub model: Model<T>,
    /// The codes of all samples in what the step has added; none but for boosting.
    pub codes: CodeStrips<T>,
    /// What the steps so far have left of the samples, M × T; only for multilevel dictionaries.
    pub residuals: Option<Matrix<T>>,
}

impl<'a, T: Scalar> ToKeep<'a, T> {
    /// A model that is all there is to keep, in place of what was kept before.
    pub fn whole(model: &'a dyn Fn() -> Result<Model<T>>) -> Self {
        Self { model, adds: false, codes: None, residuals: None }
    }

    /// The same with what the model has left of the samples.
    pub(super) fn with_residuals(self, residuals: &'a Matrix<T>) -> Self {
        Self { residuals: Some(residuals), ..self }
    }

    /// A member to be kept beside those before it.
    pub(super) fn member(model: &'a dyn Fn() -> Result<Model<T>>) -> Self {
        Self { model, adds: true, codes: None, residuals: None }
    }

    /// The same with the codes in it.
    pub(super) fn with_codes(self, codes: &'a CodeStrips<T>) -> Self {
        Self { codes: Some(codes), ..self }
    }

    /// Whether the steps before this one have to be kept too.
    pub fn adds(&self) -> bool {
        self.adds
    }

    /// The model of this step alone, if it adds to those before it; else that of all steps so far.
    ///
    /// # Errors
    /// Those of putting the model together.
    pub fn model(&self) -> Result<Model<T>> {
        (self.model)()
    }

    /// See [`KeptStep::codes`].
    pub fn codes(&self) -> Option<&'a CodeStrips<T>> {
        self.codes
    }

    /// See [`KeptStep::residuals`].
    pub fn residuals(&self) -> Option<&'a Matrix<T>> {
        self.residuals
    }
}

impl<T> From<Model<T>> for KeptStep<T> {
    fn from(model: Model<T>) -> Self {
        Self { model, codes: CodeStrips::default(), residuals: None }
    }
}

/// What was kept of an earlier run, step by step.
pub type Past<'a, T> = dyn ExactSizeIterator<Item = Result<KeptStep<T>>> + 'a;
