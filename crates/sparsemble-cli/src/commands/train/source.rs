//! Where the samples come from: patches of pictures, or the rows of matrices.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use sparsemble::image;
use sparsemble::matrix_file::{self, MatrixFile, is_matrix_file};
use sparsemble::patch::TrainingPatches;
use sparsemble::{Error, Matrix, MatrixView, Scalar};

use crate::args::{Dtype, PatchArguments, TrainArguments};
use crate::failure::Usage;
use crate::output::warn;
use crate::pictures::pictures_of;
use crate::progress::Progress;

/// How many sources a description names.
const NAMED: usize = 5;

/// The files to read.
pub(super) enum Sources {
    Pictures(Vec<PathBuf>),
    Matrices(Vec<PathBuf>),
}

/// Samples to train on, and what to say of them.
pub(super) struct Samples<T> {
    values: Values<T>,
    pub(super) description: String,
    /// What was done to them.
    pub(super) parameters: BTreeMap<String, String>,
}

enum Values<T> {
    File(MatrixFile<T>),
    Memory(Matrix<T>),
}

impl<T: Scalar> Samples<T> {
    /// Samples in memory.
    pub(super) fn new(values: Matrix<T>, description: String, parameters: BTreeMap<String, String>) -> Self {
        Self { values: Values::Memory(values), description, parameters }
    }

    pub(super) fn view(&self) -> MatrixView<'_, T> {
        match &self.values {
            Values::File(file) => file.view(),
            Values::Memory(matrix) => matrix.view(),
        }
    }
}

impl Sources {
    /// Looks into folders and tells pictures from matrices.
    pub(super) fn find(TrainArguments { sources, masses, patches, .. }: &TrainArguments) -> Result<Self> {
        let (matrices, rest): (Vec<PathBuf>, _) =
            sources.iter().cloned().partition(|path| is_matrix_file(path) && !path.is_dir());
        if matrices.is_empty() {
            if masses.is_some() {
                let message = "--masses is for the rows of matrices; patches of pictures count alike, so leave it out";
                return Err(Usage(message.into()).into());
            }
            return Ok(Self::Pictures(pictures_of(&rest)?));
        }
        if let Some(picture) = rest.first() {
            bail!("{} is no matrix, but other sources are; train on pictures or on matrices", picture.display());
        }
        for (given, option) in [
            (patches.samples.is_some(), "--samples"),
            (patches.min_variance.is_some(), "--min-variance"),
            (patches.keep_mean, "--keep-mean"),
            (patches.keep_norm, "--keep-norm"),
        ] {
            if given {
                let message = format!("{option} is for pictures; matrices are taken as they are, so leave it out");
                return Err(Usage(message).into());
            }
        }
        // The same words may be used for pictures and for the matrix of their patches.
        if patches.patch.is_some() {
            warn("--patch is for pictures and does nothing here; matrices are taken as they are")?;
        }
        Ok(Self::Matrices(matrices))
    }

    /// The type of numbers that holds what the sources have.
    pub(super) fn dtype(&self) -> Result<Dtype> {
        let Self::Matrices(matrices) = self else { return Ok(Dtype::F32) };
        for matrix in matrices {
            if matrix_file::dtype(matrix)? == f64::NAME {
                return Ok(Dtype::F64);
            }
        }
        Ok(Dtype::F32)
    }

    pub(super) fn read<T: Scalar>(
        &self,
        patches: &PatchArguments,
        seed: u64,
        progress: &Progress,
    ) -> Result<Samples<T>> {
        match self {
            Self::Pictures(pictures) => draw(pictures, patches, seed, progress),
            Self::Matrices(matrices) => {
                let description = format!("rows of {}", names(matrices));
                Ok(Samples { values: rows(matrices, progress)?, description, parameters: BTreeMap::new() })
            }
        }
    }
}

/// One matrix as it is, several one after the other.
fn rows<T: Scalar>(paths: &[PathBuf], progress: &Progress) -> Result<Values<T>> {
    let read = |path: &PathBuf| progress.reading("reading", |run| matrix_file::read_watched::<T>(path, run));
    if let [path] = paths {
        return Ok(Values::File(read(path)?));
    }
    let mut values = Vec::new();
    let mut shape: Option<(usize, usize)> = None;
    for path in paths {
        let file = read(path)?;
        let (n_features, n_samples) = (file.n_features(), file.n_samples());
        let (expected, before) = shape.unwrap_or((n_features, 0));
        if n_features != expected {
            bail!("{} has {n_features} columns, the sources before it {expected}", path.display());
        }
        values.extend(file.to_matrix().into_vec());
        shape = Some((expected, before + n_samples));
    }
    let (rows, columns) = shape.context("no source was given")?;
    Ok(Values::Memory(Matrix::from_columns(values, rows, columns)?))
}

/// Patches at random places of all pictures.
fn draw<T: Scalar>(paths: &[PathBuf], patches: &PatchArguments, seed: u64, progress: &Progress) -> Result<Samples<T>> {
    let pictures = progress.counted(paths, |path: &PathBuf| Ok(image::read(path)?))?;
    let default = TrainingPatches::default();
    let draw = TrainingPatches {
        side: patches.patch.unwrap_or(default.side),
        count: patches.samples.unwrap_or(default.count),
        min_variance: patches.min_variance.unwrap_or(default.min_variance),
        remove_mean: !patches.keep_mean,
        unit_norm: !patches.keep_norm,
        seed,
    };
    let drawn = match draw.draw(&pictures) {
        // All there are, unless the user has asked for more.
        Err(Error::TooFewSamples { found, .. }) if patches.samples.is_none() && found > 0 => {
            TrainingPatches { count: found, ..draw }.draw(&pictures)?
        }
        drawn => drawn?,
    };
    let mean = if patches.keep_mean { "" } else { ", mean removed" };
    let norm = if patches.keep_norm { "" } else { ", unit norm" };
    let parameters = [
        ("patch", draw.side.to_string()),
        ("min_variance", draw.min_variance.to_string()),
        ("remove_mean", draw.remove_mean.to_string()),
        ("unit_norm", draw.unit_norm.to_string()),
    ];
    let description = format!(
        "{} patches of {side} × {side} pixels of {}{mean}{norm}",
        drawn.columns(),
        names(paths),
        side = draw.side
    );
    Ok(Samples::new(drawn, description, parameters.map(|(name, value)| (name.to_owned(), value)).into()))
}

/// The sources by name, if they are few.
pub(super) fn names(paths: &[PathBuf]) -> String {
    let name = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let named: Vec<String> = paths.iter().take(NAMED).map(name).collect();
    let more = if paths.len() > NAMED { format!(" and {} more", paths.len() - NAMED) } else { String::new() };
    format!("{}{more}", named.join(", "))
}
