//! Clustering from samples to labels.

#![allow(clippy::unwrap_used)] // in a test, a panic is the report

use sparsemble::clustering::{
    Centre, Clusters, GraphClustering, GraphClusters, GraphForm, Preparation, Scaling, Stage,
};
use sparsemble::{Matrix, Run};

use crate::graphs::near_lines;

/// 150 samples near three lines, at any distance from the origin, each of the first 30 twice and a zero.
fn samples() -> Matrix<f32> {
    let lines = near_lines::<f32>(21, 9, 150, 3);
    Matrix::from_fn(9, 181, |r, i| match i {
        180 => 0.0,
        _ => lines.column(i % 150)[r] * (1 + i % 150 % 7) as f32,
    })
}

/// Not centred, so that lines stay lines through the origin.
fn clustering() -> GraphClustering {
    let preparation = Preparation { centre: Centre::None, ..Preparation::default() };
    GraphClustering { preparation, ..GraphClustering::new(Clusters::Count(3)) }
}

fn fit(clustering: &GraphClustering, threads: usize) -> GraphClusters {
    clustering.fit(samples().view(), None, 5, &mut |_| (), Run::threads(threads)).unwrap()
}

/// Whether the labels are those of the lines.
fn are_the_lines(labels: &[u32]) -> bool {
    (0..180).all(|i| labels[i] == labels[i % 150 % 3])
        && labels[0] != labels[1]
        && labels[1] != labels[2]
        && labels[0] != labels[2]
}

#[test]
fn lines_are_found_with_every_graph_and_equal_samples_have_one_label() {
    for text in ["ensemble", "ensemble:signed", "boost-km", "rand-ex-av", "boost-ex", "l1", "neighbours"] {
        let found = fit(&GraphClustering { graph: text.parse().unwrap(), ..clustering() }, 2);
        assert!(are_the_lines(&found.labels), "{text}: {:?}", found.labels);
        assert_eq!((found.duplicates.count(), found.zero_samples, found.labels.len()), (30, 1, 181), "{text}");
        assert_eq!(found.vertices.labels.len(), 151);
    }
}

#[test]
fn a_graph_that_is_not_formed_gives_the_same_clusters() {
    let [explicit, implicit] =
        [GraphForm::Explicit, GraphForm::Implicit].map(|form| fit(&GraphClustering { form, ..clustering() }, 1));
    assert!(explicit.similarity.graph().is_some() && implicit.similarity.graph().is_none());
    assert!(are_the_lines(&explicit.labels) && are_the_lines(&implicit.labels));
}

#[test]
fn the_stages_end_one_after_the_other_and_threads_change_nothing() {
    let mut stages = Vec::new();
    let found = clustering().fit(samples().view(), None, 5, &mut |stage| stages.push(stage), Run::threads(1)).unwrap();
    assert_eq!(stages, [Stage::Preparation, Stage::Coding, Stage::Graph, Stage::Eigenvectors, Stage::KMeans]);
    let other = fit(&clustering(), 3);
    assert_eq!((found.labels, found.vertices.eigenvalues), (other.labels, other.vertices.eigenvalues));
}

#[test]
fn progress_goes_to_the_end_of_all_stages() {
    let last = std::cell::Cell::new((0, 0));
    let tell = |done: usize, total: usize| {
        assert!(done >= last.get().0, "{done} after {}", last.get().0);
        last.set((done, total));
        std::ops::ControlFlow::Continue(())
    };
    clustering().fit(samples().view(), None, 5, &mut |_| (), Run::threads(1).on_progress(&tell)).unwrap();
    assert!(last.get().0 > last.get().1 * 9 / 10, "{:?}", last.get());
}

#[test]
fn double_precision_finds_what_single_precision_finds_where_only_the_nearest_is_asked_for() {
    let double: Matrix<f64> = samples().view().converted();
    for text in ["ensemble", "boost-km", "boost-ex", "neighbours"] {
        let clustering = GraphClustering { graph: text.parse().unwrap(), ..clustering() };
        let (single, double) =
            (fit(&clustering, 1), clustering.fit(double.view(), None, 5, &mut |_| (), Run::threads(1)));
        assert_eq!(single.vertices, double.unwrap().vertices, "{text}");
    }
}

#[test]
fn without_merging_every_sample_is_a_vertex() {
    let found = fit(&GraphClustering { merge_duplicates: false, ..clustering() }, 1);
    assert_eq!((found.duplicates.count(), found.vertices.labels.len()), (0, 181));
    assert!(are_the_lines(&found.labels));
}

/// Each of 90 samples one to four times, and once with that number for its mass.
#[test]
fn a_mass_counts_as_so_many_equal_samples_with_every_graph_and_preparation() {
    let once = near_lines::<f64>(21, 9, 90, 3);
    let times = |i: usize| 1 + i % 4;
    let copies: Vec<usize> = (0..90).flat_map(|i| std::iter::repeat_n(i, times(i))).collect();
    let repeated = Matrix::from_fn(9, copies.len(), |r, i| once.column(copies[i])[r]);
    // Only ratios matter.
    let masses: Vec<f64> = (0..90).map(|i| 1e-30 * times(i) as f64).collect();
    for text in ["ensemble", "boost-km", "rand-ex-av", "boost-ex", "alt-opt:atoms=6", "l1", "omp", "neighbours"] {
        for scale in [Scaling::Automatic, Scaling::Deviation] {
            let preparation = Preparation { scale, ..Preparation::default() };
            let graph = text.parse().unwrap();
            let clustering = GraphClustering { graph, preparation, ..GraphClustering::new(Clusters::Count(3)) };
            let fit = |samples: &Matrix<f64>, masses: Option<&[f64]>| {
                clustering.fit(samples.view(), masses, 5, &mut |_| (), Run::threads(1)).unwrap()
            };
            let (weighed, expected) = (fit(&once, Some(&masses)), fit(&repeated, None));
            let of_copies: Vec<u32> = copies.iter().map(|&i| weighed.labels[i]).collect();
            assert_eq!(of_copies, expected.labels, "{text} {scale}");
            let plain = fit(&once, None).vertices.embedding;
            assert!(weighed.vertices.embedding != plain, "{text} {scale}: masses change nothing");
        }
    }
}

#[test]
fn a_mass_of_zero_or_less_is_refused() {
    for mass in [0.0, -1.0, f64::NAN] {
        let mut masses = vec![1.0; 181];
        masses[7] = mass;
        assert!(clustering().fit(samples().view(), Some(&masses), 5, &mut |_| (), Run::default()).is_err());
    }
    assert!(clustering().fit(samples().view(), Some(&[1.0]), 5, &mut |_| (), Run::default()).is_err());
}

#[test]
fn more_clusters_than_samples_are_refused() {
    let two = Matrix::from_fn(3, 2, |r, i| (r + i) as f64);
    assert!(GraphClustering::new(Clusters::Count(3)).fit(two.view(), None, 1, &mut |_| (), Run::default()).is_err());
}

/// Bars far below what is usual: a seed or a processor may cost some points, a mistake costs more.
#[cfg(feature = "io")]
#[test]
fn real_data_is_clustered_far_better_than_by_chance() {
    use sparsemble::metrics::Agreement;

    for (name, count, bar) in [("soybean562.csv", 15, 0.5), ("segment2310.csv", 7, 0.6)] {
        let Some((samples, labels)) = crate::graphs::real_data(name) else { return };
        let clustering = GraphClustering::new(Clusters::Count(count));
        let found = clustering.fit(samples.view(), None, 1, &mut |_| (), Run::default()).unwrap();
        let accuracy = Agreement::between(&labels, &found.labels).unwrap().accuracy();
        assert!(accuracy > bar, "{name}: {accuracy}");
    }
}
