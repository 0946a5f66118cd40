//! The page about a picture that was enlarged, recovered or restored.

use anyhow::Result;
use sparsemble::Run;
use sparsemble::image::{BitDepth, GrayImage, Picture};

use crate::html::{self, HINT, Layer, Page, Window, compare, facts, heat_map};

/// What is on the page. All pictures are cut to the window.
pub(super) struct PicturePage {
    pub(super) program: &'static str,
    pub(super) title: String,
    pub(super) lead: String,
    pub(super) facts: Vec<(&'static str, String)>,
    pub(super) window: Window,
    pub(super) layers: Vec<Layer>,
    /// Which of them is the result.
    pub(super) result: usize,
    /// None if there is one opinion alone.
    pub(super) deviations: Vec<GrayImage>,
    /// Dictionaries that were used, and what they are called.
    pub(super) atoms: Vec<(String, GrayImage)>,
    pub(super) settings: Vec<(&'static str, String)>,
}

impl PicturePage {
    pub(super) fn html(&self, threads: usize) -> Result<String> {
        let mut page = Page::new(self.program, &self.title, &self.lead);
        if !self.facts.is_empty() {
            page.add(&facts(&self.facts));
        }
        let stage = compare(&self.layers, self.result, &self.window.words())?;
        page.section("pictures", "Before and after", &format!("{HINT}{stage}"));
        if !self.deviations.is_empty() {
            let caption = "How far from the truth each pixel may be, by how far the opinions that were combined are apart: \
                           light where they disagree.";
            page.section("uncertainty", "How sure it is", &heat_map(&self.deviations, caption, Run::threads(threads))?);
        }
        if !self.atoms.is_empty() {
            page.section("atoms", "The atoms", &mosaics_side_by_side(&self.atoms)?);
        }
        Ok(page.end(&self.settings))
    }
}

/// A layer of planes, with its quality if that is known.
pub(super) fn layer(name: &str, psnr: Option<f64>, planes: Vec<GrayImage>) -> Layer {
    let quality = psnr.map_or(String::new(), |psnr| format!(", {psnr:.2} dB"));
    Layer { name: format!("{name}{quality}"), picture: Picture { planes, depth: BitDepth::Eight } }
}

/// Figures of quality, where they are known.
pub(super) fn qualities(qualities: &[(&'static str, Option<f64>)]) -> Vec<(&'static str, String)> {
    qualities.iter().filter_map(|(name, psnr)| Some((*name, format!("{:.2} dB", (*psnr)?)))).collect()
}

/// Mosaics of the atoms of dictionaries, or of the members of clusters, with what each is of.
pub(super) fn mosaics_side_by_side(mosaics: &[(String, GrayImage)]) -> Result<String> {
    let figure = |(name, mosaic): &(String, GrayImage)| -> Result<String> {
        Ok(html::figure(&html::picture(mosaic, "pixels framed", &format!("Mosaic of {name}"))?, name))
    };
    let figures = mosaics.iter().map(figure).collect::<Result<String>>()?;
    Ok(format!("<div class=\"grid\" style=\"--least: 14rem\">\n{figures}</div>\n"))
}
