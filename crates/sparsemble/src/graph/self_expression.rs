//! Graphs of samples coded by each other: X ≈ XA with a_ii = 0 (§V, Eq. (17)).

use crate::blocks::Run;
use crate::coding::{Coder, CodingBasis, ElasticNet, Pursuit, Samples, SparseCoder};
use crate::error::Result;
use crate::matrix::MatrixView;
use crate::scalar::Scalar;

use super::{BuiltGraph, Graph, check_samples};

/// The graph S = |A| + |Aᵀ|, where column i of A codes sample i by the other samples.
///
/// | field | symbol | default | purpose |
/// | --- | --- | --- | --- |
/// | `coder` | λ | lasso, λ = 0.2 | how each sample is coded by the others |
///
/// With the lasso this is the l1 graph, or sparse subspace clustering by basis pursuit (SSC-BP); with the elastic net it is
/// EnSC ([`elastic_net`](Self::elastic_net)), with orthogonal matching pursuit SSC-OMP ([`omp`](Self::omp)).
///
/// Merge equal samples before ([`Duplicates`](crate::clustering::Duplicates)): each would be coded by its twin alone.
///
/// # Shapes
/// Samples M × T, at least two; T vertices.
///
/// # Cost
/// That of coding T samples in a dictionary of T atoms: with the lasso about 5 times M·T² multiply-adds at the speed of a
/// matrix product. Memory for two copies of the samples and for the codes.
///
/// # Errors
/// If there are fewer than two samples, a value is not finite, or those of the coder.
///
/// # Example
/// ```
/// use sparsemble::graph::SelfExpression;
/// use sparsemble::{Matrix, Run};
///
/// // Two lines through the origin.
/// let samples = Matrix::from_columns(vec![1.0, 0.0, 0.9, 0.0, 0.0, 1.0, 0.0, -0.8], 2, 4)?;
/// let built = SelfExpression::default().build(samples.view(), Run::default())?;
/// assert_eq!(built.graph.row(0).0, [1]);
/// assert_eq!(built.graph.row(2).0, [3]);
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §V, Eq. (17).
#[doc(alias = "l1 graph")]
#[doc(alias = "SSC")]
#[derive(Debug, Clone, PartialEq)]
pub struct SelfExpression {
    /// How each sample is coded by the others.
    pub coder: Coder,
}

impl Default for SelfExpression {
    fn default() -> Self {
        Self { coder: Coder::lambda(0.2) }
    }
}

impl SelfExpression {
    /// EnSC with a price in units of each sample's own, whatever the scale of the samples: λ is a fiftieth of λ_max, and
    /// about 5 % of the price of a code are for its squares.
    ///
    /// λ‖a‖₁ + (1 − λ)/2·‖a‖² + γ/2·‖x − Xa‖² of You, Li, Robinson and Vidal, "Oracle based active set algorithm for scalable
    /// elastic net subspace clustering" (2016), is ours times γ/2. γ = 50·γ₀ is what their program
    /// (<https://github.com/ChongYou/subspace-clustering>) has without settings. Their mixture λ is 1 there, the lasso, and
    /// 0.9 in their example of MNIST; ours is between: 1/(1 + c/20), about 0.95, where c is the cosine of a sample and the
    /// nearest other. No label was looked at.
    pub fn elastic_net() -> Self {
        Self { coder: Coder::ElasticNet(ElasticNet { relative: true, ..ElasticNet::new(0.02, 0.001) }) }
    }

    /// SSC-OMP as it is usually set, for samples of unit norm: at most ten samples in a code, fewer if they leave an error of
    /// 10⁻⁶ or if there are fewer features.
    ///
    /// That is what the program of You, Robinson and Vidal, "Scalable sparse subspace clustering by orthogonal matching
    /// pursuit" (2016), has without settings (<https://github.com/ChongYou/subspace-clustering>); no label was looked at.
    pub fn omp() -> Self {
        Self { coder: Coder::Pursuit(Pursuit { error: Some(1e-6), ..Pursuit::omp(10) }) }
    }

    /// Codes each sample by the others.
    ///
    /// # Errors
    /// See [`SelfExpression`].
    pub fn build<T: Scalar>(&self, samples: MatrixView<'_, T>, run: Run<'_>) -> Result<BuiltGraph> {
        check_samples(samples)?;
        let basis = CodingBasis::new(samples)?;
        let own: Vec<Option<usize>> = (0..samples.columns()).map(Some).collect();
        let coding = self.coder.encode(&basis, &Samples::new(samples).excluding(&own), run)?;
        Ok(BuiltGraph::new(Graph::from_directed(&coding.codes)?, coding.report.unconverged()))
    }
}
