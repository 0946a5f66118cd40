//! The invariants of `docs/ARCHITECTURE.md` that a search of the library's source can hold.

use anyhow::Result;

use crate::workspace::Workspace;

/// Code that may stand only in some places of the library, or nowhere.
struct Rule {
    code: &'static str,
    allowed_in: &'static [&'static str],
    reason: &'static str,
}

/// The source of the library.
pub(crate) const LIBRARY: &str = "crates/sparsemble/src";

const RULES: [Rule; 7] = [
    Rule { code: "thread::", allowed_in: &["blocks.rs"], reason: "threads are made in blocks.rs only" },
    Rule { code: "std::time", allowed_in: &[], reason: "the library has no clock" },
    Rule {
        code: "std::fs",
        allowed_in: &["files.rs", "image/io"],
        reason: "files are opened in files.rs and image/io",
    },
    Rule { code: "std::env", allowed_in: &[], reason: "the library has no hidden settings" },
    Rule { code: "print!(", allowed_in: &[], reason: "the library prints nothing" },
    Rule { code: "unsafe", allowed_in: &["kernels/wide.rs"], reason: "unsafe code is in kernels/wide.rs only" },
    Rule { code: "println!(", allowed_in: &[], reason: "the library prints nothing" },
];

/// Every line of the library that breaks a rule.
pub(crate) fn faults(workspace: &Workspace) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for path in workspace.files(LIBRARY, "rs")? {
        let text = workspace.read(&path)?;
        let name = path.strip_prefix(LIBRARY).unwrap_or(&path).to_string_lossy();
        for (line, rule) in broken(&text) {
            if !rule.allowed_in.iter().any(|place| name.starts_with(place)) {
                faults.push(format!("{}:{line}: `{}`: {}", path.display(), rule.code, rule.reason));
            }
        }
    }
    Ok(faults)
}

fn broken(text: &str) -> impl Iterator<Item = (usize, &'static Rule)> + '_ {
    let code = (1..).zip(text.lines()).filter(|(_, line)| !line.trim_start().starts_with("//"));
    code.flat_map(|(number, line)| RULES.iter().filter(|rule| line.contains(rule.code)).map(move |rule| (number, rule)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_searched_and_comments_are_not() {
        let text = "/// std::time is not used\nlet now = std::time::Instant::now();\nstd::thread::spawn(f);";
        let found: Vec<_> = broken(text).map(|(line, rule)| (line, rule.code)).collect();
        assert_eq!(found, [(2, "std::time"), (3, "thread::")]);
    }
}
