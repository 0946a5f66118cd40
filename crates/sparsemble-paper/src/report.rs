//! The experiments as one HTML page, to be put into the frame that all pages of the program have: it fetches nothing, runs
//! nothing and can be sent as it is.

use serde_json::Value;

use crate::document::{Provenance, QUICK};
use crate::markup::{escaped, html};
use crate::outcome::{Comparison, Entry, Outcome, Statement};
use crate::printed::Near;
use crate::remarks::{self, JUDGING, NOT_MADE, Remark, UNSAID};
use crate::work::Omitted;
use crate::{Experiment, printed};

const TITLE: &str = "The experiments of the paper, repeated";
const STYLE: &str = include_str!("report.css");

/// What is on the page, and how it looks beyond what all pages share.
#[derive(Debug, Clone)]
pub struct Report {
    /// What is in the bar of the browser.
    pub title: &'static str,
    /// Further rules of CSS.
    pub style: &'static str,
    /// All elements inside `body`.
    pub body: String,
}

/// Deviations of more than this many times what counts as near have the deeper colour.
const FAR: f64 = 3.0;

/// The page of some outcomes; `omitted` are the experiments that were asked for and could not be made.
pub fn report(outcomes: &[Outcome], omitted: &[Omitted], provenance: &Provenance) -> Report {
    let shown = Experiment::ALL.iter().copied().filter(|one| outcomes.iter().any(|outcome| outcome.name == one.name()));
    let shown: Vec<Experiment> = shown.collect();
    let sections: String = outcomes.iter().map(section).collect();
    let body = format!(
        "<a class=\"skip\" href=\"#results\">Skip to the results</a>\n{}\
         <main id=\"results\">\n{}{sections}{}{}{}{}</main>\n<footer>Made by sparsemble {}</footer>\n",
        header(outcomes, provenance),
        glance(outcomes),
        remarks_section("judging", "How the statements are judged", &JUDGING, &shown),
        remarks_section("unsaid", "What the paper leaves unsaid, and what is done here", &UNSAID, &shown),
        not_made(omitted),
        repeat(provenance),
        env!("CARGO_PKG_VERSION"),
    );
    Report { title: TITLE, style: STYLE, body }
}

fn header(outcomes: &[Outcome], provenance: &Provenance) -> String {
    let links =
        outcomes.iter().map(|outcome| format!("<li><a href=\"#{0}\">{1}</a></li>", outcome.name, label(outcome)));
    let facts =
        figures(outcomes).into_iter().map(|(name, value)| format!("<div><dt>{name}</dt><dd>{value}</dd></div>\n"));
    format!(
        "<header>\n<p class=\"eyebrow\">sparsemble paper</p>\n<h1>{TITLE}</h1>\n{}<p class=\"lead\">{}. Its tables and \
         figures made anew: what it prints, what comes out here, and which of its statements hold.</p>\n\
         <dl class=\"facts\">\n{}</dl>\n<nav aria-label=\"Experiments\"><ul>{}</ul></nav>\n</header>\n",
        if provenance.quick { format!("<p class=\"lead\"><strong>{QUICK}</strong></p>\n") } else { String::new() },
        escaped(printed::CITATION),
        facts.collect::<String>(),
        links.collect::<String>(),
    )
}

/// `Fig. 1` of a title such as `Fig. 1: oracle weights`.
fn label(outcome: &Outcome) -> &str {
    outcome.title.split(':').next().unwrap_or(outcome.title)
}

/// What came of all of them, in figures.
fn figures(outcomes: &[Outcome]) -> Vec<(&'static str, String)> {
    let all = || outcomes.iter().flat_map(|outcome| &outcome.statements);
    let holding = all().filter(|statement| statement.holds).count();
    let compared: Vec<&Comparison> = outcomes.iter().flat_map(Outcome::comparisons).collect();
    let near = compared.iter().filter(|one| one.is_near()).count();
    let mut figures = vec![("statements that hold", format!("{holding} of {}", all().count()))];
    if !compared.is_empty() {
        figures.push(("numbers near the paper’s, means included", format!("{near} of {}", compared.len())));
    }
    figures
}

/// The columns of what is seen at a glance, after the experiment.
const GLANCE: [&str; 5] =
    ["statements that hold", "numbers near the paper’s", "near: within", "mean deviation", "largest deviation"];

/// What came of each experiment, in a line.
fn glance(outcomes: &[Outcome]) -> String {
    let row = |outcome: &Outcome| {
        let cells = glanced(outcome);
        let cell = |(heading, cell): (&str, String)| format!("<td data-heading=\"{heading}\">{cell}</td>");
        format!(
            "<tr><th scope=\"row\"><a href=\"#{}\">{}</a></th>{}</tr>\n",
            outcome.name,
            escaped(outcome.title),
            GLANCE.into_iter().zip(cells).map(cell).collect::<String>()
        )
    };
    let rows: String = outcomes.iter().map(row).collect();
    let headings = GLANCE.map(|heading| format!("<th scope=\"col\">{heading}</th>")).concat();
    let table = format!(
        "<table class=\"glance listed\">\n<thead><tr><th scope=\"col\">experiment</th>{headings}</tr></thead>\n\
         <tbody>\n{rows}</tbody>\n</table>"
    );
    format!(
        "<section aria-labelledby=\"glance\">\n<h2 id=\"glance\">At a glance</h2>\n{}\n</section>\n",
        scrolled("All experiments", &table)
    )
}

fn glanced(outcome: &Outcome) -> [String; 5] {
    let of = |part: usize, whole: usize| format!("{part} of {whole}");
    let holding = outcome.statements.iter().filter(|statement| statement.holds).count();
    let holding = of(holding, outcome.statements.len());
    let compared: Vec<&Comparison> = outcome.comparisons().collect();
    let larger = |most: f64, one: &&Comparison| if one.deviation.abs() > most.abs() { one.deviation } else { most };
    let Some(Comparison { near: Near { within, unit }, .. }) = compared.first() else {
        return [holding, "–".into(), "–".into(), "–".into(), "–".into()];
    };
    let mean = compared.iter().map(|one| one.deviation).sum::<f64>() / compared.len() as f64;
    [
        holding,
        of(compared.iter().filter(|one| one.is_near()).count(), compared.len()),
        format!("{within} {unit}"),
        format!("{mean:+.2} {unit}"),
        format!("{:+.2} {unit}", compared.iter().fold(0.0, larger)),
    ]
}

/// What may be wider than the page scrolls by itself, by keyboard too.
fn scrolled(name: &str, contents: &str) -> String {
    format!("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">{contents}</div>", escaped(name))
}

fn section(outcome: &Outcome) -> String {
    let statements: String = outcome.statements.iter().map(statement).collect();
    let plot = scrolled(&format!("Plot of {}", label(outcome)), &outcome.plot);
    format!(
        "<section aria-labelledby=\"{name}\">\n<h2 id=\"{name}\">{title}</h2>\n<figure>{plot}</figure>\n{own}\
         <p>{caption}</p>\n<h3>What the paper says</h3>\n<ul class=\"statements\">\n{statements}</ul>\n\
         <h3>Numbers</h3>\n{key}{table}\n{settings}</section>\n",
        name = outcome.name,
        title = escaped(outcome.title),
        own = own_pictures(outcome),
        caption = html(&outcome.caption),
        key = key(outcome),
        table = scrolled(&format!("Numbers of {}", label(outcome)), &table(outcome)),
        settings = settings(&outcome.results["settings"]),
    )
}

/// Sheets of pictures that come from the data folder.
fn own_pictures(outcome: &Outcome) -> String {
    let sheets = outcome.files.iter().filter(|(_, contents)| contents.starts_with(b"<svg"));
    let figure = |(name, contents): &(String, Vec<u8>)| {
        format!(
            "<figure>{}<figcaption class=\"soft\">From your data folder: look up its rights before you pass this page \
             on.</figcaption></figure>\n",
            scrolled(&format!("Pictures {name}"), &String::from_utf8_lossy(contents))
        )
    };
    sheets.map(figure).collect()
}

fn statement(statement: &Statement) -> String {
    let Statement { claim, evidence, holds } = statement;
    let (class, mark) = if *holds { ("holds", "✓") } else { ("fails", "✗") };
    let kind = if claim.always { "theorem" } else { "observation" };
    format!(
        "<li class=\"{class}\"><p><span class=\"verdict\"><span aria-hidden=\"true\">{mark}</span> {}</span> \
         <span class=\"soft\">{}, {kind}</span></p><p>{}</p><p class=\"soft\">Here: {}</p></li>\n",
        statement.verdict(),
        escaped(claim.place),
        escaped(claim.words),
        escaped(evidence)
    )
}

/// What the marks and colours of a table mean.
fn key(outcome: &Outcome) -> String {
    let Some(first) = outcome.comparisons().next() else { return String::new() };
    let Near { within, unit } = first.near;
    format!(
        "<p class=\"soft\">Below each number is the printed one and ours minus it: \
         <span class=\"mark\">≈ within {within} {unit}</span> <span class=\"mark above\">▲ above</span> \
         <span class=\"mark below\">▼ below</span>, in the deeper colour if by more than {:.2} {unit}.</p>\n",
        FAR * within
    )
}

fn table(outcome: &Outcome) -> String {
    // A column of words begins with one.
    let is_words = |column: usize| {
        outcome.rows.first().is_some_and(|row| row[column].ours.starts_with(|first: char| first.is_alphabetic()))
    };
    let class = |column: usize| if is_words(column) { " class=\"words\"" } else { "" };
    let heading =
        |(column, heading): (usize, &String)| format!("<th scope=\"col\"{}>{}</th>", class(column), html(heading));
    let headings: String = outcome.headings.iter().enumerate().map(heading).collect();
    let begins = |number: usize| number > 0 && outcome.rows[number].first() != outcome.rows[number - 1].first();
    let is_grouped = (1..outcome.rows.len()).any(|number| !begins(number));
    let row = |(number, entries): (usize, &Vec<Entry>)| {
        let cell = |(column, entry): (usize, &Entry)| match (entry.paper, column) {
            (Some(paper), _) => compared(&entry.ours, &paper),
            (None, 0) => format!("<th scope=\"row\">{}</th>", html(&entry.ours)),
            (None, _) => format!("<td{}>{}</td>", class(column), html(&entry.ours)),
        };
        let first = if is_grouped && begins(number) { " class=\"first\"" } else { "" };
        format!("<tr{first}>{}</tr>\n", entries.iter().enumerate().map(cell).collect::<String>())
    };
    let rows: String = outcome.rows.iter().enumerate().map(row).collect();
    format!("<table>\n<thead><tr>{headings}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>")
}

/// Our number above the printed one and what is between them.
fn compared(ours: &str, &Comparison { printed, deviation, near }: &Comparison) -> String {
    let (class, mark) = match deviation / near.within {
        apart if apart.abs() <= 1.0 => ("near", "≈"),
        apart if apart > FAR => ("far above", "▲"),
        apart if apart > 0.0 => ("above", "▲"),
        apart if apart >= -FAR => ("below", "▼"),
        _ => ("far below", "▼"),
    };
    format!("<td class=\"{class}\">{ours}<span class=\"theirs\">{printed:.2} {mark} {deviation:+.2}</span></td>")
}

/// Every setting that the numbers depend on.
fn settings(values: &Value) -> String {
    let plain = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let shown = |value: &Value| match value {
        Value::Array(values) => values.iter().map(plain).collect::<Vec<_>>().join(", "),
        other => plain(other),
    };
    let row = |(name, value): (&String, &Value)| {
        format!(
            "<tr><th scope=\"row\">{}</th><td class=\"words\">{}</td></tr>\n",
            name.replace('_', " "),
            escaped(&shown(value))
        )
    };
    let rows: String = values.as_object().into_iter().flatten().map(row).collect();
    format!("<details><summary>All settings</summary>\n<table><tbody>\n{rows}</tbody></table></details>\n")
}

fn remarks_section(id: &str, title: &str, remarks: &[Remark], shown: &[Experiment]) -> String {
    let item = |remark: &Remark| {
        let about = remarks::labels(remark.about);
        let about = if about.is_empty() { about } else { format!(" <span class=\"soft\">({about})</span>") };
        format!("<li><strong>{}</strong>{about}: {}</li>\n", html(remark.topic), html(remark.words))
    };
    let items: String = remarks::about(remarks, shown).map(item).collect();
    format!("<section aria-labelledby=\"{id}\">\n<h2 id=\"{id}\">{title}</h2>\n<ul>\n{items}</ul>\n</section>\n")
}

fn not_made(omitted: &[Omitted]) -> String {
    let never = NOT_MADE.iter().map(|(figure, why)| format!("<li><strong>{figure}</strong>: {}</li>\n", escaped(why)));
    let lacking = omitted.iter().map(|one| {
        let missing: Vec<String> = one.missing.iter().map(|part| format!("<code>{}</code>", escaped(part))).collect();
        format!("<li><strong>{}</strong>: the data folder has no {}</li>\n", one.experiment.label(), missing.join(", "))
    });
    let items: String = lacking.chain(never).collect();
    format!(
        "<section aria-labelledby=\"not-made\">\n<h2 id=\"not-made\">What is not made</h2>\n<ul>\n{items}</ul>\n</section>\n"
    )
}

fn repeat(provenance: &Provenance) -> String {
    format!(
        "<section aria-labelledby=\"repeat\">\n<h2 id=\"repeat\">The command to repeat it</h2>\n<pre><code>{}</code></pre>\n\
         <p class=\"do\">The same data, seed and version give the same numbers on any number of threads; times differ.</p>\n\
         </section>\n",
        escaped(&provenance.command)
    )
}
