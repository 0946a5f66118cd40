//! The lasso, Eqs. (1) and (15), to a certified optimum.
//!
//! Samples are coded in blocks. A *round* sends the residuals of the block through the fused pass over the dictionary
//! ([`crate::kernels`]), in sixteen bits, which marks all atoms whose correlation may be large. Their products are then
//! computed in the number type and serve twice: the largest of all gives the sample's duality gap, and the sample is finished
//! if that is small enough; otherwise these are the atoms missing from its working set, and the small problem on support and
//! newcomers is solved exactly ([`active_set`]). Three or four rounds are usual. For small dictionaries the first round sees
//! all atoms at once through a Gram matrix ([`overview`]) and is usually the last; with only a few atoms or features samples
//! are coded side by side before it ([`few`]). Nothing of size K × T is ever formed.

mod active_set;
mod certificate;
mod elastic_net;
mod few;
mod few_atoms;
mod few_features;
mod few_members;
mod goal;
mod inverse;
mod outcome;
mod overview;
mod rounds;
mod side_by_side;

pub use elastic_net::ElasticNet;

use std::ops::Range;

use crate::blocks::{Pulse, Run, block_size};
use crate::error::{Error, Result, expect_size};
use crate::kernels::{Columns, Largest, Maxima, Tiles, correlate};
use crate::matrix::MatrixView;
use crate::scalar::Scalar;

use super::{Coding, CodingBasis, Samples, SparseCoder, join};
use rounds::{BLOCK, Block, Plan};

/// Samples with weights of their own that are coded at a time: each is a problem of its own.
const WEIGHED: usize = 8;

/// The lasso: min over a of ‖x − Da‖² + λ Σ w_j|a_j|, or one of its constrained forms.
///
/// There is no ½ in front of the error: `lambda` is that of Eq. (1) everywhere in this crate, and scikit-learn's
/// `alpha` and the λ of SPAMS are λ/2.
///
/// | field | symbol | default | purpose | range |
/// | --- | --- | --- | --- | --- |
/// | `penalty` | λ | – | how sparse, see [`Penalty`] | > 0 |
/// | `nonnegative` | a ≥ 0 | `false` | allow only positive coefficients | |
/// | `atom_weights` | w | all 1 | the price of each atom (for each sample: [`Samples::weighing`]); 0 is free, infinity forbids it | ≥ 0 |
/// | `tolerance` | | 10⁻⁶ | largest duality gap, as a fraction of ‖x‖² | > 0 |
/// | `max_rounds` | | 100 | passes over the dictionary | ≥ 1 |
///
/// The paper uses λ = 0.2 (§II-B) and 0.1 (§IV-A).
///
/// # Shapes
/// D is M × K with any columns, the samples M × T, the codes K × T.
///
/// # Cost
/// Per sample 3 or 4 passes of M·K multiply-adds at the speed of a matrix product in 16 bits, plus about |S|(M + |S|) for every
/// atom that enters the support S; where a Gram matrix of the atoms takes at most 2 MB (4 MB from M = 128 on), one pass and
/// |S|·K for every such atom. Memory does not depend on T, nor on K beyond the dictionary itself and that matrix. Where each sample has its own
/// prices, every sample is a block of its own.
///
/// # Errors
/// See [`SparseCoder::encode`]. Not reaching the tolerance is reported by sample, not an error; in `f32` samples that
/// rounding keeps from it are coded again in `f64`.
///
/// # Example
/// ```
/// use sparsemble::coding::{CodingBasis, Lasso, Samples, SparseCoder};
/// use sparsemble::{Matrix, Run};
///
/// let atoms = Matrix::from_fn(4, 6, |r, c| ((r * 5 + c * 3) % 7) as f64 - 3.0);
/// let samples = Matrix::from_fn(4, 3, |r, c| (r + c) as f64);
/// let basis = CodingBasis::new(atoms.view())?;
/// let coding = Lasso::lambda(0.2).encode(&basis, &Samples::new(samples.view()), Run::default())?;
/// assert!(coding.report.worst_gap <= Some(1e-6));
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §I-A, Eq. (1); §IV, Eq. (15); §V, Eq. (17).
#[derive(Debug, Clone, PartialEq)]
pub struct Lasso {
    /// What is traded against the error.
    pub penalty: Penalty,
    /// Allow only positive coefficients.
    pub nonnegative: bool,
    /// One factor on λ for each atom: 0 makes it free, infinity forbids it.
    pub atom_weights: Option<Vec<f64>>,
    /// The largest duality gap of a finished sample, as a fraction of its energy ‖x‖².
    pub tolerance: f64,
    /// The most passes over the dictionary; a sample not finished by then is reported.
    pub max_rounds: usize,
}

/// How the sparsity of a lasso code is set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Penalty {
    /// λ of Eq. (1).
    Lambda(f64),
    /// This fraction of each sample's own [`lambda_max`]: 1 and above gives the zero code, whatever the scale of the data.
    Relative(f64),
    /// The least Σ w|a| with ‖x − Da‖² at most this.
    Error(f64),
    /// The least ‖x − Da‖² with Σ w|a| at most this.
    L1Norm(f64),
}

impl Lasso {
    /// The lasso of Eq. (1) with everything else at its default.
    pub fn lambda(lambda: f64) -> Self {
        Self::new(Penalty::Lambda(lambda))
    }

    /// Any form of the lasso with everything else at its default.
    pub fn new(penalty: Penalty) -> Self {
        Self { penalty, nonnegative: false, atom_weights: None, tolerance: 1e-6, max_rounds: 100 }
    }

    fn check(&self, n_atoms: usize) -> Result<()> {
        let (name, value) = match self.penalty {
            Penalty::Lambda(value) => ("lambda", value),
            Penalty::Relative(value) => ("relative lambda", value),
            Penalty::Error(value) => ("error", value),
            Penalty::L1Norm(value) => ("l1 norm", value),
        };
        if !(value > 0.0 && value.is_finite()) {
            return Err(Error::parameter(name, value, "must be positive and finite"));
        }
        if !(self.tolerance > 0.0 && self.tolerance.is_finite()) {
            return Err(Error::parameter("tolerance", self.tolerance, "must be positive and finite"));
        }
        if self.max_rounds == 0 {
            return Err(Error::parameter("max_rounds", 0, "must be at least 1"));
        }
        if let Some(weights) = &self.atom_weights {
            expect_size("atom weights: number of atoms", n_atoms, weights.len())?;
            check_weights(weights)?;
        }
        Ok(())
    }

    fn largest(&self) -> Largest {
        if self.nonnegative { Largest::Value } else { Largest::Magnitude }
    }
}

impl<T: Scalar> SparseCoder<T> for Lasso {
    fn encode(&self, basis: &CodingBasis<T>, samples: &Samples<'_, T>, run: Run<'_>) -> Result<Coding<T>> {
        (T::instances().lasso)(self, basis, samples, run)
    }
}

impl Lasso {
    /// [`SparseCoder::encode`]; see [`crate::instances`].
    pub(crate) fn encode_here<T: Scalar>(
        &self,
        basis: &CodingBasis<T>,
        samples: &Samples<'_, T>,
        run: Run<'_>,
    ) -> Result<Coding<T>> {
        self.check(basis.n_atoms())?;
        samples.check_weighed(basis)?;
        let blocks = if let Some(weights) = samples.weights() {
            let code =
                |(): &mut (), range, pulse: &Pulse<'_>| self.encode_weighed(basis, (samples, weights), range, pulse);
            run.map_long_blocks(samples.count(), WEIGHED, || (), code)?
        } else {
            let plan = Plan::new(self, basis, samples, self.atom_weights.as_deref());
            let size = block_size(BLOCK, basis.work());
            run.map_long_blocks(
                samples.count(),
                size,
                || Block::new(&plan, size),
                |block, range, pulse| block.encode(&plan, samples, range, pulse),
            )?
        };
        Ok(join(basis.n_atoms(), blocks))
    }

    /// The samples of a range, each with the weights in its column.
    fn encode_weighed<T: Scalar>(
        &self,
        basis: &CodingBasis<T>,
        (samples, weights): (&Samples<'_, T>, MatrixView<'_, f64>),
        range: Range<usize>,
        pulse: &Pulse<'_>,
    ) -> Result<Coding<T>> {
        let mut own = vec![0.0; basis.n_atoms()];
        let blocks = range.map(|sample| {
            weights.copy_column(sample, &mut own);
            check_weights(&own)?;
            let plan = Plan::new(self, basis, samples, Some(&own));
            Block::new(&plan, 1).encode(&plan, samples, sample..sample + 1, pulse)
        });
        Ok(join(basis.n_atoms(), blocks.collect::<Result<_>>()?))
    }
}

fn check_weights(weights: &[f64]) -> Result<()> {
    match weights.iter().find(|w| w.is_nan() || **w < 0.0) {
        Some(weight) => Err(Error::parameter("atom weight", weight, "must not be negative or NaN")),
        None => Ok(()),
    }
}

/// The smallest λ that gives each sample the zero code: 2·max_j |d_jᵀx|.
///
/// This is the λ of the lasso without atom weights and with coefficients of either sign; for other weights, divide each
/// atom by its own. [`Penalty::Relative`] takes both into account.
///
/// # Errors
/// If sizes disagree or an observed value is not finite.
///
/// ```
/// use sparsemble::coding::{CodingBasis, Samples, lambda_max};
/// use sparsemble::{Matrix, Run};
///
/// let basis = CodingBasis::new(Matrix::from_columns(vec![1.0, 0.0, 0.6, 0.8], 2, 2)?.view())?;
/// let x = Matrix::from_columns(vec![0.0, -5.0], 2, 1)?;
/// assert_eq!(lambda_max(&basis, &Samples::new(x.view()), Run::default())?, [8.0]);
/// # Ok::<(), sparsemble::Error>(())
/// ```
pub fn lambda_max<T: Scalar>(basis: &CodingBasis<T>, samples: &Samples<'_, T>, run: Run<'_>) -> Result<Vec<f64>> {
    (T::instances().lambda_max)(basis, samples, run)
}

/// [`lambda_max`]; see [`crate::instances`].
pub(crate) fn lambda_max_here<T: Scalar>(
    basis: &CodingBasis<T>,
    samples: &Samples<'_, T>,
    run: Run<'_>,
) -> Result<Vec<f64>> {
    samples.check_weighed(basis)?;
    let panels = basis.pack(|j| T::from_f64(basis.scale(j)));
    let size = block_size(BLOCK, basis.work());
    let scratch = || {
        let x = Columns::zeros(basis.n_features(), size);
        let tiles = Tiles::new(basis.n_features(), size);
        (x, tiles, Maxima::new(panels.shape(), size, 1, Largest::Magnitude), Vec::new())
    };
    let blocks = run.map_blocks(samples.count(), size, scratch, |(x, tiles, maxima, scales), range| {
        samples.load(range.clone(), x, scales)?;
        tiles.clear();
        maxima.clear();
        for (slot, sample) in range.enumerate() {
            tiles.push(x.column(slot));
            maxima.exclude(slot, samples.excluded_atom(sample));
        }
        correlate(&panels, tiles, maxima);
        Ok(scales.iter().enumerate().map(|(slot, s)| 2.0 * s * maxima.largest(slot).to_f64()).collect::<Vec<_>>())
    })?;
    Ok(blocks.concat())
}
