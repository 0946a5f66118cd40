//! The page to look at: the larger picture beside bicubic interpolation.

use std::ops::Range;

use sparsemble::image::{GrayImage, Layout, Size};
use sparsemble::restoration::super_resolution::EnlargedRows;

use super::Done;
use crate::args::UpscaleArguments;
use crate::commands::picture_page::{PicturePage, layer};
use crate::html::Window;

/// What is shown of a picture, kept while it is written.
pub(super) struct Piece {
    window: Window,
    /// Grey, or red, green and blue: the samples so far.
    planes: Vec<Vec<f64>>,
    deviation: Vec<f64>,
}

impl Piece {
    pub(super) fn new(layout: &Layout) -> Self {
        let colours = layout.channels - usize::from(layout.has_alpha());
        Self { window: Window::of(layout.size), planes: vec![Vec::new(); colours], deviation: Vec::new() }
    }

    /// The rows that are shown.
    pub(super) fn rows(&self) -> Range<usize> {
        self.window.origin.0..self.window.origin.0 + self.window.size.height
    }

    /// Keeps what is shown of some rows.
    pub(super) fn keep(&mut self, rows: Range<usize>, made: &EnlargedRows) -> sparsemble::Result<()> {
        let shown = self.rows();
        let both = rows.start.max(shown.start)..rows.end.min(shown.end);
        if both.is_empty() {
            return Ok(());
        }
        let (corner, size) = (
            (both.start - rows.start, self.window.origin.1),
            Size { width: self.window.size.width, height: both.len() },
        );
        for (kept, plane) in self.planes.iter_mut().zip(&made.planes) {
            kept.extend(plane.cropped(corner, size)?.into_samples());
        }
        self.deviation.extend(made.deviation.cropped(corner, size)?.into_samples());
        Ok(())
    }
}

/// `before` are the rows that are shown, by bicubic interpolation.
pub(super) fn of(
    arguments: &UpscaleArguments,
    done: &Done<'_>,
    piece: Piece,
    before: &EnlargedRows,
) -> sparsemble::Result<PicturePage> {
    let Piece { window, planes, deviation } = piece;
    let columns = |plane: &GrayImage| plane.cropped((0, window.origin.1), window.size);
    let before = before.planes.iter().take(planes.len()).map(columns).collect::<sparsemble::Result<_>>()?;
    let after =
        planes.into_iter().map(|samples| GrayImage::new(window.size, samples)).collect::<sparsemble::Result<_>>()?;
    let Done { work, from, to, seconds } = done;
    let method = arguments.model.as_ref().map_or_else(|| arguments.method.name(), |path| path.display().to_string());
    Ok(PicturePage {
        program: "sparsemble upscale",
        title: format!("{}, larger", work.input.file_name().unwrap_or_default().to_string_lossy()),
        lead: format!("From {from} to {to} pixels in {seconds:.1} seconds."),
        facts: Vec::new(),
        window,
        layers: vec![layer("bicubic interpolation", None, before), layer(&format!("enlarged, {method}"), None, after)],
        result: 1,
        deviations: vec![GrayImage::new(window.size, deviation)?],
        atoms: Vec::new(),
        settings: vec![
            ("picture", work.input.display().to_string()),
            ("method", method),
            ("size", format!("{from} to {to}")),
            ("written to", work.output.display().to_string()),
        ],
    })
}
