//! What every contender is put through.

use std::time::Instant;

use anyhow::Result;
use sparsemble::image::{self, BitDepth, GrayImage};
use sparsemble::metrics::psnr;
use sparsemble::patch::{PatchGrid, Stride, TrainingPatches, add_means, mosaic, remove_means};
use sparsemble::recipe::TrainingSet;
use sparsemble::{Matrix, MatrixView, Run};

use super::contenders::Contender;
use crate::photographs::{self, PHOTO};
use crate::progress::Progress;

/// The side of a patch in pixels, the distance between patches, and the patches to train on.
pub(super) const SIDE: usize = 8;
pub(super) const STRIDE: usize = 4;
pub(super) const N_TRAINING: usize = 20_000;

/// The photograph, its patches, and those of other photographs.
pub(super) struct Trial {
    pub(super) photo: GrayImage,
    grid: PatchGrid,
    patches: Matrix<f32>,
    means: Vec<f64>,
    training: Matrix<f32>,
}

/// How a contender did.
pub(super) struct Outcome {
    pub(super) name: &'static str,
    pub(super) slug: &'static str,
    pub(super) picture: GrayImage,
    pub(super) psnr: f64,
    pub(super) atoms_per_patch: f64,
    pub(super) worst_gap: Option<f64>,
    pub(super) unconverged: usize,
    /// Spent on training.
    pub(super) training_seconds: f64,
    /// Spent on coding alone.
    pub(super) seconds: f64,
    /// The atoms of its first dictionary as a picture.
    pub(super) mosaic: GrayImage,
}

impl Outcome {
    pub(super) fn file(&self) -> String {
        format!("{}.png", self.slug)
    }

    /// The picture of its first dictionary.
    pub(super) fn atoms_file(&self) -> String {
        format!("{}-atoms.png", self.slug)
    }
}

impl Trial {
    pub(super) fn prepare() -> Result<Self> {
        let draw = TrainingPatches { side: SIDE, count: N_TRAINING, ..Default::default() };
        let training = draw.draw(&photographs::training()?)?;
        let photo = image::decode(PHOTO)?;
        let grid = PatchGrid::new(photo.size(), SIDE, Stride::Every(STRIDE))?;
        let mut patches = grid.extract(&photo)?;
        let means = remove_means(&mut patches);
        Ok(Self { photo, grid, patches, means, training })
    }

    pub(super) fn n_patches(&self) -> usize {
        self.grid.n_patches()
    }

    pub(super) fn run(&self, contenders: &[Contender], threads: usize) -> Result<Vec<Outcome>> {
        let progress = Progress::start("")?;
        contenders.iter().map(|contender| self.challenge(contender, threads, &progress)).collect()
    }

    /// Trains a model, codes all patches with it and rebuilds the picture.
    fn challenge(&self, contender: &Contender, threads: usize, progress: &Progress) -> Result<Outcome> {
        let tell = |done: usize, total: usize| progress.tell_of(contender.name, done, total);
        let run = Run::threads(threads).on_progress(&tell);
        let recipe = &contender.recipe;
        let start = Instant::now();
        let model = recipe.train(TrainingSet::new(self.training.view()), &mut |_, _| Ok(()), run)?.model;
        let training_seconds = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let coding = model.transform(self.patches.view(), &recipe.coder, run)?;
        let seconds = start.elapsed().as_secs_f64();

        let mut approximations = model.reconstruct(&coding.codes, run)?;
        add_means(&mut approximations, &self.means)?;
        let picture = self.grid.assemble(approximations.view())?.quantised(BitDepth::Eight);
        let atoms = model.atoms();
        let first = &atoms.as_slice()[..SIDE * SIDE * recipe.n_atoms];
        let first = MatrixView::from_columns(first, SIDE * SIDE, recipe.n_atoms)?;
        Ok(Outcome {
            name: contender.name,
            slug: contender.slug,
            psnr: psnr(&self.photo, &picture)?,
            picture,
            atoms_per_patch: coding.codes.n_nonzero() as f64 / self.n_patches() as f64,
            worst_gap: coding.report.worst_gap,
            unconverged: coding.report.unconverged(),
            training_seconds,
            seconds,
            mosaic: mosaic(first, SIDE)?,
        })
    }
}
