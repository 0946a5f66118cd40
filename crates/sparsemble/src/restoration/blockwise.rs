//! Compressive recovery block by block: each block from its own measurements, by a sparse model seen through Φ (§IV-A).

use crate::blocks::Run;
use crate::coding::SparseCoder;
use crate::degradation::{Degradation, Dense, apply_to_columns};
use crate::ensemble::{Approximation, Ensemble, LocalGaussians, MultilevelDictionary, SampleMean, Seen, SparseModel};
use crate::error::{Error, Result, expect_size};
use crate::image::GrayImage;
use crate::matrix::{Matrix, MatrixView};
use crate::model::Model;
use crate::patch::add_means;
use crate::scalar::Scalar;

use super::compressive::BlockMeasurements;

/// What is known of the mean of a block, its DC, which models of mean-free patches do not have.
///
/// | | side information | what happens |
/// | --- | --- | --- |
/// | `Known` | one number a block | z − mΦ1 is coded, and m is added to the approximation |
/// | `Free` | none | the constant c with the least ‖z − Φ(Da + c1)‖² + λ‖a‖₁ is found with the code and costs no penalty |
/// | `InAtoms` | none | z is coded as it is: for atoms that kept their means, or blocks without any |
///
/// The paper does not say how means come back; known means fit its Table 1 best. Knowing them is worth about a decibel
/// at N = M/8, less with more measurements.
///
/// `Free` is exact. With q = Φ1 the best constant of any code is c = qᵀ(z − ΦDa)/‖q‖², so each atom d can bring its own,
/// d′ = d − (qᵀΦd/‖q‖²)1. Its measurements Φd′ are those of d without their part along q, so coding the same part of z
/// in ΦD′ is the problem above with c eliminated, and y is approximated by D′a + (qᵀz/‖q‖²)1.
///
/// Local Gaussians have a prior of the mean, by which they estimate it if it is `Free`; `InAtoms` is for blocks that have
/// none.
///
/// Paper: §IV-A.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Dc<'a> {
    /// The means were transmitted, one for each block.
    Known(&'a [f64]),
    /// The means are estimated.
    Free,
    /// The atoms represent the means as they do the rest.
    InAtoms,
}

/// Recovers blocks from their measurements z = Φy by any model and coder.
///
/// | field | purpose | paper's value |
/// | --- | --- | --- |
/// | `coder` | codes measurements in ΦD; not used by multilevel dictionaries and local Gaussians | lasso, λ = 0.1 for intensities in [0, 1] |
/// | `dc` | what is known of the blocks' means, see [`Dc`] | not said |
/// | `noise` | its standard deviation in the measurements, for local Gaussians; the coder of others has its λ for it | 0 |
///
/// The model is that of whole blocks, as it was trained; how it looks through Φ is worked out here. The coefficients of a
/// multilevel dictionary follow its own rule
/// ([`with_coefficients`](crate::ensemble::MultilevelDictionary::with_coefficients)).
///
/// # Shapes
/// Measurements N × T, blocks M × T; Φ is N × M. Measurements are those of whole blocks, with every [`Dc`].
///
/// # Cost
/// That of the model's [`approximate`](Model::approximate), and N·M multiply-adds for each atom. Beyond the result, the
/// measurements are copied once unless the means are in the atoms.
///
/// # Errors
/// If sizes disagree, a value is not finite, or the means are to be found (`Dc::Free`) and Φ is blind to them; those of
/// [`SparseCoder::encode`].
///
/// # Example
/// ```
/// use sparsemble::coding::Lasso;
/// use sparsemble::degradation::Projection;
/// use sparsemble::dictionary::Examples;
/// use sparsemble::ensemble::Averaging;
/// use sparsemble::image::{GrayImage, Size};
/// use sparsemble::metrics::psnr;
/// use sparsemble::patch::{PatchGrid, Stride, TrainingPatches};
/// use sparsemble::restoration::{Blockwise, Dc, measure};
/// use sparsemble::{Model, Run};
///
/// let waves = |shift: f64| {
///     let size = Size { width: 64, height: 64 };
///     GrayImage::from_fn(size, |row, column| 128.0 + 60.0 * (0.01 * (row * column) as f64 + shift).sin())
/// };
/// // RandExAv from one picture …
/// let patches = TrainingPatches { count: 400, ..TrainingPatches::default() }.draw::<f32>(&[waves(0.0)?])?;
/// let examples = Examples { n_atoms: 64 };
/// let model = Averaging { n_models: 5, ..Averaging::new(&examples) }.fit(patches.view(), Run::default())?;
///
/// // … recovers another from a quarter of its numbers.
/// let picture = waves(1.0)?;
/// let grid = PatchGrid::new(picture.size(), 8, Stride::NonOverlapping)?;
/// let phi = "orthonormal:measurements=16,seed=5".parse::<Projection>()?.matrix::<f32>(64)?;
/// let measurements = measure(&phi, grid.extract(&picture)?.view())?;
///
/// let blockwise = Blockwise { coder: &Lasso::lambda(2.0), dc: Dc::Free, noise: 0.0 };
/// let blocks = blockwise.recover(&Model::Ensemble(model), &phi, measurements.view(), Run::default())?;
/// let recovered = grid.assemble(blocks.values.view())?;
/// assert!(psnr(&picture, &recovered)? > 25.0);
/// assert_eq!(blocks.spread.unwrap().len(), grid.n_patches()); // how far the members are apart, block by block
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §IV-A, Eqs. (14) and (15).
#[doc(alias = "compressive sensing")]
#[derive(Debug, Clone, Copy)]
pub struct Blockwise<'a, T> {
    /// Codes measurements in ΦD.
    pub coder: &'a (dyn SparseCoder<T> + Sync),
    /// What is known of the blocks' means.
    pub dc: Dc<'a>,
    /// The standard deviation of the noise in the measurements, for local Gaussians.
    pub noise: f64,
}

/// A picture put together from blocks that were recovered on their own.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockPicture {
    /// The picture.
    pub image: GrayImage,
    /// The [spread](Approximation::spread) of each block by pixel, the same for all of a block; `None` if the model has
    /// one member alone. It tells where errors are likely and is no estimate of their size, but of local Gaussians it is
    /// the error expected of the block.
    pub spread: Option<GrayImage>,
}

impl<T: Scalar> Blockwise<'_, T> {
    /// Every block from its measurements, with the spread of the members as for
    /// [`Ensemble::approximate`](crate::ensemble::Ensemble::approximate).
    ///
    /// # Errors
    /// See [`Blockwise`].
    pub fn recover(
        &self,
        model: &Model<T>,
        phi: &dyn Degradation<T>,
        measurements: MatrixView<'_, T>,
        run: Run<'_>,
    ) -> Result<Approximation<T>> {
        expect_size("model: number of features (those of phi)", phi.n_features(), model.n_features())?;
        expect_size("measurements: number of rows (those of phi)", phi.n_measurements(), measurements.rows())?;
        let constant = Constant::seen_through(phi);
        match (self.dc, model) {
            (Dc::Known(means), _) => {
                expect_size("means: number of blocks (columns of measurements)", measurements.columns(), means.len())?;
                if let Some(bad) = means.iter().find(|mean| !mean.is_finite()) {
                    return Err(Error::parameter("means", bad, "every mean must be finite"));
                }
                let rest = constant.removed(measurements, means);
                let without = Self { dc: Dc::InAtoms, ..*self };
                let mut blocks = without.recover(model, phi, rest.view(), run)?;
                add_means(&mut blocks.values, means)?;
                Ok(blocks)
            }
            (Dc::Free, Model::Gaussians(gaussians)) => {
                let seen = Seen { phi: Some(phi), noise: self.noise, mean: SampleMean::Unknown };
                estimated(gaussians, &seen, measurements, run)
            }
            (Dc::InAtoms, Model::Gaussians(gaussians)) => {
                let seen = Seen { phi: Some(phi), noise: self.noise, mean: SampleMean::Removed };
                estimated(gaussians, &seen, measurements, run)
            }
            (Dc::Free, _) => {
                constant.expect_seen(phi)?;
                let constants = constant.of_columns(measurements);
                let rest = constant.removed(measurements, &constants);
                let with_constants = constant.given_to(model.degraded_by(phi)?)?;
                let mut blocks = with_constants.approximate(rest.view(), self.coder, run)?;
                add_means(&mut blocks.values, &constants)?;
                Ok(blocks)
            }
            (Dc::InAtoms, _) => model.degraded_by(phi)?.approximate(measurements, self.coder, run),
        }
    }
}

impl Blockwise<'_, f32> {
    /// The picture of blocks that are recovered on their own.
    ///
    /// # Errors
    /// See [`Blockwise`].
    pub fn picture(&self, model: &Model<f32>, measurements: &BlockMeasurements, run: Run<'_>) -> Result<BlockPicture> {
        let phi = Dense::new(measurements.phi().matrix().converted().view())?;
        let blocks = self.recover(model, &phi, measurements.values().converted().view(), run)?;
        let side = measurements.block_side();
        let by_pixel = |spread: Vec<f64>| {
            let shared = Matrix::from_fn(side * side, spread.len(), |_, i| (spread[i] / side as f64) as f32);
            measurements.assemble(shared.view())
        };
        Ok(BlockPicture {
            image: measurements.assemble(blocks.values.view())?,
            spread: blocks.spread.map(by_pixel).transpose()?,
        })
    }
}

/// What local Gaussians expect the blocks to be.
fn estimated<T: Scalar>(
    gaussians: &LocalGaussians<T>,
    seen: &Seen<'_, T>,
    measurements: MatrixView<'_, T>,
    run: Run<'_>,
) -> Result<Approximation<T>> {
    let estimate = gaussians.estimator(seen, run)?.estimate(measurements, run)?;
    Ok(Approximation { values: estimate.values, spread: Some(estimate.spread), unconverged: 0 })
}

/// Φ of every block.
///
/// # Shapes
/// Blocks M × T, measurements N × T.
///
/// # Errors
/// If the blocks do not have as many features as Φ takes, or one of their values is not finite.
///
/// # Example
/// ```
/// use sparsemble::Matrix;
/// use sparsemble::degradation::Dense;
/// use sparsemble::restoration::measure;
///
/// // Of three pixels the first is measured, and the sum of the others.
/// let phi = Dense::new(Matrix::from_columns(vec![1.0, 0.0, 0.0, 1.0, 0.0, 1.0], 2, 3)?.view())?;
/// let blocks = Matrix::from_columns(vec![5.0, 1.0, 2.0], 3, 1)?;
/// assert_eq!(measure(&phi, blocks.view())?.column(0), [5.0, 3.0]);
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §IV-A, Eq. (14).
pub fn measure<T: Scalar>(phi: &dyn Degradation<T>, blocks: MatrixView<'_, T>) -> Result<Matrix<T>> {
    expect_size("blocks: number of features (those of phi)", phi.n_features(), blocks.rows())?;
    blocks.expect_finite("blocks")?;
    apply_to_columns(phi, blocks)
}

/// q = Φ1, what Φ makes of a block of ones.
struct Constant {
    measured: Vec<f64>,
    /// ‖q‖².
    energy: f64,
}

impl Constant {
    fn seen_through<T: Scalar>(phi: &dyn Degradation<T>) -> Self {
        let mut measured = vec![T::ZERO; phi.n_measurements()];
        phi.apply(&vec![T::ONE; phi.n_features()], &mut measured);
        let measured: Vec<f64> = measured.iter().map(|value| value.to_f64()).collect();
        Self { energy: measured.iter().map(|value| value * value).sum(), measured }
    }

    /// Refuses Φ that makes next to nothing of a constant compared with what it makes of single pixels: the means would
    /// be rounding or noise, enlarged.
    fn expect_seen<T: Scalar>(&self, phi: &dyn Degradation<T>) -> Result<()> {
        let (mut pixel, mut measured) = (vec![T::ZERO; phi.n_features()], vec![T::ZERO; phi.n_measurements()]);
        let mut energy = 0.0;
        for i in 0..pixel.len() {
            pixel[i] = T::ONE;
            phi.apply(&pixel, &mut measured);
            energy += measured.iter().map(|value| value.to_f64().powi(2)).sum::<f64>();
            pixel[i] = T::ZERO;
        }
        if self.energy > f64::from(f32::EPSILON) * energy {
            return Ok(());
        }
        Err(Error::parameter("dc", "free", "phi does not see the mean of a block; give the means (Dc::Known)"))
    }

    /// The c with the least ‖z − cq‖².
    fn of<T: Scalar>(&self, z: &[T]) -> f64 {
        self.measured.iter().zip(z).map(|(q, z)| q * z.to_f64()).sum::<f64>() / self.energy
    }

    fn of_columns<T: Scalar>(&self, measurements: MatrixView<'_, T>) -> Vec<f64> {
        let mut z = vec![T::ZERO; measurements.rows()];
        let constant = |i: usize| {
            measurements.copy_column(i, &mut z);
            self.of(&z)
        };
        (0..measurements.columns()).map(constant).collect()
    }

    /// z − cq for each column and its c.
    fn removed<T: Scalar>(&self, measurements: MatrixView<'_, T>, constants: &[f64]) -> Matrix<T> {
        let mut rest = measurements.to_matrix();
        for (i, c) in constants.iter().enumerate() {
            let entries = rest.column_mut(i).iter_mut().zip(&self.measured);
            entries.for_each(|(z, q)| *z = T::from_f64(z.to_f64() - c * q));
        }
        rest
    }

    /// The model, seen through Φ, whose atoms bring their own best constants: d′ instead of d (see [`Dc`]).
    fn given_to<T: Scalar>(&self, seen: Model<T>) -> Result<Model<T>> {
        let ensemble = |ensemble: &Ensemble<T>| {
            let models = ensemble.models().iter().map(|model| self.given_to_atoms(model)).collect::<Result<_>>()?;
            Ensemble::new(models, ensemble.beta().to_vec())
        };
        match seen {
            Model::Ensemble(models) => ensemble(&models).map(Model::Ensemble),
            Model::Multilevel(dictionary) => {
                let levels = dictionary.levels().iter().map(ensemble).collect::<Result<_>>()?;
                let coefficients = dictionary.coefficients();
                Ok(Model::Multilevel(MultilevelDictionary::new(levels)?.with_coefficients(coefficients)))
            }
            // What `degraded_by` has made of a dictionary is an ensemble, and the others have no atoms to code with.
            other @ (Model::Dictionary(..) | Model::Online(..) | Model::Gaussians(_) | Model::Upscaler(_)) => Ok(other),
        }
    }

    fn given_to_atoms<T: Scalar>(&self, model: &SparseModel<T>) -> Result<SparseModel<T>> {
        let coding = model.coding_atoms();
        let constants: Vec<f64> = (0..coding.columns()).map(|j| self.of(coding.column(j))).collect();
        let mut synthesis = model.synthesis().clone();
        add_means(&mut synthesis, &constants.iter().map(|c| -c).collect::<Vec<_>>())?;
        SparseModel::paired(self.removed(coding.view(), &constants).view(), synthesis.view())
    }
}
