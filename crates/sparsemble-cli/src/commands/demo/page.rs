//! The page to look at: one HTML file with the pictures inside it.

use anyhow::Result;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sparsemble::image::{BitDepth, GrayImage, encode_png};

use super::contenders::N_ATOMS;
use super::report::{HEADINGS, NOTE, Report};
use super::trial::Outcome;

/// Nothing is fetched and nothing runs: no fonts, no scripts.
const HEAD: &str = r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>sparsemble demo</title>
<style>
  :root { color-scheme: light dark; }
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 1100px; margin: 2rem auto; padding: 0 1rem; }
  table { border-collapse: collapse; display: block; overflow-x: auto; font-variant-numeric: tabular-nums; }
  th, td { padding: .3rem .9rem; border-bottom: 1px solid #8886; text-align: right; white-space: nowrap; }
  th:first-child, td:first-child { text-align: left; padding-left: 0; }
  .pictures { display: grid; grid-template-columns: repeat(auto-fill, minmax(300px, 1fr)); gap: 1.5rem; }
  figure { margin: 0; }
  img { width: 100%; height: auto; display: block; }
  .atoms { image-rendering: pixelated; }
</style>
</head>
<body>
"#;

/// Whose atoms are shown: random patches, and what is made of them.
const SHOWN: [&str; 3] = ["one-sparse", "alt-opt", "boost-km"];

pub(super) fn html(report: &Report) -> Result<String> {
    let header = HEADINGS.map(|heading| format!("<th scope=\"col\">{heading}</th>")).concat();
    let row = |outcome: &Outcome| {
        let cells = report.cells(outcome).map(|cell| format!("<td>{cell}</td>")).concat();
        format!("<tr><td>{}</td>{cells}</tr>\n", outcome.name)
    };
    let rows = report.outcomes.iter().map(row).collect::<Vec<_>>().concat();
    let mut figures = figure(&report.trial.photo, "", "The photograph")?;
    for outcome in report.outcomes {
        figures += &figure(&outcome.picture, "", &format!("{}: {:.2} dB", outcome.name, outcome.psnr))?;
    }
    for outcome in report.outcomes.iter().filter(|outcome| SHOWN.contains(&outcome.slug)) {
        figures += &figure(&outcome.mosaic, "atoms", &format!("{N_ATOMS} atoms of {}", outcome.name))?;
    }
    Ok(format!(
        "{HEAD}<h1>One photograph, every coder and ensemble</h1>\n<p>{}.</p>\n\
         <table>\n<thead><tr><th scope=\"col\">model and coder</th>{header}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n\
         <p>{NOTE}</p>\n\
         <div class=\"pictures\">\n{figures}</div>\n</body>\n</html>\n",
        report.caption()
    ))
}

fn figure(picture: &GrayImage, class: &str, caption: &str) -> Result<String> {
    let data = STANDARD.encode(encode_png(picture, BitDepth::Eight)?);
    Ok(format!(
        "<figure><img class=\"{class}\" alt=\"{caption}\" width=\"{}\" height=\"{}\" \
         src=\"data:image/png;base64,{data}\">\
         <figcaption>{caption}</figcaption></figure>\n",
        picture.size().width,
        picture.size().height
    ))
}
