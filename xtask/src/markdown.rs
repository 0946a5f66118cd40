//! As much of Markdown as the checks need: fences, code spans, links and headings.

/// A document cut into prose lines and fenced blocks.
#[derive(Debug, Default)]
pub(crate) struct Markdown<'a> {
    /// The lines outside fences, with their numbers.
    pub(crate) prose: Vec<(usize, &'a str)>,
    pub(crate) fences: Vec<Fence<'a>>,
}

/// A block between lines of three backticks.
#[derive(Debug)]
pub(crate) struct Fence<'a> {
    /// The line of the opening backticks.
    pub(crate) line: usize,
    /// The word after them.
    pub(crate) language: &'a str,
    pub(crate) lines: Vec<&'a str>,
}

impl<'a> Markdown<'a> {
    pub(crate) fn parse(text: &'a str) -> Self {
        let mut document = Self::default();
        let mut inside = false;
        for (line, content) in (1..).zip(text.lines()) {
            if let Some(language) = content.trim_start().strip_prefix("```") {
                inside = !inside;
                if inside {
                    document.fences.push(Fence { line, language: language.trim(), lines: Vec::new() });
                }
            } else if !inside {
                document.prose.push((line, content));
            } else if let Some(fence) = document.fences.last_mut() {
                fence.lines.push(content);
            }
        }
        document
    }

    /// The text of every code span, with its line.
    pub(crate) fn code_spans(&self) -> impl Iterator<Item = (usize, &'a str)> + '_ {
        self.prose.iter().flat_map(|&(line, content)| code_spans(content).map(move |span| (line, span)))
    }

    /// The target of every link, with its line.
    pub(crate) fn links(&self) -> impl Iterator<Item = (usize, String)> + '_ {
        self.prose.iter().flat_map(|&(line, content)| {
            let without_code: String = content.split('`').step_by(2).collect();
            let targets = without_code.split("](").skip(1).filter_map(|rest| rest.split(')').next());
            targets.map(|target| (line, target.to_owned())).collect::<Vec<_>>()
        })
    }

    /// The anchors of the headings, made as GitHub makes them.
    pub(crate) fn anchors(&self) -> impl Iterator<Item = String> + '_ {
        self.prose.iter().filter(|(_, content)| content.starts_with('#')).map(|(_, content)| {
            let heading = content.trim_start_matches('#').trim().to_lowercase();
            let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
            kept.map(|c| if c == ' ' { '-' } else { c }).collect()
        })
    }
}

/// The text between single backticks on one line.
pub(crate) fn code_spans(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# A `title`, twice\nsee [the `map`](docs/MAP.md#two) and `code [no](link)`\n\
                        ```sh\ncargo run # [no](link)\n```\n## Two\n";

    #[test]
    fn fences_are_kept_apart_from_prose() {
        let document = Markdown::parse(TEXT);
        assert_eq!(document.fences.len(), 1);
        assert_eq!((document.fences[0].line, document.fences[0].language), (3, "sh"));
        assert_eq!(document.fences[0].lines, ["cargo run # [no](link)"]);
        assert_eq!(document.prose.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [1, 2, 6]);
    }

    #[test]
    fn links_are_found_outside_code_only() {
        let links: Vec<_> = Markdown::parse(TEXT).links().collect();
        assert_eq!(links, [(2, "docs/MAP.md#two".to_owned())]);
    }

    #[test]
    fn spans_and_anchors_are_found() {
        let document = Markdown::parse(TEXT);
        let spans: Vec<_> = document.code_spans().map(|(_, span)| span).collect();
        assert_eq!(spans, ["title", "map", "code [no](link)"]);
        assert_eq!(document.anchors().collect::<Vec<_>>(), ["a-title-twice", "two"]);
    }
}
