//! The anchored ensemble: weak example dictionaries whose atoms carry linear maps.
//!
//! A member of RandExAv chooses an example for a sample and answers with the example itself. Here the choice is the same,
//! one atom by the largest correlation, but the atom answers with a linear map of the sample that was fitted to the
//! samples of that atom. Random dictionaries, 1-sparse codes and a plain mean stay what they are in Eq. (4).
//!
//! | what | where |
//! | --- | --- |
//! | a dictionary and its maps | [`AnchoredMember`], [`Maps`] |
//! | members and weights | [`AnchoredEnsemble`] |
//! | learning them from pairs of inputs and targets | [`AnchoredLearner`] |
//! | ensembles in stages that enlarge a picture | [`Upscaler`], [`UpscalerStage`] |

mod choice;
mod half;
mod learner;
mod maps;
mod member;
mod pairs;
mod prediction;
mod ridge;
mod upscaler;

pub use learner::AnchoredLearner;
pub use maps::{Maps, Precision};
pub use member::AnchoredMember;
pub use upscaler::{Upscaler, UpscalerStage};

#[cfg(feature = "io")]
pub(crate) use maps::Differences;
pub(crate) use pairs::Pairs;
pub(crate) use prediction::{ANCHORED_BLOCK, Predictor};
pub(crate) use upscaler::check_window;

use std::sync::Mutex;

use crate::blocks::Run;
use crate::error::{Error, Result, expect_size};
use crate::masses::Masses;
use crate::matrix::{Matrix, MatrixView};
use crate::scalar::Scalar;

use super::Approximation;
use prediction::Packed;

/// L members with maps and their weights: an input u becomes Σ β_l W_l u, with W_l the map of the atom that member l
/// chooses for u.
///
/// # Shapes
/// All members take inputs of one length and give outputs of one length. β has L entries, none negative, that sum to one.
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
    members: Vec<AnchoredMember<T>>,
    beta: Vec<f64>,
    packed: Packed<T>,
}

impl<T: Scalar> AnchoredEnsemble<T> {
    /// Puts members and weights, of which only the ratios matter, together.
    ///
    /// # Errors
    /// If there is no member, the members differ in their sizes, or there is not one weight for each, none negative.
    pub fn new(members: Vec<AnchoredMember<T>>, beta: &[f64]) -> Result<Self> {
        let Some(first) = members.first() else { return Err(Error::Empty { what: "ensemble", unit: "member" }) };
        for member in &members {
            expect_size("members: length of inputs", first.maps().n_inputs(), member.maps().n_inputs())?;
            expect_size("members: length of outputs", first.maps().n_outputs(), member.maps().n_outputs())?;
        }
        let total = Masses::new(Some(beta), members.len())?.total();
        // Weights that sum to one already keep their bits, through a file and back.
        let scale = if (total - 1.0).abs() < 1e-9 { 1.0 } else { total };
        let beta: Vec<f64> = beta.iter().map(|weight| weight / scale).collect();
        Ok(Self { packed: Packed::new(&members, &beta), members, beta })
    }

    /// Members that count alike.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn mean_of(members: Vec<AnchoredMember<T>>) -> Result<Self> {
        let beta = vec![1.0 / members.len() as f64; members.len()];
        Self::new(members, &beta)
    }

    /// The members.
    pub fn members(&self) -> &[AnchoredMember<T>] {
        &self.members
    }

    /// β.
    pub fn beta(&self) -> &[f64] {
        &self.beta
    }

    /// The length of an input.
    pub fn n_inputs(&self) -> usize {
        self.members[0].maps().n_inputs()
    }

    /// The length of an output.
    pub fn n_outputs(&self) -> usize {
        self.members[0].maps().n_outputs()
    }

    /// All atoms together.
    pub fn n_atoms(&self) -> usize {
        self.members.iter().map(|member| member.anchors().n_atoms()).sum()
    }

    /// The same ensemble, its maps kept as finely as this.
    ///
    /// # Errors
    /// None that a whole ensemble could cause.
    pub fn with_precision(&self, precision: Precision) -> Result<Self> {
        Self::new(self.members.iter().map(|member| member.with_precision(precision)).collect(), &self.beta)
    }

    /// What a thread needs to predict.
    pub(crate) fn predictor(&self) -> Predictor<'_, T> {
        self.packed.predictor()
    }

    /// Σ β_l W_l u for every input u, with the spread of the members.
    ///
    /// # Shapes
    /// A column for each input, and one for each output.
    ///
    /// # Cost
    /// For each input and member one product with all anchors in the space of features, and one with one map. Memory
    /// beyond the result does not depend on the number of inputs.
    ///
    /// # Errors
    /// If the inputs are of another length or not finite, or the run was interrupted.
    pub fn predict(&self, inputs: MatrixView<'_, T>, run: Run<'_>) -> Result<Approximation<T>> {
        expect_size("inputs: number of rows (that of the members)", self.n_inputs(), inputs.rows())?;
        let mut values = Matrix::zeros(self.n_outputs(), inputs.columns());
        // Each piece has its own lock, and one thread.
        let pieces: Vec<_> =
            values.as_mut_slice().chunks_mut(ANCHORED_BLOCK * self.n_outputs()).map(Mutex::new).collect();
        let space = || (self.predictor(), Vec::new(), Vec::new());
        let spread =
            run.map_blocks(inputs.columns(), ANCHORED_BLOCK, space, |(predictor, block, squares), range| {
                block.resize(range.len() * self.n_inputs(), T::ZERO);
                squares.resize(range.len() * self.n_outputs(), T::ZERO);
                for (i, column) in range.clone().zip(block.chunks_exact_mut(self.n_inputs())) {
                    inputs.copy_finite_column(i, column, "inputs")?;
                }
                let mut values =
                    pieces[range.start / ANCHORED_BLOCK].lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                predictor.predict(block, &mut values, Some(squares));
                let columns = values.chunks_exact(self.n_outputs()).zip(squares.chunks_exact(self.n_outputs()));
                Ok(columns.map(|(values, squares)| spread(values, squares)).collect::<Vec<f64>>())
            })?;
        drop(pieces);
        Ok(Approximation { values, spread: spread.into_iter().flatten().collect(), unconverged: 0 })
    }
}

/// The root of Σ β_l ‖W_l u − Σ β W u‖².
fn spread<T: Scalar>(values: &[T], squares: &[T]) -> f64 {
    let apart = values.iter().zip(squares).map(|(value, square)| square.to_f64() - value.to_f64().powi(2));
    apart.sum::<f64>().max(0.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dictionary::Dictionary;

    /// A member of two atoms, along the axes, with maps that double and negate.
    fn member(factor: f64) -> AnchoredMember<f64> {
        let identity = || Matrix::from_fn(2, 2, |r, c| f64::from(u8::from(r == c)));
        let differences = Matrix::from_fn(2, 4, |r, c| if r == c % 2 { [2.0, -1.0][c / 2] * factor } else { 0.0 });
        let maps = Maps::new(Matrix::zeros(2, 2), differences).unwrap();
        AnchoredMember::new(identity(), Dictionary::new(identity()).unwrap(), maps).unwrap()
    }

    #[test]
    fn an_input_goes_through_the_map_of_the_nearest_anchor() {
        let ensemble = AnchoredEnsemble::new(vec![member(1.0), member(3.0)], &[3.0, 1.0]).unwrap();
        let inputs = Matrix::from_columns(vec![5.0, 1.0, -1.0, -5.0, 0.0, 0.0], 2, 3).unwrap();
        let found = ensemble.predict(inputs.view(), Run::default()).unwrap();
        assert_eq!(found.values.as_slice(), [15.0, 3.0, 1.5, 7.5, 0.0, 0.0]);
        // The members say 2·5 and 6·5, and so on; the first counts three times as much.
        let expected = (0.75 * (5.0_f64.powi(2) + 1.0) + 0.25 * (15.0_f64.powi(2) + 9.0)).sqrt();
        assert!((found.spread[0] - expected).abs() < 1e-9 && found.spread[2].abs() < 1e-12);
    }

    #[test]
    fn what_becomes_of_an_input_does_not_depend_on_the_others() {
        let ensemble = AnchoredEnsemble::mean_of(vec![member(0.3), member(0.7), member(1.1)]).unwrap();
        let inputs = Matrix::from_fn(2, 2 * ANCHORED_BLOCK + 77, |r, i| ((i * 13 + r * 7) as f64).sin());
        let all = ensemble.predict(inputs.view(), Run::threads(3)).unwrap();
        assert_eq!(ensemble.predict(inputs.view(), Run::threads(1)).unwrap(), all);
        for i in [0, 5, ANCHORED_BLOCK, 2 * ANCHORED_BLOCK + 76] {
            let one = MatrixView::from_columns(inputs.column(i), 2, 1).unwrap();
            let one = ensemble.predict(one, Run::default()).unwrap();
            assert_eq!(one.values.column(0), all.values.column(i));
            assert_eq!(one.spread[0].to_bits(), all.spread[i].to_bits());
        }
    }

    #[test]
    fn members_that_do_not_fit_are_refused() {
        assert!(AnchoredEnsemble::<f64>::mean_of(Vec::new()).is_err());
        for beta in [vec![1.0], vec![1.0, -1.0], vec![0.0, 0.0], vec![1.0, f64::NAN]] {
            assert!(AnchoredEnsemble::new(vec![member(1.0), member(2.0)], &beta).is_err(), "{beta:?}");
        }
        let ensemble = AnchoredEnsemble::mean_of(vec![member(1.0)]).unwrap();
        assert!(ensemble.predict(Matrix::from_fn(3, 1, |_, _| 1.0).view(), Run::default()).is_err());
        assert!(ensemble.predict(Matrix::from_fn(2, 1, |_, _| f64::NAN).view(), Run::default()).is_err());
    }
}
