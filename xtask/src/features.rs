//! All builds of this repository ask for the same features of what the library depends on, so that cargo compiles it once.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use crate::workspace::{Workspace, output};

/// Where the features are listed that any of the builds asks for.
const LIST: &str = "crates/same-features/Cargo.toml";

/// The builds of the gate: the tests, the program alone, the Python module.
const BUILDS: [&[&str]; 3] = [
    &["--workspace", "--all-features", "--exclude", "sparsemble-python", "--exclude", "sparsemble-bench"],
    &["--package", "sparsemble-cli"],
    &["--package", "sparsemble-python"],
];

/// The features of each crate of a build; a crate that is also used while building may have two sets of them.
type Features = BTreeMap<String, BTreeSet<String>>;

/// Every dependency of the library that two builds want with different features.
pub(crate) fn faults(workspace: &Workspace) -> Result<Vec<String>> {
    let library = tree(workspace, "normal,build", &["--package", "sparsemble", "--all-features"])?;
    let [tests, program, python] = BUILDS.map(|build| tree(workspace, "normal,build,dev", build));
    let builds = [("the tests", tests?), ("the program", program?), ("the Python module", python?)];
    Ok(library.keys().filter_map(|name| differing(name, &builds)).collect())
}

fn tree(workspace: &Workspace, edges: &str, build: &[&str]) -> Result<Features> {
    let mut tree = workspace.cargo();
    tree.args(["tree", "--quiet", "--locked", "--prefix", "none", "--format", "{p} | {f}", "--edges", edges]);
    Ok(parse(&output(tree.args(build))?))
}

fn parse(tree: &str) -> Features {
    let mut all = Features::new();
    for (name, features) in tree.lines().filter_map(|line| line.split_once(" | ")) {
        let features = features.trim_end_matches("(*)").trim_end().to_owned();
        all.entry(name.trim_end_matches(" (proc-macro)").to_owned()).or_default().insert(features);
    }
    all
}

fn differing(name: &str, builds: &[(&str, Features)]) -> Option<String> {
    let found: Vec<_> = builds.iter().filter_map(|(build, all)| Some((build, all.get(name)?))).collect();
    if found.windows(2).all(|pair| pair[0].1 == pair[1].1) {
        return None;
    }
    let found: Vec<String> = found.iter().map(|(build, features)| format!("{features:?} for {build}")).collect();
    Some(format!("{LIST}: `{name}` is compiled with the features {}; list those of all", found.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_with_other_features_is_named() {
        let program = parse("libc v0.2.1 | default,std\nsyn v3.0.9 | full (*)\nnix v0.31.3 | \n\n[dev-dependencies]\n");
        let python = parse("libc v0.2.1 | default,std\nsyn v3.0.9 | full\nsyn v3.0.9 | derive");
        let builds = [("the program", program), ("the Python module", python)];
        assert_eq!(differing("libc v0.2.1", &builds), None);
        assert_eq!(differing("nix v0.31.3", &builds), None);
        let fault = differing("syn v3.0.9", &builds).unwrap();
        assert!(fault.contains("{\"full\"} for the program, {\"derive\", \"full\"} for the Python module"), "{fault}");
    }
}
