//! The learners, each timed once on samples from a file.
//!
//! | learner | what is timed | its own options |
//! | --- | --- | --- |
//! | `init` | the first centres of a K-Means by K-Means‖ | |
//! | `lloyd` | `iterations=` improvements of the centres in the file `start=` | |
//! | `online` | mini-batches until each of the `times=` (seconds, ascending) has passed, atoms written at each | `lambda=` |
//! | `epoch` | the same, each sample once | `lambda=` |
//! | `boost` | BoostEx with `models=` rounds | `coder=`, as text |
//! | `average` | RandExAv with `models=` members, training and 1-sparse approximation | |
//!
//! The last two can time something else in between, for comparison: `beside=products`, the bare products of atoms and
//! samples by the GEMM libraries, or `beside=coder`, calls of the coder. All take `samples=` (a file), `features=`,
//! `atoms=`, `threads=` and `seed=`; what was learned goes to `output=`. The record has the seconds and the most memory
//! the process has had, the samples included.

use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use sparsemble::coding::{Coder, CodingBasis, OneSparse, Samples, SparseCoder};
use sparsemble::dictionary::{Examples, OnlineAltOpt, WeakLearner};
use sparsemble::ensemble::{Averaging, Boost};
use sparsemble::kmeans::{KMeansInit, WeightedKMeans};
use sparsemble::{Draw, Matrix, MatrixView, Run};

use crate::beside::Beside;
use crate::options::Options;
use crate::product::Shape;

/// Parts of the samples that RandExAv approximates one after the other.
const SLICES: usize = 10;

/// Measures one learner.
pub(crate) fn run(learner: &str, arguments: &[&str]) -> Result<Value> {
    let options = &Options::parse(arguments)?;
    let task = Task {
        samples: options.matrix("samples")?,
        atoms: options.parsed("atoms")?,
        seed: options.parsed("seed")?,
        threads: options.parsed("threads")?,
        options,
    };
    let mut record = match learner {
        "init" => task.init(),
        "lloyd" => task.lloyd(),
        "online" => task.online(),
        "epoch" => task.epoch(),
        "boost" => task.boost(),
        "average" => task.average(),
        other => bail!("there is no learner `{other}`"),
    }?;
    record["peak_mb"] = peak_megabytes()?;
    Ok(record)
}

/// What all learners are given.
struct Task<'a> {
    samples: Matrix<f32>,
    atoms: usize,
    seed: u64,
    threads: usize,
    options: &'a Options<'a>,
}

impl Task<'_> {
    fn run(&self) -> Run<'static> {
        Run::threads(self.threads)
    }

    fn init(&self) -> Result<Value> {
        let (view, masses) = (self.samples.view(), vec![1.0; self.samples.columns()]);
        let kmeans = WeightedKMeans::new(self.atoms);
        let (seconds, centers) = timed(|| kmeans.initialise(view, &masses, Draw::first(self.seed), self.run()))?;
        self.options.write("", &centers)?;
        Ok(json!({ "seconds": seconds }))
    }

    fn lloyd(&self) -> Result<Value> {
        let (view, masses) = (self.samples.view(), vec![1.0; self.samples.columns()]);
        let kmeans = WeightedKMeans {
            init: KMeansInit::Given(self.options.matrix("start")?),
            max_iterations: self.options.parsed("iterations")?,
            tolerance: 0.0,
            ..WeightedKMeans::new(self.atoms)
        };
        let (seconds, found) = timed(|| kmeans.fit(view, &masses, Draw::first(self.seed), self.run()))?;
        self.options.write("", &found.centers)?;
        Ok(json!({ "seconds": seconds, "iterations": found.iterations }))
    }

    fn online(&self) -> Result<Value> {
        let view = self.samples.view();
        let settings = OnlineAltOpt::lambda(self.options.parsed("lambda")?);
        let times = self.options.text("times")?.split(',').map(str::parse).collect::<Result<Vec<f64>, _>>()?;
        let (mut seconds, start) = timed(|| Examples { n_atoms: self.atoms }.start(view, None, self.seed, self.run()))?;
        let mut learner = settings.begin(&start)?;
        let mut batches = Batches::new(view.columns(), settings.batch);
        let mut reached = Vec::new();
        for (number, &time) in times.iter().enumerate() {
            while seconds < time {
                let batch = batches.next(&self.samples)?;
                seconds += timed(|| learner.partial_fit(batch, None, self.run()))?.0;
            }
            reached.push(seconds);
            self.options.write(&format!(".{number}"), learner.dictionary().atoms())?;
        }
        Ok(json!({ "seconds": seconds, "reached": reached, "seen": learner.seen() }))
    }

    fn epoch(&self) -> Result<Value> {
        let view = self.samples.view();
        let settings = OnlineAltOpt::lambda(self.options.parsed("lambda")?);
        let start = Examples { n_atoms: self.atoms }.start(view, None, self.seed, self.run())?;
        let (seconds, _) = timed(|| settings.fit(view, None, &start, self.run()))?;
        Ok(json!({ "seconds": seconds }))
    }

    fn beside(&self, samples: usize) -> Result<Beside> {
        let shape = Shape { features: self.samples.rows(), atoms: self.atoms, samples };
        Beside::new(self.options.text("beside").unwrap_or("nothing"), shape)
    }

    /// The rounds, and after each what it is compared with.
    fn boost(&self) -> Result<Value> {
        let view = self.samples.view();
        let coder: Coder = self.options.parsed("coder")?;
        let learner = Examples { n_atoms: self.atoms };
        let boost = Boost { n_models: self.options.parsed("models")?, seed: self.seed, ..Boost::new(&learner, &coder) };
        let (mut seconds, mut boosting) = timed(|| boost.start(view, Run::default()))?;
        let mut beside = self.beside(view.columns())?;
        loop {
            let (round_seconds, round) = timed(|| boosting.step(self.run()))?;
            seconds += round_seconds;
            if round.is_none() {
                break;
            }
            match &mut beside {
                Beside::Nothing => {}
                Beside::Products(products) => products.run(1)?,
                Beside::Coder { seconds } => {
                    let dictionary = boosting.members().last().context("a round has a member")?;
                    let samples = Samples::new(view);
                    *seconds += timed(|| coder.encode(&CodingBasis::new(dictionary.view())?, &samples, self.run()))?.0;
                }
            }
        }
        seconds += timed(|| boosting.ensemble())?.0;
        Ok(json!({ "seconds": seconds, "beside": beside.seconds() }))
    }

    /// The training and, slice by slice, the approximations, each followed by what it is compared with.
    fn average(&self) -> Result<Value> {
        let (view, n_models) = (self.samples.view(), self.options.parsed("models")?);
        let learner = Examples { n_atoms: self.atoms };
        let averaging = Averaging { n_models, seed: self.seed, ..Averaging::new(&learner) };
        let (mut seconds, ensemble) = timed(|| averaging.fit(view, self.run()))?;
        let mut slices = Batches::new(view.columns(), view.columns().div_ceil(SLICES));
        let mut beside = self.beside(slices.size)?;
        for _ in 0..SLICES {
            let slice = slices.next(&self.samples)?;
            seconds += timed(|| ensemble.approximate(slice, &OneSparse::default(), self.run()))?.0;
            if let Beside::Products(products) = &mut beside {
                products.run(n_models)?;
            }
        }
        Ok(json!({ "seconds": seconds, "beside": beside.seconds() }))
    }
}

/// Mini-batches of neighbouring samples, round after round: the samples of the benchmarks are in random order.
struct Batches {
    n_samples: usize,
    size: usize,
    next: usize,
}

impl Batches {
    fn new(n_samples: usize, size: usize) -> Self {
        Self { n_samples, size: size.min(n_samples), next: 0 }
    }

    fn next<'a>(&mut self, samples: &'a Matrix<f32>) -> Result<MatrixView<'a, f32>> {
        if self.next + self.size > self.n_samples {
            self.next = 0;
        }
        let values = &samples.as_slice()[self.next * samples.rows()..][..self.size * samples.rows()];
        self.next += self.size;
        Ok(MatrixView::from_columns(values, samples.rows(), self.size)?)
    }
}

/// Seconds and result of a call.
pub(crate) fn timed<R>(call: impl FnOnce() -> sparsemble::Result<R>) -> Result<(f64, R)> {
    let start = Instant::now();
    let result = call()?;
    Ok((start.elapsed().as_secs_f64(), result))
}

/// The most memory the process has had; `null` where the system does not tell.
pub(crate) fn peak_megabytes() -> Result<Value> {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return Ok(Value::Null) };
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("the high-water mark")?;
    let kilobytes: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(json!(kilobytes * 1024.0 / 1e6))
}
