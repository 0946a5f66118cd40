//! Folders of pictures and of measurements, and which picture belongs to which.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// What a picture in a folder is called; a picture that is named itself may be called anything.
const PICTURES: [&str; 12] = ["bmp", "jpeg", "jpg", "pam", "pbm", "pgm", "png", "pnm", "ppm", "tif", "tiff", "webp"];

/// What measurements in a folder are called.
const MEASUREMENTS: [&str; 4] = ["csv", "mat", "npy", "npz"];

/// Files as they are, and the pictures of folders.
pub(crate) fn pictures_of(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    files_of(paths, "picture", &PICTURES)
}

/// Files as they are, and the measurements of folders.
pub(crate) fn measurements_of(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    files_of(paths, "measurements", &MEASUREMENTS)
}

/// The pictures of a folder, by name.
pub(crate) fn pictures_in(folder: &Path) -> Result<Vec<PathBuf>> {
    files_in(folder, "picture", &PICTURES)
}

fn files_of(paths: &[PathBuf], what: &str, endings: &[&str]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() { files.extend(files_in(path, what, endings)?) } else { files.push(path.clone()) }
    }
    Ok(files)
}

/// The files of a folder that are called so, by name.
fn files_in(folder: &Path, what: &str, endings: &[&str]) -> Result<Vec<PathBuf>> {
    let unreadable = || format!("cannot read the folder {}", folder.display());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(unreadable)? {
        let path = entry.with_context(unreadable)?.path();
        let extension = path.extension().and_then(|extension| extension.to_str()).map(str::to_ascii_lowercase);
        if extension.is_some_and(|extension| endings.contains(&extension.as_str())) && path.is_file() {
            files.push(path);
        }
    }
    if files.is_empty() {
        bail!("the folder {} holds no {what} ({})", folder.display(), endings.join(", "));
    }
    files.sort();
    Ok(files)
}

/// Whether these paths ask for several results, even if there is but one picture.
pub(crate) fn are_many(paths: &[PathBuf]) -> bool {
    paths.len() > 1 || paths.iter().any(|path| path.is_dir())
}

/// The reference itself, or the file in its folder whose name that of the picture begins with; the longest of several.
pub(crate) fn reference_of(image: &Path, reference: &Path) -> Result<PathBuf> {
    if !reference.is_dir() {
        return Ok(reference.to_owned());
    }
    let stem = |path: &Path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let name = stem(image);
    let fitting = pictures_in(reference)?.into_iter().filter(|path| name.starts_with(&stem(path)));
    match fitting.max_by_key(|path| stem(path).len()) {
        Some(path) => Ok(path),
        None => bail!("no picture in {} has a name that {name} begins with", reference.display()),
    }
}
