//! Quantities as colours: where they are small and where they are large.

use crate::blocks::Run;
use crate::error::{Error, Result};

use super::plane::{BitDepth, GrayImage, Picture, Size};
use super::resize::{Interpolation, resize};

/// The colours from nothing to the most, evenly spaced; those between are mixed. Each is lighter than the one before, so
/// that they can be told apart without colours as well.
pub const HEAT: [[u8; 3]; 6] =
    [[13, 17, 43], [66, 33, 110], [150, 48, 118], [221, 86, 82], [247, 164, 74], [255, 243, 191]];

/// This share of the pixels is at or below the most; a few that are far above them would leave no colours for the rest.
const SHOWN: f64 = 0.995;

/// A picture of quantities that are not negative, such as [deviations](crate::restoration::Restored::deviation).
#[derive(Debug, Clone, PartialEq)]
pub struct HeatMap {
    /// Red, green and blue.
    pub picture: Picture,
    /// The quantity that has the last of the [colours](HEAT); what is beyond it has it too.
    pub most: f64,
}

impl HeatMap {
    /// The root of the mean square over the planes, made no larger than `size` each way.
    ///
    /// # Errors
    /// If there is no plane, they differ in size, a side is zero, or the run was interrupted.
    ///
    /// # Example
    /// ```
    /// use sparsemble::Run;
    /// use sparsemble::image::{GrayImage, HEAT, HeatMap, Size};
    ///
    /// let size = Size { width: 40, height: 10 };
    /// let ramp = GrayImage::from_fn(size, |_, column| column as f64)?;
    /// let map = HeatMap::of(&[ramp], size, Run::default())?;
    /// assert_eq!(map.most, 39.0);
    /// let [red, _, blue] = &map.picture.planes[..] else { panic!("three planes") };
    /// assert_eq!((red.row(0)[0], blue.row(0)[39]), (f64::from(HEAT[0][0]), f64::from(HEAT[5][2])));
    /// # Ok::<(), sparsemble::Error>(())
    /// ```
    pub fn of(planes: &[GrayImage], size: Size, run: Run<'_>) -> Result<Self> {
        let [first, ..] = planes else { return Err(Error::Empty { what: "heat map", unit: "plane" }) };
        planes.iter().try_for_each(|plane| plane.expect_size(first.size()))?;
        let square = |i: usize| planes.iter().map(|plane| plane.samples()[i] * plane.samples()[i]).sum::<f64>();
        let count = planes.len() as f64;
        let together = (0..first.samples().len()).map(|i| (square(i) / count).sqrt()).collect();
        let together = reduced(GrayImage::new(first.size(), together)?, size, run)?;
        let most = most(together.samples());
        let colour = |c: usize| {
            let samples = together.samples().iter().map(|value| mixed(if most > 0.0 { value / most } else { 0.0 }, c));
            GrayImage::new(together.size(), samples.collect())
        };
        Ok(Self { picture: Picture { planes: vec![colour(0)?, colour(1)?, colour(2)?], depth: BitDepth::Eight }, most })
    }
}

fn reduced(image: GrayImage, most: Size, run: Run<'_>) -> Result<GrayImage> {
    let Size { width, height } = image.size();
    let factor = (most.width as f64 / width as f64).min(most.height as f64 / height as f64);
    if factor >= 1.0 {
        return Ok(image);
    }
    let side = |pixels: usize| ((pixels as f64 * factor).round() as usize).max(1);
    resize(&image, Size { width: side(width), height: side(height) }, Interpolation::Bicubic, run)
}

/// The quantile that gets the last colour.
fn most(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    let place = ((sorted.len() - 1) as f64 * SHOWN).ceil() as usize;
    *sorted.select_nth_unstable_by(place, f64::total_cmp).1
}

/// A channel of the colour of a share of the most.
fn mixed(share: f64, channel: usize) -> f64 {
    let place = share.clamp(0.0, 1.0) * (HEAT.len() - 1) as f64;
    let below = (place as usize).min(HEAT.len() - 2);
    let [one, other] = [below, below + 1].map(|i| f64::from(HEAT[i][channel]));
    one + (place - below as f64) * (other - one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_is_lighter() {
        let light = |[r, g, b]: [u8; 3]| 0.299 * f64::from(r) + 0.587 * f64::from(g) + 0.114 * f64::from(b);
        assert!(HEAT.windows(2).all(|pair| light(pair[1]) > light(pair[0]) + 15.0));
    }

    #[test]
    fn a_single_bright_pixel_does_not_leave_the_others_dark_and_nothing_is_the_first_colour() {
        let size = Size { width: 30, height: 20 };
        let lone = GrayImage::from_fn(size, |row, column| if (row, column) == (3, 4) { 900.0 } else { 2.0 }).unwrap();
        let map = HeatMap::of(&[lone.clone(), lone], size, Run::default()).unwrap();
        assert!((map.most - 2.0).abs() < 1e-12);
        assert!((map.picture.planes[0].row(0)[0] - 255.0).abs() < 1e-9);
        let nothing = GrayImage::from_fn(size, |_, _| 0.0).unwrap();
        let map = HeatMap::of(&[nothing], Size { width: 10, height: 99 }, Run::default()).unwrap();
        assert_eq!(map.picture.planes[2].size(), Size { width: 10, height: 7 });
        assert!((map.picture.planes[2].row(0)[0] - 43.0).abs() < 1e-9);
        assert!(HeatMap::of(&[], size, Run::default()).is_err());
    }
}
