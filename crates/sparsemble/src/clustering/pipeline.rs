//! The whole of clustering: from samples to labels, stage by stage (§V).

use std::fmt::{Display, Formatter};
use std::ops::Range;

use crate::blocks::Run;
use crate::error::{Error, Result};
use crate::graph::GraphKind;
use crate::matrix::{Matrix, MatrixView};
use crate::rng::Draw;
use crate::scalar::Scalar;

use super::{
    Clusters, Coded, Duplicates, GraphForm, Preparation, RangeRatio, Scaling, Similarity, SpectralClustering,
    SpectralClusters,
};

/// What preparation counts in the progress, in hundredths.
const PREPARATION: usize = 3;

/// Where the stages after it end, in hundredths of the rest.
const ENDS: [usize; 4] = [85, 90, 97, 100];

/// Clusters samples by a graph of their sparse codes.
///
/// | field | default | purpose |
/// | --- | --- | --- |
/// | `preparation` | centred by the data, automatic scale, unit norm | how samples are made comparable |
/// | `merge_duplicates` | `true` | whether equal samples become one vertex |
/// | `graph` | stacked codes of 30 boosted members | how samples are compared |
/// | `form` | automatic | whether the graph of stacked codes is formed |
/// | `spectral` | 2c eigenvectors, weighted by λ¹⁰, 10 starts | how vertices are clustered |
///
/// The stages are [`prepare`](Self::prepare), [`Coded::of`], [`Coded::similarity`], [`SpectralClustering::eigenvectors`] and
/// [`SpectralClustering::cluster`]; [`fit`](Self::fit) calls them one after the other.
///
/// # Shapes
/// Samples M × T; T labels.
///
/// # Cost
/// That of the graph, which is most of it, and of [`SpectralClustering`]. Memory for a prepared copy of the samples; with
/// the default graph for 16·L bytes more a sample if it is not formed, and its entries, 8 bytes each and twice while it is
/// made, if it is.
///
/// # Errors
/// Those of the stages.
///
/// # Example
/// ```
/// use sparsemble::clustering::{Clusters, GraphClustering};
/// use sparsemble::{Matrix, Run};
///
/// // Samples around two points, in turn.
/// let around = |r: usize, i: usize| 0.1 * ((r * 60 + i) as f64).sin();
/// let samples = Matrix::from_fn(3, 60, |r, i| if r == i % 2 { 1.0 + around(r, i) } else { around(r, i) });
/// let found = GraphClustering::new(Clusters::Count(2)).fit(samples.view(), None, 1, &mut |_stage| (), Run::default())?;
/// assert!((0..60).all(|i| found.labels[i] == found.labels[i % 2]));
/// assert_ne!(found.labels[0], found.labels[1]);
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §V.
#[derive(Debug, Clone, PartialEq)]
pub struct GraphClustering {
    /// How samples are made comparable.
    pub preparation: Preparation,
    /// Whether equal samples become one vertex.
    pub merge_duplicates: bool,
    /// How samples are compared.
    pub graph: GraphKind,
    /// Whether the graph of stacked codes is formed.
    pub form: GraphForm,
    /// How vertices are clustered.
    pub spectral: SpectralClustering,
}

/// A part of clustering that takes its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Preparing samples and merging equal ones.
    Preparation,
    /// Coding samples; for graphs that are no products of codes, forming the graph too.
    Coding,
    /// Forming the graph of the codes, or what stands for it.
    Graph,
    /// The eigenvectors of the graph.
    Eigenvectors,
    /// K-Means in the coordinates they give.
    KMeans,
}

/// Samples ready to be coded, and how they became so.
#[derive(Debug, Clone, PartialEq)]
pub struct Ready<T> {
    /// The prepared samples, one of each kind.
    pub samples: Matrix<T>,
    /// What each of them counts: how many samples it stands for, or the mass of these.
    pub masses: Vec<f64>,
    /// Which samples they stand for.
    pub duplicates: Duplicates,
    /// What the features were divided by; never [`Scaling::Automatic`].
    pub scale: Scaling,
    /// What the automatic choice is made by; `None` if all features are constant.
    pub ranges: Option<RangeRatio>,
    /// Samples that are zero: they have no direction.
    pub zero_samples: usize,
}

impl<T: Scalar> Ready<T> {
    /// The same in single precision. Of samples of unit norm little is lost.
    fn into_single(self) -> Result<Ready<f32>> {
        let Self { samples, masses, duplicates, scale, ranges, zero_samples } = self;
        let samples: Matrix<f32> = samples.view().converted();
        samples.view().expect_finite("samples in single precision (scale them down)")?;
        Ok(Ready { samples, masses, duplicates, scale, ranges, zero_samples })
    }
}

/// What [`GraphClustering`] found, stage by stage.
#[derive(Debug, Clone)]
pub struct GraphClusters {
    /// The cluster of each sample, from 0.
    pub labels: Vec<u32>,
    /// Which samples became one vertex.
    pub duplicates: Duplicates,
    /// What each vertex counts: how many samples it stands for, or their mass in a unit that is a power of two.
    pub masses: Vec<f64>,
    /// What the features were divided by; never [`Scaling::Automatic`].
    pub scale: Scaling,
    /// What the automatic choice is made by; `None` if all features are constant.
    pub ranges: Option<RangeRatio>,
    /// Samples that are zero: they have no direction.
    pub zero_samples: usize,
    /// The similarities of the vertices.
    pub similarity: Similarity,
    /// The clusters of the vertices.
    pub vertices: SpectralClusters,
}

impl GraphClustering {
    /// The default settings.
    pub fn new(clusters: Clusters) -> Self {
        Self {
            preparation: Preparation::default(),
            merge_duplicates: true,
            graph: GraphKind::default(),
            form: GraphForm::Automatic,
            spectral: SpectralClustering::new(clusters),
        }
    }

    /// All stages. `watch` is told of each when it has ended.
    ///
    /// A sample of mass m counts as m equal samples do that are merged, in every stage; only ratios of masses matter. None
    /// may be zero: leave out samples that are not to count.
    ///
    /// Where all that is asked of the prepared samples is which atom or sample is the nearest, they are brought to single
    /// precision, which takes half the time and memory; where codes are certified they keep their own.
    ///
    /// # Errors
    /// See [`GraphClustering`].
    pub fn fit<T: Scalar>(
        &self,
        samples: MatrixView<'_, T>,
        masses: Option<&[f64]>,
        seed: u64,
        watch: &mut dyn FnMut(Stage),
        run: Run<'_>,
    ) -> Result<GraphClusters> {
        let ready = self.prepare(samples, masses, run.passes(0..PREPARATION, 100, samples.columns()))?;
        watch(Stage::Preparation);
        let rest = run.passes(PREPARATION..100, 100, samples.columns());
        if T::NAME != f32::NAME && self.graph.fits_single() {
            self.cluster(ready.into_single()?, seed, watch, rest)
        } else {
            self.cluster(ready, seed, watch, rest)
        }
    }

    /// The stages after [`prepare`](Self::prepare), in the precision of the samples.
    ///
    /// # Errors
    /// See [`GraphClustering`].
    pub fn cluster<T: Scalar>(
        &self,
        ready: Ready<T>,
        seed: u64,
        watch: &mut dyn FnMut(Stage),
        run: Run<'_>,
    ) -> Result<GraphClusters> {
        let (needed, found) = (2, ready.samples.columns());
        if found < needed {
            let what = "samples that differ (after centring, scaling and unit norm, equal ones merged)";
            return Err(Error::TooFewSamples { what, needed, found });
        }
        let mut start = 0;
        let parts = ENDS.map(|end| run.passes(std::mem::replace(&mut start, end)..end, 100, ready.samples.columns()));
        let [coding, forming, searching, grouping] = parts;
        let masses = Some(&ready.masses[..]);
        let coded = Coded::of(&self.graph, ready.samples.view(), masses, seed, coding)?;
        watch(Stage::Coding);
        let similarity = coded.similarity(self.form, forming)?;
        watch(Stage::Graph);
        let draw = Draw::first(seed);
        let eigenvectors = self.spectral.eigenvectors(similarity.affinity(), draw, searching)?;
        watch(Stage::Eigenvectors);
        let vertices = self.spectral.cluster(&eigenvectors, masses, draw, grouping)?;
        watch(Stage::KMeans);
        let Ready { duplicates, masses, scale, ranges, zero_samples, .. } = ready;
        let labels = duplicates.spread(&vertices.labels)?;
        Ok(GraphClusters { labels, duplicates, masses, scale, ranges, zero_samples, similarity, vertices })
    }

    /// Prepares samples and merges equal ones.
    ///
    /// # Errors
    /// Those of [`Preparation`]; if a mass is zero.
    pub fn prepare<T: Scalar>(
        &self,
        samples: MatrixView<'_, T>,
        masses: Option<&[f64]>,
        run: Run<'_>,
    ) -> Result<Ready<T>> {
        let part = |passes: Range<usize>| run.passes(passes, 4, samples.columns());
        let masses = masses.map(of_usual_size).transpose()?;
        let prepared = self.preparation.prepare(samples, masses.as_deref(), part(0..3))?;
        let duplicates = if self.merge_duplicates {
            Duplicates::find(prepared.samples.view(), part(3..4))?
        } else {
            Duplicates::none(samples.columns())
        };
        Ok(Ready {
            samples: duplicates.merge(prepared.samples)?,
            masses: masses
                .map_or_else(|| Ok(duplicates.multiplicities()), |masses| duplicates.merge_masses(&masses))?,
            duplicates,
            scale: prepared.scale,
            ranges: prepared.ranges,
            zero_samples: prepared.zero_samples,
        })
    }
}

/// Masses, the largest of which is about 1: their products are weights of the graph, in single precision. A power of two
/// changes none of their digits.
fn of_usual_size(masses: &[f64]) -> Result<Vec<f64>> {
    let largest = masses.iter().copied().fold(0.0, f64::max);
    let unit = if largest.is_normal() { largest.log2().floor().min(1023.0).exp2() } else { 1.0 };
    let sized: Vec<f64> = masses.iter().map(|mass| mass / unit).collect();
    if let Some(place) = sized.iter().position(|mass| *mass <= 0.0) {
        let fix = "must be positive, and not too small beside the largest; leave out samples that are not to count";
        return Err(Error::parameter("masses", masses[place], fix));
    }
    Ok(sized)
}

impl Display for Stage {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Preparation => "preparation",
            Self::Coding => "coding",
            Self::Graph => "graph",
            Self::Eigenvectors => "eigenvectors",
            Self::KMeans => "k-means",
        })
    }
}
