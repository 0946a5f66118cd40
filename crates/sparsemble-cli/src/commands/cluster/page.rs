//! The page to look at: clusters on a map, the graph, its eigenvalues, the classes.

use std::fmt::Write;

use anyhow::Result;
use sparsemble::clustering::{SpectralClusters, cluster_map, graph_picture};
use sparsemble::graph::Graph;
use sparsemble::matrix_file::Classes;
use sparsemble::metrics::Agreement;
use sparsemble_paper::plot::{Labels, Series, lines};

use super::{Found, headline};
use crate::args::ClusterArguments;
use crate::html::{self, Cell, Narrow, Page, facts, figure, table};

/// The most points that are drawn; of more, every so many.
const MOST_POINTS: usize = 4000;

/// Of more clusters than these the least and the largest size are told.
const MOST_SIZES: usize = 30;
/// The side of the picture of the graph.
const GRAPH_SIDE: usize = 400;
/// The side of the map, and what is left free around the points.
const SIDE: f64 = 560.0;
const MARGIN: f64 = 14.0;

/// The hues of neighbouring clusters are a golden angle apart, so that any number of them differ.
const GOLDEN_ANGLE: f64 = 137.508;

pub(super) fn of(arguments: &ClusterArguments, found: &Found) -> Result<String> {
    let (clusters, vertices) = (&found.clusters, &found.clusters.vertices);
    let name = arguments.samples.file_name().unwrap_or_default().to_string_lossy();
    let mut page =
        Page::new("sparsemble cluster", &format!("Clusters of {name}"), &format!("{}.", headline(arguments, found)));
    if let Some((_, agreement)) = &found.classes {
        page.add(&scores(agreement));
    }
    if let Some(built) = clusters.similarity.graph() {
        let figures = map(&built.graph, vertices)? + &affinity(&built.graph, vertices)?;
        page.section(
            "graph",
            "The clusters",
            &format!("<div class=\"grid\" style=\"--least: 24rem\">\n{figures}</div>\n"),
        );
    }
    page.section("eigenvalues", "How many clusters there are", &eigenvalues(vertices));
    if let Some((classes, agreement)) = &found.classes {
        page.section("classes", "Who is where", &confusion(classes, agreement));
    }
    let mut settings = vec![
        ("samples", arguments.samples.display().to_string()),
        ("method", arguments.method.to_string()),
        ("clusters", vertices.counts.len().to_string() + if vertices.guesses.is_empty() { "" } else { ", a guess" }),
        ("features divided by", clusters.scale.to_string()),
        ("seed", arguments.seed.to_string()),
    ];
    settings.extend(arguments.label_column.as_ref().map(|column| ("classes", column.clone())));
    Ok(page.end(&settings))
}

/// How many samples each cluster has.
pub(super) fn sizes(labels: &[u32], n_clusters: usize) -> String {
    let size = |cluster: u32| labels.iter().filter(|label| **label == cluster).count();
    if n_clusters <= MOST_SIZES {
        return (0..n_clusters as u32).map(|cluster| size(cluster).to_string()).collect::<Vec<_>>().join(", ");
    }
    let (least, most) =
        (0..n_clusters as u32).map(size).fold((usize::MAX, 0), |(least, most), size| (least.min(size), most.max(size)));
    format!("{least} to {most}")
}

fn scores(agreement: &Agreement) -> String {
    let per_cent = |share: f64| format!("{:.1} %", 100.0 * share);
    facts(&[
        ("accuracy", per_cent(agreement.accuracy())),
        ("NMI", per_cent(agreement.nmi())),
        ("ARI", per_cent(agreement.ari())),
    ])
}

/// The vertices on a map of the clusters.
pub(crate) fn map(graph: &Graph, vertices: &SpectralClusters) -> Result<String> {
    let map = cluster_map(graph, &vertices.labels, vertices.counts.len())?;
    let every = map.columns().div_ceil(MOST_POINTS).max(1);
    let largest = map.as_slice().iter().fold(1e-12_f64, |largest, x| largest.max(x.abs()));
    let place = |x: f64| 0.5 * SIDE + x / largest * (0.5 * SIDE - MARGIN);
    let mut svg = format!(
        "<svg class=\"map framed\" viewBox=\"0 0 {SIDE} {SIDE}\" role=\"img\" \
         aria-label=\"Samples on a map, coloured by cluster\">\n"
    );
    for i in (0..map.columns()).step_by(every) {
        let (x, y) = (place(map.column(i)[0]), place(-map.column(i)[1]));
        let _ = writeln!(
            svg,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.5\" fill=\"{}\" fill-opacity=\".75\"/>",
            colour(vertices.labels[i])
        );
    }
    let key = |cluster: usize| {
        format!("<span><span class=\"key\" style=\"background: {}\"></span> {cluster}</span>", colour(cluster as u32))
    };
    let keys: Vec<String> = (0..vertices.counts.len()).map(key).collect();
    let part = if every == 1 { String::new() } else { format!(" One of {every} samples is shown.") };
    let caption = "Each cluster is a disc. A sample lies between the clusters in the shares of its links to them: those outside \
                   their disc are the doubtful ones.";
    Ok(figure(&format!("{svg}</svg><div class=\"keys\">{}</div>", keys.join(" ")), &(caption.to_owned() + &part)))
}

/// The graph as a picture.
fn affinity(graph: &Graph, vertices: &SpectralClusters) -> Result<String> {
    let picture = graph_picture(graph, &vertices.labels, GRAPH_SIDE)?;
    let caption = "The graph: samples in the order of their clusters, darker where they are more alike. Clusters that are apart \
                   are squares along the diagonal.";
    let description = "The graph, samples in the order of their clusters";
    Ok(figure(&html::picture(&picture, "pixels framed", description)?, caption))
}

fn colour(cluster: u32) -> String {
    format!(
        "hsl({:.0} 65% {}%)",
        f64::from(cluster) * GOLDEN_ANGLE % 360.0,
        if cluster.is_multiple_of(2) { 42 } else { 58 }
    )
}

/// The leading eigenvalues: a fall after the k-th speaks for k clusters.
fn eigenvalues(vertices: &SpectralClusters) -> String {
    let values: Vec<String> = vertices.eigenvalues.iter().map(|value| format!("{value:.4}")).collect();
    let labels = Labels { title: "Leading eigenvalues of the graph", horizontal: "number", vertical: "eigenvalue" };
    let plot = lines(&labels, &[Series::new("eigenvalue", vertices.eigenvalues.clone(), 0)]);
    let caption = format!("A fall after the k-th eigenvalue speaks for k clusters: {}.", values.join(", "));
    figure(&html::plot(&plot, &format!("Leading eigenvalues of the graph: {}", values.join(", "))), &caption)
}

/// How many samples of each class are in each cluster.
pub(crate) fn confusion(classes: &Classes, agreement: &Agreement) -> String {
    let counts = agreement.counts();
    let headings: Vec<String> =
        std::iter::once("class".to_owned()).chain((0..counts.columns()).map(|cluster| cluster.to_string())).collect();
    let row = |(class, name): (usize, &String)| {
        let cell = |cluster: usize| Cell {
            text: counts.get(class, cluster).to_string(),
            best: agreement.pairs().contains(&(class, cluster)),
        };
        (name.clone(), (0..counts.columns()).map(cell).collect::<Vec<_>>())
    };
    let rows: Vec<_> = classes.names.iter().enumerate().take(counts.rows()).map(row).collect();
    let caption =
        "How many samples of each class are in each cluster. A class and the cluster that goes with it stand out.";
    format!("<p>{caption}</p>\n{}", table(&headings, &rows, Narrow::Table))
}
