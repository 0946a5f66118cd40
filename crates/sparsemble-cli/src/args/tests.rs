use clap::{Command, CommandFactory, Parser};

use super::{Arguments, EXIT_CODES};

const DOCUMENTED: &str = include_str!("../../../../docs/JSON.md");

fn commands() -> Vec<Command> {
    let mut program = Arguments::command().disable_help_subcommand(true);
    program.build();
    program.get_subcommands().cloned().collect()
}

fn after_help(command: &Command) -> String {
    command.get_after_long_help().or(command.get_after_help()).map(ToString::to_string).unwrap_or_default()
}

/// The words of the examples in a help, up to where the shell takes over.
fn examples(help: &str) -> Vec<Vec<String>> {
    let lines = help.lines().skip_while(|line| *line != "Examples:").skip(1).take_while(|line| !line.is_empty());
    lines
        .map(|line| line.split_whitespace().take_while(|word| !["<", ">"].contains(word)).map(Into::into).collect())
        .collect()
}

#[test]
fn the_words_fit_together() {
    Arguments::command().debug_assert();
}

#[test]
fn every_command_has_examples_that_can_be_typed() {
    let all = commands();
    assert!(all.len() >= 15);
    for command in all {
        let (name, help) = (command.get_name().to_owned(), after_help(&command));
        let examples = examples(&help);
        assert!(!examples.is_empty(), "{name} has no examples");
        for words in examples {
            assert_eq!(words[..2], ["sparsemble", &name]);
            assert!(Arguments::try_parse_from(&words).is_ok(), "{}", words.join(" "));
        }
    }
}

#[test]
fn every_option_of_every_command_says_what_it_does() {
    for command in commands() {
        assert!(command.get_about().is_some(), "{}", command.get_name());
        for argument in command.get_arguments() {
            assert!(argument.get_help().is_some(), "{} {}", command.get_name(), argument.get_id());
        }
    }
}

#[test]
fn every_command_prints_json_that_is_documented() {
    for command in commands() {
        let name = command.get_name();
        let has_json = command.get_arguments().any(|argument| argument.get_id() == "json");
        assert!(has_json, "{name}");
        assert!(DOCUMENTED.contains(&format!("\n## {name}\n")), "docs/JSON.md has no section {name}");
    }
}

#[test]
fn what_can_be_written_can_be_forced() {
    for command in commands() {
        let has = |id: &str| command.get_arguments().any(|argument| argument.get_id() == id);
        if has("output") {
            assert!(has("force"), "{}", command.get_name());
        }
    }
}

#[test]
fn the_help_lists_all_exit_codes() {
    let help = after_help(&Arguments::command());
    for (code, meaning) in EXIT_CODES {
        assert!(help.contains(&format!("{code:<4} {meaning}")), "{code}");
    }
    assert_eq!(EXIT_CODES.iter().map(|(code, _)| *code).collect::<Vec<_>>(), [0, 1, 2, 130]);
}
