//! The parts that the pages of the program are made of. A page is one file: it fetches nothing, and it shows the same
//! pictures without its one small script.

mod compare;
mod picture;

use std::fmt::Write;

use crate::streams;

pub(crate) use compare::{HINT, Layer, Window, compare};
pub(crate) use picture::{heat_map, photo, picture, plot};

const STYLE: &str = concat!(include_str!("page.css"), include_str!("compare.css"));
const SCRIPT: &str = include_str!("compare.js");
/// Before anything is shown: that scripts run.
const MARK: &str = "document.documentElement.classList.add(\"js\")\n";

/// Nothing but what is in the page itself.
const POLICY: &str = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// A table of more columns has less room between them.
const MANY: usize = 7;

/// A whole page: what is in the bar of the browser, what is said of its looks beyond the common, and what is on it. The
/// script is there for pictures to be compared, and nowhere else.
pub(crate) fn document(title: &str, style: &str, body: &str) -> String {
    let needed = body.contains("<figure class=\"compare\"");
    let [mark, script] =
        [MARK, SCRIPT].map(|text| if needed { format!("<script>\n{text}</script>\n") } else { String::new() });
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <title>{}</title>\n<style>\n{STYLE}{style}</style>\n{mark}</head>\n<body>\n{body}{script}</body>\n</html>\n",
        escaped(title)
    )
}

/// A page under construction.
pub(crate) struct Page {
    title: String,
    body: String,
}

impl Page {
    /// What made it, what it is of, and what was done in a sentence or two.
    pub(crate) fn new(program: &str, title: &str, lead: &str) -> Self {
        let [program, heading, lead] = [program, title, lead].map(escaped);
        let body =
            format!("<header>\n<p class=\"eyebrow\">{program}</p>\n<h1>{heading}</h1>\n<p class=\"lead\">{lead}</p>\n");
        Self { title: title.to_owned(), body }
    }

    /// More of what is there, as it is.
    pub(crate) fn add(&mut self, html: &str) {
        self.body += html;
    }

    /// A part with a heading, which can be linked to by its name.
    pub(crate) fn section(&mut self, name: &str, heading: &str, html: &str) {
        let heading = escaped(heading);
        let _ = writeln!(self.body, "<section id=\"{name}\">\n<h2>{heading}</h2>\n{html}\n</section>");
    }

    /// What it was made by, and the end of the page.
    pub(crate) fn end(mut self, settings: &[(&str, String)]) -> String {
        let rows: Vec<String> = settings
            .iter()
            .map(|(name, value)| format!("<dt>{}</dt><dd>{}</dd>", escaped(name), escaped(&streams::named(value))))
            .collect();
        let html = format!("<dl class=\"settings\">\n{}\n</dl>\n{}", rows.join("\n"), shell(&command()));
        self.section("settings", "Settings, and the command to repeat it", &html);
        self.close()
    }

    /// The end of a page that needs no settings.
    pub(crate) fn close(self) -> String {
        let Self { title, body } = self;
        // The header is open until the first section, so that facts can follow the lead.
        let body = body.replacen("<section", "</header>\n<main>\n<section", 1);
        let footer = format!("</main>\n<footer>Made by sparsemble {}</footer>\n", env!("CARGO_PKG_VERSION"));
        document(&title, "", &(body + &footer))
    }
}

/// A few figures, large.
pub(crate) fn facts(facts: &[(&str, String)]) -> String {
    let fact =
        |(name, value): &(&str, String)| format!("<div><dt>{}</dt><dd>{}</dd></div>\n", escaped(name), escaped(value));
    format!("<dl class=\"facts\">\n{}</dl>\n", facts.iter().map(fact).collect::<String>())
}

/// Something to look at, and what is to be seen.
pub(crate) fn figure(html: &str, caption: &str) -> String {
    format!("<figure>{html}<figcaption>{}</figcaption></figure>\n", escaped(caption))
}

/// A cell of a table.
pub(crate) struct Cell {
    pub(crate) text: String,
    /// Whether it stands out.
    pub(crate) best: bool,
}

/// What becomes of a table on a telephone.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Narrow {
    /// Every row becomes a list, each cell beside its heading: for words.
    List,
    /// It stays a table: for small numbers.
    Table,
}

/// A table: the headings of all columns, and rows that begin with their own.
pub(crate) fn table(headings: &[String], rows: &[(String, Vec<Cell>)], narrow: Narrow) -> String {
    let heading = |text: &String| format!("<th scope=\"col\">{}</th>", escaped(text));
    let cell = |(Cell { text, best }, heading): (&Cell, &String)| {
        // A number and its unit stay together.
        let text = ["dB", "%", "points"]
            .into_iter()
            .fold(escaped(text), |text, unit| text.replace(&format!(" {unit}"), &format!("&nbsp;{unit}")));
        let class = if *best { " class=\"best\"" } else { "" };
        format!("<td{class} data-heading=\"{}\">{text}</td>", escaped(heading))
    };
    let row = |(name, cells): &(String, Vec<Cell>)| {
        let cells = cells.iter().zip(headings.iter().skip(1)).map(cell).collect::<String>();
        format!("<tr><th scope=\"row\">{}</th>{cells}</tr>\n", escaped(name))
    };
    format!(
        "<div class=\"scroll\"><table class=\"{}\">\n<thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody>\n</table></div>\n",
        match narrow {
            Narrow::List => "listed",
            Narrow::Table if headings.len() > MANY => "dense",
            Narrow::Table => "",
        },
        headings.iter().map(heading).collect::<String>(),
        rows.iter().map(row).collect::<String>()
    )
}

/// A command to type.
pub(crate) fn shell(command: &str) -> String {
    // A word is one piece: a line may not end between the dashes of an option.
    let words = |line: &str| {
        let words = line.split(' ').map(|word| format!("<span>{}</span>", escaped(word)));
        words.collect::<Vec<_>>().join(" ")
    };
    format!("<pre><code>{}</code></pre>\n", command.lines().map(words).collect::<Vec<_>>().join("\n"))
}

/// What was typed to start the program, as a shell wants it.
fn command() -> String {
    let words = std::env::args_os().skip(1).map(|word| quoted(&word.to_string_lossy()));
    std::iter::once("sparsemble".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// A word as a shell wants it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Text that may stand in a page.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_break_out_of_the_page() {
        assert_eq!(escaped("<script>\"&"), "&lt;script&gt;&quot;&amp;");
        let mut page = Page::new("<i>", "<b>", "<u>");
        page.section(
            "one",
            "<s>",
            &table(
                &["<th>".into(), "<em>".into()],
                &[("<a>".into(), vec![Cell { text: "<p>".into(), best: true }])],
                Narrow::List,
            ),
        );
        let html = page.end(&[("<dt>", "<dd>".into())]);
        for tag in ["<i>", "<b>", "<u>", "<s>", "<a>", "<p>"] {
            assert!(!html.contains(tag), "{tag}");
        }
        assert!(
            html.contains("<title>&lt;b&gt;</title>")
                && html.contains("<td class=\"best\" data-heading=\"&lt;em&gt;\">&lt;p&gt;</td>")
        );
        assert!(html.contains("<dt>&lt;dt&gt;</dt><dd>&lt;dd&gt;</dd>"));
    }

    #[test]
    fn words_are_quoted_where_a_shell_would_not_take_them_as_they_are() {
        assert_eq!(
            ["a-b_c./d:e=1,2", "a b", "it's", "", "$HOME"].map(quoted),
            ["a-b_c./d:e=1,2", "'a b'", "'it'\\''s'", "''", "'$HOME'"]
        );
    }
}
