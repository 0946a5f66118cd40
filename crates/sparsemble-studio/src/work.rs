//! The restorations: a picture and what is to be done to it, in; pictures and how good they are, out.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use sparsemble::degradation::{Mask, Projection, ProjectionKind, with_white_noise};
use sparsemble::image::{BitDepth, GrayImage, Interpolation, Layout, Picture as Planes, Size, encode_by_rows, resize};
use sparsemble::metrics::{Protocol, Quality};
use sparsemble::restoration::super_resolution::{Enlarge, Enlargement, Interpolated, natural_upscaler};
use sparsemble::restoration::{BlockMeasurements, denoise, inpaint, recover};
use sparsemble::{Result, Run};

use crate::http::Refusal;
use crate::pictures::Picture;
use crate::settings::Limits;

/// The pixels of a block that is measured by compressive sensing: 8 × 8.
pub(crate) const BLOCK_PIXELS: usize = 64;
/// The seed of everything random: the same picture gives the same result.
const SEED: u64 = 0;
/// SSIM has a window of this side.
const LEAST_COMPARED: usize = 11;

/// What is to be done.
pub(crate) enum Task {
    /// By this scale.
    Enlarge(usize),
    /// Of noise of this standard deviation, in grey levels.
    Denoise(f64),
    /// Where this picture is white.
    Inpaint(Arc<Picture>),
    /// From this many measurements of each block.
    Recover(usize),
}

/// A restoration to do.
pub(crate) struct Work {
    pub(crate) picture: Arc<Picture>,
    pub(crate) task: Task,
    /// Whether the picture is damaged first, so that the result can be compared with it.
    pub(crate) simulate: bool,
}

/// A restoration done.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// What the result is to be looked at beside, if it is not the picture itself: a PNG file.
    pub(crate) before: Option<Arc<Vec<u8>>>,
    pub(crate) after: Arc<Vec<u8>>,
    pub(crate) size: Size,
    /// Of `before` and `after`, where the truth is known.
    pub(crate) quality: [Option<Quality>; 2],
    pub(crate) seconds: f64,
}

impl Outcome {
    pub(crate) fn bytes(&self) -> usize {
        self.after.len() + self.before.as_ref().map_or(0, |before| before.len())
    }
}

impl Work {
    /// Refuses what cannot be done, before it waits for its turn.
    pub(crate) fn check(&self, limits: &Limits) -> std::result::Result<(), Refusal> {
        let refuse = |reason: String| Err(Refusal::new(422, reason));
        let size = self.picture.layout.size;
        match &self.task {
            Task::Enlarge(scale) if !(2..=4).contains(scale) => {
                return refuse(format!("scale = {scale}: give 2, 3 or 4"));
            }
            Task::Enlarge(scale) if !self.simulate => {
                let (pixels, most) = ((size.width * size.height * scale * scale) as u64, limits.result_pixels());
                if pixels > most {
                    let fix = "choose a smaller scale";
                    return refuse(format!("{pixels} pixels are more than the {most} that a result may have; {fix}"));
                }
            }
            Task::Denoise(sigma) if !(0.0..=100.0).contains(sigma) => {
                return refuse(format!("sigma = {sigma}: give 0 to 100 grey levels"));
            }
            Task::Inpaint(mask) if mask.layout.size != size => {
                return refuse(format!("the mask has {} pixels, the picture {size}", mask.layout.size));
            }
            Task::Recover(measurements) if !(1..=BLOCK_PIXELS).contains(measurements) => {
                return refuse(format!("measurements = {measurements}: give 1 to {BLOCK_PIXELS}"));
            }
            _ => {}
        }
        Ok(())
    }

    pub(crate) fn run(&self, run: Run<'_>) -> Result<Outcome> {
        let started = Instant::now();
        let outcome = match &self.task {
            Task::Enlarge(scale) => self.enlarge(*scale, run),
            Task::Denoise(sigma) => self.denoise(*sigma, run),
            Task::Inpaint(mask) => self.inpaint(mask, run),
            Task::Recover(measurements) => self.recover(*measurements, run),
        }?;
        Ok(Outcome { seconds: started.elapsed().as_secs_f64(), ..outcome })
    }

    /// Beside bicubic interpolation; the truth is known if the picture was reduced first.
    fn enlarge(&self, scale: usize, run: Run<'_>) -> Result<Outcome> {
        // The whole picture and a small copy of it, if that is to be enlarged.
        let test = if self.simulate {
            let whole = self.channels()?;
            Some((reduced(&whole, scale)?, whole))
        } else {
            None
        };
        let from = test.as_ref().map_or(self.picture.layout.size, |(small, _)| small[0].size());
        let rows_of = |rows: Range<usize>| match &test {
            Some((small, _)) => cut(small, (rows.start, 0), Size { height: rows.len(), ..from }),
            None => self.picture.raster.rows(rows),
        };
        let to = Size { width: from.width * scale, height: from.height * scale };
        let layout = Layout { size: to, ..self.picture.layout.clone() };
        let enlarged = |method: &dyn Enlarge, run: Run<'_>| {
            let enlargement = Enlargement::new(method, from, to)?;
            let mut made = vec![Vec::new(); layout.channels];
            let png = encode_by_rows(&layout, enlargement.step(), |rows| {
                let strip = enlargement.rows(rows.clone(), &rows_of, run.part(rows, to.height))?.planes;
                if test.is_some() {
                    made.iter_mut().zip(&strip).for_each(|(made, strip)| made.extend_from_slice(strip.samples()));
                }
                Ok(strip)
            })?;
            let Some((_, whole)) = &test else { return Ok((Arc::new(png), None)) };
            let made = made.into_iter().map(|samples| GrayImage::new(to, samples)).collect::<Result<Vec<_>>>()?;
            let quality = compare(&cut(whole, (0, 0), to)?, &made, &layout, (Protocol::Brightness, scale))?;
            Ok((Arc::new(png), quality))
        };
        let (before, interpolated) = enlarged(&Interpolated::new(scale, Interpolation::Bicubic)?, run.part(0..1, 10))?;
        let (after, quality) = enlarged(&natural_upscaler(scale)?, run.part(1..10, 10))?;
        Ok(Outcome { before: Some(before), after, size: to, quality: [interpolated, quality], seconds: 0.0 })
    }

    /// Beside the picture, or what noise has made of it.
    fn denoise(&self, sigma: f64, run: Run<'_>) -> Result<Outcome> {
        let whole = self.channels()?;
        let noisy = |(plane, number): (&GrayImage, u64)| {
            // Alpha is no picture.
            let sigma = if (number as usize) < self.colours() { sigma } else { 0.0 };
            Ok(with_white_noise(plane, sigma, SEED + number)?.quantised(self.picture.layout.depth))
        };
        let damaged =
            if self.simulate { Some(whole.iter().zip(0..).map(noisy).collect::<Result<Vec<_>>>()?) } else { None };
        let seen = damaged.as_ref().unwrap_or(&whole);
        let restored = self.each_colour(seen, run, |plane, run| Ok(denoise(plane, sigma, run)?.image))?;
        self.outcome(&whole, damaged.as_deref(), &restored)
    }

    /// Beside the picture; what was under the mask is the truth if the user says so.
    fn inpaint(&self, mask: &Picture, run: Run<'_>) -> Result<Outcome> {
        let whole = self.channels()?;
        // Of grey, of red, of anything: white is white in every channel.
        let painted = mask.raster.rows(0..mask.layout.size.height)?.swap_remove(0);
        let mask = Mask::where_white(&painted)?;
        let restored = self.each_colour(&whole, run, |plane, run| Ok(inpaint(plane, &mask, 0.0, run)?.image))?;
        self.outcome(&whole, None, &restored)
    }

    /// Beside the picture that was measured, which is the truth.
    fn recover(&self, n_measurements: usize, run: Run<'_>) -> Result<Outcome> {
        let whole = self.channels()?;
        let projection = Projection { kind: ProjectionKind::Orthonormal, n_measurements, seed: SEED };
        let phi = projection.matrix(BLOCK_PIXELS)?;
        let restored = self.each_colour(&whole, run, |plane, run| {
            Ok(recover(&BlockMeasurements::sense(plane, phi.clone())?, 0.0, run)?.image)
        })?;
        self.outcome(&whole, None, &restored)
    }

    /// Every channel of the picture.
    fn channels(&self) -> Result<Vec<GrayImage>> {
        self.picture.raster.rows(0..self.picture.layout.size.height)
    }

    /// How many of the channels are not alpha.
    fn colours(&self) -> usize {
        colours(&self.picture.layout)
    }

    /// Each colour restored on its own; alpha stays.
    fn each_colour(
        &self,
        channels: &[GrayImage],
        run: Run<'_>,
        restore: impl Fn(&GrayImage, Run<'_>) -> Result<GrayImage>,
    ) -> Result<Vec<GrayImage>> {
        let count = self.colours();
        let (colours, alpha) = channels.split_at(count);
        let restored = colours.iter().enumerate().map(|(i, plane)| restore(plane, run.part(i..i + 1, count)));
        let mut restored = restored.collect::<Result<Vec<_>>>()?;
        restored.extend_from_slice(alpha);
        Ok(restored)
    }

    /// The result, beside the damaged picture if it was damaged here, compared with the whole one if that is the truth.
    fn outcome(&self, whole: &[GrayImage], damaged: Option<&[GrayImage]>, restored: &[GrayImage]) -> Result<Outcome> {
        let layout = &self.picture.layout;
        let png = |planes: &[GrayImage]| {
            let width = layout.size.width;
            let rows_of = |rows: Range<usize>| cut(planes, (rows.start, 0), Size { width, height: rows.len() });
            Ok(Arc::new(encode_by_rows(layout, layout.size.height, rows_of)?))
        };
        let judge = |planes: &[GrayImage]| compare(whole, planes, layout, (Protocol::Colours, 0));
        let known = self.simulate || matches!(self.task, Task::Recover(_));
        Ok(Outcome {
            before: damaged.map(png).transpose()?,
            after: png(restored)?,
            size: layout.size,
            quality: [damaged.map(judge).transpose()?.flatten(), if known { judge(restored)? } else { None }],
            seconds: 0.0,
        })
    }
}

fn colours(layout: &Layout) -> usize {
    layout.channels - usize::from(layout.has_alpha())
}

/// The same part of every plane.
fn cut(planes: &[GrayImage], corner: (usize, usize), size: Size) -> Result<Vec<GrayImage>> {
    planes.iter().map(|plane| plane.cropped(corner, size)).collect()
}

/// What a camera with `scale` times fewer pixels to a side would have seen; what does not divide is cut off.
fn reduced(planes: &[GrayImage], scale: usize) -> Result<Vec<GrayImage>> {
    let Size { width, height } = planes[0].size();
    let small = Size { width: width / scale, height: height / scale };
    let divisible = Size { width: small.width * scale, height: small.height * scale };
    let reduce = |plane: &GrayImage| {
        let plane = plane.cropped((0, 0), divisible)?;
        Ok(resize(&plane, small, Interpolation::Bicubic, Run::threads(1))?.quantised(BitDepth::Eight))
    };
    planes.iter().map(reduce).collect()
}

/// How near the colours of two pictures are; small ones cannot be compared.
fn compare(
    truth: &[GrayImage],
    found: &[GrayImage],
    layout: &Layout,
    (protocol, shave): (Protocol, usize),
) -> Result<Option<Quality>> {
    let Size { width, height } = truth[0].size();
    if width.min(height) < LEAST_COMPARED + 2 * shave {
        return Ok(None);
    }
    let [truth, found] =
        [truth, found].map(|planes| Planes { planes: planes[..colours(layout)].to_vec(), depth: layout.depth });
    Quality::of(&truth, &found, protocol, shave, Run::threads(1)).map(Some)
}
