//! |AᵀA| of sparse codes, row by row (§V): two samples are alike by as much as the same atoms speak for both.
//!
//! Row i adds up, for each atom that codes sample i, the samples that this atom codes. Every row is formed on its own, so
//! both halves of the symmetric product are computed, each by the same sums in the same order and therefore to the same
//! bits.

use std::ops::Range;

use crate::blocks::Run;
use crate::coding::SparseCodes;
use crate::error::{Error, Result};
use crate::scalar::Scalar;

use super::{Graph, StackedCodes};

/// Rows a thread forms at a time.
const BLOCK: usize = 256;

/// The most entries of a graph: 16 GB of them, twice that while it is made.
const MOST_ENTRIES: usize = 1 << 31;

/// Sparse codes that are read a sample at a time.
pub(super) trait SampleCodes: Sync {
    /// The number of atoms.
    fn n_atoms(&self) -> usize;
    /// The number of samples.
    fn n_samples(&self) -> usize;
    /// Puts the atoms and coefficients of a sample into `out`, which is empty, atoms ascending.
    fn read(&self, sample: usize, out: &mut Vec<(u32, f32)>);
}

impl SampleCodes for StackedCodes {
    fn n_atoms(&self) -> usize {
        self.n_rows()
    }

    fn n_samples(&self) -> usize {
        self.n_samples()
    }

    fn read(&self, sample: usize, out: &mut Vec<(u32, f32)>) {
        let entry = |member: super::MemberCodes<'_>| {
            member.entry(sample).map(|(atom, a)| ((member.rows().start + atom as usize) as u32, a))
        };
        out.extend(self.members().filter_map(entry));
    }
}

impl<T: Scalar> SampleCodes for SparseCodes<T> {
    fn n_atoms(&self) -> usize {
        self.n_atoms()
    }

    fn n_samples(&self) -> usize {
        self.n_samples()
    }

    fn read(&self, sample: usize, out: &mut Vec<(u32, f32)>) {
        out.extend(self.column(sample).map(|(atom, a)| (atom as u32, a.to_f64() as f32)));
    }
}

/// For each atom the samples it codes, ascending, and their coefficients.
struct Users {
    starts: Vec<usize>,
    samples: Vec<u32>,
    coefficients: Vec<f32>,
}

impl Users {
    fn of(codes: &dyn SampleCodes) -> Self {
        let mut entries = Vec::new();
        let mut visit = |take: &mut dyn FnMut(usize, u32, f32)| {
            for i in 0..codes.n_samples() {
                codes.read(i, &mut entries);
                entries.drain(..).for_each(|(atom, a)| take(atom as usize, i as u32, a));
            }
        };
        let mut starts = vec![0; codes.n_atoms() + 1];
        visit(&mut |atom, _, _| starts[atom + 1] += 1);
        (1..starts.len()).for_each(|atom| starts[atom] += starts[atom - 1]);
        let mut next = starts.clone();
        let count = starts[codes.n_atoms()];
        let (mut samples, mut coefficients) = (vec![0; count], vec![0.0; count]);
        visit(&mut |atom, sample, a| {
            (samples[next[atom]], coefficients[next[atom]]) = (sample, a);
            next[atom] += 1;
        });
        Self { starts, samples, coefficients }
    }

    /// Σ n², where an atom codes n samples.
    fn products(&self) -> usize {
        self.starts.windows(2).map(|ends| (ends[1] - ends[0]).saturating_pow(2)).fold(0, usize::saturating_add)
    }

    fn of_atom(&self, atom: u32) -> impl Iterator<Item = (u32, f32)> + '_ {
        let range = self.starts[atom as usize]..self.starts[atom as usize + 1];
        self.samples[range.clone()].iter().copied().zip(self.coefficients[range].iter().copied())
    }
}

/// |AᵀA| without its diagonal.
///
/// # Cost
/// As many multiply-adds as Σ n², where an atom codes n samples; memory for the graph twice, for the codes once more, and
/// T doubles a thread.
pub(super) fn product_graph(codes: &dyn SampleCodes, run: Run<'_>) -> Result<Graph> {
    let count = codes.n_samples();
    if u32::try_from(count).is_err() {
        return Err(Error::parameter("codes: samples", count, "must be fewer than 2³²"));
    }
    let users = Users::of(codes);
    let entries = users.products().min(count.saturating_mul(count));
    if entries > MOST_ENTRIES {
        let reason = "are too many to keep; use more atoms, or for an ensemble only positive coefficients, whose graph need not be formed";
        return Err(Error::parameter("graph: entries", entries, reason));
    }
    let scratch = || Row { sums: vec![0.0; count], touched: Vec::new(), entries: Vec::new() };
    let rows = run.map_blocks(count, BLOCK, scratch, |row, range| row.block(codes, &users, range))?;
    let total = rows.iter().map(|rows| rows.neighbours.len()).sum();
    let (mut neighbours, mut weights) = (Vec::with_capacity(total), Vec::with_capacity(total));
    let mut starts = Vec::with_capacity(count + 1);
    starts.push(0);
    for rows in rows {
        starts.extend(rows.ends.iter().map(|end| neighbours.len() + end));
        neighbours.extend(rows.neighbours);
        weights.extend(rows.weights);
    }
    Graph::new(starts, neighbours, weights)
}

impl StackedCodes {
    /// |AᵀA| without its diagonal.
    ///
    /// # Cost
    /// [`products`](Self::products) multiply-adds, and memory for twice the graph.
    ///
    /// # Errors
    /// If a weight is not finite in single precision, or the run was interrupted.
    pub fn graph(&self, run: Run<'_>) -> Result<Graph> {
        product_graph(self, run)
    }
}

/// Some rows of the graph.
#[derive(Default)]
struct Rows {
    ends: Vec<usize>,
    neighbours: Vec<u32>,
    weights: Vec<f32>,
}

/// One thread's working space.
struct Row {
    /// The row being formed; all zeros before and after.
    sums: Vec<f64>,
    /// Where it is not zero, or was not for a time.
    touched: Vec<u32>,
    entries: Vec<(u32, f32)>,
}

impl Row {
    fn block(&mut self, codes: &dyn SampleCodes, users: &Users, range: Range<usize>) -> Result<Rows> {
        let mut rows = Rows::default();
        for i in range {
            self.entries.clear();
            codes.read(i, &mut self.entries);
            for &(atom, own) in &self.entries {
                for (j, a) in users.of_atom(atom) {
                    let sum = &mut self.sums[j as usize];
                    if *sum == 0.0 {
                        self.touched.push(j);
                    }
                    *sum += f64::from(own) * f64::from(a);
                }
            }
            self.touched.sort_unstable();
            for j in self.touched.drain(..) {
                let weight = std::mem::take(&mut self.sums[j as usize]).abs() as f32;
                if !weight.is_finite() {
                    let reason = "the weights of a graph must be finite in single precision; scale the samples";
                    return Err(Error::parameter("codes", weight, reason));
                }
                // One that was touched twice is zero the second time.
                if weight > 0.0 && j as usize != i {
                    rows.neighbours.push(j);
                    rows.weights.push(weight);
                }
            }
            rows.ends.push(rows.neighbours.len());
        }
        Ok(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_product_is_that_of_dense_matrices_for_any_number_of_threads() {
        // Signs that cancel, samples without an entry, atoms nobody uses.
        let (n_samples, sizes) = (600, [5, 1, 40]);
        let mut codes = StackedCodes::new(n_samples);
        let number = |i: usize, l: usize| (i * 7919 + l * 104_729 + i * i * 31) % 1009;
        for (l, &size) in sizes.iter().enumerate() {
            let atoms = (0..n_samples).map(|i| (number(i, l) % size) as u32).collect();
            let values = [1.0, -1.0, 0.5, 0.0, 2.0];
            codes.push(size, atoms, (0..n_samples).map(|i| values[number(i, l + 9) % 5]).collect()).unwrap();
        }
        let graph = product_graph(&codes, Run::threads(1)).unwrap();
        assert_eq!(graph, product_graph(&codes, Run::threads(3)).unwrap());
        let dense = |i: usize| {
            let mut column = vec![0.0_f64; codes.n_rows()];
            for member in codes.members() {
                if let Some((atom, a)) = member.entry(i) {
                    column[member.rows().start + atom as usize] = f64::from(a);
                }
            }
            column
        };
        let columns: Vec<Vec<f64>> = (0..n_samples).map(dense).collect();
        for i in 0..n_samples {
            let product = |j: usize| columns[i].iter().zip(&columns[j]).map(|(a, b)| a * b).sum::<f64>().abs() as f32;
            let expected: Vec<(u32, f32)> = (0..n_samples)
                .filter(|&j| j != i)
                .map(|j| (j as u32, product(j)))
                .filter(|(_, weight)| *weight > 0.0)
                .collect();
            let (neighbours, weights) = graph.row(i);
            assert_eq!(neighbours.iter().copied().zip(weights.iter().copied()).collect::<Vec<_>>(), expected);
        }
    }
}
