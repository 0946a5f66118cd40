//! Fig. 7 (§IV-B): one picture enlarged, to be looked at, and what we make of the same small picture.

use anyhow::Result;
use serde_json::json;
use sparsemble::Run;
use sparsemble::image::{BitDepth, GrayImage};
use sparsemble::metrics::psnr;
use sparsemble::restoration::super_resolution::natural_upscaler;

use crate::Watch;
use crate::enlarging::{Enlarger, Enlarging, SuperResolution};
use crate::gallery::{self, PHOTOGRAPH, Shown, psnr_of};
use crate::outcome::{Entry, Outcome, Statement};
use crate::printed;

const TITLE: &str = "Fig. 7: pictures enlarged twice";

/// The figure has PairDict, ExDict and BoostKM; its caption speaks of RandExAv.
pub const METHODS: [Enlarger; 5] =
    [Enlarger::Bicubic, Enlarger::PairDict, Enlarger::ExDict, Enlarger::BoostKm, Enlarger::RandExAv];

/// What `sparsemble upscale` does unless it is told otherwise.
pub const ANCHORED: &str = "anchored";

/// Makes the pictures small and enlarges them by every method.
///
/// # Errors
/// Those of the library; also if the run was interrupted.
pub fn enlarge(
    work: &mut SuperResolution,
    pictures: &[(String, GrayImage)],
    (threads, watch): (usize, &Watch<'_>),
) -> Result<Vec<Shown>> {
    let mut all = Vec::new();
    let mut small = Vec::new();
    for (name, picture) in pictures {
        let reduced = work.settings().reduced(picture)?;
        all.push(Shown::new(name, "original", None, picture)?);
        all.push(Shown::new(name, gallery::DEGRADED, None, &reduced)?);
        small.push(reduced);
    }
    let judged = |number: usize, by: &str, enlarged: &GrayImage| {
        let (name, picture): &(String, GrayImage) = &pictures[number];
        Shown::new(name, by, Some(psnr(picture, enlarged)?), enlarged)
    };
    for method in METHODS {
        let told = format!("{}, Fig. 7", method.name());
        let tell = |done: usize, total: usize| watch(&told, done, total);
        let run = Run::threads(threads).on_progress(&tell);
        let model = work.model(method, run)?;
        for (number, small) in small.iter().enumerate() {
            let enlarged = work.settings().enlarge(method, model.as_deref(), small, run)?;
            all.push(judged(number, method.name(), &enlarged)?);
        }
    }
    let upscaler = natural_upscaler(work.settings().scale)?;
    for (number, small) in small.iter().enumerate() {
        let enlarged = upscaler.enlarge(small, Run::threads(threads))?.image;
        all.push(judged(number, ANCHORED, &enlarged.quantised(BitDepth::Eight))?);
    }
    Ok(all)
}

/// Judges the enlarged pictures and lays them out.
///
/// # Errors
/// If a kept picture is damaged.
pub fn outcome(settings: &Enlarging, enlarged: &[Shown]) -> Result<Outcome> {
    let (man, _) = printed::FIGURE_PICTURE;
    let row = |by: &str| {
        let theirs = printed::FIGURE_7.iter().find(|(name, _)| *name == by).map(|(_, psnr)| *psnr);
        vec![
            by.into(),
            Entry::compared(psnr_of(enlarged, man, by), theirs, printed::NEAR_IN_ENLARGING),
            format!("{:.2}", psnr_of(enlarged, PHOTOGRAPH.0, by)).into(),
        ]
    };
    let headings = ["method", "Man, PSNR (dB)", "Photographer, PSNR (dB)"];
    Ok(Outcome {
        name: "fig7",
        title: TITLE,
        caption: format!(
            "Made half as large (*degraded*), rounded to 8 bits and enlarged again, by the methods and settings of Table 2, \
             beside the paper's numbers, which are those it prints for *Cameraman* in Table 2. *{ANCHORED}* is what \
             `sparsemble upscale` does with the model inside the program. The paper's picture, *Man*, is not ours to pass \
             on: it is in the output folder and in one's own report alone. *Photographer* is a part of a photograph that \
             is free of rights.",
        ),
        headings: headings.map(str::to_owned).to_vec(),
        rows: METHODS.map(Enlarger::name).into_iter().chain([ANCHORED]).map(row).collect(),
        statements: statements(enlarged),
        plot: gallery::plot(TITLE, enlarged),
        files: gallery::files("fig7", TITLE, enlarged, man)?,
        results: json!({ "settings": settings, "psnr": gallery::psnr_table(enlarged) }),
    })
}

fn statements(enlarged: &[Shown]) -> Vec<Statement> {
    let man = |by: &str| psnr_of(enlarged, printed::FIGURE_PICTURE.0, by);
    let alike = [Enlarger::PairDict, Enlarger::ExDict, Enlarger::RandExAv].map(|method| man(method.name()));
    let range =
        alike.iter().copied().fold(f64::NEG_INFINITY, f64::max) - alike.into_iter().fold(f64::INFINITY, f64::min);
    let leads = [printed::FIGURE_PICTURE.0, PHOTOGRAPH.0].map(|picture| {
        let rivals = METHODS.map(|method| psnr_of(enlarged, picture, method.name()));
        (picture, psnr_of(enlarged, picture, ANCHORED) - rivals.into_iter().fold(f64::NEG_INFINITY, f64::max))
    });
    vec![
        Statement {
            claim: printed::ALIKE_IN_FIGURE_7,
            holds: range <= 0.1,
            evidence: format!("{:.2}, {:.2} and {:.2} dB", alike[0], alike[1], alike[2]),
        },
        Statement {
            claim: printed::ANCHORED_IN_FIGURE_7,
            holds: leads.iter().all(|(_, lead)| *lead > 0.0),
            evidence: leads.map(|(picture, lead)| format!("{picture} {lead:+.2} dB")).join(", "),
        },
    ]
}
