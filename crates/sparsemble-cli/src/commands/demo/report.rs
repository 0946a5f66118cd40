//! The outcomes as a table and as JSON.

use std::path::Path;

use serde_json::{Value, json};

use super::digits::Digits;
use super::task::{Answer, Task};

pub(super) struct Report<'a> {
    pub(super) tasks: &'a [Task],
    pub(super) digits: &'a Digits,
    pub(super) threads: usize,
    pub(super) folder: &'a Path,
}

/// The columns of the table.
pub(super) const HEADINGS: [&str; 5] = ["", "before", "baseline", "sparsemble", "gain"];

/// A line of the table: what was done, and the other columns.
pub(super) type Line = (String, [String; 4]);

impl Report<'_> {
    /// The table, line by line. The gain is over the baseline.
    pub(super) fn lines(&self) -> Vec<Line> {
        let of_task = |task: &Task| {
            let [before, usual, ours] = &task.answers;
            let named = |name: &str, psnr: f64| format!("{name} {psnr:.2} dB");
            let gain = format!("+{:.2} dB", ours.psnr - usual.psnr);
            (
                task.what.to_owned(),
                [named(before.name, before.psnr), named(usual.name, usual.psnr), format!("{:.2} dB", ours.psnr), gain],
            )
        };
        let [ours, k_means] = [&self.digits.ours, &self.digits.k_means].map(|agreement| 100.0 * agreement.accuracy());
        let digits = (
            format!("group {} digits", self.digits.found.labels.len()),
            [
                "–".to_owned(),
                format!("K-Means {k_means:.1} %"),
                format!("{ours:.1} %"),
                format!("{:+.1} points", ours - k_means),
            ],
        );
        self.tasks.iter().map(of_task).chain([digits]).collect()
    }

    /// What is damaged is seen on the page; here the table fits a terminal of 80 columns.
    pub(super) fn text(&self) -> String {
        let line =
            |name: &str, [_, usual, ours, gain]: [&str; 4]| format!("{name:31}{usual:>23}{ours:>12}{gain:>13}\n");
        let [name, cells @ ..] = HEADINGS;
        let mut text = line(name, cells);
        for (name, cells) in self.lines() {
            text += &line(&name, cells.each_ref().map(String::as_str));
        }
        text + "\nPSNR in dB, or the share of the digits in the right group: more is better.\n"
    }

    pub(super) fn json(&self) -> Value {
        let task = |task: &Task| {
            let answer =
                |answer: &Answer| json!({ "name": answer.name, "psnr": answer.psnr, "file": task.file(answer.name) });
            json!({
                "task": task.slug,
                "answers": task.answers.iter().map(answer).collect::<Vec<_>>(),
                "original": task.file("original"),
                "seconds": task.seconds,
            })
        };
        json!({
            "program": "sparsemble demo",
            "version": env!("CARGO_PKG_VERSION"),
            "output": self.folder.display().to_string(),
            "threads": self.threads,
            "pictures": self.tasks.iter().map(task).collect::<Vec<_>>(),
            "digits": {
                "n_samples": self.digits.found.labels.len(),
                "accuracy": self.digits.ours.accuracy(),
                "accuracy_of_k_means": self.digits.k_means.accuracy(),
                "seconds": self.digits.seconds,
            },
        })
    }
}
