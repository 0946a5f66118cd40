//! The data folder: what is where, which experiment needs what of it, and what to do if it is not there.
//!
//! None of it but the photograph in `images/cc0` may be redistributed, so it is no part of the repository.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use sparsemble::image::{self, GrayImage};
use sparsemble::matrix_file::{LabelledSamples, read_labelled};

use crate::gallery::PHOTOGRAPH;
use crate::{Experiment, Request, printed};

const TRAINING: &str = "images/train91";
const TRAINING_LIST: &str = "SCSR69.txt";
const BERKELEY: &str = "images/bsds/bsds300_test_gray_png";
const STANDARD: &str = "images/standard";
const FREE: &str = "images/cc0";
const PAIRED_DICTIONARY: &str = "scsr/D_1024_0.15_5.mat";
const CLUSTERING: &str = "clustering";

/// A line of the layout: a place in the data folder, what is there, and for which experiments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The path inside the data folder.
    pub path: &'static str,
    /// What it is.
    pub what: &'static str,
    /// What needs it.
    pub for_what: &'static str,
}

/// The whole layout.
pub const LAYOUT: [Place; 7] = [
    Place {
        path: "images/train91/SCSR69.txt",
        what: "the names of the training images, one a line",
        for_what: "all but table3",
    },
    Place {
        path: "images/train91/*.bmp",
        what: "the training images: those of Yang et al.'s super-resolution toolbox",
        for_what: "all but table3",
    },
    Place {
        path: "images/bsds/bsds300_test_gray_png/*.png",
        what: "the 100 test images of the Berkeley segmentation dataset (BSDS300), grey",
        for_what: "fig1, fig2, fig3",
    },
    Place {
        path: "images/standard/*_512.png, *_256.png",
        what: "barbara, boat, couple, fingerprint, lena, man, straw at 512; house, peppers, cameraman, girl at 256 pixels",
        for_what: "table1, fig5, table2, fig7",
    },
    Place {
        path: "images/cc0/camera.png",
        what: "a photograph free of rights: that of data/cc0 in the repository",
        for_what: "fig5, fig7",
    },
    Place {
        path: "scsr/D_1024_0.15_5.mat",
        what: "the paired dictionary that comes with Yang et al.'s program",
        for_what: "table2",
    },
    Place {
        path: "clustering/*.csv",
        what: "digits_pendigits10992, soybean562, segment2310, satimage6435, usps9298, digits_optdigits5620, each with a \
               column `label`",
        for_what: "table3",
    },
];

/// A data folder that is there.
#[derive(Debug, Clone)]
pub struct DataFolder {
    path: PathBuf,
}

impl DataFolder {
    /// Looks whether there is a folder; nothing is read yet.
    ///
    /// # Errors
    /// If there is none.
    pub fn open(path: &Path) -> Result<Self> {
        ensure!(path.is_dir(), "there is no data folder {}; name it with --data DIR", path.display());
        Ok(Self { path: path.to_path_buf() })
    }

    /// What an experiment needs and the folder does not have: paths inside it.
    pub fn missing(&self, experiment: Experiment, request: &Request) -> Vec<String> {
        let standard = |pictures: &[(&str, &str)]| {
            pictures.iter().map(|(_, file)| format!("{STANDARD}/{file}")).collect::<Vec<_>>()
        };
        let free = format!("{FREE}/{}", PHOTOGRAPH.1);
        let mut needed = if experiment == Experiment::Table3 { Vec::new() } else { self.training_files() };
        match experiment {
            Experiment::Fig1 | Experiment::Fig2 | Experiment::Fig3 => needed.push(BERKELEY.to_owned()),
            Experiment::Table1 => needed.extend(standard(&printed::PICTURES)),
            Experiment::Fig5 | Experiment::Fig7 => {
                needed.extend(standard(&[printed::FIGURE_PICTURE]));
                needed.push(free);
            }
            Experiment::Table2 => {
                needed.extend(standard(&request.enlarging.files()));
                needed.push(PAIRED_DICTIONARY.to_owned());
            }
            Experiment::Fig6 => {}
            Experiment::Table3 => {
                let files = request.grouping.files();
                needed.extend(files.iter().map(|(_, file)| format!("{CLUSTERING}/{file}")));
            }
        }
        needed.retain(|part| !self.path.join(part).exists());
        needed
    }

    /// The list of training images, and what is on it.
    fn training_files(&self) -> Vec<String> {
        let list = format!("{TRAINING}/{TRAINING_LIST}");
        let names = fs::read_to_string(self.path.join(&list)).unwrap_or_default();
        let names = listed(&names).map(|name| format!("{TRAINING}/{name}"));
        std::iter::once(list.clone()).chain(names).collect()
    }

    /// The training image set, in the order of its list.
    ///
    /// # Errors
    /// If a picture cannot be read.
    pub fn training_images(&self) -> Result<Vec<GrayImage>> {
        let folder = self.path.join(TRAINING);
        let list = folder.join(TRAINING_LIST);
        let names = fs::read_to_string(&list).with_context(|| format!("cannot read {}", list.display()))?;
        read_all(listed(&names).map(|name| folder.join(name)), &list)
    }

    /// The test images of the Berkeley segmentation dataset, in the order of their names.
    ///
    /// # Errors
    /// If a picture cannot be read.
    pub fn berkeley_images(&self) -> Result<Vec<GrayImage>> {
        let folder = self.path.join(BERKELEY);
        let entries = fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
        let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "png"));
        paths.sort(); // the order in which a folder is listed differs between machines
        read_all(paths.into_iter(), &folder)
    }

    /// Pictures of the standard collection, by name and file.
    ///
    /// # Errors
    /// If one is not there or cannot be read.
    pub fn standard_images(&self, pictures: &[(&str, &str)]) -> Result<Vec<(String, GrayImage)>> {
        self.named(STANDARD, pictures)
    }

    /// The photograph that is free of rights.
    ///
    /// # Errors
    /// If it is not there or cannot be read.
    pub fn free_image(&self) -> Result<Vec<(String, GrayImage)>> {
        self.named(FREE, &[PHOTOGRAPH])
    }

    /// Where Yang et al.'s paired dictionary is.
    pub fn paired_dictionary(&self) -> PathBuf {
        self.path.join(PAIRED_DICTIONARY)
    }

    /// A data set of Table 3: samples and classes.
    ///
    /// # Errors
    /// If it is not there or cannot be read.
    pub fn labelled(&self, file: &str) -> Result<LabelledSamples<f32>> {
        Ok(read_labelled(self.path.join(CLUSTERING).join(file), Some("label"))?)
    }

    fn named(&self, folder: &str, pictures: &[(&str, &str)]) -> Result<Vec<(String, GrayImage)>> {
        let read =
            |&(name, file): &(&str, &str)| Ok((name.to_owned(), image::read(self.path.join(folder).join(file))?));
        pictures.iter().map(read).collect()
    }
}

/// The names in a list, one a line.
fn listed(names: &str) -> impl Iterator<Item = &str> {
    names.lines().map(str::trim).filter(|name| !name.is_empty())
}

fn read_all(paths: impl Iterator<Item = PathBuf>, place: &Path) -> Result<Vec<GrayImage>> {
    let images = paths.map(|path| Ok(image::read(path)?)).collect::<Result<Vec<_>>>()?;
    ensure!(!images.is_empty(), "{} names no picture", place.display());
    Ok(images)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Enlarging, Grouping, Sensing, Settings};

    fn request(data: &Path) -> Request {
        Request {
            experiments: Experiment::ALL.to_vec(),
            data: data.to_path_buf(),
            parts: data.to_path_buf(),
            settings: Settings::quick(1),
            sensing: Sensing::quick(1),
            draws: 1,
            enlarging: Enlarging::paper(1),
            grouping: Grouping::quick(1),
            threads: 1,
        }
    }

    /// Makes an empty file with its folders.
    fn touch(folder: &Path, part: &str) {
        let path = folder.join(part);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }

    #[test]
    fn what_an_experiment_needs_and_is_not_there_is_named() {
        let folder = tempfile::tempdir().unwrap();
        assert!(DataFolder::open(&folder.path().join("nowhere")).unwrap_err().to_string().contains("--data DIR"));
        let data = DataFolder::open(folder.path()).unwrap();
        let missing = |experiment| data.missing(experiment, &request(folder.path()));
        assert_eq!(missing(Experiment::Table3), ["clustering/soybean562.csv"]);
        assert_eq!(missing(Experiment::Fig6), ["images/train91/SCSR69.txt"]);
        fs::create_dir_all(folder.path().join(TRAINING)).unwrap();
        fs::write(folder.path().join(TRAINING).join(TRAINING_LIST), "t1.bmp\n\nt2.bmp\n").unwrap();
        touch(folder.path(), "images/train91/t1.bmp");
        assert_eq!(missing(Experiment::Fig1), ["images/train91/t2.bmp", BERKELEY]);
        touch(folder.path(), "images/train91/t2.bmp");
        assert_eq!(missing(Experiment::Fig6), [""; 0]);
        assert_eq!(missing(Experiment::Fig7), ["images/standard/man_512.png", "images/cc0/camera.png"]);
        assert_eq!(missing(Experiment::Table1).len(), 8);
        assert_eq!(missing(Experiment::Table2).last().map(String::as_str), Some(PAIRED_DICTIONARY));
    }

    #[test]
    fn a_picture_that_cannot_be_read_is_named() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join(TRAINING)).unwrap();
        fs::write(folder.path().join(TRAINING).join(TRAINING_LIST), "t1.bmp\n").unwrap();
        fs::create_dir_all(folder.path().join(BERKELEY)).unwrap();
        let data = DataFolder::open(folder.path()).unwrap();
        assert!(format!("{:#}", data.training_images().unwrap_err()).contains("t1.bmp"));
        let message = format!("{:#}", data.standard_images(&[("Lena", "lena_512.png")]).unwrap_err());
        assert!(message.contains("images/standard/lena_512.png"), "{message}");
        assert!(data.berkeley_images().unwrap_err().to_string().contains("names no picture"));
    }

    #[test]
    fn the_layout_has_every_file_that_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataFolder::open(folder.path()).unwrap();
        let request = Request { grouping: Grouping::paper(1), ..request(folder.path()) };
        let layout: String = LAYOUT.map(|place| format!("{} {}\n", place.path, place.what)).concat();
        for part in Experiment::ALL.into_iter().flat_map(|experiment| data.missing(experiment, &request)) {
            let file = part.rsplit('/').next().unwrap();
            let name = file.split(['.', '_']).next().unwrap();
            assert!(layout.contains(&part) || layout.contains(name), "{part}");
        }
    }
}
