//! What can be typed after `sparsemble paper`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use sparsemble_paper::{Enlarging, Experiment, Grouping, Means, Sensing, Settings, printed};

#[derive(Debug, Args)]
pub(crate) struct PaperArguments {
    /// Which experiments; with --document it is all of them.
    #[arg(value_name = "EXPERIMENT", required_unless_present = "document", conflicts_with = "document")]
    experiments: Vec<Name>,

    /// The data folder, with the pictures and data sets that the paper uses.
    #[arg(long, value_name = "DIR")]
    pub(crate) data: PathBuf,

    /// The folder for results, plots and finished parts, which a later run with the same settings takes up again
    /// [default: sparsemble-paper, or sparsemble-paper-quick].
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,

    /// The seed of everything that is drawn.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// The number of threads; 0 is one for each core.
    #[arg(short, long, value_name = "N", default_value_t = 0)]
    pub(crate) threads: usize,

    /// A fortieth of the work, with fewer patches and models than the paper has.
    #[arg(long)]
    quick: bool,

    /// How many random Φ table1 is averaged over [default: 10, with --quick 1].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    draws: Option<u16>,

    /// What the Φ of table1 and fig5 are: `orthonormal`, `gaussian` (variance 1/N) or `bernoulli` (±1/√N).
    #[arg(long, value_name = "KIND", default_value = "orthonormal", value_parser = ["orthonormal", "gaussian", "bernoulli"])]
    projection: String,

    /// What table1 and fig5 know of the means of blocks.
    #[arg(long, value_name = "MEANS", default_value = "known")]
    means: MeansName,

    /// Ex-MLD takes correlations for coefficients, undivided by the norms of its atoms through Φ.
    #[arg(long)]
    raw_correlations: bool,

    /// Print the results as JSON, an object a line for each experiment, instead of the tables.
    #[arg(long)]
    pub(crate) json: bool,

    /// Write the page of all experiments to this file, and its plots to the folder `figures` beside it.
    #[arg(long, value_name = "FILE")]
    pub(crate) document: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Name {
    /// Oracle weights under four constraints (§II-B).
    Fig1,
    /// RandExAv, BoostEx and BoostKM, and the best of their members (§III-C).
    Fig2,
    /// The error against the number of models (§III-C).
    Fig3,
    /// Compressive recovery beside the paper's numbers (§IV-A2).
    Table1,
    /// Pictures recovered by every method (§IV-A2).
    Fig5,
    /// Super-resolution beside the paper's numbers (§IV-B).
    Table2,
    /// The time of training for super-resolution (§IV-B).
    Fig6,
    /// Clustering beside the paper's numbers (§V).
    Table3,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum MeansName {
    /// They are transmitted: one number a block beside its measurements.
    Known,
    /// They are estimated from the measurements.
    Free,
    /// The atoms represent them.
    InAtoms,
}

impl PaperArguments {
    pub(crate) fn experiments(&self) -> Vec<Experiment> {
        let named = self.experiments.iter().map(|name| match name {
            Name::Fig1 => Experiment::Fig1,
            Name::Fig2 => Experiment::Fig2,
            Name::Fig3 => Experiment::Fig3,
            Name::Table1 => Experiment::Table1,
            Name::Fig5 => Experiment::Fig5,
            Name::Table2 => Experiment::Table2,
            Name::Fig6 => Experiment::Fig6,
            Name::Table3 => Experiment::Table3,
        });
        if self.document.is_some() { Experiment::ALL.to_vec() } else { named.collect() }
    }

    pub(crate) fn settings(&self) -> Settings {
        if self.quick { Settings::quick(self.seed) } else { Settings::paper(self.seed) }
    }

    pub(crate) fn sensing(&self) -> Sensing {
        let settings = if self.quick { Sensing::quick(self.seed) } else { Sensing::paper(self.seed) };
        let means = match self.means {
            MeansName::Known => Means::Known,
            MeansName::Free => Means::Free,
            MeansName::InAtoms => Means::InAtoms,
        };
        Sensing { projection: self.projection.clone(), means, raw_correlations: self.raw_correlations, ..settings }
    }

    pub(crate) fn enlarging(&self) -> Enlarging {
        if self.quick { Enlarging::quick(self.seed) } else { Enlarging::paper(self.seed) }
    }

    pub(crate) fn grouping(&self) -> Grouping {
        if self.quick { Grouping::quick(self.seed) } else { Grouping::paper(self.seed) }
    }

    pub(crate) fn draws(&self) -> usize {
        self.draws.map_or(if self.quick { 1 } else { printed::DRAWS }, usize::from)
    }

    pub(crate) fn output(&self) -> PathBuf {
        let default = if self.quick { "sparsemble-paper-quick" } else { "sparsemble-paper" };
        self.output.clone().unwrap_or_else(|| default.into())
    }

    /// The words that repeat the run: what decides its numbers, and nothing of this machine but the paths.
    pub(crate) fn command(&self) -> String {
        let seed = if self.seed == 1 { String::new() } else { format!(" --seed {}", self.seed) };
        let quick = if self.quick { " --quick" } else { "" };
        let draws = self.draws.map(|draws| format!(" --draws {draws}")).unwrap_or_default();
        let projection = match self.projection.as_str() {
            "orthonormal" => String::new(),
            other => format!(" --projection {other}"),
        };
        let means = match self.means {
            MeansName::Known => "",
            MeansName::Free => " --means free",
            MeansName::InAtoms => " --means in-atoms",
        };
        let raw = if self.raw_correlations { " --raw-correlations" } else { "" };
        let document = self.document.as_ref().map(|path| format!(" --document {}", path.display()));
        let options = format!("{seed}{quick}{draws}{projection}{means}{raw}");
        format!("sparsemble paper --data {}{options}{}", self.data.display(), document.unwrap_or_default())
    }
}
