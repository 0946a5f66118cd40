//! Which file, of which format, and which array in it: `samples.npz:train`.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

use crate::reason::{Outcome, quoted};

/// The formats, told apart by the name of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Npy,
    Npz,
    Csv,
    Mat,
}

impl Format {
    fn of(extension: &str) -> Option<Self> {
        match extension.to_ascii_lowercase().as_str() {
            "npy" => Some(Self::Npy),
            "npz" => Some(Self::Npz),
            "csv" | "tsv" => Some(Self::Csv),
            "mat" => Some(Self::Mat),
            _ => None,
        }
    }

    /// The format of a file of this name.
    pub(super) fn of_path(path: &Path) -> Option<Self> {
        Self::of(path.extension()?.to_str()?)
    }

    /// Whether a file holds arrays by name.
    fn has_names(self) -> bool {
        matches!(self, Self::Npz | Self::Mat)
    }
}

/// A file, its format, and the name of an array in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Location {
    pub(super) path: PathBuf,
    pub(super) format: Format,
    pub(super) name: Option<String>,
}

impl Location {
    pub(super) fn parse(text: &Path) -> Result<Self> {
        if let Some(format) = Format::of_path(text) {
            return Ok(Self { path: text.to_owned(), format, name: None });
        }
        Self::with_name(text).ok_or_else(|| Error::Data {
            name: text.display().to_string(),
            reason: "this is no matrix file; give .npy, .npz (or FILE.npz:NAME), .csv or .mat (or FILE.mat:NAME)"
                .into(),
        })
    }

    /// Splits at the last colon, if what is before it has a format with names.
    fn with_name(text: &Path) -> Option<Self> {
        let (path, name) = text.to_str()?.rsplit_once(':')?;
        let format = Format::of_path(Path::new(path)).filter(|format| format.has_names())?;
        Some(Self { path: path.into(), format, name: Some(name.to_owned()) })
    }
}

/// Chooses among the arrays of a file: the one of this name, or the only one.
pub(super) fn choose(names: &[String], wanted: Option<&str>) -> Outcome<String> {
    match (names, wanted) {
        ([], _) => Err("the file holds no matrix of numbers".into()),
        (_, Some(wanted)) if names.iter().any(|name| name == wanted) => Ok(wanted.to_owned()),
        (_, Some(wanted)) => {
            Err(format!("the file holds no matrix of the name {}; it has {}", quoted(wanted), listed(names)).into())
        }
        ([only], None) => Ok(only.clone()),
        (_, None) => {
            Err(format!("the file holds several matrices; choose one of {} by FILE:NAME", listed(names)).into())
        }
    }
}

/// The first of some names, for a message.
pub(super) fn listed(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let shown: Vec<_> = names.iter().take(SHOWN).map(|name| quoted(name)).collect();
    format!("{}{}", shown.join(", "), if names.len() > SHOWN { ", …" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_what_follows_the_colon_of_a_file_that_has_names() {
        let parsed = |text: &str| Location::parse(Path::new(text)).map(|at| (at.path, at.format, at.name));
        let name = Some("x".to_owned());
        assert_eq!(parsed("a/b.npy").unwrap(), ("a/b.npy".into(), Format::Npy, None));
        assert_eq!(parsed("b.NPZ:x").unwrap(), ("b.NPZ".into(), Format::Npz, name.clone()));
        assert_eq!(parsed("C:/b.mat:x").unwrap(), ("C:/b.mat".into(), Format::Mat, name));
        assert_eq!(parsed("C:b.csv").unwrap(), ("C:b.csv".into(), Format::Csv, None));
        for unknown in ["b.npy:x", "b.png", "b", "", ":"] {
            assert!(parsed(unknown).is_err(), "{unknown}");
        }
    }

    #[test]
    fn the_only_array_needs_no_name_and_several_are_listed() {
        let choose = |names: &[&str], wanted| {
            let names: Vec<_> = names.iter().map(ToString::to_string).collect();
            choose(&names, wanted).map_err(|reason| reason.about_data(Path::new("f")).to_string())
        };
        assert_eq!(choose(&["a"], None).unwrap(), "a");
        assert_eq!(choose(&["a", "b"], Some("b")).unwrap(), "b");
        assert!(choose(&["a", "b"], None).unwrap_err().contains("choose one of \"a\", \"b\" by FILE:NAME"));
        assert!(choose(&["a"], Some("c")).unwrap_err().ends_with("it has \"a\""));
        assert!(choose(&[], None).is_err());
    }
}
