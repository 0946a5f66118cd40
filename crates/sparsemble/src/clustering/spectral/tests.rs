//! The solver against dense eigenvectors, on thousands of graphs.

use std::ops::ControlFlow;

use rand::RngExt;
use rand::rngs::ChaCha8Rng;

use super::*;
use crate::eigen::Eigen;
use crate::graph::Graph;
use crate::rng::stream;

/// Small enough that a wrong vector cannot pass for a rounded one.
const TOLERANCE: f64 = 1e-9;

/// Of an edge for each pair i < j that has a weight.
fn graph_of(vertices: usize, mut weight: impl FnMut(usize, usize) -> f32) -> Graph {
    let mut rows = vec![Vec::new(); vertices];
    for i in 0..vertices {
        for j in i + 1..vertices {
            let weight = weight(i, j);
            if weight > 0.0 {
                rows[i].push((j as u32, weight));
                rows[j].push((i as u32, weight));
            }
        }
    }
    let mut starts = vec![0];
    for row in &mut rows {
        row.sort_by_key(|edge| edge.0);
        starts.push(starts[starts.len() - 1] + row.len());
    }
    let (neighbours, weights) = rows.into_iter().flatten().unzip();
    Graph::new(starts, neighbours, weights).unwrap()
}

fn if_so(edge: bool) -> f32 {
    if edge { 1.0 } else { 0.0 }
}

/// Graphs of every kind that has made eigensolvers fail.
fn graph(kind: usize, vertices: usize, rng: &mut ChaCha8Rng) -> Graph {
    let n = vertices;
    let share = rng.random_range(0.02..0.6);
    let size = 1 + n / rng.random_range(2..7);
    match kind {
        0 => graph_of(n, |_, _| if rng.random_bool(share) { rng.random_range(0.01..1.0) } else { 0.0 }),
        // Weights of many orders.
        1 => graph_of(n, |_, _| if rng.random_bool(share) { 10_f32.powf(rng.random_range(-6.0..6.0)) } else { 0.0 }),
        // Equal cliques, apart or joined by almost nothing.
        2 => graph_of(n, |i, j| if_so(i / size == j / size)),
        3 => graph_of(n, |i, j| if i / size == j / size { 1.0 } else { 1e-5 }),
        // A star, a path, a ring, a complete and a complete bipartite graph, a cube.
        4 => graph_of(n, |i, _| if_so(i == 0)),
        5 => graph_of(n, |i, j| if_so(j == i + 1)),
        6 => graph_of(n, |i, j| if_so(j == i + 1 || (i == 0 && j == n - 1))),
        7 => graph_of(n, |_, _| 1.0),
        8 => graph_of(n, |i, j| if_so((i < size) != (j < size))),
        9 => graph_of(n, |i, j| if_so((i ^ j).is_power_of_two())),
        // Half of the vertices on their own, pairs, no edges at all, a few edges.
        10 => graph_of(n, |i, j| if_so(i % 2 == 0 && j % 2 == 0 && rng.random_bool(share))),
        11 => graph_of(n, |i, j| if_so(i % 2 == 0 && j == i + 1)),
        12 => graph_of(n, |_, _| 0.0),
        13 => graph_of(n, |_, _| if_so(rng.random_bool(1.0 / n as f64))),
        // Equal groups that meet in one vertex: an eigenvalue for each of them, all but one the same.
        _ => graph_of(n, |i, j| if_so((i == 0 && j % 5 == 1) || (i > 0 && (i - 1) / 5 == (j - 1) / 5))),
    }
}

const KINDS: usize = 15;

/// D^(−1/2) S D^(−1/2) plus `shift` times the identity.
fn dense(graph: &Graph, shift: f64) -> Matrix<f64> {
    let scale: Vec<f64> = graph.degrees().iter().map(|&d| if d > 0.0 { d.sqrt().recip() } else { 0.0 }).collect();
    let mut matrix = Matrix::zeros(graph.vertices(), graph.vertices());
    for i in 0..graph.vertices() {
        let (neighbours, weights) = graph.row(i);
        let column = matrix.column_mut(i);
        column[i] = shift;
        for (&j, &w) in neighbours.iter().zip(weights) {
            column[j as usize] = f64::from(w) * scale[i] * scale[j as usize];
        }
    }
    matrix
}

/// All eigenpairs, by Jacobi's rotations where that does not take too long.
fn oracle(graph: &Graph) -> Eigen {
    if graph.vertices() > 60 {
        return Eigen::of_symmetric(&dense(graph, 0.0));
    }
    let mut eigen = Eigen::new(&dense(graph, 2.0));
    eigen.values.iter_mut().for_each(|value| *value -= 2.0);
    eigen
}

fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Values, residuals, orthogonality and subspaces of what was found.
fn check(graph: &Graph, oracle: &Eigen, count: usize, what: &str) {
    let solver = LeadingEigenvectors { tolerance: TOLERANCE, ..LeadingEigenvectors::new(count) };
    let found = solver.find(graph, Draw::first(count as u64), Run::threads(1)).unwrap();
    assert!(found.converged, "{what}: residual {} after {} products", found.residual, found.products);
    assert!(found.values.is_sorted_by(|a, b| *a >= *b - TOLERANCE) && found.values.len() == count, "{what}");
    let vectors: Vec<Vec<f64>> =
        (0..count).map(|j| (0..graph.vertices()).map(|i| found.vectors.column(i)[j]).collect()).collect();
    let matrix = dense(graph, 0.0);
    for (j, (vector, &value)) in vectors.iter().zip(&found.values).enumerate() {
        let expected = oracle.values[j];
        assert!((value - expected).abs() < 10.0 * TOLERANCE, "{what}: value {j} is {value} for {expected}");
        for (k, other) in vectors[..=j].iter().enumerate() {
            let expected = if j == k { 1.0 } else { 0.0 };
            assert!((product(vector, other) - expected).abs() < 1e-10, "{what}: vectors {j} and {k}");
        }
        let energy: f64 =
            (0..graph.vertices()).map(|i| (product(matrix.column(i), vector) - value * vector[i]).powi(2)).sum();
        assert!(energy.sqrt() <= 1.01 * TOLERANCE + 1e-13, "{what}: residual {j} is {}", energy.sqrt());
        // It lies in the span of the oracle's vectors of about this eigenvalue: the sine of the angle is at most the
        // residual over the gap.
        let near = (0..graph.vertices()).filter(|&k| (oracle.values[k] - value).abs() < 1e-4);
        let inside: f64 = near.map(|k| product(oracle.vectors.column(k), vector).powi(2)).sum();
        assert!((inside - 1.0).abs() < 1e-8, "{what}: vector {j} is {inside} inside its subspace");
    }
}

#[test]
fn eigenvectors_of_small_graphs_are_those_of_the_dense_matrix() {
    let mut rng = stream(1, "test", 0);
    for case in 0..3000 {
        let vertices = rng.random_range(1..30);
        let graph = graph(case % KINDS, vertices, &mut rng);
        let count = rng.random_range(1..=vertices);
        check(&graph, &oracle(&graph), count, &format!("case {case}, {vertices} vertices, {count} vectors"));
    }
}

#[test]
fn eigenvectors_of_graphs_that_need_restarts_are_those_of_the_dense_matrix() {
    let mut rng = stream(2, "test", 0);
    for case in 0..8 * KINDS {
        let vertices = rng.random_range(100..180);
        let graph = graph(case % KINDS, vertices, &mut rng);
        let oracle = oracle(&graph);
        for count in [1, 6, 9, 20] {
            check(&graph, &oracle, count, &format!("case {case}, {vertices} vertices, {count} vectors"));
        }
    }
}

#[test]
fn an_eigenvalue_with_more_copies_than_the_frontier_is_found_with_all_of_them() {
    // 24 groups around one vertex have the eigenvalue 0.993 23 times, and the next one is far below; the random part has
    // many others, so that a search that found eight copies would go on to those.
    let mut rng = stream(3, "test", 0);
    let groups = graph_of(289 + 100, |i, j| {
        let group = |i: usize| (i - 1) / 12;
        match (i < 289, j < 289) {
            (true, true) => if_so((i == 0 && j % 12 == 1) || (i > 0 && group(i) == group(j))),
            (false, false) => if_so(rng.random_bool(0.1)),
            _ => 0.0,
        }
    });
    check(&groups, &oracle(&groups), 24, "groups");
}

#[test]
fn known_vectors_are_those_of_the_largest_components() {
    // Components of 2, 3 and 4 vertices and one vertex on its own.
    let starts = [0, 2, 5, 9, 10];
    let of = |i: usize| starts.partition_point(|&start| start <= i);
    let graph = graph_of(10, |i, j| if_so(of(i) == of(j)));
    let found = LeadingEigenvectors::new(2).find(&graph, Draw::first(1), Run::threads(1)).unwrap();
    assert_eq!((found.components, &found.isolated[..], found.products), (3, &[9][..], 0));
    assert_eq!(found.values, [1.0, 1.0]);
    let row = |j: usize| (0..10).map(|i| found.vectors.column(i)[j]).collect::<Vec<_>>();
    assert!(row(0)[5..9].iter().all(|x| (x - 0.5).abs() < 1e-15) && row(0)[..5].iter().all(|x| *x == 0.0));
    assert!(row(1)[2..5].iter().all(|x| (x - 3_f64.sqrt().recip()).abs() < 1e-15));
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads() {
    let mut rng = stream(4, "test", 0);
    let vertices = 40_000;
    let codes: Vec<u32> = (0..3 * vertices).map(|_| rng.random_range(0..vertices as u32)).collect();
    let (mut starts, mut atoms) = (vec![0], Vec::new());
    for chosen in codes.chunks_exact(3) {
        let mut chosen = chosen.to_vec();
        chosen.sort_unstable();
        chosen.dedup();
        atoms.extend(chosen);
        starts.push(atoms.len());
    }
    let coefficients = vec![1.0_f32; atoms.len()];
    let codes = crate::coding::SparseCodes::from_parts(vertices, starts, atoms, coefficients).unwrap();
    let graph = Graph::from_directed(&codes).unwrap();
    let solver = LeadingEigenvectors { tolerance: 1e-2, ..LeadingEigenvectors::new(3) };
    let find = |threads| solver.find(&graph, Draw::first(1), Run::threads(threads)).unwrap();
    assert_eq!(find(1), find(3));
}

#[test]
fn a_search_that_is_cut_short_says_so() {
    let ring = graph_of(300, |i, j| if_so(j == i + 1 || (i == 0 && j == 299)));
    let solver = LeadingEigenvectors { max_products: 3, ..LeadingEigenvectors::new(5) };
    let found = solver.find(&ring, Draw::first(1), Run::threads(1)).unwrap();
    assert!(!found.converged && found.residual > solver.tolerance && found.products == 3);
    assert!(found.vectors.as_slice().iter().all(|x| x.is_finite()));
    let one = LeadingEigenvectors { max_products: 1, ..LeadingEigenvectors::new(20) };
    let found = one.find(&ring, Draw::first(1), Run::threads(1)).unwrap();
    assert!(!found.converged && found.values.len() == 9 && found.vectors.rows() == 9);
    let stop = |_: usize, _: usize| ControlFlow::Break(());
    let stopped = LeadingEigenvectors::new(5).find(&ring, Draw::first(1), Run::threads(1).on_progress(&stop));
    assert!(matches!(stopped, Err(Error::Interrupted { .. })));
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let pair = graph_of(2, |_, _| 1.0);
    let find = |solver: &LeadingEigenvectors| solver.find(&pair, Draw::first(1), Run::threads(1));
    assert!(find(&LeadingEigenvectors::new(2)).is_ok());
    let tolerance = |tolerance: f64| LeadingEigenvectors { tolerance, ..LeadingEigenvectors::new(1) };
    let none = LeadingEigenvectors { max_products: 0, ..LeadingEigenvectors::new(1) };
    for bad in [LeadingEigenvectors::new(0), LeadingEigenvectors::new(3), tolerance(0.0), tolerance(f64::NAN), none] {
        assert!(find(&bad).is_err(), "{bad:?}");
    }
}
