//! The cells of a table on disk, a line of JSON each, so that a run that was stopped goes on where it was.
//!
//! The first line holds the settings. Each further line is written when its cell is finished, so that being killed costs
//! the cell at work and no other.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::parts::write;
use crate::recovery::Contender;

/// A cell of Table 1: one method with one Φ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The number of the draw of Φ, from 0.
    pub draw: usize,
    /// N.
    pub n_measurements: usize,
    /// The method.
    pub contender: Contender,
    /// The PSNR of each picture, in dB.
    pub psnr: Vec<f64>,
    /// The wall-clock time of training, if it was needed, and recovery.
    pub seconds: f64,
}

/// A file of cells that were all made with the same settings.
#[derive(Debug)]
pub struct Cells<C> {
    path: PathBuf,
    cells: Vec<C>,
}

impl<C: Serialize + DeserializeOwned> Cells<C> {
    /// The cells in a file, which is made if it is not there. The key holds all that a cell depends on but its own fields.
    ///
    /// # Errors
    /// If the file has other settings, is not of this kind, or cannot be read or written.
    pub fn open(path: &Path, key: &Value) -> Result<Self> {
        let header = format!("{}\n", json!({ "settings": key }));
        let mut cells = Vec::new();
        let mut text = header.clone();
        if path.exists() {
            let kept = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
            let mut lines = kept.lines();
            expect_settings(path, lines.next().unwrap_or_default(), key)?;
            // A line that cannot be read is one that was being written when the run was killed.
            cells.extend(lines.filter_map(|line| serde_json::from_str::<C>(line).ok()));
            text = header + &cells.iter().map(line).collect::<Result<String>>()?;
        }
        write(path, &text)?;
        Ok(Self { path: path.to_path_buf(), cells })
    }

    /// The cell of which this is true, if it is finished.
    pub fn find(&self, is_it: impl Fn(&C) -> bool) -> Option<&C> {
        self.cells.iter().find(|cell| is_it(cell))
    }

    /// Keeps a finished cell.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn push(&mut self, cell: C) -> Result<()> {
        let line = line(&cell)?;
        let append = || {
            let mut file = OpenOptions::new().append(true).open(&self.path)?;
            file.write_all(line.as_bytes())?;
            file.sync_data()
        };
        append().with_context(|| format!("cannot write {}", self.path.display()))?;
        self.cells.push(cell);
        Ok(())
    }
}

impl Cells<Cell> {
    /// The cell, if it is finished.
    pub fn get(&self, draw: usize, n_measurements: usize, contender: Contender) -> Option<&Cell> {
        self.find(|cell| (cell.draw, cell.n_measurements, cell.contender) == (draw, n_measurements, contender))
    }
}

fn line<C: Serialize>(cell: &C) -> Result<String> {
    Ok(serde_json::to_string(cell)? + "\n")
}

/// Refuses cells of other settings, and names what differs.
fn expect_settings(path: &Path, header: &str, key: &Value) -> Result<()> {
    let remedy = "choose another folder with --output DIR, or remove the file to start anew";
    let kept: Value = serde_json::from_str(header).unwrap_or_default();
    let Some(kept) = kept.get("settings") else {
        bail!("{} does not hold the cells of a table; {remedy}", path.display());
    };
    let different: Vec<&str> = match (kept.as_object(), key.as_object()) {
        (Some(kept), Some(key)) => {
            key.iter().filter(|(name, value)| kept.get(*name) != Some(value)).map(|(name, _)| name.as_str()).collect()
        }
        _ => vec!["everything"],
    };
    if different.is_empty() && kept == key {
        return Ok(());
    }
    bail!("{} is of a run with other settings ({}); {remedy}", path.display(), different.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(draw: usize, psnr: f64) -> Cell {
        Cell { draw, n_measurements: 8, contender: Contender::BoostKm, psnr: vec![psnr, 0.1 + 0.2], seconds: 1.5 }
    }

    #[test]
    fn finished_cells_come_back_and_a_torn_line_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let (path, key) = (folder.path().join("deep/cells.jsonl"), json!({ "seed": 1, "lambda": 0.1 }));
        let mut cells = Cells::open(&path, &key).unwrap();
        cells.push(cell(0, 23.5)).unwrap();
        cells.push(cell(1, 24.5)).unwrap();
        let whole = fs::read_to_string(&path).unwrap();
        assert_eq!(whole.lines().count(), 3);
        // Killed within the third line: the second draw is lost, and what is written next is whole.
        fs::write(&path, &whole[..whole.len() - 9]).unwrap();
        let mut cells = Cells::open(&path, &key).unwrap();
        assert_eq!(cells.get(0, 8, Contender::BoostKm), Some(&cell(0, 23.5)));
        assert_eq!(cells.get(1, 8, Contender::BoostKm), None);
        assert_eq!(cells.get(0, 16, Contender::BoostKm), None);
        assert_eq!(cells.get(0, 8, Contender::ExMld), None);
        cells.push(cell(2, 25.5)).unwrap();
        let cells = Cells::open(&path, &key).unwrap();
        assert_eq!(cells.get(2, 8, Contender::BoostKm), Some(&cell(2, 25.5)));
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 3);
    }

    #[test]
    fn cells_of_other_settings_are_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cells.jsonl");
        Cells::open(&path, &json!({ "seed": 1, "lambda": 0.1 })).unwrap().push(cell(0, 1.0)).unwrap();
        let before = fs::read(&path).unwrap();
        let message = |key: Value| Cells::<Cell>::open(&path, &key).unwrap_err().to_string();
        assert!(message(json!({ "seed": 2, "lambda": 0.1 })).contains("other settings (seed); choose another folder"));
        assert!(message(json!({ "lambda": 0.1 })).contains("other settings"));
        assert_eq!(fs::read(&path).unwrap(), before);
        fs::write(&path, "something else\n").unwrap();
        assert!(message(json!({})).contains("does not hold the cells of a table"));
    }
}
