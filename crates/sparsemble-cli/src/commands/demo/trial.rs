//! What every coder is put through.

use std::ops::ControlFlow;
use std::time::Instant;

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};
use sparsemble::coding::{CodingBasis, Samples};
use sparsemble::image::{self, BitDepth, GrayImage};
use sparsemble::metrics::psnr;
use sparsemble::patch::{PatchGrid, Stride, TrainingPatches, add_means, mosaic, remove_means};
use sparsemble::{Matrix, MatrixView, Run};

use super::contenders::{Contender, N_MODELS};

/// The photographs are part of the program, so that the demo needs no files (all CC0, see data/cc0/README.md).
const PHOTO: &[u8] = include_bytes!("../../../../../data/cc0/camera.png");
const TRAINING: [&[u8]; 2] =
    [include_bytes!("../../../../../data/cc0/chelsea.png"), include_bytes!("../../../../../data/cc0/coffee.png")];

pub(super) const PHOTO_NAME: &str = "camera";
pub(super) const TRAINING_NAMES: [&str; 2] = ["chelsea", "coffee"];

/// The side of a patch in pixels, the distance between patches, and the atoms of a dictionary.
pub(super) const SIDE: usize = 8;
pub(super) const STRIDE: usize = 4;
pub(super) const N_ATOMS: usize = 256;

/// The photograph, its patches and the dictionaries.
pub(super) struct Trial {
    pub(super) photo: GrayImage,
    grid: PatchGrid,
    patches: Matrix<f32>,
    means: Vec<f64>,
    /// The dictionaries one after the other, distinct patches all.
    examples: Matrix<f32>,
}

/// How a coder did.
pub(super) struct Outcome {
    pub(super) name: &'static str,
    pub(super) slug: &'static str,
    pub(super) picture: GrayImage,
    pub(super) psnr: f64,
    pub(super) atoms_per_patch: f64,
    pub(super) worst_gap: Option<f64>,
    pub(super) unconverged: usize,
    /// Spent on coding alone.
    pub(super) seconds: f64,
}

impl Outcome {
    pub(super) fn file(&self) -> String {
        format!("{}.png", self.slug)
    }
}

impl Trial {
    pub(super) fn prepare() -> Result<Self> {
        let training = TRAINING.iter().map(|bytes| image::decode(bytes)).collect::<sparsemble::Result<Vec<_>>>()?;
        let draw = TrainingPatches { side: SIDE, count: N_MODELS * N_ATOMS, unit_norm: true, ..Default::default() };
        let examples = draw.draw(&training)?;
        let photo = image::decode(PHOTO)?;
        let grid = PatchGrid::new(photo.size(), SIDE, Stride::Every(STRIDE))?;
        let mut patches = grid.extract(&photo)?;
        let means = remove_means(&mut patches);
        Ok(Self { photo, grid, patches, means, examples })
    }

    pub(super) fn n_patches(&self) -> usize {
        self.grid.n_patches()
    }

    /// The first dictionary as a picture.
    pub(super) fn mosaic(&self) -> Result<GrayImage> {
        Ok(mosaic(self.dictionary(0)?, SIDE)?)
    }

    pub(super) fn run(&self, contenders: &[Contender], threads: usize) -> Result<Vec<Outcome>> {
        // Draws nothing unless the error stream is a terminal.
        let bar =
            ProgressBar::no_length().with_style(ProgressStyle::with_template("{msg:24} {wide_bar} {percent:>3} %")?);
        let outcomes = contenders.iter().map(|contender| self.challenge(contender, threads, &bar)).collect();
        bar.finish_and_clear();
        outcomes
    }

    /// Codes all patches with one contender and rebuilds the picture.
    fn challenge(&self, contender: &Contender, threads: usize, bar: &ProgressBar) -> Result<Outcome> {
        bar.set_message(contender.name);
        bar.set_length((contender.n_dictionaries * self.n_patches()) as u64);
        let samples = Samples::new(self.patches.view());
        let (mut seconds, mut n_nonzero, mut unconverged) = (0.0, 0, 0);
        let mut worst_gap: Option<f64> = None;
        let mut pictures = Vec::with_capacity(contender.n_dictionaries);
        for index in 0..contender.n_dictionaries {
            let dictionary = self.dictionary(index)?;
            let before = (index * self.n_patches()) as u64;
            let bar = bar.clone();
            let tell = move |done: usize, _: usize| {
                bar.set_position(before + done as u64);
                ControlFlow::Continue(())
            };
            let start = Instant::now();
            let basis = CodingBasis::new(dictionary)?;
            let coding = contender.coder.encode(&basis, &samples, Run::threads(threads).on_progress(&tell))?;
            seconds += start.elapsed().as_secs_f64();
            n_nonzero += coding.codes.n_nonzero();
            unconverged += coding.report.unconverged();
            worst_gap = worst_gap.into_iter().chain(coding.report.worst_gap).reduce(f64::max);
            let mut approximation = coding.codes.approximate(dictionary)?;
            add_means(&mut approximation, &self.means)?;
            pictures.push(self.grid.assemble(approximation.view())?);
        }
        // Putting patches together is linear, so the mean of the pictures is the picture of the mean approximation.
        let picture = GrayImage::mean(&pictures)?.quantised(BitDepth::Eight);
        Ok(Outcome {
            name: contender.name,
            slug: contender.slug,
            psnr: psnr(&self.photo, &picture)?,
            picture,
            atoms_per_patch: n_nonzero as f64 / self.n_patches() as f64,
            worst_gap,
            unconverged,
            seconds,
        })
    }

    fn dictionary(&self, index: usize) -> sparsemble::Result<MatrixView<'_, f32>> {
        let values = SIDE * SIDE * N_ATOMS;
        MatrixView::from_columns(&self.examples.as_slice()[index * values..][..values], SIDE * SIDE, N_ATOMS)
    }
}
