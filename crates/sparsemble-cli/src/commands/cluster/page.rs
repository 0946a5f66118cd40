//! The page to look at: clusters on a map, the graph, the classes; one HTML file that fetches nothing.

use std::fmt::Write;

use anyhow::Result;
use sparsemble::clustering::{cluster_map, graph_picture};
use sparsemble::graph::Graph;
use sparsemble::matrix_file::Classes;
use sparsemble::metrics::Agreement;

use super::{Found, headline};
use crate::args::ClusterArguments;
use crate::html::{self, escaped};

/// The most points that are drawn; of more, every so many.
const MOST_POINTS: usize = 4000;
/// The side of the picture of the graph.
const GRAPH_SIDE: usize = 400;
/// The side of the map, and what is left free around the points.
const SIDE: f64 = 560.0;
const MARGIN: f64 = 14.0;

/// The hues of neighbouring clusters are a golden angle apart, so that any number of them differ.
const GOLDEN_ANGLE: f64 = 137.508;

const STYLE: &str = "\
  body { max-width: 1240px; }
  .parts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 420px), 1fr)); gap: 2rem; }
  figcaption { opacity: .8; }
  svg { width: 100%; height: auto; display: block; }
  svg, img { border: 1px solid #8886; }
  img { image-rendering: pixelated; }
  th, td { padding: .2rem .7rem; }
  td.pair { font-weight: 700; }
  .keys span { white-space: nowrap; }
  .key { display: inline-block; width: .8em; height: .8em; border-radius: 50%; }
  code { overflow-wrap: anywhere; }
";

pub(super) fn of(arguments: &ClusterArguments, found: &Found) -> Result<String> {
    let words: Vec<String> = std::env::args().skip(1).map(|word| quoted(&word)).collect();
    let name = arguments.samples.file_name().unwrap_or_default().to_string_lossy();
    let mut page = format!(
        "<h1>Clusters of {}</h1>\n<p>{}.</p>\n<div class=\"parts\">\n",
        escaped(&name),
        escaped(&headline(arguments, found))
    );
    if let Some(built) = found.clusters.similarity.graph() {
        page += &points(found, &built.graph)?;
        let picture = graph_picture(&built.graph, &found.clusters.vertices.labels, GRAPH_SIDE)?;
        let _ = writeln!(
            page,
            "<figure>{}<figcaption>The graph: samples in the order of their clusters, darker where they are more alike. \
             Clusters that are apart are squares along the diagonal.</figcaption></figure>",
            html::picture(&picture, "", "The graph, samples in the order of their clusters")?,
        );
    }
    page += "</div>\n";
    page += &eigenvalues(&found.clusters.vertices.eigenvalues);
    if let Some((classes, agreement)) = &found.classes {
        page += &confusion(classes, agreement);
    }
    let _ = writeln!(page, "<p>Repeat it: <code>sparsemble {}</code></p>", escaped(&words.join(" ")));
    Ok(html::document(&format!("Clusters of {name}"), STYLE, &page))
}

/// How many samples each cluster has.
pub(super) fn sizes(labels: &[u32], n_clusters: usize) -> Vec<String> {
    (0..n_clusters as u32).map(|cluster| labels.iter().filter(|label| **label == cluster).count().to_string()).collect()
}

/// The vertices on a map of the clusters.
fn points(found: &Found, graph: &Graph) -> Result<String> {
    let vertices = &found.clusters.vertices;
    let map = cluster_map(graph, &vertices.labels, vertices.counts.len())?;
    let every = map.columns().div_ceil(MOST_POINTS).max(1);
    let shown: Vec<usize> = (0..map.columns()).step_by(every).collect();
    let largest = map.as_slice().iter().fold(1e-12_f64, |largest, x| largest.max(x.abs()));
    let place = |x: f64| 0.5 * SIDE + x / largest * (0.5 * SIDE - MARGIN);
    let mut svg =
        format!("<svg viewBox=\"0 0 {SIDE} {SIDE}\" role=\"img\" aria-label=\"Samples coloured by cluster\">\n");
    for &i in &shown {
        let (x, y) = (place(map.column(i)[0]), place(-map.column(i)[1]));
        let _ = writeln!(
            svg,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.5\" fill=\"{}\" fill-opacity=\".7\"/>",
            colour(vertices.labels[i])
        );
    }
    let key = |cluster: usize| {
        format!("<span><span class=\"key\" style=\"background:{}\"></span> {cluster}</span>", colour(cluster as u32))
    };
    let keys: Vec<String> = (0..vertices.counts.len()).map(key).collect();
    let part = if every == 1 { String::new() } else { format!("; one of {every} samples is shown") };
    Ok(format!(
        "<figure>{svg}</svg><figcaption>Each cluster is a disc. A sample lies between the clusters in the shares of its links to \
         them: those outside their disc are the doubtful ones{part}. Clusters: <span class=\"keys\">{}</span></figcaption></figure>\n",
        keys.join(" ")
    ))
}

fn colour(cluster: u32) -> String {
    format!(
        "hsl({:.0} 65% {}%)",
        f64::from(cluster) * GOLDEN_ANGLE % 360.0,
        if cluster.is_multiple_of(2) { 42 } else { 58 }
    )
}

fn eigenvalues(values: &[f64]) -> String {
    let cells: Vec<String> = values.iter().map(|value| format!("{value:.4}")).collect();
    format!("<p>Leading eigenvalues of the graph: {}</p>\n", cells.join(", "))
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

/// How many samples of each class are in each cluster.
fn confusion(classes: &Classes, agreement: &Agreement) -> String {
    let counts = agreement.counts();
    let heading = |cluster: usize| format!("<th scope=\"col\">{cluster}</th>");
    let header = (0..counts.columns()).map(heading).collect::<Vec<_>>().concat();
    let mut rows = String::new();
    for (class, name) in classes.names.iter().enumerate().take(counts.rows()) {
        let cell = |cluster: usize| {
            let kind = if agreement.pairs().contains(&(class, cluster)) { " class=\"pair\"" } else { "" };
            format!("<td{kind}>{}</td>", counts.get(class, cluster))
        };
        let cells = (0..counts.columns()).map(cell).collect::<Vec<_>>().concat();
        let _ = writeln!(rows, "<tr><th scope=\"row\">{}</th>{cells}</tr>", escaped(name));
    }
    format!(
        "<h2>Classes</h2>\n<p>Accuracy {:.2} %, NMI {:.2} %, ARI {:.2} %. How many samples of each class are in each \
         cluster; a class and the cluster that goes with it are bold.</p>\n\
         <table>\n<thead><tr><th scope=\"col\">class</th>{header}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n",
        100.0 * agreement.accuracy(),
        100.0 * agreement.nmi(),
        100.0 * agreement.ari()
    )
}
