//! The operator M = D^(−1/2) S D^(−1/2) of a graph S with the degrees D, and the eigenvectors of it that need no search.
//!
//! The normalised Laplacian is I − M. Each connected component C that has an edge gives M an eigenvector of eigenvalue 1,
//! the largest there is: √(d_i / vol C) on C and zero elsewhere. They are all of them, so they are removed here and the
//! solver looks for eigenvalues below 1 only, however many components there are.

use crate::blocks::Run;
use crate::error::Result;
use crate::graph::{Affinity, Eight, fill};

use super::blocks::Block;

/// Fewer vertices than these are passed over sooner than threads start.
pub(in crate::clustering) const FEW: usize = 1 << 15;

/// How the work on vectors of so many entries is run, beside the products of the graph.
pub(super) fn beside(vertices: usize, run: Run<'_>) -> Run<'_> {
    if vertices < FEW { Run::threads(1) } else { run.silent() }
}

/// M.
pub(super) struct Normalised<'a> {
    affinity: &'a dyn Affinity,
    /// d^(−1/2), or zero for a vertex without edges.
    scales: Vec<f64>,
    components: Components,
}

/// The connected components that have an edge.
pub(super) struct Components {
    /// That of each vertex; those without edges have the number that follows the last one.
    of: Vec<u32>,
    /// √d_i / √(vol C): the eigenvectors, all in one because no two of them meet.
    entries: Vec<f64>,
    /// vol C, the sum of the degrees in C.
    volumes: Vec<f64>,
}

impl<'a> Normalised<'a> {
    pub(super) fn new(affinity: &'a dyn Affinity) -> Self {
        let degrees = affinity.degrees();
        let scales = degrees.iter().map(|&d| if d > 0.0 { 1.0 / d.sqrt() } else { 0.0 }).collect();
        Self { affinity, scales, components: Components::new(affinity.components(), &degrees) }
    }

    pub(super) fn vertices(&self) -> usize {
        self.scales.len()
    }

    pub(super) fn components(&self) -> &Components {
        &self.components
    }

    /// The vertices that have no edges.
    pub(super) fn isolated(&self) -> Vec<u32> {
        let isolated = self.scales.iter().enumerate().filter(|(_, scale)| **scale <= 0.0);
        isolated.map(|(i, _)| i as u32).collect()
    }

    /// M·V; `space` is overwritten.
    pub(super) fn times(&self, v: &Block, space: &mut Block, out: &mut Block, run: Run<'_>) -> Result<()> {
        let beside = beside(self.vertices(), run);
        fill(space, beside, |range, space| {
            for ((scale, v), out) in self.scales[range.clone()].iter().zip(&v[range]).zip(space) {
                *out = Eight(v.0.map(|entry| entry * scale));
            }
        })?;
        self.affinity.times(space, out, run)?;
        fill(out, beside, |range, out| {
            for (scale, out) in self.scales[range].iter().zip(out) {
                out.0.iter_mut().for_each(|entry| *entry *= scale);
            }
        })
    }
}

impl Components {
    fn new(mut of: Vec<u32>, degrees: &[f64]) -> Self {
        let count = of.iter().max().map_or(0, |&last| last as usize + 1);
        let mut volumes = vec![0.0; count];
        of.iter().zip(degrees).for_each(|(&component, degree)| volumes[component as usize] += degree);
        let mut next = 0;
        let numbers: Vec<u32> = volumes
            .iter()
            .map(|&volume| {
                next += u32::from(volume > 0.0);
                if volume > 0.0 { next - 1 } else { u32::MAX }
            })
            .collect();
        volumes.retain(|&volume| volume > 0.0);
        for component in &mut of {
            *component = numbers[*component as usize].min(next);
        }
        let entry = |(&component, &degree): (&u32, &f64)| {
            volumes.get(component as usize).map_or(0.0, |volume| (degree / volume).sqrt())
        };
        let entries = of.iter().zip(degrees).map(entry).collect();
        Self { of, entries, volumes }
    }

    /// How many there are: the multiplicity of the eigenvalue 1.
    pub(super) fn count(&self) -> usize {
        self.volumes.len()
    }

    /// The largest of them first, by volume.
    pub(super) fn largest(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.count()).collect();
        order.sort_by(|&a, &b| self.volumes[b].total_cmp(&self.volumes[a]).then(a.cmp(&b)));
        order
    }

    /// The component of a vertex and the entry of its eigenvector there; `None` if the vertex has no edges.
    pub(super) fn entry(&self, vertex: usize) -> Option<(usize, f64)> {
        let component = self.of[vertex] as usize;
        (component < self.count()).then(|| (component, self.entries[vertex]))
    }

    /// Makes eight vectors orthogonal to all eigenvectors of eigenvalue 1.
    pub(super) fn remove(&self, block: &mut Block, run: Run<'_>) -> Result<()> {
        let mut sums = vec![Eight::ZERO; self.count() + 1];
        for ((&component, entry), row) in self.of.iter().zip(&self.entries).zip(block.iter()) {
            let sum = &mut sums[component as usize];
            sum.0.iter_mut().zip(row.0).for_each(|(sum, value)| *sum += entry * value);
        }
        fill(block, run, |range, block| {
            for ((&component, entry), row) in self.of[range.clone()].iter().zip(&self.entries[range]).zip(block) {
                let sum = &sums[component as usize];
                row.0.iter_mut().zip(sum.0).for_each(|(value, sum)| *value -= entry * sum);
            }
        })
    }
}
