//! The one best atom of a few by integers, with the atom itself: the pass for short lists of atoms.
//!
//! [`CoarseClasses`](super::CoarseClasses) writes maxima of classes down and looks at them again, which pays for long
//! dictionaries. A list of a few hundred atoms is worked through while the two largest products of each lane stay in
//! registers; the number of the vector a product came from is in its lowest bits, where rounding has left nothing to tell.

use fearless_simd::{dispatch, prelude::*};

use super::coarse::{CoarsePanels, CoarseTiles, integer_products};
use super::panels::{TILE, VECTORS};

/// The best atom of a list for one sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Leader {
    /// Its place in the list.
    pub(crate) place: u32,
    /// Whether no other can be as good; where one can, its product in floats has to tell.
    pub(crate) sure: bool,
}

impl CoarsePanels {
    /// Writes for each sample the atom of the largest magnitude among those in so many panels from the first on.
    pub(crate) fn leaders(&self, (first, count): (usize, usize), samples: &CoarseTiles, out: &mut Vec<Leader>) {
        debug_assert_eq!(self.pairs, samples.pairs);
        let size = self.pairs * self.width * 2;
        let panels = &self.data[first * size..(first + count) * size];
        out.clear();
        // All ones: the lowest bits of a product, that make room for the number of a vector.
        let mark = (count * VECTORS).next_power_of_two() as i32 - 1;
        dispatch!(self.level(), simd => leaders(simd, (panels, size), (mark, self.margin() + mark), samples, out));
    }
}

#[inline(always)]
fn leaders<S: Simd>(
    simd: S,
    (panels, size): (&[i16], usize),
    (mark, margin): (i32, i32),
    samples: &CoarseTiles,
    out: &mut Vec<Leader>,
) {
    let splat = |value: i32| S::i32s::splat(simd, value);
    for (tile, nonzero) in samples.used().chunks_exact(samples.pairs * TILE).zip(samples.nonzero.chunks(TILE)) {
        // The largest product of each lane, and the next.
        let (mut most, mut next, mut number) = ([splat(0); TILE], [splat(0); TILE], splat(0));
        for panel in panels.chunks_exact(size) {
            let products = integer_products(simd, panel, tile);
            for v in 0..VECTORS {
                for ((product, most), next) in products.iter().zip(&mut most).zip(&mut next) {
                    let size = (product[v].abs() & splat(!mark)) | number;
                    *next = (*next).max((*most).min(size));
                    *most = (*most).max(size);
                }
                number += 1;
            }
        }
        for ((&nonzero, most), next) in nonzero.iter().zip(most).zip(next) {
            let largest = most.reduce_max();
            let near = splat(largest - margin);
            let lane = most.simd_ge(largest).to_bitmask().trailing_zeros();
            let vector = (largest & mark) as u32;
            let alone = most.simd_ge(near).to_bitmask().is_power_of_two() && next.simd_ge(near).to_bitmask() == 0;
            out.push(Leader { place: vector * S::i32s::LEN as u32 + lane, sure: nonzero && alone });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::{Columns, all_levels};
    use crate::matrix::Matrix;

    #[test]
    fn the_leader_is_the_best_of_its_list_and_sure_unless_another_is_as_good() {
        let wave = |seed: usize| move |r: usize, c: usize| ((r * c * 7 + r * r * 31 + c * 17 + seed) as f64).sin();
        // Atoms 3 and 70 are the same.
        let atoms = Matrix::from_fn(7, 150, |r, c| wave(0)(r, if c == 70 { 3 } else { c }));
        let samples = Columns::copy_of(Matrix::from_fn(7, 20, |r, c| if c == 5 { 0.0 } else { wave(9)(r, c) }).view());
        for level in all_levels() {
            let norm = |k: usize| atoms.column(k).iter().map(|value| value * value).sum::<f64>().sqrt();
            let all = CoarsePanels::pack(level, (7, 150), |k| atoms.column(k), |k| (norm(k), 1.0));
            let (mut tiles, mut found) = (CoarseTiles::new(7, 20), Vec::new());
            tiles.load(level, &samples, 20);
            all.leaders((0, all.shape().0), &tiles, &mut found);
            let size =
                |k: usize, x: &[f64]| (atoms.column(k).iter().zip(x).map(|(a, b)| a * b).sum::<f64>() / norm(k)).abs();
            for (i, leader) in found.iter().enumerate() {
                let x = samples.column(i);
                let best = (0..150).max_by(|&a, &b| size(a, x).total_cmp(&size(b, x))).unwrap_or(0);
                assert!(!leader.sure || leader.place as usize == best, "sample {i}");
                assert!(!leader.sure || (i != 5 && ![3, 70].contains(&best)));
            }
            let sure = found.iter().filter(|leader| leader.sure).count();
            assert!(sure > 12, "{sure} of 20 by {level:?}");
            // Some of them in another order: the whole list of the second of two.
            let width = all.shape().1;
            let names: Vec<u32> = (0..2 * width as u32).map(|j| (j * 7) % 150).collect();
            let lists = all.selected(&names);
            lists.leaders((1, 1), &tiles, &mut found);
            for (i, leader) in found.iter().enumerate().filter(|(_, leader)| leader.sure) {
                let x = samples.column(i);
                let list = &names[width..];
                let most = list.iter().map(|&k| size(k as usize, x)).fold(0.0, f64::max);
                assert!(size(list[leader.place as usize] as usize, x) >= most - 1e-12);
            }
        }
    }
}
