//! Spectral clustering: from a graph to a cluster for each vertex.

use std::ops::Range;

use crate::blocks::{Pulse, Run};
use crate::error::{Error, Result};
use crate::graph::Affinity;
use crate::kmeans::{Clustering, KMeansInit, WeightedKMeans};
use crate::masses::Masses;
use crate::matrix::Matrix;
use crate::rng::{Draw, RowNumbers};
use crate::sampling::Race;

use super::spectral::{Eigenvectors, FEW, LeadingEigenvectors};

/// What the search for eigenvectors counts in the progress, in hundredths.
const SEARCH: usize = 80;

/// When a K-Means of the embedding is good enough: iterations and tolerance.
const LLOYD: (usize, f64) = (300, 1e-6);

/// The most starts that are kept side by side.
const AT_ONCE: usize = 64;

/// How many guesses are told.
const GUESSES: usize = 3;

/// How many clusters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clusters {
    /// So many.
    Count(usize),
    /// As many as there are eigenvalues before the widest gap between two of them; if the graph has more components than
    /// `most`, then `most`. This is a guess, see [`SpectralClusters::guesses`].
    Automatic {
        /// No more than these.
        most: usize,
    },
}

/// How the first centres of each K-Means are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstCenters {
    /// By K-Means++.
    PlusPlus,
    /// Vertices drawn by their masses, none twice: the plain K-Means of the literature.
    Vertices,
}

/// Clusters the vertices of a graph by its leading eigenvectors.
///
/// Each vertex gets coordinates from the eigenvectors of D^(−1/2) S D^(−1/2), see [`Eigenvectors::embedding`], and these are
/// clustered by K-Means, of several starts the one with the lowest inertia.
///
/// | field | symbol | default | purpose | range |
/// | --- | --- | --- | --- | --- |
/// | `clusters` | c | – | how many clusters | 1 to the number of vertices that have an edge |
/// | `vectors` | e | 2c | how many eigenvectors are coordinates; more than vertices count as those | ≥ 1 |
/// | `power` | t | 10 | how strongly larger eigenvalues count, λ^t | ≥ 0 |
/// | `first_centers` | | K-Means++ | the start of K-Means | |
/// | `restarts` | | 10 | how many starts | ≥ 1 |
/// | `tolerance` | | 10⁻⁶ | the largest residual of an eigenvector | 10⁻¹² to 1 |
/// | `max_products` | | 2000 | the most products of the graph with eight vectors | ≥ 1 |
///
/// [`SpectralClustering::ng`] is the usual step of Ng, Jordan and Weiss, which is the paper's: e = c and t = 0.
///
/// A vertex without edges takes no part, and goes to the cluster whose centre is nearest to zero. If the graph has more
/// components than e, the smallest ones have no coordinates either.
///
/// # Shapes
/// The embedding is e × T.
///
/// # Cost
/// That of [`LeadingEigenvectors`], and that of [`WeightedKMeans`] on e features for each start.
///
/// # Errors
/// If there are fewer vertices with edges than clusters, masses are not one non-negative number for each vertex with a
/// positive sum over vertices with edges, a parameter is out of range, or the run was interrupted. Not converging is not an
/// error: see [`SpectralClusters::converged`].
///
/// # Example
/// ```
/// use sparsemble::clustering::{Clusters, SpectralClustering};
/// use sparsemble::graph::Graph;
/// use sparsemble::{Draw, Run};
///
/// // Two triangles, 0–1–2 and 3–4–5, and a weak edge between them.
/// let starts = vec![0, 2, 4, 7, 10, 12, 14];
/// let neighbours = vec![1, 2, 0, 2, 0, 1, 3, 2, 4, 5, 3, 5, 3, 4];
/// let weights = neighbours.iter().enumerate().map(|(e, _)| if e == 6 || e == 7 { 0.1 } else { 1.0 });
/// let graph = Graph::new(starts, neighbours.clone(), weights.collect())?;
///
/// let clustering = SpectralClustering::new(Clusters::Count(2));
/// let found = clustering.fit(&graph, None, Draw::first(1), Run::default())?;
/// assert_eq!(found.labels[..3], [found.labels[0]; 3]);
/// assert_eq!(found.labels[3..], [1 - found.labels[0]; 3]);
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §V, the clusters of Table 3.
#[derive(Debug, Clone, PartialEq)]
pub struct SpectralClustering {
    /// c.
    pub clusters: Clusters,
    /// e; `None` for 2c.
    pub vectors: Option<usize>,
    /// t.
    pub power: f64,
    /// The start of K-Means.
    pub first_centers: FirstCenters,
    /// How many starts.
    pub restarts: usize,
    /// The largest residual of an eigenvector.
    pub tolerance: f64,
    /// The most products of the graph with eight vectors.
    pub max_products: usize,
}

/// What [`SpectralClustering`] found.
#[derive(Debug, Clone, PartialEq)]
pub struct SpectralClusters {
    /// The cluster of each vertex, from 0.
    pub labels: Vec<u32>,
    /// How many vertices each cluster has; none where there are fewer different coordinates than clusters.
    pub counts: Vec<usize>,
    /// If the number of clusters is a guess, the numbers of eigenvalues before the widest gaps, three at most and the widest
    /// first, which was taken; none if the number was given.
    pub guesses: Vec<usize>,
    /// The leading eigenvalues of D^(−1/2) S D^(−1/2), falling: those of the coordinates, or more for a guess.
    pub eigenvalues: Vec<f64>,
    /// The coordinates of the vertices, e × T, each of norm 1 or zero.
    pub embedding: Matrix<f64>,
    /// The largest norm of an eigenvector's residual.
    pub residual: f64,
    /// Whether the eigenvectors are within the tolerance and K-Means had stopped to improve.
    pub converged: bool,
    /// The inertia of K-Means: the mean squared distance to the centres, by mass.
    pub inertia: f64,
    /// How often the graph was multiplied with eight vectors.
    pub products: usize,
    /// How many connected components have an edge.
    pub components: usize,
    /// How many vertices have no edge.
    pub isolated: usize,
}

impl SpectralClustering {
    /// So many clusters, with everything else at its default.
    pub fn new(clusters: Clusters) -> Self {
        Self {
            clusters,
            vectors: None,
            power: 10.0,
            first_centers: FirstCenters::PlusPlus,
            restarts: 10,
            tolerance: 1e-6,
            max_products: 2000,
        }
    }

    /// The step of Ng, Jordan and Weiss: as many eigenvectors as clusters, and all count the same.
    pub fn ng(clusters: usize) -> Self {
        Self { vectors: Some(clusters), power: 0.0, ..Self::new(Clusters::Count(clusters)) }
    }

    /// Clusters the vertices. Masses, if given, say how much each counts in K-Means: for a vertex that stands for several
    /// equal samples, their number.
    ///
    /// # Errors
    /// See [`SpectralClustering`].
    pub fn fit(
        &self,
        affinity: &dyn Affinity,
        masses: Option<&[f64]>,
        draw: Draw,
        run: Run<'_>,
    ) -> Result<SpectralClusters> {
        self.check()?;
        Masses::new(masses, affinity.vertices())?;
        let eigenvectors = self.eigenvectors(affinity, draw, run.part(0..SEARCH, 100))?;
        self.cluster(&eigenvectors, masses, draw, run.part(SEARCH..100, 100))
    }

    /// The eigenvectors alone: what [`cluster`](Self::cluster) needs, for several clusterings of one graph.
    ///
    /// # Errors
    /// See [`SpectralClustering`].
    pub fn eigenvectors(&self, affinity: &dyn Affinity, draw: Draw, run: Run<'_>) -> Result<Eigenvectors> {
        self.check()?;
        let vertices = affinity.vertices();
        let count = match self.clusters {
            Clusters::Count(count) => count,
            Clusters::Automatic { most } => most.min(vertices),
        };
        if count > vertices {
            return Err(Error::TooFewSamples {
                what: "clusters (vertices of the graph)",
                needed: count,
                found: vertices,
            });
        }
        let wanted = self.vectors.unwrap_or(count.saturating_mul(2));
        // The gap after the last cluster that may be guessed needs one more.
        let wanted = if matches!(self.clusters, Clusters::Automatic { .. }) { wanted.max(count + 1) } else { wanted };
        let solver = LeadingEigenvectors {
            count: wanted.min(vertices),
            tolerance: self.tolerance,
            max_products: self.max_products,
        };
        solver.find(affinity, draw, run)
    }

    /// Clusters the vertices of a graph with these eigenvectors.
    ///
    /// # Errors
    /// See [`SpectralClustering`].
    pub fn cluster(
        &self,
        eigenvectors: &Eigenvectors,
        masses: Option<&[f64]>,
        draw: Draw,
        run: Run<'_>,
    ) -> Result<SpectralClusters> {
        self.check()?;
        let vertices = eigenvectors.vectors.columns();
        let (count, guesses) = match self.clusters {
            Clusters::Count(count) => (count, Vec::new()),
            Clusters::Automatic { most } => {
                let guesses = guesses(eigenvectors, most);
                (guesses[0], guesses)
            }
        };
        let embedding = eigenvectors.embedding(self.vectors.unwrap_or(count.saturating_mul(2)), self.power);
        let mut masses = Masses::new(masses, vertices)?.values().into_owned();
        // What has no coordinates has no say.
        for (i, mass) in masses.iter_mut().enumerate() {
            *mass *= if embedding.column(i).iter().any(|x| x.abs() > 0.0) { 1.0 } else { 0.0 };
        }
        let found = masses.iter().filter(|mass| **mass > 0.0).count();
        if found < count {
            let what = "clusters (vertices of positive mass that have an edge)";
            return Err(Error::TooFewSamples { what, needed: count, found });
        }
        let best = self.best_of_starts(count, &embedding, &masses, draw, run)?;
        let mut counts = vec![0; count];
        best.assignments.iter().for_each(|&label| counts[label as usize] += 1);
        Ok(SpectralClusters {
            labels: best.assignments,
            counts,
            guesses,
            eigenvalues: eigenvectors.values.clone(),
            embedding,
            residual: eigenvectors.residual,
            converged: eigenvectors.converged && best.converged,
            inertia: best.inertia,
            products: eigenvectors.products,
            components: eigenvectors.components,
            isolated: eigenvectors.isolated.len(),
        })
    }

    /// The K-Means of the lowest inertia, the first among equals.
    fn best_of_starts(
        &self,
        count: usize,
        embedding: &Matrix<f64>,
        masses: &[f64],
        draw: Draw,
        run: Run<'_>,
    ) -> Result<Clustering<f64>> {
        let start = |start: usize, run: Run<'_>| {
            let round = draw.round.wrapping_mul(self.restarts as u64).wrapping_add(start as u64);
            self.one_start(count, embedding, masses, Draw { round, ..draw }, run)
        };
        // With few vertices a thread is better used on a start of its own than on a part of one.
        let size = if masses.len() < FEW { AT_ONCE } else { 1 };
        let mut best: Option<Clustering<f64>> = None;
        for first in (0..self.restarts).step_by(size) {
            let starts = first..first.saturating_add(size).min(self.restarts);
            let part = run.part(starts.clone(), self.restarts);
            let found = if starts.len() > 1 {
                let one = |(): &mut (), range: Range<usize>, pulse: &Pulse<'_>| {
                    pulse.within(|run| start(first + range.start, run))
                };
                part.map_long_blocks(starts.len(), 1, || (), one)?
            } else {
                vec![start(first, part)?]
            };
            best = best.into_iter().chain(found).reduce(|a, b| if b.inertia < a.inertia { b } else { a });
        }
        best.ok_or(Error::Empty { what: "restarts", unit: "start" })
    }

    fn one_start(
        &self,
        count: usize,
        embedding: &Matrix<f64>,
        masses: &[f64],
        draw: Draw,
        run: Run<'_>,
    ) -> Result<Clustering<f64>> {
        let init = match self.first_centers {
            FirstCenters::PlusPlus => KMeansInit::PlusPlus,
            FirstCenters::Vertices => KMeansInit::Given(drawn(count, embedding, masses, draw)?),
        };
        let kmeans = WeightedKMeans { n_clusters: count, init, max_iterations: LLOYD.0, tolerance: LLOYD.1 };
        kmeans.fit(embedding.view(), masses, draw, run)
    }

    fn check(&self) -> Result<()> {
        if let Clusters::Count(0) | Clusters::Automatic { most: 0 } = self.clusters {
            return Err(Error::parameter("clusters", 0, "ask for at least one cluster"));
        }
        if self.vectors == Some(0) {
            return Err(Error::parameter("vectors", 0, "ask for at least one eigenvector"));
        }
        if !(self.power >= 0.0 && self.power.is_finite()) {
            return Err(Error::parameter("power", self.power, "must be zero or more, and finite"));
        }
        if self.restarts == 0 {
            return Err(Error::parameter("restarts", self.restarts, "start K-Means at least once"));
        }
        Ok(())
    }
}

/// The numbers of eigenvalues before the widest gaps, each at most so many; the first among equals. Each component has an
/// eigenvalue one, and there is no gap between these: if they are all that is seen, there are as many clusters as may be.
fn guesses(eigenvectors: &Eigenvectors, most: usize) -> Vec<usize> {
    let parts = eigenvectors.components.clamp(1, most);
    let gaps = eigenvectors.values.windows(2).map(|pair| pair[0] - pair[1]);
    let mut gaps: Vec<(usize, f64)> = (1..).zip(gaps).take(most).skip(parts - 1).collect();
    gaps.sort_by(|a, b| b.1.total_cmp(&a.1));
    let guesses: Vec<usize> = gaps.into_iter().map(|(count, _)| count).take(GUESSES).collect();
    if guesses.is_empty() { vec![parts] } else { guesses }
}

/// The coordinates of vertices drawn by their masses, none twice.
fn drawn(count: usize, embedding: &Matrix<f64>, masses: &[f64], draw: Draw) -> Result<Matrix<f64>> {
    let numbers = RowNumbers::from_stream(&mut draw.stream("first centres"));
    let race = Race::run((0, masses.len(), count), numbers, || (), |(), i| Ok(masses[i]), Run::threads(1))?;
    let rows = race.winners();
    Ok(Matrix::from_fn(embedding.rows(), count, |r, c| embedding.column(rows[c])[r]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Graph;

    const DRAW: Draw = Draw { seed: 1, round: 0 };

    /// Cliques of these sizes one after the other, neighbours joined by an edge of this weight; size 1 is a lone vertex.
    fn cliques(sizes: &[usize], bridge: f32) -> Graph {
        let of: Vec<usize> = sizes.iter().enumerate().flat_map(|(k, &size)| std::iter::repeat_n(k, size)).collect();
        let weight = |i: usize, j: usize| match of[i].abs_diff(of[j]) {
            _ if i == j => 0.0,
            0 => 1.0,
            1 if i.abs_diff(j) == 1 && sizes[of[i]] > 1 && sizes[of[j]] > 1 => bridge,
            _ => 0.0,
        };
        let (mut starts, mut neighbours, mut weights) = (vec![0], Vec::new(), Vec::new());
        for i in 0..of.len() {
            for j in (0..of.len()).filter(|&j| weight(i, j) > 0.0) {
                neighbours.push(j as u32);
                weights.push(weight(i, j));
            }
            starts.push(neighbours.len());
        }
        Graph::new(starts, neighbours, weights).unwrap()
    }

    fn fit(clustering: &SpectralClustering, graph: &Graph) -> Result<SpectralClusters> {
        clustering.fit(graph, None, DRAW, Run::threads(1))
    }

    /// Whether each clique has a label of its own.
    fn separates(sizes: &[usize], labels: &[u32]) -> bool {
        let mut first = 0;
        let mut seen = Vec::new();
        for &size in sizes.iter().filter(|&&size| size > 1) {
            let label = labels[first];
            if seen.contains(&label) || labels[first..first + size].iter().any(|&other| other != label) {
                return false;
            }
            seen.push(label);
            first += size;
        }
        true
    }

    #[test]
    fn cliques_are_found_joined_or_not_by_every_embedding_and_start() {
        let sizes = [12, 9, 15, 7];
        for bridge in [0.0, 0.2] {
            let graph = cliques(&sizes, bridge);
            for mut clustering in [SpectralClustering::new(Clusters::Count(4)), SpectralClustering::ng(4)] {
                for first_centers in [FirstCenters::PlusPlus, FirstCenters::Vertices] {
                    clustering.first_centers = first_centers;
                    let found = fit(&clustering, &graph).unwrap();
                    assert!(separates(&sizes, &found.labels), "{clustering:?}: {:?}", found.labels);
                    assert!(found.converged && found.guesses.is_empty());
                    assert_eq!(found.counts.iter().sum::<usize>(), 43);
                }
            }
        }
    }

    #[test]
    fn the_number_of_clusters_is_guessed_by_the_gap() {
        let sizes = [12, 9, 15];
        let found = fit(&SpectralClustering::new(Clusters::Automatic { most: 10 }), &cliques(&sizes, 0.1)).unwrap();
        assert!(found.guesses[0] == 3 && found.counts.len() == 3 && separates(&sizes, &found.labels));
        // The next widest gaps, of the eigenvalues that are there.
        let gap = |count: usize| found.eigenvalues[count - 1] - found.eigenvalues[count];
        assert!(found.guesses.len() == 3 && found.guesses.is_sorted_by(|a, b| gap(*a) >= gap(*b)));
        assert!((1..=10).all(|count| found.guesses.contains(&count) || gap(count) <= gap(found.guesses[2])));
        let one = fit(&SpectralClustering::new(Clusters::Automatic { most: 99 }), &cliques(&[9], 0.0)).unwrap();
        assert_eq!(one.counts, [9]);
    }

    #[test]
    fn more_parts_than_may_be_guessed_are_as_many_as_may_be_and_not_one() {
        let graph = cliques(&[4; 6], 0.0);
        for (most, count) in [(1, 1), (3, 3), (5, 5), (6, 6), (9, 6)] {
            let found = fit(&SpectralClustering::new(Clusters::Automatic { most }), &graph).unwrap();
            assert_eq!((found.counts.len(), found.components), (count, 6), "at most {most}");
        }
    }

    #[test]
    fn vertices_without_edges_get_a_label_and_change_nothing() {
        let graph = cliques(&[8, 8, 1, 1, 1], 0.1);
        let found = fit(&SpectralClustering::new(Clusters::Count(2)), &graph).unwrap();
        assert!(separates(&[8, 8], &found.labels) && found.isolated == 3 && found.labels.len() == 19);
        assert!(found.embedding.column(17).iter().all(|x| x.abs() <= 0.0));
        let too_many = fit(&SpectralClustering::new(Clusters::Count(17)), &graph);
        let what = "clusters (vertices of positive mass that have an edge)";
        assert_eq!(too_many, Err(Error::TooFewSamples { what, needed: 17, found: 16 }));
    }

    #[test]
    fn a_vertex_of_mass_zero_moves_no_centre() {
        let graph = cliques(&[8, 8], 0.1);
        let mut masses = vec![1.0; 16];
        masses[7] = 0.0;
        let clustering = SpectralClustering::new(Clusters::Count(2));
        let weighted = clustering.fit(&graph, Some(&masses), DRAW, Run::threads(1)).unwrap();
        let plain = fit(&clustering, &graph).unwrap();
        assert!(separates(&[8, 8], &weighted.labels));
        assert!(weighted.inertia < plain.inertia); // the bridge is what lies apart
        assert!(clustering.fit(&graph, Some(&masses[1..]), DRAW, Run::threads(1)).is_err());
    }

    #[test]
    fn settings_that_make_no_sense_are_refused() {
        let graph = cliques(&[4], 0.0);
        let good = SpectralClustering::new(Clusters::Count(2));
        assert!(fit(&good, &graph).is_ok());
        for bad in [
            SpectralClustering::new(Clusters::Count(0)),
            SpectralClustering::new(Clusters::Count(5)),
            SpectralClustering::new(Clusters::Automatic { most: 0 }),
            SpectralClustering { vectors: Some(0), ..good.clone() },
            SpectralClustering { power: -1.0, ..good.clone() },
            SpectralClustering { power: f64::NAN, ..good.clone() },
            SpectralClustering { restarts: 0, ..good.clone() },
            SpectralClustering { tolerance: 0.0, ..good.clone() },
        ] {
            assert!(fit(&bad, &graph).is_err(), "{bad:?}");
        }
        assert!(fit(&good, &cliques(&[1, 1, 1], 0.0)).is_err());
    }
}
