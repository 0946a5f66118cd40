//! The anchored ensemble: weak example dictionaries whose atoms carry linear maps.
//!
//! A member of RandExAv chooses an example for a sample and answers with the example itself. Here the choice is the same,
//! one atom by the largest correlation, but the atom answers with a linear map of the sample that was fitted to the
//! samples of that atom. Random dictionaries, 1-sparse codes and a plain mean stay what they are in Eq. (4).
//!
//! | what | where |
//! | --- | --- |
//! | what members share | [`Frame`] |
//! | a dictionary and its maps | [`AnchoredMember`], [`Maps`] |
//! | all of it, and weights | [`AnchoredEnsemble`] |
//! | learning them from pairs of inputs and targets | [`AnchoredLearner`] |
//! | ensembles in stages that enlarge a picture | [`Upscaler`], [`UpscalerStage`] |

mod choice;
mod frame;
mod groups;
mod half;
mod learner;
mod maps;
mod member;
mod pairs;
mod prediction;
mod reduced;
mod ridge;
mod survey;
mod upscaler;

pub use frame::Frame;
pub use learner::AnchoredLearner;
pub use maps::{Maps, Precision};
pub use member::AnchoredMember;
pub use upscaler::{Upscaler, UpscalerStage};

#[cfg(feature = "io")]
pub(crate) use maps::Kept;
pub(crate) use pairs::Pairs;
pub(crate) use prediction::{ANCHORED_BLOCK, Predictor};
pub(crate) use upscaler::check_window;

use std::sync::{Mutex, PoisonError};

use crate::blocks::Run;
use crate::error::{Error, Result, expect_size};
use crate::masses::Masses;
use crate::matrix::{Matrix, MatrixView};
use crate::scalar::Scalar;

use super::Approximation;
use prediction::Packed;

/// L members with maps, what they share, and their weights: an input u becomes W·u + P·(Σ β_l Q_l)·R·u, with Q_l the map
/// of the atom that member l chooses for u, and the rest of the [`Frame`].
///
/// # Shapes
/// Inputs of N and outputs of M entries. β has L entries, none negative, that sum to one.
///
/// # Example
/// ```
/// use sparsemble::ensemble::{AnchoredEnsemble, AnchoredLearner};
/// use sparsemble::{Matrix, Run};
///
/// // The target is |u₁|, up to the sign of u₂: no linear map knows it, two atoms do.
/// let inputs = Matrix::from_fn(2, 400, |r, i| ((i * (r + 3)) as f64).sin());
/// let target = |i: usize| inputs.column(i)[0].abs() * inputs.column(i)[1].signum();
/// let targets = Matrix::from_fn(1, 400, |_, i| target(i));
/// let learner = AnchoredLearner { n_atoms: 16, n_models: 4, shrinkage: 1.0, ..AnchoredLearner::default() };
/// let ensemble = learner.fit(inputs.view(), targets.view(), None, Run::default())?;
///
/// let found = ensemble.predict(inputs.view(), Run::default())?;
/// let error: f64 = (0..400).map(|i| (found.values.column(i)[0] - target(i)).powi(2)).sum();
/// assert!(error < 0.1 * (0..400).map(|i| target(i).powi(2)).sum::<f64>());
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: beyond §IV-B; the members choose as those of Eq. (4) do.
#[derive(Debug)]
pub struct AnchoredEnsemble<T> {
    frame: Frame<T>,
    members: Vec<AnchoredMember<T>>,
    beta: Vec<f64>,
    packed: Packed<T>,
}

impl<T: Scalar> AnchoredEnsemble<T> {
    /// Puts members and weights, of which only the ratios matter, together.
    ///
    /// # Errors
    /// If there is no member, one does not fit the frame, or there is not one weight for each, none negative.
    pub fn new(frame: Frame<T>, members: Vec<AnchoredMember<T>>, beta: &[f64]) -> Result<Self> {
        if members.is_empty() {
            return Err(Error::Empty { what: "ensemble", unit: "member" });
        }
        for member in &members {
            let (anchors, maps) = (member.anchors(), member.maps());
            expect_size("anchors: length (features of the frame)", frame.features().columns(), anchors.n_features())?;
            expect_size("maps: inputs (directions of the frame)", frame.directions().columns(), maps.n_inputs())?;
            expect_size("maps: outputs (those of the frame)", frame.outputs().columns(), maps.n_outputs())?;
        }
        let total = Masses::new(Some(beta), members.len())?.total();
        // Weights that sum to one already keep their bits, through a file and back.
        let scale = if (total - 1.0).abs() < 1e-9 { 1.0 } else { total };
        let beta: Vec<f64> = beta.iter().map(|weight| weight / scale).collect();
        Ok(Self { packed: Packed::new(&frame, &members, &beta), frame, members, beta })
    }

    /// Members that count alike.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn mean_of(frame: Frame<T>, members: Vec<AnchoredMember<T>>) -> Result<Self> {
        let beta = vec![1.0 / members.len() as f64; members.len()];
        Self::new(frame, members, &beta)
    }

    /// What the members share.
    pub fn frame(&self) -> &Frame<T> {
        &self.frame
    }

    /// The members.
    pub fn members(&self) -> &[AnchoredMember<T>] {
        &self.members
    }

    /// β.
    pub fn beta(&self) -> &[f64] {
        &self.beta
    }

    /// N, the length of an input.
    pub fn n_inputs(&self) -> usize {
        self.frame.n_inputs()
    }

    /// M, the length of an output.
    pub fn n_outputs(&self) -> usize {
        self.frame.n_outputs()
    }

    /// All atoms together.
    pub fn n_atoms(&self) -> usize {
        self.members.iter().map(|member| member.anchors().n_atoms()).sum()
    }

    /// Multiply-adds for one input: every member's choice among the anchors it looks at, one map of each, and the maps of the
    /// frame.
    pub fn multiply_adds(&self) -> usize {
        let [common, features, directions, outputs] =
            [self.frame.common(), self.frame.features(), self.frame.directions(), self.frame.outputs()]
                .map(|matrix| matrix.as_slice().len());
        let map = |member: &AnchoredMember<T>| member.maps().n_inputs() * member.maps().n_outputs();
        let maps = self.members.iter().map(map).sum::<usize>();
        let choices = self.packed.products_of_choices() * self.frame.features().columns();
        common + features + directions + outputs + choices + maps
    }

    /// The same ensemble, its maps kept as finely as this.
    ///
    /// # Errors
    /// None that a whole ensemble could cause.
    pub fn with_precision(&self, precision: Precision) -> Result<Self> {
        let members = self.members.iter().map(|member| member.with_precision(precision)).collect();
        Self::new(self.frame.clone(), members, &self.beta)
    }

    /// What a thread needs to predict; the entries of an output, as many as there are, will come in this order.
    pub(crate) fn predictor(&self, order: &[usize]) -> Predictor<'_, T> {
        self.packed.predictor(&self.frame, order)
    }

    /// What becomes of every input, with the spread of the members.
    ///
    /// # Shapes
    /// A column for each input, and one for each output.
    ///
    /// # Cost
    /// For each input and member a product with each anchor that it looks at, in the space of features, and one with one map;
    /// see [`multiply_adds`](Self::multiply_adds). Memory beyond the result does not depend on the number of inputs.
    ///
    /// # Errors
    /// If the inputs are of another length or not finite, or the run was interrupted.
    pub fn predict(&self, inputs: MatrixView<'_, T>, run: Run<'_>) -> Result<Approximation<T>> {
        expect_size("inputs: number of rows (that of the members)", self.n_inputs(), inputs.rows())?;
        let mut values = Matrix::zeros(self.n_outputs(), inputs.columns());
        // Each piece has its own lock, and one thread.
        let pieces: Vec<_> =
            values.as_mut_slice().chunks_mut(ANCHORED_BLOCK * self.n_outputs()).map(Mutex::new).collect();
        let order: Vec<usize> = (0..self.n_outputs()).collect();
        let space = || (self.predictor(&order), Vec::new());
        let spread = run.map_blocks(inputs.columns(), ANCHORED_BLOCK, space, |(predictor, spreads), range| {
            spreads.resize(range.len(), T::ZERO);
            let read = |i: usize, input: &mut [T]| {
                inputs.copy_finite_column(range.start + i, input, "inputs").map(|()| T::ZERO)
            };
            let piece = pieces[range.start / ANCHORED_BLOCK].lock();
            predictor.predict(read, &mut piece.unwrap_or_else(PoisonError::into_inner), spreads)?;
            Ok(spreads.iter().map(|spread| spread.to_f64().max(0.0).sqrt()).collect::<Vec<f64>>())
        })?;
        drop(pieces);
        Ok(Approximation { values, spread: Some(spread.into_iter().flatten().collect()), unconverged: 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dictionary::Dictionary;

    fn identity() -> Matrix<f64> {
        Matrix::from_fn(2, 2, |r, c| f64::from(u8::from(r == c)))
    }

    /// The common map gives nothing.
    fn frame() -> Frame<f64> {
        Frame::new(Matrix::zeros(2, 2), identity(), identity(), identity()).unwrap()
    }

    /// A member of two atoms, along the axes, with maps that double and negate.
    fn member(factor: f64) -> AnchoredMember<f64> {
        let maps = Matrix::from_fn(2, 4, |r, c| if r == c % 2 { [2.0, -1.0][c / 2] * factor } else { 0.0 });
        AnchoredMember::new(Dictionary::new(identity()).unwrap(), Maps::new(maps, 2).unwrap()).unwrap()
    }

    #[test]
    fn an_input_goes_through_the_map_of_the_nearest_anchor() {
        let ensemble = AnchoredEnsemble::new(frame(), vec![member(1.0), member(3.0)], &[3.0, 1.0]).unwrap();
        let inputs = Matrix::from_columns(vec![5.0, 1.0, -1.0, -5.0, 0.0, 0.0], 2, 3).unwrap();
        let found = ensemble.predict(inputs.view(), Run::default()).unwrap();
        assert_eq!(found.values.as_slice(), [15.0, 3.0, 1.5, 7.5, 0.0, 0.0]);
        // The members say 2·5 and 6·5, and so on; the first counts three times as much.
        let expected = (0.75 * (5.0_f64.powi(2) + 1.0) + 0.25 * (15.0_f64.powi(2) + 9.0)).sqrt();
        let spread = found.spread.unwrap();
        assert!((spread[0] - expected).abs() < 1e-9 && spread[2].abs() < 1e-12);
    }

    #[test]
    fn the_frame_is_looked_through_on_both_sides() {
        // W doubles, C and R exchange the entries, and P makes three of two.
        let exchange = || Matrix::from_fn(2, 2, |r, c| f64::from(u8::from(r != c)));
        let common = Matrix::from_fn(2, 3, |r, c| if r == c { 2.0 } else { 0.0 });
        let outputs = Matrix::from_fn(3, 2, |r, c| if r == c + 1 { 1.0 } else { 0.0 });
        let frame = Frame::new(common, exchange(), exchange(), outputs).unwrap();
        let ensemble = AnchoredEnsemble::mean_of(frame, vec![member(1.0)]).unwrap();
        let inputs = Matrix::from_columns(vec![5.0, 1.0], 2, 1).unwrap();
        // The second anchor is chosen, which negates (1, 5).
        let found = ensemble.predict(inputs.view(), Run::default()).unwrap();
        assert_eq!(found.values.as_slice(), [10.0, 2.0 - 1.0, -5.0]);
    }

    #[test]
    fn what_becomes_of_an_input_does_not_depend_on_the_others() {
        let ensemble = AnchoredEnsemble::mean_of(frame(), vec![member(0.3), member(0.7), member(1.1)]).unwrap();
        let inputs = Matrix::from_fn(2, 2 * ANCHORED_BLOCK + 77, |r, i| ((i * 13 + r * 7) as f64).sin());
        let all = ensemble.predict(inputs.view(), Run::threads(3)).unwrap();
        assert_eq!(ensemble.predict(inputs.view(), Run::threads(1)).unwrap(), all);
        for i in [0, 5, ANCHORED_BLOCK, 2 * ANCHORED_BLOCK + 76] {
            let one = MatrixView::from_columns(inputs.column(i), 2, 1).unwrap();
            let one = ensemble.predict(one, Run::default()).unwrap();
            assert_eq!(one.values.column(0), all.values.column(i));
            assert_eq!(one.spread.unwrap()[0].to_bits(), all.spread.as_ref().unwrap()[i].to_bits());
        }
    }

    #[test]
    fn members_that_do_not_fit_are_refused() {
        assert!(AnchoredEnsemble::mean_of(frame(), Vec::new()).is_err());
        for beta in [vec![1.0], vec![1.0, -1.0], vec![0.0, 0.0], vec![1.0, f64::NAN]] {
            assert!(AnchoredEnsemble::new(frame(), vec![member(1.0), member(2.0)], &beta).is_err(), "{beta:?}");
        }
        let long = Matrix::from_fn(3, 4, |r, c| (r + c) as f64);
        let long = AnchoredMember::new(Dictionary::new(identity()).unwrap(), Maps::new(long, 2).unwrap()).unwrap();
        assert!(AnchoredEnsemble::mean_of(frame(), vec![long]).is_err());
        let ensemble = AnchoredEnsemble::mean_of(frame(), vec![member(1.0)]).unwrap();
        assert!(ensemble.predict(Matrix::from_fn(3, 1, |_, _| 1.0).view(), Run::default()).is_err());
        assert!(ensemble.predict(Matrix::from_fn(2, 1, |_, _| f64::NAN).view(), Run::default()).is_err());
    }
}
