//! A graph as it was built, and what there is to say about it.

use super::Graph;

/// A graph and how it came about.
#[derive(Debug, Clone, PartialEq)]
pub struct BuiltGraph {
    /// The affinities.
    pub graph: Graph,
    /// What there is to say about them.
    pub report: GraphReport,
}

/// How dense a graph is, and how well its samples were coded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GraphReport {
    /// The fewest neighbours of a vertex.
    pub least_neighbours: usize,
    /// The mean number of neighbours.
    pub mean_neighbours: f64,
    /// The most neighbours of a vertex.
    pub most_neighbours: usize,
    /// Vertices without neighbours.
    pub isolated: usize,
    /// Samples whose coder did not reach what was asked for.
    pub unconverged: usize,
}

impl BuiltGraph {
    pub(crate) fn new(graph: Graph, unconverged: usize) -> Self {
        let counts = || graph.starts().windows(2).map(|ends| ends[1] - ends[0]);
        let report = GraphReport {
            least_neighbours: counts().min().unwrap_or(0),
            mean_neighbours: graph.neighbours().len() as f64 / graph.vertices().max(1) as f64,
            most_neighbours: counts().max().unwrap_or(0),
            isolated: counts().filter(|count| *count == 0).count(),
            unconverged,
        };
        Self { graph, report }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_counted() {
        let graph = Graph::new(vec![0, 1, 3, 4, 4], vec![1, 0, 2, 1], vec![1.0; 4]).unwrap();
        let report =
            GraphReport { least_neighbours: 0, mean_neighbours: 1.0, most_neighbours: 2, isolated: 1, unconverged: 7 };
        assert_eq!(BuiltGraph::new(graph, 7).report, report);
    }
}
