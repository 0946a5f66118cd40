//! The photographs: one enlarged, one measured, one with noise, one with holes.

use anyhow::Result;
use sparsemble::Run;
use sparsemble::degradation::{Blur, Degradation, Mask, PerBlock, Projection, with_white_noise};
use sparsemble::image::{GrayImage, Interpolation, Picture, Size, WHITE, decode_picture, resize};
use sparsemble::metrics::Protocol;
use sparsemble::restoration::super_resolution::{Enlarge, Enlargement, Interpolated, natural_upscaler};
use sparsemble::restoration::{
    BlockMeasurements, CompressiveRecovery, denoise, fill_smoothly, inpaint, natural_gaussians, recover,
};

use super::task::{Answer, Judge, Task, each_plane, part, timed, whole_levels};
use crate::photographs::{ASTRONAUT, CAMERA, CHELSEA, COFFEE};

const SIGMA: f64 = 25.0;
const MISSING: f64 = 0.6;

/// How strong a Gaussian blur may be that takes noise away.
const BLURS: [f64; 5] = [0.8, 1.0, 1.2, 1.4, 1.6];

type Make = for<'a> fn(Run<'a>) -> Result<Task>;

/// What is being done, and how.
pub(super) const ALL: [(&str, Make); 4] = [
    ("enlarging", enlarged),
    ("recovering from measurements", recovered),
    ("removing noise", without_noise),
    ("filling in missing pixels", filled_in),
];

/// Every answer is compared with the colours of the original.
fn colours(original: &Picture) -> Judge<'_> {
    Judge { original, protocol: Protocol::Colours, shave: 0 }
}

fn enlarged(run: Run<'_>) -> Result<Task> {
    let size = Size { width: 450, height: 300 };
    let half = Size { width: 225, height: 150 };
    let original = part(&decode_picture(CHELSEA)?, (0, 0), size)?;
    let small = each_plane(&original, run, |_, plane, _| resize(plane, half, Interpolation::Bicubic, Run::default()))?;
    let small = whole_levels(&small);
    let larger = |method: &dyn Enlarge, run| -> Result<Vec<GrayImage>> {
        let rows = |rows: std::ops::Range<usize>| {
            let strip = |plane: &GrayImage| plane.cropped((rows.start, 0), Size { height: rows.len(), ..half });
            small.planes.iter().map(strip).collect()
        };
        Ok(Enlargement::new(method, half, size)?.rows(0..size.height, &rows, run)?.planes)
    };
    let judge = Judge { original: &original, protocol: Protocol::Brightness, shave: 2 };
    let usual = |name, interpolation| -> Result<Answer> {
        judge.answer(name, &larger(&Interpolated::new(2, interpolation)?, Run::default())?, Run::default())
    };
    let upscaler = natural_upscaler(2)?;
    let (ours, seconds) = timed(|| larger(&&upscaler, run))?;
    let answers = [
        usual("bicubic", Interpolation::Bicubic)?,
        usual("Lanczos", Interpolation::Lanczos3)?,
        judge.answer("sparsemble", &ours, Run::default())?,
    ];
    Ok(Task {
        slug: "enlarge",
        title: "Enlarge a photograph",
        short: "Enlarge",
        what: "enlarge Chelsea twice",
        words: "Chelsea at half her size, made twice as wide and as high again. Six dictionaries, and four more for what these \
                leave over, each choose the atom that is most like what surrounds a pixel; the linear maps that these atoms \
                carry make the larger picture. None of them has seen this photograph.",
        answers,
        inputs: vec![("small", small)],
        original,
        commands: "sparsemble upscale DIR/enlarge-small.png --report larger.html -o larger.png\n\
                   sparsemble eval larger.png --reference DIR/enlarge-original.png --shave 2",
        detail: (62, 112),
        seconds,
    })
}

fn recovered(run: Run<'_>) -> Result<Task> {
    let original = decode_picture(CAMERA)?;
    let plane = &original.planes[0];
    let phi = "orthonormal:measurements=16".parse::<Projection>()?.matrix(64)?;
    let measurements = BlockMeasurements::sense(plane, phi)?;
    // The picture nearest to an even grey that fits.
    let mut nearest = vec![WHITE / 2.0; plane.samples().len()];
    let phi = PerBlock::new(plane.size(), measurements.block_side(), measurements.phi())?;
    phi.reconcile(measurements.values().to_matrix().as_slice(), 0.0, &mut nearest);
    let alone = CompressiveRecovery::default().first_estimate(&measurements, &natural_gaussians()?, Run::default())?;
    let (ours, seconds) = timed(|| Ok(recover(&measurements, 0.0, run)?.image))?;
    let judge = colours(&original);
    let answers = [
        judge.answer("least squares", &[GrayImage::new(plane.size(), nearest)?], Run::default())?,
        judge.answer("block by block", &[alone.image], Run::default())?,
        judge.answer("sparsemble", &[ours], Run::default())?,
    ];
    Ok(Task {
        slug: "recover",
        title: "Recover a photograph from a quarter of its numbers",
        short: "Recover from 25 %",
        what: "recover a photograph from 25 %",
        words: "Of every block of 8 × 8 pixels only sixteen random sums are kept, and nothing else. Least squares finds one of the \
                many pictures that fit them. Local Gaussians find a likely one for each block on its own; turns of a prior that \
                knows how patches repeat, of Gaussians that learn from the picture, and of the measurements, find a likely one for \
                the whole.",
        answers,
        inputs: Vec::new(),
        original,
        commands: "sparsemble sense DIR/recover-original.png --ratio 0.25 -o z.npz\n\
                   sparsemble recover z.npz --reference DIR/recover-original.png --report recovered.html -o recovered.png",
        detail: (60, 150),
        seconds,
    })
}

fn without_noise(run: Run<'_>) -> Result<Task> {
    let original = decode_picture(COFFEE)?;
    let noisy = each_plane(&original, run, |number, plane, _| with_white_noise(plane, SIGMA, number as u64))?;
    let noisy = whole_levels(&noisy);
    let judge = colours(&original);
    let mut blurred: Option<Answer> = None;
    for sigma in BLURS {
        let planes = each_plane(&noisy, Run::default(), |_, plane, _| {
            let mut smooth = vec![0.0; plane.samples().len()];
            Blur::gaussian(plane.size(), sigma)?.apply(plane.samples(), &mut smooth);
            GrayImage::new(plane.size(), smooth)
        })?;
        let answer = judge.answer("Gaussian blur", &planes, Run::default())?;
        blurred = blurred.filter(|best| best.psnr >= answer.psnr).or(Some(answer));
    }
    let clean = |_: usize, plane: &GrayImage, run: Run<'_>| Ok(denoise(plane, SIGMA, run)?.image);
    let (ours, seconds) = timed(|| each_plane(&noisy, run, clean))?;
    let before = judge.answer("noisy", &noisy.planes, Run::default())?;
    let ours = judge.answer("sparsemble", &ours, Run::default())?;
    let blurred = blurred.unwrap_or(Answer { name: "Gaussian blur", picture: noisy, psnr: before.psnr });
    Ok(Task {
        slug: "denoise",
        title: "Remove noise",
        short: "Remove noise",
        what: "remove noise of σ = 25",
        words: "White noise of standard deviation 25, as a file of 8 bits holds it. The Gaussian blur is the best of five, chosen by \
                comparing with the original; what is beside it knows only the noisy picture and how strong the noise is.",
        answers: [before, blurred, ours],
        inputs: Vec::new(),
        original,
        commands: "sparsemble restore DIR/denoise-noisy.png --task denoise --sigma 25 --reference DIR/denoise-original.png \
                   --report clean.html -o clean.png",
        detail: (60, 250),
        seconds,
    })
}

fn filled_in(run: Run<'_>) -> Result<Task> {
    let size = Size { width: 256, height: 256 };
    let original = part(&decode_picture(ASTRONAUT)?, (0, 100), size)?;
    let mask = Mask::random(size.width * size.height, MISSING, 1)?;
    let mut missing = vec![WHITE; size.width * size.height];
    mask.seen().iter().for_each(|&pixel| missing[pixel] = 0.0);
    let missing = GrayImage::new(size, missing)?;
    let holes = each_plane(&original, run, |_, plane, _| {
        GrayImage::from_fn(
            size,
            |row, column| if missing.row(row)[column] > 0.0 { 0.0 } else { plane.row(row)[column] },
        )
    })?;
    let holes = whole_levels(&holes);
    let (ours, seconds) =
        timed(|| each_plane(&holes, run, |_, plane, run| Ok(inpaint(plane, &mask, 0.0, run)?.image)))?;
    let smooth = each_plane(&holes, run, |_, plane, _| fill_smoothly(plane, &mask))?;
    let judge = colours(&original);
    let answers = [
        judge.answer("holes", &holes.planes, Run::default())?,
        judge.answer("smooth filling", &smooth, Run::default())?,
        judge.answer("sparsemble", &ours, Run::default())?,
    ];
    Ok(Task {
        slug: "inpaint",
        title: "Fill in missing pixels",
        short: "Fill in pixels",
        what: "fill in 60 % of the pixels",
        words: "Sixty per cent of the pixels are gone. Smooth filling makes each the mean of its neighbours, from coarse to fine; \
                what patches elsewhere in the picture look like tells the rest.",
        answers,
        inputs: vec![("mask", whole_levels(&[missing]))],
        original,
        commands: "sparsemble restore DIR/inpaint-holes.png --task inpaint --mask DIR/inpaint-mask.png \
                   --reference DIR/inpaint-original.png --report whole.html -o whole.png",
        detail: (40, 60),
        seconds,
    })
}
