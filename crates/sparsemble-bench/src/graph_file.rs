//! Graphs in files: the three arrays of compressed sparse rows, raw and little-endian, each with an ending of its own.

use anyhow::{Context, Result};
use sparsemble::graph::Graph;

use crate::options::Options;

const STARTS: &str = ".starts";
const NEIGHBOURS: &str = ".neighbours";
const WEIGHTS: &str = ".weights";

/// Reads the graph that `input=` names.
pub(crate) fn read(options: &Options<'_>) -> Result<Graph> {
    let input = options.text("input")?;
    let bytes = |ending: &str| {
        let path = format!("{input}{ending}");
        std::fs::read(&path).with_context(|| format!("reading {path}"))
    };
    let starts = words(&bytes(STARTS)?, u64::from_le_bytes).map(usize::try_from).collect::<Result<_, _>>()?;
    let neighbours = words(&bytes(NEIGHBOURS)?, u32::from_le_bytes).collect();
    let weights = words(&bytes(WEIGHTS)?, f32::from_le_bytes).collect();
    Ok(Graph::new(starts, neighbours, weights)?)
}

/// Writes a graph to the files that `output=` names, if it names any.
pub(crate) fn write(options: &Options<'_>, graph: &Graph) -> Result<()> {
    options.write_bytes(STARTS, graph.starts().iter().flat_map(|&start| (start as u64).to_le_bytes()))?;
    options.write_bytes(NEIGHBOURS, graph.neighbours().iter().flat_map(|neighbour| neighbour.to_le_bytes()))?;
    options.write_bytes(WEIGHTS, graph.weights().iter().flat_map(|weight| weight.to_le_bytes()))
}

fn words<const N: usize, W>(bytes: &[u8], read: impl Fn([u8; N]) -> W) -> impl Iterator<Item = W> {
    bytes.as_chunks().0.iter().map(move |&word| read(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_comes_back_as_it_was_written() {
        let path = std::env::temp_dir().join(format!("sparsemble-bench-graph-{}", std::process::id()));
        let [input, output] = ["input", "output"].map(|name| format!("{name}={}", path.display()));
        let arguments = [input.as_str(), output.as_str()];
        let options = Options::parse(&arguments).unwrap();
        let graph = Graph::new(vec![0, 1, 3, 4], vec![1, 0, 2, 1], vec![0.5, 0.5, 2.0, 2.0]).unwrap();
        write(&options, &graph).unwrap();
        assert_eq!(read(&options).unwrap(), graph);
        for ending in [STARTS, NEIGHBOURS, WEIGHTS] {
            std::fs::remove_file(format!("{}{ending}", path.display())).unwrap();
        }
    }
}
