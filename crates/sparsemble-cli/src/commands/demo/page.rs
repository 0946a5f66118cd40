//! The page to look at: one HTML file with the pictures inside it.

use anyhow::Result;
use sparsemble::image::GrayImage;

use super::contenders::N_ATOMS;
use super::report::{HEADINGS, NOTE, Report};
use super::trial::Outcome;
use crate::html;

const STYLE: &str = "\
  body { max-width: 1100px; }
  th, td { padding: .3rem .9rem; }
  .pictures { display: grid; grid-template-columns: repeat(auto-fill, minmax(300px, 1fr)); gap: 1.5rem; }
  .atoms { image-rendering: pixelated; }
";

/// Whose atoms are shown: random patches, and what is made of them.
const SHOWN: [&str; 3] = ["one-sparse", "alt-opt", "boost-km"];

pub(super) fn of(report: &Report) -> Result<String> {
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
    let body = format!(
        "<h1>One photograph, every coder and ensemble</h1>\n<p>{}.</p>\n\
         <table>\n<thead><tr><th scope=\"col\">model and coder</th>{header}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n\
         <p>{NOTE}</p>\n\
         <div class=\"pictures\">\n{figures}</div>\n",
        report.caption()
    );
    Ok(html::document("sparsemble demo", STYLE, &body))
}

fn figure(picture: &GrayImage, class: &str, caption: &str) -> Result<String> {
    Ok(format!("<figure>{}<figcaption>{caption}</figcaption></figure>\n", html::picture(picture, class, caption)?))
}
