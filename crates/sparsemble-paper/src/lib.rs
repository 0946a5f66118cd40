//! The experiments of "Ensemble Sparse Models for Image Analysis", repeated: Figs. 1, 2 and 3.
//!
//! | file | what |
//! | --- | --- |
//! | `printed.rs` | what the paper prints: settings, and statements to be judged |
//! | `data.rs` | the data folder |
//! | `demonstration.rs`, `trial.rs` | the patches and the ensembles that the three figures share |
//! | `fig1.rs`, `fig2.rs`, `fig3.rs` | one experiment each: numbers to an [`Outcome`] |
//! | `outcome.rs`, `plot.rs`, `document.rs` | what is shown: tables and JSON, SVG, the page of all experiments |
//! | `parts.rs` | finished parts, kept on disk |
//!
//! To add one: its name in [`Experiment`], its settings and claims in `printed.rs`, a file of its own, and a line in
//! [`run`].

mod data;
mod demonstration;
mod document;
pub mod fig1;
pub mod fig2;
pub mod fig3;
mod outcome;
mod parts;
mod plot;
pub mod printed;
mod trial;

use std::ops::ControlFlow;
use std::path::PathBuf;

use anyhow::Result;
use serde_json::json;
use sparsemble::Run;
use sparsemble::model_file::ALGORITHM_VERSION;

pub use data::DataFolder;
pub use demonstration::{Demonstration, Settings};
pub use document::{Provenance, write_document};
pub use outcome::{Outcome, Statement};
pub use parts::{Parts, write};
pub use trial::{Method, TrainingRound, Trial};

/// An experiment of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Experiment {
    /// Oracle weights under four constraints (§II-B).
    Fig1,
    /// The three methods and their best members (§III-C).
    Fig2,
    /// The error against the number of models (§III-C).
    Fig3,
}

impl Experiment {
    /// In the paper's order.
    pub const ALL: [Self; 3] = [Self::Fig1, Self::Fig2, Self::Fig3];

    /// The ensembles it needs: method and K.
    fn trials(self) -> Vec<(Method, usize)> {
        let all_methods = |n_atoms: usize| Method::ALL.map(|method| (method, n_atoms));
        match self {
            Self::Fig1 => printed::SIZES.map(|n_atoms| (Method::RandExAv, n_atoms)).to_vec(),
            Self::Fig2 => printed::SIZES.into_iter().flat_map(all_methods).collect(),
            Self::Fig3 => all_methods(printed::CURVE_SIZE).to_vec(),
        }
    }

    fn outcome(self, settings: &Settings, trials: &[Trial]) -> Outcome {
        match self {
            Self::Fig1 => fig1::outcome(settings, trials),
            Self::Fig2 => fig2::outcome(settings, trials),
            Self::Fig3 => fig3::outcome(settings, trials),
        }
    }
}

/// What is asked for.
#[derive(Debug, Clone)]
pub struct Request {
    /// Which experiments.
    pub experiments: Vec<Experiment>,
    /// The data folder.
    pub data: PathBuf,
    /// Where finished parts are kept.
    pub parts: PathBuf,
    /// The settings of Figs. 1, 2 and 3.
    pub settings: Settings,
    /// As for [`Run::threads`].
    pub threads: usize,
}

/// Told what is being done and how much of it is; asked whether to go on.
pub type Watch<'a> = dyn Fn(&str, usize, usize) -> ControlFlow<()> + 'a;

/// Runs the experiments, in the order they are given.
///
/// # Errors
/// If data is missing, a part cannot be written, or `watch` has stopped it; finished parts are kept then.
pub fn run(request: &Request, watch: &Watch<'_>) -> Result<Vec<Outcome>> {
    let data = DataFolder::open(&request.data)?;
    let patches = Demonstration::prepare(request.settings.clone(), &data.training_images()?, &data.berkeley_images()?)?;
    let parts = Parts::new(&request.parts);
    let key = |n_atoms: usize| {
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "algorithm_version": ALGORITHM_VERSION,
            "settings": patches.settings,
            "patches": format!("{:016x}", patches.fingerprint()),
            "n_atoms": n_atoms,
        })
    };
    let trial = |(method, n_atoms): (Method, usize)| {
        let name = format!("{} K = {n_atoms}", method.name());
        let tell = |done: usize, total: usize| watch(&name, done, total);
        let run = Run::threads(request.threads).on_progress(&tell);
        let file = format!("{}-{n_atoms}", method.name().to_lowercase());
        parts.take(&file, &key(n_atoms), || Trial::run(&patches, method, n_atoms, run))
    };
    let outcome = |experiment: &Experiment| {
        let trials = experiment.trials().into_iter().map(trial).collect::<Result<Vec<_>>>()?;
        Ok(experiment.outcome(&patches.settings, &trials))
    };
    request.experiments.iter().map(outcome).collect()
}
