//! Which anchor of each member an input belongs to: passes over the features of a block of inputs.
//!
//! Members of many anchors are not searched as a whole. Some of all anchors stand for *cells* of the space of features; an
//! input belongs to the cell whose anchor has the largest product with it, and of each member it sees only the anchors
//! that are nearest to that one. What the best of them lacks to the best of all is little, and seldom anything.
//!
//! Cells are put into a row in which neighbours are alike, and inputs and atoms into the order of their cells: what is
//! kept of inputs that share an atom then lies close together.

use std::ops::Range;

use fearless_simd::{dispatch, prelude::*};

use crate::dictionary::Dictionary;
use crate::kernels::{Best, CoarseColumns, CoarsePanels, CoarseTiles, Columns, Leader, best_level, dots, norm};
use crate::scalar::Scalar;
use crate::sums::product;

use super::groups::Groups;

/// Inputs that go through a list of anchors at a time.
pub(super) const BLOCK: usize = 96;

/// Cells.
const CELLS: usize = 256;

/// Anchors of a member that an input of a cell sees: whole panels for every instruction set.
const SEEN: usize = 128;

/// The anchors of members, packed for the passes.
#[derive(Debug)]
pub(super) struct Anchors<T> {
    /// The anchors that stand for cells, if there is more than one cell.
    cells: Option<CoarsePanels>,
    /// The place of each cell in the row.
    places: Vec<u32>,
    members: Vec<Lists<T>>,
}

/// The anchors of one member: a list for each cell, one after the other and all as long.
#[derive(Debug)]
struct Lists<T> {
    columns: Columns<T>,
    length: usize,
    /// Atoms, in order within a list.
    atoms: Vec<u32>,
    /// The same, packed.
    coarse: CoarsePanels,
    /// What each of them is called when it is chosen: its place in `order`.
    names: Vec<u32>,
    /// All atoms of the member in the order of their cells.
    order: Vec<u32>,
}

impl<T: Scalar> Anchors<T> {
    /// All inputs see all anchors of this member; inputs and atoms stay in the order they have.
    pub(super) fn all(member: &Dictionary<T>) -> Self {
        let atoms: Vec<u32> = (0..member.n_atoms() as u32).collect();
        Self {
            cells: None,
            places: vec![0],
            members: vec![Lists::new(member, (atoms.clone(), member.n_atoms()), atoms)],
        }
    }

    /// The inputs of a cell see the nearest anchors of each member, or all of them where lists would not be much shorter.
    pub(super) fn in_cells(members: &[&Dictionary<T>]) -> Self {
        if members.iter().any(|member| member.n_atoms() < 2 * SEEN) {
            let members = members.iter().flat_map(|member| Self::all(member).members).collect();
            return Self { cells: None, places: vec![0], members };
        }
        let anchors: Vec<&[T]> =
            members.iter().flat_map(|member| (0..member.n_atoms()).map(|k| member.atoms().column(k))).collect();
        // Anchors are drawn at random, so evenly spaced ones are too.
        let cells: Vec<&[T]> = (0..CELLS).map(|cell| anchors[cell * anchors.len() / CELLS]).collect();
        let row = row_of(&cells);
        let lists = |member: &&Dictionary<T>| {
            let sizes: Vec<Vec<f64>> = row.iter().map(|&cell| sizes(member, cells[cell])).collect();
            let nearest = sizes.iter().flat_map(|sizes| nearest(sizes)).collect();
            Lists::new(member, (nearest, SEEN), by_cells(&sizes))
        };
        let mut places = vec![0; CELLS];
        for (place, &cell) in row.iter().enumerate() {
            places[cell] = place as u32;
        }
        Self { members: members.iter().map(lists).collect(), cells: Some(packed(cells[0].len(), &cells)), places }
    }

    /// All atoms of each member in the order of their cells: what is chosen are places in it.
    pub(super) fn orders(&self) -> impl Iterator<Item = &[u32]> {
        self.members.iter().map(|member| member.order.as_slice())
    }

    /// All the members there are.
    pub(super) fn n_members(&self) -> usize {
        self.members.len()
    }

    /// The anchors that an input is compared with.
    pub(super) fn n_products(&self) -> usize {
        self.cells.as_ref().map_or(0, |_| CELLS) + self.members.iter().map(|member| member.length).sum::<usize>()
    }

    fn n_features(&self) -> usize {
        self.members[0].columns.rows()
    }
}

impl<T: Scalar> Lists<T> {
    fn new(member: &Dictionary<T>, (atoms, length): (Vec<u32>, usize), order: Vec<u32>) -> Self {
        let columns = Columns::copy_of(member.atoms().view());
        let anchors: Vec<&[T]> = (0..member.n_atoms()).map(|k| member.atoms().column(k)).collect();
        let mut place = vec![0; order.len()];
        for (number, &atom) in order.iter().enumerate() {
            place[atom as usize] = number as u32;
        }
        let names = atoms.iter().map(|&atom| place[atom as usize]).collect();
        Self { coarse: packed(columns.rows(), &anchors).selected(&atoms), columns, length, atoms, names, order }
    }

    /// Where the list of a cell is.
    fn of(&self, cell: usize) -> Range<usize> {
        cell * self.length..(cell + 1) * self.length
    }
}

fn packed<T: Scalar>(rows: usize, anchors: &[&[T]]) -> CoarsePanels {
    let norm = |k: usize| product(anchors[k], anchors[k]).sqrt();
    CoarsePanels::pack(best_level(), (rows, anchors.len()), |k| anchors[k], |k| (norm(k), 1.0))
}

/// The cells in a row: each is followed by the one of those left whose anchor has the largest product with its own.
fn row_of<T: Scalar>(cells: &[&[T]]) -> Vec<usize> {
    let mut left: Vec<usize> = (1..cells.len()).collect();
    let mut row = vec![0];
    while let Some(&last) = row.last() {
        let size = |&cell: &usize| product(cells[cell], cells[last]).abs();
        let Some(next) = (0..left.len()).max_by(|&a, &b| size(&left[a]).total_cmp(&size(&left[b]))) else { break };
        row.push(left.swap_remove(next));
    }
    row
}

/// How large the products of all anchors of a member with that of a cell are.
fn sizes<T: Scalar>(member: &Dictionary<T>, cell: &[T]) -> Vec<f64> {
    (0..member.n_atoms()).map(|k| product(member.atoms().column(k), cell).abs()).collect()
}

/// The atoms of a member in the order of the cells that they are in themselves.
fn by_cells(sizes: &[Vec<f64>]) -> Vec<u32> {
    let cell = |k: usize| (0..sizes.len()).max_by(|&a, &b| sizes[a][k].total_cmp(&sizes[b][k]));
    let cells: Vec<Option<usize>> = (0..sizes[0].len()).map(cell).collect();
    let mut order: Vec<u32> = (0..cells.len() as u32).collect();
    order.sort_by_key(|&k| cells[k as usize]);
    order
}

/// The [`SEEN`] anchors of a member with the largest products with that of a cell, in order.
fn nearest(sizes: &[f64]) -> Vec<u32> {
    let mut sizes: Vec<(f64, u32)> = sizes.iter().copied().zip(0..).collect();
    sizes.select_nth_unstable_by(SEEN - 1, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut nearest: Vec<u32> = sizes[..SEEN].iter().map(|&(_, k)| k).collect();
    nearest.sort_unstable();
    nearest
}

/// What a thread needs to choose.
pub(super) struct Chooser<'a, T> {
    anchors: &'a Anchors<T>,
    features: Columns<T>,
    /// The same for the passes.
    coarse: CoarseColumns,
    /// Those inputs that are worked on.
    tiles: CoarseTiles,
    leaders: Vec<Leader>,
    cells: Vec<u32>,
    groups: Groups,
    products: Vec<T>,
}

impl<'a, T: Scalar> Chooser<'a, T> {
    /// For so many inputs at a time; the more, the more of them share a cell.
    pub(super) fn new(anchors: &'a Anchors<T>, capacity: usize) -> Self {
        Self {
            anchors,
            features: Columns::zeros(anchors.n_features(), capacity),
            coarse: CoarseColumns::new(anchors.n_features(), capacity),
            tiles: CoarseTiles::new(anchors.n_features(), BLOCK),
            leaders: Vec::with_capacity(BLOCK),
            cells: Vec::with_capacity(capacity),
            groups: Groups::default(),
            products: Vec::new(),
        }
    }

    /// Adds the features of one more input.
    #[inline(always)]
    pub(super) fn push<S: Simd>(&mut self, simd: S, features: &[T]) {
        let column = self.features.padded_mut(self.coarse.count());
        column[..features.len()].copy_from_slice(features);
        self.coarse.push(simd, column, norm(simd, column));
    }

    /// The inputs in the order that the last choice has put them into.
    pub(super) fn order(&self) -> &[u32] {
        self.groups.all()
    }

    /// Writes every member's atom for every input, in the order it puts them into, and forgets them.
    pub(super) fn choose(&mut self, chosen: &mut [Vec<u32>]) {
        for chosen in chosen.iter_mut() {
            chosen.resize(self.coarse.count(), 0);
        }
        self.find_cells();
        let groups = std::mem::take(&mut self.groups);
        let mut first = 0;
        for cell in 0..self.anchors.places.len() {
            for inputs in groups.of(cell).chunks(BLOCK) {
                self.tiles.load_named(&self.coarse, inputs);
                for (member, chosen) in self.anchors.members.iter().zip(chosen.iter_mut()) {
                    self.choose_in(member, cell, inputs, &mut chosen[first..first + inputs.len()]);
                }
                first += inputs.len();
            }
        }
        self.groups = groups;
        self.coarse.clear();
    }

    /// Sorts the inputs by their cells.
    fn find_cells(&mut self) {
        self.cells.clear();
        let Some(anchors) = &self.anchors.cells else {
            self.cells.resize(self.coarse.count(), 0);
            self.groups.sort(&self.cells, 1);
            return;
        };
        let inputs: Vec<u32> = (0..self.coarse.count() as u32).collect();
        for inputs in inputs.chunks(BLOCK) {
            self.tiles.load_named(&self.coarse, inputs);
            anchors.leaders((0, anchors.shape().0), &self.tiles, &mut self.leaders);
            self.cells.extend(self.leaders.iter().map(|leader| self.anchors.places[leader.place as usize]));
        }
        self.groups.sort(&self.cells, CELLS);
    }

    /// The atom of the largest product with each of these inputs of a cell; the first among equals, and of no features at all.
    fn choose_in(&mut self, member: &Lists<T>, cell: usize, inputs: &[u32], chosen: &mut [u32]) {
        let panels = member.length.div_ceil(member.coarse.shape().1);
        member.coarse.leaders((cell * panels, panels), &self.tiles, &mut self.leaders);
        let (list, names) = (&member.atoms[member.of(cell)], &member.names[member.of(cell)]);
        for ((leader, &input), chosen) in self.leaders.iter().zip(inputs).zip(chosen) {
            let place = if leader.sure {
                leader.place as usize
            } else {
                let x = self.features.padded(input as usize);
                dispatch!(best_level(), simd => largest(simd, (&member.columns, list), x, &mut self.products))
            };
            *chosen = names[place];
        }
    }
}

/// The place of the first of the largest products of a vector with the named columns.
#[inline(always)]
fn largest<S: Simd, T: Scalar>(
    simd: S,
    (columns, names): (&Columns<T>, &[u32]),
    x: &[T],
    products: &mut Vec<T>,
) -> usize {
    dots(simd, columns, names, x, products);
    for product in products.iter_mut() {
        *product = product.abs();
    }
    // Whole vectors: zeros beyond the last product are no match for it.
    let vectors = names.len().next_multiple_of(T::Native::<S>::LEN);
    Best::place_in(simd, &products[..vectors]).min(names.len() - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Matrix;

    fn push_all(chooser: &mut Chooser<'_, f64>, features: &Matrix<f64>) {
        dispatch!(best_level(), simd => (0..features.columns()).for_each(|i| chooser.push(simd, features.column(i))));
    }

    #[test]
    fn the_chosen_atom_is_that_of_a_plain_search() {
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
                        assert!(size(atom as usize) >= best - 1e-12 && (i != 7 || atom == 0));
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
        for ((member, chosen), order) in members.iter().zip(chosen).zip(anchors.orders()) {
            let size = |k: usize, i: usize| product(member.atoms().column(k), features.column(i)).abs();
            let best = |i: usize| (0..500).map(|k| size(k, i)).fold(0.0, f64::max);
            let mut atoms = vec![0; 1000];
            for (&input, &name) in chooser.order().iter().zip(&chosen) {
                atoms[input as usize] = order[name as usize] as usize;
            }
            let same = (0..1000).filter(|&i| size(atoms[i], i) >= best(i)).count();
            let lost: f64 = (0..1000).map(|i| 1.0 - size(atoms[i], i) / best(i)).sum::<f64>() / 1000.0;
            assert!(same > 950 && lost < 2e-3, "{same} of 1000, and {lost}");
        }
    }

    #[test]
    fn cells_that_are_alike_are_neighbours_and_inputs_and_atoms_come_in_their_order() {
        // Anchors all along half a circle: the row of cells begins somewhere and goes on to what is nearest.
        let angle = |k: usize| std::f64::consts::PI * ((k * 377) % 1024) as f64 / 1024.0;
        let direction = |r: usize, angle: f64| if r == 0 { angle.cos() } else { angle.sin() };
        let member = Dictionary::new(Matrix::from_fn(2, 1024, |r, k| direction(r, angle(k)))).unwrap();
        let anchors = Anchors::in_cells(&[&member]);
        let order: Vec<u32> = anchors.orders().next().unwrap().to_vec();
        let apart = |a: f64, b: f64| (a - b).abs().min(std::f64::consts::PI - (a - b).abs());
        let steps = order.windows(2).map(|two| apart(angle(two[0] as usize), angle(two[1] as usize)));
        assert!(steps.sum::<f64>() < 20.0, "one after the other as they come they are 1024 · 0.4 π apart");
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert!(sorted.iter().copied().eq(0..1024));
        // What is chosen comes in the same order, so the names of neighbours are near each other.
        let features = Matrix::from_fn(2, 500, |r, i| direction(r, 0.4 + angle(2 * i)));
        let mut chooser = Chooser::new(&anchors, 500);
        push_all(&mut chooser, &features);
        let mut chosen = vec![Vec::new()];
        chooser.choose(&mut chosen);
        assert!(chosen[0].windows(2).filter(|two| two[0].abs_diff(two[1]) > 30).count() < 20);
    }
}
