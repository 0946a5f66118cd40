//! Holds `docs/PAPER_MAP.md` to its word: a file listed for an equation or a section mentions it, and no equation,
//! section, figure or table of the paper is missing from the map.

use std::collections::BTreeSet;

use anyhow::Result;

use crate::markdown::{Markdown, code_spans};
use crate::workspace::Workspace;

const MAP: &str = "docs/PAPER_MAP.md";
/// The heading of the table whose rows are checked: what stands in the paper, then the files.
const DONE: &str = "## In the code";
/// The paper numbers its equations from 1 to this.
const LAST_EQUATION: u32 = 17;
/// Its figures and tables.
const FIGURES: [(&str, u32); 2] = [("Fig.", 7), ("Table", 3)];
/// Its sections that have something to compute: not its contributions (§I-C) and conclusions (§VI).
const SECTIONS: [&str; 15] = [
    "I-A", "I-B", "II-A", "II-B", "III-A", "III-B", "III-B1", "III-B2", "III-C", "IV", "IV-A", "IV-A1", "IV-A2",
    "IV-B", "V",
];

/// Everything the map gets wrong.
pub(crate) fn faults(workspace: &Workspace) -> Result<Vec<String>> {
    let map = workspace.read(MAP)?;
    let mut faults = Vec::new();
    for (line, paper, files) in done_rows(&map) {
        for path in code_spans(files) {
            let text = workspace.read(path).unwrap_or_default();
            let missing = unmentioned(paper, &text);
            if !missing.is_empty() {
                faults.push(format!("{MAP}:{line}: `{path}` does not mention {}", missing.join(", ")));
            }
        }
    }
    let listed = equations(&map);
    let unlisted = (1..=LAST_EQUATION).filter(|number| !listed.contains(number));
    faults.extend(unlisted.map(|number| format!("{MAP}: Eq. ({number}) is not listed")));
    let rows: Vec<&str> = done_rows(&map).iter().map(|(_, paper, _)| *paper).collect();
    faults.extend(unlisted_places(&rows.join("\n")).iter().map(|place| format!("{MAP}: {place} is not listed")));
    Ok(faults)
}

/// The sections, figures and tables that no row speaks of.
fn unlisted_places(rows: &str) -> Vec<String> {
    let listed = sections(rows);
    let missing = SECTIONS.iter().filter(|name| !listed.contains(*name)).map(|name| format!("§{name}"));
    let all = FIGURES.iter().flat_map(|(kind, last)| (1..=*last).map(move |number| format!("{kind} {number}")));
    missing.chain(all.filter(|figure| !rows.contains(figure))).collect()
}

/// Line number, first cell and second cell of each row under the heading.
fn done_rows(map: &str) -> Vec<(usize, &str, &str)> {
    let prose = Markdown::parse(map).prose;
    let section = prose.into_iter().skip_while(|(_, text)| *text != DONE).skip(1);
    let section = section.take_while(|(_, text)| !text.starts_with("## "));
    let rows = section.filter(|(_, text)| text.starts_with("| ") && !text.starts_with("| ---"));
    let cells = rows.filter_map(|(line, text)| {
        let mut cells = text.trim_matches('|').split('|');
        Some((line, cells.next()?, cells.next()?))
    });
    cells.skip(1).collect() // the header row
}

fn unmentioned(paper: &str, text: &str) -> Vec<String> {
    let (equations_found, sections_found) = (equations(text), sections(text));
    let equations = equations(paper).into_iter().filter(|number| !equations_found.contains(number));
    let sections = sections(paper).into_iter().filter(|name| !sections_found.contains(name));
    equations.map(|number| format!("Eq. ({number})")).chain(sections.map(|name| format!("§{name}"))).collect()
}

/// The numbers in every `Eq. (1)`, `Eqs. (1) and (15)`, `Eqs. (5)–(8), (12)`.
fn equations(text: &str) -> BTreeSet<u32> {
    let lists = text.match_indices("Eq").filter_map(|(at, eq)| {
        let rest = &text[at + eq.len()..];
        rest.strip_prefix(". (").or_else(|| rest.strip_prefix("s. ("))
    });
    lists.flat_map(equation_list).collect()
}

/// Reads `5)–(8), (12)` from the front of `rest`.
fn equation_list(mut rest: &str) -> Vec<u32> {
    let mut numbers: Vec<u32> = Vec::new();
    let mut is_range = false;
    while let Some((digits, after)) = rest.split_once(')') {
        let Ok(number) = digits.parse() else { break };
        match numbers.last() {
            Some(&first) if is_range => numbers.extend(first + 1..=number),
            _ => numbers.push(number),
        }
        let separator = ["–(", ", (", " and ("].iter().find_map(|s| Some((*s, after.strip_prefix(s)?)));
        let Some((separator, next)) = separator else { break };
        is_range = separator == "–(";
        rest = next;
    }
    numbers
}

/// The names in every `§III-B1`.
fn sections(text: &str) -> BTreeSet<&str> {
    let names = text.split('§').skip(1);
    names.filter_map(|rest| rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').next()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_ranges_of_equations_are_read() {
        let numbers = |text| equations(text).into_iter().collect::<Vec<_>>();
        assert_eq!(numbers("see Eq. (1), and (2) is not ours"), [1]);
        assert_eq!(numbers("Eqs. (1) and (15); Eq. (3)."), [1, 3, 15]);
        assert_eq!(numbers("Eqs. (5)–(8), (12)"), [5, 6, 7, 8, 12]);
        assert!(numbers("f(1), Equal (2)").is_empty());
    }

    #[test]
    fn a_file_must_mention_each_equation_and_section_of_its_row() {
        assert!(unmentioned("Eqs. (1), (15); §I-A", "//! §I-A, Eqs. (1) and (15)").is_empty());
        assert_eq!(unmentioned("Eqs. (1), (15); §IV-A1", "//! Eq. (1), §IV-A"), ["Eq. (15)", "§IV-A1"]);
    }

    #[test]
    fn a_section_a_figure_or_a_table_that_no_row_has_is_named() {
        let all = format!("§{}: ", SECTIONS.join(": §"));
        let figures = "Fig. 1 Fig. 2 Fig. 3 Fig. 4 Fig. 5 Fig. 6 Fig. 7 Table 1 Table 2 Table 3";
        assert!(unlisted_places(&format!("{all}{figures}")).is_empty());
        let some = all.replace("§III-B2:", "§III-B1:");
        assert_eq!(unlisted_places(&format!("{some}{}", figures.replace("Table 2", ""))), ["§III-B2", "Table 2"]);
    }

    #[test]
    fn only_rows_under_the_heading_count() {
        let map = "# Map\n| a | b |\n## In the code\n| paper | files |\n| --- | --- |\n| Eq. (1) | `x.rs` | t |\n## Not yet\n| c | d |";
        assert_eq!(done_rows(map), [(6, " Eq. (1) ", " `x.rs` ")]);
    }
}
