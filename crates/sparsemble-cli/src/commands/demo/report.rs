//! The outcomes as a table and as JSON.

use std::path::Path;

use serde_json::{Value, json};

use super::contenders::N_ATOMS;
use super::trial::{N_TRAINING, Outcome, SIDE, STRIDE, Trial};
use crate::photographs::{PHOTO_NAME, TRAINING_NAMES};

pub(super) struct Report<'a> {
    pub(super) trial: &'a Trial,
    pub(super) outcomes: &'a [Outcome],
    pub(super) threads: usize,
    pub(super) folder: &'a Path,
}

/// The columns of the table after the contender's name.
pub(super) const HEADINGS: [&str; 6] =
    ["atoms/patch", "PSNR (dB)", "worst gap", "training (s)", "coding (s)", "patches/s"];

/// How to read the table.
pub(super) const NOTE: &str = "The first six code in one dictionary of random patches. λ is for intensities from 0 to 1. \
                              The worst gap is the largest duality gap of a patch, as a fraction of its energy.";

impl Report<'_> {
    /// What was done, in a sentence.
    pub(super) fn caption(&self) -> String {
        format!(
            "{PHOTO_NAME}, {} pixels: {} overlapping {SIDE}×{SIDE} patches coded with dictionaries of {N_ATOMS} atoms, \
             trained on {} patches of {} (float32, {} thread{})",
            self.trial.photo.size(),
            thousands(self.trial.n_patches() as f64),
            thousands(N_TRAINING as f64),
            TRAINING_NAMES.join(" and "),
            self.threads,
            if self.threads == 1 { "" } else { "s" },
        )
    }

    pub(super) fn text(&self) -> String {
        let line =
            |name: &str, cells: [String; 6]| format!("{name:24}{}\n", cells.map(|cell| format!("{cell:>13}")).concat());
        let mut text = format!("{}\n\n{}", self.caption(), line("model and coder", HEADINGS.map(String::from)));
        for outcome in self.outcomes {
            text += &line(outcome.name, self.cells(outcome));
        }
        text + "\n" + NOTE + "\n"
    }

    /// The figures of one coder, in the order of [`HEADINGS`].
    pub(super) fn cells(&self, outcome: &Outcome) -> [String; 6] {
        [
            format!("{:.2}", outcome.atoms_per_patch),
            format!("{:.2}", outcome.psnr),
            outcome.worst_gap.map_or("–".into(), |gap| format!("{gap:.1e}")),
            format!("{:.3}", outcome.training_seconds),
            format!("{:.3}", outcome.seconds),
            thousands(self.rate(outcome)),
        ]
    }

    pub(super) fn json(&self) -> Value {
        let results = self.outcomes.iter().map(|outcome| {
            json!({
                "coder": outcome.name,
                "file": outcome.file(),
                "atoms_per_patch": outcome.atoms_per_patch,
                "psnr": outcome.psnr,
                "worst_gap": outcome.worst_gap,
                "unconverged": outcome.unconverged,
                "training_seconds": outcome.training_seconds,
                "seconds": outcome.seconds,
                "patches_per_second": self.rate(outcome),
            })
        });
        json!({
            "program": "sparsemble demo",
            "version": env!("CARGO_PKG_VERSION"),
            "image": PHOTO_NAME,
            "width": self.trial.photo.size().width,
            "height": self.trial.photo.size().height,
            "training_images": TRAINING_NAMES,
            "n_training_samples": N_TRAINING,
            "patch_side": SIDE,
            "stride": STRIDE,
            "n_samples": self.trial.n_patches(),
            "n_atoms": N_ATOMS,
            "dtype": "float32",
            "threads": self.threads,
            "output": self.folder.display().to_string(),
            "results": results.collect::<Vec<_>>(),
        })
    }

    fn rate(&self, outcome: &Outcome) -> f64 {
        self.trial.n_patches() as f64 / outcome.seconds.max(f64::MIN_POSITIVE)
    }
}

/// A whole number with its thousands apart.
fn thousands(number: f64) -> String {
    let digits = format!("{number:.0}");
    let separate = |(place, digit): (usize, char)| {
        let apart = place > 0 && (digits.len() - place).is_multiple_of(3);
        apart.then_some(',').into_iter().chain([digit])
    };
    digits.chars().enumerate().flat_map(separate).collect()
}

#[cfg(test)]
mod tests {
    use super::thousands;

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!([0.0, 999.0, 1000.4, 1_234_567.0].map(thousands), ["0", "999", "1,000", "1,234,567"]);
    }
}
