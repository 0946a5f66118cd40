//! The experiments of "Ensemble Sparse Models for Image Analysis", repeated: Figs. 1, 2, 3, 5 and 6, and Tables 1, 2 and 3.
//!
//! | file | what |
//! | --- | --- |
//! | `printed.rs` | what the paper prints: settings, numbers, and statements to be judged |
//! | `data.rs` | the data folder |
//! | `demonstration.rs`, `trial.rs` | the patches and the ensembles that Figs. 1, 2 and 3 share |
//! | `sensing.rs`, `recovery.rs` | the blocks and the methods that Table 1 and Fig. 5 share |
//! | `enlarging.rs` | the pairs and the methods that Table 2 and Fig. 6 share |
//! | `grouping.rs` | the methods of Table 3 |
//! | `fig1.rs`, `fig2.rs`, `fig3.rs`, `table1.rs`, `fig5.rs`, `table2.rs`, `fig6.rs`, `table3.rs` | one experiment each: numbers to an [`Outcome`] |
//! | `outcome.rs`, `plot.rs`, `document.rs` | what is shown: tables and JSON, SVG, the page of all experiments |
//! | `parts.rs`, `cells.rs` | finished parts and the cells of tables, kept on disk |
//!
//! To add one: its name in [`Experiment`], its settings and claims in `printed.rs`, a file of its own, and a line in
//! [`run`].

mod cells;
mod data;
mod demonstration;
mod document;
mod enlarging;
pub mod fig1;
pub mod fig2;
pub mod fig3;
pub mod fig5;
pub mod fig6;
mod grouping;
mod outcome;
mod parts;
pub mod plot;
pub mod printed;
mod recovery;
mod sensing;
pub mod table1;
pub mod table2;
pub mod table3;
mod trial;

use std::ops::ControlFlow;
use std::path::PathBuf;

use anyhow::Result;
use serde_json::{Value, json};
use sparsemble::image::GrayImage;
use sparsemble::model_file::ALGORITHM_VERSION;
use sparsemble::{Matrix, Run};

pub use cells::{Cell, Cells};
pub use data::DataFolder;
pub use demonstration::{Demonstration, Settings};
pub use document::{Provenance, write_document};
pub use enlarging::{Enlarger, Enlarging, SuperResolution};
pub use grouping::{Grouped, Grouper, Grouping};
pub use outcome::{Outcome, Statement};
pub use parts::{Parts, write};
pub use recovery::{Contender, Recovery};
pub use sensing::{Blocks, Means, Sensing};
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
    /// Compressive recovery in numbers (§IV-A2).
    Table1,
    /// Compressive recovery in pictures (§IV-A2).
    Fig5,
    /// Super-resolution in numbers (§IV-B).
    Table2,
    /// The time of training for super-resolution (§IV-B).
    Fig6,
    /// Clustering in numbers (§V).
    Table3,
}

impl Experiment {
    /// In the paper's order.
    pub const ALL: [Self; 8] =
        [Self::Fig1, Self::Fig2, Self::Fig3, Self::Table1, Self::Fig5, Self::Table2, Self::Fig6, Self::Table3];
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
    /// The settings of Table 1 and Fig. 5.
    pub sensing: Sensing,
    /// How many Φ Table 1 is averaged over.
    pub draws: usize,
    /// The settings of Table 2 and Fig. 6.
    pub enlarging: Enlarging,
    /// The settings of Table 3.
    pub grouping: Grouping,
    /// As for [`Run::threads`]; the times of Fig. 6 are those of one thread.
    pub threads: usize,
}

/// Told what is being done and how much of it is; asked whether to go on.
pub type Watch<'a> = dyn Fn(&str, usize, usize) -> ControlFlow<()> + 'a;

/// Runs the experiments, in the order they are given.
///
/// # Errors
/// If data is missing, a part cannot be written, or `watch` has stopped it; finished parts are kept then.
pub fn run(request: &Request, watch: &Watch<'_>) -> Result<Vec<Outcome>> {
    let tables_alone = request.experiments.iter().all(|experiment| *experiment == Experiment::Table3);
    let data = if tables_alone { DataFolder::of_tables(&request.data) } else { DataFolder::open(&request.data) }?;
    let mut work = Work { request, watch, data, patches: None, recovery: None };
    request.experiments.iter().map(|experiment| work.outcome(*experiment)).collect()
}

/// What several experiments share, made when the first of them needs it.
struct Work<'a> {
    request: &'a Request,
    watch: &'a Watch<'a>,
    data: DataFolder,
    patches: Option<Demonstration>,
    recovery: Option<Recovery>,
}

impl Work<'_> {
    fn outcome(&mut self, experiment: Experiment) -> Result<Outcome> {
        let settings = &self.request.settings;
        let all_methods = |n_atoms: usize| Method::ALL.map(|method| (method, n_atoms));
        match experiment {
            Experiment::Fig1 => {
                let sizes = printed::SIZES.map(|n_atoms| (Method::RandExAv, n_atoms));
                Ok(fig1::outcome(settings, &self.trials(&sizes)?))
            }
            Experiment::Fig2 => {
                let all: Vec<_> = printed::SIZES.into_iter().flat_map(all_methods).collect();
                Ok(fig2::outcome(settings, &self.trials(&all)?))
            }
            Experiment::Fig3 => Ok(fig3::outcome(settings, &self.trials(&all_methods(printed::CURVE_SIZE))?)),
            Experiment::Table1 => self.table(),
            Experiment::Fig5 => self.pictures(),
            Experiment::Table2 => self.enlarged(),
            Experiment::Fig6 => self.times(),
            Experiment::Table3 => self.grouped(),
        }
    }

    /// The ensembles of these methods and K.
    fn trials(&mut self, wanted: &[(Method, usize)]) -> Result<Vec<Trial>> {
        let (request, watch) = (self.request, self.watch);
        let patches = match self.patches.take() {
            Some(patches) => patches,
            None => Demonstration::prepare(
                request.settings.clone(),
                &self.data.training_images()?,
                &self.data.berkeley_images()?,
            )?,
        };
        let patches = self.patches.insert(patches);
        let parts = Parts::new(&request.parts);
        let trial = |&(method, n_atoms): &(Method, usize)| {
            let name = format!("{} K = {n_atoms}", method.name());
            let tell = |done: usize, total: usize| watch(&name, done, total);
            let run = Run::threads(request.threads).on_progress(&tell);
            let file = format!("{}-{n_atoms}", method.name().to_lowercase());
            let key = key(json!({
                "settings": patches.settings,
                "patches": format!("{:016x}", patches.fingerprint()),
                "n_atoms": n_atoms,
            }));
            parts.take(&file, &key, || Trial::run(patches, method, n_atoms, run))
        };
        wanted.iter().map(trial).collect()
    }

    fn table(&mut self) -> Result<Outcome> {
        let (request, watch) = (self.request, self.watch);
        let blocks = Blocks::cut(&request.sensing, self.data.standard_images(&printed::PICTURES)?)?;
        let recovery = self.recovery()?;
        let key = sensing_key(recovery, &blocks);
        let mut cells = Cells::open(&request.parts.join("table1.jsonl"), &key)?;
        let cells = table1::fill(&mut cells, recovery, &blocks, request.draws, (request.threads, watch))?;
        Ok(table1::outcome(&request.sensing, &blocks.names, &cells))
    }

    fn pictures(&mut self) -> Result<Outcome> {
        let (request, watch) = (self.request, self.watch);
        let mut pictures = self.data.standard_images(&[printed::FIGURE_PICTURE])?;
        pictures.extend(self.data.free_images(&[fig5::PHOTOGRAPH])?);
        let blocks = Blocks::cut(&request.sensing, pictures)?;
        let recovery = self.recovery()?;
        let key = sensing_key(recovery, &blocks);
        let make = || fig5::recover(recovery, &blocks, (request.threads, watch));
        let recovered = Parts::new(&request.parts).take("fig5", &key, make)?;
        fig5::outcome(&request.sensing, &recovered)
    }

    fn enlarged(&self) -> Result<Outcome> {
        let Self { request, watch, data, .. } = self;
        let wanted = |(name, _): &(&str, &str)| request.enlarging.pictures.iter().any(|one| one == name);
        let wanted: Vec<_> = printed::ENLARGED_PICTURES.into_iter().filter(wanted).collect();
        let pictures = data.standard_images(&wanted)?;
        let training = data.training_images()?;
        let mut work = SuperResolution::prepare(request.enlarging.clone(), &training, data.paired_dictionary()?)?;
        let mut values = json!(work.settings());
        values["training"] = fingerprint(work.pairs().samples()).into();
        values["samples"] = pictures.iter().map(|(_, picture)| picture_fingerprint(picture)).collect();
        let mut cells = Cells::open(&request.parts.join("table2.jsonl"), &key(values))?;
        let cells = table2::fill(&mut cells, &mut work, &pictures, (request.threads, *watch))?;
        Ok(table2::outcome(&request.enlarging, &cells))
    }

    fn times(&self) -> Result<Outcome> {
        let Self { request, watch, data, .. } = self;
        let (images, parts) = (data.training_images()?, Parts::new(&request.parts));
        let mut timings = Vec::new();
        for settings in fig6::sizes(&request.enlarging) {
            for method in fig6::METHODS {
                let file = format!("fig6-{}", method.name().to_lowercase());
                let make = || fig6::time(&settings, method, &images, *watch);
                timings.push(parts.take(&file, &key(json!(settings)), make)?);
            }
        }
        Ok(fig6::outcome(&request.enlarging, &timings))
    }

    fn grouped(&self) -> Result<Outcome> {
        let Self { request, watch, data, .. } = self;
        let wanted = |(name, _): &(&str, &str)| request.grouping.sets.iter().any(|one| one == name);
        let read = |(name, file): (&str, &str)| Ok((name.to_owned(), data.labelled(file)?));
        let sets = printed::DATA_SETS
            .into_iter()
            .chain([printed::FURTHER_SET])
            .filter(wanted)
            .map(read)
            .collect::<Result<Vec<_>>>()?;
        let mut values = json!(request.grouping);
        values["samples"] = sets.iter().map(|(_, set)| fingerprint(&set.samples.to_matrix())).collect();
        let mut cells = Cells::open(&request.parts.join("table3.jsonl"), &key(values))?;
        let cells = table3::fill(&mut cells, &request.grouping, &sets, (request.threads, *watch))?;
        Ok(table3::outcome(&request.grouping, &cells))
    }

    fn recovery(&mut self) -> Result<&mut Recovery> {
        let recovery = match self.recovery.take() {
            Some(recovery) => recovery,
            None => Recovery::prepare(self.request.sensing.clone(), &self.data.training_images()?)?,
        };
        Ok(self.recovery.insert(recovery))
    }
}

/// What a kept part depends on: these values, and the version of the program.
fn key(mut values: Value) -> Value {
    values["version"] = env!("CARGO_PKG_VERSION").into();
    values["algorithm_version"] = ALGORITHM_VERSION.into();
    values
}

fn sensing_key(recovery: &Recovery, blocks: &Blocks) -> Value {
    let mut values = json!(recovery.settings());
    values["training"] = fingerprint(recovery.training()).into();
    values["blocks"] = fingerprint(&blocks.values).into();
    key(values)
}

fn fingerprint(samples: &Matrix<f32>) -> String {
    format!("{:016x}", demonstration::fingerprint_of([samples]))
}

fn picture_fingerprint(picture: &GrayImage) -> String {
    let bytes = picture.samples().iter().flat_map(|value| value.to_bits().to_le_bytes());
    format!("{:016x}", demonstration::fingerprint(bytes))
}
