//! The page to look at: one HTML file with the pictures inside it.

use anyhow::Result;
use sparsemble::image::Size;
use sparsemble::metrics::Agreement;

use super::digits::FILE;
use super::report::{HEADINGS, Report};
use super::task::{Answer, Task, part};
use crate::commands::cluster::page::{confusion, map};
use crate::commands::picture_page::mosaics_side_by_side;
use crate::html::{Cell, HINT, Layer, Narrow, Page, compare, escaped, photo, picture, shell, table};

/// The side of the pieces at the top of the page.
const DETAIL: usize = 160;

pub(super) fn of(report: &Report) -> Result<String> {
    let seconds: f64 = report.tasks.iter().map(|task| task.seconds).sum::<f64>() + report.digits.seconds;
    let lead = format!(
        "Five things that sparse models do, on photographs and a table that are part of the program: {seconds:.0} seconds of \
         work on {} thread{}, no training, no download.",
        report.threads,
        if report.threads == 1 { "" } else { "s" }
    );
    let mut page = Page::new("sparsemble demo", "What sparsemble does", &lead);
    page.add(&cards(report)?);
    page.section("summary", "In figures", &summary(report));
    for task in report.tasks {
        page.section(task.slug, task.title, &section(task, report)?);
    }
    page.section("cluster", "Group handwritten digits", &digits(report)?);
    Ok(page.close())
}

/// A piece of every task, half before and half after, with a link to it.
fn cards(report: &Report) -> Result<String> {
    let size = Size { width: DETAIL, height: DETAIL };
    let mut html = "<ul class=\"cards\">\n".to_owned();
    for task in report.tasks {
        let [before, usual, ours] = &task.answers;
        let piece = |answer: &Answer| photo(&part(&answer.picture, task.detail, size)?, "", answer.name);
        html += &card(
            task.slug,
            &format!("<div class=\"halves two\">{}{}</div>", piece(before)?, piece(ours)?),
            task.short,
            [format!("{:.1} dB", ours.psnr), format!("{} {:.1} dB", usual.name, usual.psnr)],
        );
    }
    if let Some((name, mosaic)) = report.digits.clusters.first() {
        let per_cent = |agreement: &Agreement| format!("{:.1} %", 100.0 * agreement.accuracy());
        let halves = format!("<div class=\"halves\">{}</div>", picture(mosaic, "", name)?);
        let figures = [per_cent(&report.digits.ours), format!("K-Means {}", per_cent(&report.digits.k_means))];
        html += &card("cluster", &halves, "Group digits", figures);
    }
    Ok(html + "</ul>\n")
}

/// What to look at, what it is, our figure and the usual one.
fn card(link: &str, html: &str, name: &str, [ours, usual]: [String; 2]) -> String {
    let [ours, usual] = [ours, usual].map(|text| escaped(&text));
    format!(
        "<li><a href=\"#{link}\">{html}<strong>{name}</strong><span><em>{ours}</em></span><span>{usual}</span></a></li>\n"
    )
}

fn summary(report: &Report) -> String {
    let rows: Vec<(String, Vec<Cell>)> = report
        .lines()
        .into_iter()
        .map(|(name, cells)| {
            let cell = |(number, text): (usize, String)| Cell { text, best: number == 2 };
            (name, cells.into_iter().enumerate().map(cell).collect())
        })
        .collect();
    let note = "<p>PSNR against the original, or the share of the digits that are in the right group: more is better. The gain is \
                over the baseline.</p>\n";
    format!("{}{note}", table(&HEADINGS.map(str::to_owned), &rows, Narrow::List))
}

fn section(task: &Task, report: &Report) -> Result<String> {
    let layer = |answer: &Answer| Layer {
        name: format!("{}, {:.2} dB", answer.name, answer.psnr),
        picture: answer.picture.clone(),
    };
    let mut layers: Vec<Layer> = task.answers.iter().map(layer).collect();
    layers.push(Layer { name: "original".to_owned(), picture: task.original.clone() });
    // Said once.
    let hint = if task.slug == report.tasks[0].slug { HINT } else { "" };
    Ok(format!(
        "<p>{} It took {:.1} seconds.</p>\n{hint}{}<p class=\"do\">Do it yourself:</p>\n{}",
        escaped(task.words),
        task.seconds,
        compare(&layers, 2, "")?,
        shell(&in_folder(task.commands, report))
    ))
}

fn in_folder(commands: &str, report: &Report) -> String {
    commands.replace("DIR", &report.folder.display().to_string())
}

fn digits(report: &Report) -> Result<String> {
    let digits = report.digits;
    let words = format!(
        "{} digits of 8 × 8 pixels, written by hand, in ten groups, found without being told what they are: each is coded by the \
         nearest atoms of thirty dictionaries of other digits, and those that share atoms are alike. K-Means, the best of ten, \
         has the right group for {:.1} % of them, this {:.1} %, in {:.1} seconds. Below is a part of each group.",
        digits.found.labels.len(),
        100.0 * digits.k_means.accuracy(),
        100.0 * digits.ours.accuracy(),
        digits.seconds
    );
    let graph = digits.found.similarity.graph().map(|built| map(&built.graph, &digits.found.vertices)).transpose()?;
    let command =
        format!("sparsemble cluster DIR/{FILE} -k 10 --label-column digit --report digits.html -o groups.csv");
    Ok(format!(
        "<p>{}</p>\n{}<div class=\"grid\" style=\"--least: 24rem; margin-top: 2rem\">\n{}<div>{}</div>\n</div>\n\
         <p class=\"do\">Do it yourself:</p>\n{}",
        escaped(&words),
        mosaics_side_by_side(&digits.clusters)?.replace("--least: 14rem", "--least: 10rem"),
        graph.unwrap_or_default(),
        confusion(&digits.classes, &digits.ours),
        shell(&in_folder(&command, report))
    ))
}
