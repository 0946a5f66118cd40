//! Something done to a photograph, and how well.

use std::time::Instant;

use anyhow::Result;
use sparsemble::Run;
use sparsemble::image::{BitDepth, GrayImage, Picture, Size};
use sparsemble::metrics::{Protocol, Quality};

/// A photograph that was damaged, and three answers.
pub(super) struct Task {
    /// In the names of files and in links.
    pub(super) slug: &'static str,
    pub(super) title: &'static str,
    /// What was done, for a row of a table.
    pub(super) what: &'static str,
    /// What was done, for a reader.
    pub(super) words: &'static str,
    pub(super) original: Picture,
    /// What is to be improved on, what is usual, and ours.
    pub(super) answers: [Answer; 3],
    /// What the command needs beside the answers, by the ends of their names.
    pub(super) inputs: Vec<(&'static str, Picture)>,
    /// What to type to do it oneself, with `DIR` for the folder.
    pub(super) commands: &'static str,
    /// The upper left corner of a piece worth seeing.
    pub(super) detail: (usize, usize),
    /// Spent on our answer.
    pub(super) seconds: f64,
}

pub(super) struct Answer {
    pub(super) name: &'static str,
    pub(super) picture: Picture,
    pub(super) psnr: f64,
}

impl Task {
    /// The picture files and their names.
    pub(super) fn files(&self) -> impl Iterator<Item = (String, &Picture)> {
        let answers = self.answers.iter().map(|answer| (self.file(answer.name), &answer.picture));
        let inputs = self.inputs.iter().map(|(name, picture)| (self.file(name), picture));
        answers.chain(inputs).chain([(self.file("original"), &self.original)])
    }

    /// `denoise-gaussian-blur.png`.
    pub(super) fn file(&self, name: &str) -> String {
        format!("{}-{}.png", self.slug, name.to_lowercase().replace(' ', "-"))
    }
}

/// How answers are compared with the original.
pub(super) struct Judge<'a> {
    pub(super) original: &'a Picture,
    pub(super) protocol: Protocol,
    pub(super) shave: usize,
}

impl Judge<'_> {
    /// Planes as a file would hold them, and how near they are.
    pub(super) fn answer(&self, name: &'static str, planes: &[GrayImage], run: Run<'_>) -> Result<Answer> {
        let picture = whole_levels(planes);
        let psnr = Quality::of(self.original, &picture, self.protocol, self.shave, run)?.psnr;
        Ok(Answer { name, picture, psnr })
    }
}

/// The picture that a file of 8 bits holds.
pub(super) fn whole_levels(planes: &[GrayImage]) -> Picture {
    let planes = planes.iter().map(|plane| plane.quantised(BitDepth::Eight)).collect();
    Picture { planes, depth: BitDepth::Eight }
}

/// A part of a picture.
pub(super) fn part(picture: &Picture, corner: (usize, usize), size: Size) -> sparsemble::Result<Picture> {
    let planes = picture.planes.iter().map(|plane| plane.cropped(corner, size)).collect::<sparsemble::Result<_>>()?;
    Ok(Picture { planes, depth: picture.depth })
}

/// What work gives, and how many seconds it takes.
pub(super) fn timed<R>(work: impl FnOnce() -> Result<R>) -> Result<(R, f64)> {
    let started = Instant::now();
    Ok((work()?, started.elapsed().as_secs_f64()))
}

/// Something done to every plane.
pub(super) fn each_plane<'a>(
    picture: &Picture,
    run: Run<'a>,
    mut work: impl FnMut(usize, &GrayImage, Run<'a>) -> sparsemble::Result<GrayImage>,
) -> Result<Vec<GrayImage>> {
    let count = picture.planes.len();
    let planes = picture.planes.iter().enumerate();
    Ok(planes
        .map(|(number, plane)| work(number, plane, run.part(number..number + 1, count)))
        .collect::<sparsemble::Result<_>>()?)
}
