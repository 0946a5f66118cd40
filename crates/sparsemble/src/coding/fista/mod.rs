//! The lasso where the matrix is only an operator: FISTA, and ISTA, which is FISTA without momentum.
//!
//! In these files F is the map from codes to observed values: D, or ΦD, or either under a sample's mask. It is applied
//! forwards and backwards and never formed, and neither is a Gram matrix. With r = x − Fa and c = Fᵀr, a step goes from
//! y = a + β(a − a⁻) to a⁺ = shrink(y + c(y)/L, λ/2L), where a⁻ is the code before a and L ≥ ‖F‖².
//!
//! - r and c are computed afresh for each code, and those of y follow by linearity; so a step costs one use of F and
//!   one of Fᵀ, and the duality gap of every code comes for free.
//! - L comes from a power iteration, which can only fall short of ‖F‖²; a step that meets more curvature than L is
//!   taken again with what it met.

mod operator;
mod solver;

use crate::blocks::Run;
use crate::degradation::{Degradation, Identity};
use crate::error::{Error, Result, expect_size};
use crate::matrix::MatrixView;
use crate::scalar::Scalar;

use super::{Coding, CodingBasis, Samples, SparseCoder, join};
use operator::Operator;
use solver::{BLOCK, Solver};

/// The lasso by proximal gradient steps: min over a of ‖x − Da‖² + λ‖a‖₁, or ‖z − ΦDa‖² + λ‖a‖₁ by
/// [`encode_through`](Self::encode_through).
///
/// It finds the same codes as [`Lasso`](super::Lasso), to the same kind of certificate, but many times slower: use it
/// where Φ is an operator, so that there is no matrix to give to the other coders, or where ΦD would not fit.
///
/// A code is accepted when its duality gap is at most `tolerance`·‖x‖². The dual point is the residual, scaled until it
/// is feasible; with λ = 0 none is, short of a residual orthogonal to all atoms, so least squares run into
/// `max_iterations` unless the atoms reach the sample exactly.
///
/// | field | symbol | default | range |
/// | --- | --- | --- | --- |
/// | `lambda` | λ | none | finite, ≥ 0 |
/// | `momentum` | β | Nesterov | |
/// | `nonnegative` | a ≥ 0 | no | |
/// | `tolerance` | | 10⁻⁶ | finite, > 0 |
/// | `max_iterations` | | 10 000 | ≥ 1 |
///
/// # Shapes
/// D is M × K, the samples M × T; Φ is N × M and the measurements N × T. The codes are K × T.
///
/// # Cost
/// One use of D and Φ and one of their adjoints for each step: M·K multiply-adds plus those of Φ. Typically tens to
/// thousands of steps a sample, more for a smaller λ and for more coherent atoms.
///
/// # Example
/// ```
/// use sparsemble::coding::{CodingBasis, Fista, Samples, SparseCoder};
/// use sparsemble::{Matrix, Run};
///
/// let atoms = Matrix::from_columns(vec![1.0, 0.0, 0.6, 0.8], 2, 2)?;
/// let sample = Matrix::from_columns(vec![3.0, 4.0], 2, 1)?;
/// let basis = CodingBasis::new(atoms.view())?;
/// let coding = Fista::lambda(0.2).encode(&basis, &Samples::new(sample.view()), Run::default())?;
/// // The sample is five times the second atom; the penalty takes λ/2 away.
/// assert!((coding.codes.to_dense().column(0)[1] - 4.9_f64).abs() < 0.01);
/// assert!(coding.report.worst_gap <= Some(1e-6));
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §I-A, Eq. (1); §IV, Eq. (15).
#[derive(Debug, Clone, PartialEq)]
pub struct Fista {
    /// λ of Eq. (1), without ½; finite and not negative.
    pub lambda: f64,
    /// Whether steps build up speed.
    pub momentum: Momentum,
    /// Allow only positive coefficients.
    pub nonnegative: bool,
    /// The largest acceptable duality gap, as a fraction of the sample's energy ‖x‖².
    pub tolerance: f64,
    /// The most passes over the dictionary for one sample.
    pub max_iterations: usize,
}

/// Whether proximal gradient steps build up speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Momentum {
    /// They do not: ISTA, whose objective never rises.
    None,
    /// They do, and start again from rest whenever the momentum points uphill: FISTA with adaptive restart.
    #[default]
    Nesterov,
}

impl Fista {
    /// The default settings at this λ.
    pub fn lambda(lambda: f64) -> Self {
        Self { lambda, momentum: Momentum::Nesterov, nonnegative: false, tolerance: 1e-6, max_iterations: 10_000 }
    }

    /// Codes measurements z ≈ Φ·D·a, where Φ is only an operator: Eq. (15) without forming ΦD.
    ///
    /// `samples` holds the measurements in columns, one for each sample; the codes are for the atoms of D, so
    /// `codes.approximate(atoms)` is the restored batch.
    ///
    /// # Errors
    /// If sizes disagree, a value is not finite, Φ makes values that are not finite, a parameter is out of range, or
    /// the run was interrupted.
    ///
    /// # Example
    /// ```
    /// use sparsemble::coding::Fista;
    /// use sparsemble::degradation::Dense;
    /// use sparsemble::{Matrix, Run};
    ///
    /// // Two atoms in three dimensions, of which only the sum of the first two and the third are measured.
    /// let atoms = Matrix::from_columns(vec![1.0, 0.0, 0.0, 0.0, 0.6, 0.8], 3, 2)?;
    /// let phi = Dense::new(Matrix::from_columns(vec![1.0, 0.0, 1.0, 0.0, 0.0, 1.0], 2, 3)?.view())?;
    /// let measured = Matrix::from_columns(vec![1.2, 1.6], 2, 1)?; // Φ applied to twice the second atom
    /// let coding = Fista::lambda(1e-3).encode_through(atoms.view(), &phi, measured.view(), Run::default())?;
    /// let restored = coding.codes.approximate(atoms.view())?;
    /// assert!((restored.as_slice()[1] - 1.2_f64).abs() < 0.01);
    /// # Ok::<(), sparsemble::Error>(())
    /// ```
    ///
    /// Paper: §IV, Eqs. (14) and (15).
    pub fn encode_through<T: Scalar>(
        &self,
        atoms: MatrixView<'_, T>,
        phi: &dyn Degradation<T>,
        samples: MatrixView<'_, T>,
        run: Run<'_>,
    ) -> Result<Coding<T>> {
        let basis = CodingBasis::new(atoms)?;
        expect_size("atoms: number of features (that of phi)", phi.n_features(), basis.n_features())?;
        expect_size("samples: number of measurements (that of phi)", phi.n_measurements(), samples.rows())?;
        (T::instances().fista)(self, &basis, phi, &Samples::new(samples), run)
    }

    /// Both of the above and below; see [`crate::instances`].
    pub(crate) fn encode_here<T: Scalar>(
        &self,
        basis: &CodingBasis<T>,
        phi: &dyn Degradation<T>,
        samples: &Samples<'_, T>,
        run: Run<'_>,
    ) -> Result<Coding<T>> {
        self.check()?;
        let measuring = run.part(0..0, samples.count());
        let operator = measuring.listening(|pulse| Operator::new(basis, phi, pulse))?;
        let blocks = run.map_long_blocks(
            samples.count(),
            BLOCK,
            || Solver::new(self, &operator),
            |solver, range, pulse| solver.encode_block(samples, range, pulse),
        )?;
        Ok(join(basis.n_atoms(), blocks))
    }

    fn check(&self) -> Result<()> {
        if !(self.lambda >= 0.0 && self.lambda.is_finite()) {
            return Err(Error::parameter("lambda", self.lambda, "must be finite and not negative"));
        }
        if !(self.tolerance > 0.0 && self.tolerance.is_finite()) {
            return Err(Error::parameter("tolerance", self.tolerance, "must be positive and finite"));
        }
        if self.max_iterations == 0 {
            return Err(Error::parameter("max_iterations", 0, "must be at least 1"));
        }
        Ok(())
    }
}

impl<T: Scalar> SparseCoder<T> for Fista {
    fn encode(&self, basis: &CodingBasis<T>, samples: &Samples<'_, T>, run: Run<'_>) -> Result<Coding<T>> {
        samples.check(basis)?;
        (T::instances().fista)(self, basis, &Identity::new(basis.n_features()), samples, run)
    }
}
