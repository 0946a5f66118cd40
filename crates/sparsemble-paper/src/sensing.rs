//! The settings of Table 1 and Fig. 5, and the pictures in blocks that they measure (§IV-A).

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use sparsemble::Matrix;
use sparsemble::degradation::{Dense, Projection};
use sparsemble::image::{BitDepth, GrayImage, WHITE};
use sparsemble::patch::{PatchGrid, Stride, TrainingPatches, remove_means};

use crate::demonstration::{scaled, with_variance};
use crate::printed;

/// What a recovery knows of the means of blocks; see [`sparsemble::restoration::Dc`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Means {
    /// They are transmitted.
    Known,
    /// They are estimated.
    Free,
    /// The training patches keep theirs, so the atoms represent them.
    InAtoms,
}

/// Everything that the numbers depend on but the pictures and the number of draws.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sensing {
    /// √M, the side of a block in pixels.
    pub block_side: usize,
    /// As in [`Settings`](crate::Settings): nearly flat ones are taken out, T are left.
    pub drawn_training_patches: usize,
    /// As in [`Settings`](crate::Settings).
    pub min_variance: f64,
    /// The intensity of white; that of black is 0.
    pub white: f64,
    /// N.
    pub measurements: Vec<usize>,
    /// What Φ is drawn from: `orthonormal`, `gaussian` or `bernoulli`.
    pub projection: String,
    /// What is known of the means.
    pub means: Means,
    /// λ, in training and in testing.
    pub lambda: f64,
    /// K, of all methods but Ex-MLD.
    pub n_atoms: usize,
    /// L.
    pub n_models: usize,
    /// The iterations of Alt-Opt.
    pub iterations: usize,
    /// The levels of Ex-MLD, and the atoms of each of a level's dictionaries.
    pub n_levels: usize,
    /// Whether Ex-MLD takes correlations for coefficients, as if the atoms had unit norm through Φ.
    pub raw_correlations: bool,
    /// The seed of everything that is drawn.
    pub seed: u64,
}

impl Sensing {
    /// Those of the paper and, where it says nothing, those that fit its table best.
    pub fn paper(seed: u64) -> Self {
        Self {
            block_side: printed::PATCH_SIDE,
            drawn_training_patches: printed::TRAINING_PATCHES,
            min_variance: TrainingPatches::default().min_variance,
            white: 1.0,
            measurements: printed::MEASUREMENTS.to_vec(),
            projection: "orthonormal".into(),
            means: Means::Known,
            lambda: printed::RECOVERY_LAMBDA,
            n_atoms: printed::RECOVERY_SIZE,
            n_models: printed::RECOVERY_MODELS,
            iterations: printed::ALT_OPT_ITERATIONS,
            n_levels: printed::LEVELS,
            raw_correlations: false,
            seed,
        }
    }

    /// A small part of the work of one draw: to see that everything is in place.
    pub fn quick(seed: u64) -> Self {
        Self { drawn_training_patches: 4000, n_models: 5, iterations: 5, ..Self::paper(seed) }
    }

    /// Φ. The rows of one draw for a small N are the first of those for a larger N, but for their scale.
    ///
    /// # Errors
    /// If the projection is not known or there are too many measurements.
    pub fn phi(&self, n_measurements: usize, draw: usize) -> Result<Dense<f32>> {
        let seed = self.seed.wrapping_mul(1000).wrapping_add(draw as u64);
        let text = format!("{}:measurements={n_measurements},seed={seed}", self.projection);
        Ok(text.parse::<Projection>()?.matrix(self.block_side * self.block_side)?)
    }

    /// The training patches, M × T.
    ///
    /// # Errors
    /// If a setting is out of range or the pictures have too few patches.
    pub fn training(&self, images: &[GrayImage]) -> Result<Matrix<f32>> {
        self.patches(images, self.means != Means::InAtoms)
    }

    /// The same patches with their means.
    ///
    /// # Errors
    /// As [`training`](Self::training).
    pub fn whole(&self, images: &[GrayImage]) -> Result<Matrix<f32>> {
        self.patches(images, false)
    }

    fn patches(&self, images: &[GrayImage], remove_mean: bool) -> Result<Matrix<f32>> {
        let draw = TrainingPatches {
            side: self.block_side,
            count: self.drawn_training_patches,
            min_variance: 0.0,
            remove_mean,
            unit_norm: false,
            seed: self.seed,
        };
        let varied = with_variance(&draw.draw(images)?, self.min_variance)?;
        Ok(scaled(varied, self.white / WHITE))
    }
}

/// Pictures in blocks side by side.
#[derive(Debug)]
pub struct Blocks {
    /// What the pictures are called.
    pub names: Vec<String>,
    /// The pictures.
    pub pictures: Vec<GrayImage>,
    grids: Vec<PatchGrid>,
    white: f64,
    /// The blocks of all pictures, M × T.
    pub values: Matrix<f32>,
    /// The mean of each.
    pub means: Vec<f64>,
}

impl Blocks {
    /// Cuts the pictures.
    ///
    /// # Errors
    /// If a picture is smaller than a block.
    pub fn cut(settings: &Sensing, pictures: Vec<(String, GrayImage)>) -> Result<Self> {
        let (names, pictures): (Vec<_>, Vec<_>) = pictures.into_iter().unzip();
        let mut grids = Vec::with_capacity(pictures.len());
        let mut values = Vec::new();
        for (name, picture) in names.iter().zip(&pictures) {
            let grid = PatchGrid::new(picture.size(), settings.block_side, Stride::NonOverlapping);
            let grid = grid.with_context(|| name.clone())?;
            values.extend(grid.extract::<f32>(picture)?.into_vec());
            grids.push(grid);
        }
        let n_features = settings.block_side * settings.block_side;
        let count = values.len() / n_features;
        let values = scaled(Matrix::from_columns(values, n_features, count)?, settings.white / WHITE);
        let means = remove_means(&mut values.clone());
        Ok(Self { names, pictures, grids, white: settings.white, values, means })
    }

    /// The pictures of recovered blocks, rounded to 8 bits.
    ///
    /// # Errors
    /// If there are not as many blocks.
    pub fn assemble(&self, blocks: Matrix<f32>) -> Result<Vec<GrayImage>> {
        let blocks = scaled(blocks, WHITE / self.white);
        let (n_features, mut start) = (blocks.rows(), 0);
        let picture = |grid: &PatchGrid| {
            let end = start + n_features * grid.n_patches();
            let values = blocks.as_slice().get(start..end).context("there are fewer blocks than were cut")?;
            start = end;
            let patches = Matrix::from_columns(values.to_vec(), n_features, grid.n_patches())?;
            Ok(grid.assemble(patches.view())?.quantised(BitDepth::Eight))
        };
        self.grids.iter().map(picture).collect()
    }
}
