//! Fig. 5 (§IV-A2): one picture recovered by every method, to be looked at.
//!
//! The paper's picture may not be redistributed, so its panels are only written to the output folder. The page shows a
//! part of a photograph that may.

use std::fmt::Write;

use anyhow::{Context, Result};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sparsemble::Run;
use sparsemble::image::{BitDepth, GrayImage, Size, encode_png};
use sparsemble::metrics::psnr;

use crate::Watch;
use crate::outcome::{Outcome, Statement};
use crate::plot::{Panel, sheet};
use crate::printed;
use crate::recovery::{Contender, Recovery};
use crate::sensing::{Blocks, Sensing};

const TITLE: &str = "Fig. 5: pictures recovered from an eighth of their numbers";

/// The photograph of the page, and the part of it that is shown: its upper left corner and its side.
pub const PHOTOGRAPH: (&str, &str) = ("Photographer", "camera.png");
const SHOWN: (usize, usize, usize) = (48, 160, 160);

/// A recovered picture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recovered {
    /// What the picture is called.
    pub picture: String,
    /// By which method; the picture itself if by none.
    pub contender: Option<Contender>,
    /// Its PSNR in dB.
    pub psnr: Option<f64>,
    /// A PNG file in base 64.
    png: String,
}

/// Recovers both pictures by every method, with the first Φ.
///
/// # Errors
/// Those of [`Recovery::recover`].
pub fn recover(
    recovery: &mut Recovery,
    blocks: &Blocks,
    (threads, watch): (usize, &Watch<'_>),
) -> Result<Vec<Recovered>> {
    let phi = recovery.settings().phi(printed::FIGURE_MEASUREMENTS, 0)?;
    let kept = |number: usize, picture: &GrayImage, contender: Option<Contender>| {
        let name = blocks.names[number].clone();
        let psnr = contender.map(|_| psnr(&blocks.pictures[number], picture)).transpose()?;
        let shown = if name == PHOTOGRAPH.0 { &part(picture)? } else { picture };
        let png = STANDARD.encode(encode_png(shown, BitDepth::Eight)?);
        Ok(Recovered { picture: name, contender, psnr, png })
    };
    let originals = blocks.pictures.iter().enumerate().map(|(number, picture)| kept(number, picture, None));
    let mut all = originals.collect::<Result<Vec<_>>>()?;
    for contender in Contender::ALL {
        let name = format!("{}, Fig. 5", contender.name());
        let tell = |done: usize, total: usize| watch(&name, done, total);
        let pictures = recovery.recover(contender, &phi, blocks, Run::threads(threads).on_progress(&tell))?;
        for (number, picture) in pictures.iter().enumerate() {
            all.push(kept(number, picture, Some(contender))?);
        }
    }
    Ok(all)
}

fn part(picture: &GrayImage) -> Result<GrayImage> {
    let (top, left, side) = SHOWN;
    let rows = (top..(top + side).min(picture.size().height)).map(|row| picture.row(row));
    let rows: Vec<&[f64]> =
        rows.map(|row| row.get(left..).unwrap_or(row)).map(|row| &row[..side.min(row.len())]).collect();
    let width = rows.first().context("the photograph is too small")?.len();
    Ok(GrayImage::new(Size { width, height: rows.len() }, rows.concat())?)
}

/// Judges the recovered pictures and lays them out.
///
/// # Errors
/// If a kept picture is damaged.
pub fn outcome(settings: &Sensing, recovered: &[Recovered]) -> Result<Outcome> {
    let of = |picture: &str, contender: Contender| {
        let found = recovered.iter().find(|one| one.picture == picture && one.contender == Some(contender));
        found.and_then(|one| one.psnr).unwrap_or(f64::NAN)
    };
    let man = |contender: Contender| of(printed::FIGURE_PICTURE.0, contender);
    let row = |contender: Contender| {
        let theirs = |value: f64| contender.printed().map_or("–".to_owned(), |_| format!("{value:.2}"));
        let paper = contender.printed().map_or(f64::NAN, |column| printed::FIGURE_5[column]);
        vec![
            contender.name().to_owned(),
            format!("{:.2}", man(contender)),
            theirs(paper),
            format!("{:+.2}", man(contender) - man(Contender::AltOpt)),
            theirs(paper - printed::FIGURE_5[0]),
            format!("{:.2}", of(PHOTOGRAPH.0, contender)),
        ]
    };
    let headings = ["method", "Man, PSNR (dB)", "paper", "gain over Alt-Opt", "paper", "Photographer, PSNR (dB)"];
    Ok(Outcome {
        name: "fig5",
        title: TITLE,
        caption: format!(
            "Recovered from N = {} measurements of each {} × {} block with one Φ, by the methods and settings of Table 1. \
             The paper's picture, *Man*, is not ours to show: its panels are written to the output folder. The picture \
             here is a part of a photograph that is free of rights, recovered with the same Φ and models.",
            printed::FIGURE_MEASUREMENTS,
            settings.block_side,
            settings.block_side,
        ),
        headings: headings.map(str::to_owned).to_vec(),
        rows: Contender::ALL.map(row).to_vec(),
        statements: statements(&man),
        plot: sheet(TITLE, &panels(recovered, PHOTOGRAPH.0), 240.0),
        files: files(recovered)?,
        results: json!({ "settings": settings, "psnr": psnr_table(recovered) }),
    })
}

fn statements(man: &impl Fn(Contender) -> f64) -> Vec<Statement> {
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
    vec![
        order,
        gain(printed::RAND_EX_AV_GAINS, Contender::RandExAv, 1.34),
        gain(printed::EX_MLD_GAINS, Contender::ExMld, 2.38),
    ]
}

fn psnr_table(recovered: &[Recovered]) -> Vec<serde_json::Value> {
    let rows = recovered.iter().filter(|one| one.contender.is_some());
    rows.map(|one| json!({ "picture": one.picture, "contender": one.contender, "psnr": one.psnr })).collect()
}

fn panels(recovered: &[Recovered], picture: &str) -> Vec<Panel> {
    let of = recovered.iter().filter(|one| one.picture == picture);
    of.map(|one| {
        let mut caption = one.contender.map_or("original", Contender::name).to_owned();
        if let Some(psnr) = one.psnr {
            let _ = write!(caption, " ({psnr:.2} dB)");
        }
        Panel { caption, png: one.png.clone() }
    })
    .collect()
}

/// For the output folder alone: the paper's picture by each method, and all of them on one sheet.
fn files(recovered: &[Recovered]) -> Result<Vec<(String, Vec<u8>)>> {
    let (picture, _) = printed::FIGURE_PICTURE;
    let mut files = Vec::new();
    for one in recovered.iter().filter(|one| one.picture == picture) {
        let method = one.contender.map_or("original", Contender::name).to_lowercase();
        files.push((format!("fig5-{}-{method}.png", picture.to_lowercase()), STANDARD.decode(&one.png)?));
    }
    let page = sheet(TITLE, &panels(recovered, picture), 400.0);
    files.push((format!("fig5-{}.svg", picture.to_lowercase()), page.into_bytes()));
    Ok(files)
}
