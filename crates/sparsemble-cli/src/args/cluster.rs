//! What can be typed after `sparsemble cluster`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use sparsemble::clustering::{Centre, Clusters, GraphForm, Scaling};
use sparsemble::graph::GraphKind;

use super::RunArguments;
use crate::options::parsed;

/// The most clusters that `-k auto` looks for.
const MOST_GUESSED: usize = 30;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sparsemble cluster flowers.csv -k 3
  sparsemble cluster digits.csv -k 10 --label-column label --report digits.html -o clusters.csv
  sparsemble cluster samples.npy -k auto --method l1:lambda=0.2 --save-graph graph.npz -o clusters.csv")]
pub(crate) struct ClusterArguments {
    /// The samples: .csv (with or without a header), .npy, .npz (FILE.npz:NAME), .mat (FILE.mat:NAME); one a row.
    #[arg(value_name = "FILE")]
    pub(crate) samples: PathBuf,

    /// How many clusters, or `auto` to guess by the widest gap between eigenvalues, which on real data is often wrong.
    #[arg(short = 'k', long, value_name = "K")]
    pub(crate) clusters: Count,

    /// Where the cluster of each sample goes: a .csv file with the header `cluster` and a line a sample [default: beside the
    /// samples, as samples_clusters.csv].
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// The column with the true classes, by name or number from 1 (in .npz and .mat files another array). It is no feature
    /// and only scores the clusters.
    #[arg(long, value_name = "NAME")]
    pub(crate) label_column: Option<String>,

    /// How samples are compared: ensemble, boost-km, boost-ex, rand-ex-av, l1, elastic-net, omp, alt-opt or neighbours. Each
    /// may have settings, as in ensemble:members=30,atoms=500, l1:lambda=0.2, elastic-net:lambda=0.2,ridge=0.1,
    /// omp:sparsity=5, alt-opt:atoms=64 or neighbours:count=10.
    #[arg(long, value_name = "GRAPH", default_value_t, value_parser = parsed::<GraphKind>)]
    pub(crate) method: GraphKind,

    /// The seed of all random choices.
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,

    /// Write the graph to this .npz file, which scipy.sparse.load_npz reads; equal samples are one vertex.
    #[arg(long, value_name = "FILE")]
    pub(crate) save_graph: Option<PathBuf>,

    /// Write a page to look at to this .html file: clusters on a map, the graph, and, with classes, who is where.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) preparation: PreparationArguments,

    #[command(flatten)]
    pub(crate) spectral: SpectralArguments,

    #[command(flatten)]
    pub(crate) run: RunArguments,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Preparing the samples")]
pub(crate) struct PreparationArguments {
    /// What is subtracted: `data` (the mean of all samples), `sample` (each sample's own mean) or `none`.
    #[arg(long, value_name = "MEAN", default_value = "data", alias = "center", value_parser = parsed::<Centre>)]
    pub(crate) centre: Centre,

    /// What features are divided by: `none`, `range`, `deviation`, or `auto`: `range` if they are of different kinds.
    #[arg(long, value_name = "KIND", default_value = "auto", value_parser = parsed::<Scaling>)]
    pub(crate) scale: Scaling,

    /// Do not scale each sample to norm 1.
    #[arg(long)]
    pub(crate) keep_norm: bool,

    /// Do not merge equal samples.
    #[arg(long)]
    pub(crate) keep_duplicates: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Clustering the graph")]
pub(crate) struct SpectralArguments {
    /// How many eigenvectors are coordinates [default: twice the clusters].
    #[arg(long, value_name = "E")]
    pub(crate) vectors: Option<usize>,

    /// How strongly larger eigenvalues count: λ^T; 0 for all the same [default: 10].
    #[arg(long, value_name = "T")]
    pub(crate) power: Option<f64>,

    /// Starts of K-Means, of which the best counts [default: 10].
    #[arg(long, value_name = "N")]
    pub(crate) starts: Option<usize>,

    /// Whether the graph of ensembles is formed: `explicit`, `implicit` (less memory) or `auto`.
    #[arg(long, value_name = "FORM", default_value_t, value_parser = parsed::<GraphForm>)]
    pub(crate) form: GraphForm,
}

/// How many clusters.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Count(pub(crate) Clusters);

impl FromStr for Count {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "auto" {
            return Ok(Self(Clusters::Automatic { most: MOST_GUESSED }));
        }
        let count = text.parse().ok().filter(|count| *count >= 1);
        count.map(|count| Self(Clusters::Count(count))).ok_or_else(|| "give a number from 1, or auto".to_owned())
    }
}
