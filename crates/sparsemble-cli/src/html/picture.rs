//! Pictures and plots inside a page.

use anyhow::Result;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sparsemble::Run;
use sparsemble::image::{BitDepth, GrayImage, HEAT, HeatMap, Picture, PictureFormat, Size, encode_picture, encode_png};

use super::{escaped, figure};

/// A picture of at most so many bytes is kept without loss.
const LOSSLESS: usize = 300_000;

/// The size that a map of quantities has at most: they are smooth.
const MAP: Size = Size { width: 900, height: 900 };

/// A picture in grey without loss, described for those who do not see it.
pub(crate) fn picture(picture: &GrayImage, class: &str, description: &str) -> Result<String> {
    Ok(image("png", &encode_png(picture, BitDepth::Eight)?, picture.size(), class, description))
}

/// A photograph, without loss if it is small; the loss of a large one is not seen.
pub(crate) fn photo(picture: &Picture, class: &str, description: &str) -> Result<String> {
    let shallow = Picture { depth: BitDepth::Eight, planes: picture.planes.clone() };
    let mut found = ("png", encode_picture(&shallow, PictureFormat::Png)?);
    if found.1.len() > LOSSLESS {
        let jpeg = encode_picture(&shallow, PictureFormat::Jpeg)?;
        if jpeg.len() < found.1.len() {
            found = ("jpeg", jpeg);
        }
    }
    Ok(image(found.0, &found.1, shallow.planes[0].size(), class, description))
}

/// How large the deviations of planes are and where, with the meaning of the colours.
pub(crate) fn heat_map(deviations: &[GrayImage], caption: &str, run: Run<'_>) -> Result<String> {
    let HeatMap { picture, most } = HeatMap::of(deviations, MAP, run)?;
    let colours = HEAT.map(|[red, green, blue]| format!("rgb({red} {green} {blue})")).join(", ");
    let map = photo(&picture, "framed", "How far from the truth each pixel may be, light where it is far")?;
    let legend = format!(
        "<div class=\"legend\"><span>0</span><span class=\"ramp\" style=\"background: linear-gradient(to right, {colours})\">\
         </span><span>{most:.1} grey levels and more</span></div>"
    );
    Ok(figure(&(map + &legend), caption))
}

/// A drawing: an SVG file with its own colours for light and dark.
pub(crate) fn plot(svg: &str, description: &str) -> String {
    let (data, description) = (STANDARD.encode(svg), escaped(description));
    format!("<div class=\"plot\"><img alt=\"{description}\" src=\"data:image/svg+xml;base64,{data}\"></div>")
}

fn image(kind: &str, bytes: &[u8], size: Size, class: &str, description: &str) -> String {
    let (Size { width, height }, description, data) = (size, escaped(description), STANDARD.encode(bytes));
    format!(
        "<img class=\"{class}\" alt=\"{description}\" width=\"{width}\" height=\"{height}\" \
         src=\"data:image/{kind};base64,{data}\">"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparsemble::degradation::with_white_noise;

    /// A colour picture that compresses badly.
    fn noise(side: usize) -> Picture {
        let grey = GrayImage::from_fn(Size { width: side, height: side }, |_, _| 128.0).unwrap();
        let planes = [1, 2, 3].map(|seed| with_white_noise(&grey, 40.0, seed).unwrap());
        Picture { planes: planes.into(), depth: BitDepth::Sixteen }
    }

    #[test]
    fn a_small_picture_is_kept_without_loss_and_a_large_one_is_not() {
        assert!(photo(&noise(60), "", "").unwrap().contains("data:image/png;"));
        let large = photo(&noise(600), "", "a \"b\"").unwrap();
        assert!(large.contains("data:image/jpeg;") && large.contains("alt=\"a &quot;b&quot;\" width=\"600\""));
    }

    #[test]
    fn the_legend_has_the_colours_and_the_most() {
        let plane = GrayImage::from_fn(Size { width: 30, height: 20 }, |_, _| 2.5).unwrap();
        let map = heat_map(&[plane], "<where>", Run::default()).unwrap();
        assert!(map.contains("rgb(13 17 43), ") && map.contains("2.5 grey levels") && map.contains("&lt;where&gt;"));
    }
}
