//! Table 1 (§IV-A2): PSNR of pictures recovered from random projections of their blocks, beside the paper's.

use std::time::Instant;

use anyhow::Result;
use serde_json::json;
use sparsemble::Run;
use sparsemble::metrics::psnr;

use crate::Watch;
use crate::cells::{Cell, Cells};
use crate::outcome::{Entry, Outcome, Statement, mean};
use crate::plot::{Labels, Series, bars};
use crate::printed;
use crate::recovery::{Contender, Recovery};
use crate::sensing::{Blocks, Means, Sensing};

const TITLE: &str = "Table 1: compressive recovery";

/// Makes every cell that is not there yet, draw by draw, so that a run that is stopped has whole draws.
///
/// # Errors
/// Those of [`Recovery::recover`], or if a cell cannot be kept.
pub fn fill(
    cells: &mut Cells<Cell>,
    recovery: &mut Recovery,
    blocks: &Blocks,
    draws: usize,
    (threads, watch): (usize, &Watch<'_>),
) -> Result<Vec<Cell>> {
    let mut all = Vec::new();
    for draw in 0..draws {
        for n_measurements in recovery.settings().measurements.clone() {
            for contender in Contender::ALL {
                if cells.get(draw, n_measurements, contender).is_none() {
                    let name = format!("{} N = {n_measurements}, draw {}", contender.name(), draw + 1);
                    let tell = |done: usize, total: usize| watch(&name, done, total);
                    let run = Run::threads(threads).on_progress(&tell);
                    cells.push(cell(recovery, blocks, (draw, n_measurements, contender), run)?)?;
                }
                all.extend(cells.get(draw, n_measurements, contender).cloned());
            }
        }
    }
    Ok(all)
}

fn cell(
    recovery: &mut Recovery,
    blocks: &Blocks,
    (draw, n_measurements, contender): (usize, usize, Contender),
    run: Run<'_>,
) -> Result<Cell> {
    let start = Instant::now();
    let phi = recovery.settings().phi(n_measurements, draw)?;
    let recovered = recovery.recover(contender, &phi, blocks, run)?;
    let pairs = blocks.pictures.iter().zip(&recovered);
    let psnr = pairs.map(|(picture, recovered)| Ok(psnr(picture, recovered)?)).collect::<Result<_>>()?;
    Ok(Cell { draw, n_measurements, contender, psnr, seconds: start.elapsed().as_secs_f64() })
}

/// The means over the draws, and what they are compared with.
struct Table<'a> {
    settings: &'a Sensing,
    names: &'a [String],
    cells: &'a [Cell],
}

impl Table<'_> {
    fn of(&self, n_measurements: usize, contender: Contender) -> impl Iterator<Item = &Cell> {
        self.cells.iter().filter(move |cell| (cell.n_measurements, cell.contender) == (n_measurements, contender))
    }

    fn draws(&self) -> usize {
        self.cells.iter().map(|cell| cell.draw + 1).max().unwrap_or(0)
    }

    /// PSNR of one picture.
    fn ours(&self, n_measurements: usize, contender: Contender, picture: usize) -> f64 {
        mean(self.of(n_measurements, contender).map(|cell| cell.psnr[picture]))
    }

    /// PSNR in the mean over the pictures.
    fn average(&self, n_measurements: usize, contender: Contender) -> f64 {
        mean((0..self.names.len()).map(|picture| self.ours(n_measurements, contender, picture)))
    }

    /// The standard deviation over the draws of the mean over the pictures.
    fn deviation_of_draws(&self, n_measurements: usize, contender: Contender) -> f64 {
        let average = self.average(n_measurements, contender);
        let squares =
            self.of(n_measurements, contender).map(|cell| (mean(cell.psnr.iter().copied()) - average).powi(2));
        let draws = self.of(n_measurements, contender).count();
        (squares.sum::<f64>() / draws.saturating_sub(1).max(1) as f64).sqrt()
    }

    /// What the paper has for this picture, if it has it.
    fn theirs(&self, n_measurements: usize, contender: Contender, picture: usize) -> Option<f64> {
        let block = printed::MEASUREMENTS.iter().position(|n| *n == n_measurements)?;
        let row = printed::PICTURES.iter().position(|(name, _)| *name == self.names[picture])?;
        Some(printed::TABLE_1[block][row][contender.printed()?])
    }

    /// Ours minus the paper's, for each picture that the paper has.
    fn deviations(&self, n_measurements: usize, contender: Contender) -> Vec<f64> {
        let of = |picture| {
            Some(self.ours(n_measurements, contender, picture) - self.theirs(n_measurements, contender, picture)?)
        };
        (0..self.names.len()).filter_map(of).collect()
    }

    fn rows(&self, n_measurements: usize) -> Vec<Vec<Entry>> {
        let row = |name: &str, entry: &dyn Fn(Contender) -> Entry| {
            let head = [n_measurements.to_string().into(), name.into()];
            head.into_iter().chain(Contender::ALL.map(entry)).collect::<Vec<_>>()
        };
        let compared = |ours, theirs| Entry::compared(ours, theirs, printed::NEAR_IN_RECOVERY);
        let picture = |picture: usize| {
            row(&self.names[picture], &|contender| {
                let ours = self.ours(n_measurements, contender, picture);
                compared(ours, self.theirs(n_measurements, contender, picture))
            })
        };
        let mut rows: Vec<Vec<Entry>> = (0..self.names.len()).map(picture).collect();
        rows.push(row("**mean**", &|contender| {
            let theirs = (0..self.names.len()).map(|picture| self.theirs(n_measurements, contender, picture));
            let theirs: Option<Vec<f64>> = theirs.collect();
            compared(self.average(n_measurements, contender), theirs.map(|theirs| mean(theirs.into_iter())))
        }));
        rows.push(row("± over Φ", &|contender| {
            format!("{:.2}", self.deviation_of_draws(n_measurements, contender)).into()
        }));
        rows.push(row("deviation", &|contender| match self.deviations(n_measurements, contender) {
            none if none.is_empty() => "–".into(),
            all => format!("{:+.2}, abs {:.2}", mean(all.iter().copied()), mean(all.iter().map(|d| d.abs()))).into(),
        }));
        rows
    }

    /// For which N a method is not better than the linear estimator.
    fn below_linear(&self) -> String {
        let of = |contender: Contender| {
            let worse = |n: &&usize| self.average(**n, contender) <= self.average(**n, Contender::Lmmse);
            let list: Vec<String> = self.settings.measurements.iter().filter(worse).map(usize::to_string).collect();
            (!list.is_empty()).then(|| format!("{} (N = {})", contender.name(), list.join(", ")))
        };
        let worse: Vec<String> = Contender::ALL[..5].iter().filter_map(|contender| of(*contender)).collect();
        if worse.is_empty() { "none".to_owned() } else { worse.join(", ") }
    }
}

/// Judges the cells.
pub fn outcome(settings: &Sensing, names: &[String], cells: &[Cell]) -> Outcome {
    let table = Table { settings, names, cells };
    let labels = Labels {
        title: TITLE,
        horizontal: "method; pale: the paper's numbers",
        vertical: "PSNR in dB, mean over the pictures",
    };
    let means = match settings.means {
        Means::Known => "the mean of each block is transmitted beside its N measurements",
        Means::Free => "the means of blocks are estimated from the N measurements",
        Means::InAtoms => "the atoms represent the means of blocks",
    };
    Outcome {
        name: "table1",
        title: TITLE,
        caption: format!(
            "PSNR in dB of recovered pictures, mean over {} draws of Φ ({} rows), beside the paper's. {} × {} blocks \
             side by side, {means}; λ = {} for intensities up to {}, K = {}, L = {}, {} training patches drawn, Ex-MLD \
             by {}. The row *± over Φ* is the standard deviation of the mean over the pictures; *deviation* is ours minus \
             the paper's and the mean of its absolute values. LMMSE is the linear estimator with the same side \
             information, which is not in the paper. In the mean over the pictures it is not beaten by: {}.",
            table.draws(),
            settings.projection,
            settings.block_side,
            settings.block_side,
            settings.lambda,
            settings.white,
            settings.n_atoms,
            settings.n_models,
            settings.drawn_training_patches,
            if settings.raw_correlations { "correlations" } else { "least squares" },
            table.below_linear(),
        ),
        headings: ["N", "picture"].into_iter().chain(Contender::ALL.map(Contender::name)).map(str::to_owned).collect(),
        rows: settings.measurements.iter().flat_map(|&n| table.rows(n)).collect(),
        statements: [beat_alt_opt(&table), average_beats_boosting(&table), best(&table), lead(&table)]
            .into_iter()
            .chain(NEAR.iter().filter_map(|near| is_near(&table, near)))
            .collect(),
        plot: bars(&labels, &Contender::ALL.map(|contender| contender.name().to_owned()), &series(&table)),
        files: Vec::new(),
        results: json!({ "settings": settings, "pictures": names, "cells": cells }),
    }
}

/// For each N ours and, paler, the paper's.
fn series(table: &Table<'_>) -> Vec<Series> {
    let pair = |(colour, &n): (usize, &usize)| {
        let ours = Contender::ALL.map(|contender| table.average(n, contender));
        let theirs = Contender::ALL[..5]
            .iter()
            .map(|&contender| mean((0..table.names.len()).filter_map(|picture| table.theirs(n, contender, picture))));
        let theirs = theirs.filter(|value| value.is_finite()).collect();
        [
            Series::new(&format!("N = {n}"), ours.to_vec(), colour),
            Series::new(&format!("N = {n}, paper"), theirs, colour).pale(),
        ]
    };
    table.settings.measurements.iter().enumerate().flat_map(pair).collect()
}

/// Every N and picture.
fn cases<'a>(table: &'a Table<'_>) -> impl Iterator<Item = (usize, usize)> + 'a {
    let pictures = table.names.len();
    table.settings.measurements.iter().flat_map(move |&n| (0..pictures).map(move |picture| (n, picture)))
}

fn beat_alt_opt(table: &Table<'_>) -> Statement {
    let gain = |contender: Contender, (n, picture): (usize, usize)| {
        table.ours(n, contender, picture) - table.ours(n, Contender::AltOpt, picture)
    };
    let mut holds = true;
    let mut evidence = Vec::new();
    for contender in &Contender::ALL[1..5] {
        let gains: Vec<f64> = cases(table).map(|case| gain(*contender, case)).collect();
        let won = gains.iter().filter(|gain| **gain > 0.0).count();
        holds &= won == gains.len();
        let averages = table.settings.measurements.iter();
        let averages = averages.map(|&n| table.average(n, *contender) - table.average(n, Contender::AltOpt));
        let averages: Vec<String> = averages.map(|gain| format!("{gain:+.2}")).collect();
        evidence.push(format!("{} in {won} of {} cases ({})", contender.name(), gains.len(), averages.join(", ")));
    }
    Statement { claim: printed::ENSEMBLES_BEAT_ALT_OPT, holds, evidence: evidence.join("; ") }
}

fn average_beats_boosting(table: &Table<'_>) -> Statement {
    let mut holds = true;
    let mut evidence = Vec::new();
    for boosted in [Contender::BoostEx, Contender::BoostKm] {
        let gain = |&n: &usize| table.average(n, Contender::RandExAv) - table.average(n, boosted);
        let gains: Vec<f64> = table.settings.measurements.iter().map(gain).collect();
        holds &= gains.iter().all(|gain| *gain > 0.0);
        let gains: Vec<String> = gains.iter().map(|gain| format!("{gain:+.2}")).collect();
        evidence.push(format!("over {} by {} dB", boosted.name(), gains.join(", ")));
    }
    Statement { claim: printed::RAND_EX_AV_BEATS_BOOSTING, holds, evidence: evidence.join("; ") }
}

/// What counts as near to the printed means.
const NEAR: [(Contender, (printed::Claim, f64)); 3] = [
    (Contender::RandExAv, printed::NEAR_RAND_EX_AV),
    (Contender::BoostEx, printed::NEAR_BOOST_EX),
    (Contender::BoostKm, printed::NEAR_BOOST_KM),
];

/// Nothing where the paper has no number for some N.
fn is_near(table: &Table<'_>, (contender, (claim, within)): &(Contender, (printed::Claim, f64))) -> Option<Statement> {
    let deviation = |&n: &usize| {
        let all = table.deviations(n, *contender);
        (!all.is_empty()).then(|| mean(all.into_iter()))
    };
    let deviations = table.settings.measurements.iter().map(deviation).collect::<Option<Vec<f64>>>()?;
    let evidence: Vec<String> = deviations.iter().map(|deviation| format!("{deviation:+.2}")).collect();
    Some(Statement {
        claim: *claim,
        holds: deviations.iter().all(|deviation| deviation.abs() <= *within),
        evidence: format!("{} dB", evidence.join(", ")),
    })
}

fn best(table: &Table<'_>) -> Statement {
    let leads = |(n, picture): &(usize, usize)| {
        let rivals = Contender::ALL[..4].iter().map(|&rival| table.ours(*n, rival, *picture));
        table.ours(*n, Contender::ExMld, *picture) > rivals.fold(f64::NEG_INFINITY, f64::max)
    };
    let (won, all) = (cases(table).filter(leads).count(), cases(table).count());
    Statement { claim: printed::EX_MLD_IS_BEST, holds: won == all, evidence: format!("in {won} of {all} cases") }
}

fn lead(table: &Table<'_>) -> Statement {
    let lead = |&n: &usize| {
        let rivals = Contender::ALL[..4].iter().map(|&rival| table.average(n, rival));
        table.average(n, Contender::ExMld) - rivals.fold(f64::NEG_INFINITY, f64::max)
    };
    let leads: Vec<f64> = table.settings.measurements.iter().map(lead).collect();
    let evidence: Vec<String> = leads.iter().map(|lead| format!("{lead:+.2}")).collect();
    Statement {
        claim: printed::EX_MLD_LEADS_MOST_WITH_LITTLE,
        holds: leads.iter().all(|lead| *lead <= leads[0]),
        evidence: format!("{} dB", evidence.join(", ")),
    }
}
