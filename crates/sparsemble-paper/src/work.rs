//! The experiments one after the other: what is missing, what several of them share, and where finished parts are.

use std::cell::Cell;
use std::fmt::{Display, Formatter};

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use sparsemble::image::GrayImage;
use sparsemble::{Matrix, Run};

use crate::cells::Cells;
use crate::data::DataFolder;
use crate::demonstration::{self, Demonstration};
use crate::enlarging::SuperResolution;
use crate::outcome::Outcome;
use crate::parts::{Parts, key};
use crate::recovery::Recovery;
use crate::sensing::Blocks;
use crate::trial::{Method, Trial};
use crate::{Experiment, Request, Watch, fig1, fig2, fig3, fig5, fig6, fig7, gallery, printed, table1, table2, table3};

/// An experiment that cannot be made, and what is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Omitted {
    /// Which.
    pub experiment: Experiment,
    /// Paths inside the data folder.
    pub missing: Vec<String>,
}

impl Display for Omitted {
    /// The first few of what is missing, and how many more.
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        const FEW: usize = 3;
        let shown = self.missing[..self.missing.len().min(FEW)].join(", ");
        write!(f, "{} lacks {shown}", self.experiment.name())?;
        match self.missing.len().saturating_sub(FEW) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

/// Which of the experiments that are asked for cannot be made with the data folder.
///
/// # Errors
/// If there is no such folder.
pub fn survey(request: &Request) -> Result<Vec<Omitted>> {
    let data = DataFolder::open(&request.data)?;
    let of = |&experiment: &Experiment| Omitted { experiment, missing: data.missing(experiment, request) };
    Ok(request.experiments.iter().map(of).filter(|omitted| !omitted.missing.is_empty()).collect())
}

/// The outcomes of the experiments, in the order they are given.
///
/// # Errors
/// As [`run_each`].
pub fn run(request: &Request, watch: &Watch<'_>) -> Result<Vec<Outcome>> {
    let mut outcomes = Vec::new();
    run_each(request, watch, &mut |outcome| {
        outcomes.push(outcome);
        Ok(())
    })?;
    Ok(outcomes)
}

/// Runs the experiments, in the order they are given, and hands over each outcome as soon as it is there.
///
/// # Errors
/// If data is missing, which is found before anything is computed; if a part cannot be written, or `watch` has stopped it:
/// finished parts are kept then. Those of `finished`.
pub fn run_each(request: &Request, watch: &Watch<'_>, finished: &mut dyn FnMut(Outcome) -> Result<()>) -> Result<()> {
    let lacking: Vec<String> = survey(request)?.iter().map(Omitted::to_string).collect();
    ensure!(
        lacking.is_empty(),
        "the data folder {} is not complete: {}; name another with --data DIR, or run `all` for what this one allows",
        request.data.display(),
        lacking.join("; ")
    );
    let (number, count) = (Cell::new(0), request.experiments.len());
    let numbered = |what: &str, done: usize, total: usize| {
        if count == 1 {
            watch(what, done, total)
        } else {
            watch(&format!("{}/{count} {what}", number.get()), done, total)
        }
    };
    let data = DataFolder::open(&request.data)?;
    let mut work = Work { request, watch: &numbered, data, patches: None, recovery: None, enlarging: None };
    for experiment in &request.experiments {
        number.set(number.get() + 1);
        finished(work.outcome(*experiment)?)?;
    }
    Ok(())
}

/// What several experiments share, made when the first of them needs it.
struct Work<'a> {
    request: &'a Request,
    watch: &'a Watch<'a>,
    data: DataFolder,
    patches: Option<Demonstration>,
    recovery: Option<Recovery>,
    enlarging: Option<SuperResolution>,
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
            Experiment::Fig7 => self.enlarged_pictures(),
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
        pictures.extend(self.data.free_image()?);
        let blocks = Blocks::cut(&request.sensing, pictures)?;
        let recovery = self.recovery()?;
        let key = sensing_key(recovery, &blocks);
        let make = || fig5::recover(recovery, &blocks, (request.threads, watch));
        let recovered = Parts::new(&request.parts).take("fig5", &key, make)?;
        fig5::outcome(&request.sensing, &recovered)
    }

    fn enlarged(&mut self) -> Result<Outcome> {
        let (request, watch) = (self.request, self.watch);
        let pictures = self.data.standard_images(&request.enlarging.files())?;
        let work = self.enlarging()?;
        let mut values = json!(work.settings());
        values["training"] = work.fingerprint().into();
        values["samples"] = pictures.iter().map(|(_, picture)| picture_fingerprint(picture)).collect();
        let mut cells = Cells::open(&request.parts.join("table2.jsonl"), &key(values))?;
        let cells = table2::fill(&mut cells, work, &pictures, (request.threads, watch))?;
        Ok(table2::outcome(&request.enlarging, &cells))
    }

    fn times(&mut self) -> Result<Outcome> {
        let (request, watch) = (self.request, self.watch);
        let (work, parts) = (self.enlarging()?, Parts::new(&request.parts));
        let mut timings = Vec::new();
        for settings in fig6::sizes(&request.enlarging) {
            for method in fig6::METHODS {
                let file = format!("fig6-{}", method.name().to_lowercase());
                let make = || fig6::time(&settings, method, work, (request.threads, watch));
                timings.push(parts.take(&file, &key(json!(settings)), make)?);
            }
        }
        Ok(fig6::outcome(&request.enlarging, &timings))
    }

    fn enlarged_pictures(&mut self) -> Result<Outcome> {
        let (request, watch) = (self.request, self.watch);
        let mut pictures = self.data.standard_images(&[printed::FIGURE_PICTURE])?;
        for (name, photograph) in self.data.free_image()? {
            pictures.push((name, gallery::part(&photograph)?));
        }
        let work = self.enlarging()?;
        let mut values = json!(work.settings());
        values["training"] = work.fingerprint().into();
        values["pictures"] = pictures.iter().map(|(_, picture)| picture_fingerprint(picture)).collect();
        let make = || fig7::enlarge(work, &pictures, (request.threads, watch));
        let enlarged = Parts::new(&request.parts).take("fig7", &key(values), make)?;
        fig7::outcome(&request.enlarging, &enlarged)
    }

    fn grouped(&self) -> Result<Outcome> {
        let Self { request, watch, data, .. } = self;
        let read = |(name, file): (&str, &str)| Ok((name.to_owned(), data.labelled(file)?));
        let sets = request.grouping.files().into_iter().map(read).collect::<Result<Vec<_>>>()?;
        let mut values = json!(request.grouping);
        values["samples"] = sets.iter().map(|(_, set)| fingerprint(&set.samples.to_matrix())).collect();
        let mut cells = Cells::open(&request.parts.join("table3.jsonl"), &key(values))?;
        let cells = table3::fill(&mut cells, &request.grouping, &sets, (request.threads, *watch))?;
        Ok(table3::outcome(&request.grouping, &cells))
    }

    fn enlarging(&mut self) -> Result<&mut SuperResolution> {
        let work = match self.enlarging.take() {
            Some(work) => work,
            None => SuperResolution::prepare(
                self.request.enlarging.clone(),
                self.data.training_images()?,
                self.data.paired_dictionary(),
                Parts::new(&self.request.parts),
            )?,
        };
        Ok(self.enlarging.insert(work))
    }

    fn recovery(&mut self) -> Result<&mut Recovery> {
        let recovery = match self.recovery.take() {
            Some(recovery) => recovery,
            None => Recovery::prepare(self.request.sensing.clone(), &self.data.training_images()?)?,
        };
        Ok(self.recovery.insert(recovery))
    }
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
