//! Clusters made visible: vertices on a map, the graph as a picture.

use std::f64::consts::PI;

use crate::error::{Error, Result, expect_size};
use crate::graph::Graph;
use crate::image::{GrayImage, Size, WHITE};
use crate::matrix::Matrix;

/// Between one seed of a sunflower and the next, in radians: multiples of it never line up.
const GOLDEN_ANGLE: f64 = 2.399_963;

/// A map of clusters: 2 × T coordinates, each at most 1.8.
///
/// Each cluster has a place on a circle, beside those it has the heaviest links with. A vertex lies between the places of
/// the clusters in the shares of its links to them, so that those in between two clusters lie between them. So that equal
/// ones do not hide each other, the vertices of a cluster are spread like the seeds of a sunflower, those that belong to it
/// most clearly in the middle; its disc has an area in proportion to their number.
///
/// # Cost
/// A pass over the edges, and a number for each vertex and cluster.
///
/// # Errors
/// If there is not one label for each vertex, below the number of clusters.
///
/// # Example
/// ```
/// use sparsemble::clustering::cluster_map;
/// use sparsemble::graph::Graph;
///
/// // Two edges that do not meet.
/// let graph = Graph::new(vec![0, 1, 2, 3, 4], vec![1, 0, 3, 2], vec![1.0; 4])?;
/// let map = cluster_map(&graph, &[0, 0, 1, 1], 2)?;
/// assert!(map.column(0)[0] > 0.0 && map.column(2)[0] < 0.0);
/// # Ok::<(), sparsemble::Error>(())
/// ```
pub fn cluster_map(graph: &Graph, labels: &[u32], n_clusters: usize) -> Result<Matrix<f64>> {
    expect_size("labels: number (that of the vertices)", graph.vertices(), labels.len())?;
    if let Some(label) = labels.iter().find(|label| **label as usize >= n_clusters) {
        return Err(Error::parameter("labels", label, "must be below the number of clusters"));
    }
    let shares = shares(graph, labels, n_clusters);
    let places = places(&shares, labels);
    let mut order: Vec<usize> = (0..labels.len()).collect();
    let own = |i: usize| shares.column(i)[labels[i] as usize];
    order.sort_by(|&a, &b| own(b).total_cmp(&own(a)).then(a.cmp(&b)));
    let largest = counts(labels, n_clusters).into_iter().max().unwrap_or(1) as f64;
    // The discs of two neighbours on the circle, were both the largest, would nearly touch.
    let widest = 0.8 * (PI / n_clusters.max(2) as f64).sin();
    let (mut map, mut seeds) = (Matrix::zeros(2, labels.len()), vec![0.0; n_clusters]);
    for i in order {
        let seed = &mut seeds[labels[i] as usize];
        let (radius, angle) = (widest * (*seed / largest).sqrt(), GOLDEN_ANGLE * *seed);
        *seed += 1.0;
        let along = |axis: usize| -> f64 { (0..n_clusters).map(|c| shares.column(i)[c] * places[c][axis]).sum() };
        let spread = [radius * angle.cos(), radius * angle.sin()];
        map.column_mut(i).copy_from_slice(&[along(0) + spread[0], along(1) + spread[1]]);
    }
    Ok(map)
}

/// Which part of each vertex's links goes to each cluster, clusters × T; all to its own where there are none.
fn shares(graph: &Graph, labels: &[u32], n_clusters: usize) -> Matrix<f64> {
    let mut shares = Matrix::zeros(n_clusters, labels.len());
    for (i, &label) in labels.iter().enumerate() {
        let (neighbours, weights) = graph.row(i);
        let shares = shares.column_mut(i);
        for (&j, &weight) in neighbours.iter().zip(weights) {
            shares[labels[j as usize] as usize] += f64::from(weight);
        }
        let total: f64 = shares.iter().sum();
        if total > 0.0 {
            for share in shares.iter_mut() {
                *share /= total;
            }
        } else {
            shares[label as usize] = 1.0;
        }
    }
    shares
}

/// Where each cluster is on the circle: after each the one it has the most to do with, of those that have no place yet.
fn places(shares: &Matrix<f64>, labels: &[u32]) -> Vec<[f64; 2]> {
    let n_clusters = shares.rows();
    let mut links = Matrix::<f64>::zeros(n_clusters, n_clusters);
    for (i, &label) in labels.iter().enumerate() {
        links.column_mut(label as usize).iter_mut().zip(shares.column(i)).for_each(|(link, share)| *link += share);
    }
    let mut places = vec![[1.0, 0.0]; n_clusters];
    let (mut here, mut left): (usize, Vec<usize>) = (0, (1..n_clusters).collect());
    for place in 1..n_clusters {
        let link = |other: usize| links.column(here)[other] + links.column(other)[here];
        let next = (0..left.len()).reduce(|a, b| if link(left[b]) > link(left[a]) { b } else { a }).unwrap_or(0);
        here = left.remove(next);
        let angle = 2.0 * PI * place as f64 / n_clusters as f64;
        places[here] = [angle.cos(), angle.sin()];
    }
    places
}

fn counts(labels: &[u32], n_clusters: usize) -> Vec<usize> {
    let mut counts = vec![0; n_clusters];
    for &label in labels {
        counts[label as usize] += 1;
    }
    counts
}

/// A picture of a graph: `side` × `side` pixels, vertices in the order of their clusters, the darker the more weight is
/// between them. Clusters that are apart are dark squares along the diagonal.
///
/// Grey levels are by the square root of the mean weight, so that faint links show as well.
///
/// # Cost
/// A pass over the edges.
///
/// # Errors
/// If there is not one label for each vertex, or no vertex, or `side` is zero.
pub fn graph_picture(graph: &Graph, labels: &[u32], side: usize) -> Result<GrayImage> {
    expect_size("labels: number (that of the vertices)", graph.vertices(), labels.len())?;
    let count = graph.vertices();
    let side = side.min(count);
    if side == 0 {
        return Err(Error::parameter("side", side, "must be at least 1, and there must be a vertex"));
    }
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|&i| (labels[i], i));
    let mut cell_of = vec![0; count];
    order.iter().enumerate().for_each(|(place, &i)| cell_of[i] = place * side / count);
    let mut sizes = vec![0.0; side];
    for &cell in &cell_of {
        sizes[cell] += 1.0;
    }
    let mut sums = vec![0.0; side * side];
    for i in 0..count {
        let (neighbours, weights) = graph.row(i);
        for (&j, &weight) in neighbours.iter().zip(weights) {
            sums[cell_of[i] * side + cell_of[j as usize]] += f64::from(weight);
        }
    }
    let density = |row: usize, column: usize| (sums[row * side + column] / (sizes[row] * sizes[column])).sqrt();
    let most = (0..side * side).map(|cell| density(cell / side, cell % side)).fold(0.0, f64::max);
    let shade =
        |row: usize, column: usize| if most > 0.0 { WHITE * (1.0 - density(row, column) / most) } else { WHITE };
    GrayImage::from_fn(Size { width: side, height: side }, shade)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_that_are_apart_are_squares_along_the_diagonal() {
        // Two pairs, the vertices of which alternate.
        let graph = Graph::new(vec![0, 1, 2, 3, 4], vec![2, 3, 0, 1], vec![1.0, 0.25, 1.0, 0.25]).unwrap();
        let picture = graph_picture(&graph, &[0, 1, 0, 1], 2).unwrap();
        assert_eq!(picture.samples(), [0.0, 255.0, 255.0, 127.5]);
        let finer = graph_picture(&graph, &[0, 1, 0, 1], 100).unwrap();
        assert_eq!(finer.size(), Size { width: 4, height: 4 });
        let none = Graph::new(vec![0, 0, 0], vec![], vec![]).unwrap();
        assert_eq!(graph_picture(&none, &[0, 0], 1).unwrap().samples(), [255.0]);
        assert!(graph_picture(&none, &[0], 1).is_err() && graph_picture(&none, &[0, 0], 0).is_err());
    }

    #[test]
    fn a_vertex_between_two_clusters_lies_between_them() {
        // A path of five; the one in the middle belongs to the first cluster and has as many links to the second.
        let graph = Graph::new(vec![0, 1, 3, 5, 7, 8], vec![1, 0, 2, 1, 3, 2, 4, 3], vec![1.0; 8]).unwrap();
        let map = cluster_map(&graph, &[0, 0, 0, 1, 1], 2).unwrap();
        let across = |i: usize| map.column(i)[0];
        assert!(across(0) > across(2) && across(2) > across(4));
        assert!(map.as_slice().iter().all(|x| x.abs() < 1.9));
        // Nobody is alone in the world: a vertex without links lies with its cluster.
        let lonely = Graph::new(vec![0, 0, 0], vec![], vec![]).unwrap();
        let map = cluster_map(&lonely, &[0, 1], 3).unwrap();
        assert_eq!(map.column(0), [1.0, 0.0]);
        assert!(cluster_map(&lonely, &[0, 3], 3).is_err() && cluster_map(&lonely, &[0], 3).is_err());
    }
}
