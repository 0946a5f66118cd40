//! The page of all experiments, `docs/REPRODUCTION.md`, and the plots it shows.

use std::path::Path;

use anyhow::{Context, Result};

use crate::Experiment;
use crate::data::{LAYOUT, Place};
use crate::demonstration::Settings;
use crate::outcome::Outcome;
use crate::parts::write;
use crate::remarks::{self, JUDGING, NOT_MADE, Remark, UNSAID};
use crate::trial::Trial;

/// What a reader needs to run it all again.
#[derive(Debug, Clone)]
pub struct Provenance {
    /// The settings of Figs. 1, 2 and 3.
    pub settings: Settings,
    /// What was typed.
    pub command: String,
    /// Whether it was less than the paper's work.
    pub quick: bool,
}

/// What is said of numbers by less than the paper's work.
pub(crate) const QUICK: &str =
    "This was a quick run with fewer patches, models and pictures than the paper has: its numbers are not comparable.";

/// Writes the page, and the plots to the folder `figures` beside it.
///
/// # Errors
/// If a file cannot be written.
pub fn write_document(path: &Path, outcomes: &[Outcome], provenance: &Provenance) -> Result<()> {
    let figures = path.parent().context("the document has a folder")?.join("figures");
    for outcome in outcomes {
        write(&figures.join(format!("{}.svg", outcome.name)), &outcome.plot)?;
    }
    write(path, page(outcomes, provenance))
}

fn page(outcomes: &[Outcome], provenance: &Provenance) -> String {
    let sections: Vec<String> =
        outcomes.iter().map(|outcome| outcome.markdown(&format!("figures/{}.svg", outcome.name))).collect();
    let statements = || outcomes.iter().flat_map(|outcome| &outcome.statements);
    let failed = statements().filter(|statement| !statement.holds).count();
    let is_made = |experiment: &Experiment| outcomes.iter().any(|outcome| outcome.name == experiment.name());
    let (made, left): (Vec<Experiment>, Vec<Experiment>) = Experiment::ALL.iter().partition(|one| is_made(one));
    let left = left.iter().map(|experiment| format!("- **{}**: no part of this run.\n", experiment.label()));
    let never = NOT_MADE.iter().map(|(figure, why)| format!("- **{figure}**: {why}.\n"));
    format!(
        "# The experiments of the paper\n\n\
         Written by `{command}`; do not edit it by hand.{quick}\n\n\
         {holding} of the {all} statements checked here hold, {failed} do not. A *theorem* follows from the definitions \
         and must hold on any data; an *observation* is what the authors saw in theirs. \
         Numbers in brackets are the paper's.\n\n\
         ## The data folder\n\n{layout}\n## How the statements are judged\n\n{judging}\n{settings}\
         ## What the paper leaves unsaid\n\n{unsaid}\n## What is not made\n\n{not_made}\n{sections}",
        command = provenance.command,
        quick = if provenance.quick { format!(" **{QUICK}**") } else { String::new() },
        holding = statements().count() - failed,
        all = statements().count(),
        layout = layout(),
        judging = listed(&JUDGING, &made),
        settings = settings(&provenance.settings, outcomes),
        unsaid = listed(&UNSAID, &made),
        not_made = left.chain(never).collect::<String>(),
        sections = sections.join("\n"),
    )
}

fn layout() -> String {
    let row = |place: &Place| format!("| `{}` | {} | {} |\n", place.path, place.what, place.for_what);
    let rows: String = LAYOUT.iter().map(row).collect();
    format!(
        "`--data` names a folder with what the paper used; none of it but the photograph may be passed on, so it is no part of \
         the repository. `sparsemble paper all` makes what the folder allows and says what is missing.\n\n\
         | place in the folder | what | for |\n| --- | --- | --- |\n{rows}"
    )
}

fn listed(all: &[Remark], made: &[Experiment]) -> String {
    let item = |remark: &Remark| {
        let about = remarks::labels(remark.about);
        let about = if about.is_empty() { about } else { format!(" ({about})") };
        format!("- **{}**{about}: {}\n", remark.topic, remark.words)
    };
    remarks::about(all, made).map(item).collect()
}

fn settings(settings: &Settings, outcomes: &[Outcome]) -> String {
    let trials = outcomes.iter().filter_map(|outcome| outcome.results["trials"].as_array()).flatten();
    let mut trials: Vec<Trial> = trials.filter_map(|trial| serde_json::from_value(trial.clone()).ok()).collect();
    trials.sort_by_key(|trial| (trial.method as usize, trial.n_atoms));
    trials.dedup();
    let Some(n_training) = trials.first().map(|trial| trial.n_training) else { return String::new() };
    let unconverged: usize = trials.iter().flat_map(|trial| &trial.training).map(|round| round.unconverged).sum();
    let seconds: f64 = trials.iter().map(|trial| trial.seconds).sum();
    let side = settings.patch_side;
    let rows = [
        ("patches", format!("{side} × {side}, means removed")),
        ("training patches drawn", settings.drawn_training_patches.to_string()),
        ("of these above the variance", n_training.to_string()),
        ("least variance, in squared grey levels of 255", settings.min_variance.to_string()),
        ("test patches", settings.test_patches.to_string()),
        ("intensity of white", settings.white.to_string()),
        ("models in an ensemble, L", settings.n_models.to_string()),
        ("λ of Eq. (1), in training and testing", settings.lambda.to_string()),
        ("K-Means‖: samples drawn in a pass, q", format!("{} K", settings.oversampling)),
        ("K-Means‖: passes, s", settings.passes.to_string()),
        ("seed", settings.seed.to_string()),
        ("numbers", "float32, sums in float64".to_owned()),
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
        ("training codes that missed their duality gap", unconverged.to_string()),
        ("time for all ensembles, trained and measured", format!("{seconds:.0} CPU seconds")),
    ];
    let rows = rows.map(|(name, value)| format!("| {name} | {value} |\n")).concat();
    format!("## Settings of Figs. 1, 2 and 3\n\n| setting | value |\n| --- | --- |\n{rows}\n")
}
