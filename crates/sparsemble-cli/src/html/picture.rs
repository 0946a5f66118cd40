//! Pictures and plots inside a page.

use anyhow::Result;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sparsemble::Run;
use sparsemble::image::{
    BitDepth, GrayImage, HEAT, HeatMap, Picture, PictureFormat, Size, encode_jpeg, encode_picture, encode_png,
};

use super::{escaped, figure};

/// A picture of at most so many bytes is kept without loss.
const LOSSLESS: usize = 300_000;

/// What a file may take that stands alone on a page; with those to be compared a page stays below 5 MB.
const MOST_BYTES: usize = 700_000;

/// Qualities of photographs with loss, the best first. That of the first is not seen; only noise needs the last ones.
const QUALITIES: [u8; 7] = [95, 90, 82, 72, 60, 45, 25];

/// The size that a map of quantities has at most: they are smooth.
const MAP: Size = Size { width: 900, height: 900 };

/// A picture in grey without loss, described for those who do not see it.
pub(crate) fn picture(picture: &GrayImage, class: &str, description: &str) -> Result<String> {
    Ok(image("png", &encode_png(picture, BitDepth::Eight)?, picture.size(), class, description))
}

/// A photograph, without loss if it is small; the loss of a large one is not seen.
pub(crate) fn photo(picture: &Picture, class: &str, description: &str) -> Result<String> {
    Ok(photos(&[(picture, description)], class, MOST_BYTES)?.concat())
}

/// Photographs to be compared. Those that are large have one quality, the best in which all of them together take no
/// more than these bytes: what is seen to differ are the pictures.
pub(crate) fn photos(pictures: &[(&Picture, &str)], class: &str, most: usize) -> Result<Vec<String>> {
    let shallow = |(picture, _): &(&Picture, _)| Picture { depth: BitDepth::Eight, planes: picture.planes.clone() };
    let shallow: Vec<Picture> = pictures.iter().map(shallow).collect();
    let exact = shallow.iter().map(|picture| encode_picture(picture, PictureFormat::Png));
    let exact = exact.collect::<sparsemble::Result<Vec<_>>>()?;
    let mut files = Vec::new();
    for quality in QUALITIES {
        let pairs = shallow.iter().zip(&exact);
        files = pairs.map(|(picture, exact)| shortest(picture, exact, quality)).collect::<Result<Vec<_>>>()?;
        if files.iter().map(|(_, bytes)| bytes.len()).sum::<usize>() <= most {
            break;
        }
    }
    let files = files.iter().zip(pictures).map(|((kind, bytes), (picture, description))| {
        image(kind, bytes, picture.planes[0].size(), class, description)
    });
    Ok(files.collect())
}

/// The file of a picture and its kind: without loss if that is short.
fn shortest(picture: &Picture, exact: &[u8], quality: u8) -> Result<(&'static str, Vec<u8>)> {
    if exact.len() > LOSSLESS {
        let jpeg = encode_jpeg(picture, quality)?;
        if jpeg.len() < exact.len() {
            return Ok(("jpeg", jpeg));
        }
    }
    Ok(("png", exact.to_vec()))
}

/// How large the deviations of planes are and where, with the meaning of the colours.
pub(crate) fn heat_map(deviations: &[GrayImage], caption: &str, run: Run<'_>) -> Result<String> {
    let HeatMap { picture, most } = HeatMap::of(deviations, MAP, run)?;
    if most <= 0.0 {
        return Ok("<p>This method has one opinion of each pixel and cannot tell.</p>\n".to_owned());
    }
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
    fn pictures_of_noise_take_no_more_than_they_may_and_are_of_one_quality() {
        let (loud, quiet) = (noise(1200), GrayImage::from_fn(Size { width: 1200, height: 1200 }, waves).unwrap());
        let quiet = Picture { planes: vec![quiet; 3], depth: BitDepth::Eight };
        let pictures = [(&loud, "a"), (&loud, "b"), (&quiet, "c")];
        let most = 2_000_000;
        let files: usize = photos(&pictures, "", most).unwrap().iter().map(String::len).sum();
        // Four letters for three bytes, and a little for each element.
        assert!(files < most / 3 * 4 + 1000 && files > most / 2, "{files}");
        let free = photos(&pictures, "", usize::MAX).unwrap();
        assert!(free.iter().map(String::len).sum::<usize>() > 2 * files);
        assert_eq!(free[0].replace("alt=\"a\"", ""), free[1].replace("alt=\"b\"", ""));
        let bound = photos(&pictures, "", most).unwrap();
        assert!(bound[2].len() < free[2].len(), "the quiet one is not better than the loud ones");
    }

    fn waves(row: usize, column: usize) -> f64 {
        128.0 + 100.0 * ((row * row + 3 * row * column) as f64 / 500.0).sin()
    }

    #[test]
    fn the_legend_has_the_colours_and_the_most() {
        let plane = GrayImage::from_fn(Size { width: 30, height: 20 }, |_, _| 2.5).unwrap();
        let map = heat_map(&[plane], "<where>", Run::default()).unwrap();
        assert!(map.contains("rgb(13 17 43), ") && map.contains("2.5 grey levels") && map.contains("&lt;where&gt;"));
    }
}
