//! The stages that enlarge a picture: anchored ensembles and the windows they look through.

use crate::ensemble::Training;
use crate::error::{Error, Result, expect_size};
use crate::matrix::Matrix;
use crate::scalar::Scalar;
use crate::sums::{add_multiple, product};

use super::{AnchoredEnsemble, Precision};

/// The widest window, in pixels.
const WIDEST: usize = 31;

/// One stage: what it sees of each pixel of the small picture, and what it makes of that.
///
/// The input of a pixel is a window of the small picture around it, row by row, then a window of the enlarged picture as
/// the stage before left it; both less the mean of the 3 × 3 pixels in the middle of the first. The output is the block
/// of the enlarged picture that belongs to the same 3 × 3 pixels, less the same mean.
#[derive(Debug)]
pub struct UpscalerStage<T> {
    low_side: usize,
    high_side: usize,
    ensemble: AnchoredEnsemble<T>,
}

impl<T: Scalar> UpscalerStage<T> {
    /// A stage that sees windows of these sides, the second 0 for the first stage.
    ///
    /// # Errors
    /// If a side is of a kind that has no pixel in its middle, or the ensemble does not take such windows.
    pub fn new(low_side: usize, high_side: usize, ensemble: AnchoredEnsemble<T>) -> Result<Self> {
        if !(3..=WIDEST).contains(&low_side) || low_side.is_multiple_of(2) {
            return Err(Error::parameter("low_side", low_side, "must be odd and from 3 to 31"));
        }
        if high_side > WIDEST {
            return Err(Error::parameter("high_side", high_side, "must be at most 31"));
        }
        let n_inputs = low_side * low_side + high_side * high_side;
        expect_size("stage: length of an input (pixels of its windows)", n_inputs, ensemble.n_inputs())?;
        Ok(Self { low_side, high_side, ensemble })
    }

    /// The side of the window of the small picture.
    pub fn low_side(&self) -> usize {
        self.low_side
    }

    /// The side of the window of the enlarged picture so far; 0 for the first stage.
    pub fn high_side(&self) -> usize {
        self.high_side
    }

    /// What makes outputs of inputs.
    pub fn ensemble(&self) -> &AnchoredEnsemble<T> {
        &self.ensemble
    }
}

/// Enlarges pictures by a whole factor, in stages of anchored ensembles: see
/// [`enlarge`](Self::enlarge), and [`UpscalerLearner`](crate::restoration::super_resolution::UpscalerLearner) for where
/// they come from.
#[derive(Debug)]
pub struct Upscaler<T> {
    scale: usize,
    stages: Vec<UpscalerStage<T>>,
    training: Training,
}

impl<T: Scalar> Upscaler<T> {
    /// The largest factor.
    pub const MAX_SCALE: usize = 8;

    /// Puts stages together.
    ///
    /// # Errors
    /// If the factor is not from 2 to 8, there is no stage, the first stage wants an enlarged picture or a later one
    /// does not, windows of the enlarged picture cannot be centred or are smaller than a pixel of the small one, or a
    /// stage does not make blocks of 3 × 3 pixels of the small picture.
    pub fn new(scale: usize, stages: Vec<UpscalerStage<T>>) -> Result<Self> {
        if !(2..=Self::MAX_SCALE).contains(&scale) {
            return Err(Error::parameter("scale", scale, "must be from 2 to 8"));
        }
        if stages.is_empty() {
            return Err(Error::Empty { what: "upscaler", unit: "stage" });
        }
        for (number, stage) in stages.iter().enumerate() {
            check_window(scale, number, stage.high_side)?;
            expect_size("stage: length of an output", 9 * scale * scale, stage.ensemble.n_outputs())?;
        }
        Ok(Self { scale, stages, training: Training::default() })
    }

    /// The same upscaler with this record of its training.
    #[must_use]
    pub fn with_training(self, training: Training) -> Self {
        Self { training, ..self }
    }

    /// How it came about.
    pub fn training(&self) -> &Training {
        &self.training
    }

    /// How many times wider and higher a picture becomes.
    pub fn scale(&self) -> usize {
        self.scale
    }

    /// The stages, in the order of their work.
    pub fn stages(&self) -> &[UpscalerStage<T>] {
        &self.stages
    }

    /// The length of the first stage's inputs.
    pub fn n_inputs(&self) -> usize {
        self.stages[0].ensemble.n_inputs()
    }

    /// The length of every stage's outputs, 9·scale².
    pub fn n_outputs(&self) -> usize {
        self.stages[0].ensemble.n_outputs()
    }

    /// All atoms of all members of all stages.
    pub fn n_atoms(&self) -> usize {
        self.stages.iter().map(|stage| stage.ensemble.n_atoms()).sum()
    }

    /// Multiply-adds for one pixel of the small picture, over all stages.
    pub fn multiply_adds(&self) -> usize {
        self.stages.iter().map(|stage| stage.ensemble.multiply_adds()).sum()
    }

    /// The same upscaler, its maps kept as finely as this.
    ///
    /// # Errors
    /// None that a whole upscaler could cause.
    pub fn with_precision(&self, precision: Precision) -> Result<Self> {
        let stage = |stage: &UpscalerStage<T>| {
            let ensemble = stage.ensemble.with_precision(precision)?;
            UpscalerStage::new(stage.low_side, stage.high_side, ensemble)
        };
        let stages = self.stages.iter().map(stage).collect::<Result<Vec<_>>>()?;
        Ok(Self::new(self.scale, stages)?.with_training(self.training.clone()))
    }

    /// What each atom's own map makes of the input it stands for, a block of 3 × 3 pixels of the small picture;
    /// 9·scale² × atoms.
    pub fn atoms(&self) -> Matrix<T> {
        let mut atoms = Matrix::zeros(self.n_outputs(), self.n_atoms());
        let mut place = 0;
        for ensemble in self.stages.iter().map(UpscalerStage::ensemble) {
            // Cᵀa: of all inputs of its length the one that an anchor likes best; R of it; the map; P.
            let frame = ensemble.frame();
            let seen = crossed(frame.directions(), frame.features());
            for member in ensemble.members() {
                for k in 0..member.anchors().n_atoms() {
                    let directions = combined(&seen, member.anchors().atoms().column(k));
                    let mut column = vec![T::ZERO; directions.len()];
                    let mut part = |j: usize| {
                        member.maps().copy_column(k * member.maps().n_outputs() + j, &mut column);
                        product(&column, &directions)
                    };
                    let parts: Vec<T> = (0..member.maps().n_outputs()).map(|j| T::from_f64(part(j))).collect();
                    atoms.column_mut(place).copy_from_slice(&combined(frame.outputs(), &parts));
                    place += 1;
                }
            }
        }
        atoms
    }
}

/// AᵀB.
fn crossed<T: Scalar>(a: &Matrix<T>, b: &Matrix<T>) -> Matrix<T> {
    Matrix::from_fn(a.columns(), b.columns(), |r, c| T::from_f64(product(a.column(r), b.column(c))))
}

/// The sum of a matrix's columns times these factors.
fn combined<T: Scalar>(matrix: &Matrix<T>, factors: &[T]) -> Vec<T> {
    let mut sums = vec![0.0; matrix.rows()];
    factors.iter().enumerate().for_each(|(c, factor)| add_multiple(factor.to_f64(), matrix.column(c), &mut sums));
    sums.into_iter().map(T::from_f64).collect()
}

/// Whether a stage of this number may have such a window of the enlarged picture.
pub(crate) fn check_window(scale: usize, stage: usize, high_side: usize) -> Result<()> {
    let reason = match (stage, high_side) {
        (0, 0) => return Ok(()),
        (0, _) => "must be 0 for the first stage, which has no enlarged picture to look at",
        (_, side) if side >= scale && (side - scale).is_multiple_of(2) && side <= WIDEST => return Ok(()),
        _ => "must be the scale or an even number more, and at most 31",
    };
    Err(Error::parameter("high_side", high_side, reason))
}
