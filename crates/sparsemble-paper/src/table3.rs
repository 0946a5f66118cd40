//! Table 3 (§V): accuracy and normalised mutual information of clusters, beside the paper's.

use anyhow::Result;
use serde_json::json;
use sparsemble::Run;
use sparsemble::matrix_file::LabelledSamples;

use crate::Watch;
use crate::cells::Cells;
use crate::grouping::{Grouped, Grouper, Grouping, Searched, group};
use crate::outcome::{Entry, Outcome, Statement};
use crate::plot::{Labels, Series, bars};
use crate::printed;

const TITLE: &str = "Table 3: clustering";

/// Makes every cell that is not there yet.
///
/// # Errors
/// Those of the library, or if a cell cannot be kept.
pub fn fill(
    cells: &mut Cells<Grouped>,
    settings: &Grouping,
    sets: &[(String, LabelledSamples<f32>)],
    (threads, watch): (usize, &Watch<'_>),
) -> Result<Vec<Grouped>> {
    let mut all = Vec::new();
    for (name, data) in sets {
        for method in Grouper::ALL {
            let is_it = |cell: &Grouped| cell.method == method && cell.set == *name;
            if cells.find(is_it).is_none() {
                let told = format!("{name}, {}", method.name());
                let tell = |done: usize, total: usize| watch(&told, done, total);
                cells.push(group(settings, name, data, method, Run::threads(threads).on_progress(&tell))?)?;
            }
            all.extend(cells.find(is_it).cloned());
        }
    }
    Ok(all)
}

/// The cells, and what they are compared with.
struct Table<'a> {
    names: Vec<&'a str>,
    cells: &'a [Grouped],
}

impl Table<'_> {
    fn of(&self, set: &str, method: Grouper) -> Option<&Grouped> {
        self.cells.iter().find(|cell| cell.set == set && cell.method == method)
    }

    /// The average accuracy in per cent.
    fn accuracy(&self, set: &str, method: Grouper) -> f64 {
        self.of(set, method).map_or(f64::NAN, |cell| percent(&cell.accuracies))
    }

    /// The mean of that over the data sets.
    fn over_sets(&self, method: Grouper) -> f64 {
        self.names.iter().map(|name| self.accuracy(name, method)).sum::<f64>() / self.names.len() as f64
    }

    fn rows(&self) -> Vec<Vec<Entry>> {
        let row = |cell: &Grouped| {
            let place = cell.method.printed().zip(place(&cell.set));
            // In the paper's order: the largest, then the average.
            let pair = |table: &[[[f64; 2]; 4]; 5], values: &[f64]| {
                let theirs = place.map(|(method, set)| table[set][method]);
                let compared = |ours, theirs| Entry::compared(ours, theirs, printed::NEAR_IN_CLUSTERING);
                let largest = 100.0 * values.iter().copied().fold(0.0, f64::max);
                let told = format!("{:.2} ± {:.2}", percent(values), deviation(values));
                [
                    compared(percent(values), theirs.map(|[_, average]| average)).told(told),
                    compared(largest, theirs.map(|[largest, _]| largest)),
                ]
            };
            let seconds = if cell.graph_seconds > 0.0 { format!("{:.2}", cell.graph_seconds) } else { "–".into() };
            let head = [cell.set.as_str(), cell.method.name()].map(Entry::from);
            let accuracy = pair(&printed::ACCURACIES, &cell.accuracies);
            let information = pair(&printed::INFORMATION, &cell.information);
            head.into_iter().chain(accuracy).chain(information).chain([seconds.into()]).collect()
        };
        self.cells.iter().map(row).collect()
    }
}

/// Where the paper's tables have a data set.
fn place(set: &str) -> Option<usize> {
    printed::DATA_SETS.iter().position(|(name, _)| *name == set)
}

/// The mean in per cent; 0 of no value.
fn percent(values: &[f64]) -> f64 {
    100.0 * values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// In per cent.
fn deviation(values: &[f64]) -> f64 {
    let mean = percent(values);
    let square = values.iter().map(|value| (100.0 * value - mean).powi(2)).sum::<f64>();
    (square / values.len().saturating_sub(1).max(1) as f64).sqrt()
}

/// Judges the cells.
pub fn outcome(settings: &Grouping, cells: &[Grouped]) -> Outcome {
    let mut names: Vec<&str> = Vec::new();
    for cell in cells {
        if !names.contains(&cell.set.as_str()) {
            names.push(&cell.set);
        }
    }
    let table = Table { names, cells };
    let labels = Labels { title: TITLE, horizontal: "data set", vertical: "average accuracy in per cent" };
    let groups: Vec<String> = table.names.iter().map(ToString::to_string).collect();
    let shown = [
        Grouper::L1Graph,
        Grouper::RandExAv,
        Grouper::BoostKm,
        Grouper::KMeans,
        Grouper::NeighboursOurStep,
        Grouper::Ensemble,
        Grouper::Searched,
    ];
    let series = shown.iter().enumerate().map(|(colour, &method)| {
        let values = table.names.iter().map(|name| table.accuracy(name, method)).collect();
        Series::new(method.name(), values, colour)
    });
    let unconverged: usize = cells.iter().map(|cell| cell.unconverged).sum();
    let headings =
        ["data set", "method", "accuracy, average", "accuracy, max", "NMI, average", "NMI, max", "graph, CPU s"];
    Outcome {
        name: "table3",
        title: TITLE,
        caption: format!(
            "In per cent, over {} runs, ± their standard deviation, beside the paper's. The paper's methods and the \
             Alt-Opt graph have one graph and as many K-Means from random vertices on as many eigenvectors as classes; \
             K-Means and neighbours have the best of ten K-Means++ in each run; *ensemble* is what `sparsemble cluster` \
             does (`{}`), a new graph in each run. *Our step* is its spectral step: twice as many eigenvectors, weighted by \
             λ¹⁰. *Searched ensemble* is what the search of `docs/DEFAULTS.md` ends in, which saw none of these sets (`{}`, as \
             many eigenvectors as classes, weighted by λ^{}, features divided by their ranges if the largest is more than {} \
             times the lower quartile). \
             *Halves* are {} random halves of the samples. L = {}, K = T/{} (BoostKM T/{}), λ = {}, Alt-Opt K = {}. \
             *Optdigits* is not in the paper and took no part in choosing settings. NMI is normalised by the arithmetic mean of the entropies. {unconverged} runs did not converge.",
            settings.runs,
            settings.ensemble,
            Searched::GRAPH,
            Searched::POWER,
            Searched::KINDS,
            settings.halves,
            settings.n_members,
            settings.samples_per_example,
            settings.samples_per_center,
            settings.lambda,
            settings.n_atoms,
        ),
        headings: headings.map(str::to_owned).to_vec(),
        rows: table.rows(),
        statements: statements(&table),
        plot: bars(&labels, &groups, &series.collect::<Vec<_>>()),
        files: Vec::new(),
        results: json!({ "settings": settings, "cells": cells }),
    }
}

const PAPER: [Grouper; 4] = [Grouper::L1Graph, Grouper::BoostEx, Grouper::RandExAv, Grouper::BoostKm];

fn statements(table: &Table<'_>) -> Vec<Statement> {
    let known: Vec<&str> = table.names.iter().copied().filter(|name| place(name).is_some()).collect();
    let listed = |value: &dyn Fn(&str) -> String| {
        known.iter().map(|name| format!("{name} {}", value(name))).collect::<Vec<_>>().join(", ")
    };
    let above_l1 = |name: &str| {
        let best = PAPER[1..].iter().map(|&method| table.accuracy(name, method)).fold(0.0, f64::max);
        best - table.accuracy(name, Grouper::L1Graph)
    };
    let printed_of = |name: &str| place(name).map_or([[f64::NAN; 2]; 4], |set| printed::ACCURACIES[set]);
    let apart = |name: &str| {
        let of = |(method, theirs): (&Grouper, [f64; 2])| table.accuracy(name, *method) - theirs[1];
        PAPER.iter().zip(printed_of(name)).map(of).collect::<Vec<_>>()
    };
    let best = |name: &str| printed_of(name).iter().map(|[_, average]| *average).fold(0.0, f64::max);
    let reaches = |claim, method| Statement {
        claim,
        holds: known.iter().all(|name| table.accuracy(name, method) >= best(name)),
        evidence: listed(&|name| format!("{:.1} ({:.1})", table.accuracy(name, method), best(name))),
    };
    let beats = |claim, methods: [Grouper; 2]| {
        let [ours, neighbours] = methods.map(|method| table.over_sets(method));
        Statement { claim, holds: ours > neighbours, evidence: format!("{ours:.2} and {neighbours:.2}") }
    };
    let signed = |values: Vec<f64>| values.iter().map(|value| format!("{value:+.1}")).collect::<Vec<_>>().join("/");
    let mut all = vec![
        Statement {
            claim: printed::ENSEMBLES_CLUSTER_BETTER,
            holds: known.iter().all(|name| above_l1(name) > 0.0),
            evidence: listed(&|name| format!("{:+.1}", above_l1(name))),
        },
        Statement {
            claim: printed::SAME_ACCURACIES,
            holds: known.iter().all(|name| apart(name).iter().all(|apart| apart.abs() <= 5.0)),
            evidence: listed(&|name| signed(apart(name))),
        },
        reaches(printed::BEST_AVERAGES, Grouper::Ensemble),
        beats(printed::BETTER_THAN_NEIGHBOURS, [Grouper::Ensemble, Grouper::NeighboursOurStep]),
        reaches(printed::SEARCHED_BEST_AVERAGES, Grouper::Searched),
        beats(printed::SEARCHED_BETTER_THAN_NEIGHBOURS, [Grouper::Searched, Grouper::NeighboursSearchedStep]),
    ];
    let seconds = PAPER.map(|method| table.of("USPS", method).map_or(f64::NAN, |cell| cell.graph_seconds));
    if seconds.iter().all(|seconds| seconds.is_finite()) {
        let told = PAPER.iter().zip(seconds).zip(printed::CODING_SECONDS);
        let told = told.map(|((method, ours), theirs)| format!("{} {ours:.1} s ({theirs:.0})", method.name()));
        all.push(Statement {
            claim: printed::ENSEMBLES_CODE_FASTER,
            holds: seconds[1..3].iter().all(|&seconds_of| seconds_of < seconds[0] && seconds_of > seconds[3]),
            evidence: told.collect::<Vec<_>>().join(", "),
        });
    }
    all
}
