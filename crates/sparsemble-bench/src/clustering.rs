//! Clustering, whole and in parts, on samples or a graph from files.
//!
//! | part | what is timed | its own options |
//! | --- | --- | --- |
//! | `graph` | a graph of the samples as they are, and matrix products, in turn | `samples=`, `graph=` (as text), `repetitions=` |
//! | `eigenvectors` | the leading eigenvectors of a graph, from several starts | `input=` (a graph), `vectors=`, `tolerance=`, `starts=` |
//! | `fit` | samples to labels, stage by stage | `samples=`, `graph=`, `clusters=` |
//! | `sweep` | one graph to the labels of several spectral steps | `samples=`, `graph=`, `scale=`, `clusters=`, `vectors=`, `powers=` (lists), `codes=`, `most=` |
//!
//! All take `threads=` and `seed=`. What was found goes to `output=`: the graph, the eigenvectors of the first start
//! (`f64`, vertex after vertex), the labels (`u32`; of a sweep for each number of vectors those for each power).
//! A sweep keeps the codes of `most=` members in the file `codes=`, and takes them from there if it is there already.

use std::path::Path;
use std::time::Instant;

use anyhow::{Result, bail};
use serde_json::{Map, Value, json};
use sparsemble::clustering::{
    Clusters, Coded, GraphClustering, GraphForm, LeadingEigenvectors, Ready, SpectralClustering, Stage,
};
use sparsemble::graph::{GraphKind, MemberGraph, StackedCodes};
use sparsemble::{Draw, Run};

use crate::graph_file;
use crate::learning::{peak_megabytes, timed};
use crate::options::Options;
use crate::product::{Library, Product, Shape};
use crate::stacked_file;

/// Products of all samples with the atoms of one member, after each graph.
const PASSES: usize = 4;

/// Measures one part.
pub(crate) fn run(part: &str, arguments: &[&str]) -> Result<Value> {
    let options = &Options::parse(arguments)?;
    let task = Task { options, seed: options.parsed("seed")?, run: Run::threads(options.parsed("threads")?) };
    match part {
        "graph" => task.graph(),
        "eigenvectors" => task.eigenvectors(),
        "fit" => task.fit(),
        "sweep" => task.sweep(),
        other => bail!("the part is graph, eigenvectors, fit or sweep, not {other}"),
    }
}

struct Task<'a> {
    options: &'a Options<'a>,
    seed: u64,
    run: Run<'static>,
}

impl Task<'_> {
    /// The graph and products on one thread in turn; the best of each.
    fn graph(&self) -> Result<Value> {
        let samples = self.options.matrix("samples")?;
        let kind: GraphKind = self.options.parsed("graph")?;
        let (mut coding, mut forming, mut product) = (f64::INFINITY, f64::INFINITY, f64::INFINITY);
        let mut work = Work::default();
        for repetition in 0..self.options.parsed::<usize>("repetitions")? {
            let (seconds, coded) = timed(|| Coded::of(&kind, samples.view(), None, self.seed, self.run))?;
            coding = coding.min(seconds);
            if repetition == 0 {
                work = Work::of(&kind, &coded, samples.rows());
            }
            let (seconds, similarity) = timed(|| coded.similarity(GraphForm::Explicit, self.run))?;
            forming = forming.min(seconds);
            if let Some(built) = similarity.graph().filter(|_| repetition == 0) {
                graph_file::write(self.options, &built.graph)?;
            }
            product = product.min(work.products(samples.columns())?);
        }
        Ok(json!({ "coding": coding, "graph": forming, "seconds": coding + forming, "products": product }))
    }

    fn eigenvectors(&self) -> Result<Value> {
        let graph = graph_file::read(self.options)?;
        let solver = LeadingEigenvectors {
            tolerance: self.options.parsed("tolerance")?,
            ..LeadingEigenvectors::new(self.options.parsed("vectors")?)
        };
        let mut starts = Vec::new();
        for start in 0..self.options.parsed::<u64>("starts")? {
            let draw = Draw { seed: self.seed, round: start };
            let (seconds, found) = timed(|| solver.find(&graph, draw, self.run))?;
            if start == 0 {
                self.options.write_bytes("", found.vectors.as_slice().iter().flat_map(|value| value.to_le_bytes()))?;
            }
            let (values, residual, converged) = (found.values, found.residual, found.converged);
            starts.push(json!({ "seconds": seconds, "values": values, "residual": residual, "converged": converged }));
        }
        Ok(json!({ "starts": starts }))
    }

    fn fit(&self) -> Result<Value> {
        let samples = self.options.matrix("samples")?;
        let clusters = Clusters::Count(self.options.parsed("clusters")?);
        let clustering = GraphClustering { graph: self.options.parsed("graph")?, ..GraphClustering::new(clusters) };
        let (mut stages, mut before) = (Map::new(), 0.0);
        let start = Instant::now();
        let mut watch = |stage: Stage| {
            let now = start.elapsed().as_secs_f64();
            let most = peak_megabytes().unwrap_or(Value::Null);
            stages.insert(stage.to_string(), json!({ "seconds": now - before, "peak_mb": most }));
            before = now;
        };
        let found = clustering.fit(samples.view(), None, self.seed, &mut watch, self.run)?;
        let seconds = start.elapsed().as_secs_f64();
        self.options.write_bytes("", found.labels.iter().flat_map(|label| label.to_le_bytes()))?;
        let (formed, converged) = (found.similarity.graph().is_some(), found.vertices.converged);
        let peak = peak_megabytes()?;
        Ok(json!({
            "seconds": seconds, "stages": stages, "formed": formed, "converged": converged, "peak_mb": peak,
        }))
    }

    /// The stages of [`GraphClustering::fit`], but the last for each number of eigenvectors with each power: the first ones of
    /// the most are the same as if no more had been asked for.
    fn sweep(&self) -> Result<Value> {
        let samples = self.options.matrix("samples")?;
        let counts: Vec<usize> = self.options.list("vectors")?;
        let powers: Vec<f64> = self.options.list("powers")?;
        let clusters = Clusters::Count(self.options.parsed("clusters")?);
        let mut clustering = GraphClustering { graph: self.options.parsed("graph")?, ..GraphClustering::new(clusters) };
        clustering.preparation.scale = self.options.parsed("scale")?;
        clustering.spectral.vectors = counts.iter().copied().max();
        let start = Instant::now();
        let ready = clustering.prepare(samples.view(), None, self.run)?;
        let (masses, draw) = (Some(&ready.masses[..]), Draw::first(self.seed));
        let coded = Coded::Stacked(self.codes(&clustering.graph, &ready)?);
        let similarity = coded.similarity(clustering.form, self.run)?;
        let eigenvectors = clustering.spectral.eigenvectors(similarity.affinity(), draw, self.run)?;
        let (mut labels, mut converged) = (Vec::new(), true);
        for &count in &counts {
            for &power in &powers {
                let step = SpectralClustering { vectors: Some(count), power, ..clustering.spectral.clone() };
                let found = step.cluster(&eigenvectors, masses, draw, self.run)?;
                labels.extend(ready.duplicates.spread(&found.labels)?);
                converged &= found.converged;
            }
        }
        let seconds = start.elapsed().as_secs_f64();
        self.options.write_bytes("", labels.iter().flat_map(|label| label.to_le_bytes()))?;
        Ok(json!({ "seconds": seconds, "converged": converged, "components": eigenvectors.components }))
    }

    /// The stacked codes of a graph, made of those of more members: only what differs in other ways is coded anew.
    fn codes(&self, kind: &GraphKind, ready: &Ready<f32>) -> Result<StackedCodes> {
        let GraphKind::Members(graph) = kind else { bail!("a sweep needs a graph of stacked codes, not {kind}") };
        let path = Path::new(self.options.text("codes")?);
        let all = if path.is_file() {
            stacked_file::read(path)?
        } else {
            let most = MemberGraph { n_members: self.options.parsed("most")?, sharpness: 1.0, ..*graph };
            let all = most.codes(ready.samples.view(), Some(&ready.masses), self.seed, self.run)?;
            stacked_file::write(path, &all)?;
            all
        };
        let energy = |i: usize| ready.samples.column(i).iter().map(|x| f64::from(*x) * f64::from(*x)).sum();
        let energies: Vec<f64> = (0..ready.samples.columns()).map(energy).collect();
        stacked_file::sharpened(&all, graph.n_members, graph.sharpness, (&ready.masses, &energies))
    }
}

/// The multiply-adds of a graph in products of atoms and samples.
#[derive(Default)]
struct Work {
    features: usize,
    /// K, that of all but the last pass of a member.
    atoms: usize,
    /// Atoms of all passes of all members together.
    all_atoms: usize,
}

impl Work {
    /// What an ensemble of 1-sparse codes has to multiply; nothing for other graphs.
    fn of(kind: &GraphKind, coded: &Coded, features: usize) -> Self {
        match (kind, coded) {
            (GraphKind::Members(members), Coded::Stacked(codes)) => {
                let atoms = members.atoms.of(codes.n_samples()).unwrap_or(0);
                Self { features, atoms, all_atoms: codes.n_members() * members.refinements * atoms + codes.n_rows() }
            }
            (GraphKind::Examples(examples), Coded::Graph(built)) => {
                let atoms = examples.atoms.of(built.graph.vertices()).unwrap_or(0);
                Self { features, atoms, all_atoms: examples.n_members * atoms }
            }
            _ => Self::default(),
        }
    }

    /// Seconds for them by faer, estimated from a few passes.
    fn products(&self, samples: usize) -> Result<f64> {
        if self.all_atoms == 0 {
            return Ok(0.0);
        }
        let shape = Shape { features: self.features, atoms: self.atoms, samples };
        let mut product = Product::<f32>::new(shape);
        let mut seconds = 0.0;
        for _ in 0..PASSES {
            seconds += product.time(Library::Faer)?;
        }
        Ok(seconds / (PASSES * self.atoms) as f64 * self.all_atoms as f64)
    }
}
