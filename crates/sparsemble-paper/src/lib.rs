//! The experiments of "Ensemble Sparse Models for Image Analysis", repeated: Figs. 1, 2, 3, 5, 6 and 7, and Tables 1, 2 and 3.
//!
//! | file | what |
//! | --- | --- |
//! | `printed.rs` | what the paper prints: settings, numbers, and statements to be judged |
//! | `data.rs` | the data folder |
//! | `demonstration.rs`, `trial.rs` | the patches and the ensembles that Figs. 1, 2 and 3 share |
//! | `sensing.rs`, `recovery.rs` | the blocks and the methods that Table 1 and Fig. 5 share |
//! | `enlarging.rs` | the pairs and the methods that Table 2 and Figs. 6 and 7 share |
//! | `gallery.rs` | the pictures side by side of Figs. 5 and 7 |
//! | `grouping.rs` | the methods of Table 3 |
//! | `fig1.rs`, `fig2.rs`, `fig3.rs`, `table1.rs`, `fig5.rs`, `table2.rs`, `fig6.rs`, `fig7.rs`, `table3.rs` | one experiment each: numbers to an [`Outcome`] |
//! | `work.rs` | what is missing, and one experiment after the other |
//! | `outcome.rs`, `plot.rs` | what comes of it: tables and JSON, SVG |
//! | `document.rs`, `report.rs`, `remarks.rs`, `markup.rs` | the page of all experiments as Markdown, as HTML, what both say in words, and how words get their markup |
//! | `parts.rs`, `cells.rs` | finished parts and the cells of tables, kept on disk |
//!
//! To add one: its name in [`Experiment`], its settings and claims in `printed.rs`, what it needs in `data.rs`, a file of
//! its own, and a line in `work.rs`.

mod cells;
mod data;
mod demonstration;
mod document;
mod enlarging;
pub mod fig1;
pub mod fig2;
pub mod fig3;
pub mod fig5;
pub mod fig6;
pub mod fig7;
mod gallery;
mod grouping;
mod markup;
mod outcome;
mod parts;
pub mod plot;
pub mod printed;
mod recovery;
mod remarks;
mod report;
mod sensing;
pub mod table1;
pub mod table2;
pub mod table3;
mod trial;
mod work;

use std::ops::ControlFlow;
use std::path::PathBuf;

pub use cells::{Cell, Cells};
pub use data::{DataFolder, LAYOUT, Place};
pub use demonstration::{Demonstration, Settings};
pub use document::{Provenance, write_document};
pub use enlarging::{Enlarger, Enlarging, SuperResolution};
pub use gallery::{PHOTOGRAPH, Shown};
pub use grouping::{Grouped, Grouper, Grouping};
pub use outcome::{Comparison, Entry, Outcome, Statement};
pub use parts::{Parts, Trained, write};
pub use recovery::{Contender, Known, Recovery};
pub use report::{Report, report};
pub use sensing::{Blocks, Means, Sensing};
pub use trial::{Method, TrainingRound, Trial};
pub use work::{Omitted, run, run_each, survey};

/// An experiment of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Experiment {
    /// Oracle weights under four constraints (§II-B).
    Fig1,
    /// The three methods and their best members (§III-C).
    Fig2,
    /// The error against the number of models (§III-C).
    Fig3,
    /// Compressive recovery in numbers (§IV-A2).
    Table1,
    /// Compressive recovery in pictures (§IV-A2).
    Fig5,
    /// Super-resolution in numbers (§IV-B).
    Table2,
    /// The time of training for super-resolution (§IV-B).
    Fig6,
    /// Super-resolution in pictures (§IV-B).
    Fig7,
    /// Clustering in numbers (§V).
    Table3,
}

impl Experiment {
    /// In the paper's order.
    pub const ALL: [Self; 9] = [
        Self::Fig1,
        Self::Fig2,
        Self::Fig3,
        Self::Table1,
        Self::Fig5,
        Self::Table2,
        Self::Fig6,
        Self::Fig7,
        Self::Table3,
    ];

    /// As it is typed, and the name of its files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fig1 => "fig1",
            Self::Fig2 => "fig2",
            Self::Fig3 => "fig3",
            Self::Table1 => "table1",
            Self::Fig5 => "fig5",
            Self::Table2 => "table2",
            Self::Fig6 => "fig6",
            Self::Fig7 => "fig7",
            Self::Table3 => "table3",
        }
    }

    /// As the paper writes it.
    pub fn label(self) -> String {
        let name = self.name();
        let (kind, number) = name.split_at(name.len() - 1);
        format!("{} {number}", if kind == "fig" { "Fig." } else { "Table" })
    }
}

/// What is asked for.
#[derive(Debug, Clone)]
pub struct Request {
    /// Which experiments.
    pub experiments: Vec<Experiment>,
    /// The data folder.
    pub data: PathBuf,
    /// Where finished parts are kept.
    pub parts: PathBuf,
    /// The settings of Figs. 1, 2 and 3.
    pub settings: Settings,
    /// The settings of Table 1 and Fig. 5.
    pub sensing: Sensing,
    /// How many Φ Table 1 is averaged over.
    pub draws: usize,
    /// The settings of Table 2 and Fig. 6.
    pub enlarging: Enlarging,
    /// The settings of Table 3.
    pub grouping: Grouping,
    /// As for [`sparsemble::Run::threads`].
    pub threads: usize,
}

/// Told what is being done and how much of it is; asked whether to go on.
pub type Watch<'a> = dyn Fn(&str, usize, usize) -> ControlFlow<()> + 'a;
