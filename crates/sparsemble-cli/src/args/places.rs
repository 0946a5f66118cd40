//! Which of the words are files.

use std::path::{Path, PathBuf};

use super::Command;
use crate::streams::STANDARD;

/// The files that a command reads, its main result, and how the result is to be written if it is printed.
#[derive(Default)]
pub(crate) struct Places<'a> {
    pub(crate) inputs: Vec<&'a mut PathBuf>,
    pub(crate) output: Option<(&'a mut PathBuf, Kind)>,
    pub(crate) format: Option<&'a str>,
    pub(crate) json: bool,
}

/// What a result is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    Picture,
    Samples,
    Codes,
    Measurements,
    Clusters,
    Model,
}

impl Kind {
    /// How the names of its files may end, the usual one first.
    pub(crate) fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Picture => &["png", "jpg", "tif", "bmp", "pnm", "webp"],
            Self::Samples => &["npy", "csv"],
            Self::Codes => &["npz", "npy", "csv"],
            Self::Measurements => &["npz"],
            Self::Clusters => &["csv"],
            Self::Model => &["safetensors"],
        }
    }
}

impl Command {
    /// Its files. The result of what is read from the standard input goes to the standard output by default.
    pub(crate) fn places(&mut self) -> Places<'_> {
        match self {
            Self::Demo(_) | Self::Studio(_) | Self::Completions(_) | Self::Man(_) => Places::default(),
            // It has no result for the standard output, and says so.
            Self::Paper(paper) => Places { format: paper.run.format.as_deref(), ..Places::default() },
            Self::Train(train) => Places {
                inputs: train.sources.iter_mut().chain(&mut train.masses).chain(&mut train.warm_start).collect(),
                output: Some((&mut train.output, Kind::Model)),
                format: train.run.format.as_deref(),
                json: train.run.json,
            },
            Self::Info(info) => Places {
                inputs: vec![&mut info.model],
                output: info.atoms.as_mut().map(|atoms| (atoms, Kind::Picture)),
                format: None,
                json: info.json,
            },
            Self::Encode(encode) => Places {
                inputs: vec![&mut encode.model, &mut encode.samples],
                output: Some((&mut encode.output, Kind::Codes)),
                format: encode.run.format.as_deref(),
                json: encode.run.json,
            },
            Self::Reconstruct(it) => Places {
                inputs: [&mut it.model].into_iter().chain(&mut it.codes).chain(&mut it.samples).collect(),
                output: Some((&mut it.output, Kind::Samples)),
                format: it.run.format.as_deref(),
                json: it.run.json,
            },
            Self::Weights(weights) => Places {
                inputs: vec![&mut weights.model, &mut weights.samples],
                output: Some((&mut weights.output, if weights.per_sample { Kind::Samples } else { Kind::Model })),
                format: weights.run.format.as_deref(),
                json: weights.run.json,
            },
            Self::Cluster(cluster) => {
                if cluster.output.is_none() && cluster.samples == Path::new(STANDARD) {
                    cluster.output = Some(STANDARD.into());
                }
                Places {
                    inputs: vec![&mut cluster.samples],
                    output: cluster.output.as_mut().map(|output| (output, Kind::Clusters)),
                    format: cluster.run.format.as_deref(),
                    json: cluster.run.json,
                }
            }
            Self::Sense(_) | Self::Recover(_) | Self::Restore(_) | Self::Upscale(_) | Self::Eval(_) => self.pictures(),
        }
    }

    /// The same for what is done to pictures.
    fn pictures(&mut self) -> Places<'_> {
        match self {
            Self::Sense(sense) => Places {
                inputs: sense.images.iter_mut().chain(&mut sense.phi).collect(),
                output: Some((&mut sense.output, Kind::Measurements)),
                format: sense.run.format.as_deref(),
                json: sense.run.json,
            },
            Self::Recover(it) => Places {
                inputs: it
                    .measurements
                    .iter_mut()
                    .chain(&mut it.model)
                    .chain(&mut it.phi)
                    .chain(&mut it.means)
                    .chain(&mut it.picture.reference)
                    .collect(),
                output: Some((&mut it.picture.output, Kind::Picture)),
                format: it.run.format.as_deref(),
                json: it.run.json,
            },
            Self::Restore(it) => Places {
                inputs: it.images.iter_mut().chain(&mut it.mask).chain(&mut it.picture.reference).collect(),
                output: Some((&mut it.picture.output, Kind::Picture)),
                format: it.run.format.as_deref(),
                json: it.run.json,
            },
            Self::Upscale(upscale) => {
                if upscale.output.is_none() && upscale.inputs.iter().any(|path| path == Path::new(STANDARD)) {
                    upscale.output = Some(STANDARD.into());
                }
                Places {
                    inputs: upscale.inputs.iter_mut().chain(&mut upscale.model).collect(),
                    output: upscale.output.as_mut().map(|output| (output, Kind::Picture)),
                    format: upscale.run.format.as_deref(),
                    json: upscale.run.json,
                }
            }
            Self::Eval(eval) => Places {
                inputs: eval.images.iter_mut().chain([&mut eval.reference]).collect(),
                json: eval.json,
                ..Places::default()
            },
            _ => Places::default(),
        }
    }
}
