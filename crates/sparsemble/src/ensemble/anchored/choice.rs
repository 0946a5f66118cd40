//! Which anchor of each member an input belongs to: passes over the features of a block of inputs.
//!
//! Members of many anchors are not searched as a whole. Some of all anchors stand for *cells* of the space of features; an
//! input belongs to the cell whose anchor has the largest product with it, and of each member it sees only the anchors
//! that are nearest to that one. What the best of them lacks to the best of all is little, and seldom anything; the passes are in
//! whole numbers of sixteen bits, and what these lack is less.

use fearless_simd::prelude::*;

use crate::dictionary::Dictionary;
use crate::kernels::{CoarseColumns, CoarsePanels, CoarseTiles, best_level, norm_of};
use crate::scalar::Scalar;
use crate::sums::{product, product_by};

use super::groups::Groups;

/// Inputs that go through a list of anchors at a time.
pub(super) const BLOCK: usize = 96;

/// Cells.
const CELLS: usize = 256;

/// Anchors of a member that an input of a cell sees: whole panels for every instruction set.
const SEEN: usize = 128;

/// The anchors of members, packed for the passes.
#[derive(Debug)]
pub(super) struct Anchors {
    n_features: usize,
    /// The anchors that stand for cells, if there is more than one cell.
    cells: Option<CoarsePanels>,
    members: Vec<Lists>,
}

/// The anchors of one member: a list for each cell, one after the other and all as long.
#[derive(Debug)]
struct Lists {
    length: usize,
    /// Atoms, in order within a list.
    atoms: Vec<u32>,
    /// The same, packed.
    coarse: CoarsePanels,
}

impl Anchors {
    /// All inputs see all anchors of this member.
    pub(super) fn all<T: Scalar>(member: &Dictionary<T>) -> Self {
        Self { n_features: member.n_features(), cells: None, members: vec![Lists::all(member)] }
    }

    /// The inputs of a cell see the nearest anchors of each member, or all of them where lists would not be much shorter.
    pub(super) fn in_cells<T: Scalar>(members: &[&Dictionary<T>]) -> Self {
        let n_features = members[0].n_features();
        if members.iter().any(|member| member.n_atoms() < 2 * SEEN) {
            return Self {
                n_features,
                cells: None,
                members: members.iter().map(|member| Lists::all(member)).collect(),
            };
        }
        let anchors: Vec<&[T]> =
            members.iter().flat_map(|member| (0..member.n_atoms()).map(|k| member.atoms().column(k))).collect();
        // Anchors are drawn at random, so evenly spaced ones are too.
        let cells: Vec<&[T]> = (0..CELLS).map(|cell| anchors[cell * anchors.len() / CELLS]).collect();
        let lists = |member: &&Dictionary<T>| {
            let nearest = cells.iter().flat_map(|cell| nearest(member, cell)).collect();
            Lists::new(member, nearest, SEEN)
        };
        Self { n_features, members: members.iter().map(lists).collect(), cells: Some(packed(n_features, &cells)) }
    }

    /// All the members there are.
    pub(super) fn n_members(&self) -> usize {
        self.members.len()
    }

    /// The anchors that an input is compared with.
    pub(super) fn n_products(&self) -> usize {
        self.cells.as_ref().map_or(0, |_| CELLS) + self.members.iter().map(|member| member.length).sum::<usize>()
    }
}

impl Lists {
    fn all<T: Scalar>(member: &Dictionary<T>) -> Self {
        Self::new(member, (0..member.n_atoms() as u32).collect(), member.n_atoms())
    }

    fn new<T: Scalar>(member: &Dictionary<T>, atoms: Vec<u32>, length: usize) -> Self {
        let anchors: Vec<&[T]> = (0..member.n_atoms()).map(|k| member.atoms().column(k)).collect();
        Self { coarse: packed(member.n_features(), &anchors).selected(&atoms), length, atoms }
    }

    fn of(&self, cell: usize) -> &[u32] {
        &self.atoms[cell * self.length..(cell + 1) * self.length]
    }
}

fn packed<T: Scalar>(rows: usize, anchors: &[&[T]]) -> CoarsePanels {
    let norm = |k: usize| product(anchors[k], anchors[k]).sqrt();
    CoarsePanels::pack(best_level(), (rows, anchors.len()), |k| anchors[k], |k| (norm(k), 1.0))
}

/// The [`SEEN`] anchors of a member with the largest products with this one, in order.
fn nearest<T: Scalar>(member: &Dictionary<T>, cell: &[T]) -> Vec<u32> {
    let size = |k: u32| product(member.atoms().column(k as usize), cell).abs();
    let mut sizes: Vec<(f64, u32)> = (0..member.n_atoms() as u32).map(|k| (size(k), k)).collect();
    sizes.select_nth_unstable_by(SEEN - 1, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut nearest: Vec<u32> = sizes[..SEEN].iter().map(|&(_, k)| k).collect();
    nearest.sort_unstable();
    nearest
}

/// What a thread needs to choose.
pub(super) struct Chooser<'a> {
    anchors: &'a Anchors,
    features: CoarseColumns,
    /// Those inputs that are worked on.
    tiles: CoarseTiles,
    leaders: Vec<u32>,
    cells: Vec<u32>,
    groups: Groups,
}

impl<'a> Chooser<'a> {
    /// For so many inputs at a time; the more, the more of them share a cell.
    pub(super) fn new(anchors: &'a Anchors, capacity: usize) -> Self {
        Self {
            anchors,
            features: CoarseColumns::new(anchors.n_features, capacity),
            tiles: CoarseTiles::new(anchors.n_features, BLOCK),
            leaders: Vec::with_capacity(BLOCK),
            cells: Vec::with_capacity(capacity),
            groups: Groups::default(),
        }
    }

    /// Adds the features of one more input.
    #[inline(always)]
    pub(super) fn push<S: Simd, T: Scalar>(&mut self, simd: S, features: &[T]) {
        let norm = norm_of(product_by(simd, features, features), features);
        self.features.push(simd, features, norm);
    }

    /// Writes every member's atom for every input, in the order they came, and forgets them.
    pub(super) fn choose(&mut self, chosen: &mut [Vec<u32>]) {
        for chosen in chosen.iter_mut() {
            chosen.resize(self.features.count(), 0);
        }
        self.find_cells();
        for cell in 0..self.anchors.cells.as_ref().map_or(1, |_| CELLS) {
            let groups = std::mem::take(&mut self.groups);
            for inputs in groups.of(cell).chunks(BLOCK) {
                self.tiles.load_named(&self.features, inputs);
                for (member, chosen) in self.anchors.members.iter().zip(chosen.iter_mut()) {
                    self.choose_in(member, cell, inputs, chosen);
                }
            }
            self.groups = groups;
        }
        self.features.clear();
    }

    /// Sorts the inputs by their cells.
    fn find_cells(&mut self) {
        self.cells.clear();
        let Some(anchors) = &self.anchors.cells else {
            self.cells.resize(self.features.count(), 0);
            self.groups.sort(&self.cells, 0..self.cells.len(), 1);
            return;
        };
        let inputs: Vec<u32> = (0..self.features.count() as u32).collect();
        for inputs in inputs.chunks(BLOCK) {
            self.tiles.load_named(&self.features, inputs);
            anchors.leaders((0, anchors.shape().0), &self.tiles, &mut self.leaders);
            self.cells.extend_from_slice(&self.leaders);
        }
        self.groups.sort(&self.cells, 0..self.cells.len(), CELLS);
    }

    /// The atom of the largest product with each of these inputs of a cell; the first among equals, and of no features at all.
    fn choose_in(&mut self, member: &Lists, cell: usize, inputs: &[u32], chosen: &mut [u32]) {
        let panels = member.length.div_ceil(member.coarse.shape().1);
        member.coarse.leaders((cell * panels, panels), &self.tiles, &mut self.leaders);
        let list = member.of(cell);
        for (&place, &input) in self.leaders.iter().zip(inputs) {
            chosen[input as usize] = list[place as usize];
        }
    }
}

#[cfg(test)]
mod tests {
    use fearless_simd::dispatch;

    use super::*;
    use crate::matrix::Matrix;

    fn push_all(chooser: &mut Chooser<'_>, features: &Matrix<f64>) {
        dispatch!(best_level(), simd => (0..features.columns()).for_each(|i| chooser.push(simd, features.column(i))));
    }

    #[test]
    fn the_chosen_atom_is_that_of_a_plain_search_but_for_the_rounding() {
        let wave = |seed: usize| move |r: usize, c: usize| ((r * 31 + c * 17 + seed) as f64).sin();
        for n_atoms in [1, 5, 40, 150] {
            let members: Vec<_> =
                (0..3).map(|l| Dictionary::new(Matrix::from_fn(7, n_atoms, wave(l))).unwrap()).collect();
            let anchors = Anchors::in_cells(&members.iter().collect::<Vec<_>>());
            let mut chooser = Chooser::new(&anchors, 50);
            let features = Matrix::from_fn(7, 50, |r, c| if c == 7 { 0.0 } else { wave(5)(r, c) });
            // Twice, as a block leaves nothing for the next.
            for _ in 0..2 {
                push_all(&mut chooser, &features);
                let mut chosen = vec![Vec::new(); 3];
                chooser.choose(&mut chosen);
                for (member, chosen) in members.iter().zip(chosen) {
                    assert_eq!(chosen.len(), 50);
                    for (i, atom) in chosen.into_iter().enumerate() {
                        let atoms = member.atoms();
                        let dot = |k: usize| atoms.column(k).iter().zip(features.column(i)).map(|(a, b)| a * b);
                        let size = |k: usize| dot(k).sum::<f64>().abs();
                        let best = (0..n_atoms).map(size).fold(0.0, f64::max);
                        let bound = 3e-4 * product(features.column(i), features.column(i)).sqrt();
                        assert!(size(atom as usize) >= best - bound && (i != 7 || atom == 0));
                    }
                }
            }
        }
    }

    #[test]
    fn of_many_anchors_the_chosen_one_is_nearly_always_that_of_a_plain_search() {
        let mut state = 1_u64;
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f64 / (1_u64 << 24) as f64 - 0.5
        };
        // As in pictures, the first features vary most.
        let mut matrix = |columns: usize| Matrix::from_fn(8, columns, |r, _| draw() / (1.0 + 0.5 * r as f64));
        let members: Vec<_> = (0..2).map(|_| Dictionary::new(matrix(500)).unwrap()).collect();
        let features = matrix(1000);
        let anchors = Anchors::in_cells(&members.iter().collect::<Vec<_>>());
        assert!(anchors.n_products() < 600);
        let mut chooser = Chooser::new(&anchors, 1000);
        push_all(&mut chooser, &features);
        let mut chosen = vec![Vec::new(); 2];
        chooser.choose(&mut chosen);
        for (member, chosen) in members.iter().zip(chosen) {
            let size = |k: usize, i: usize| product(member.atoms().column(k), features.column(i)).abs();
            let best = |i: usize| (0..500).map(|k| size(k, i)).fold(0.0, f64::max);
            let rounding = |i: usize| 3e-4 * product(features.column(i), features.column(i)).sqrt();
            let same = (0..1000).filter(|&i| size(chosen[i] as usize, i) >= best(i) - rounding(i)).count();
            let lost: f64 = (0..1000).map(|i| 1.0 - size(chosen[i] as usize, i) / best(i)).sum::<f64>() / 1000.0;
            assert!(same > 950 && lost < 2e-3, "{same} of 1000, and {lost}");
        }
    }
}
