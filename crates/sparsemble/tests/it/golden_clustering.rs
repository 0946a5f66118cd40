//! Agreement of partitions by scikit-learn, assignments by SciPy and eigenvalues by NumPy (`golden/clustering.txt` says
//! how, and with which versions).

#![allow(clippy::unwrap_used)] // in a test, a panic is the report

use sparsemble::clustering::LeadingEigenvectors;
use sparsemble::graph::Graph;
use sparsemble::metrics::{Agreement, optimal_assignment};
use sparsemble::{Draw, Matrix, Run};

use crate::npy::golden;

fn labels(values: &[f64]) -> Vec<u32> {
    values.iter().map(|&value| value as u32).collect()
}

#[test]
fn agreements_of_partitions_are_those_of_scikit_learn() {
    let (classes, clusters, figures) =
        (golden("clustering_classes"), golden("clustering_clusters"), golden("clustering_figures"));
    for case in 0..figures.columns() {
        let agreement = Agreement::between(&labels(classes.column(case)), &labels(clusters.column(case))).unwrap();
        let found = [agreement.accuracy(), agreement.nmi(), agreement.ari()];
        for (found, expected) in found.iter().zip(figures.column(case)) {
            assert!((found - expected).abs() < 1e-12, "case {case}: {found} for {expected}");
        }
    }
}

#[test]
fn assignments_are_those_of_scipy() {
    let (costs, pairs) = (golden("clustering_costs"), golden("clustering_pairs"));
    let expected: Vec<(usize, usize)> =
        (0..pairs.columns()).map(|pair| (pairs.column(pair)[0] as usize, pairs.column(pair)[1] as usize)).collect();
    assert_eq!(optimal_assignment(costs.view()).unwrap(), expected);
}

/// The graph that a symmetric matrix spells out.
fn sparse(weights: &Matrix<f64>) -> Graph {
    let (mut starts, mut neighbours, mut entries) = (vec![0], Vec::new(), Vec::new());
    for i in 0..weights.columns() {
        for (j, &weight) in weights.column(i).iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
            neighbours.push(j as u32);
            entries.push(weight as f32);
        }
        starts.push(neighbours.len());
    }
    Graph::new(starts, neighbours, entries).unwrap()
}

#[test]
fn eigenvalues_of_a_graph_are_those_of_numpy() {
    let (graph, values) = (sparse(&golden("clustering_graph")), golden("clustering_values"));
    let solver = LeadingEigenvectors { tolerance: 1e-10, ..LeadingEigenvectors::new(50) };
    let found = solver.find(&graph, Draw::first(1), Run::threads(1)).unwrap();
    assert!(found.converged && found.components == 2 && found.isolated == [18, 89]);
    for (j, (found, expected)) in found.values.iter().zip(values.as_slice()).enumerate() {
        assert!((found - expected).abs() < 1e-12, "value {j}: {found} for {expected}");
    }
}
