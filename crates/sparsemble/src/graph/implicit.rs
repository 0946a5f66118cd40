//! The graph AᵀA of codes, multiplied without being formed.

use fearless_simd::{dispatch, prelude::*};

use crate::blocks::Run;
use crate::coding::SparseCodes;
use crate::error::{Error, Result};
use crate::kernels::best_level;
use crate::scalar::Scalar;

use super::affinity::{Affinity, combination, expect_vertices};
use super::eights::{Eight, fill};

/// S = AᵀA without its diagonal, for codes A ≥ 0: samples are alike as far as they use the same atoms.
///
/// An atom that n samples use makes n² entries of S, but only n of A: where atoms are few, S is nearly full and A is not.
/// S·v = Aᵀ(A·v) − g∘v, where g is the diagonal of AᵀA.
///
/// # Shapes
/// The codes are K × T: those of several dictionaries, one below the other.
///
/// # Cost
/// A product is two passes over the codes, which are stored twice: by samples and by atoms.
///
/// # Example
/// ```
/// use sparsemble::coding::SparseCodes;
/// use sparsemble::graph::{Affinity, CodeAffinity};
///
/// // Samples 0 and 1 share atom 0; sample 2 has atom 1 for itself.
/// let codes = SparseCodes::from_parts(2, vec![0, 1, 2, 3], vec![0, 0, 1], vec![1.0, 2.0, 5.0])?;
/// let affinity = CodeAffinity::new(&codes)?;
/// assert_eq!(affinity.degrees(), [2.0, 2.0, 0.0]);
/// assert_eq!(affinity.components(), [0, 0, 1]);
/// # Ok::<(), sparsemble::Error>(())
/// ```
///
/// Paper: §V, the graph |AᵀA|, where no coefficient is negative.
#[derive(Debug, Clone)]
pub struct CodeAffinity {
    by_sample: Lists,
    by_atom: Lists,
    /// g, the squared norms of the codes.
    energies: Vec<f64>,
}

/// Sparse rows.
#[derive(Debug, Clone)]
struct Lists {
    starts: Vec<usize>,
    places: Vec<u32>,
    values: Vec<f32>,
}

impl CodeAffinity {
    /// Takes the codes in single precision; coefficients that are zero there are left out.
    ///
    /// # Errors
    /// If a coefficient is negative, or not finite in single precision.
    pub fn new<T: Scalar>(codes: &SparseCodes<T>) -> Result<Self> {
        let mut by_sample = Lists { starts: vec![0], places: Vec::new(), values: Vec::new() };
        for i in 0..codes.n_samples() {
            for (atom, a) in codes.column(i) {
                let value = a.to_f64() as f32;
                if !(value >= 0.0 && value.is_finite()) {
                    let reason = "must be finite and not negative; code with the non-negative option";
                    return Err(Error::parameter("codes: coefficient", a, reason));
                }
                if value > 0.0 {
                    by_sample.places.push(atom as u32);
                    by_sample.values.push(value);
                }
            }
            by_sample.starts.push(by_sample.places.len());
        }
        let energy = |i: usize| by_sample.row(i).1.iter().map(|&a| f64::from(a).powi(2)).sum();
        let energies = (0..codes.n_samples()).map(energy).collect();
        Ok(Self { by_atom: by_sample.transposed(codes.n_atoms()), by_sample, energies })
    }

    /// K, the atoms of the codes.
    pub fn n_atoms(&self) -> usize {
        self.by_atom.count()
    }

    /// The codes in compressed sparse rows, one a sample: where each starts and the last one ends, atoms, coefficients.
    pub fn rows(&self) -> (&[usize], &[u32], &[f32]) {
        (&self.by_sample.starts, &self.by_sample.places, &self.by_sample.values)
    }
}

impl Affinity for CodeAffinity {
    fn vertices(&self) -> usize {
        self.by_sample.count()
    }

    fn degrees(&self) -> Vec<f64> {
        let sum = |k: usize| self.by_atom.row(k).1.iter().map(|&a| f64::from(a)).sum::<f64>();
        let sums: Vec<f64> = (0..self.by_atom.count()).map(sum).collect();
        let degree = |i: usize| {
            let (atoms, values) = self.by_sample.row(i);
            // What the others have of an atom: exactly zero if there are none.
            let term = |(&k, &a): (&u32, &f32)| f64::from(a) * (sums[k as usize] - f64::from(a));
            atoms.iter().zip(values).map(term).sum()
        };
        (0..self.vertices()).map(degree).collect()
    }

    fn times(&self, block: &[Eight], out: &mut [Eight], run: Run<'_>) -> Result<()> {
        expect_vertices(self.vertices(), block, out)?;
        let mut of_atoms = vec![Eight::ZERO; self.by_atom.count()];
        fill(&mut of_atoms, run.silent(), |range, out| {
            dispatch!(best_level(), simd => self.by_atom.times(simd, range.start, block, out));
        })?;
        fill(out, run, |range, out| {
            dispatch!(best_level(), simd => self.by_sample.times(simd, range.start, &of_atoms, out));
            for ((out, x), energy) in out.iter_mut().zip(&block[range.clone()]).zip(&self.energies[range]) {
                out.0.iter_mut().zip(x.0).for_each(|(out, x)| *out -= energy * x);
            }
        })
    }

    fn components(&self) -> Vec<u32> {
        let mut found = vec![u32::MAX; self.vertices()];
        let mut seen = vec![false; self.by_atom.count()];
        let mut count = 0;
        let mut waiting = Vec::new();
        for first in 0..self.vertices() {
            if found[first] < u32::MAX {
                continue;
            }
            found[first] = count;
            waiting.push(first);
            while let Some(i) = waiting.pop() {
                for &atom in self.by_sample.row(i).0 {
                    if std::mem::replace(&mut seen[atom as usize], true) {
                        continue;
                    }
                    for &j in self.by_atom.row(atom as usize).0 {
                        if found[j as usize] == u32::MAX {
                            found[j as usize] = count;
                            waiting.push(j as usize);
                        }
                    }
                }
            }
            count += 1;
        }
        found
    }
}

impl Lists {
    fn count(&self) -> usize {
        self.starts.len() - 1
    }

    #[inline]
    fn row(&self, row: usize) -> (&[u32], &[f32]) {
        let range = self.starts[row]..self.starts[row + 1];
        (&self.places[range.clone()], &self.values[range])
    }

    /// The products of some rows with eight vectors.
    #[inline(always)]
    fn times<S: Simd>(&self, simd: S, first: usize, block: &[Eight], out: &mut [Eight]) {
        for (i, out) in out.iter_mut().enumerate() {
            let (places, values) = self.row(first + i);
            *out = combination(simd, places, values, block);
        }
    }

    fn transposed(&self, count: usize) -> Self {
        let mut starts = vec![0; count + 1];
        self.places.iter().for_each(|&k| starts[k as usize + 1] += 1);
        (1..starts.len()).for_each(|k| starts[k] += starts[k - 1]);
        let mut next = starts.clone();
        let (mut places, mut values) = (vec![0; self.places.len()], vec![0.0; self.places.len()]);
        for row in 0..self.count() {
            let (columns, entries) = self.row(row);
            for (&k, &value) in columns.iter().zip(entries) {
                let place = next[k as usize];
                (places[place], values[place]) = (row as u32, value);
                next[k as usize] += 1;
            }
        }
        Self { starts, places, values }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Graph;
    use crate::graph::eights::VERTICES;

    /// Three blocks of atoms, one atom of each for every sample, and a few samples with atoms of their own.
    fn codes(samples: usize) -> SparseCodes<f32> {
        let n_atoms = 90 + samples;
        let mut codes = SparseCodes::new(n_atoms);
        for i in 0..samples {
            let value = |l: usize| 0.1 + ((i * 7 + l * 3) % 11) as f32 / 11.0;
            let atom = |l: usize| if i % 50 == 7 { 90 + i } else { 30 * l + (i * (2 * l + 3)) % 30 };
            codes.push((0..3).take(if i % 50 == 7 { 1 } else { 3 }).map(|l| (atom(l) as u32, value(l))));
        }
        codes
    }

    /// The same graph, formed.
    fn formed(codes: &SparseCodes<f32>) -> Graph {
        let dense = codes.to_dense();
        let weight =
            |i: usize, j: usize| -> f32 { dense.column(i).iter().zip(dense.column(j)).map(|(a, b)| a * b).sum() };
        let (mut starts, mut neighbours, mut weights) = (vec![0], Vec::new(), Vec::new());
        for i in 0..codes.n_samples() {
            for j in (0..codes.n_samples()).filter(|&j| j != i && weight(i, j) > 0.0) {
                neighbours.push(j as u32);
                weights.push(weight(i, j));
            }
            starts.push(neighbours.len());
        }
        Graph::new(starts, neighbours, weights).unwrap()
    }

    #[test]
    fn a_graph_of_codes_is_the_one_that_is_formed() {
        let samples = VERTICES + 60;
        let codes = codes(samples);
        let (implicit, graph) = (CodeAffinity::new(&codes).unwrap(), formed(&codes));
        assert_eq!(implicit.components(), graph.components());
        for (found, expected) in implicit.degrees().iter().zip(graph.degrees()) {
            assert!((found - expected).abs() < 1e-4, "{found} for {expected}");
        }
        assert!(implicit.degrees()[7] == 0.0);
        let block: Vec<Eight> = (0..samples).map(|i| Eight([(i as f64).sin(); 8])).collect();
        let product = |affinity: &dyn Affinity, threads| {
            let mut out = vec![Eight::ZERO; samples];
            affinity.times(&block, &mut out, Run::threads(threads)).unwrap();
            out
        };
        let found = product(&implicit, 1);
        for (found, expected) in found.iter().zip(product(&graph, 1)) {
            assert!((found.0[3] - expected.0[3]).abs() < 1e-4, "{found:?} for {expected:?}");
        }
        assert_eq!(found, product(&implicit, 3));
    }

    #[test]
    fn negative_codes_are_refused() {
        let codes = |a: f64| SparseCodes::from_parts(2, vec![0, 1], vec![1], vec![a]).unwrap();
        assert!(CodeAffinity::new(&codes(1.0)).is_ok() && CodeAffinity::new(&codes(0.0)).is_ok());
        assert!(CodeAffinity::new(&codes(-1.0)).is_err() && CodeAffinity::new(&codes(1e60)).is_err());
    }
}
