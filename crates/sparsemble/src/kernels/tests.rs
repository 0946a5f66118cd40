//! Every kernel against a plain loop in double precision, in every instruction set of this machine, over odd shapes.

use fearless_simd::{Level, dispatch, prelude::*};

use super::*;
use crate::matrix::Matrix;
use crate::scalar::Scalar;

const ROWS: [usize; 7] = [1, 2, 7, 16, 33, 64, 65];
const ATOMS: [usize; 6] = [1, 5, 16, 17, 40, 131];
const SAMPLES: [usize; 5] = [1, 5, 6, 7, 20];

fn for_every_shape(test: impl Fn(Level, usize, usize, usize)) {
    for level in all_levels() {
        for rows in ROWS {
            for atoms in ATOMS {
                for samples in SAMPLES {
                    test(level, rows, atoms, samples);
                }
            }
        }
    }
}

/// Values between −1 and 1 that look random and are the same everywhere.
fn noise<T: Scalar>(rows: usize, columns: usize, seed: u32) -> Matrix<T> {
    Matrix::from_fn(rows, columns, |r, c| {
        let mixed = (r as u32 * 97 + c as u32 * 31 + seed).wrapping_mul(2_654_435_761) >> 7;
        T::from_f64(f64::from(mixed % 2001) / 1000.0 - 1.0)
    })
}

fn plain_dot<T: Scalar>(a: &[T], b: &[T]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.to_f64() * b.to_f64()).sum()
}

/// What rounding may do to a sum of `terms` products of numbers up to one.
fn tolerance<T: Scalar>(terms: usize) -> f64 {
    4.0 * (terms as f64 + 1.0) * T::EPSILON.to_f64()
}

fn packed<T: Scalar>(level: Level, atoms: &Matrix<T>, samples: &Matrix<T>) -> (Panels<T>, Tiles<T>) {
    let size = (atoms.rows(), atoms.columns());
    let panels = Panels::pack(level, size, |j| atoms.column(j), |_| T::ONE);
    let mut tiles = Tiles::new(samples.rows(), samples.columns());
    (0..samples.columns()).for_each(|i| tiles.push(samples.column(i)));
    (panels, tiles)
}

fn stored_product_is_the_plain_one<T: Scalar>(level: Level, rows: usize, atoms: usize, samples: usize) {
    let (d, x) = (noise::<T>(rows, atoms, 1), noise::<T>(rows, samples, 2));
    let (panels, tiles) = packed(level, &d, &x);
    let mut store = Store::new(&panels, samples);
    correlate(&panels, &tiles, &mut store);
    for i in 0..samples {
        for j in 0..atoms {
            let off = (store.of(i)[j].to_f64() - plain_dot(d.column(j), x.column(i))).abs();
            assert!(off <= tolerance::<T>(rows), "{level:?} {rows}×{atoms}, sample {i}, atom {j}: off by {off}");
        }
        assert!(store.of(i)[atoms..].iter().all(|c| c.abs() <= T::ZERO));
    }
    // The same bits where the samples are not packed.
    let mut loose = Store::new(&panels, samples);
    let columns: Vec<&[T]> = (0..samples.next_multiple_of(TILE)).map(|i| x.column(i.min(samples - 1))).collect();
    correlate_loose(&panels, &columns, &mut loose);
    for i in 0..samples {
        assert_eq!(loose.of(i), store.of(i), "{level:?} {rows}×{atoms}, sample {i}");
    }
}

#[test]
fn the_stored_product_is_the_plain_one() {
    for_every_shape(stored_product_is_the_plain_one::<f32>);
    for_every_shape(stored_product_is_the_plain_one::<f64>);
}

fn energies_are_those_of_the_stored_product<T: Scalar>(level: Level, rows: usize, atoms: usize, samples: usize) {
    let (d, x) = (noise::<T>(rows, atoms, 9), noise::<T>(rows, samples, 10));
    let (panels, tiles) = packed(level, &d, &x);
    // Two groups, whose panels take turns.
    let (lanes, width) = (Panels::<T>::lanes(level), Panels::<T>::width(level));
    let groups: Vec<usize> = (0..atoms.div_ceil(width)).map(|panel| panel % 2).collect();
    let count = groups.len().min(2);
    let mut energies = Energies::new(&panels, groups, samples);
    for _ in 0..2 {
        energies.clear();
        correlate(&panels, &tiles, &mut energies);
    }
    for i in 0..samples {
        assert_eq!(energies.of(i).len(), lanes * count);
        for (lane, energy) in energies.of(i).iter().enumerate() {
            let own = (0..atoms).filter(|j| j / width % 2 * lanes + j % lanes == lane);
            let plain: f64 = own.map(|j| plain_dot(d.column(j), x.column(i)).powi(2)).sum();
            let off = (energy.to_f64() - plain).abs();
            // Of a square of a product as large as it can be.
            let allowed = tolerance::<T>(rows + atoms) * (1.0 + plain + rows as f64);
            assert!(off <= allowed, "{level:?} {rows}×{atoms}, sample {i}, lane {lane}: off by {off}");
        }
    }
}

#[test]
fn the_energies_are_those_of_the_stored_product() {
    for_every_shape(energies_are_those_of_the_stored_product::<f32>);
    for_every_shape(energies_are_those_of_the_stored_product::<f64>);
}

fn maxima_are_those_of_the_stored_product<T: Scalar>(level: Level, rows: usize, atoms: usize, samples: usize) {
    let (d, x) = (noise::<T>(rows, atoms, 3), noise::<T>(rows, samples, 4));
    let (panels, tiles) = packed(level, &d, &x);
    let mut store = Store::new(&panels, samples);
    correlate(&panels, &tiles, &mut store);
    for (classes, largest, exclude) in [
        (1, Largest::Magnitude, false),
        (64, Largest::Magnitude, true),
        (32, Largest::Value, true),
        (1, Largest::Value, false),
    ] {
        let mut maxima = Maxima::new(panels.shape(), samples, classes, largest);
        let excluded = |i: usize| exclude.then_some((i * 5 + 2) % atoms);
        (0..samples).for_each(|i| maxima.exclude(i, excluded(i)));
        maxima.clear();
        correlate(&panels, &tiles, &mut maxima);
        for i in 0..samples {
            let size = |j: usize| match largest {
                Largest::Magnitude => store.of(i)[j].abs(),
                Largest::Value => store.of(i)[j],
            };
            let allowed = (0..atoms).filter(|j| Some(*j) != excluded(i));
            let plain = allowed.map(size).fold(T::ZERO, |a, b| if b > a { b } else { a });
            assert_eq!(maxima.largest(i).to_f64().to_bits(), plain.to_f64().to_bits());
            let mut seen = T::ZERO;
            dispatch!(level, simd => maxima.above(simd, i, T::ZERO, |atom, value| {
                assert!(atom < atoms && Some(atom) != excluded(i));
                assert_eq!(value.to_f64().to_bits(), size(atom).to_f64().to_bits());
                seen = if value > seen { value } else { seen };
            }));
            assert_eq!(seen.to_f64().to_bits(), plain.to_f64().to_bits());
        }
    }
}

#[test]
fn the_maxima_are_those_of_the_stored_product_and_leave_the_excluded_atom_out() {
    for_every_shape(maxima_are_those_of_the_stored_product::<f32>);
    for_every_shape(maxima_are_those_of_the_stored_product::<f64>);
}

fn coarse_products_are_as_near_as_promised<T: Scalar>(level: Level, rows: usize, atoms: usize, samples: usize) {
    let (d, x) = (noise::<T>(rows, atoms, 3), noise::<T>(rows, samples, 4));
    let norm = |column: &[T]| plain_dot(column, column).sqrt();
    // Atoms of all sizes, one of which is zero.
    let factor = |j: usize| if j == 2 { 0.0 } else { 10_f64.powi(j as i32 % 7 - 3) };
    let size = |j: usize| (norm(d.column(j)), factor(j));
    let panels = CoarsePanels::pack(level, (rows, atoms), |j| d.column(j), size);
    let mut tiles = CoarseTiles::new(rows, samples);
    let x = Columns::copy_of(x.view());
    for i in 0..samples {
        dispatch!(level, simd => tiles.push(simd, x.padded(i), norm(x.column(i))));
    }
    let mut maxima = Maxima::new(panels.shape(), samples, 1, Largest::Magnitude);
    correlate_coarsely(&panels, &tiles, &mut maxima);
    for largest in [Largest::Magnitude, Largest::Value] {
        let mut marks = Marks::new(&panels, samples, largest);
        let limit = |i: usize| [0.02, 0.3, 5.0][i % 3];
        (0..samples).for_each(|i| marks.limit(i, limit(i)));
        correlate_coarsely(&panels, &tiles, &mut marks);
        for i in 0..samples {
            let mut marked = vec![false; atoms];
            marks.of(i, |j| marked[j as usize] = true);
            let mut most = 0.0_f64;
            for (j, &marked) in marked.iter().enumerate() {
                let correlation = factor(j) * plain_dot(d.column(j), x.column(i)) / norm(x.column(i));
                let value = if largest == Largest::Magnitude { correlation.abs() } else { correlation };
                most = most.max(correlation.abs());
                let error = 1e-3 * factor(j) * norm(d.column(j));
                assert!(marked || value <= limit(i), "{level:?} {rows}×{atoms}: atom {j} of sample {i} is not marked");
                assert!(
                    !marked || value >= limit(i) - error,
                    "{level:?} {rows}×{atoms}: atom {j} of sample {i} is marked"
                );
            }
            assert!((f64::from(maxima.largest(i)) - most).abs() <= panels.largest_error() + 1e-12);
        }
    }
}

#[test]
fn products_in_sixteen_bits_are_as_near_as_promised_and_mark_all_large_ones() {
    for_every_shape(coarse_products_are_as_near_as_promised::<f32>);
    for_every_shape(coarse_products_are_as_near_as_promised::<f64>);
}

#[test]
fn a_product_in_sixteen_bits_does_not_overflow() {
    for level in all_levels() {
        // Parallel vectors of very different norms, all in one entry or spread over all.
        for column in [vec![1e20_f32; 64], [vec![0.0; 63], vec![-1e20]].concat()] {
            let norm = plain_dot(&column, &column).sqrt();
            let panels = CoarsePanels::pack(level, (64, 1), |_| &column[..], |_| (norm, 1.0 / norm));
            let mut tiles = CoarseTiles::new(64, 1);
            dispatch!(level, simd => tiles.push(simd, &column, norm));
            let mut maxima = Maxima::new(panels.shape(), 1, 1, Largest::Value);
            correlate_coarsely(&panels, &tiles, &mut maxima);
            assert!((f64::from(maxima.largest(0)) - 1.0).abs() < 1e-3, "{level:?}: {}", maxima.largest(0));
        }
    }
}

fn leaders_hold_the_first_of_the_largest<T: Scalar>(level: Level, rows: usize, atoms: usize, samples: usize) {
    let (d, x) = (noise::<T>(rows, atoms, 3), noise::<T>(rows, samples, 4));
    let (panels, tiles) = packed(level, &d, &x);
    let mut store = Store::new(&panels, samples);
    correlate(&panels, &tiles, &mut store);
    let mut classes = Classes::new(&panels, samples);
    // Twice, because nothing of a pass may be left for the next.
    correlate(&panels, &tiles, &mut classes);
    correlate(&panels, &tiles, &mut classes);
    for i in 0..samples {
        let most = (0..atoms).map(|j| store.of(i)[j].to_f64()).fold(0.0, f64::max);
        let mut leaders = Vec::new();
        dispatch!(level, simd => classes.leaders(simd, i, &mut leaders));
        let first = (0..atoms).find(|&j| most > 0.0 && store.of(i)[j].to_f64() >= most);
        assert!(leaders.is_sorted() && leaders.iter().all(|&j| (j as usize) < atoms));
        assert!(first.map_or(leaders.is_empty(), |first| leaders.contains(&(first as u32))));
    }
}

#[test]
fn the_leaders_hold_the_first_of_the_largest() {
    for_every_shape(leaders_hold_the_first_of_the_largest::<f32>);
    for_every_shape(leaders_hold_the_first_of_the_largest::<f64>);
}

/// The columns divided by their norms.
fn of_unit_norm<T: Scalar>(matrix: &Matrix<T>) -> Columns<T> {
    let mut columns = Columns::copy_of(matrix.view());
    for j in 0..columns.count() {
        let norm = plain_dot(matrix.column(j), matrix.column(j)).sqrt().max(1e-300);
        columns.padded_mut(j).iter_mut().for_each(|value| *value = T::from_f64(value.to_f64() / norm));
    }
    columns
}

fn coarse_leaders_hold_all_of_the_largest<T: Scalar>(level: Level, rows: usize, atoms: usize, samples: usize) {
    let d = of_unit_norm(&noise::<T>(rows, atoms, 3));
    // Samples of all sizes, and one that is zero.
    let size = |i: usize| if i == 5 { 0.0 } else { 10.0_f64.powi(i as i32 % 9 - 4) };
    let noisy = noise::<T>(rows, samples, 4);
    let x = Matrix::from_fn(rows, samples, |r, i| T::from_f64(noisy.column(i)[r].to_f64() * size(i)));
    let coarse = CoarsePanels::pack(level, (d.rows(), d.count()), |j| d.column(j), |_| (1.0, 1.0));
    let mut block = CoarseTiles::new(rows, samples);
    for largest in [Largest::Magnitude, Largest::Value] {
        for exclude in [false, true] {
            let mut classes = CoarseClasses::new(&coarse, samples, largest);
            let excluded = |i: usize| exclude.then_some((i * 5 + 2) % atoms);
            (0..samples).for_each(|i| classes.exclude(i, excluded(i)));
            // Twice, because nothing of a pass may be left for the next.
            for _ in 0..2 {
                block.load(level, &Columns::copy_of(x.view()), samples);
                classes.find(&coarse, &block);
            }
            for i in 0..samples {
                let size = |j: usize| classes.size(plain_dot(d.column(j), x.column(i)));
                let allowed = || (0..atoms).filter(|j| Some(*j) != excluded(i));
                let most = allowed().map(size).fold(0.0, f64::max);
                let mut leaders = Vec::new();
                dispatch!(level, simd => classes.leaders(simd, &block, i, &mut leaders));
                assert!(leaders.is_sorted() && leaders.iter().all(|&j| (j as usize) < atoms));
                // All that floats could take for the best, but for rounding of these floats.
                let near = |j: &usize| most > 0.0 && size(*j) >= most * (1.0 - tolerance::<T>(rows));
                assert!(allowed().filter(near).all(|j| leaders.contains(&(j as u32))), "{level:?} {rows}×{atoms}");
            }
        }
    }
}

#[test]
fn the_coarse_leaders_hold_all_of_the_largest_and_the_excluded_atom_does_not_count() {
    for_every_shape(coarse_leaders_hold_all_of_the_largest::<f32>);
    for_every_shape(coarse_leaders_hold_all_of_the_largest::<f64>);
}

#[test]
fn coarse_leaders_are_few_among_many_different_atoms_and_none_for_a_sample_that_is_zero() {
    for level in all_levels() {
        let (d, mut x) = (of_unit_norm(&noise::<f32>(64, 500, 7)), of_unit_norm(&noise::<f32>(64, 20, 8)));
        x.padded_mut(3).fill(0.0);
        let coarse = CoarsePanels::pack(level, (d.rows(), d.count()), |j| d.column(j), |_| (1.0, 1.0));
        let mut block = CoarseTiles::new(64, 20);
        block.load(level, &x, 20);
        let mut classes = CoarseClasses::new(&coarse, 20, Largest::Magnitude);
        classes.find(&coarse, &block);
        let leaders = |i: usize| {
            let mut leaders = Vec::new();
            dispatch!(level, simd => classes.leaders(simd, &block, i, &mut leaders));
            leaders.len()
        };
        assert_eq!(leaders(3), 0);
        assert!((0..20).map(leaders).sum::<usize>() <= 2 * 8 * 20, "{level:?}");
    }
}

#[test]
fn the_first_of_equal_atoms_is_among_the_leaders_wherever_its_equals_are() {
    for level in all_levels() {
        // The same atom twice, with all distances that lie in one class, one run of panels, or two.
        for (first, second) in (0..140).flat_map(|first| (first + 1..140).step_by(3).map(move |second| (first, second)))
        {
            let d = Matrix::from_fn(3, 140, |r, j| if j == first || j == second { 1.0_f32 } else { (r % 2) as f32 });
            let (panels, tiles) = packed(level, &d, &Matrix::from_fn(3, 1, |_, _| 1.0));
            let mut classes = Classes::new(&panels, 1);
            correlate(&panels, &tiles, &mut classes);
            let mut leaders = Vec::new();
            dispatch!(level, simd => classes.leaders(simd, 0, &mut leaders));
            assert!(leaders.is_sorted() && leaders.contains(&(first as u32)), "{level:?}, {first} and {second}");
        }
    }
}

#[inline(always)]
fn vector_kernels_are_the_plain_ones<S: Simd, T: Scalar>(simd: S, rows: usize, atoms: usize) {
    let d = noise::<T>(rows, atoms, 5);
    let columns = Columns::copy_of(d.view());
    let mut x = Columns::zeros(rows, 1);
    x.padded_mut(0)[..rows].copy_from_slice(noise::<T>(rows, 1, 6).column(0));
    let x = x.padded(0);
    let names: Vec<u32> = (0..atoms as u32).rev().step_by(2).collect();

    let mut products = Vec::new();
    dots(simd, &columns, &names, x, &mut products);
    for (product, &j) in products.iter().zip(&names) {
        let plain = plain_dot(d.column(j as usize), &x[..rows]);
        assert!((product.to_f64() - plain).abs() <= tolerance::<T>(rows));
        assert!((dot(simd, columns.padded(j as usize), x).to_f64() - plain).abs() <= tolerance::<T>(rows));
    }
    assert!(products[names.len()..names.len().next_multiple_of(16)].iter().all(|p| p.abs() <= T::ZERO));

    let terms = names.iter().map(|&j| (j, T::from_f64(f64::from(j % 5) - 2.0)));
    let mut out = vec![T::ONE; columns.stride()];
    subtract_combination(simd, &columns, &terms, x, &mut out);
    let mut added = out.clone();
    terms.clone().for_each(|(j, a)| axpy(simd, a, columns.padded(j as usize), &mut added));
    for r in 0..rows {
        let sum: f64 = terms.clone().map(|(j, a)| a.to_f64() * d.column(j as usize)[r].to_f64()).sum();
        assert!((out[r].to_f64() - (x[r].to_f64() - sum)).abs() <= 3.0 * tolerance::<T>(atoms));
        assert!((added[r].to_f64() - x[r].to_f64()).abs() <= 6.0 * tolerance::<T>(atoms));
    }
    assert!(out[rows..].iter().all(|value| value.abs() <= T::ZERO));

    let mut sums = Columns::zeros(rows, rows);
    let count = atoms - atoms / 3;
    add_outer_products(simd, (&columns, &columns), count, &mut sums);
    for (i, j) in (0..rows).step_by(3).flat_map(|i| (0..rows).map(move |j| (i, j))) {
        let plain: f64 = (0..count).map(|a| d.column(a)[i].to_f64() * d.column(a)[j].to_f64()).sum();
        assert!((sums.column(i)[j] - plain).abs() <= tolerance::<T>(atoms), "{i}, {j}");
    }

    // The first sample twice, and the last column of the output stays as it is.
    let [first, last] = [0, atoms - 1].map(|a| noise::<T>(atoms.min(5), 1, a as u32 + 9).into_vec());
    let mut combined = Columns::zeros(rows, 3);
    let places = [(0, T::ONE), (1, T::from_f64(0.5)), (0, T::from_f64(2.0))];
    let from = atoms - first.len();
    add_combinations(simd, (&columns, from), [&first, &last, &first], places, &mut combined);
    for r in 0..rows {
        let plain = |x: &[T]| (0..x.len()).map(|j| x[j].to_f64() * d.column(from + j)[r].to_f64()).sum::<f64>();
        for (slot, expected) in [3.0 * plain(&first), 0.5 * plain(&last), 0.0].into_iter().enumerate() {
            let found = combined.column(slot)[r].to_f64();
            assert!((found - expected).abs() <= 6.0 * tolerance::<T>(atoms), "{slot}: {found} for {expected}");
        }
    }

    let mut pair = [x.to_vec(), out.clone()];
    let [first, second] = &mut pair;
    rotate(simd, (T::from_f64(0.6), T::from_f64(0.8)), first, second);
    for r in 0..rows {
        let (x, y) = (x[r].to_f64(), out[r].to_f64());
        let off = (first[r].to_f64() - (0.6 * x - 0.8 * y)).abs() + (second[r].to_f64() - (0.8 * x + 0.6 * y)).abs();
        assert!(off <= tolerance::<T>(2) * (1.0 + x.abs() + y.abs()));
    }
}

#[test]
fn the_vector_kernels_are_the_plain_ones() {
    for_every_shape(|level, rows, atoms, _| {
        dispatch!(level, simd => vector_kernels_are_the_plain_ones::<_, f32>(simd, rows, atoms));
        dispatch!(level, simd => vector_kernels_are_the_plain_ones::<_, f64>(simd, rows, atoms));
    });
}

#[inline(always)]
fn best_is_the_first_of_the_largest<S: Simd, T: Scalar>(simd: S) {
    let lanes = T::Native::<S>::LEN;
    for (length, at) in [(1, vec![0]), (3, vec![lanes + 1]), (4, vec![2 * lanes + 1, lanes]), (5, vec![4 * lanes, 3])] {
        let mut scores = vec![T::ONE; length * lanes];
        for &i in &at {
            scores[i] = T::from_f64(7.0);
        }
        let mut best = Best::<S, T>::above(simd, T::ZERO);
        for part in scores.chunks_exact(lanes) {
            best.offer(T::Native::<S>::from_slice(simd, part));
        }
        let (place, score) = best.reduce();
        assert_eq!((Some(&place), score.to_f64().to_bits()), (at.iter().min(), 7.0_f64.to_bits()));
    }
}

#[test]
fn the_best_is_the_first_of_the_largest() {
    for level in all_levels() {
        dispatch!(level, simd => best_is_the_first_of_the_largest::<_, f32>(simd));
        dispatch!(level, simd => best_is_the_first_of_the_largest::<_, f64>(simd));
    }
}

fn sweeps_are_the_plain_ones<T: Scalar>(level: Level) {
    for length in [16, 48, 272] {
        let start = noise::<T>(length, 1, 4);
        let all_rows = noise::<T>(length, 20, 5);
        for count in 0..20 {
            let rows: Vec<&[T]> = (0..count).map(|i| all_rows.column(i)).collect();
            let factors: Vec<T> = (0..count).map(|i| T::from_f64(0.3 - 0.07 * i as f64)).collect();
            let plain = |r: usize| {
                let taken: f64 = rows.iter().zip(&factors).map(|(row, f)| f.to_f64() * row[r].to_f64()).sum();
                start.column(0)[r].to_f64() - taken
            };
            let mut out = vec![T::ONE; length];
            super::sweep::subtract_rows(level, start.column(0), (&factors, &rows), &mut out);
            let off = (0..length).map(|r| (out[r].to_f64() - plain(r)).abs()).fold(0.0, f64::max);
            assert!(off <= tolerance::<T>(count), "{level:?}, {count} rows of {length}: off by {off}");
            for (largest, size) in [(Largest::Magnitude, f64::abs as fn(f64) -> f64), (Largest::Value, |v| v)] {
                let (place, found) = largest_left(level, start.column(0), (&factors, &rows), largest, &mut out);
                let most = (0..length).map(|r| size(plain(r))).fold(0.0, f64::max);
                assert!((found.to_f64() - most).abs() <= tolerance::<T>(count), "{level:?}, {count} rows of {length}");
                assert!((size(plain(place)) - most).abs() <= tolerance::<T>(count), "place {place}");
            }
        }
    }
}

#[test]
fn the_sweeps_are_the_plain_ones() {
    for level in all_levels() {
        sweeps_are_the_plain_ones::<f32>(level);
        sweeps_are_the_plain_ones::<f64>(level);
    }
}
