//! Graphs of samples coded by example dictionaries: |Ā| + |Āᵀ| for RandExAv and BoostEx (§V).

use crate::blocks::Run;
use crate::coding::{CodeStrips, CodingBasis, OneSparse, Samples, SparseCoder, SparseCodes};
use crate::dictionary::Examples;
use crate::ensemble::{Averaging, Boost, own_atoms, weights_of_rounds};
use crate::error::{Error, Result};
use crate::matrix::MatrixView;
use crate::scalar::Scalar;

use super::{AtomCount, BuiltGraph, Graph, check_samples};

/// The graph S = |Ā| + |Āᵀ|, where column i of Ā is the mean of L codes of sample i, each by one of K samples.
///
/// Every atom of an example dictionary is a sample, so a code in it is a code by samples; the mean is weighted by β.
///
/// | field | symbol | default | purpose | range |
/// | --- | --- | --- | --- | --- |
/// | `weights` | β | averaged | RandExAv or BoostEx, see [`ExampleWeights`] | |
/// | `n_members` | L | 30 | dictionaries | ≥ 1 |
/// | `atoms` | K | T/8, at most 2048 | samples in each | 2 to T |
/// | `nonnegative` | a ≥ 0 | `false` | whether a sample may only be coded by samples on its own side | |
///
/// No sample is coded by itself. The paper states neither L nor K for its graphs, and its coefficients have either sign.
///
/// # Shapes
/// Samples M × T, at least two; T vertices, with L edges each at first and about 2·L at the end.
///
/// # Cost
/// L·K·M multiply-adds a sample at the speed of a matrix product. Memory for 8·L bytes a sample and for the graph; BoostEx
/// also keeps the approximations of all samples.
///
/// # Errors
/// If there are fewer than two samples or fewer than atoms, a value is not finite, or a parameter is out of range.
///
/// # Example
/// ```
/// use sparsemble::graph::{AtomCount, ExampleGraph};
/// use sparsemble::{Matrix, Run};
///
/// let samples = Matrix::from_fn(3, 20, |r, i| if r == i % 2 { 1.0 } else { 0.01 * i as f64 });
/// let graph = ExampleGraph { atoms: AtomCount::Exactly(10), ..ExampleGraph::default() };
/// let built = graph.build(samples.view(), 1, Run::default())?;
/// assert!(built.graph.row(0).0.iter().all(|j| j % 2 == 0));
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §V; §III-A (RandExAv), §III-B (BoostEx).
#[doc(alias = "RandExAv")]
#[doc(alias = "BoostEx")]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExampleGraph {
    /// How dictionaries are drawn and weighted.
    pub weights: ExampleWeights,
    /// L.
    pub n_members: usize,
    /// K.
    pub atoms: AtomCount,
    /// Whether coefficients must be positive.
    pub nonnegative: bool,
}

/// How the dictionaries of an [`ExampleGraph`] are drawn and weighted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExampleWeights {
    /// Each sample is as likely as any other, and every member counts alike: RandExAv.
    Averaged,
    /// Samples are drawn by what the last member has left of them, and members count by β: BoostEx.
    ///
    /// β may be negative. There are fewer members than asked for if fewer than K samples have an error left.
    Boosted,
}

impl Default for ExampleGraph {
    fn default() -> Self {
        Self { weights: ExampleWeights::Averaged, n_members: 30, atoms: AtomCount::default(), nonnegative: false }
    }
}

/// The sample that codes each sample in one member, and its coefficient, zero if there is none.
struct Member {
    sources: Vec<u32>,
    coefficients: Vec<f32>,
}

impl ExampleGraph {
    /// The paper's BoostEx.
    pub fn boost_ex() -> Self {
        Self { weights: ExampleWeights::Boosted, ..Self::default() }
    }

    /// Draws the dictionaries and codes all samples in them.
    ///
    /// # Errors
    /// See [`ExampleGraph`].
    pub fn build<T: Scalar>(&self, samples: MatrixView<'_, T>, seed: u64, run: Run<'_>) -> Result<BuiltGraph> {
        (T::instances().example_graph)(self, samples, seed, run)
    }

    /// [`Self::build`]; see [`crate::instances`].
    pub(crate) fn build_here<T: Scalar>(
        &self,
        samples: MatrixView<'_, T>,
        seed: u64,
        run: Run<'_>,
    ) -> Result<BuiltGraph> {
        check_samples(samples)?;
        if self.n_members == 0 {
            return Err(Error::parameter("members", 0, "must be at least 1"));
        }
        let examples = Examples { n_atoms: self.atoms.of(samples.columns())? };
        let (members, beta) = match self.weights {
            ExampleWeights::Averaged => self.averaged(samples, examples, seed, run)?,
            ExampleWeights::Boosted => self.boosted(samples, examples, seed, run)?,
        };
        Ok(BuiltGraph::new(Graph::from_directed(&combined(&members, &beta))?, 0))
    }

    fn averaged<T: Scalar>(
        &self,
        samples: MatrixView<'_, T>,
        examples: Examples,
        seed: u64,
        run: Run<'_>,
    ) -> Result<(Vec<Member>, Vec<f64>)> {
        let averaging = Averaging { n_models: self.n_members, seed, ..Averaging::new(&examples) };
        let (mut members, passes) = (Vec::new(), self.n_members.saturating_mul(2));
        for number in 0..self.n_members {
            let part = |pass: usize| run.passes(pass..pass + 1, passes, samples.columns());
            let dictionary = averaging.member(samples, number, part(2 * number))?;
            let basis = CodingBasis::new(dictionary.view())?;
            let own = own_atoms(&dictionary, samples.columns())?;
            let inputs = Samples::new(samples).excluding(&own);
            let coding = self.coder().encode(&basis, &inputs, part(2 * number + 1))?;
            members.push(Member::new(dictionary.sources(), &vec![coding.codes].into())?);
        }
        let beta = vec![1.0 / members.len() as f64; members.len()];
        Ok((members, beta))
    }

    fn boosted<T: Scalar>(
        &self,
        samples: MatrixView<'_, T>,
        examples: Examples,
        seed: u64,
        run: Run<'_>,
    ) -> Result<(Vec<Member>, Vec<f64>)> {
        let coder = self.coder();
        let boost = Boost { n_models: self.n_members, seed, exclude_own: true, ..Boost::new(&examples, &coder) };
        let mut boosting = boost.start(samples, run)?;
        let mut members = Vec::new();
        let part = |round: usize| run.passes(round..round + 1, self.n_members, samples.columns());
        while let Some((_, codes)) = boosting.step_with_codes(part(members.len()))? {
            let sources = boosting.members().last().and_then(|dictionary| dictionary.sources());
            members.push(Member::new(sources, &codes)?);
        }
        Ok((members, weights_of_rounds(&boosting.alphas())))
    }

    fn coder(&self) -> OneSparse {
        OneSparse { nonnegative: self.nonnegative, ..OneSparse::default() }
    }
}

impl Member {
    /// From the 1-sparse codes of all samples.
    fn new<T: Scalar>(sources: Option<&[usize]>, codes: &CodeStrips<T>) -> Result<Self> {
        let sources_of_atoms = sources.unwrap_or_default();
        let (mut sources, mut coefficients) = (Vec::new(), Vec::new());
        for strip in codes.iter() {
            let strip = strip?;
            for i in 0..strip.n_samples() {
                let entry = strip.column(i).next();
                sources.push(entry.map_or(0, |(atom, _)| sources_of_atoms[atom] as u32));
                coefficients.push(entry.map_or(0.0, |(_, a)| a.to_f64() as f32));
            }
        }
        Ok(Self { sources, coefficients })
    }
}

/// Ā = Σ β_l Ā_l.
fn combined(members: &[Member], beta: &[f64]) -> SparseCodes<f64> {
    let n_samples = members.first().map_or(0, |member| member.sources.len());
    let most = n_samples.saturating_mul(members.len());
    let mut codes = SparseCodes::with_capacity(n_samples, n_samples, most);
    let mut entries: Vec<(u32, f64)> = Vec::with_capacity(members.len());
    for i in 0..n_samples {
        entries.clear();
        let coefficient =
            |(member, &beta): (&Member, &f64)| (member.sources[i], beta * f64::from(member.coefficients[i]));
        entries.extend(members.iter().zip(beta).map(coefficient));
        entries.sort_by_key(|(source, _)| *source); // stable: the sums are those of the rounds in order
        let sums = entries.chunk_by(|a, b| a.0 == b.0).map(|group| (group[0].0, group.iter().map(|(_, a)| a).sum()));
        codes.push(sums);
    }
    codes
}
