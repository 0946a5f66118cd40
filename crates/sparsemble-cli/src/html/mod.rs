//! The parts that the pages of the program are made of. A page is one file: it fetches nothing, and it shows the same
//! pictures without its one small script.

mod compare;
mod picture;

use std::fmt::Write;

pub(crate) use compare::{HINT, Layer, Window, compare};
pub(crate) use picture::{heat_map, photo, picture, plot};

const STYLE: &str = concat!(include_str!("page.css"), include_str!("compare.css"));
const SCRIPT: &str = include_str!("compare.js");

/// Nothing but what is in the page itself.
const POLICY: &str = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// A whole page: what is in the bar of the browser, what is said of its looks beyond the common, and what is on it.
pub(crate) fn document(title: &str, style: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <title>{}</title>\n<style>\n{STYLE}{style}</style>\n\
         <script>document.documentElement.classList.add(\"js\")</script>\n</head>\n<body>\n{body}\
         <script>\n{SCRIPT}</script>\n</body>\n</html>\n",
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
            .map(|(name, value)| format!("<dt>{}</dt><dd>{}</dd>", escaped(name), escaped(value)))
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

/// A table: the headings of all columns, and rows that begin with their own.
pub(crate) fn table(headings: &[String], rows: &[(String, Vec<Cell>)]) -> String {
    let heading = |text: &String| format!("<th scope=\"col\">{}</th>", escaped(text));
    let cell = |Cell { text, best }: &Cell| {
        format!("<td{}>{}</td>", if *best { " class=\"best\"" } else { "" }, escaped(text))
    };
    let row = |(name, cells): &(String, Vec<Cell>)| {
        let cells = cells.iter().map(cell).collect::<String>();
        format!("<tr><th scope=\"row\">{}</th>{cells}</tr>\n", escaped(name))
    };
    format!(
        "<div class=\"scroll\"><table>\n<thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody>\n</table></div>\n",
        headings.iter().map(heading).collect::<String>(),
        rows.iter().map(row).collect::<String>()
    )
}

/// A command to type.
pub(crate) fn shell(command: &str) -> String {
    format!("<pre><code>{}</code></pre>\n", escaped(command))
}

/// What was typed to start the program, as a shell wants it.
fn command() -> String {
    let words = std::env::args().skip(1).map(|word| quoted(&word));
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
            &table(&["<th>".into()], &[("<a>".into(), vec![Cell { text: "<p>".into(), best: true }])]),
        );
        let html = page.end(&[("<dt>", "<dd>".into())]);
        for tag in ["<i>", "<b>", "<u>", "<s>", "<a>", "<p>"] {
            assert!(!html.contains(tag), "{tag}");
        }
        assert!(html.contains("<title>&lt;b&gt;</title>") && html.contains("<td class=\"best\">&lt;p&gt;</td>"));
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
