//! Pictures to be compared: side by side, or, where scripts run, on one stage with a divider and zoom.

use std::fmt::Write;

use anyhow::Result;
use sparsemble::image::{GrayImage, Picture, Size};

use super::escaped;
use super::picture::photos;

/// How it is used; shown only where it can be.
pub(crate) const HINT: &str = "<p class=\"scripted\">Drag the line, or move it by the arrow keys. Zoom by the buttons, by \
                               <kbd>+</kbd> and <kbd>−</kbd> or by a double click; a zoomed picture can be dragged.</p>\n";

/// The most pixels of a picture on a page; of a larger one its middle is shown, so that pixels stay what they are.
const MOST_PIXELS: usize = 1_600_000;

/// What the files of pictures that are compared may take together: with a map of errors a page stays below 5 MB.
const MOST_BYTES: usize = 2_500_000;

/// A picture that can be compared with others.
pub(crate) struct Layer {
    pub(crate) name: String,
    pub(crate) picture: Picture,
}

/// Pictures of one size: the first is on the left of the divider, the one of this number on its right.
pub(crate) fn compare(layers: &[Layer], right: usize, caption: &str) -> Result<String> {
    let Some(Size { width, height }) = layers.first().map(|layer| layer.picture.planes[0].size()) else {
        return Ok(String::new());
    };
    let mut html = format!(
        "<figure class=\"compare\" data-right=\"{right}\" style=\"--ratio: {width} / {height}; \
         --widest: min(max(24rem, {}px), 85vh * {width} / {height})\">\n<div class=\"layers\">\n",
        2 * width
    );
    let pictures: Vec<(&Picture, &str)> = layers.iter().map(|layer| (&layer.picture, layer.name.as_str())).collect();
    for (Layer { name, .. }, image) in layers.iter().zip(photos(&pictures, "", MOST_BYTES)?) {
        let name = escaped(name);
        let _ = writeln!(
            html,
            "<figure class=\"layer\" data-name=\"{name}\">{image}<figcaption>{name}</figcaption></figure>"
        );
    }
    let caption =
        if caption.is_empty() { String::new() } else { format!("<figcaption>{}</figcaption>\n", escaped(caption)) };
    Ok(html + "</div>\n" + &caption + "</figure>\n")
}

/// The part of a picture that is shown on a page.
#[derive(Clone, Copy)]
pub(crate) struct Window {
    whole: Size,
    pub(crate) size: Size,
    /// Row and column of its upper left pixel.
    pub(crate) origin: (usize, usize),
}

impl Window {
    /// All of a picture, or its middle if it is large.
    pub(crate) fn of(whole: Size) -> Self {
        let share = (MOST_PIXELS as f64 / (whole.width as f64 * whole.height as f64)).sqrt().min(1.0);
        let side = |pixels: usize| ((pixels as f64 * share) as usize).clamp(1, pixels.max(1));
        let size = if share < 1.0 { Size { width: side(whole.width), height: side(whole.height) } } else { whole };
        Self { whole, size, origin: ((whole.height - size.height) / 2, (whole.width - size.width) / 2) }
    }

    /// This part of a plane of the whole picture.
    pub(crate) fn cut(&self, plane: &GrayImage) -> sparsemble::Result<GrayImage> {
        plane.cropped(self.origin, self.size)
    }

    /// This part of every plane.
    pub(crate) fn cut_all<'a>(
        &self,
        planes: impl IntoIterator<Item = &'a GrayImage>,
    ) -> sparsemble::Result<Vec<GrayImage>> {
        planes.into_iter().map(|plane| self.cut(plane)).collect()
    }

    /// What is shown, if it is not all.
    pub(crate) fn words(&self) -> String {
        if self.size == self.whole {
            return String::new();
        }
        format!("Shown are the {} pixels in the middle of {}.", self.size, self.whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparsemble::image::BitDepth;

    #[test]
    fn of_a_large_picture_its_middle_is_shown() {
        let window = Window::of(Size { width: 4000, height: 1000 });
        assert!(window.size.width * window.size.height <= MOST_PIXELS && window.size.width > 2500);
        assert_eq!(window.origin.1, (4000 - window.size.width) / 2);
        assert!(window.words().ends_with("in the middle of 4000×1000."));
        let small = Window::of(Size { width: 30, height: 20 });
        assert_eq!((small.origin, small.words()), ((0, 0), String::new()));
    }

    #[test]
    fn every_picture_is_there_with_its_name_for_those_who_run_no_scripts() {
        let plane = GrayImage::from_fn(Size { width: 30, height: 20 }, |row, column| (row * column) as f64).unwrap();
        let layer = |name: &str| Layer {
            name: name.into(),
            picture: Picture { planes: vec![plane.clone()], depth: BitDepth::Eight },
        };
        let html = compare(&[layer("noisy"), layer("a < b"), layer("original")], 1, "").unwrap();
        assert_eq!(html.matches("<img ").count(), 3);
        assert!(html.contains("<figcaption>a &lt; b</figcaption>") && html.contains("alt=\"original\""));
    }
}
