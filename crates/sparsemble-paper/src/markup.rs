//! Words with a little Markdown, as HTML: `**strong**`, `*emphasis*`, code, and links of which only the words stay.

/// Text that may stand in a page.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The words as HTML. A mark without its partner stays as it is.
pub(crate) fn html(words: &str) -> String {
    let mut page = String::new();
    let mut rest = words;
    while let Some(at) = rest.find(['*', '`', '[']) {
        page += &escaped(&rest[..at]);
        rest = &rest[at..];
        let (made, after) = marked(rest).unwrap_or_else(|| {
            let (mark, after) = rest.split_at(1);
            (mark.to_owned(), after)
        });
        page += &made;
        rest = after;
    }
    page + &escaped(rest)
}

/// What stands between the marks that the text begins with, and what is after them.
fn marked(text: &str) -> Option<(String, &str)> {
    let is_inside = |inside: &str| !inside.is_empty() && inside.trim() == inside;
    let between = |mark: &str| text.strip_prefix(mark)?.split_once(mark).filter(|(inside, _)| is_inside(inside));
    if let Some((inside, after)) = between("`") {
        return Some((format!("<code>{}</code>", escaped(inside)), after));
    }
    if let Some((inside, after)) = between("**") {
        return Some((format!("<strong>{}</strong>", html(inside)), after));
    }
    if let Some((inside, after)) = between("*") {
        return Some((format!("<em>{}</em>", html(inside)), after));
    }
    let (inside, after) = text.strip_prefix('[')?.split_once("](")?;
    Some((html(inside), after.split_once(')')?.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_become_elements_and_nothing_breaks_out() {
        assert_eq!(
            html("**mean** of *Man* by `a < b`"),
            "<strong>mean</strong> of <em>Man</em> by <code>a &lt; b</code>"
        );
        assert_eq!(html("the [paper map](PAPER_MAP.md), \"x\""), "the paper map, &quot;x&quot;");
        assert_eq!(html("2 * 3, ** and ` alone [1]"), "2 * 3, ** and ` alone [1]");
        assert_eq!(html("<script>*<b>*"), "&lt;script&gt;<em>&lt;b&gt;</em>");
        assert_eq!(html("`*`"), "<code>*</code>");
    }
}
