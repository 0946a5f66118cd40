//! Clustering by each method of §V: what Table 3 is made of.

use anyhow::Result;
use cpu_time::ProcessTime;
use serde::{Deserialize, Serialize};
use sparsemble::clustering::{
    Clusters, Coded, Duplicates, FirstCenters, GraphForm, Preparation, Prepared, Scaling, SpectralClustering,
};
use sparsemble::graph::GraphKind;
use sparsemble::kmeans::{KMeansInit, WeightedKMeans};
use sparsemble::matrix_file::{Classes, LabelledSamples};
use sparsemble::metrics::Agreement;
use sparsemble::{Draw, Matrix, MatrixView, Run};

use crate::printed;

/// A method of Table 3, or one that the paper's should be compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grouper {
    /// Each sample coded by the others.
    L1Graph,
    /// Boosted examples.
    BoostEx,
    /// Random examples.
    RandExAv,
    /// Boosted K-Means centres.
    BoostKm,
    /// Codes in a learned dictionary.
    AltOpt,
    /// K-Means on the prepared samples.
    KMeans,
    /// Nearest neighbours and the spectral step of the paper.
    Neighbours,
    /// Nearest neighbours and our spectral step.
    NeighboursOurStep,
    /// The same on random halves of the samples.
    NeighboursHalves,
    /// What `sparsemble cluster` does unless it is told otherwise.
    Ensemble,
    /// The same on random halves of the samples.
    EnsembleHalves,
    /// Nearest neighbours, and the spectral step of the search.
    NeighboursSearchedStep,
    /// What a search from plain settings found that never saw these data sets.
    Searched,
    /// The same on random halves of the samples.
    SearchedHalves,
}

impl Grouper {
    /// All of them; those of the paper come first, in its order.
    pub const ALL: [Self; 14] = [
        Self::L1Graph,
        Self::BoostEx,
        Self::RandExAv,
        Self::BoostKm,
        Self::AltOpt,
        Self::KMeans,
        Self::Neighbours,
        Self::NeighboursOurStep,
        Self::NeighboursHalves,
        Self::Ensemble,
        Self::EnsembleHalves,
        Self::NeighboursSearchedStep,
        Self::Searched,
        Self::SearchedHalves,
    ];

    /// As the paper writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::L1Graph => "l1 graph",
            Self::BoostEx => "BoostEx",
            Self::RandExAv => "RandExAv",
            Self::BoostKm => "BoostKM",
            Self::AltOpt => "Alt-Opt graph",
            Self::KMeans => "K-Means",
            Self::Neighbours => "10 neighbours",
            Self::NeighboursOurStep => "10 neighbours, our step",
            Self::NeighboursHalves => "10 neighbours, our step, halves",
            Self::Ensemble => "ensemble",
            Self::EnsembleHalves => "ensemble, halves",
            Self::NeighboursSearchedStep => "10 neighbours, searched step",
            Self::Searched => "searched ensemble",
            Self::SearchedHalves => "searched ensemble, halves",
        }
    }

    /// Its place in the tables of `printed.rs`.
    pub fn printed(self) -> Option<usize> {
        [Self::L1Graph, Self::BoostEx, Self::RandExAv, Self::BoostKm].iter().position(|other| *other == self)
    }

    fn halves(self) -> bool {
        matches!(self, Self::NeighboursHalves | Self::EnsembleHalves | Self::SearchedHalves)
    }

    fn searched(self) -> bool {
        matches!(self, Self::NeighboursSearchedStep | Self::Searched | Self::SearchedHalves)
    }
}

/// The setting in which the search of docs/DEFAULTS.md ends: no label of a set of Table 3 took part in it.
pub(crate) struct Searched;

impl Searched {
    /// As `sparsemble cluster --method` takes it.
    pub(crate) const GRAPH: &str = "boost-km:members=10,refinements=1,sharpness=2,nonnegative";
    /// Of the eigenvalues, for as many eigenvectors as clusters.
    pub(crate) const POWER: f64 = 1.0;
    /// Features are divided by their ranges if the largest is more than so many times the lower quartile.
    pub(crate) const KINDS: f64 = 3.0;

    fn prepare(samples: MatrixView<'_, f32>, run: Run<'_>) -> Result<Prepared<f32>> {
        let usual = Preparation { scale: Scaling::None, ..Preparation::default() };
        let prepared = usual.prepare(samples, None, run)?;
        if prepared.ranges.is_some_and(|ranges| ranges.ratio() > Self::KINDS) {
            return Ok(Preparation { scale: Scaling::Range, ..usual }.prepare(samples, None, run)?);
        }
        Ok(prepared)
    }
}

/// Everything that the numbers depend on but what is in the files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Grouping {
    /// The data sets of Table 3, by name.
    pub sets: Vec<String>,
    /// Runs of each method.
    pub runs: usize,
    /// Random halves of the data.
    pub halves: usize,
    /// L of the paper's methods.
    pub n_members: usize,
    /// T/K of BoostEx and RandExAv.
    pub samples_per_example: usize,
    /// T/K of BoostKM.
    pub samples_per_center: usize,
    /// λ of the l1 graph and of the Alt-Opt graph.
    pub lambda: f64,
    /// K of the Alt-Opt graph.
    pub n_atoms: usize,
    /// The graph of *ensemble*: empty for that of `sparsemble cluster`.
    pub ensemble: String,
    /// The seed of everything that is drawn.
    pub seed: u64,
}

impl Grouping {
    /// The paper says nothing of its settings but that there is more than one run: these are ours.
    pub fn paper(seed: u64) -> Self {
        Self {
            sets: printed::DATA_SETS
                .iter()
                .chain([&printed::FURTHER_SET])
                .map(|(name, _)| (*name).to_owned())
                .collect(),
            runs: 20,
            halves: 10,
            n_members: 30,
            samples_per_example: 8,
            samples_per_center: 32,
            lambda: printed::LAMBDA,
            n_atoms: 64,
            ensemble: GraphKind::default().to_string(),
            seed,
        }
    }

    /// The smallest set alone, and few runs.
    pub fn quick(seed: u64) -> Self {
        Self { sets: vec!["Soybean".into()], runs: 2, halves: 2, n_members: 5, ..Self::paper(seed) }
    }

    /// The data sets and the files they are in.
    pub(crate) fn files(&self) -> Vec<(&'static str, &'static str)> {
        let wanted = |(name, _): &(&str, &str)| self.sets.iter().any(|one| one == name);
        printed::DATA_SETS.into_iter().chain([printed::FURTHER_SET]).filter(wanted).collect()
    }

    fn graph(&self, method: Grouper) -> Result<GraphKind> {
        let (members, examples) = (self.n_members, self.samples_per_example);
        let text = match method {
            Grouper::L1Graph => format!("l1:lambda={}", self.lambda),
            Grouper::BoostEx => format!("boost-ex:members={members},samples_per_atom={examples}"),
            Grouper::RandExAv => format!("rand-ex-av:members={members},samples_per_atom={examples}"),
            Grouper::BoostKm => format!("boost-km:members={members},samples_per_atom={}", self.samples_per_center),
            Grouper::AltOpt => format!("alt-opt:atoms={},lambda={}", self.n_atoms, self.lambda),
            Grouper::Ensemble | Grouper::EnsembleHalves => self.ensemble.clone(),
            Grouper::Searched | Grouper::SearchedHalves => Searched::GRAPH.into(),
            _ => "neighbours:count=10".into(),
        };
        Ok(text.parse()?)
    }
}

/// How well a method finds the classes of a data set again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Grouped {
    /// What the data set is called.
    pub set: String,
    /// The method.
    pub method: Grouper,
    /// The accuracy of each run, from 0 to 1.
    pub accuracies: Vec<f64>,
    /// The normalised mutual information of each run.
    pub information: Vec<f64>,
    /// CPU seconds of the first graph, of all threads together.
    pub graph_seconds: f64,
    /// Runs that did not converge.
    pub unconverged: usize,
}

/// Runs a method on a data set as often as the settings say.
///
/// # Errors
/// Those of the library; also if the run was interrupted.
pub(crate) fn group(
    settings: &Grouping,
    name: &str,
    data: &LabelledSamples<f32>,
    method: Grouper,
    run: Run<'_>,
) -> Result<Grouped> {
    let classes = data.classes.clone().unwrap_or(Classes { of_samples: Vec::new(), names: Vec::new() });
    let whole = Part { samples: data.samples.to_matrix(), classes: classes.of_samples };
    let work = Work { settings, method, n_clusters: classes.names.len() };
    let mut grouped = Grouped {
        set: name.to_owned(),
        method,
        accuracies: Vec::new(),
        information: Vec::new(),
        graph_seconds: 0.0,
        unconverged: 0,
    };
    if method.halves() {
        for half in 0..settings.halves {
            let seed = settings.seed + half as u64;
            let part = run.part(half * STEPS..(half + 1) * STEPS, settings.halves * STEPS);
            work.run(&whole.half(seed)?, seed..seed + 1, &mut grouped, part)?;
        }
    } else {
        work.run(&whole, settings.seed..settings.seed + settings.runs as u64, &mut grouped, run)?;
    }
    Ok(grouped)
}

/// Some samples and their classes.
struct Part {
    samples: Matrix<f32>,
    classes: Vec<u32>,
}

impl Part {
    /// A random half, in the order of the whole.
    fn half(&self, seed: u64) -> Result<Self> {
        let mut order: Vec<usize> = (0..self.classes.len()).collect();
        order.sort_by_key(|&i| (scrambled(seed, i as u64), i));
        order.truncate(self.classes.len() / 2);
        order.sort_unstable();
        let columns = order.iter().flat_map(|&i| self.samples.column(i)).copied().collect();
        let samples = Matrix::from_columns(columns, self.samples.rows(), order.len())?;
        Ok(Self { samples, classes: order.iter().map(|&i| self.classes[i]).collect() })
    }
}

/// A number that looks random (the finaliser of splitmix64).
fn scrambled(seed: u64, number: u64) -> u64 {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ number.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Into how many steps the progress of a run is divided.
const STEPS: usize = 1000;

/// How vertices of a graph become clusters.
fn step(method: Grouper, n_clusters: usize) -> SpectralClustering {
    match method {
        // One K-Means from random vertices for each run: see the page on what the paper's averages are.
        paper if paper.printed().is_some() || paper == Grouper::AltOpt => SpectralClustering {
            first_centers: FirstCenters::Vertices,
            restarts: 1,
            ..SpectralClustering::ng(n_clusters)
        },
        Grouper::Neighbours => SpectralClustering::ng(n_clusters),
        searched if searched.searched() => {
            SpectralClustering { power: Searched::POWER, ..SpectralClustering::ng(n_clusters) }
        }
        _ => SpectralClustering::new(Clusters::Count(n_clusters)),
    }
}

/// What all runs of a method share.
struct Work<'a> {
    settings: &'a Grouping,
    method: Grouper,
    n_clusters: usize,
}

impl Work<'_> {
    /// A run for each seed. Only our ensembles have a graph of their own in each; the others differ by their K-Means.
    fn run(&self, part: &Part, seeds: std::ops::Range<u64>, grouped: &mut Grouped, run: Run<'_>) -> Result<()> {
        let count = (seeds.end - seeds.start) as usize;
        let steps = |from: usize, to: usize| run.part(from..to, count * STEPS);
        let prepared = if self.method.searched() {
            Searched::prepare(part.samples.view(), steps(0, 0))?
        } else {
            Preparation::default().prepare(part.samples.view(), None, steps(0, 0))?
        };
        let duplicates = Duplicates::find(prepared.samples.view(), steps(0, 0))?;
        let samples = duplicates.merge(prepared.samples)?;
        let masses = duplicates.multiplicities();
        let mut graph = None;
        for (number, seed) in seeds.enumerate() {
            let (begun, coded, ended) = (number * STEPS, number * STEPS + STEPS / 2, (number + 1) * STEPS);
            let (labels, converged) = if self.method == Grouper::KMeans {
                self.means(&samples, &masses, seed, steps(begun, ended))?
            } else {
                if graph.is_none() || matches!(self.method, Grouper::Ensemble | Grouper::Searched) {
                    let start = ProcessTime::now();
                    let kind = self.settings.graph(self.method)?;
                    let codes = Coded::of(&kind, samples.view(), Some(&masses), seed, steps(begun, coded))?;
                    let similarity = codes.similarity(GraphForm::Automatic, steps(coded, coded))?;
                    if number == 0 && grouped.accuracies.is_empty() {
                        grouped.graph_seconds = start.elapsed().as_secs_f64();
                    }
                    graph = Some(similarity);
                }
                let Some(graph) = &graph else { continue };
                let found = step(self.method, self.n_clusters).fit(
                    graph.affinity(),
                    Some(&masses),
                    Draw::first(seed),
                    steps(coded, ended),
                )?;
                (found.labels, found.converged)
            };
            let agreement = Agreement::between(&part.classes, &duplicates.spread(&labels)?)?;
            grouped.accuracies.push(agreement.accuracy());
            grouped.information.push(agreement.nmi());
            grouped.unconverged += usize::from(!converged);
        }
        Ok(())
    }

    /// The best of ten K-Means.
    fn means(&self, samples: &Matrix<f32>, masses: &[f64], seed: u64, run: Run<'_>) -> Result<(Vec<u32>, bool)> {
        const RESTARTS: u64 = 10;
        let kmeans = WeightedKMeans { init: KMeansInit::PlusPlus, ..WeightedKMeans::new(self.n_clusters) };
        let mut best: Option<sparsemble::kmeans::Clustering<f32>> = None;
        for restart in 0..RESTARTS {
            let draw = Draw::first(seed * RESTARTS + restart);
            let found =
                kmeans.fit(samples.view(), masses, draw, run.part(restart as usize..restart as usize + 1, 10))?;
            if best.as_ref().is_none_or(|best| found.inertia < best.inertia) {
                best = Some(found);
            }
        }
        Ok(best.map_or((Vec::new(), true), |best| (best.assignments, best.converged)))
    }
}
