//! The page of the experiments: what must be on it, and what must not.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use sparsemble_paper::fig6::{self, Timing};
use sparsemble_paper::{
    Cell, Contender, Enlarging, Experiment, Omitted, Outcome, Provenance, Sensing, Settings, printed, report, table1,
};

/// Table 1 with numbers that are all this far from the printed ones.
fn table(apart: f64) -> Outcome {
    let names: Vec<String> = printed::PICTURES.map(|(name, _)| name.to_owned()).to_vec();
    let cells = printed::MEASUREMENTS.into_iter().enumerate().flat_map(|(block, n_measurements)| {
        Contender::ALL.map(|contender| {
            let theirs = |row: &[f64; 5]| contender.printed().map_or(20.0, |column| row[column]);
            let psnr = printed::TABLE_1[block].iter().map(|row| theirs(row) + apart).collect();
            Cell { draw: 0, n_measurements, contender, psnr, seconds: 1.0 }
        })
    });
    table1::outcome(&Sensing::paper(1), &names, &cells.collect::<Vec<_>>())
}

fn times() -> Outcome {
    let timing = |method| Timing { method, n_samples: 1000, seconds: 1.0 };
    fig6::outcome(&Enlarging::paper(1), &fig6::METHODS.map(timing))
}

fn page(outcomes: &[Outcome], omitted: &[Omitted]) -> String {
    let command = "sparsemble paper all --data <folder>".to_owned();
    report(outcomes, omitted, &Provenance { settings: Settings::paper(1), command, quick: false }).body
}

#[test]
fn deviations_are_told_by_words_and_marks_and_not_by_colour_alone() {
    let entries = |apart: f64| {
        let page = page(&[table(apart)], &[]);
        // The first picture by Alt-Opt, for which the paper has 21.55 dB.
        let compared = page.split("<td class=").find(|rest| rest.contains("<span class=\"theirs\">")).unwrap();
        compared.split("</td>").next().unwrap().to_owned()
    };
    assert_eq!(entries(0.3), "\"near\">21.85<span class=\"theirs\">21.55 ≈ +0.30</span>");
    assert_eq!(entries(1.0), "\"above\">22.55<span class=\"theirs\">21.55 ▲ +1.00</span>");
    assert_eq!(entries(2.0), "\"far above\">23.55<span class=\"theirs\">21.55 ▲ +2.00</span>");
    assert_eq!(entries(-1.0), "\"below\">20.55<span class=\"theirs\">21.55 ▼ -1.00</span>");
    assert_eq!(entries(-2.0), "\"far below\">19.55<span class=\"theirs\">21.55 ▼ -2.00</span>");
    assert_eq!(entries(f64::NAN), "\"far below\">NaN<span class=\"theirs\">21.55 ▼ NaN</span>");
    // Three N, eight pictures and their mean, five methods.
    let page = page(&[table(0.3)], &[]);
    assert!(page.contains("means included</dt><dd>135 of 135</dd>"), "{}", &page[..2000]);
    assert!(page.contains("≈ within 0.4 dB</span>") && page.contains("if by more than 1.20 dB."));
}

#[test]
fn statements_are_judged_settings_stated_and_what_is_missing_is_named() {
    let missing = vec!["clustering/usps9298.csv".to_owned()];
    let page = page(&[table(0.0), times()], &[Omitted { experiment: Experiment::Table3, missing }]);
    assert!(page.contains("<dt>statements that hold</dt><dd>6 of 9</dd>"), "{}", &page[..2000]);
    assert!(page.contains("</span> does not hold</span>") && page.contains(printed::ORDER_OF_TIMES.words));
    assert!(page.contains("<th scope=\"row\">drawn training patches</th><td class=\"words\">100000</td>"));
    assert!(page.contains("<strong>Table 3</strong>: the data folder has no <code>clustering/usps9298.csv</code>"));
    assert!(page.contains("<strong>Fig. 4</strong>: a drawing"));
    assert!(page.contains("sparsemble paper all --data &lt;folder&gt;"));
    // Remarks about experiments that are on the page, and no others.
    assert!(page.contains("<strong>Samples of Fig. 6</strong>") && !page.contains("<strong>Clustering</strong>"));
    assert!(page.contains("<strong>mean</strong>") && !page.contains("**"));
}

#[test]
fn the_page_fetches_nothing_and_its_elements_are_closed() {
    let page = page(&[table(0.5), times()], &[]);
    for foreign in ["<script", "src=\"", "href=\"http", "url(", "@import", "<link"] {
        assert!(!page.contains(foreign), "{foreign}");
    }
    let mut open = Vec::new();
    for tag in page.split('<').skip(1).map(|rest| rest.split('>').next().unwrap()) {
        let name = tag.trim_start_matches('/').split([' ', '\n', '/']).next().unwrap();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "</{name}>");
        } else if !tag.ends_with('/') && !["!doctype", "meta"].contains(&name) {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
    // Every link leads to a place on the page.
    for place in page.split("href=\"#").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        assert_eq!(page.matches(&format!("id=\"{place}\"")).count(), 1, "{place}");
    }
}
