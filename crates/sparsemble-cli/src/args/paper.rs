//! What can be typed after `sparsemble paper`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use sparsemble_paper::{Enlarging, Experiment, Grouping, LAYOUT, Means, Sensing, Settings, printed};

use super::{PROJECTIONS, RunArguments};

#[derive(Debug, Args)]
#[command(after_long_help = after_help(), mut_arg("format", |format| format.hide(true)))]
pub(crate) struct PaperArguments {
    /// Which experiments; with --document every one of them unless some are named.
    #[arg(value_name = "EXPERIMENT", required_unless_present = "document")]
    experiments: Vec<Name>,

    /// The data folder, with the pictures and data sets that the paper uses; its layout is below.
    #[arg(long, value_name = "DIR")]
    pub(crate) data: PathBuf,

    /// The folder for results, plots and finished parts, which a later run with the same settings takes up again
    /// [default: sparsemble-paper, or sparsemble-paper-quick]. One that `sparsemble paper` has made is used again and its files
    /// are replaced; any other that holds files is taken with --force only.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,

    /// The seed of everything that is drawn.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// A fortieth of the work, with fewer patches and models than the paper has.
    #[arg(long)]
    pub(crate) quick: bool,

    /// How many random Φ table1 is averaged over [default: 10, with --quick 1].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    draws: Option<u16>,

    /// What the Φ of table1 and fig5 are: `orthonormal`, `gaussian` (variance 1/N) or `bernoulli` (±1/√N).
    #[arg(long, value_name = "KIND", default_value = "orthonormal", value_parser = PROJECTIONS)]
    projection: String,

    /// What table1 and fig5 know of the means of blocks.
    #[arg(long, value_name = "MEANS", default_value = "known")]
    means: MeansName,

    /// Ex-MLD takes correlations for coefficients, undivided by the norms of its atoms through Φ.
    #[arg(long)]
    raw_correlations: bool,

    /// Write one HTML page: numbers beside the printed ones, statements judged, plots, pictures and settings.
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,

    /// Write a page as Markdown to this file, and its plots to the folder `figures` beside it.
    #[arg(long, value_name = "FILE")]
    pub(crate) document: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) run: RunArguments,
}

fn after_help() -> String {
    let place =
        |place: &sparsemble_paper::Place| format!("  {}\n      {} ({})\n", place.path, place.what, place.for_what);
    format!(
        "The data folder:\n{}\nA run that was stopped goes on with the finished parts when the same command is given again.\n\n\
         Examples:\n  sparsemble paper all --data DIR --report paper.html\n  sparsemble paper table1 --data DIR --draws 2\n  \
         sparsemble paper fig1 fig3 --data DIR --quick --report figures.html",
        LAYOUT.iter().map(place).collect::<String>()
    )
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum Name {
    /// Every experiment that the data folder allows.
    All,
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
    /// Pictures enlarged by every method (§IV-B).
    Fig7,
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
    /// Whether what the data folder does not allow is left out.
    pub(crate) fn takes_what_there_is(&self) -> bool {
        self.experiments.contains(&Name::All)
    }

    pub(crate) fn experiments(&self) -> Vec<Experiment> {
        if self.experiments.is_empty() || self.takes_what_there_is() {
            return Experiment::ALL.to_vec();
        }
        let named = self.experiments.iter().filter_map(|name| match name {
            Name::All => None,
            Name::Fig1 => Some(Experiment::Fig1),
            Name::Fig2 => Some(Experiment::Fig2),
            Name::Fig3 => Some(Experiment::Fig3),
            Name::Table1 => Some(Experiment::Table1),
            Name::Fig5 => Some(Experiment::Fig5),
            Name::Table2 => Some(Experiment::Table2),
            Name::Fig6 => Some(Experiment::Fig6),
            Name::Fig7 => Some(Experiment::Fig7),
            Name::Table3 => Some(Experiment::Table3),
        });
        named.collect()
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
        let names: String = match self.experiments.as_slice() {
            [] => String::new(),
            _ if self.takes_what_there_is() => " all".into(),
            _ => format!(" {}", self.experiments().iter().map(|one| one.name()).collect::<Vec<_>>().join(" ")),
        };
        let file = |option: &str, path: &Option<PathBuf>| {
            path.as_ref().map(|path| format!(" --{option} {}", path.display())).unwrap_or_default()
        };
        let files = file("document", &self.document) + &file("report", &self.report);
        format!(
            "sparsemble paper{names} --data {}{seed}{quick}{draws}{projection}{means}{raw}{files}",
            self.data.display()
        )
    }
}
