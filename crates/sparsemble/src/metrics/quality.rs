//! Two pictures compared as the literature compares them.

use crate::blocks::Run;
use crate::error::{Error, Result, expect_size};
use crate::image::{BitDepth, GrayImage, Picture, WHITE};

use super::{mse, ssim};

/// What of two pictures is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// The brightness in whole levels: Y of BT.601 in studio range ([`Picture::brightness`]), or grey as it is. Figures of
    /// super-resolution are by this one.
    Brightness,
    /// Red, green and blue: PSNR from the mean of their squared errors, SSIM the mean of theirs.
    Colours,
}

/// How near a picture is to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quality {
    /// See [`psnr`](super::psnr); infinite for equal pictures.
    pub psnr: f64,
    /// See [`ssim()`].
    pub ssim: f64,
}

impl Quality {
    /// Compares pictures in whole levels of 8 bits, without `shave` pixels at each border.
    ///
    /// # Errors
    /// If sizes or colours differ, or what is left of the picture is smaller than the window of SSIM; if the run was
    /// interrupted.
    pub fn of(reference: &Picture, image: &Picture, protocol: Protocol, shave: usize, run: Run<'_>) -> Result<Self> {
        expect_size("image: number of colours", reference.planes.len(), image.planes.len())?;
        let [truth, found] = [planes(reference, protocol)?, planes(image, protocol)?];
        let compare = |(truth, found): (&GrayImage, &GrayImage)| -> Result<(f64, f64)> {
            found.expect_size(truth.size())?;
            let nothing_left = |_| Error::parameter("shave", shave, "leaves nothing of the picture");
            let (truth, found) =
                (truth.shaved(shave).map_err(nothing_left)?, found.shaved(shave).map_err(nothing_left)?);
            Ok((mse(&truth, &found)?, ssim(&truth, &found, run)?))
        };
        let pairs = truth.iter().zip(&found).map(compare).collect::<Result<Vec<_>>>()?;
        let mean = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / pairs.len() as f64;
        Ok(Self { psnr: 10.0 * (WHITE * WHITE / mean(|pair| pair.0)).log10(), ssim: mean(|pair| pair.1) })
    }
}

fn planes(picture: &Picture, protocol: Protocol) -> Result<Vec<GrayImage>> {
    if picture.planes.is_empty() {
        return Err(Error::Empty { what: "picture", unit: "plane" });
    }
    Ok(match protocol {
        Protocol::Brightness => vec![picture.brightness()?],
        Protocol::Colours => picture.planes.iter().map(|plane| plane.quantised(BitDepth::Eight)).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::Size;

    fn picture(levels: &[f64]) -> Picture {
        let size = Size { width: 15, height: 13 };
        let plane = |level: &f64| GrayImage::from_fn(size, |row, column| level + (row * column % 7) as f64).unwrap();
        Picture { planes: levels.iter().map(plane).collect(), depth: BitDepth::Eight }
    }

    fn psnr(reference: &[f64], image: &[f64], protocol: Protocol) -> f64 {
        Quality::of(&picture(reference), &picture(image), protocol, 1, Run::default()).unwrap().psnr
    }

    #[test]
    fn grey_is_compared_as_it_is_and_colours_by_their_brightness() {
        let decibels = |error: f64| 20.0 * (255.0 / error).log10();
        assert!((psnr(&[50.0], &[60.0], Protocol::Brightness) - decibels(10.0)).abs() < 1e-9);
        // 10 levels of all colours are 8.6 of the brightness in studio range, in whole levels 8 or 9.
        let brightness = psnr(&[50.0; 3], &[60.0; 3], Protocol::Brightness);
        assert!(decibels(9.0) <= brightness && brightness <= decibels(8.0));
        assert!((psnr(&[50.0; 3], &[60.0; 3], Protocol::Colours) - decibels(10.0)).abs() < 1e-9);
        let one_of_three = psnr(&[50.0; 3], &[50.0, 50.0, 60.0], Protocol::Colours);
        assert!((one_of_three - decibels(10.0 / 3.0_f64.sqrt())).abs() < 1e-9);
    }

    #[test]
    fn the_same_is_infinitely_near_and_other_colours_are_refused() {
        let same = Quality::of(&picture(&[9.0]), &picture(&[9.0]), Protocol::Brightness, 0, Run::default()).unwrap();
        assert!(same.psnr.is_infinite() && (same.ssim - 1.0).abs() < 1e-12);
        let other = Quality::of(&picture(&[9.0]), &picture(&[9.0; 3]), Protocol::Brightness, 0, Run::default());
        assert!(other.unwrap_err().to_string().contains("colours"));
        assert!(Quality::of(&picture(&[9.0]), &picture(&[9.0]), Protocol::Brightness, 2, Run::default()).is_err());
    }
}
