//! Running the program, and what it is given.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use sparsemble::matrix_file;
use sparsemble::{Matrix, Scalar};
use tempfile::TempDir;

/// A folder to run the program in.
pub(crate) struct Program {
    folder: TempDir,
}

impl Program {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// A folder that holds `samples.npy`: 300 samples of 16 features.
    pub(crate) fn with_samples<T: Scalar>() -> Self {
        let program = Self::new();
        matrix_file::write(program.path("samples.npy"), samples::<T>().view()).unwrap();
        program
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// The names of all files, sorted.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The program with these words, for whoever wants to start it himself.
    pub(crate) fn command(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sparsemble"));
        command.args(words.split_whitespace()).current_dir(self.folder.path());
        command
    }

    pub(crate) fn run(&self, words: &str) -> Output {
        self.command(words).output().unwrap()
    }

    /// What a run that succeeds prints, and its warnings.
    pub(crate) fn succeed(&self, words: &str) -> (String, String) {
        let output = self.run(words);
        let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        assert!(output.status.success(), "{words}: {err}");
        (out, err)
    }

    /// The object that a run with `--json` prints.
    pub(crate) fn json(&self, words: &str) -> Value {
        serde_json::from_str(&self.succeed(&format!("{words} --json")).0).unwrap()
    }

    /// What such a run says of its only picture.
    pub(crate) fn picture(&self, words: &str) -> Value {
        let mut object = self.json(words);
        assert_eq!(object["pictures"].as_array().unwrap().len(), 1, "{object}");
        object["pictures"][0].take()
    }

    /// The one line of a run that fails with this exit code.
    pub(crate) fn fail(&self, words: &str, code: i32) -> String {
        let output = self.run(words);
        let line = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{words}: {line}");
        assert!(output.stdout.is_empty(), "{words}");
        let line = line.strip_prefix("error: ").unwrap().strip_suffix('\n').unwrap();
        assert!(!line.contains('\n'), "{line}");
        line.to_owned()
    }
}

/// Sums of few waves, so that there is something to learn.
pub(crate) fn samples<T: Scalar>() -> Matrix<T> {
    let wave = |r: usize, k: usize| (0.4 * ((r * (k + 1) + 3 * k) as f64)).sin();
    Matrix::from_fn(16, 300, |r, i| T::from_f64(wave(r, i % 9) + 0.5 * wave(r, i % 11) + 0.01 * ((r * i) as f64).cos()))
}

/// A committed photograph.
pub(crate) fn photograph(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/cc0").join(name)
}

/// The EXIF data of a camera: with 6 it was held sideways, and the picture is to be turned by 90 degrees clockwise.
pub(crate) fn exif(orientation: u8) -> Vec<u8> {
    [b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0", &[orientation][..], &[0; 6]].concat()
}
