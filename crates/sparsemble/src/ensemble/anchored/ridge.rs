//! Maps from sums of products: what inputs and targets say, and how far each atom's map is pulled to the common one.
//!
//! With G = Σ u uᵀ and B = Σ u yᵀ over the pairs of an atom, and those of all pairs for the common map W, the atom's map
//! is W + ΔW with (G + λ·Ḡ + ε·I)·ΔW = B − G·W: the ridge solution that is W where an atom has no pairs of its own. Ḡ is
//! the mean of u uᵀ over all pairs, so λ counts pairs of the common kind.

use crate::cholesky::Cholesky;
use crate::kernels::{Panels, Store, Tiles, best_level, correlate};
use crate::matrix::Matrix;
use crate::scalar::Scalar;

use super::pairs::Pairs;

/// Pairs multiplied at a time.
pub(super) const CHUNK: usize = 96;

/// ε of the common map and of an atom's, as shares of the mean diagonal.
const COMMON_RIDGE: f64 = 1e-5;
const RIDGE: f64 = 1e-6;

/// G and B of some pairs, and the room to add to them.
pub(super) struct Sums {
    n_inputs: usize,
    n_outputs: usize,
    /// Row r holds Σ m·u_r·(u, y).
    products: Matrix<f64>,
    mass: f64,
    /// The entries of a chunk of pairs, times √m: CHUNK values of the first entry of u, and so on, then those of y.
    chunk: Vec<f64>,
    filled: usize,
    tiles: Tiles<f64>,
}

/// One pair, and what it takes to read it.
pub(super) struct Reader<T> {
    pub(super) input: Vec<T>,
    target: Vec<T>,
    space: Vec<T>,
}

impl<T: Scalar> Reader<T> {
    pub(super) fn new(pairs: &dyn Pairs<T>) -> Self {
        Self { input: vec![T::ZERO; pairs.n_inputs()], target: vec![T::ZERO; pairs.n_outputs()], space: Vec::new() }
    }

    /// Reads the input of a pair.
    pub(super) fn read_input(&mut self, pairs: &dyn Pairs<T>, sample: usize) -> &[T] {
        pairs.copy_input(sample, &mut self.space, &mut self.input);
        &self.input
    }
}

impl Sums {
    pub(super) fn new(n_inputs: usize, n_outputs: usize) -> Self {
        Self {
            n_inputs,
            n_outputs,
            products: Matrix::zeros(n_inputs + n_outputs, n_inputs),
            mass: 0.0,
            chunk: vec![0.0; CHUNK * (n_inputs + n_outputs)],
            filled: 0,
            tiles: Tiles::new(CHUNK, n_inputs),
        }
    }

    /// Starts again from nothing.
    pub(super) fn clear(&mut self) {
        self.products.as_mut_slice().fill(0.0);
        (self.mass, self.filled) = (0.0, 0);
    }

    /// Adds one pair; it counts when its chunk is full, or at [`finish`](Self::finish).
    pub(super) fn add<T: Scalar>(&mut self, pairs: &dyn Pairs<T>, sample: usize, reader: &mut Reader<T>) {
        let mass = pairs.mass(sample);
        pairs.copy_input(sample, &mut reader.space, &mut reader.input);
        pairs.copy_target(sample, &mut reader.space, &mut reader.target);
        let (root, place) = (mass.sqrt(), self.filled);
        let values = reader.input.iter().chain(&reader.target);
        for (row, value) in self.chunk.chunks_exact_mut(CHUNK).zip(values) {
            row[place] = root * value.to_f64();
        }
        self.mass += mass;
        self.filled += 1;
        if self.filled == CHUNK {
            self.multiply();
        }
    }

    /// Adds what is left of the last chunk.
    pub(super) fn finish(&mut self) {
        if self.filled > 0 {
            let filled = self.filled;
            self.chunk.chunks_exact_mut(CHUNK).for_each(|row| row[filled..].fill(0.0));
            self.multiply();
        }
    }

    fn multiply(&mut self) {
        let size = (CHUNK, self.n_inputs + self.n_outputs);
        let panels = Panels::pack(best_level(), size, |j| &self.chunk[j * CHUNK..][..CHUNK], |_| 1.0);
        let mut store = Store::new(&panels, self.n_inputs);
        self.tiles.clear();
        self.chunk.chunks_exact(CHUNK).take(self.n_inputs).for_each(|row| self.tiles.push(row));
        correlate(&panels, &self.tiles, &mut store);
        for r in 0..self.n_inputs {
            self.products.column_mut(r).iter_mut().zip(store.of(r)).for_each(|(sum, product)| *sum += product);
        }
        self.filled = 0;
    }

    /// Adds the sums of other pairs, all finished.
    pub(super) fn merge(&mut self, other: &Self) {
        self.mass += other.mass;
        let products = self.products.as_mut_slice().iter_mut().zip(other.products.as_slice());
        products.for_each(|(sum, product)| *sum += product);
    }

    /// An entry of G.
    pub(super) fn gram(&self, r: usize, c: usize) -> f64 {
        self.products.column(r)[c]
    }

    /// The total mass of the pairs.
    pub(super) fn mass(&self) -> f64 {
        self.mass
    }

    /// The mean diagonal entry of G.
    fn diagonal(&self) -> f64 {
        (0..self.n_inputs).map(|r| self.gram(r, r)).sum::<f64>() / self.n_inputs as f64
    }

    /// W, a column for each output.
    pub(super) fn common_map(&self) -> Matrix<f64> {
        let ridge = (COMMON_RIDGE * self.diagonal()).max(f64::MIN_POSITIVE);
        let system = Cholesky::new(self.n_inputs, |r, c| self.gram(r, c), ridge);
        self.solve(&system, |output, r| self.products.column(r)[self.n_inputs + output])
    }

    /// ΔW of the pairs here, pulled to zero by `shrinkage` pairs of the common kind.
    pub(super) fn difference(&self, all: &Self, common: &Matrix<f64>, shrinkage: f64) -> Matrix<f64> {
        let share = 1.0 / all.mass;
        let ridge = (RIDGE * share * all.diagonal()).max(f64::MIN_POSITIVE);
        let pull = shrinkage * share;
        let system = Cholesky::new(self.n_inputs, |r, c| self.gram(r, c) + pull * all.gram(r, c), ridge);
        self.solve(&system, |output, r| {
            let products = self.products.column(r);
            let explained = products.iter().zip(common.column(output)).map(|(product, weight)| product * weight);
            products[self.n_inputs + output] - explained.sum::<f64>()
        })
    }

    fn solve(&self, system: &Cholesky, right: impl Fn(usize, usize) -> f64) -> Matrix<f64> {
        let mut solution = Matrix::zeros(self.n_inputs, self.n_outputs);
        let mut column = vec![0.0; self.n_inputs.next_multiple_of(16)];
        for output in 0..self.n_outputs {
            column.fill(0.0);
            (0..self.n_inputs).for_each(|r| column[r] = right(output, r));
            system.solve(&mut column);
            solution.column_mut(output).copy_from_slice(&column[..self.n_inputs]);
        }
        solution
    }
}
