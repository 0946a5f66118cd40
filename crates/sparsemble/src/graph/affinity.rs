//! What spectral clustering needs to know of a graph.

use fearless_simd::{dispatch, f64x8, prelude::*};

use crate::blocks::Run;
use crate::error::{Result, expect_size};
use crate::kernels::best_level;

use super::Graph;
use super::eights::{Eight, fill};

/// Sums that run side by side in a product.
const SUMS: usize = 4;

/// A symmetric matrix S of non-negative affinities between vertices, with zeros on its diagonal, which need not be stored:
/// all that is asked of it are products.
///
/// ```
/// use sparsemble::Run;
/// use sparsemble::graph::{Affinity, Eight, Graph};
///
/// // Two vertices joined by an edge of weight 2, and a third on its own.
/// let graph = Graph::new(vec![0, 1, 2, 2], vec![1, 0], vec![2.0, 2.0])?;
/// let (block, mut product) = ([Eight([1.0; 8]); 3], [Eight::default(); 3]);
/// graph.times(&block, &mut product, Run::default())?;
/// assert_eq!(product.map(|row| row.0[0]), [2.0, 2.0, 0.0]);
/// assert_eq!(graph.components(), [0, 0, 1]);
/// # Ok::<(), sparsemble::Error>(())
/// ```
pub trait Affinity: Sync {
    /// T, the number of vertices.
    fn vertices(&self) -> usize;

    /// S·1, the sum of the weights at each vertex; zero for those without edges.
    fn degrees(&self) -> Vec<f64>;

    /// S times eight vectors at once, which hold one [`Eight`] for each vertex.
    ///
    /// The same bits for any number of threads.
    ///
    /// # Errors
    /// If there is not one [`Eight`] for each vertex, or the run was interrupted.
    fn times(&self, block: &[Eight], out: &mut [Eight], run: Run<'_>) -> Result<()>;

    /// The connected component of each vertex, numbered from 0 in the order of their first vertices. A vertex without
    /// edges is a component of its own.
    fn components(&self) -> Vec<u32>;
}

/// Checks that blocks of vectors have an entry for each vertex.
pub(super) fn expect_vertices(vertices: usize, block: &[Eight], out: &[Eight]) -> Result<()> {
    expect_size("block: number of vertices", vertices, block.len())?;
    expect_size("product: number of vertices", vertices, out.len())
}

impl Affinity for Graph {
    fn vertices(&self) -> usize {
        Graph::vertices(self)
    }

    fn degrees(&self) -> Vec<f64> {
        Graph::degrees(self)
    }

    fn times(&self, block: &[Eight], out: &mut [Eight], run: Run<'_>) -> Result<()> {
        expect_vertices(self.vertices(), block, out)?;
        fill(out, run, |rows, out| dispatch!(best_level(), simd => combinations(simd, self, rows.start, block, out)))
    }

    fn components(&self) -> Vec<u32> {
        let mut waiting = Vec::new();
        let mut found = vec![u32::MAX; self.vertices()];
        let mut count = 0;
        for first in 0..self.vertices() {
            if found[first] < u32::MAX {
                continue;
            }
            found[first] = count;
            waiting.push(first);
            while let Some(i) = waiting.pop() {
                for &j in self.row(i).0 {
                    if found[j as usize] == u32::MAX {
                        found[j as usize] = count;
                        waiting.push(j as usize);
                    }
                }
            }
            count += 1;
        }
        found
    }
}

/// Σ w_j x_j over the entries (j, w_j) of each of some rows of the graph.
#[inline(always)]
fn combinations<S: Simd>(simd: S, graph: &Graph, first: usize, block: &[Eight], out: &mut [Eight]) {
    for (i, out) in out.iter_mut().enumerate() {
        let (neighbours, weights) = graph.row(first + i);
        *out = combination(simd, neighbours, weights, block);
    }
}

/// Σ w_j x_j over the entries (j, w_j) of a sparse row.
#[inline(always)]
pub(super) fn combination<S: Simd>(simd: S, places: &[u32], weights: &[f32], block: &[Eight]) -> Eight {
    // Four sums, so that additions do not wait for each other.
    let mut sums = [f64x8::splat(simd, 0.0); SUMS];
    let ((fours, rest), (four_weights, rest_weights)) = (places.as_chunks::<SUMS>(), weights.as_chunks::<SUMS>());
    for (places, weights) in fours.iter().zip(four_weights) {
        for i in 0..SUMS {
            sums[i] = with_term(simd, &block[places[i] as usize], weights[i], sums[i]);
        }
    }
    for i in 0..rest.len() {
        sums[i] = with_term(simd, &block[rest[i] as usize], rest_weights[i], sums[i]);
    }
    Eight(((sums[0] + sums[1]) + (sums[2] + sums[3])).into())
}

#[inline(always)]
fn with_term<S: Simd>(simd: S, x: &Eight, weight: f32, sum: f64x8<S>) -> f64x8<S> {
    f64x8::from_slice(simd, &x.0).mul_add(f64x8::splat(simd, f64::from(weight)), sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Vertex i is joined to some of those that follow, by weights that differ.
    fn graph(vertices: usize) -> Graph {
        let weight =
            |i: usize, j: usize| (i != j && (i * j + i + j).is_multiple_of(3)).then_some(1.0 + ((i * j) % 7) as f32);
        let (mut starts, mut neighbours, mut weights) = (vec![0], Vec::new(), Vec::new());
        for i in 0..vertices {
            for (j, weight) in (0..vertices).filter_map(|j| Some((j, weight(i, j)?))) {
                neighbours.push(j as u32);
                weights.push(weight);
            }
            starts.push(neighbours.len());
        }
        Graph::new(starts, neighbours, weights).unwrap()
    }

    #[test]
    fn products_are_those_of_the_matrix_for_any_number_of_threads() {
        let vertices = 2 * super::super::eights::VERTICES + 37;
        let graph = graph(vertices);
        let block: Vec<Eight> =
            (0..vertices).map(|i| Eight(std::array::from_fn(|v| ((i * 8 + v) as f64).sin()))).collect();
        let product = |threads| {
            let mut out = vec![Eight::ZERO; vertices];
            graph.times(&block, &mut out, Run::threads(threads)).unwrap();
            out
        };
        let found = product(1);
        for (i, found) in found.iter().enumerate() {
            let (neighbours, weights) = graph.row(i);
            for (v, found) in found.0.iter().enumerate() {
                let terms = neighbours.iter().zip(weights).map(|(&j, &w)| f64::from(w) * block[j as usize].0[v]);
                let expected: f64 = terms.sum();
                assert!((found - expected).abs() < 1e-11, "vertex {i}, vector {v}");
            }
        }
        assert_eq!(found, product(3));
        assert!(graph.times(&block[1..], &mut vec![Eight::ZERO; vertices], Run::default()).is_err());
    }

    #[test]
    fn components_are_numbered_by_their_first_vertices() {
        // 0–3–4, 1 alone, 2–5.
        let starts = vec![0, 1, 1, 2, 4, 5, 6];
        let graph = Graph::new(starts, vec![3, 5, 0, 4, 3, 2], vec![1.0; 6]).unwrap();
        assert_eq!(graph.components(), [0, 1, 2, 0, 0, 2]);
        assert!(Graph::new(vec![0], Vec::new(), Vec::new()).unwrap().components().is_empty());
    }
}
