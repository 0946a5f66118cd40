//! What the library calls its arguments, and what was typed for them: its errors name the latter.

use std::borrow::Cow;
use std::sync::OnceLock;

use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
use sparsemble::Error;

/// What the library says, and the options that may have set it. Of several the one counts that was typed with this value.
const SET_BY: &[(&str, &[&str])] = &[
    ("n_atoms", &["atoms", "method"]),
    ("atoms", &["atoms", "method"]),
    ("examples", &["atoms", "method"]),
    ("n_gaussians", &["atoms"]),
    ("n_clusters", &["atoms", "clusters"]),
    ("clusters", &["clusters"]),
    ("n_models", &["models"]),
    ("members", &["method"]),
    ("neighbours", &["method"]),
    ("n_levels", &["levels"]),
    ("n_directions", &["directions"]),
    ("n_parts", &["parts"]),
    ("max_iterations", &["iterations"]),
    ("update", &["method"]),
    ("coder", &["coder"]),
    ("lambda", &["lambda", "coder", "method"]),
    ("relative", &["coder", "method"]),
    ("error", &["coder", "method"]),
    ("l1_norm", &["coder", "method"]),
    ("ridge", &["coder", "method"]),
    ("sparsity", &["sparsity", "coder", "method"]),
    ("validation fraction", &["validation"]),
    ("validation patience", &["patience"]),
    ("validation", &["validation"]),
    ("patch side", &["patch"]),
    ("count", &["samples"]),
    ("training patches", &["samples"]),
    ("min_variance", &["min-variance"]),
    ("remove_mean", &["keep-mean"]),
    ("unit_norm", &["keep-norm"]),
    ("patch", &["patch"]),
    ("seed", &["seed"]),
    ("method", &["method"]),
    ("phi", &["phi"]),
    ("phi: number of features", &["phi"]),
    ("measurements", &["phi"]),
    ("missing", &["phi"]),
    ("decimate", &["phi"]),
    ("noise", &["noise", "sigma"]),
    ("sigma", &["sigma", "kernel", "phi"]),
    ("kernel height", &["kernel"]),
    ("kernel width", &["kernel"]),
    ("shave", &["shave"]),
    ("vectors", &["vectors"]),
    ("power", &["power"]),
    ("restarts", &["starts"]),
    ("form", &["form"]),
];

/// What the library calls a setting of a checkpoint that is not met; its value has name and value.
pub(crate) const OF_A_CHECKPOINT: &str = "parameter";

/// The options of the command that runs.
static OPTIONS: OnceLock<Options> = OnceLock::new();

/// The long names of options, and what was typed for them.
struct Options(Vec<(String, Option<String>)>);

/// Keeps what was typed.
pub(crate) fn remember(program: &Command, matches: &ArgMatches) {
    OPTIONS.get_or_init(|| Options::of(program, matches));
}

/// An error of the library in the words of whoever typed the options; `None` if no option stands for it.
pub(crate) fn words(error: &Error) -> Option<String> {
    OPTIONS.get()?.words(error)
}

/// The reason alone, for a value whose option the message names already.
pub(crate) fn parsed<T: std::str::FromStr<Err = Error>>(text: &str) -> Result<T, Cow<'static, str>> {
    text.parse().map_err(|error: Error| match error {
        Error::InvalidParameter { reason, .. } => reason,
        other => other.to_string().into(),
    })
}

impl Options {
    fn of(program: &Command, matches: &ArgMatches) -> Self {
        let Some((name, typed)) = matches.subcommand() else { return Self(Vec::new()) };
        let arguments = program.find_subcommand(name).into_iter().flat_map(Command::get_arguments);
        let option = |argument: &clap::Arg| {
            let id = argument.get_id().as_str();
            let was_typed = typed.value_source(id) == Some(ValueSource::CommandLine);
            let words =
                || typed.get_raw(id).map(|words| words.map(|word| word.to_string_lossy().into_owned()).collect());
            let words: Option<Vec<String>> = if was_typed { words() } else { None };
            argument.get_long().map(|long| (long.to_owned(), words.map(|words| words.join(" "))))
        };
        Self(arguments.filter_map(option).collect())
    }

    fn words(&self, error: &Error) -> Option<String> {
        match error {
            Error::InvalidParameter { name, value, reason } if *name == OF_A_CHECKPOINT => {
                let (name, value) = value.split_once(" = ")?;
                self.refused(name, value).map(|option| format!("{option}: {reason}"))
            }
            Error::InvalidParameter { name, value, reason } => {
                self.refused(name, value).map(|option| format!("{option}: {reason}"))
            }
            Error::TooFewSamples { what, needed, found } => {
                let (name, unit) = what.split_once(" (").unwrap_or((what, what));
                let (option, typed) = self.option(name, &needed.to_string())?;
                let value = typed.cloned().unwrap_or_else(|| needed.to_string());
                let unit = unit.trim_end_matches(')');
                Some(format!(
                    "--{option} {value}: needed {needed} {unit}, found {found}; ask for fewer or give more data"
                ))
            }
            _ => None,
        }
    }

    /// The option and its value; where that holds several settings, also the one that is meant.
    fn refused(&self, name: &str, value: &str) -> Option<String> {
        Some(match self.option(name, value)? {
            (option, _) if ["true", "false", "none"].contains(&value) => format!("--{option}"),
            (option, Some(typed)) if typed.contains('=') => {
                format!("--{option} {typed}: {} = {value}", plain(name))
            }
            (option, Some(typed)) => format!("--{option} {typed}"),
            (option, None) => format!("--{option} {value}"),
        })
    }

    /// The option that stands for a name of the library with this value.
    fn option(&self, name: &str, value: &str) -> Option<(&str, Option<&String>)> {
        let (_, long) = SET_BY.iter().find(|(theirs, _)| *theirs == name)?;
        let there: Vec<_> = long.iter().filter_map(|long| self.0.iter().find(|(option, _)| option == long)).collect();
        let says = |typed: &Option<String>| typed.as_ref().is_some_and(|typed| sets(typed, plain(name), value));
        let chosen = there.iter().find(|(_, typed)| says(typed)).or(there.first())?;
        Some((&chosen.0, chosen.1.as_ref()))
    }
}

/// Whether this is what was typed for a value, itself or as a setting: `-1.0` and `lasso:lambda=-1.0` are so for -1.
fn sets(typed: &str, name: &str, value: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().ok();
    let is_it = |text: &str| text == value || number(text).is_some_and(|it| Some(it) == number(value));
    let mut settings = typed.split([':', ',']).filter_map(|setting| setting.split_once('='));
    is_it(typed) || settings.any(|(key, text)| key == name && is_it(text))
}

/// A setting of a model in words: its name, and its value.
pub(crate) fn setting((name, value): (&String, &String)) -> (String, String) {
    let value = match value.as_str() {
        "true" => "yes",
        "false" => "no",
        other => other,
    };
    (plain(name).replace('_', " "), value.to_owned())
}

/// `n_atoms` is `atoms` where settings are typed.
fn plain(name: &str) -> &str {
    name.strip_prefix("n_").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::Arguments;

    fn said(words: &str, error: &Error) -> Option<String> {
        let mut program = Arguments::command().mut_subcommands(|command| command.allow_negative_numbers(true));
        let matches = program.try_get_matches_from_mut(words.split_whitespace()).unwrap();
        Options::of(&program, &matches).words(error)
    }

    fn refused(name: &'static str, value: &str) -> Error {
        Error::InvalidParameter { name, value: value.into(), reason: "must be more".into() }
    }

    #[test]
    fn an_error_names_the_option_that_was_typed() {
        const TRAIN: &str = "sparsemble train --method boost-km -o m x.npy";
        const RESTORE: &str = "sparsemble restore a.png --task deblur -o b.png";
        const CLUSTER: &str = "sparsemble cluster x.csv -o c.csv -k 3";
        for (words, name, value, says) in [
            (format!("{TRAIN} --atoms 0"), "n_atoms", "0", "--atoms 0: must be more"),
            (format!("{TRAIN} --atoms 0"), "n_clusters", "0", "--atoms 0: must be more"),
            (format!("{TRAIN} --lambda -1"), "lambda", "-1", "--lambda -1: must be more"),
            (
                format!("{TRAIN} --coder lasso:lambda=-1"),
                "lambda",
                "-1",
                "--coder lasso:lambda=-1: lambda = -1: must be more",
            ),
            (
                format!("{TRAIN} --coder lasso:lambda=-1.0"),
                "lambda",
                "-1",
                "--coder lasso:lambda=-1.0: lambda = -1: must be more",
            ),
            (TRAIN.into(), "n_atoms", "256", "--atoms 256: must be more"),
            (TRAIN.into(), "update", "K-SVD with the lasso", "--method boost-km: must be more"),
            (TRAIN.into(), "parameter", "n_atoms = 4", "--atoms 4: must be more"),
            (TRAIN.into(), "coder", "none", "--coder: must be more"),
            (format!("{RESTORE} --kernel gaussian:sigma=1 --sigma -1"), "sigma", "-1", "--sigma -1: must be more"),
            (
                format!("{RESTORE} --kernel gaussian:sigma=0 --sigma 2"),
                "sigma",
                "0",
                "--kernel gaussian:sigma=0: sigma = 0: must be more",
            ),
            (format!("{CLUSTER} --starts 0"), "restarts", "0", "--starts 0: must be more"),
            (
                format!("{CLUSTER} --method alt-opt:atoms=0"),
                "n_atoms",
                "0",
                "--method alt-opt:atoms=0: atoms = 0: must be more",
            ),
        ] {
            assert_eq!(said(&words, &refused(name, value)).as_deref(), Some(says), "{words}");
        }
        assert_eq!(said("sparsemble demo", &refused("n_atoms", "0")), None);
        assert_eq!(said(TRAIN, &refused("samples", "0")), None);
        let few = Error::TooFewSamples { what: "atoms (samples of positive mass)", needed: 256, found: 60 };
        assert_eq!(
            said(TRAIN, &few).as_deref(),
            Some("--atoms 256: needed 256 samples of positive mass, found 60; ask for fewer or give more data")
        );
    }

    #[test]
    fn every_option_of_the_table_exists() {
        let mut program = Arguments::command();
        program.build();
        let exists = |long: &str| {
            program.get_subcommands().any(|command| command.get_arguments().any(|it| it.get_long() == Some(long)))
        };
        for (name, longs) in SET_BY {
            assert!(longs.iter().all(|long| exists(long)), "{name}: {longs:?}");
        }
    }
}
