//! Laws of the patch stage: cutting up and putting together are inverses, and drawing is fair and repeatable.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use proptest::prelude::*;
use sparsemble::image::{GrayImage, Size};
use sparsemble::patch::{PatchGrid, Stride, TrainingPatches, n_sliding_blocks, sliding_blocks};
use sparsemble::{Error, Matrix, Scalar};

/// A picture with a fraction in every sample, so that a rounding mistake shows.
fn picture(size: Size, seed: u64) -> GrayImage {
    let mut state = seed | 1;
    GrayImage::from_fn(size, |_, _| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64 * 255.0
    })
    .unwrap()
}

/// A picture whose samples `f32` can hold too.
fn coarse_picture(size: Size, seed: u64) -> GrayImage {
    let fine = picture(size, seed);
    GrayImage::new(size, fine.samples().iter().map(|&value| f64::from(value as f32)).collect()).unwrap()
}

/// Any grid: a side, a stride up to it, and a picture at least as large.
fn grids() -> impl Strategy<Value = (Size, usize, Stride)> {
    (1_usize..10).prop_flat_map(|side| {
        let stride = prop_oneof![Just(Stride::NonOverlapping), (1..=side).prop_map(Stride::Every)];
        let size = (side..side + 30, side..side + 30).prop_map(|(width, height)| Size { width, height });
        (size, Just(side), stride)
    })
}

/// The mean of all patches over each pixel, the plain way.
fn assemble_plainly<T: Scalar>(grid: &PatchGrid, side: usize, patches: &Matrix<T>) -> Vec<f64> {
    let width = grid.image_size().width;
    let mut sums = vec![0.0; width * grid.image_size().height];
    let mut counts = vec![0.0; sums.len()];
    for (patch, (row, column)) in grid.origins().enumerate() {
        for (feature, value) in patches.column(patch).iter().enumerate() {
            let pixel = (row + feature / side) * width + column + feature % side;
            sums[pixel] += value.to_f64();
            counts[pixel] += 1.0;
        }
    }
    sums.iter().zip(counts).map(|(sum, count)| sum / count).collect()
}

proptest! {
    #[test]
    fn assembling_undoes_extracting_bit_for_bit((size, side, stride) in grids(), seed: u64) {
        let grid = PatchGrid::new(size, side, stride).unwrap();
        let image = picture(size, seed);
        prop_assert_eq!(&grid.assemble(grid.extract::<f64>(&image).unwrap().view()).unwrap(), &image);
        let image = coarse_picture(size, seed);
        prop_assert_eq!(&grid.assemble(grid.extract::<f32>(&image).unwrap().view()).unwrap(), &image);
    }

    #[test]
    fn every_pixel_is_covered_and_no_patch_sticks_out((size, side, stride) in grids()) {
        let grid = PatchGrid::new(size, side, stride).unwrap();
        let mut covered = vec![false; size.width * size.height];
        for (row, column) in grid.origins() {
            prop_assert!(row + side <= size.height && column + side <= size.width);
            for r in row..row + side {
                covered[r * size.width + column..][..side].fill(true);
            }
        }
        prop_assert!(covered.into_iter().all(|pixel| pixel));
        prop_assert_eq!(grid.origins().count(), grid.n_patches());
    }

    #[test]
    fn overlaps_are_averaged((size, side, stride) in grids(), seed: u64) {
        let grid = PatchGrid::new(size, side, stride).unwrap();
        let values = picture(Size { width: grid.n_features(), height: grid.n_patches() }, seed);
        let patches = Matrix::from_columns(values.samples().to_vec(), grid.n_features(), grid.n_patches()).unwrap();
        let assembled = grid.assemble(patches.view()).unwrap();
        for (found, expected) in assembled.samples().iter().zip(assemble_plainly(&grid, side, &patches)) {
            prop_assert!((found - expected).abs() <= 1e-12 * 255.0, "{found} instead of {expected}");
        }
    }

    #[test]
    fn training_patches_are_mean_free_unit_and_repeatable(seed: u64, side in 2_usize..7) {
        let images = [picture(Size { width: 19, height: 12 }, 5), picture(Size { width: 9, height: 30 }, 6)];
        let draw = TrainingPatches { side, count: 40, unit_norm: true, seed, ..TrainingPatches::default() };
        let patches = draw.draw::<f64>(&images).unwrap();
        for index in 0..patches.columns() {
            let patch = patches.column(index);
            prop_assert!(patch.iter().sum::<f64>().abs() < 1e-12);
            prop_assert!((patch.iter().map(|value| value * value).sum::<f64>() - 1.0).abs() < 1e-12);
        }
        prop_assert_eq!(&patches, &draw.draw::<f64>(&images).unwrap());
        let other = TrainingPatches { seed: seed.wrapping_add(1), ..draw };
        prop_assert_ne!(&patches, &other.draw::<f64>(&images).unwrap());
    }
}

#[test]
fn a_patch_is_its_rows_one_after_the_other() {
    let image = GrayImage::from_fn(Size { width: 5, height: 3 }, |row, column| (10 * row + column) as f64).unwrap();
    let grid = PatchGrid::new(image.size(), 2, Stride::NonOverlapping).unwrap();
    let patches = grid.extract::<f64>(&image).unwrap();
    // Across at 0, 2 and the border's 3; down at 0 and the border's 1.
    assert_eq!(grid.origins().collect::<Vec<_>>(), [(0, 0), (0, 2), (0, 3), (1, 0), (1, 2), (1, 3)]);
    assert_eq!(patches.column(1), [2.0, 3.0, 12.0, 13.0]);
    assert_eq!(patches.column(5), [13.0, 14.0, 23.0, 24.0]);
}

#[test]
fn grids_with_gaps_or_beyond_the_picture_are_refused() {
    let size = Size { width: 20, height: 8 };
    for (side, stride) in [(0, 1), (9, 1), (8, 0), (8, 9)] {
        assert!(PatchGrid::new(size, side, Stride::Every(stride)).is_err(), "side {side}, stride {stride}");
    }
    let vast = Size { width: usize::MAX, height: usize::MAX };
    assert!(PatchGrid::new(vast, 8, Stride::Every(1)).is_err());
}

#[test]
fn pictures_and_patches_of_another_size_are_refused() {
    let grid = PatchGrid::new(Size { width: 8, height: 9 }, 4, Stride::Every(2)).unwrap();
    assert!(grid.extract::<f64>(&picture(Size { width: 9, height: 8 }, 1)).is_err());
    assert!(grid.assemble(Matrix::<f64>::zeros(16, grid.n_patches() - 1).view()).is_err());
    assert!(grid.assemble(Matrix::<f64>::zeros(15, grid.n_patches()).view()).is_err());
}

#[test]
fn no_training_patch_is_drawn_twice_and_all_can_be_drawn() {
    let images = [
        picture(Size { width: 11, height: 7 }, 1),
        picture(Size { width: 3, height: 90 }, 2),
        picture(Size { width: 6, height: 6 }, 3),
    ];
    let draw = TrainingPatches { side: 5, count: 7 * 3 + 2 * 2, ..TrainingPatches::default() };
    let drawn = draw.draw::<f64>(&images).unwrap();
    let distinct = |matrix: &Matrix<f64>| {
        let mut columns: Vec<Vec<u64>> =
            (0..matrix.columns()).map(|c| matrix.column(c).iter().map(|value| value.to_bits()).collect()).collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    };
    assert_eq!(distinct(&drawn).len(), draw.count);
    // Another seed gives the same set in another order.
    let again = TrainingPatches { seed: 9, ..draw }.draw::<f64>(&images).unwrap();
    assert_eq!(distinct(&drawn), distinct(&again));
    assert_ne!(drawn, again);
    let more = TrainingPatches { count: draw.count + 1, ..draw };
    assert_eq!(
        more.draw::<f64>(&images),
        Err(Error::TooFewSamples { what: "training patches", needed: draw.count + 1, found: draw.count })
    );
}

#[test]
fn flat_patches_are_rejected() {
    // Left half flat, right half a checkerboard of variance about 4: drawn only if that is asked for.
    let image = GrayImage::from_fn(Size { width: 40, height: 20 }, |row, column| {
        if column < 20 || (row + column) % 2 == 0 { 100.0 } else { 104.0 }
    })
    .unwrap();
    let images = [image];
    let draw = TrainingPatches { side: 4, count: 50, min_variance: 4.0, ..TrainingPatches::default() };
    let patches = draw.draw::<f32>(&images).unwrap();
    for index in 0..patches.columns() {
        let energy: f32 = patches.column(index).iter().map(|value| value * value).sum();
        assert!(energy > 4.0 * 15.0, "energy {energy}");
    }
    let strict = TrainingPatches { min_variance: 5.0, ..draw };
    assert!(matches!(strict.draw::<f32>(&images), Err(Error::TooFewSamples { needed: 50, found: 0, .. })));
}

#[test]
fn patches_larger_than_every_picture_are_refused_before_memory_is_spent() {
    let images = [picture(Size { width: 16, height: 16 }, 1)];
    let large = TrainingPatches { side: usize::MAX / 2, ..TrainingPatches::default() };
    let refused = large.draw::<f32>(&images).unwrap_err();
    assert!(refused.to_string().contains("is larger than every picture"), "{refused}");
}

#[test]
fn parameters_out_of_range_are_named() {
    let images = [picture(Size { width: 16, height: 16 }, 1)];
    let good = TrainingPatches { count: 4, ..TrainingPatches::default() };
    for (bad, name) in [
        (TrainingPatches { side: 1, ..good }, "patch side"),
        (TrainingPatches { count: 0, ..good }, "count"),
        (TrainingPatches { min_variance: -1.0, ..good }, "min_variance"),
        (TrainingPatches { min_variance: f64::NAN, ..good }, "min_variance"),
    ] {
        let message = bad.draw::<f64>(&images).unwrap_err().to_string();
        assert!(message.starts_with(name), "{message}");
    }
    assert!(good.draw::<f64>(&[]).is_err());
}

#[test]
fn sliding_blocks_are_those_by_hand_in_any_layout() {
    let (rows, columns) = (19, 7);
    let matrix = Matrix::from_fn(rows, columns, |row, column| (10 * row + column) as f64);
    let across = Matrix::from_fn(columns, rows, |column, row| matrix.column(column)[row]);
    for (height, width) in (1..=rows).flat_map(|height| [(height, 1), (height, 2), (height, columns)]) {
        let count = n_sliding_blocks((rows, columns), (height, width)).unwrap();
        let down = rows - height + 1;
        assert_eq!(count, down * (columns - width + 1));
        for view in [matrix.view(), across.view().transposed()] {
            let mut blocks = vec![-1.0; count * height * width];
            sliding_blocks(view, (height, width), &mut blocks).unwrap();
            for (block, values) in blocks.chunks_exact(height * width).enumerate() {
                let (left, top) = (block / down, block % down);
                let by_hand = |i: usize| (10 * (top + i % height) + left + i / height) as f64;
                let same = (0..height * width).all(|i| values[i].to_bits() == by_hand(i).to_bits());
                assert!(same, "block {block} of {height} × {width}");
            }
            assert!(sliding_blocks(view, (height, width), &mut blocks[1..]).is_err());
        }
    }
    assert!(n_sliding_blocks((5, 7), (0, 1)).is_err() && n_sliding_blocks((5, 7), (1, 8)).is_err());
}

#[test]
fn patches_are_the_same_in_memory_of_the_caller() {
    let image = picture(Size { width: 23, height: 17 }, 5);
    let grid = PatchGrid::new(image.size(), 8, Stride::Every(3)).unwrap();
    let mut patches = vec![0.0_f32; grid.n_features() * grid.n_patches()];
    grid.extract_into(&image, &mut patches).unwrap();
    assert_eq!(patches, grid.extract::<f32>(&image).unwrap().into_vec());
    assert!(grid.extract_into(&image, &mut patches[1..]).is_err());
}
