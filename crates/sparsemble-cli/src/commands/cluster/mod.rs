//! `sparsemble cluster`: samples in, a cluster for each out.

pub(crate) mod page;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Result, anyhow};
use serde_json::{Value, json};
use sparsemble::clustering::{
    Clusters, GraphClustering, GraphClusters, GraphForm, Preparation, Scaling, SpectralClustering, Stage,
};
use sparsemble::coding::SparseCodes;
use sparsemble::graph::Graph;
use sparsemble::matrix_file::{self, Classes, LabelledSamples, read_labelled_watched};
use sparsemble::metrics::Agreement;
use sparsemble::{Error, Run, Scalar};

use crate::args::ClusterArguments;
use crate::batch::renamed;
use crate::failure::Usage;
use crate::output::{claim, claim_for, claim_page, print, warn};
use crate::progress::Progress;

/// What columns are called that are hardly features.
const LABEL_NAMES: [&str; 11] =
    ["label", "labels", "class", "classes", "target", "cluster", "category", "kind", "species", "digit", "y"];

pub(crate) fn run(arguments: &ClusterArguments) -> Result<()> {
    let output = output(arguments);
    matrix_file::expect_clusters_name(&output)?;
    claim(&output, arguments.run.force)?;
    arguments.save_graph.iter().try_for_each(|path| claim_for("--save-graph", path, arguments.run.force))?;
    arguments.report.iter().try_for_each(|path| claim_page(path, arguments.run.force))?;
    if let Some(path) = arguments.save_graph.as_ref().filter(|path| path.extension().is_none_or(|end| end != "npz")) {
        return Err(Usage(format!("--save-graph {}: the name must end in .npz", path.display())).into());
    }
    if arguments.spectral.form == GraphForm::Implicit && (arguments.save_graph.is_some() || arguments.report.is_some())
    {
        let message = "--form implicit forms no graph, which --save-graph and --report show; leave out one of them";
        return Err(Usage(message.to_owned()).into());
    }
    match matrix_file::dtype(&arguments.samples)? {
        f32::NAME => cluster::<f32>(arguments),
        _ => cluster::<f64>(arguments),
    }
}

/// Where the clusters go: data.csv becomes data_clusters.csv, unless another name is given.
fn output(arguments: &ClusterArguments) -> PathBuf {
    let samples = &arguments.samples;
    arguments.output.clone().unwrap_or_else(|| samples.with_file_name(renamed(samples, "_clusters.csv")))
}

/// What was found, and how long each stage took.
struct Found {
    clusters: GraphClusters,
    seconds: Vec<(Stage, f64)>,
    classes: Option<(Classes, Agreement)>,
}

fn cluster<T: Scalar>(arguments: &ClusterArguments) -> Result<()> {
    let progress = Progress::start("reading")?;
    let labels = arguments.label_column.as_deref();
    let read = progress.reading("preparing", |run| read_labelled_watched::<T>(&arguments.samples, labels, run));
    let data = read.map_err(|error| {
        let is_text = arguments.label_column.is_none() && error.to_string().contains("is not a number");
        if is_text { anyhow!("{error}; a column of classes is named by --label-column") } else { error.into() }
    })?;
    progress.suspended(|| warn_of_labels(arguments, &data))?;
    let clustering = settings(arguments);
    let tell = |done: usize, total: usize| progress.tell(done, total);
    let run = Run::threads(arguments.run.threads).on_progress(&tell);
    let (mut seconds, mut since) = (Vec::new(), Instant::now());
    let mut watch = |stage: Stage| {
        seconds.push((stage, since.elapsed().as_secs_f64()));
        since = Instant::now();
        progress.say(doing(stage).to_owned());
    };
    let clusters = clustering
        .fit(data.samples.view(), None, arguments.seed, &mut watch, run)
        .map_err(|error| in_words_of_the_file(error, arguments, &data.names))?;
    drop(progress);
    let agreement = |classes: Classes| -> Result<_> {
        let agreement = Agreement::between(&classes.of_samples, &clusters.labels)?;
        Ok((classes, agreement))
    };
    let classes = data.classes.map(agreement).transpose()?;
    let found = Found { clusters, seconds, classes };
    write(arguments, &found)?;
    report(arguments, &found)
}

/// Names the file, the row and the column of what is no finite number; features are counted without the classes.
fn in_words_of_the_file(error: Error, arguments: &ClusterArguments, names: &[String]) -> anyhow::Error {
    let Error::NotFinite { what: "samples", row: feature, column: sample } = error else { return error.into() };
    let file = arguments.samples.display();
    let column = match names.get(feature).filter(|name| !name.is_empty()) {
        Some(name) => format!("column {name:?}"),
        None => format!("feature {}", feature + 1),
    };
    anyhow!("{file}: row {} of the samples, {column}: NaN or infinite; give a number, or leave the row out", sample + 1)
}

/// Says so if a column looks like the classes, or like the numbers of the rows, and is taken for a feature.
fn warn_of_labels<T: Scalar>(arguments: &ClusterArguments, data: &LabelledSamples<T>) -> Result<()> {
    if data.names.first().is_some_and(String::is_empty) {
        warn(
            "the first column has no name and is taken for a feature; if it numbers the rows, write the table without it",
        )?;
    }
    let looks_like_it = |name: &&String| LABEL_NAMES.iter().any(|label| name.eq_ignore_ascii_case(label));
    match data.names.iter().find(looks_like_it).filter(|_| arguments.label_column.is_none()) {
        None => Ok(()),
        Some(name) => {
            warn(&format!("the column {name:?} is taken for a feature; if it holds classes, add --label-column {name}"))
        }
    }
}

fn settings(arguments: &ClusterArguments) -> GraphClustering {
    let (preparation, spectral) = (&arguments.preparation, &arguments.spectral);
    let default = GraphClustering::new(arguments.clusters.0);
    GraphClustering {
        preparation: Preparation { centre: preparation.centre, scale: preparation.scale, unit: !preparation.keep_norm },
        merge_duplicates: !preparation.keep_duplicates,
        graph: arguments.method.clone(),
        form: if arguments.save_graph.is_some() || arguments.report.is_some() {
            GraphForm::Explicit
        } else {
            spectral.form
        },
        spectral: SpectralClustering {
            vectors: spectral.vectors.or(default.spectral.vectors),
            power: spectral.power.unwrap_or(default.spectral.power),
            restarts: spectral.starts.unwrap_or(default.spectral.restarts),
            ..default.spectral
        },
    }
}

/// What comes after a stage.
fn doing(stage: Stage) -> &'static str {
    match stage {
        Stage::Preparation => "coding",
        Stage::Coding => "forming the graph",
        Stage::Graph => "eigenvectors",
        Stage::Eigenvectors | Stage::KMeans => "k-means",
    }
}

fn write(arguments: &ClusterArguments, found: &Found) -> Result<()> {
    matrix_file::write_clusters(output(arguments), &found.clusters.labels)?;
    if let (Some(path), Some(built)) = (&arguments.save_graph, found.clusters.similarity.graph()) {
        matrix_file::write_codes(path, &rows(&built.graph)?)?;
    }
    if let Some(path) = &arguments.report {
        sparsemble_paper::write(path, page::of(arguments, found)?)?;
    }
    Ok(())
}

/// The graph as the rows of a sparse matrix.
fn rows(graph: &Graph) -> Result<SparseCodes<f32>> {
    let (starts, neighbours, weights) =
        (graph.starts().to_vec(), graph.neighbours().to_vec(), graph.weights().to_vec());
    Ok(SparseCodes::from_parts(graph.vertices(), starts, neighbours, weights)?)
}

fn report(arguments: &ClusterArguments, found: &Found) -> Result<()> {
    let Found { clusters, seconds, classes } = found;
    let vertices = &clusters.vertices;
    let mut lines = vec![headline(arguments, found)];
    if let Some((_, agreement)) = classes {
        lines.push(format!(
            "accuracy {:.2} %, NMI {:.2} % (by the mean of the entropies), ARI {:.2} % against the column of classes",
            100.0 * agreement.accuracy(),
            100.0 * agreement.nmi(),
            100.0 * agreement.ari()
        ));
    }
    let stages: Vec<String> = seconds.iter().map(|(stage, seconds)| format!("{stage} {seconds:.2} s")).collect();
    lines.push(stages.join(", "));
    let output = output(arguments);
    let files = [Some(&output), arguments.save_graph.as_ref(), arguments.report.as_ref()];
    let files: Vec<String> = files.into_iter().flatten().map(|path| path.display().to_string()).collect();
    lines.push(format!("wrote {}", files.join(", ")));
    print(arguments.run.json, &object(arguments, found), &lines.join("\n"))?;
    if let [taken, others @ ..] = &vertices.guesses[..] {
        let others: Vec<String> = others.iter().map(usize::to_string).collect();
        let next =
            if others.is_empty() { String::new() } else { format!(", the next widest after {}", others.join(" and ")) };
        warn(&format!(
            "the number of clusters, {taken}, is a guess by the widest gap between eigenvalues{next}; give -k if you know it"
        ))?;
    }
    if clusters.zero_samples > 0 {
        let text = "samples are the same as the mean and have no direction; they go where empty vertices go";
        warn(&format!("{} {text}", clusters.zero_samples))?;
    }
    if vertices.isolated > 0 {
        warn(&format!("{} samples are like no other; they go to the cluster nearest to zero", vertices.isolated))?;
    }
    if let Some(unconverged) = clusters.similarity.graph().map(|built| built.report.unconverged).filter(|n| *n > 0) {
        warn(&format!("the coder did not reach its tolerance for {unconverged} samples"))?;
    }
    if vertices.converged {
        return Ok(());
    }
    warn(&format!("eigenvectors or k-means did not converge (largest residual {:.1e})", vertices.residual))
}

/// What was done, in a line.
fn headline(arguments: &ClusterArguments, found: &Found) -> String {
    let clusters = &found.clusters;
    let (count, kinds) = (clusters.labels.len(), clusters.duplicates.representatives().len());
    let merged = if kinds < count { format!(" ({kinds} different)") } else { String::new() };
    let scaled = arguments.preparation.scale == Scaling::Automatic && clusters.scale != Scaling::None;
    let scale = if scaled { format!(", features divided by their {}", clusters.scale) } else { String::new() };
    let neighbours = clusters.similarity.graph().map_or_else(
        || ", graph not formed".to_owned(),
        |built| format!(", {:.0} neighbours each", built.report.mean_neighbours),
    );
    let sizes: Vec<String> = clusters.vertices.counts.iter().map(usize::to_string).collect();
    let plural = if sizes.len() == 1 { "" } else { "s" };
    format!(
        "{count} samples{merged} in {} cluster{plural} by {}{scale}{neighbours}; sizes {}",
        sizes.len(),
        arguments.method,
        page::sizes(&clusters.labels, sizes.len())
    )
}

fn object(arguments: &ClusterArguments, found: &Found) -> Value {
    let Found { clusters, seconds, classes } = found;
    let vertices = &clusters.vertices;
    let count = match arguments.clusters.0 {
        Clusters::Count(count) => count,
        Clusters::Automatic { .. } => vertices.counts.len(),
    };
    let seconds: serde_json::Map<String, Value> =
        seconds.iter().map(|(stage, seconds)| (stage.to_string(), json!(seconds))).collect();
    json!({
        "program": "sparsemble cluster",
        "version": env!("CARGO_PKG_VERSION"),
        "output": output(arguments).display().to_string(),
        "graph": arguments.save_graph.as_ref().map(|path| path.display().to_string()),
        "report": arguments.report.as_ref().map(|path| path.display().to_string()),
        "method": arguments.method.to_string(),
        "seed": arguments.seed,
        "n_samples": clusters.labels.len(),
        "n_different": clusters.duplicates.representatives().len(),
        "n_clusters": count,
        "guesses": vertices.guesses,
        "scale": clusters.scale.to_string(),
        "neighbours": clusters.similarity.graph().map(|built| built.report.mean_neighbours),
        "eigenvalues": vertices.eigenvalues,
        "residual": vertices.residual,
        "components": vertices.components,
        "isolated": vertices.isolated,
        "inertia": vertices.inertia,
        "converged": vertices.converged,
        "accuracy": classes.as_ref().map(|(_, agreement)| agreement.accuracy()),
        "nmi": classes.as_ref().map(|(_, agreement)| agreement.nmi()),
        "ari": classes.as_ref().map(|(_, agreement)| agreement.ari()),
        "seconds": seconds,
    })
}
