//! Fig. 5 (§IV-A2): one picture recovered by every method, to be looked at, and what we make of the same measurements.

use anyhow::Result;
use serde_json::json;
use sparsemble::Run;
use sparsemble::degradation::Dense;
use sparsemble::image::{BitDepth, GrayImage};
use sparsemble::metrics::psnr;
use sparsemble::restoration::{self, BlockMeasurements};

use crate::Watch;
use crate::gallery::{self, PHOTOGRAPH, Shown, psnr_of};
use crate::outcome::{Entry, Outcome, Statement};
use crate::printed;
use crate::recovery::{Contender, Recovery};
use crate::sensing::{Blocks, Sensing};

const TITLE: &str = "Fig. 5: pictures recovered from an eighth of their numbers";

/// What `sparsemble recover` does unless it is told otherwise.
pub const BEST: &str = "best";

/// Recovers the pictures by every method, with the first Φ.
///
/// # Errors
/// Those of [`Recovery::recover`].
pub fn recover(recovery: &mut Recovery, blocks: &Blocks, (threads, watch): (usize, &Watch<'_>)) -> Result<Vec<Shown>> {
    let phi = recovery.settings().phi(printed::FIGURE_MEASUREMENTS, 0)?;
    let shown = |number: usize, picture: &GrayImage, by: &str, psnr: Option<f64>| {
        let name = &blocks.names[number];
        let part = if name == PHOTOGRAPH.0 { &gallery::part(picture)? } else { picture };
        Shown::new(name, by, psnr, part)
    };
    let judged = |number: usize, picture: &GrayImage, by: &str| {
        shown(number, picture, by, Some(psnr(&blocks.pictures[number], picture)?))
    };
    let originals =
        blocks.pictures.iter().enumerate().map(|(number, picture)| shown(number, picture, "original", None));
    let mut all = originals.collect::<Result<Vec<_>>>()?;
    for contender in Contender::ALL {
        let name = format!("{}, Fig. 5", contender.name());
        let tell = |done: usize, total: usize| watch(&name, done, total);
        let pictures = recovery.recover(contender, &phi, blocks, Run::threads(threads).on_progress(&tell))?;
        for (number, picture) in pictures.iter().enumerate() {
            all.push(judged(number, picture, contender.name())?);
        }
    }
    let tell = |done: usize, total: usize| watch("best, Fig. 5", done, total);
    for (number, picture) in blocks.pictures.iter().enumerate() {
        let run = Run::threads(threads).on_progress(&tell).part(number..number + 1, blocks.pictures.len());
        all.push(judged(number, &best(picture, &phi, run)?, BEST)?);
    }
    Ok(all)
}

/// The whole picture at once, from the measurements alone: no mean is transmitted.
fn best(picture: &GrayImage, phi: &Dense<f32>, run: Run<'_>) -> Result<GrayImage> {
    let measured = BlockMeasurements::sense(picture, Dense::new(phi.matrix().converted().view())?)?;
    Ok(restoration::recover(&measured, 0.0, run)?.image.quantised(BitDepth::Eight))
}

/// Judges the recovered pictures and lays them out.
///
/// # Errors
/// If a kept picture is damaged.
pub fn outcome(settings: &Sensing, recovered: &[Shown]) -> Result<Outcome> {
    let (man, _) = printed::FIGURE_PICTURE;
    let of = |by: &str| psnr_of(recovered, man, by);
    let printed_of = |column: Option<usize>| column.map(|column| printed::FIGURE_5[column]);
    // That of Alt-Opt over itself is no number of the paper.
    let gain_of =
        |column: Option<usize>| printed_of(column.filter(|column| *column > 0)).map(|psnr| psnr - printed::FIGURE_5[0]);
    let row = |(by, column): (&str, Option<usize>)| {
        let compared = |ours, theirs| Entry::compared(ours, theirs, printed::NEAR_IN_RECOVERY);
        let gain = of(by) - of(Contender::AltOpt.name());
        vec![
            by.into(),
            compared(of(by), printed_of(column)),
            compared(gain, gain_of(column)).told(format!("{gain:+.2}")),
            format!("{:.2}", psnr_of(recovered, PHOTOGRAPH.0, by)).into(),
        ]
    };
    let methods = Contender::ALL.map(|contender| (contender.name(), contender.printed()));
    let headings = ["method", "Man, PSNR (dB)", "gain over Alt-Opt (dB)", "Photographer, PSNR (dB)"];
    Ok(Outcome {
        name: "fig5",
        title: TITLE,
        caption: format!(
            "Recovered from N = {} measurements of each {side} × {side} block with one Φ, by the methods and settings of \
             Table 1, beside the paper's numbers. *{BEST}* is what `sparsemble recover` does: the whole picture at once, \
             from the same measurements without the means of the blocks, which the others know. The paper's picture, \
             *Man*, is not ours to pass on: it is in the output folder and in one's own report alone. *Photographer* is a \
             photograph that is free of rights, recovered with the same Φ and models: a part of it is shown, PSNR is that of \
             the whole.",
            printed::FIGURE_MEASUREMENTS,
            side = settings.block_side,
        ),
        headings: headings.map(str::to_owned).to_vec(),
        rows: methods.into_iter().chain([(BEST, None)]).map(row).collect(),
        statements: statements(recovered),
        plot: gallery::plot(TITLE, recovered),
        files: gallery::files("fig5", TITLE, recovered, man)?,
        results: json!({ "settings": settings, "psnr": gallery::psnr_table(recovered) }),
    })
}

fn statements(recovered: &[Shown]) -> Vec<Statement> {
    let of = |picture: &str, contender: Contender| psnr_of(recovered, picture, contender.name());
    let man = |contender: Contender| of(printed::FIGURE_PICTURE.0, contender);
    let values = Contender::ALL[..5].iter().map(|&contender| man(contender)).collect::<Vec<_>>();
    let listed: Vec<String> = values.iter().map(|value| format!("{value:.2}")).collect();
    let order = Statement {
        claim: printed::ORDER_OF_FIGURE_5,
        holds: values.is_sorted_by(|a, b| a < b),
        evidence: listed.join(", "),
    };
    let gain = |claim, contender: Contender, paper: f64| {
        let gain = man(contender) - man(Contender::AltOpt);
        Statement { claim, holds: gain >= 0.5 * paper, evidence: format!("{gain:+.2} dB") }
    };
    let leads = [printed::FIGURE_PICTURE.0, PHOTOGRAPH.0].map(|picture| {
        let rivals = Contender::ALL.map(|contender| of(picture, contender));
        (picture, psnr_of(recovered, picture, BEST) - rivals.into_iter().fold(f64::NEG_INFINITY, f64::max))
    });
    let beyond = Statement {
        claim: printed::BEST_IN_FIGURE_5,
        holds: leads.iter().all(|(_, lead)| *lead > 0.0),
        evidence: leads.map(|(picture, lead)| format!("{picture} {lead:+.2} dB")).join(", "),
    };
    vec![
        order,
        gain(printed::RAND_EX_AV_GAINS, Contender::RandExAv, 1.34),
        gain(printed::EX_MLD_GAINS, Contender::ExMld, 2.38),
        beyond,
    ]
}
