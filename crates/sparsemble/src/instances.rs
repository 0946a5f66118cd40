//! The heavy algorithms, compiled once.
//!
//! Rust compiles generic code in each crate that calls it. Ours is generic over two scalars and, inside, over every
//! instruction set: minutes for each program, test and extension module. So the public functions that are heavy to compile
//! go through a table of function pointers, one for each [`Scalar`], which is filled here: their bodies, called `…_here`,
//! are compiled in this crate and in no other. What is light, or is called only by these, needs no entry.

use crate::blocks::Run;
use crate::clustering::{Duplicates, Preparation, Prepared};
use crate::coding::{
    self, Coding, CodingBasis, ElasticNet, Fista, Lasso, OneSparse, Pursuit, Samples, SparseCoder, SparseCodes,
};
use crate::degradation::Degradation;
use crate::dictionary::{Alternation, Dictionary, Draw, Hyperlines, Lines, OnlineLearner};
use crate::ensemble::{
    Approximation, Boosting, CodedRound, Ensemble, Estimate, GaussianEstimator, GaussianLearner, GaussianLearning,
    LocalGaussians, MemberGram, OracleWeights, Seen, WeightConstraint, simplex_weights_here,
};
use crate::error::Result;
use crate::graph::{BuiltGraph, ExampleGraph, MemberGraph, NeighbourGraph, StackedCodes};
use crate::kmeans::{self, Clustering, WeightedKMeans};
use crate::masses::Masses;
use crate::matrix::{Matrix, MatrixView};
use crate::patch::sliding_blocks_here;
use crate::recipe::{Recipe, Trained, Watch, Work};
use crate::scalar::Scalar;

type Encode<C, T> = fn(&C, &CodingBasis<T>, &Samples<'_, T>, Run<'_>) -> Result<Coding<T>>;
type Represent<T, R> = fn(&Ensemble<T>, MatrixView<'_, T>, &(dyn SparseCoder<T> + Sync), Run<'_>) -> Result<R>;

/// The entry points for one scalar.
#[expect(clippy::type_complexity, reason = "each type is the signature of a public function, and is written once")]
pub struct Instances<T: Scalar> {
    pub(crate) lasso: Encode<Lasso, T>,
    pub(crate) elastic_net: Encode<ElasticNet, T>,
    pub(crate) pursuit: Encode<Pursuit, T>,
    pub(crate) one_sparse: Encode<OneSparse, T>,
    pub(crate) fista: fn(&Fista, &CodingBasis<T>, &dyn Degradation<T>, &Samples<'_, T>, Run<'_>) -> Result<Coding<T>>,
    pub(crate) lambda_max: fn(&CodingBasis<T>, &Samples<'_, T>, Run<'_>) -> Result<Vec<f64>>,
    pub(crate) clusters: fn(&WeightedKMeans<T>, MatrixView<'_, T>, &[f64], Draw, Run<'_>) -> Result<Clustering<T>>,
    pub(crate) first_centers: fn(&WeightedKMeans<T>, MatrixView<'_, T>, &[f64], Draw, Run<'_>) -> Result<Matrix<T>>,
    pub(crate) assign: fn(MatrixView<'_, T>, MatrixView<'_, T>, Run<'_>) -> Result<Vec<u32>>,
    pub(crate) alternation: fn(&mut Alternation<'_, T>, Run<'_>) -> Result<Option<f64>>,
    pub(crate) online: fn(&mut OnlineLearner<T>, MatrixView<'_, T>, Masses<'_>, &[usize], Run<'_>) -> Result<f64>,
    pub(crate) lines: fn(&Hyperlines, MatrixView<'_, T>, &[f64], Dictionary<T>, Run<'_>) -> Result<Lines<T>>,
    pub(crate) boosting:
        fn(&mut Boosting<'_, T>, Dictionary<T>, Option<CodedRound<T>>, Run<'_>) -> Result<CodedRound<T>>,
    pub(crate) approximate: Represent<T, Approximation<T>>,
    pub(crate) transform: Represent<T, Coding<T>>,
    pub(crate) reconstruct: fn(&Ensemble<T>, &SparseCodes<T>, Run<'_>) -> Result<Matrix<T>>,
    pub(crate) member_gram: for<'a> fn(
        &Ensemble<T>,
        MatrixView<'_, T>,
        MatrixView<'_, T>,
        Option<&'a [f64]>,
        &(dyn SparseCoder<T> + Sync),
        Run<'_>,
    ) -> Result<MemberGram>,
    pub(crate) oracle_weights: fn(
        &Ensemble<T>,
        MatrixView<'_, T>,
        MatrixView<'_, T>,
        &[WeightConstraint],
        &(dyn SparseCoder<T> + Sync),
        Run<'_>,
    ) -> Result<Vec<OracleWeights>>,
    pub(crate) simplex_weights: fn(MatrixView<'_, T>, MatrixView<'_, T>, Run<'_>) -> Result<SparseCodes<T>>,
    pub(crate) sliding_blocks: fn(MatrixView<'_, T>, (usize, usize), &mut [T]) -> Result<()>,
    pub(crate) gaussian_start:
        for<'a> fn(&GaussianLearner, MatrixView<'a, T>, Option<&'a [f64]>, Run<'_>) -> Result<GaussianLearning<'a, T>>,
    pub(crate) gaussian_step: fn(&mut GaussianLearning<'_, T>, Run<'_>) -> Result<Option<f64>>,
    pub(crate) estimator: fn(&LocalGaussians<T>, &Seen<'_, T>, Run<'_>) -> Result<GaussianEstimator<T>>,
    pub(crate) estimate: fn(&GaussianEstimator<T>, MatrixView<'_, T>, Run<'_>) -> Result<Estimate<T>>,
    pub(crate) preparation:
        for<'a> fn(Preparation, MatrixView<'_, T>, Option<&'a [f64]>, Run<'_>) -> Result<Prepared<T>>,
    pub(crate) duplicates: fn(MatrixView<'_, T>, Run<'_>) -> Result<Duplicates>,
    pub(crate) member_codes:
        for<'a> fn(&MemberGraph, MatrixView<'_, T>, Option<&'a [f64]>, u64, Run<'_>) -> Result<StackedCodes>,
    pub(crate) example_graph: fn(&ExampleGraph, MatrixView<'_, T>, u64, Run<'_>) -> Result<BuiltGraph>,
    pub(crate) neighbours: fn(NeighbourGraph, MatrixView<'_, T>, Run<'_>) -> Result<BuiltGraph>,
    pub(crate) train: fn(&Recipe, Work<'_, T>, &mut Watch<'_, T>) -> Result<Trained<T>>,
}

impl<T: Scalar> Instances<T> {
    /// To be called for concrete types only: whoever calls it compiles everything.
    pub(crate) const fn of_scalar() -> Self {
        Self {
            lasso: Lasso::encode_here,
            elastic_net: ElasticNet::encode_here,
            pursuit: Pursuit::encode_here,
            one_sparse: OneSparse::encode_here,
            fista: Fista::encode_here,
            lambda_max: coding::lambda_max_here,
            clusters: WeightedKMeans::fit_here,
            first_centers: WeightedKMeans::initialise_here,
            assign: kmeans::assign_here,
            alternation: |alternation, run| alternation.step_here(run),
            online: OnlineLearner::step_here,
            lines: Hyperlines::refine_here,
            boosting: |boosting, dictionary, known, run| boosting.take_here(dictionary, known, run),
            approximate: Ensemble::approximate_here,
            transform: Ensemble::transform_here,
            reconstruct: Ensemble::reconstruct_here,
            member_gram: Ensemble::member_gram_here,
            oracle_weights: Ensemble::oracle_weights_here,
            simplex_weights: simplex_weights_here,
            sliding_blocks: sliding_blocks_here,
            gaussian_start: GaussianLearner::start_here,
            gaussian_step: |learning, run| learning.step_here(run),
            estimator: LocalGaussians::estimator_here,
            estimate: GaussianEstimator::estimate_here,
            preparation: Preparation::prepare_here,
            duplicates: Duplicates::find_here,
            member_codes: MemberGraph::codes_here,
            example_graph: ExampleGraph::build_here,
            neighbours: NeighbourGraph::build_here,
            train: Recipe::train_here,
        }
    }
}
