//! Graphs of samples: an affinity between each sample and the few that are like it (§V).
//!
//! A [`Graph`] is stored as sparse rows and never as a T × T matrix. Spectral clustering asks for less than that: any
//! [`Affinity`], which only has to multiply vectors.

mod affinity;
mod atom_count;
mod dictionary;
mod eights;
mod examples;
mod implicit;
mod kind;
mod members;
mod neighbours;
mod product;
mod report;
mod self_expression;
mod stacked;

pub use affinity::Affinity;
pub use atom_count::AtomCount;
pub use dictionary::DictionaryGraph;
pub use eights::Eight;
pub(crate) use eights::{VERTICES, fill};
pub use examples::{ExampleGraph, ExampleWeights};
pub use implicit::CodeAffinity;
pub use kind::GraphKind;
pub use members::{MemberGraph, MemberLearner};
pub use neighbours::NeighbourGraph;
pub use report::{BuiltGraph, GraphReport};
pub use self_expression::SelfExpression;
pub use stacked::{MemberCodes, StackedCodes};

use crate::coding::SparseCodes;
use crate::error::{Error, Result, expect_size};
use crate::masses::Masses;
use crate::matrix::MatrixView;
use crate::scalar::Scalar;

/// Checks that there are samples to compare.
fn check_samples<T: Scalar>(samples: MatrixView<'_, T>) -> Result<()> {
    if samples.rows() == 0 {
        return Err(Error::Empty { what: "samples", unit: "feature" });
    }
    match samples.columns() {
        found @ (0 | 1) => Err(Error::TooFewSamples { what: "samples of a graph", needed: 2, found }),
        count if u32::try_from(count).is_err() => Err(Error::parameter("samples", count, "must be fewer than 2³²")),
        _ => Ok(()),
    }
}

/// A symmetric T × T matrix S of positive affinities, none on the diagonal, in compressed sparse rows.
///
/// The three arrays are those of SciPy's CSR matrix, with ascending neighbours in each row.
#[derive(Debug, Clone, PartialEq)]
pub struct Graph {
    starts: Vec<usize>,
    neighbours: Vec<u32>,
    weights: Vec<f32>,
}

impl Graph {
    /// Takes the three arrays of compressed sparse rows: where the edges of each vertex start and those of the last one
    /// end, the neighbours of all vertices, and the weights of the edges to them.
    ///
    /// # Cost
    /// One pass over the edges.
    ///
    /// # Errors
    /// If the starts do not rise from 0 to the number of neighbours, the neighbours of a vertex are not vertices or not
    /// ascending, a vertex is its own neighbour, a weight is not positive and finite, or the weight from i to j is not
    /// that from j to i.
    ///
    /// # Example
    /// ```
    /// use sparsemble::graph::Graph;
    ///
    /// // A path of three vertices.
    /// let graph = Graph::new(vec![0, 1, 3, 4], vec![1, 0, 2, 1], vec![0.5, 0.5, 2.0, 2.0])?;
    /// assert_eq!((graph.vertices(), graph.edges()), (3, 2));
    /// assert_eq!(graph.degrees(), [0.5, 2.5, 2.0]);
    /// # Ok::<(), sparsemble::Error>(())
    /// ```
    pub fn new(starts: Vec<usize>, neighbours: Vec<u32>, weights: Vec<f32>) -> Result<Self> {
        expect_size("graph: number of weights (that of neighbours)", neighbours.len(), weights.len())?;
        expect_size("graph: first start", 0, starts.first().copied().unwrap_or(usize::MAX))?;
        if let Some(fall) = starts.windows(2).position(|ends| ends[0] > ends[1]) {
            return Err(Error::parameter("graph: start", starts[fall + 1], "is before the one it follows"));
        }
        expect_size("graph: last start (the number of neighbours)", neighbours.len(), starts[starts.len() - 1])?;
        let graph = Self { starts, neighbours, weights };
        graph.check_rows()?;
        graph.check_symmetry()?;
        Ok(graph)
    }

    /// S = |A| + |Aᵀ| of the T × T matrix A whose column i codes sample i by samples; what A has on its diagonal is left
    /// out, and so is what is zero in single precision.
    ///
    /// Column i of A is what sample i says of the others, and S what either says of the other.
    ///
    /// # Cost
    /// A few passes over the codes, and their memory a second time.
    ///
    /// # Errors
    /// If A is not square or a sum of two of its entries is beyond single precision.
    ///
    /// # Example
    /// ```
    /// use sparsemble::coding::SparseCodes;
    /// use sparsemble::graph::Graph;
    ///
    /// // Sample 0 is coded by 1, sample 1 by 0 and 2, and nobody codes sample 2.
    /// let codes = SparseCodes::from_parts(3, vec![0, 1, 3, 3], vec![1, 0, 2], vec![1.0, -0.5, 0.25])?;
    /// let graph = Graph::from_directed(&codes)?;
    /// assert_eq!(graph.row(1), (&[0, 2][..], &[1.5, 0.25][..]));
    /// # Ok::<(), sparsemble::Error>(())
    /// ```
    ///
    /// Paper: §V, the l1 graph of Eq. (17).
    pub fn from_directed<T: Scalar>(codes: &SparseCodes<T>) -> Result<Self> {
        expect_size("codes: number of atoms (that of samples)", codes.n_samples(), codes.n_atoms())?;
        if u32::try_from(codes.n_samples()).is_err() {
            return Err(Error::parameter("codes: samples", codes.n_samples(), "must be fewer than 2³²"));
        }
        let incoming = Incoming::of(codes);
        let mut graph = Self { starts: vec![0], neighbours: Vec::new(), weights: Vec::new() };
        for i in 0..codes.n_samples() {
            let outgoing = codes.column(i).map(|(j, a)| (j as u32, a.to_f64().abs()));
            for (j, weight) in merged(outgoing, incoming.column(i)) {
                let weight = weight as f32;
                if !weight.is_finite() {
                    let reason = "the weights of a graph must be finite in single precision; scale the codes";
                    return Err(Error::parameter("codes", weight, reason));
                }
                if weight > 0.0 && j as usize != i {
                    graph.neighbours.push(j);
                    graph.weights.push(weight);
                }
            }
            graph.starts.push(graph.neighbours.len());
        }
        Ok(graph)
    }

    /// T, the number of vertices.
    pub fn vertices(&self) -> usize {
        self.starts.len() - 1
    }

    /// The number of pairs of vertices that are joined; twice as many weights are stored.
    pub fn edges(&self) -> usize {
        self.neighbours.len() / 2
    }

    /// The neighbours of a vertex, ascending, and the weights of the edges to them.
    ///
    /// # Panics
    /// If there is no such vertex.
    #[inline]
    pub fn row(&self, vertex: usize) -> (&[u32], &[f32]) {
        let range = self.starts[vertex]..self.starts[vertex + 1];
        (&self.neighbours[range.clone()], &self.weights[range])
    }

    /// The graph whose vertices stand for several equal ones: weights w_ij·m_i·m_j. Edges that become zero are dropped.
    ///
    /// # Errors
    /// If there is not one mass for each vertex, none negative, with a positive sum, or a weight is beyond single precision.
    pub fn weighted(self, masses: &[f64]) -> Result<Self> {
        Masses::new(Some(masses), self.vertices())?;
        let mut graph = Self { starts: vec![0], neighbours: Vec::new(), weights: Vec::new() };
        for i in 0..self.vertices() {
            let (neighbours, weights) = self.row(i);
            for (&j, &weight) in neighbours.iter().zip(weights) {
                let weight = (f64::from(weight) * (masses[i] * masses[j as usize])) as f32;
                if !weight.is_finite() {
                    return Err(Error::parameter("masses", masses[i], "make a weight beyond single precision"));
                }
                if weight > 0.0 {
                    graph.neighbours.push(j);
                    graph.weights.push(weight);
                }
            }
            graph.starts.push(graph.neighbours.len());
        }
        Ok(graph)
    }

    /// The sum of the weights at each vertex.
    pub fn degrees(&self) -> Vec<f64> {
        (0..self.vertices()).map(|i| self.row(i).1.iter().map(|&w| f64::from(w)).sum()).collect()
    }

    /// Where the edges of each vertex start in [`Self::neighbours`] and [`Self::weights`], and where the last ones end.
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// The neighbours of all vertices, one vertex after the other.
    pub fn neighbours(&self) -> &[u32] {
        &self.neighbours
    }

    /// The weights that go with [`Self::neighbours`].
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// Gives up the three arrays of [`new`](Self::new).
    pub fn into_parts(self) -> (Vec<usize>, Vec<u32>, Vec<f32>) {
        (self.starts, self.neighbours, self.weights)
    }

    fn check_rows(&self) -> Result<()> {
        for i in 0..self.vertices() {
            let (neighbours, weights) = self.row(i);
            if let Some(place) = neighbours.windows(2).position(|pair| pair[0] >= pair[1]) {
                return Err(Error::parameter("graph: neighbour", neighbours[place + 1], "is not above the one before"));
            }
            if let Some(&last) = neighbours.last().filter(|last| **last as usize >= self.vertices()) {
                return Err(Error::parameter("graph: neighbour", last, "must be below the number of vertices"));
            }
            if neighbours.binary_search(&(i as u32)).is_ok() {
                return Err(Error::parameter("graph: neighbour", i, "is the vertex itself; leave the diagonal out"));
            }
            if let Some(weight) = weights.iter().find(|weight| !(**weight > 0.0 && weight.is_finite())) {
                return Err(Error::parameter("graph: weight", weight, "must be positive and finite"));
            }
        }
        Ok(())
    }

    /// Walks through the upper triangle row after row; each of its edges must be the next one of the lower triangle.
    fn check_symmetry(&self) -> Result<()> {
        let mut next = self.starts.clone();
        for i in 0..self.vertices() {
            let (neighbours, weights) = self.row(i);
            let below = neighbours.partition_point(|&j| (j as usize) < i);
            let asymmetric = |j: u32| {
                let reason = "must be symmetric: the weight from i to j is not that from j to i";
                Error::parameter("graph: edge (i, j)", format!("({i}, {j})"), reason)
            };
            if next[i] != self.starts[i] + below {
                return Err(asymmetric(neighbours[next[i] - self.starts[i]]));
            }
            for (&j, weight) in neighbours[below..].iter().zip(&weights[below..]) {
                let place = next[j as usize];
                let is_next = place < self.starts[j as usize + 1]
                    && self.neighbours[place] as usize == i
                    && self.weights[place].to_bits() == weight.to_bits();
                if !is_next {
                    return Err(asymmetric(j));
                }
                next[j as usize] += 1;
            }
        }
        Ok(())
    }
}

/// |Aᵀ| in compressed sparse columns.
struct Incoming {
    starts: Vec<usize>,
    entries: Vec<(u32, f64)>,
}

impl Incoming {
    fn of<T: Scalar>(codes: &SparseCodes<T>) -> Self {
        let mut starts = vec![0; codes.n_atoms() + 1];
        codes.atoms().iter().for_each(|&j| starts[j as usize + 1] += 1);
        (1..starts.len()).for_each(|j| starts[j] += starts[j - 1]);
        let mut next = starts.clone();
        let mut entries = vec![(0, 0.0); codes.n_nonzero()];
        for i in 0..codes.n_samples() {
            for (j, a) in codes.column(i) {
                entries[next[j]] = (i as u32, a.to_f64().abs());
                next[j] += 1;
            }
        }
        Self { starts, entries }
    }

    fn column(&self, j: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.entries[self.starts[j]..self.starts[j + 1]].iter().copied()
    }
}

/// The sum of two sparse columns, each with ascending places.
fn merged(
    a: impl Iterator<Item = (u32, f64)>,
    b: impl Iterator<Item = (u32, f64)>,
) -> impl Iterator<Item = (u32, f64)> {
    let (mut a, mut b) = (a.peekable(), b.peekable());
    std::iter::from_fn(move || match (a.peek().copied(), b.peek().copied()) {
        (Some((i, x)), Some((j, y))) if i == j => {
            a.next();
            b.next();
            Some((i, x + y))
        }
        (Some((i, _)), Some((j, _))) if i > j => b.next(),
        (Some(_), _) => a.next(),
        (None, _) => b.next(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_that_are_no_graph_are_refused() {
        let graph = |starts: &[usize], neighbours: &[u32], weights: &[f32]| {
            Graph::new(starts.to_vec(), neighbours.to_vec(), weights.to_vec())
        };
        assert_eq!(graph(&[0, 1, 1, 2], &[2, 0], &[0.5, 0.5]).unwrap().degrees(), [0.5, 0.0, 0.5]);
        assert_eq!(graph(&[0], &[], &[]).unwrap().vertices(), 0);
        for (starts, neighbours, weights) in [
            (&[][..], &[][..], &[][..]),
            (&[1, 2, 2], &[1, 0], &[1.0, 1.0]),
            (&[0, 2, 1, 2], &[1, 0], &[1.0, 1.0]),
            (&[0, 1, 2], &[1, 0], &[1.0]),
            (&[0, 1, 3], &[1, 0], &[1.0, 1.0]),
            (&[0, 1, 2], &[1, 2], &[1.0, 1.0]),
            (&[0, 1, 2], &[0, 1], &[1.0, 1.0]),
            (&[0, 2, 4], &[1, 1, 0, 0], &[1.0; 4]),
            (&[0, 1, 2], &[1, 0], &[1.0, 2.0]),
            (&[0, 1, 2], &[1, 0], &[-1.0, -1.0]),
            (&[0, 1, 2], &[1, 0], &[0.0, 0.0]),
            (&[0, 1, 2], &[1, 0], &[f32::NAN, f32::NAN]),
            (&[0, 1, 2], &[1, 0], &[f32::INFINITY, f32::INFINITY]),
            (&[0, 1, 1], &[1], &[1.0]),
            (&[0, 0, 1], &[0], &[1.0]),
            (&[0, 1, 2, 3], &[1, 2, 0], &[1.0; 3]),
        ] {
            assert!(graph(starts, neighbours, weights).is_err(), "{starts:?} {neighbours:?} {weights:?}");
        }
        let message = graph(&[0, 0, 1], &[0], &[1.0]).unwrap_err().to_string();
        assert!(message.starts_with("graph: edge (i, j) = (1, 0): must be symmetric"), "{message}");
    }

    #[test]
    fn codes_of_samples_by_samples_make_a_symmetric_graph() {
        // A has an entry on the diagonal, pairs in one direction and in both, and one too small for single precision.
        let (starts, atoms) = (vec![0, 2, 4, 6, 6], vec![0, 2, 0, 2, 0, 3]);
        let codes = SparseCodes::from_parts(4, starts, atoms, vec![9.0, -1.0, 2.0, 1e-60, -0.5, 4.0]).unwrap();
        let graph = Graph::from_directed(&codes).unwrap();
        assert_eq!(graph.row(0), (&[1, 2][..], &[2.0, 1.5][..]));
        assert_eq!(graph.row(1), (&[0][..], &[2.0][..]));
        assert_eq!(graph.row(2), (&[0, 3][..], &[1.5, 4.0][..]));
        let (starts, neighbours, weights) = graph.clone().into_parts();
        assert_eq!(Graph::new(starts, neighbours, weights), Ok(graph));
    }

    #[test]
    fn codes_that_make_no_graph_are_refused() {
        let codes = |n_atoms, a: f64| SparseCodes::from_parts(n_atoms, vec![0, 1, 1], vec![1], vec![a]).unwrap();
        assert!(Graph::from_directed(&codes(2, 1.0)).is_ok());
        assert!(Graph::from_directed(&codes(3, 1.0)).is_err());
        assert!(Graph::from_directed(&codes(2, 1e60)).is_err());
    }
}
