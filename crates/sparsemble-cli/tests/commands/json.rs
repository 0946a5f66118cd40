//! `--json`: one object each, with the fields that docs/JSON.md lists and no others.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;
use sparsemble::image::{BitDepth, GrayImage, Size, write_png};

use crate::program::Program;

const DOCUMENTED: &str = include_str!("../../../../docs/JSON.md");

/// The fields that the document lists for a command.
fn documented(command: &str) -> BTreeSet<String> {
    let section = DOCUMENTED.split("\n## ").find(|section| section.starts_with(&format!("{command}\n"))).unwrap();
    let fields = section.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    fields.map(|(field, _)| field.to_owned()).collect()
}

/// The fields of an object: those of objects in it, and of objects in lists.
fn fields(value: &Value, prefix: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) if !object.is_empty() => {
            for (name, value) in object {
                fields(value, &format!("{prefix}{}{name}", if prefix.is_empty() { "" } else { "." }), found);
            }
        }
        Value::Array(list) if list.iter().any(Value::is_object) => {
            for one in list {
                fields(one, &format!("{prefix}[]"), found);
            }
        }
        _ => {
            found.insert(prefix.to_owned());
        }
    }
}

/// A folder with all that the commands need.
fn program() -> Program {
    let program = Program::with_samples::<f32>();
    for (name, step) in [("a.png", 5), ("b.png", 7)] {
        let value = |row: usize, column: usize| ((row * row + column * step) % 200) as f64;
        let picture = GrayImage::from_fn(Size { width: 40, height: 32 }, value).unwrap();
        write_png(program.path(name), &picture, BitDepth::Eight).unwrap();
    }
    fs::write(program.path("bad.png"), "no picture").unwrap();
    program
}

#[test]
fn every_object_has_the_fields_that_are_documented() {
    let program = program();
    for (words, code) in [
        ("train --method boost-ex --atoms 8 --models 3 -o m samples.npy", 0),
        ("info m", 0),
        ("encode m samples.npy -o codes.npz", 0),
        ("reconstruct m --samples samples.npy -o again.npy", 0),
        ("weights m samples.npy -o better", 0),
        ("sense a.png bad.png -o sensed", 1),
        ("recover sensed/a.npz samples.npy -o recovered --reference a.png", 1),
        ("restore a.png bad.png --task denoise --sigma 5 -o restored --reference a.png", 1),
        ("upscale a.png bad.png --method bicubic -o large", 1),
        ("eval a.png bad.png --reference b.png", 1),
        ("cluster samples.npy -k 3 -o clusters.csv", 0),
        ("completions bash", 0),
        ("man", 0),
        ("man pages", 0),
    ] {
        let output = program.run(&format!("{words} --json"));
        assert_eq!(output.status.code(), Some(code), "{words}: {}", String::from_utf8_lossy(&output.stderr));
        let object: Value = serde_json::from_slice(&output.stdout).unwrap();
        let command = words.split(' ').next().unwrap();
        assert_eq!(object["program"], format!("sparsemble {command}"));
        assert_eq!(object["version"], env!("CARGO_PKG_VERSION"));
        let mut printed = BTreeSet::new();
        fields(&object, "", &mut printed);
        let known = documented(command);
        let is_known = |field: &String| {
            known.contains(field)
                || ["program", "version"].contains(&field.as_str())
                || known.iter().any(|known| known.strip_suffix('*').is_some_and(|prefix| field.starts_with(prefix)))
        };
        assert!(printed.iter().all(is_known), "{command} prints what is not documented: {printed:?}");
        let is_printed = |field: &&String| {
            let prefix = field.strip_suffix('*').unwrap_or(field);
            printed.iter().any(|printed| printed.starts_with(prefix))
        };
        assert!(known.iter().all(|field| is_printed(&field)), "{command} prints not all of {known:?}: {printed:?}");
    }
}
