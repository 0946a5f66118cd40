//! Which anchor of each member an input belongs to: the fused pass over the features of a block of inputs.

use fearless_simd::{dispatch, prelude::*};

use crate::dictionary::Dictionary;
use crate::kernels::{Best, Classes, Columns, Largest, Panels, Tiles, best_level, correlate, dots};
use crate::scalar::Scalar;

/// Inputs in a block.
pub(super) const BLOCK: usize = 96;

/// The anchors of a member, packed for the pass.
#[derive(Debug)]
pub(super) struct Anchors<T> {
    panels: Panels<T>,
    columns: Columns<T>,
}

impl<T: Scalar> Anchors<T> {
    pub(super) fn new(anchors: &Dictionary<T>) -> Self {
        let atoms = anchors.atoms();
        let size = (atoms.rows(), atoms.columns());
        let panels = Panels::pack(best_level(), size, |k| atoms.column(k), |_| T::ONE);
        Self { panels, columns: Columns::copy_of(atoms.view()) }
    }
}

/// What a thread needs to choose among the anchors of one or more members.
pub(super) struct Chooser<'a, T> {
    members: Vec<(&'a Anchors<T>, Classes<T>)>,
    /// The features of the block, for the pass and one by one.
    tiles: Tiles<T>,
    features: Columns<T>,
    count: usize,
    atoms: Vec<u32>,
    products: Vec<T>,
}

impl<'a, T: Scalar> Chooser<'a, T> {
    /// For features of this length.
    pub(super) fn new(n_features: usize, members: impl Iterator<Item = &'a Anchors<T>>) -> Self {
        let member = |anchors: &'a Anchors<T>| (anchors, Classes::new(&anchors.panels, BLOCK, Largest::Magnitude));
        Self {
            members: members.map(member).collect(),
            tiles: Tiles::new(n_features, BLOCK),
            features: Columns::zeros(n_features, BLOCK),
            count: 0,
            atoms: Vec::new(),
            products: Vec::new(),
        }
    }

    /// Adds the features of one more input to the block.
    pub(super) fn push(&mut self, features: &[T]) {
        self.tiles.push(features);
        self.features.padded_mut(self.count)[..features.len()].copy_from_slice(features);
        self.count += 1;
    }

    /// Gives `take` every member's atom for every input of the block, and empties it.
    pub(super) fn choose(&mut self, mut take: impl FnMut(usize, u32)) {
        for (l, (anchors, classes)) in self.members.iter_mut().enumerate() {
            correlate(&anchors.panels, &self.tiles, classes);
            let inputs = (&self.features, self.count);
            let space = (&mut self.atoms, &mut self.products);
            let mut take = |atom| take(l, atom);
            dispatch!(anchors.panels.level(), simd => best_of_each(simd, (anchors, classes), inputs, space, &mut take));
        }
        self.tiles.clear();
        self.count = 0;
    }
}

/// The atom of the largest product with each input's features; the first among equals, and of no features at all.
#[inline(always)]
fn best_of_each<S: Simd, T: Scalar>(
    simd: S,
    (anchors, classes): (&Anchors<T>, &Classes<T>),
    (features, count): (&Columns<T>, usize),
    (atoms, products): (&mut Vec<u32>, &mut Vec<T>),
    take: &mut impl FnMut(u32),
) {
    for slot in 0..count {
        atoms.clear();
        classes.leaders(simd, slot, atoms);
        dots(simd, &anchors.columns, atoms, features.padded(slot), products);
        // Whole vectors: zeros beyond the last product are no match for it.
        let mut best = Best::<S, T>::above(simd, T::ZERO);
        let vectors = atoms.len().next_multiple_of(T::Native::<S>::LEN);
        for part in products[..vectors].chunks_exact(T::Native::<S>::LEN) {
            best.offer(T::Native::<S>::from_slice(simd, part).abs());
        }
        take(best.places().min().and_then(|place| atoms.get(place)).copied().unwrap_or(0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Matrix;

    #[test]
    fn the_chosen_atom_is_that_of_a_plain_search() {
        let wave = |seed: usize| move |r: usize, c: usize| ((r * 31 + c * 17 + seed) as f64).sin();
        for n_atoms in [1, 5, 40, 150] {
            let members: Vec<_> =
                (0..3).map(|l| Dictionary::new(Matrix::from_fn(7, n_atoms, wave(l))).unwrap()).collect();
            let anchors: Vec<_> = members.iter().map(Anchors::new).collect();
            let mut chooser = Chooser::new(7, anchors.iter());
            let features = Matrix::from_fn(7, 50, |r, c| if c == 7 { 0.0 } else { wave(5)(r, c) });
            // Twice, as a block leaves nothing for the next.
            for _ in 0..2 {
                (0..50).for_each(|i| chooser.push(features.column(i)));
                let mut chosen = vec![Vec::new(); 3];
                chooser.choose(|l, atom| chosen[l].push(atom));
                for (member, chosen) in members.iter().zip(chosen) {
                    assert_eq!(chosen.len(), 50);
                    for (i, atom) in chosen.into_iter().enumerate() {
                        let atoms = member.atoms();
                        let dot = |k: usize| atoms.column(k).iter().zip(features.column(i)).map(|(a, b)| a * b);
                        let size = |k: usize| dot(k).sum::<f64>().abs();
                        let best = (0..n_atoms).map(size).fold(0.0, f64::max);
                        assert!(size(atom as usize) >= best - 1e-12 && (i != 7 || atom == 0));
                    }
                }
            }
        }
    }
}
