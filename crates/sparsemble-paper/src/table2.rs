//! Table 2 (§IV-B): PSNR of pictures enlarged by each method, beside the paper's.

use std::time::Instant;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sparsemble::Run;
use sparsemble::image::GrayImage;
use sparsemble::metrics::psnr;

use crate::Watch;
use crate::cells::Cells;
use crate::enlarging::{Enlarger, Enlarging, SuperResolution};
use crate::outcome::{Entry, Outcome, Statement, mean};
use crate::plot::{Labels, Series, bars};
use crate::printed::{self, Claim};

const TITLE: &str = "Table 2: super-resolution by a factor of two";

/// One picture enlarged by one method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Enlarged {
    /// What the picture is called.
    pub picture: String,
    /// The method.
    pub method: Enlarger,
    /// PSNR in dB.
    pub psnr: f64,
    /// The wall-clock time of enlarging, without training.
    pub seconds: f64,
}

/// Makes every cell that is not there yet, method by method, so that each is trained once.
///
/// # Errors
/// Those of the library, or if a cell cannot be kept.
pub fn fill(
    cells: &mut Cells<Enlarged>,
    work: &mut SuperResolution,
    pictures: &[(String, GrayImage)],
    (threads, watch): (usize, &Watch<'_>),
) -> Result<Vec<Enlarged>> {
    let mut all = Vec::new();
    for method in Enlarger::ALL {
        for (name, picture) in pictures {
            let is_it = |cell: &Enlarged| cell.method == method && cell.picture == *name;
            if cells.find(is_it).is_none() {
                let told = format!("{}, {name}", method.name());
                let tell = |done: usize, total: usize| watch(&told, done, total);
                cells.push(cell(work, method, (name, picture), Run::threads(threads).on_progress(&tell))?)?;
            }
            all.extend(cells.find(is_it).cloned());
        }
    }
    Ok(all)
}

fn cell(
    work: &mut SuperResolution,
    method: Enlarger,
    (name, picture): (&str, &GrayImage),
    run: Run<'_>,
) -> Result<Enlarged> {
    let model = work.model(method, run)?;
    let settings = work.settings();
    let small = settings.reduced(picture)?;
    let start = Instant::now();
    let enlarged = settings.enlarge(method, model.as_deref(), &small, run)?;
    let seconds = start.elapsed().as_secs_f64();
    Ok(Enlarged { picture: name.to_owned(), method, psnr: psnr(picture, &enlarged)?, seconds })
}

/// The cells, and what they are compared with.
struct Table<'a> {
    names: Vec<&'a str>,
    cells: &'a [Enlarged],
}

impl Table<'_> {
    fn ours(&self, picture: &str, method: Enlarger) -> f64 {
        let found = self.cells.iter().find(|cell| cell.picture == picture && cell.method == method);
        found.map_or(f64::NAN, |cell| cell.psnr)
    }

    /// What the paper has for this picture, if it has it.
    fn theirs(picture: &str, method: Enlarger) -> Option<f64> {
        let row = printed::ENLARGED_PICTURES.iter().position(|(name, _)| *name == picture)?;
        Some(printed::TABLE_2[row][method.printed()?])
    }

    fn average(&self, method: Enlarger) -> f64 {
        mean(self.names.iter().map(|name| self.ours(name, method)))
    }

    fn printed_average(&self, method: Enlarger) -> Option<f64> {
        let all: Option<Vec<f64>> = self.names.iter().map(|name| Self::theirs(name, method)).collect();
        all.map(|all| mean(all.into_iter()))
    }

    /// Ours minus the paper's, for each picture that the paper has.
    fn deviations(&self, method: Enlarger) -> Vec<f64> {
        let of = |name: &&str| Some(self.ours(name, method) - Self::theirs(name, method)?);
        self.names.iter().filter_map(of).collect()
    }

    fn rows(&self) -> Vec<Vec<Entry>> {
        let row = |name: &str, entry: &dyn Fn(Enlarger) -> Entry| {
            std::iter::once(name.into()).chain(Enlarger::ALL.map(entry)).collect::<Vec<_>>()
        };
        let compared = |ours, theirs| Entry::compared(ours, theirs, printed::NEAR_IN_ENLARGING);
        let picture = |name: &&str| row(name, &|method| compared(self.ours(name, method), Self::theirs(name, method)));
        let mut rows: Vec<Vec<Entry>> = self.names.iter().map(picture).collect();
        rows.push(row("**mean**", &|method| compared(self.average(method), self.printed_average(method))));
        rows.push(row("deviation", &|method| match self.deviations(method) {
            none if none.is_empty() => "–".into(),
            all => format!("{:+.2}, at most {:.2}", mean(all.iter().copied()), largest(&all)).into(),
        }));
        rows
    }

    /// The least and the largest share of a method's gain over bicubic that back-projection alone has.
    fn back_projected(&self, method: Enlarger) -> String {
        let shares = self.names.iter().map(|name| {
            let bicubic = self.ours(name, Enlarger::Bicubic);
            (self.ours(name, Enlarger::BackProjected) - bicubic) / (self.ours(name, method) - bicubic)
        });
        let [least, most] =
            shares.fold([f64::INFINITY, f64::NEG_INFINITY], |[least, most], share| [least.min(share), most.max(share)]);
        format!("{:.0} to {:.0} % of the gain of {}", 100.0 * least, 100.0 * most, method.name())
    }
}

/// Judges the cells.
pub fn outcome(settings: &Enlarging, cells: &[Enlarged]) -> Outcome {
    let mut names: Vec<&str> = Vec::new();
    for cell in cells {
        if !names.contains(&cell.picture.as_str()) {
            names.push(&cell.picture);
        }
    }
    let table = Table { names, cells };
    let labels = Labels {
        title: TITLE,
        horizontal: "method; pale: the paper's numbers",
        vertical: "gain over bicubic in dB, mean over the pictures",
    };
    let shares = [Enlarger::PairDictOfYang, Enlarger::RandExAv].map(|method| table.back_projected(method));
    let methods = &Enlarger::ALL[1..];
    Outcome {
        name: "table2",
        title: TITLE,
        caption: format!(
            "PSNR in dB of pictures made half as large, rounded to 8 bits, and enlarged again, beside the paper's. \
             {side} × {side} patches at every pixel, K = {}, L = {}, {} training pairs drawn, {} of them for ExDict; λ = {} in \
             training and {} in testing (with ½ before the error). *Deviation* is ours minus the paper's, in the mean and \
             the largest of one picture. The pairs are those of Yang et al.'s program, which are out of line where a side \
             of a picture is odd; the last column has pairs that are in line. Bicubic + back-projection has no dictionary at all and is not in the paper: it has \
             {}.",
            settings.n_atoms,
            settings.n_models,
            settings.drawn_pairs,
            settings.n_examples,
            settings.training_lambda,
            settings.lambda,
            shares.join(" and "),
            side = settings.patch_side,
        ),
        headings: std::iter::once("picture").chain(Enlarger::ALL.map(Enlarger::name)).map(str::to_owned).collect(),
        rows: table.rows(),
        statements: statements(&table),
        plot: bars(&labels, &short_names(methods), &series(&table, methods)),
        files: Vec::new(),
        results: json!({ "settings": settings, "cells": cells }),
    }
}

/// Names that fit below a bar.
fn short_names(methods: &[Enlarger]) -> Vec<String> {
    let short = |method: &Enlarger| match method {
        Enlarger::BackProjected => "Bic. + BP".to_owned(),
        Enlarger::PairDictOfYang => "Yang et al.".to_owned(),
        Enlarger::RandExAvAligned => "aligned".to_owned(),
        other => other.name().to_owned(),
    };
    methods.iter().map(short).collect()
}

/// Gains over bicubic: ours and, paler, the paper's. The paper's methods come last, so that its bars stand in their places.
fn series(table: &Table<'_>, methods: &[Enlarger]) -> Vec<Series> {
    let ours = methods.iter().map(|&method| table.average(method) - table.average(Enlarger::Bicubic));
    let bicubic = table.printed_average(Enlarger::Bicubic);
    // No bar where the paper has none.
    let theirs =
        methods.iter().map(|&method| table.printed_average(method).zip(bicubic).map_or(f64::NAN, |(a, b)| a - b));
    vec![Series::new("here", ours.collect(), 0), Series::new("paper", theirs.collect(), 0).pale()]
}

fn statements(table: &Table<'_>) -> Vec<Statement> {
    let same = |claim: Claim, method: Enlarger, bar: f64| {
        let all = table.deviations(method);
        let listed: Vec<String> = all.iter().map(|deviation| format!("{deviation:+.2}")).collect();
        Statement { claim, holds: largest(&all) <= bar, evidence: listed.join(", ") }
    };
    let differences = [Enlarger::BoostEx, Enlarger::BoostKm, Enlarger::RandExAv].map(|ensemble| {
        [Enlarger::PairDict, Enlarger::ExDict].map(|baseline| table.average(ensemble) - table.average(baseline))
    });
    let listed = differences.map(|[pair, example]| format!("{pair:+.2} and {example:+.2}"));
    let matched = Statement {
        claim: printed::ENSEMBLES_MATCH,
        holds: differences.iter().flatten().all(|difference| difference.abs() <= 0.1),
        evidence: format!("BoostEx {}, BoostKM {}, RandExAv {} dB", listed[0], listed[1], listed[2]),
    };
    vec![
        same(printed::SAME_BICUBIC, Enlarger::Bicubic, 0.02),
        same(printed::SAME_PAIR_DICT, Enlarger::PairDict, 0.08),
        same(printed::SAME_EX_DICT, Enlarger::ExDict, 0.08),
        same(printed::SAME_BOOST_EX, Enlarger::BoostEx, 0.08),
        same(printed::SAME_BOOST_KM, Enlarger::BoostKm, 0.10),
        same(printed::SAME_RAND_EX_AV, Enlarger::RandExAv, 0.08),
        matched,
    ]
}

/// The largest magnitude; NaN counts as infinite.
fn largest(values: &[f64]) -> f64 {
    values.iter().map(|value| if value.is_nan() { f64::INFINITY } else { value.abs() }).fold(0.0, f64::max)
}
