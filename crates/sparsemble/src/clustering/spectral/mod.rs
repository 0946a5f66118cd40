//! The leading eigenvectors of a graph.
//!
//! `normalised.rs` is the operator and what is known of it without a search; `subspace.rs` is the search, block Lanczos with
//! thick restarts; `orthonormal.rs` and `blocks.rs` are its steps. docs/decisions/0020-eigenvectors.md says why.

mod blocks;
mod embedding;
mod normalised;
mod orthonormal;
mod subspace;

use crate::blocks::Run;
use crate::error::{Error, Result};
use crate::graph::{Affinity, Eight};
use crate::matrix::Matrix;
use crate::rng::Draw;

use blocks::Block;
pub(super) use normalised::FEW;
use normalised::{Normalised, beside};
use subspace::{Ritz, Subspace};

const WIDTH: usize = Eight::WIDTH;

/// Blocks of Ritz vectors kept beyond those that are wanted: they make the gap to what is not kept.
const GUARDS: usize = 2;

/// Steps between restarts, at least.
const STEPS: usize = 7;

/// The products that the progress expects; few searches need more.
const USUAL: usize = 100;

/// If the frontier is as wide as the number of eigenvalues that lie closer together than this, there may be more of them.
const CROWDED: f64 = 0.01;

/// The eigenvectors of D^(−1/2) S D^(−1/2) with the largest eigenvalues, where S is a graph and D holds its degrees.
///
/// These are the eigenvectors of the normalised Laplacian with the smallest eigenvalues, which are one minus those here.
///
/// | field | symbol | default | purpose | range |
/// | --- | --- | --- | --- | --- |
/// | `count` | e | – | how many | 1 to the number of vertices |
/// | `tolerance` | | 10⁻⁶ | the largest norm of a residual M·u − λ·u, for vectors u of norm 1 | 10⁻¹² to 1 |
/// | `max_products` | | 2000 | the most products of the graph with eight vectors | ≥ 1 |
///
/// The multiplicity of the eigenvalue 1 is the number of connected components that have an edge. Their vectors are known,
/// so they are exact; if there are more than e of them, those of the components with the largest volumes are given.
/// Other equal eigenvalues are found with all their vectors: once all residuals are small enough, a search among the vectors
/// orthogonal to those found must end below them, or the whole is done again with twice as many vectors side by
/// side. A vertex without edges has a row of zeros in the matrix, which is the eigenvalue 0.
///
/// # Shapes
/// The vectors are e × T: a column for each vertex.
///
/// # Cost
/// Typically 40 to 60 products of the graph with eight vectors, and memory for 2e + 120 doubles for each vertex; more only
/// if equal eigenvalues are crowded.
///
/// # Errors
/// If the graph has fewer vertices than vectors are asked for, a parameter is out of range, or the run was interrupted. Not
/// converging is not an error: see [`Eigenvectors::converged`].
///
/// # Example
/// ```
/// use sparsemble::clustering::LeadingEigenvectors;
/// use sparsemble::graph::Graph;
/// use sparsemble::{Draw, Run};
///
/// // Two edges that do not meet: the eigenvalues are 1, 1, −1 and −1.
/// let graph = Graph::new(vec![0, 1, 2, 3, 4], vec![1, 0, 3, 2], vec![1.0; 4])?;
/// let found = LeadingEigenvectors::new(3).find(&graph, Draw::first(1), Run::default())?;
/// assert!(found.values.iter().zip([1.0, 1.0, -1.0]).all(|(a, b)| (a - b).abs() < 1e-12));
/// assert!(found.converged && found.components == 2);
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §V, the step from a graph to clusters.
#[derive(Debug, Clone, PartialEq)]
pub struct LeadingEigenvectors {
    /// e.
    pub count: usize,
    /// The largest norm of a residual.
    pub tolerance: f64,
    /// The most products of the graph with eight vectors.
    pub max_products: usize,
}

/// What [`LeadingEigenvectors`] found.
#[derive(Debug, Clone, PartialEq)]
pub struct Eigenvectors {
    /// The eigenvalues, falling; fewer than asked for only if the products did not even suffice for approximations.
    pub values: Vec<f64>,
    /// The eigenvectors, e × T: row j has norm 1, and column i is what vertex i has in all of them.
    pub vectors: Matrix<f64>,
    /// The largest norm of a residual M·u − λ·u, computed from the vectors as they are.
    pub residual: f64,
    /// Whether the residual is within the tolerance and no larger eigenvalue was overlooked.
    pub converged: bool,
    /// How often the graph was multiplied with eight vectors.
    pub products: usize,
    /// How many connected components have an edge.
    pub components: usize,
    /// The vertices that have no edge.
    pub isolated: Vec<u32>,
}

impl LeadingEigenvectors {
    /// So many, with everything else at its default.
    pub fn new(count: usize) -> Self {
        Self { count, tolerance: 1e-6, max_products: 2000 }
    }

    /// Finds them; the seed chooses the vectors that the search starts from.
    ///
    /// # Errors
    /// See [`LeadingEigenvectors`].
    pub fn find(&self, affinity: &dyn Affinity, draw: Draw, run: Run<'_>) -> Result<Eigenvectors> {
        self.check(affinity.vertices())?;
        let operator = Normalised::new(affinity);
        let known = operator.components().count().min(self.count);
        let search = Search { operator: &operator, settings: self, wanted: self.count - known, draw, run, products: 0 };
        search.finish(known)
    }

    fn check(&self, vertices: usize) -> Result<()> {
        if self.count == 0 {
            return Err(Error::parameter("count", self.count, "ask for at least one eigenvector"));
        }
        if self.count > vertices {
            let what = "eigenvectors (vertices of the graph)";
            return Err(Error::TooFewSamples { what, needed: self.count, found: vertices });
        }
        if !(1e-12..=1.0).contains(&self.tolerance) {
            return Err(Error::parameter("tolerance", self.tolerance, "must be between 1e-12 and 1"));
        }
        if self.max_products == 0 {
            return Err(Error::parameter("max_products", self.max_products, "must be at least 1"));
        }
        Ok(())
    }
}

/// A search for the eigenvectors that are not known beforehand.
struct Search<'a> {
    operator: &'a Normalised<'a>,
    settings: &'a LeadingEigenvectors,
    wanted: usize,
    draw: Draw,
    run: Run<'a>,
    products: usize,
}

/// Ritz vectors, the largest values first.
struct Pairs {
    values: Vec<f64>,
    blocks: Vec<Block>,
    certain: bool,
}

/// How large the basis of a search is, in blocks.
struct Sizes {
    /// Ritz vectors that survive a restart.
    kept: usize,
    /// When there are so many, it restarts.
    most: usize,
    /// Whether to look at the Ritz vectors after each step and not only before a restart.
    eager: bool,
}

impl<'a> Search<'a> {
    fn beside(&self) -> Run<'a> {
        beside(self.operator.vertices(), self.run)
    }

    fn finish(mut self, known: usize) -> Result<Eigenvectors> {
        let pairs = self.search()?;
        let values: Vec<f64> = std::iter::repeat_n(1.0, known).chain(pairs.values).take(self.settings.count).collect();
        let vectors = self.vectors(values.len(), known, &pairs.blocks);
        let residual = self.residual(&values, &vectors)?;
        let components = self.operator.components();
        Ok(Eigenvectors {
            converged: pairs.certain && residual <= self.settings.tolerance,
            values,
            vectors,
            residual,
            products: self.products,
            components: components.count(),
            isolated: self.operator.isolated(),
        })
    }

    /// The known vectors of the largest components, and then those found: so many in all.
    fn vectors(&self, count: usize, known: usize, found: &[Block]) -> Matrix<f64> {
        let components = self.operator.components();
        let mut row_of = vec![None; components.count()];
        components.largest().into_iter().take(known).enumerate().for_each(|(row, c)| row_of[c] = Some(row));
        let mut vectors = Matrix::zeros(count, self.operator.vertices());
        for i in 0..self.operator.vertices() {
            let column = vectors.column_mut(i);
            if let Some((component, entry)) = components.entry(i)
                && let Some(row) = row_of[component]
            {
                column[row] = entry;
            }
            let found = found.iter().flat_map(|block| block[i].0);
            column[known..].iter_mut().zip(found).for_each(|(value, found)| *value = found);
        }
        vectors
    }

    /// The largest norm of M·u − λ·u.
    fn residual(&self, values: &[f64], vectors: &Matrix<f64>) -> Result<f64> {
        let vertices = self.operator.vertices();
        let [mut block, mut space, mut product] = [(); 3].map(|()| vec![Eight::ZERO; vertices]);
        let mut worst = 0.0_f64;
        for first in (0..values.len()).step_by(WIDTH) {
            let values = &values[first..values.len().min(first + WIDTH)];
            for (i, row) in block.iter_mut().enumerate() {
                *row = Eight::ZERO;
                row.0.iter_mut().zip(&vectors.column(i)[first..]).for_each(|(entry, value)| *entry = *value);
            }
            self.operator.times(&block, &mut space, &mut product, self.run.silent())?;
            for (j, value) in values.iter().enumerate() {
                let energy: f64 = product.iter().zip(&block).map(|(m, u)| (m.0[j] - value * u.0[j]).powi(2)).sum();
                worst = worst.max(energy.sqrt());
            }
        }
        Ok(worst)
    }

    /// The Ritz vectors that are wanted, and some more.
    fn search(&mut self) -> Result<Pairs> {
        if self.wanted == 0 {
            return Ok(Pairs { values: Vec::new(), blocks: Vec::new(), certain: true });
        }
        let mut frontier = 1;
        loop {
            let pairs = self.with_frontier(frontier)?;
            let width = frontier * WIDTH;
            let crowded = |values: &[f64]| values[0] - values[width - 1] < CROWDED;
            if !pairs.certain || !pairs.values[..self.wanted].windows(width).any(crowded) {
                return Ok(pairs);
            }
            let (pairs, overlooked) = self.look_above(pairs)?;
            if !overlooked {
                return Ok(pairs);
            }
            frontier *= 2;
        }
    }

    fn with_frontier(&mut self, frontier: usize) -> Result<Pairs> {
        let kept = self.wanted.div_ceil(WIDTH) + GUARDS;
        let sizes = Sizes { kept, most: kept + frontier * (STEPS + 1), eager: false };
        let (wanted, tolerance) = (self.wanted, 0.9 * self.settings.tolerance);
        let rng = self.draw.stream("eigenvectors");
        let mut subspace = Subspace::new(self.operator, Vec::new(), frontier, rng, self.beside())?;
        let (ritz, certain) = self.iterate(&mut subspace, &sizes, |ritz, _| {
            let worst = ritz.residuals.iter().take(wanted).fold(0.0_f64, |worst, &residual| worst.max(residual));
            if ritz.residuals.len() >= wanted { worst / tolerance } else { f64::INFINITY }
        })?;
        subspace.restart(&ritz, kept, self.beside())?;
        Ok(Pairs { values: ritz.values, blocks: subspace.into_multiplied(), certain })
    }

    /// Whether there is an eigenvalue above the smallest of those wanted among vectors orthogonal to those found, such as
    /// one more copy of an eigenvalue that has more than the frontier had room for.
    fn look_above(&mut self, pairs: Pairs) -> Result<(Pairs, bool)> {
        let (bar, tolerance) = (pairs.values[self.wanted - 1], self.settings.tolerance);
        let locked = pairs.blocks.len();
        let rng = self.draw.stream("overlooked");
        let mut subspace = Subspace::new(self.operator, pairs.blocks, 1, rng, self.beside())?;
        let sizes = Sizes { kept: 2, most: locked + 1 + STEPS, eager: true };
        let (start, vertices) = (self.products, self.operator.vertices() as f64);
        let (ritz, certain) = self.iterate(&mut subspace, &sizes, |ritz, products| {
            let (value, residual) = (ritz.values[0], ritz.residuals[0]);
            // Were there an eigenvalue at the bar, and the share of its vector in the start 1/T, then the Chebyshev
            // polynomial for all below `value` would make a vector with a Rayleigh quotient above `value`; but that is the
            // largest there is.
            let growth = (((products - start - 1) as f64) * (1.0 + 2.0 * (bar - value) / (1.0 + value)).acosh()).cosh();
            let ruled_out = growth * growth * (bar - value) > vertices * (1.0 + value);
            if value > bar + tolerance || residual <= tolerance || ruled_out { 0.0 } else { f64::INFINITY }
        })?;
        let overlooked = ritz.values.first().is_some_and(|&value| value > bar + tolerance);
        let pairs = Pairs { values: pairs.values, blocks: subspace.into_locked(), certain };
        Ok((pairs, overlooked))
    }

    /// Steps until nothing is left to do; the last Ritz vectors, and false if there were too many steps. `left` says how
    /// many times too large the worst residual is: it is done at one.
    fn iterate(
        &mut self,
        subspace: &mut Subspace<'_>,
        sizes: &Sizes,
        left: impl Fn(&Ritz, usize) -> f64,
    ) -> Result<(Ritz, bool)> {
        let mut forecast = Forecast::default();
        loop {
            let most = self.settings.max_products;
            if !subspace.is_complete() {
                let [before, after] = [self.products, self.products + 1].map(|products| products.min(USUAL - 1));
                subspace.step(self.run.passes(before..after, USUAL, self.operator.vertices()))?;
                self.products += 1;
            }
            let (complete, full) = (subspace.is_complete(), subspace.blocks() >= sizes.most);
            let spent = self.products >= most;
            if complete || full || spent || sizes.eager || self.products >= forecast.end {
                let ritz = subspace.ritz();
                let left = left(&ritz, self.products);
                let found = complete || left <= 1.0;
                if found || spent {
                    return Ok((ritz, found));
                }
                forecast.note(self.products, left);
                if full {
                    subspace.restart(&ritz, sizes.kept, self.beside())?;
                }
            }
        }
    }
}

/// When a search will be done, if residuals go on falling as they did: a look at them costs nearly as much as a step.
struct Forecast {
    /// Products made and residuals left at the last look.
    last: Option<(usize, f64)>,
    /// The number of products.
    end: usize,
}

impl Default for Forecast {
    fn default() -> Self {
        Self { last: None, end: usize::MAX }
    }
}

impl Forecast {
    fn note(&mut self, products: usize, left: f64) {
        if let Some((before, left_then)) = self.last {
            let steps = (products - before) as f64 * left.ln() / (left_then / left).ln();
            // Not if residuals are not known, or do not fall.
            self.end = if steps > 0.0 { products.saturating_add(steps.ceil() as usize) } else { usize::MAX };
        }
        self.last = Some((products, left));
    }
}

#[cfg(test)]
mod tests;
