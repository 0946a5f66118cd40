//! Sums of products over pairs, and the maps that follow from them.

use crate::cholesky::Cholesky;
use crate::kernels::{Panels, Store, Tiles, best_level, correlate};
use crate::matrix::Matrix;

/// Pairs multiplied at a time.
pub(super) const CHUNK: usize = 96;

/// Σ m·u·(u, y)ᵀ over pairs (u, y) of mass m.
pub(super) struct Sums {
    n_inputs: usize,
    n_outputs: usize,
    /// Column r holds Σ m·u_r·(u, y).
    products: Matrix<f64>,
    mass: f64,
    /// The entries of a chunk of pairs, times √m: CHUNK values of the first entry of u, and so on, then those of y.
    chunk: Vec<f64>,
    filled: usize,
    tiles: Tiles<f64>,
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

    /// Adds one pair, entry by entry; it counts when its chunk is full, or at [`finish`](Self::finish).
    pub(super) fn add(&mut self, mass: f64, pair: impl Iterator<Item = f64>) {
        let (root, place) = (mass.sqrt(), self.filled);
        for (row, value) in self.chunk.chunks_exact_mut(CHUNK).zip(pair) {
            row[place] = root * value;
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

    /// The total mass of the pairs.
    pub(super) fn mass(&self) -> f64 {
        self.mass
    }

    /// The mean of the product of two entries of u.
    pub(super) fn input_moment(&self, r: usize, c: usize) -> f64 {
        self.products.column(r)[c] / self.mass
    }

    /// The mean square of an entry of u.
    pub(super) fn mean_square(&self) -> f64 {
        (0..self.n_inputs).map(|r| self.input_moment(r, r)).sum::<f64>() / self.n_inputs as f64
    }

    /// The map of the least Σ m‖y − Au‖² + ridge·‖A‖², a column for each entry of y.
    pub(super) fn map(&self, ridge: f64) -> Matrix<f64> {
        let ridge = ridge.max(f64::MIN_POSITIVE);
        let system = Cholesky::new(self.n_inputs, |r, c| self.products.column(r)[c], ridge);
        let mut map = Matrix::zeros(self.n_inputs, self.n_outputs);
        let mut column = vec![0.0; self.n_inputs.next_multiple_of(16)];
        for output in 0..self.n_outputs {
            column.fill(0.0);
            (0..self.n_inputs).for_each(|r| column[r] = self.products.column(r)[self.n_inputs + output]);
            system.solve(&mut column);
            map.column_mut(output).copy_from_slice(&column[..self.n_inputs]);
        }
        map
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_map_of_pairs_that_have_one_is_found_whatever_their_number() {
        for count in [3, CHUNK, 2 * CHUNK + 5] {
            let mut sums = Sums::new(3, 2);
            for i in 0..count {
                let u = [2, 3, 4].map(|r| (((i + 1) * r) as f64).sin());
                let y = [u[0] - 2.0 * u[1], 0.5 * u[2]];
                sums.add(1.0 + i as f64, u.into_iter().chain(y));
            }
            sums.finish();
            let expected = [1.0, -2.0, 0.0, 0.0, 0.0, 0.5];
            for (found, expected) in sums.map(1e-12).as_slice().iter().zip(expected) {
                assert!((found - expected).abs() < 1e-6, "{count} pairs: {found} for {expected}");
            }
        }
    }
}
