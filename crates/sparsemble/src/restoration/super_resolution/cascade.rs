//! All stages on a picture, strip by strip.

use std::ops::Range;

use crate::blocks::Run;
use crate::ensemble::Upscaler;
use crate::error::{Error, Result};
use crate::image::{GrayImage, Interpolation, Size};
use crate::restoration::Restored;
use crate::scalar::Scalar;

use super::enlarge::Enlarge;
use super::stage::{Enlarged, Space, Stage, Target};
use super::windows::Windows;

/// Pixels of the enlarged picture that are worked on at a time.
const STRIP: usize = 1 << 21;

/// No intensity is beyond this, so that no sum overflows.
const BRIGHTEST: f64 = 1e9;

/// The error of a pixel by the deviation of the opinions: measured on 20 pictures of the BSDS,
/// where it is 5.2 for scale 2, 6.4 for 3 and 6.2 for 4. Members and overlaps miss the same details, so it is far from one.
const CALIBRATION: f64 = 5.8;

impl<T: Scalar> Upscaler<T> {
    /// The picture, `scale` times as wide and high, with what each pixel's error may be.
    ///
    /// # Cost
    /// For each pixel of the small picture and each member of each stage, a product with each anchor near it and one
    /// with a map. Memory is that of the pictures and about 200 MB; see [`enlarge_rows`](Self::enlarge_rows) for less.
    ///
    /// # Errors
    /// If a sample is not finite or beyond ±10⁹, or the run was interrupted.
    pub fn enlarge(&self, image: &GrayImage, run: Run<'_>) -> Result<Restored> {
        check(image)?;
        let Size { width, height } = image.size();
        let strip = self.strip_rows(width);
        let size = Size { width: self.scale() * width, height: self.scale() * height };
        let [mut samples, mut deviations] = [0; 2].map(|_| vec![0.0; size.width.saturating_mul(size.height)]);
        let mut space = Space::default();
        let pixels = strip * self.scale() * size.width;
        let parts = samples.chunks_mut(pixels).zip(deviations.chunks_mut(pixels));
        for (start, target) in (0..height).step_by(strip).zip(parts) {
            let rows = start..(start + strip).min(height);
            self.strip(image, rows.clone(), target, &mut space, run.part(rows, height))?;
        }
        Ok(Restored { image: GrayImage::new(size, samples)?, deviation: GrayImage::new(size, deviations)? })
    }

    /// The rows of the enlarged picture that belong to these rows of the small one: the same bits as
    /// [`enlarge`](Self::enlarge) gives, for whoever does not have the memory for all.
    ///
    /// Take about [`strip_rows`](Self::strip_rows) at a time: every call looks at a few rows around as well.
    ///
    /// # Errors
    /// As [`enlarge`](Self::enlarge); if there are no such rows.
    pub fn enlarge_rows(&self, image: &GrayImage, rows: Range<usize>, run: Run<'_>) -> Result<Restored> {
        check(image)?;
        if rows.is_empty() || rows.end > image.size().height {
            let given = format!("{}..{}", rows.start, rows.end);
            return Err(Error::parameter("rows", given, "must be some of the rows of the image"));
        }
        let size = Size { width: self.scale() * image.size().width, height: self.scale() * rows.len() };
        let [mut samples, mut deviations] = [0; 2].map(|_| vec![0.0; size.width.saturating_mul(size.height)]);
        self.strip(image, rows, (&mut samples, &mut deviations), &mut Space::default(), run)?;
        Ok(Restored { image: GrayImage::new(size, samples)?, deviation: GrayImage::new(size, deviations)? })
    }

    /// How many rows of a small picture of this width are best enlarged at a time.
    pub fn strip_rows(&self, width: usize) -> usize {
        (STRIP / (width.max(1) * self.scale() * self.scale())).max(16)
    }

    fn windows(&self, stage: usize) -> Windows {
        let stage = &self.stages()[stage];
        Windows { scale: self.scale(), low_side: stage.low_side(), high_side: stage.high_side() }
    }

    /// All stages on these rows, each on as many more as the next one looks at; writes samples and deviations.
    fn strip(
        &self,
        image: &GrayImage,
        rows: Range<usize>,
        (samples, doubts): (&mut [f64], &mut [f64]),
        space: &mut Space<T>,
        run: Run<'_>,
    ) -> Result<()> {
        let (height, count) = (image.size().height, self.stages().len());
        let mut wanted = vec![rows; count];
        for number in (1..count).rev() {
            let more = 1 + self.windows(number).reach();
            let rows = &wanted[number];
            wanted[number - 1] = rows.start.saturating_sub(more)..(rows.end + more).min(height);
        }
        let mut so_far: Option<Enlarged<T>> = None;
        let stage = |number: usize| Stage { windows: self.windows(number), ensemble: self.stages()[number].ensemble() };
        let part = |number: usize| run.part(number..number + 1, count);
        let Some(last) = wanted.pop() else { return Err(Error::Empty { what: "upscaler", unit: "stage" }) };
        for (number, rows) in wanted.into_iter().enumerate() {
            so_far = Some(stage(number).enlarge(image, so_far.as_ref(), rows, space, part(number))?);
        }
        let write = |mean: T, variance: T| (mean.to_f64(), CALIBRATION * variance.to_f64().sqrt());
        let target = Target { samples, doubts, write };
        stage(count - 1).enlarge_to(target, (image, so_far.as_ref()), last, space, part(count - 1))
    }
}

impl<T: Scalar> Enlarge for Upscaler<T> {
    fn scale(&self) -> usize {
        Upscaler::scale(self)
    }

    /// What every stage looks at and writes over, and the bicubic start of the first.
    fn reach(&self) -> Option<usize> {
        let looks_at = |windows: Windows| windows.reach().max(windows.low_side / 2);
        let stages = (0..self.stages().len()).map(|stage| 1 + looks_at(self.windows(stage)));
        Some(stages.sum::<usize>() + Interpolation::Bicubic.pixels())
    }

    fn enlarge(&self, image: &GrayImage, run: Run<'_>) -> Result<Restored> {
        Upscaler::enlarge(self, image, run)
    }
}

fn check(image: &GrayImage) -> Result<()> {
    let width = image.size().width;
    match image.samples().iter().position(|value| !(-BRIGHTEST..=BRIGHTEST).contains(value)) {
        None => Ok(()),
        Some(pixel) if image.samples()[pixel].is_finite() => {
            Err(Error::parameter("image", image.samples()[pixel], "no intensity may be beyond ±10⁹"))
        }
        Some(pixel) => Err(Error::NotFinite { what: "image", row: pixel / width, column: pixel % width }),
    }
}
