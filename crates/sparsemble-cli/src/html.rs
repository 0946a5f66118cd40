//! What the pages of the program share: one file each, which fetches nothing and runs nothing.

use anyhow::Result;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sparsemble::image::{BitDepth, GrayImage, encode_png};

const STYLE: &str = "\
  :root { color-scheme: light dark; }
  body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; padding: 0 1rem; }
  figure { margin: 0; }
  img { width: 100%; height: auto; display: block; }
  table { border-collapse: collapse; display: block; overflow-x: auto; font-variant-numeric: tabular-nums; }
  th, td { border-bottom: 1px solid #8886; text-align: right; white-space: nowrap; }
  th:first-child, td:first-child { text-align: left; padding-left: 0; }
";

/// A whole page: what is in the bar of the browser, what is said of its looks beyond the common, and what is on it.
pub(crate) fn document(title: &str, style: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>\n{STYLE}{style}</style>\n</head>\n<body>\n{body}</body>\n</html>\n",
        escaped(title)
    )
}

/// A picture inside the page, described for those who do not see it.
pub(crate) fn picture(picture: &GrayImage, class: &str, description: &str) -> Result<String> {
    let data = STANDARD.encode(encode_png(picture, BitDepth::Eight)?);
    let (size, description) = (picture.size(), escaped(description));
    Ok(format!(
        "<img class=\"{class}\" alt=\"{description}\" width=\"{}\" height=\"{}\" src=\"data:image/png;base64,{data}\">",
        size.width, size.height
    ))
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
        assert!(document("<b>", "", "").contains("<title>&lt;b&gt;</title>"));
    }
}
