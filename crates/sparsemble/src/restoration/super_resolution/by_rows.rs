//! Pictures with colours and alpha made larger, to any size, some rows at a time.

use std::ops::Range;

use crate::blocks::Run;
use crate::error::{Error, Result};
use crate::image::{GrayImage, Interpolation, Resampling, Size, to_rgb, to_ycbcr};

use super::super::Restored;
use super::cut_out;
use super::enlarge::Enlarge;

/// About how many pixels of the result are made at a time.
const PIXELS: usize = 1 << 21;

/// The least rows of the result that are worth the rows around them.
const LEAST_ROWS: usize = 64;

/// A picture on its way to another size: the brightness by a method, colours and alpha by bicubic interpolation.
///
/// The eye takes its sharpness from the brightness; published figures are of it alone. A size that is not the method's
/// scale times the old one is reached by the method first and antialiased reduction then; interpolation reaches it itself.
///
/// # Cost
/// The method's, for each strip and the rows around it that it needs; memory for one strip.
///
/// # Example
/// ```
/// use sparsemble::Run;
/// use sparsemble::image::{GrayImage, Interpolation, Size};
/// use sparsemble::restoration::super_resolution::{Enlargement, Interpolated};
///
/// let small = Size { width: 20, height: 300 };
/// let plane = |shift: usize| GrayImage::from_fn(small, |row, column| ((row + column + shift) % 256) as f64);
/// let picture = [plane(0)?, plane(80)?, plane(160)?];
/// let rows = |rows: std::ops::Range<usize>| {
///     let size = Size { width: 20, height: rows.len() };
///     picture.iter().map(|plane| plane.cropped((rows.start, 0), size)).collect()
/// };
///
/// let bicubic = Interpolated::new(2, Interpolation::Bicubic)?;
/// let enlargement = Enlargement::new(&bicubic, small, Size { width: 30, height: 450 })?; // 1.5 times as large
/// let top = enlargement.rows(0..64, &rows, Run::default())?;
/// assert_eq!((top.planes.len(), top.planes[0].size()), (3, Size { width: 30, height: 64 }));
/// # Ok::<(), sparsemble::Error>(())
/// ```
#[derive(Clone)]
pub struct Enlargement<'a> {
    method: &'a dyn Enlarge,
    from: Size,
    interpolation: Resampling,
    /// Of the brightness, if the method is interpolation.
    direct: Option<Resampling>,
    /// From what the method makes to the size asked for, if they differ.
    reduction: Option<Resampling>,
}

/// Some rows of a larger picture.
#[derive(Debug, Clone, PartialEq)]
pub struct EnlargedRows {
    /// Every channel.
    pub planes: Vec<GrayImage>,
    /// How far from the truth the brightness of each pixel may be: see [`Restored::deviation`].
    pub deviation: GrayImage,
}

impl<'a> Enlargement<'a> {
    /// Pictures of one size to another.
    ///
    /// # Errors
    /// If a side is zero, shorter than it was, or longer than the method makes it.
    pub fn new(method: &'a dyn Enlarge, from: Size, to: Size) -> Result<Self> {
        let whole = Size {
            width: from.width.saturating_mul(method.scale()),
            height: from.height.saturating_mul(method.scale()),
        };
        let within = |from: usize, to: usize, whole: usize| from <= to && to <= whole;
        if !within(from.width, to.width, whole.width) || !within(from.height, to.height, whole.height) {
            let rule = format!("must be from {from} to {whole}, which is what the method makes of it");
            return Err(Error::parameter("size", to, rule));
        }
        let interpolation = Resampling::to_size(from, to, Interpolation::Bicubic)?;
        let direct = method.interpolation().map(|kind| Resampling::to_size(from, to, kind)).transpose()?;
        let reduction = if to == whole { None } else { Some(Resampling::to_size(whole, to, Interpolation::Bicubic)?) };
        Ok(Self { method, from, interpolation, direct, reduction })
    }

    /// The size of the result.
    pub fn size(&self) -> Size {
        self.interpolation.size()
    }

    /// How many rows of the result are best made at a time.
    pub fn step(&self) -> usize {
        match self.method.reach() {
            Some(_) => (PIXELS / self.size().width).max(LEAST_ROWS),
            None => self.size().height,
        }
    }

    /// Some rows of the result. `source` is asked for rows of the picture: grey, grey and alpha, red, green and blue, or
    /// these and alpha. Colours of pixels of which nothing is seen do not count: those around them do.
    ///
    /// # Errors
    /// Those of `source` and of the method; if there are no such rows; if `source` gives none or more than four planes.
    pub fn rows(
        &self,
        rows: Range<usize>,
        source: &dyn Fn(Range<usize>) -> Result<Vec<GrayImage>>,
        run: Run<'_>,
    ) -> Result<EnlargedRows> {
        if rows.is_empty() || rows.end > self.size().height {
            return Err(Error::parameter("rows", format!("{rows:?}"), "must be rows of the result"));
        }
        let needed = self.needed(&rows);
        let mut planes = source(needed.clone())?;
        let alpha = if planes.len().is_multiple_of(2) { planes.pop() } else { None };
        if alpha.as_ref().is_some_and(cut_out::hides) {
            planes = self.cut_out(&needed, source)?;
        }
        let interpolated = |plane: &GrayImage| self.interpolation.rows(plane, needed.start, rows.clone(), run.silent());
        let (mut made, deviation) = match <[GrayImage; 3]>::try_from(planes) {
            Ok(rgb) => {
                let [brightness, blue, red] = to_ycbcr(&rgb)?;
                let Restored { image, deviation } = self.brightness(&brightness, needed.start, &rows, run)?;
                (to_rgb(&[image, interpolated(&blue)?, interpolated(&red)?])?.into(), deviation)
            }
            Err(planes) => {
                let [grey] = planes.as_slice() else {
                    return Err(Error::parameter("planes", planes.len(), "must be one or three, and alpha"));
                };
                let Restored { image, deviation } = self.brightness(grey, needed.start, &rows, run)?;
                (vec![image], deviation)
            }
        };
        made.extend(alpha.as_ref().map(interpolated).transpose()?);
        Ok(EnlargedRows { planes: made, deviation })
    }

    /// Which rows of the method's result these rows are made of.
    fn middle(&self, rows: &Range<usize>) -> Range<usize> {
        self.reduction.as_ref().map_or(rows.clone(), |reduction| reduction.sources(rows.clone()))
    }

    /// Which rows of the picture.
    fn needed(&self, rows: &Range<usize>) -> Range<usize> {
        let Some(reach) = self.method.reach() else { return 0..self.from.height };
        let (middle, scale) = (self.middle(rows), self.method.scale());
        let colour = self.interpolation.sources(rows.clone());
        let start = (middle.start / scale).saturating_sub(reach).min(colour.start);
        let end = middle.end.div_ceil(scale).saturating_add(reach).min(self.from.height).max(colour.end);
        start..end
    }

    /// Some rows of the colours, with those under transparent pixels taken from what is seen around them.
    fn cut_out(
        &self,
        rows: &Range<usize>,
        source: &dyn Fn(Range<usize>) -> Result<Vec<GrayImage>>,
    ) -> Result<Vec<GrayImage>> {
        let start = rows.start.saturating_sub(cut_out::REACH);
        let mut planes = source(start..(rows.end + cut_out::REACH).min(self.from.height))?;
        let Some(alpha) = planes.pop() else { return Ok(planes) };
        let size = Size { width: self.from.width, height: rows.len() };
        cut_out::filled(&planes, &alpha)?.iter().map(|plane| plane.cropped((rows.start - start, 0), size)).collect()
    }

    /// The brightness of some rows from that of a strip of the picture that begins at row `first`.
    fn brightness(&self, strip: &GrayImage, first: usize, rows: &Range<usize>, run: Run<'_>) -> Result<Restored> {
        if let Some(direct) = &self.direct {
            let image = direct.rows(strip, first, rows.clone(), run)?;
            return Ok(Restored { deviation: GrayImage::from_fn(image.size(), |_, _| 0.0)?, image });
        }
        let whole = self.method.enlarge(strip, run)?;
        let (middle, skipped) = (self.middle(rows), first * self.method.scale());
        let part = |image: &GrayImage| {
            let size = Size { width: image.size().width, height: middle.len() };
            let part = image.cropped((middle.start - skipped, 0), size)?;
            match &self.reduction {
                Some(reduction) => reduction.rows(&part, middle.start, rows.clone(), run.silent()),
                None => Ok(part),
            }
        };
        Ok(Restored { image: part(&whole.image)?, deviation: part(&whole.deviation)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::resize;
    use crate::restoration::super_resolution::Interpolated;

    const SMALL: Size = Size { width: 11, height: 40 };

    fn picture(channels: usize) -> Vec<GrayImage> {
        let plane =
            |c: usize| GrayImage::from_fn(SMALL, |row, column| (1 + (row * row + 7 * column + 50 * c) % 251) as f64);
        (0..channels).map(|channel| plane(channel).unwrap()).collect()
    }

    fn enlarged(enlargement: &Enlargement<'_>, channels: usize, step: usize) -> Vec<Vec<f64>> {
        let picture = picture(channels);
        let source = |rows: Range<usize>| {
            let size = Size { width: SMALL.width, height: rows.len() };
            picture.iter().map(|plane| plane.cropped((rows.start, 0), size)).collect()
        };
        let mut planes = vec![Vec::new(); channels];
        for start in (0..enlargement.size().height).step_by(step) {
            let rows = start..(start + step).min(enlargement.size().height);
            let strip = enlargement.rows(rows, &source, Run::default()).unwrap();
            assert_eq!(strip.planes.len(), channels);
            planes.iter_mut().zip(strip.planes).for_each(|(whole, part)| whole.extend(part.into_samples()));
        }
        planes
    }

    #[test]
    fn strips_are_the_whole_for_any_size_and_all_channels() {
        for scale in [2, 3, 4] {
            let method = Interpolated::new(scale, Interpolation::Lanczos3).unwrap();
            for to in [Size { width: 11 * scale, height: 40 * scale }, Size { width: 17, height: 59 }] {
                let enlargement = Enlargement::new(&method, SMALL, to).unwrap();
                for channels in [1, 2, 3, 4] {
                    let whole = enlarged(&enlargement, channels, to.height);
                    let strips = enlarged(&enlargement, channels, 7);
                    let apart = whole.iter().flatten().zip(strips.iter().flatten()).map(|(a, b)| (a - b).abs());
                    assert!(apart.fold(0.0, f64::max) < 1e-9, "×{scale}, {channels} channels to {to}");
                    assert_eq!(whole[0].len(), to.width * to.height);
                }
            }
        }
    }

    #[test]
    fn interpolation_reaches_any_size_itself() {
        let (method, to) = (Interpolated::new(2, Interpolation::Lanczos3).unwrap(), Size { width: 17, height: 59 });
        let found = enlarged(&Enlargement::new(&method, SMALL, to).unwrap(), 1, 16);
        let expected = resize(&picture(1)[0], to, Interpolation::Lanczos3, Run::default()).unwrap();
        assert!(expected.samples().iter().zip(&found[0]).all(|(a, b)| (a - b).abs() < 1e-9));
    }

    /// A method that looks at the rows above and below, and is none that is known.
    struct Blurred;

    impl Enlarge for Blurred {
        fn scale(&self) -> usize {
            2
        }

        fn reach(&self) -> Option<usize> {
            Some(4)
        }

        fn enlarge(&self, image: &GrayImage, run: Run<'_>) -> Result<Restored> {
            let larger = Interpolated::new(2, Interpolation::Bicubic)?.enlarge(image, run)?.image;
            let Size { height, .. } = larger.size();
            let image = GrayImage::from_fn(larger.size(), |row, column| {
                0.5 * (larger.row(row.saturating_sub(1))[column] + larger.row((row + 1).min(height - 1))[column])
            })?;
            Ok(Restored { deviation: larger, image })
        }
    }

    #[test]
    fn strips_of_a_method_that_looks_around_are_the_whole() {
        for to in [Size { width: 22, height: 80 }, Size { width: 17, height: 59 }] {
            let enlargement = Enlargement::new(&Blurred, SMALL, to).unwrap();
            let [whole, strips] = [to.height, 7].map(|step| enlarged(&enlargement, 3, step));
            let apart = whole.iter().flatten().zip(strips.iter().flatten()).map(|(a, b)| (a - b).abs());
            assert!(apart.fold(0.0, f64::max) < 1e-9, "to {to}");
        }
    }

    #[test]
    fn colours_and_alpha_are_bicubic_whatever_the_method() {
        let method = Interpolated::new(2, Interpolation::Bicubic).unwrap();
        let to = Size { width: 22, height: 80 };
        let found = enlarged(&Enlargement::new(&method, SMALL, to).unwrap(), 4, 16);
        for (plane, found) in picture(4).iter().zip(found) {
            let expected = method.enlarge(plane, Run::default()).unwrap().image;
            assert!(expected.samples().iter().zip(found).all(|(a, b)| (a - b).abs() < 1e-9));
        }
    }

    #[test]
    fn a_cut_out_keeps_its_colours_to_the_edge() {
        // A red disc on black of which nothing is seen.
        let inside = |row: usize, column: usize| (row as f64 - 20.0).hypot(column as f64 - 5.0) < 4.5;
        let plane = |seen: f64| GrayImage::from_fn(SMALL, |row, column| if inside(row, column) { seen } else { 0.0 });
        let picture = [255.0, 40.0, 40.0, 255.0].map(|seen| plane(seen).unwrap());
        let source = |rows: Range<usize>| {
            let size = Size { width: SMALL.width, height: rows.len() };
            picture.iter().map(|plane| plane.cropped((rows.start, 0), size)).collect()
        };
        let method = Interpolated::new(2, Interpolation::Bicubic).unwrap();
        let enlargement = Enlargement::new(&method, SMALL, Size { width: 22, height: 80 }).unwrap();
        let mut seen = 0;
        for start in (0..80).step_by(16) {
            let strip = enlargement.rows(start..start + 16, &source, Run::default()).unwrap().planes;
            for pixel in (0..strip[3].samples().len()).filter(|&pixel| strip[3].samples()[pixel] > 0.5) {
                seen += 1;
                for (plane, expected) in strip.iter().zip([255.0, 40.0, 40.0]) {
                    let found = plane.samples()[pixel];
                    assert!(
                        (found - expected).abs() < 1.0,
                        "{found} for {expected} at {pixel} of the rows from {start}"
                    );
                }
            }
        }
        assert!(seen > 200, "{seen}");
    }

    #[test]
    fn sizes_out_of_reach_are_refused() {
        let method = Interpolated::new(2, Interpolation::Bicubic).unwrap();
        for (width, height) in [(10, 40), (23, 80), (22, 81), (0, 0)] {
            let refused = Enlargement::new(&method, SMALL, Size { width, height }).err().unwrap();
            assert!(refused.to_string().contains("11×40 to 22×80"), "{refused}");
        }
        let enlargement = Enlargement::new(&method, SMALL, Size { width: 22, height: 80 }).unwrap();
        let source = |_: Range<usize>| Ok(vec![]);
        assert!(enlargement.rows(0..2, &source, Run::default()).is_err());
        assert!(enlargement.rows(79..81, &|_| Ok(picture(1)), Run::default()).is_err());
    }
}
