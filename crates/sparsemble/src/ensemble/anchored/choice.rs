//! Which anchor of each member an input belongs to: features and the fused pass, for a block of inputs.

use fearless_simd::{Simd, dispatch};

use crate::dictionary::Dictionary;
use crate::kernels::{Classes, Columns, Largest, Panels, Store, Tiles, best_level, correlate, dots};
use crate::matrix::Matrix;
use crate::scalar::Scalar;

/// Inputs in a block.
pub(super) const BLOCK: usize = 96;

/// The features and anchors of several members, packed for the pass.
#[derive(Debug)]
pub(super) struct Choices<T> {
    n_inputs: usize,
    /// The features of all members side by side.
    features: Panels<T>,
    members: Vec<Anchors<T>>,
}

#[derive(Debug)]
struct Anchors<T> {
    /// The place of the member's first feature among all.
    first: usize,
    panels: Panels<T>,
    columns: Columns<T>,
}

impl<T: Scalar> Choices<T> {
    /// Packs members that take inputs of the same length.
    pub(super) fn new<'a>(members: impl Iterator<Item = (&'a Matrix<T>, &'a Dictionary<T>)>) -> Self {
        let level = best_level();
        let (mut columns, mut packed, mut n_inputs) = (Vec::new(), Vec::new(), 0);
        for (features, anchors) in members {
            let atoms = anchors.atoms();
            let size = (atoms.rows(), atoms.columns());
            packed.push(Anchors {
                first: columns.len(),
                panels: Panels::pack(level, size, |k| atoms.column(k), |_| T::ONE),
                columns: Columns::copy_of(atoms.view()),
            });
            n_inputs = features.rows();
            columns.extend((0..features.columns()).map(|c| features.column(c)));
        }
        let features = Panels::pack(level, (n_inputs, columns.len()), |c| columns[c], |_| T::ONE);
        Self { n_inputs, features, members: packed }
    }
}

/// What a thread needs to choose.
pub(super) struct Chooser<'a, T> {
    choices: &'a Choices<T>,
    inputs: Tiles<T>,
    features: Store<T>,
    spaces: Vec<Space<T>>,
    atoms: Vec<u32>,
    products: Vec<T>,
}

/// The part of it for one member.
struct Space<T> {
    tiles: Tiles<T>,
    features: Columns<T>,
    classes: Classes<T>,
}

impl<'a, T: Scalar> Chooser<'a, T> {
    pub(super) fn new(choices: &'a Choices<T>) -> Self {
        let space = |anchors: &Anchors<T>| Space {
            tiles: Tiles::new(anchors.columns.rows(), BLOCK),
            features: Columns::zeros(anchors.columns.rows(), BLOCK),
            classes: Classes::new(&anchors.panels, BLOCK, Largest::Magnitude),
        };
        Self {
            choices,
            inputs: Tiles::new(choices.n_inputs, BLOCK),
            features: Store::new(&choices.features, BLOCK),
            spaces: choices.members.iter().map(space).collect(),
            atoms: Vec::new(),
            products: Vec::new(),
        }
    }

    /// Gives `take` the chosen atom of every member for every input of a block, one after the other in memory: member,
    /// place of the input, atom.
    pub(super) fn choose(&mut self, inputs: &[T], mut take: impl FnMut(usize, usize, u32)) {
        self.inputs.clear();
        let count = inputs.len() / self.choices.n_inputs;
        inputs.chunks_exact(self.choices.n_inputs).for_each(|input| self.inputs.push(input));
        correlate(&self.choices.features, &self.inputs, &mut self.features);
        for (l, (anchors, space)) in self.choices.members.iter().zip(&mut self.spaces).enumerate() {
            space.tiles.clear();
            let rows = anchors.columns.rows();
            for slot in 0..count {
                let feature = &self.features.of(slot)[anchors.first..][..rows];
                space.tiles.push(feature);
                space.features.padded_mut(slot)[..rows].copy_from_slice(feature);
            }
            correlate(&anchors.panels, &space.tiles, &mut space.classes);
            let words = (&mut self.atoms, &mut self.products);
            let mut take = |slot, atom| take(l, slot, atom);
            dispatch!(anchors.panels.level(), simd => best_of_each(simd, (anchors, space), words, count, &mut take));
        }
    }
}

/// The atom of the largest product with each input's features; the first among equals, and of no features at all.
#[inline(always)]
fn best_of_each<S: Simd, T: Scalar>(
    simd: S,
    (anchors, space): (&Anchors<T>, &Space<T>),
    (atoms, products): (&mut Vec<u32>, &mut Vec<T>),
    count: usize,
    take: &mut impl FnMut(usize, u32),
) {
    for slot in 0..count {
        atoms.clear();
        space.classes.leaders(simd, slot, atoms);
        dots(simd, &anchors.columns, atoms, space.features.padded(slot), products);
        let mut best = (0, T::ZERO);
        for (&atom, product) in atoms.iter().zip(products.iter()) {
            if product.abs() > best.1 {
                best = (atom, product.abs());
            }
        }
        take(slot, best.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chosen_atom_is_that_of_a_plain_search() {
        let wave = |seed: usize| move |r: usize, c: usize| ((r * 31 + c * 17 + seed) as f64).sin();
        for n_atoms in [1, 5, 40, 150] {
            let members: Vec<_> = (0..3)
                .map(|l| {
                    let anchors = Dictionary::new(Matrix::from_fn(4 + l, n_atoms, wave(l))).unwrap();
                    (Matrix::from_fn(9, 4 + l, wave(100 + l)), anchors)
                })
                .collect();
            let choices = Choices::new(members.iter().map(|(features, anchors)| (features, anchors)));
            let inputs = Matrix::from_fn(9, 50, |r, c| if c == 7 { 0.0 } else { wave(5)(r, c) });
            let mut taken = 0;
            Chooser::new(&choices).choose(inputs.as_slice(), |l, slot, atom| {
                let (features, anchors) = &members[l];
                let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
                let f: Vec<f64> = (0..4 + l).map(|i| dot(features.column(i), inputs.column(slot))).collect();
                let size = |k: usize| dot(anchors.atoms().column(k), &f).abs();
                let best = (0..n_atoms).map(size).fold(0.0, f64::max);
                assert!(size(atom as usize) >= best - 1e-12 && (slot != 7 || atom == 0));
                taken += 1;
            });
            assert_eq!(taken, 3 * 50);
        }
    }
}
