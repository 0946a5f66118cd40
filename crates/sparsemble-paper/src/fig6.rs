//! Fig. 6 (§IV-B): how long training takes, against the number of training samples.
//!
//! Times are CPU seconds of this program on this machine. The paper's were those of its authors' programs on theirs, so
//! only their order can be compared.

use anyhow::Result;
use cpu_time::ProcessTime;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sparsemble::Run;

use crate::Watch;
use crate::enlarging::{Enlarger, Enlarging, SuperResolution};
use crate::outcome::{Entry, Outcome, Statement};
use crate::plot::{Labels, Series, bars};
use crate::printed;

const TITLE: &str = "Fig. 6: training time against the number of samples";

/// The methods of the figure, and RandExAv, of which the text says that it takes no time to speak of.
pub const METHODS: [Enlarger; 4] = [Enlarger::PairDict, Enlarger::BoostEx, Enlarger::BoostKm, Enlarger::RandExAv];

/// How many pairs are drawn, as shares of all: the paper's numbers are not in our copy of it.
const SHARES: [f64; 4] = [0.125, 0.25, 0.5, 1.0];

/// One training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// The method.
    pub method: Enlarger,
    /// T, the pairs it was trained on.
    pub n_samples: usize,
    /// CPU seconds, of all threads together.
    pub seconds: f64,
}

/// The settings of each number of samples.
pub fn sizes(settings: &Enlarging) -> Vec<Enlarging> {
    let size = |share: f64| (settings.drawn_pairs as f64 * share).round() as usize;
    SHARES.iter().map(|&share| Enlarging { drawn_pairs: size(share), ..settings.clone() }).collect()
}

/// The time of one training with these settings. A model that Table 2 has is not trained again.
///
/// # Errors
/// Those of the library; also if the run was interrupted.
pub fn time(
    settings: &Enlarging,
    method: Enlarger,
    work: &SuperResolution,
    (threads, watch): (usize, &Watch<'_>),
) -> Result<Timing> {
    let told = format!("{}, {} pairs drawn", method.name(), settings.drawn_pairs);
    let tell = |done: usize, total: usize| watch(&told, done, total);
    let run = Run::threads(threads).on_progress(&tell);
    if settings == work.settings() && method.is_learned() {
        let seconds = work.learned(method, run)?.seconds;
        return Ok(Timing { method, n_samples: work.pairs().samples().columns(), seconds });
    }
    let pairs = settings.pairs(work.images(), Run::default())?;
    let start = ProcessTime::now();
    settings.train(method, &pairs, run)?;
    Ok(Timing { method, n_samples: pairs.samples().columns(), seconds: start.elapsed().as_secs_f64() })
}

/// Judges the times.
pub fn outcome(settings: &Enlarging, timings: &[Timing]) -> Outcome {
    let mut sizes: Vec<usize> = timings.iter().map(|timing| timing.n_samples).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let of = |method: Enlarger, n_samples: usize| {
        let found = timings.iter().find(|timing| timing.method == method && timing.n_samples == n_samples);
        found.map_or(f64::NAN, |timing| timing.seconds)
    };
    let row = |n_samples: &usize| {
        let seconds = METHODS.map(|method| told(of(method, *n_samples)));
        std::iter::once(n_samples.to_string()).chain(seconds).map(Entry::from).collect()
    };
    let labels = Labels { title: TITLE, horizontal: "training samples, T", vertical: "CPU seconds of training" };
    let groups: Vec<String> = sizes.iter().map(usize::to_string).collect();
    let series: Vec<Series> = METHODS
        .iter()
        .enumerate()
        .map(|(colour, &method)| Series::new(method.name(), sizes.iter().map(|&t| of(method, t)).collect(), colour))
        .collect();
    Outcome {
        name: "fig6",
        title: TITLE,
        caption: format!(
            "CPU seconds of one training, of all threads together, on the machine that wrote this page: PairDict by {} \
             iterations, the ensembles with L = {}, all with K = {}. Other machines have other times; the paper's, on a \
             single core, are not in our copy of it.",
            settings.iterations, settings.n_models, settings.n_atoms,
        ),
        headings: std::iter::once("T".to_owned()).chain(METHODS.map(|method| method.name().to_owned())).collect(),
        rows: sizes.iter().map(row).collect(),
        statements: vec![order(&sizes, &of), cheap(&sizes, &of)],
        plot: bars(&labels, &groups, &series),
        files: Vec::new(),
        results: json!({ "settings": settings, "timings": timings }),
    }
}

/// With as many digits as a time can be repeated.
fn told(seconds: f64) -> String {
    if seconds < 1.0 { format!("{seconds:.3}") } else { format!("{seconds:.1}") }
}

fn order(sizes: &[usize], of: &impl Fn(Enlarger, usize) -> f64) -> Statement {
    let times = |t: usize| [Enlarger::BoostKm, Enlarger::PairDict, Enlarger::BoostEx].map(|method| of(method, t));
    let listed = sizes.iter().map(|&t| times(t).map(told).join(" > "));
    let marked = |(line, &t): (String, &usize)| if times(t).is_sorted_by(|a, b| a > b) { line } else { line + " (no)" };
    Statement {
        claim: printed::ORDER_OF_TIMES,
        holds: sizes.iter().all(|&t| times(t).is_sorted_by(|a, b| a > b)),
        evidence: listed.zip(sizes).map(marked).collect::<Vec<_>>().join("; "),
    }
}

fn cheap(sizes: &[usize], of: &impl Fn(Enlarger, usize) -> f64) -> Statement {
    let share = |&t: &usize| of(Enlarger::RandExAv, t) / of(Enlarger::BoostEx, t);
    let shares: Vec<f64> = sizes.iter().map(share).collect();
    let listed: Vec<String> = shares.iter().map(|share| format!("{:.2} %", 100.0 * share)).collect();
    Statement {
        claim: printed::SELECTING_IS_CHEAP,
        holds: shares.iter().all(|share| *share <= 0.01),
        evidence: listed.join(", "),
    }
}
