//! The data folder: where its pictures are, and what to do if they are not there.
//!
//! | place in the folder | what |
//! | --- | --- |
//! | `images/train91/SCSR69.txt` | the names of the training images, one a line |
//! | `images/train91/*.bmp` | the training images: those of Yang et al.'s super-resolution toolbox (§II-B) |
//! | `images/bsds/bsds300_test_gray_png/*.png` | the 100 test images of the Berkeley segmentation dataset (§II-B) |
//! | `images/standard/*.png` | the pictures of Tables 1 and 2 and Fig. 5 (§IV), looked for when one of these is run |
//! | `scsr/D_1024_0.15_5.mat` | the paired dictionary that comes with Yang et al.'s program, for Table 2 |
//! | `clustering/*.csv` | the data sets of Table 3, with a column `label` |
//! | `images/cc0/camera.png` | a photograph free of rights, for Fig. 5 |
//!
//! None of them but the last may be redistributed, so they are no part of the repository.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use sparsemble::image::{self, GrayImage};
use sparsemble::matrix_file::{LabelledSamples, read_labelled};

const TRAINING: &str = "images/train91";
const TRAINING_LIST: &str = "SCSR69.txt";
const STANDARD: &str = "images/standard";
const PAIRED_DICTIONARY: &str = "scsr/D_1024_0.15_5.mat";
const CLUSTERING: &str = "clustering";
const FREE: &str = "images/cc0";
const BERKELEY: &str = "images/bsds/bsds300_test_gray_png";

/// A data folder that is there.
#[derive(Debug, Clone)]
pub struct DataFolder {
    path: PathBuf,
}

impl DataFolder {
    /// Looks whether the folder has what the experiments need; nothing is read yet.
    ///
    /// # Errors
    /// If a part is missing: the message names it.
    pub fn open(path: &Path) -> Result<Self> {
        ensure!(path.is_dir(), "there is no data folder {}; name it with --data DIR", path.display());
        let list = format!("{TRAINING}/{TRAINING_LIST}");
        for (part, what) in [
            (TRAINING, "the training images of Yang et al.'s super-resolution toolbox"),
            (&list, "the names of the training images, one a line"),
            (BERKELEY, "the grey test images of the Berkeley segmentation dataset (BSDS300)"),
        ] {
            ensure!(
                path.join(part).exists(),
                "the data folder {} has no {part} ({what}); name another with --data DIR",
                path.display()
            );
        }
        Ok(Self { path: path.to_path_buf() })
    }

    /// A folder of which only the data sets are needed.
    ///
    /// # Errors
    /// If it has none.
    pub fn of_tables(path: &Path) -> Result<Self> {
        ensure!(
            path.join(CLUSTERING).is_dir(),
            "the data folder {} has no {CLUSTERING} (the data sets of Table 3); name another with --data DIR",
            path.display()
        );
        Ok(Self { path: path.to_path_buf() })
    }

    /// The training image set, in the order of its list.
    ///
    /// # Errors
    /// If a picture cannot be read.
    pub fn training_images(&self) -> Result<Vec<GrayImage>> {
        let folder = self.path.join(TRAINING);
        let list = folder.join(TRAINING_LIST);
        let names = fs::read_to_string(&list).with_context(|| format!("cannot read {}", list.display()))?;
        let names = names.lines().map(str::trim).filter(|name| !name.is_empty());
        read_all(names.map(|name| folder.join(name)), &list)
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

    /// Pictures free of rights, by name and file.
    ///
    /// # Errors
    /// If one is not there or cannot be read.
    pub fn free_images(&self, pictures: &[(&str, &str)]) -> Result<Vec<(String, GrayImage)>> {
        self.named(FREE, pictures)
    }

    /// The file of Yang et al.'s paired dictionary.
    ///
    /// # Errors
    /// If it is not there.
    pub fn paired_dictionary(&self) -> Result<PathBuf> {
        let path = self.path.join(PAIRED_DICTIONARY);
        ensure!(
            path.exists(),
            "the data folder {} has no {PAIRED_DICTIONARY} (the dictionary of Yang et al.'s super-resolution toolbox); \
             name another with --data DIR",
            self.path.display()
        );
        Ok(path)
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

fn read_all(paths: impl Iterator<Item = PathBuf>, place: &Path) -> Result<Vec<GrayImage>> {
    let images = paths.map(|path| Ok(image::read(path)?)).collect::<Result<Vec<_>>>()?;
    ensure!(!images.is_empty(), "{} names no picture", place.display());
    Ok(images)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_part_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let message = |path: &Path| DataFolder::open(path).unwrap_err().to_string();
        assert!(message(&folder.path().join("nowhere")).contains("--data DIR"));
        assert!(DataFolder::of_tables(folder.path()).unwrap_err().to_string().contains(CLUSTERING));
        assert!(message(folder.path()).contains(TRAINING));
        fs::create_dir_all(folder.path().join(TRAINING)).unwrap();
        assert!(message(folder.path()).contains("SCSR69.txt"));
        fs::write(folder.path().join(TRAINING).join(TRAINING_LIST), "t1.bmp\n\n").unwrap();
        assert!(message(folder.path()).contains(BERKELEY));
        fs::create_dir_all(folder.path().join(BERKELEY)).unwrap();

        let data = DataFolder::open(folder.path()).unwrap();
        assert!(format!("{:#}", data.training_images().unwrap_err()).contains("t1.bmp"));
        let message = format!("{:#}", data.standard_images(&[("Lena", "lena_512.png")]).unwrap_err());
        assert!(message.contains("images/standard/lena_512.png"), "{message}");
        assert!(data.paired_dictionary().unwrap_err().to_string().contains(PAIRED_DICTIONARY));
        assert!(data.berkeley_images().unwrap_err().to_string().contains("names no picture"));
    }
}
