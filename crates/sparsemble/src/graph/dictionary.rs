//! The graph of codes in a learned dictionary: |AᵀA| (§V).

use crate::blocks::Run;
use crate::coding::{CodingBasis, Samples, SparseCoder};
use crate::dictionary::{AltOpt, Centers, WeakLearner};
use crate::error::Result;
use crate::matrix::MatrixView;
use crate::scalar::Scalar;

use super::product::product_graph;
use super::{AtomCount, BuiltGraph, check_samples};

/// The graph S = |AᵀA|, where column i of A codes sample i in a dictionary learned from all samples.
///
/// | field | symbol | default | purpose | range |
/// | --- | --- | --- | --- | --- |
/// | `atoms` | K | one for 8 samples, at most 64 | atoms of the dictionary | 2 to T |
/// | `lambda` | λ | 0.2 | penalty of the codes, in learning and after it | > 0 |
/// | `max_iterations` | | 50 | the most atom updates of Alt-Opt, which starts from K-Means centres | any |
///
/// Samples are alike if they use the same atoms. With few atoms, or codes of many entries, nearly all pairs of samples
/// share one and the graph is nearly a full T × T matrix.
///
/// The paper does not say what K is. 64 is what its Table 3 is made with here; the fewer atoms of small sets are in the
/// proportion that ensembles have.
///
/// # Shapes
/// Samples M × T, at least two; T vertices.
///
/// # Cost
/// That of [`AltOpt`] and of coding all samples once more; then Σ n² multiply-adds, where an atom codes n samples.
///
/// # Errors
/// If there are fewer than two samples or fewer than atoms, or those of [`AltOpt`].
///
/// # Example
/// ```
/// use sparsemble::graph::DictionaryGraph;
/// use sparsemble::{Matrix, Run};
///
/// let samples = Matrix::from_fn(4, 30, |r, i| ((r * (i % 3 + 1)) as f64 + i as f64 * 0.01).sin());
/// let built = DictionaryGraph::default().build(samples.view(), 1, Run::default())?;
/// assert_eq!(built.graph.vertices(), 30);
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §V (graphs of codes in a dictionary by Alt-Opt).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DictionaryGraph {
    /// K.
    pub atoms: AtomCount,
    /// λ.
    pub lambda: f64,
    /// The most atom updates.
    pub max_iterations: usize,
}

impl Default for DictionaryGraph {
    fn default() -> Self {
        let atoms = AtomCount::OneFor { samples: AtomCount::SAMPLES, most: 64 };
        Self { atoms, lambda: 0.2, max_iterations: 50 }
    }
}

impl DictionaryGraph {
    /// Learns a dictionary and codes each sample in it.
    ///
    /// # Errors
    /// See [`DictionaryGraph`].
    pub fn build<T: Scalar>(&self, samples: MatrixView<'_, T>, seed: u64, run: Run<'_>) -> Result<BuiltGraph> {
        check_samples(samples)?;
        let learning = AltOpt { max_iterations: self.max_iterations, ..AltOpt::lambda(self.lambda) };
        let iterations = self.max_iterations.saturating_add(1);
        let passes = iterations.saturating_add(3);
        let part = |from: usize, to: usize| run.passes(from..to, passes, samples.columns());
        let start = Centers::new(self.atoms.of(samples.columns())?).start(samples, None, seed, part(0, 1))?;
        let learned = learning.fit(samples, None, &start, part(1, 1 + iterations))?;
        let basis = CodingBasis::new(learned.dictionary.view())?;
        let coding = learning.coder.encode(&basis, &Samples::new(samples), part(1 + iterations, 2 + iterations))?;
        let graph = product_graph(&coding.codes, part(2 + iterations, passes))?;
        Ok(BuiltGraph::new(graph, coding.report.unconverged()))
    }
}
