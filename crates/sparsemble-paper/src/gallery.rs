//! Pictures as several methods made them, to be looked at beside each other: Figs. 5 and 7.
//!
//! The paper's picture may not be redistributed, so its panels are only written to the output folder and to a report of
//! one's own. The page in the repository shows a part of a photograph that is free of rights.

use std::fmt::Write;

use anyhow::Result;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sparsemble::image::{BitDepth, GrayImage, Size, encode_png};

use crate::plot::{Panel, sheet};

/// The photograph that is free of rights: what it is called, and its file.
pub const PHOTOGRAPH: (&str, &str) = ("Photographer", "camera.png");

/// The part of it that is shown: its upper left corner and its side.
const SHOWN: ((usize, usize), usize) = ((48, 160), 160);

/// What a picture is called that was made half as large.
pub(crate) const DEGRADED: &str = "degraded";

/// A panel is this many units wide.
const SIDE: f64 = 240.0;

/// A picture as a method made it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Shown {
    /// What the picture is called.
    pub picture: String,
    /// By which method, or what else it is.
    pub by: String,
    /// Its PSNR in dB, if it was made by a method.
    pub psnr: Option<f64>,
    /// A PNG file in base 64.
    png: String,
}

impl Shown {
    /// Keeps a picture as it is.
    ///
    /// # Errors
    /// If it cannot be written as PNG.
    pub fn new(picture: &str, by: &str, psnr: Option<f64>, image: &GrayImage) -> Result<Self> {
        let png = STANDARD.encode(encode_png(image, BitDepth::Eight)?);
        Ok(Self { picture: picture.to_owned(), by: by.to_owned(), psnr, png })
    }
}

/// The part of the photograph that is shown; all of it if it is smaller.
///
/// # Errors
/// If it is empty.
pub(crate) fn part(photograph: &GrayImage) -> Result<GrayImage> {
    let ((row, column), side) = SHOWN;
    let Size { width, height } = photograph.size();
    let (row, column) = (row.min(height.saturating_sub(side)), column.min(width.saturating_sub(side)));
    let size = Size { width: side.min(width), height: side.min(height) };
    Ok(photograph.cropped((row, column), size)?)
}

/// The PSNR of a picture by a method; NaN if it is not there.
pub(crate) fn psnr_of(shown: &[Shown], picture: &str, by: &str) -> f64 {
    let found = shown.iter().find(|one| one.picture == picture && one.by == by);
    found.and_then(|one| one.psnr).unwrap_or(f64::NAN)
}

/// Every PSNR, for the JSON file.
pub(crate) fn psnr_table(shown: &[Shown]) -> Vec<Value> {
    let rows = shown.iter().filter(|one| one.psnr.is_some());
    rows.map(|one| json!({ "picture": one.picture, "by": one.by, "psnr": one.psnr })).collect()
}

/// The sheet of the page: the photograph that is free of rights.
pub(crate) fn plot(title: &str, shown: &[Shown]) -> String {
    sheet(title, &panels(shown, PHOTOGRAPH.0), SIDE)
}

/// For the output folder alone: a picture of the paper by each method, and all of them on one sheet.
///
/// # Errors
/// If a kept picture is damaged.
pub(crate) fn files(figure: &str, title: &str, shown: &[Shown], picture: &str) -> Result<Vec<(String, Vec<u8>)>> {
    let stem = format!("{figure}-{}", picture.to_lowercase());
    let mut files = Vec::new();
    for one in shown.iter().filter(|one| one.picture == picture) {
        files.push((format!("{stem}-{}.png", one.by.to_lowercase()), STANDARD.decode(&one.png)?));
    }
    let page = sheet(&format!("{title}: {picture}"), &panels(shown, picture), SIDE);
    files.push((format!("{stem}.svg"), page.into_bytes()));
    Ok(files)
}

fn panels(shown: &[Shown], picture: &str) -> Vec<Panel> {
    let of = shown.iter().filter(|one| one.picture == picture);
    of.map(|one| {
        let mut caption = one.by.clone();
        if let Some(psnr) = one.psnr {
            let _ = write!(caption, " ({psnr:.2} dB)");
        }
        Panel { caption, png: one.png.clone(), share: if one.by == DEGRADED { 0.5 } else { 1.0 } }
    })
    .collect()
}
