//! What an experiment comes to: a table, a plot, statements of the paper that hold or do not, and every number as JSON.

use serde_json::{Value, json};

use crate::printed::{Claim, Near};

/// A claim of the paper, judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// What the paper says.
    pub claim: Claim,
    /// Whether it is so here.
    pub holds: bool,
    /// The numbers that decide it.
    pub evidence: String,
}

impl Statement {
    /// `holds` or `does not hold`.
    pub fn verdict(&self) -> &'static str {
        if self.holds { "holds" } else { "does not hold" }
    }

    fn json(&self) -> Value {
        json!({
            "place": self.claim.place,
            "claim": self.claim.words,
            "always": self.claim.always,
            "holds": self.holds,
            "evidence": self.evidence,
        })
    }
}

/// What stands in one place of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Our number, or any words.
    pub ours: String,
    /// What the paper has there.
    pub paper: Option<Comparison>,
}

/// A number of the paper beside ours.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    /// As printed.
    pub printed: f64,
    /// Ours minus the printed one.
    pub deviation: f64,
    /// How far apart the two may be.
    pub near: Near,
}

impl Comparison {
    /// Whether the two are near.
    pub fn is_near(&self) -> bool {
        self.deviation.abs() <= self.near.within
    }
}

impl Entry {
    /// A number beside the paper's, if it has one there.
    pub fn compared(ours: f64, printed: Option<f64>, near: Near) -> Self {
        let paper = printed.map(|printed| Comparison { printed, deviation: ours - printed, near });
        Self { ours: format!("{ours:.2}"), paper }
    }

    /// The same with other words for our number.
    #[must_use]
    pub fn told(self, ours: String) -> Self {
        Self { ours, ..self }
    }

    /// In one line.
    pub fn text(&self) -> String {
        self.paper.map_or(self.ours.clone(), |paper| format!("{} ({:.2})", self.ours, paper.printed))
    }
}

impl From<String> for Entry {
    fn from(ours: String) -> Self {
        Self { ours, paper: None }
    }
}

impl From<&str> for Entry {
    fn from(ours: &str) -> Self {
        ours.to_owned().into()
    }
}

/// The columns of a terminal that running text fills, and those before what a statement says.
const COLUMNS: usize = 100;
const VERDICT: usize = 15;

/// Text without the stars that make it bold or slanted on a page.
fn unmarked(text: &str) -> String {
    text.replace('*', "")
}

/// Text in lines that fit; all but the first begin after as many spaces.
fn wrapped(text: &str, indent: usize) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last().map_or(0, |line| line.chars().count());
        match lines.last_mut() {
            Some(last) if line == 0 || indent + line + 1 + word.chars().count() <= COLUMNS => {
                last.push_str(if line == 0 { "" } else { " " });
                last.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join(&format!("\n{}", " ".repeat(indent)))
}

/// The outcome of one experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// `fig1`, the name of its files.
    pub name: &'static str,
    /// What it is, in a line.
    pub title: &'static str,
    /// What the table and the plot show, in a sentence or two.
    pub caption: String,
    /// The heading of each column.
    pub headings: Vec<String>,
    /// The entries of each row; the first names the row.
    pub rows: Vec<Vec<Entry>>,
    /// The claims of the paper, judged.
    pub statements: Vec<Statement>,
    /// The plot, an SVG file.
    pub plot: String,
    /// Further files for the output folder alone: their names and contents.
    pub files: Vec<(String, Vec<u8>)>,
    /// Settings and every number.
    pub results: Value,
}

impl Outcome {
    /// The whole, as the JSON file has it.
    pub fn json(&self) -> Value {
        json!({
            "program": "sparsemble paper",
            "version": env!("CARGO_PKG_VERSION"),
            "experiment": self.name,
            "title": self.title,
            "caption": self.caption,
            "table": { "headings": self.headings, "rows": self.texts() },
            "statements": self.statements.iter().map(Statement::json).collect::<Vec<_>>(),
            "results": self.results,
        })
    }

    /// The rows of the table, each entry in one line.
    pub fn texts(&self) -> Vec<Vec<String>> {
        self.rows.iter().map(|row| row.iter().map(Entry::text).collect()).collect()
    }

    /// Every number that the paper has, too.
    pub fn comparisons(&self) -> impl Iterator<Item = &Comparison> {
        self.rows.iter().flatten().filter_map(|entry| entry.paper.as_ref())
    }

    /// The table and the statements, for a terminal.
    pub fn text(&self) -> String {
        let rows: Vec<Vec<String>> =
            self.texts().iter().map(|row| row.iter().map(|cell| unmarked(cell)).collect()).collect();
        let width = |column: usize| {
            let cells = rows.iter().map(|row| &row[column]).chain([&self.headings[column]]);
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.headings.len()).map(width).collect();
        let line = |cells: &[String]| {
            let cells = cells.iter().zip(&widths).enumerate();
            let cell = |(column, (cell, &width)): (usize, (&String, &usize))| {
                let room = " ".repeat(width - cell.chars().count());
                if column == 0 { format!("{cell}{room}") } else { format!("  {room}{cell}") }
            };
            format!("{}\n", cells.map(cell).collect::<String>().trim_end())
        };
        let rows: String = rows.iter().map(|row| line(row)).collect();
        let statement = |statement: &Statement| {
            let Statement { claim, evidence, .. } = statement;
            let claim = wrapped(&format!("{}: {}", claim.place, claim.words), VERDICT);
            let evidence = wrapped(&format!("({evidence})"), VERDICT);
            format!("{:VERDICT$}{claim}\n{:VERDICT$}{evidence}\n", statement.verdict(), "")
        };
        let statements: String = self.statements.iter().map(statement).collect();
        let caption = wrapped(&unmarked(&self.caption), 0);
        format!("{}\n{caption}\n\n{}{rows}\n{statements}", self.title, line(&self.headings))
    }

    /// The same as a section of a Markdown page; `plot` is where the page finds the plot.
    pub fn markdown(&self, plot: &str) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let rule = line(&self.headings.iter().map(|_| "---".to_owned()).collect::<Vec<_>>());
        let rows: String = self.texts().iter().map(|row| line(row)).collect();
        let statement = |statement: &Statement| {
            let Statement { claim, evidence, .. } = statement;
            let verdict = if statement.holds { "holds" } else { "**does not hold**" };
            let kind = if claim.always { "theorem" } else { "observation" };
            line(&[verdict, claim.place, kind, claim.words, evidence].map(str::to_owned))
        };
        let statements: String = self.statements.iter().map(statement).collect();
        format!(
            "## {title}\n\n![{title}]({plot})\n\n{caption}\n\n{headings}{rule}{rows}\n\
             | verdict | place | kind | the paper says | here |\n| --- | --- | --- | --- | --- |\n{statements}",
            title = self.title,
            caption = self.caption,
            headings = line(&self.headings),
        )
    }
}

/// The mean; NaN of no value.
pub(crate) fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::printed;

    #[test]
    fn a_table_is_aligned_and_a_verdict_is_plain() {
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        let statement = Statement { claim: printed::FLATTENS, holds: false, evidence: "1 of 3".into() };
        let outcome = Outcome {
            name: "fig9",
            title: "Fig. 9",
            caption: "Nothing.".into(),
            headings: words(&["K", "β ≥ 0"]),
            rows: vec![vec!["2048".into(), "1".into()]],
            statements: vec![statement],
            plot: String::new(),
            files: Vec::new(),
            results: json!({}),
        };
        assert!(outcome.text().contains("K     β ≥ 0\n2048      1\n\ndoes not hold  §III-C: "), "{}", outcome.text());
        let page = outcome.markdown("figures/fig9.svg");
        assert!(page.contains("![Fig. 9](figures/fig9.svg)\n"));
        assert!(page.contains("| K | β ≥ 0 |\n| --- | --- |\n| 2048 | 1 |\n"));
        assert!(page.contains("| **does not hold** | §III-C | observation | "));
        assert_eq!(outcome.json()["statements"][0]["holds"], false);
        assert_eq!(outcome.json()["table"]["rows"][0][1], "1");
    }

    #[test]
    fn a_terminal_gets_lines_that_fit_and_no_marks_of_a_page() {
        let text = wrapped(&unmarked(&"**mean** of *all* ".repeat(20)), 4);
        assert!(text.starts_with("mean of all mean of all") && text.lines().count() > 1, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= COLUMNS), "{text}");
        assert!(text.lines().skip(1).all(|line| line.starts_with("    ") && !line.starts_with("     ")), "{text}");
    }

    #[test]
    fn a_number_stands_beside_that_of_the_paper_if_it_has_one() {
        let entry = Entry::compared(22.194, Some(21.55), printed::NEAR_IN_RECOVERY);
        assert_eq!((entry.text().as_str(), entry.paper.unwrap().is_near()), ("22.19 (21.55)", false));
        assert!(Entry::compared(21.2, Some(21.55), printed::NEAR_IN_RECOVERY).paper.unwrap().is_near());
        assert!(!Entry::compared(f64::NAN, Some(21.55), printed::NEAR_IN_RECOVERY).paper.unwrap().is_near());
        assert_eq!(Entry::compared(1.0, None, printed::NEAR_IN_RECOVERY), "1.00".into());
        assert_eq!(entry.told("22.19 ± 0.10".into()).text(), "22.19 ± 0.10 (21.55)");
    }
}
