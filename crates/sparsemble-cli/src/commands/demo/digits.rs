//! The table: handwritten digits, grouped without being told what they are.

use anyhow::{Context, Result};
use sparsemble::clustering::{Clusters, GraphClustering, GraphClusters, GraphForm};
use sparsemble::image::GrayImage;
use sparsemble::kmeans::WeightedKMeans;
use sparsemble::matrix_file::{Classes, MatrixFile, read_labelled};
use sparsemble::metrics::Agreement;
use sparsemble::patch::mosaic;
use sparsemble::{Draw, Matrix, MatrixView, Run};
use tempfile::TempDir;

use super::task::timed;
use crate::photographs::DIGITS;

const COUNT: usize = 10;
/// The side of a digit, and half of its darkest level.
const SIDE: usize = 8;
const MIDDLE: f32 = 8.0;
/// How many digits of a cluster are shown.
const SHOWN: usize = 49;
/// Starts of K-Means, as many as the clustering of a graph has.
const STARTS: u64 = 10;

pub(super) const FILE: &str = "digits.csv";

pub(super) struct Digits {
    pub(super) found: GraphClusters,
    pub(super) classes: Classes,
    pub(super) ours: Agreement,
    pub(super) k_means: Agreement,
    /// What each cluster is mostly of, and some of its digits; in the order of the digits.
    pub(super) clusters: Vec<(String, GrayImage)>,
    pub(super) seconds: f64,
}

impl Digits {
    /// Groups the digits of the table, read as a command reads them.
    pub(super) fn group(run: Run<'_>) -> Result<Self> {
        let folder = TempDir::with_prefix("sparsemble-").context("cannot make a folder for the digits")?;
        let table = folder.path().join(FILE);
        sparsemble_paper::write(&table, DIGITS)?;
        let data = read_labelled::<f32>(&table, Some("digit"))?;
        let classes = data.classes.context("the digits are named")?;
        let clustering = GraphClustering { form: GraphForm::Explicit, ..GraphClustering::new(Clusters::Count(COUNT)) };
        let ready = clustering.prepare(data.samples.view(), None, run.part(0..1, 16))?;
        let k_means = k_means(ready.samples.view(), run.part(1..2, 16))?;
        let k_means = Agreement::between(&classes.of_samples, &ready.duplicates.spread(&k_means)?)?;
        let (found, seconds) = timed(|| Ok(clustering.cluster(ready, 0, &mut |_| (), run.part(2..16, 16))?))?;
        let ours = Agreement::between(&classes.of_samples, &found.labels)?;
        let clusters = clusters(&data.samples, &found.labels, (&classes, &ours))?;
        Ok(Self { found, classes, ours, k_means, clusters, seconds })
    }
}

/// The best of several starts.
fn k_means(samples: MatrixView<'_, f32>, run: Run<'_>) -> Result<Vec<u32>> {
    let masses = vec![1.0; samples.columns()];
    let start = |round: u64| {
        let run = run.part(round as usize..round as usize + 1, STARTS as usize);
        WeightedKMeans::new(COUNT).fit(samples, &masses, Draw { seed: 0, round }, run)
    };
    let starts = (0..STARTS).map(start).collect::<sparsemble::Result<Vec<_>>>()?;
    let best = starts.into_iter().min_by(|a, b| a.inertia.total_cmp(&b.inertia));
    Ok(best.context("there is a start")?.assignments)
}

fn clusters(
    samples: &MatrixFile<f32>,
    labels: &[u32],
    (classes, agreement): (&Classes, &Agreement),
) -> Result<Vec<(String, GrayImage)>> {
    let counts = agreement.counts();
    let mut order = agreement.pairs().to_vec();
    order.sort_unstable();
    let shown = |(class, cluster): (usize, usize)| -> Result<(String, GrayImage)> {
        let members: Vec<usize> = (0..labels.len()).filter(|&i| labels[i] as usize == cluster).collect();
        let most = (0..counts.rows()).max_by_key(|&class| counts.get(class, cluster)).unwrap_or(class);
        let share = 100.0 * counts.get(most, cluster) as f64 / members.len().max(1) as f64;
        let name =
            format!("Cluster {cluster}: {} images, {share:.0} % of them a {}", members.len(), classes.names[most]);
        let all = samples.view();
        let digits =
            Matrix::from_fn(SIDE * SIDE, members.len().min(SHOWN), |pixel, i| all.get(pixel, members[i]) - MIDDLE);
        Ok((name, mosaic(digits.view(), SIDE)?))
    };
    order.into_iter().map(shown).collect()
}
