//! The documentation checks: what the documents point at exists, and what they promise holds.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

use crate::invariants::{self, LIBRARY};
use crate::markdown::Markdown;
use crate::workspace::Workspace;
use crate::{changelog, features, paper_map, readme};

/// A code span that starts with one of these names a place in the repository.
const TOP_FOLDERS: [&str; 8] = ["crates/", "python/", "xtask/", "docs/", "data/", "changelog.d/", ".ci/", ".cargo/"];
/// A code span that ends with one of these does so too, perhaps seen from the library's source.
const ENDINGS: [&str; 2] = [".rs", "/"];

pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let mut faults = Vec::new();
    let documents = documents(workspace)?;
    for document in &documents {
        let text = workspace.read(document)?;
        let markdown = Markdown::parse(&text);
        let mut fault = |line: usize, what: String| faults.push(format!("{}:{line}: {what}", document.display()));
        check_links(workspace, document, &markdown, &mut fault);
        if document != Path::new("CHANGELOG.md") {
            // The changelog tells of the past; all other documents tell of what is there.
            check_paths(workspace, &markdown, &mut fault);
        }
    }
    faults.extend(paper_map::faults(workspace)?);
    faults.extend(invariants::faults(workspace)?);
    faults.extend(features::faults(workspace)?);
    faults.extend(readme::faults(workspace)?);
    let fragments = changelog::fragments(workspace)?;
    ensure!(faults.is_empty(), "{} faults in the documentation:\n{}", faults.len(), faults.join("\n"));
    println!("{} documents and {} changelog fragments are sound", documents.len(), fragments.len());
    Ok(())
}

fn documents(workspace: &Workspace) -> Result<Vec<PathBuf>> {
    let mut documents = vec!["README.md".into(), "CONTRIBUTING.md".into(), "CHANGELOG.md".into()];
    for folder in ["docs", "data", "python", "changelog.d"] {
        documents.extend(workspace.files(folder, "md")?);
    }
    Ok(documents)
}

/// Every relative link leads to a file, and every anchor to a heading.
fn check_links(workspace: &Workspace, document: &Path, markdown: &Markdown, fault: &mut impl FnMut(usize, String)) {
    for (line, link) in markdown.links() {
        if ["http://", "https://", "mailto:"].iter().any(|scheme| link.starts_with(scheme)) {
            continue;
        }
        let (path, anchor) = link.split_once('#').map_or((link.as_str(), None), |(path, anchor)| (path, Some(anchor)));
        let target = if path.is_empty() { document.to_owned() } else { document.with_file_name("").join(path) };
        if !workspace.path(&target).exists() {
            fault(line, format!("the link `{link}` leads nowhere"));
        } else if let Some(anchor) = anchor {
            let text = workspace.read(&target).unwrap_or_default();
            if !Markdown::parse(&text).anchors().any(|found| found == anchor) {
                fault(line, format!("the link `{link}` names no heading of its file"));
            }
        }
    }
}

/// Every path in backticks exists; one with `::name` behind it holds a function of that name.
fn check_paths(workspace: &Workspace, markdown: &Markdown, fault: &mut impl FnMut(usize, String)) {
    for (line, span) in markdown.code_spans() {
        let is_path = TOP_FOLDERS.iter().any(|folder| span.starts_with(folder))
            || ENDINGS.iter().any(|ending| span.ends_with(ending));
        if !is_path || span.contains(|c: char| c.is_whitespace() || "<*{".contains(c)) {
            continue;
        }
        let (path, function) = span.split_once("::").map_or((span, None), |(path, name)| (path, Some(name)));
        if !workspace.path(path).exists() && !workspace.path(LIBRARY).join(path).exists() {
            fault(line, format!("`{path}` does not exist"));
        } else if let Some(name) = function {
            let text = workspace.read(path).unwrap_or_default();
            if !["fn ", "def "].iter().any(|keyword| text.contains(&format!("{keyword}{name}("))) {
                fault(line, format!("`{path}` has no function `{name}`"));
            }
        }
    }
}
