//! Changelog fragments: one small file a change, so that two people never edit the same line.

use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};

use crate::workspace::Workspace;

const FOLDER: &str = "changelog.d";
const CHANGELOG: &str = "CHANGELOG.md";
/// The kinds of change in the order of their headings.
const KINDS: [(&str, &str); 4] =
    [("added", "Added"), ("changed", "Changed"), ("fixed", "Fixed"), ("performance", "Performance")];

/// One sentence for users.
#[derive(Debug)]
pub(crate) struct Fragment {
    path: PathBuf,
    issue: String,
    kind: &'static str,
    text: String,
}

/// All fragments in the order of their names.
pub(crate) fn fragments(workspace: &Workspace) -> Result<Vec<Fragment>> {
    let paths = workspace.files(FOLDER, "md")?.into_iter().filter(|path| !path.ends_with("README.md"));
    paths
        .map(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let (issue, kind) = parse_name(&name).with_context(|| {
                format!(
                    "{}: the name must be ISSUE.KIND.md or ISSUE-WORD.KIND.md, KIND one of {KINDS:?}",
                    path.display()
                )
            })?;
            let text = workspace.read(&path)?.split_whitespace().collect::<Vec<_>>().join(" ");
            ensure!(!text.is_empty(), "{} is empty", path.display());
            Ok(Fragment { path, issue, kind, text })
        })
        .collect()
}

/// `2-lasso.added.md` is issue 2, heading "Added".
fn parse_name(name: &str) -> Option<(String, &'static str)> {
    let (subject, kind) = name.strip_suffix(".md")?.split_once('.')?;
    let issue = subject.split('-').next()?;
    let is_number = !issue.is_empty() && issue.bytes().all(|byte| byte.is_ascii_digit());
    let (_, heading) = KINDS.iter().find(|(word, _)| *word == kind)?;
    is_number.then(|| (issue.to_owned(), *heading))
}

/// Moves every fragment into a section of the changelog for the version in `Cargo.toml`.
pub(crate) fn fold(workspace: &Workspace) -> Result<()> {
    let version = env!("CARGO_PKG_VERSION");
    let fragments = fragments(workspace)?;
    if fragments.is_empty() {
        bail!("{FOLDER} holds no fragment");
    }
    let changelog = with_section(&workspace.read(CHANGELOG)?, version, &fragments)?;
    std::fs::write(workspace.path(CHANGELOG), changelog)?;
    for fragment in &fragments {
        std::fs::remove_file(workspace.path(&fragment.path))?;
    }
    println!("{} fragments are now section {version} of {CHANGELOG}", fragments.len());
    Ok(())
}

fn with_section(changelog: &str, version: &str, fragments: &[Fragment]) -> Result<String> {
    let title = format!("## {version}");
    if changelog.lines().any(|line| line == title) {
        bail!("{CHANGELOG} has a section {version} already; raise the version in Cargo.toml first");
    }
    let mut section = vec![title, String::new()];
    for (_, heading) in KINDS {
        let of_kind: Vec<_> = fragments.iter().filter(|fragment| fragment.kind == heading).collect();
        if !of_kind.is_empty() {
            section.push(format!("### {heading}"));
            section.extend(of_kind.iter().map(|fragment| format!("- {} (issue {})", fragment.text, fragment.issue)));
            section.push(String::new());
        }
    }
    let section = section.join("\n");
    let (introduction, older) = match changelog.find("\n## ") {
        Some(at) => changelog.split_at(at + 1),
        None => (changelog, ""),
    };
    let changelog = format!("{}\n\n{section}\n{older}", introduction.trim_end());
    Ok(format!("{}\n", changelog.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fragment(kind: &'static str, text: &str) -> Fragment {
        Fragment { path: PathBuf::new(), issue: "2".to_owned(), kind, text: text.to_owned() }
    }

    #[test]
    fn a_fragment_is_named_by_its_issue_and_kind() {
        assert_eq!(parse_name("2.added.md"), Some(("2".to_owned(), "Added")));
        assert_eq!(parse_name("12-lasso.performance.md"), Some(("12".to_owned(), "Performance")));
        assert_eq!(parse_name("2.improved.md"), None);
        assert_eq!(parse_name("lasso.added.md"), None);
        assert_eq!(parse_name("2.md"), None);
    }

    #[test]
    fn a_new_section_comes_first_and_groups_by_kind() {
        let old = "# Changelog\n\nWords.\n\n## 0.1.0\n\n### Added\n- Old. (issue 1)\n";
        let fragments = [fragment("Fixed", "A fix."), fragment("Added", "A coder.")];
        let new = with_section(old, "0.2.0", &fragments).unwrap();
        let section = "## 0.2.0\n\n### Added\n- A coder. (issue 2)\n\n### Fixed\n- A fix. (issue 2)\n\n";
        assert_eq!(new, old.replace("## 0.1.0", &format!("{section}## 0.1.0")));
        assert!(with_section(&new, "0.2.0", &fragments).is_err());
    }

    #[test]
    fn the_first_section_follows_the_introduction() {
        let new = with_section("# Changelog\n\nWords.\n", "0.1.0", &[fragment("Added", "All.")]).unwrap();
        assert_eq!(new, "# Changelog\n\nWords.\n\n## 0.1.0\n\n### Added\n- All. (issue 2)\n");
    }
}
