//! The one best atom of a few by integers, with the atom itself: the pass for short lists of atoms.
//!
//! [`CoarseClasses`](super::CoarseClasses) writes maxima of classes down and looks at them again in floats. Here the largest
//! product of each lane stays in a register, and the place of its atom is in its lowest bits, where rounding has left nothing to
//! tell. Nobody looks again: of atoms that are equally good but for the rounding any may be the one.

use fearless_simd::{dispatch, prelude::*};

use super::coarse::{CoarsePanels, CoarseTiles, integer_products};
use super::panels::{TILE, VECTORS};

impl CoarsePanels {
    /// Writes for each sample the place of the atom with the largest magnitude among those in so many panels from the first on;
    /// the first among equals, and for a sample of zeros.
    pub(crate) fn leaders(&self, (first, count): (usize, usize), samples: &CoarseTiles, out: &mut Vec<u32>) {
        debug_assert_eq!(self.pairs, samples.pairs);
        let size = self.pairs * self.width * 2;
        let panels = &self.data[first * size..(first + count) * size];
        out.clear();
        dispatch!(self.level(), simd => leaders(simd, (panels, size), count * self.width, samples, out));
        out.truncate(samples.nonzero.len());
    }
}

#[inline(always)]
fn leaders<S: Simd>(
    simd: S,
    (panels, size): (&[i16], usize),
    n_atoms: usize,
    samples: &CoarseTiles,
    out: &mut Vec<u32>,
) {
    let splat = |value: i32| S::i32s::splat(simd, value);
    // All ones: the lowest bits of a product, that make room for a place, and no fewer than for the widest panels, so that an
    // answer does not depend on their width. Places count down, so the first among equals is the largest.
    let mark = n_atoms.next_power_of_two().max(64) as i32 - 1;
    let places = S::i32s::from_fn(simd, |lane| mark - lane as i32);
    for tile in samples.used().chunks_exact(samples.pairs * TILE) {
        let (mut most, mut places) = ([splat(0); TILE], places);
        for panel in panels.chunks_exact(size) {
            let products = integer_products(simd, panel, tile);
            for v in 0..VECTORS {
                for (product, most) in products.iter().zip(&mut most) {
                    *most = (*most).max((product[v].abs() & splat(!mark)) | places);
                }
                places -= S::i32s::LEN as i32;
            }
        }
        // No `map`: its closure would not be inlined, and lose the instruction set.
        for most in most {
            out.push((mark - (most.reduce_max() & mark)) as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::{Columns, all_levels};
    use crate::matrix::Matrix;

    #[test]
    fn the_leader_is_the_best_of_its_list_but_for_the_rounding() {
        let wave = |seed: usize| move |r: usize, c: usize| ((r * c * 7 + r * r * 31 + c * 17 + seed) as f64).sin();
        // Atoms 3 and 70 are the same.
        let atoms = Matrix::from_fn(7, 150, |r, c| wave(0)(r, if c == 70 { 3 } else { c }));
        let samples = Matrix::from_fn(7, 20, |r, c| match c {
            5 => 0.0,
            6 => atoms.column(3)[r],
            _ => wave(9)(r, c),
        });
        let samples = Columns::copy_of(samples.view());
        for level in all_levels() {
            let norm = |k: usize| atoms.column(k).iter().map(|value| value * value).sum::<f64>().sqrt();
            let all = CoarsePanels::pack(level, (7, 150), |k| atoms.column(k), |k| (norm(k), 1.0));
            let (mut tiles, mut found) = (CoarseTiles::new(7, 20), Vec::new());
            tiles.load(level, &samples, 20);
            all.leaders((0, all.shape().0), &tiles, &mut found);
            let size =
                |k: usize, x: &[f64]| (atoms.column(k).iter().zip(x).map(|(a, b)| a * b).sum::<f64>() / norm(k)).abs();
            let length = |x: &[f64]| x.iter().map(|value| value * value).sum::<f64>().sqrt();
            assert_eq!((found.len(), found[5], found[6]), (20, 0, 3), "by {level:?}");
            for (i, &place) in found.iter().enumerate() {
                let x = samples.column(i);
                let most = (0..150).map(|k| size(k, x)).fold(0.0, f64::max);
                assert!(size(place as usize, x) >= most - 3e-4 * length(x), "sample {i} by {level:?}");
            }
            // Some of them in another order: the whole list of the second of two.
            let width = all.shape().1;
            let names: Vec<u32> = (0..2 * width as u32).map(|j| (j * 7) % 150).collect();
            all.selected(&names).leaders((1, 1), &tiles, &mut found);
            for (i, &place) in found.iter().enumerate() {
                let (x, list) = (samples.column(i), &names[width..]);
                let most = list.iter().map(|&k| size(k as usize, x)).fold(0.0, f64::max);
                assert!(size(list[place as usize] as usize, x) >= most - 3e-4 * length(x));
            }
        }
    }
}
