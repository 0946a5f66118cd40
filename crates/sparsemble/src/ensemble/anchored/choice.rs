//! Which anchor of each member an input belongs to: the fused pass over the features of a block of inputs.

use fearless_simd::{dispatch, prelude::*};

use crate::dictionary::Dictionary;
use crate::kernels::{
    Best, CoarseClasses, CoarsePanels, CoarseTiles, Columns, Largest, best_level, dots, few_dots, first_largest,
};
use crate::scalar::Scalar;
use crate::sums::product;

/// Inputs in a block.
pub(super) const BLOCK: usize = 96;

/// The anchors of a member, packed for the pass.
#[derive(Debug)]
pub(super) struct Anchors<T> {
    coarse: CoarsePanels,
    columns: Columns<T>,
}

impl<T: Scalar> Anchors<T> {
    pub(super) fn new(anchors: &Dictionary<T>) -> Self {
        let columns = Columns::copy_of(anchors.atoms().view());
        let norm = |k: usize| product(columns.column(k), columns.column(k)).sqrt();
        let size = (columns.rows(), columns.count());
        let coarse = CoarsePanels::pack(best_level(), size, |k| columns.column(k), |k| (norm(k), 1.0));
        Self { coarse, columns }
    }
}

/// What a thread needs to choose among the anchors of one or more members.
pub(super) struct Chooser<'a, T> {
    members: Vec<(&'a Anchors<T>, CoarseClasses)>,
    /// The features of the block, for the pass and one by one.
    coarse: CoarseTiles,
    features: Columns<T>,
    count: usize,
    space: Space<T>,
}

/// What finding the best atoms of a block takes.
#[derive(Default)]
struct Space<T> {
    leading: Vec<Option<u32>>,
    atoms: Vec<u32>,
    products: Vec<T>,
}

impl<'a, T: Scalar> Chooser<'a, T> {
    /// For features of this length.
    pub(super) fn new(n_features: usize, members: impl Iterator<Item = &'a Anchors<T>>) -> Self {
        let member =
            |anchors: &'a Anchors<T>| (anchors, CoarseClasses::new(&anchors.coarse, BLOCK, Largest::Magnitude));
        Self {
            members: members.map(member).collect(),
            coarse: CoarseTiles::new(n_features, BLOCK),
            features: Columns::zeros(n_features, BLOCK),
            count: 0,
            space: Space::default(),
        }
    }

    /// Adds the features of one more input to the block.
    pub(super) fn push(&mut self, features: &[T]) {
        self.features.padded_mut(self.count)[..features.len()].copy_from_slice(features);
        self.count += 1;
    }

    /// Gives `take` every member's atom for every input of the block, and empties it.
    pub(super) fn choose(&mut self, mut take: impl FnMut(usize, u32)) {
        let level = best_level();
        self.coarse.load(level, &self.features, self.count);
        for (l, (anchors, classes)) in self.members.iter_mut().enumerate() {
            classes.find(&anchors.coarse, &self.coarse);
            let (inputs, space) = ((&self.features, &self.coarse), &mut self.space);
            let mut take = |atom| take(l, atom);
            dispatch!(level, simd => best_of_each(simd, (anchors, classes), inputs, space, &mut take));
        }
        self.count = 0;
    }
}

/// The atom of the largest product with each input's features; the first among equals, and of no features at all.
#[inline(always)]
fn best_of_each<S: Simd, T: Scalar>(
    simd: S,
    (anchors, classes): (&Anchors<T>, &CoarseClasses),
    (features, coarse): (&Columns<T>, &CoarseTiles),
    space: &mut Space<T>,
    take: &mut impl FnMut(u32),
) {
    classes.leading(simd, coarse, &mut space.leading);
    for (slot, class) in space.leading.iter().enumerate() {
        let x = features.padded(slot);
        if let Some(class) = *class {
            let atoms = classes.atoms(class);
            let sizes = few_dots(simd, &anchors.columns, &atoms, x).map(T::abs);
            take(atoms[first_largest(simd, &sizes)]);
            continue;
        }
        space.atoms.clear();
        classes.leaders(simd, coarse, slot, &mut space.atoms);
        dots(simd, &anchors.columns, &space.atoms, x, &mut space.products);
        space.products.iter_mut().for_each(|product| *product = product.abs());
        // Whole vectors: zeros beyond the last product are no match for it.
        let vectors = space.atoms.len().next_multiple_of(T::Native::<S>::LEN);
        let place = Best::place_in(simd, &space.products[..vectors]);
        take(space.atoms.get(place).copied().unwrap_or(0));
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
