use std::ops::ControlFlow;

use super::matching::Place;
use super::*;
use crate::metrics::psnr;

fn size(width: usize, height: usize) -> Size {
    Size { width, height }
}

/// Stripes and a slope, with something like noise of deviation 1 times `noise`.
fn picture(size: Size, noise: f64) -> GrayImage {
    let mut numbers = Draw::first(7).stream("noise");
    GrayImage::from_fn(size, |row, column| {
        let stripe = if (2 * row + column) % 16 < 8 { 60.0 } else { 0.0 };
        // The sum of twelve uniform numbers has the variance one.
        let sum: f64 = (0..12).map(|_| numbers.random_range(0.0..1.0)).sum();
        80.0 + stripe + 0.5 * row as f64 + noise * (sum - 6.0)
    })
    .unwrap()
}

fn places(origins: &[(u32, u32)]) -> Vec<Place> {
    origins.iter().map(|&(row, column)| Place { row, column }).collect()
}

fn patch(image: &GrayImage, place: Place, side: usize) -> Vec<f64> {
    let (row, column) = place.at();
    (0..side * side).map(|i| image.row(row + i / side)[column + i % side]).collect()
}

/// m + C(C + σ²I)⁻¹(y − m) by elimination, patch for patch.
fn wiener(guides: &[Vec<f64>], noisy: &[Vec<f64>], sigma: f64) -> Vec<Vec<f64>> {
    let (n, features) = (guides.len() as f64, guides[0].len());
    let mean: Vec<f64> = (0..features).map(|i| guides.iter().map(|x| x[i]).sum::<f64>() / n).collect();
    let c = |i: usize, j: usize| guides.iter().map(|x| (x[i] - mean[i]) * (x[j] - mean[j])).sum::<f64>() / n;
    noisy
        .iter()
        .map(|y| {
            let mut rows: Vec<Vec<f64>> = (0..features)
                .map(|i| {
                    let entry = |j: usize| c(i, j) + if i == j { sigma * sigma } else { 0.0 };
                    (0..features).map(entry).chain([y[i] - mean[i]]).collect()
                })
                .collect();
            for k in 0..features {
                let pivot = rows[k].clone();
                for row in rows.iter_mut().skip(k + 1) {
                    let factor = row[k] / pivot[k];
                    row.iter_mut().zip(&pivot).for_each(|(entry, above)| *entry -= factor * above);
                }
            }
            let mut solution = vec![0.0; features];
            for i in (0..features).rev() {
                let known: f64 = (i + 1..features).map(|j| rows[i][j] * solution[j]).sum();
                solution[i] = (rows[i][features] - known) / rows[i][i];
            }
            // C(C + σ²I)⁻¹ = I − σ²(C + σ²I)⁻¹
            (0..features).map(|i| y[i] - sigma * sigma * solution[i]).collect()
        })
        .collect()
}

/// Some groups of seven patches, no two of them the same: as many as the widest vectors have lanes, and two more.
fn groups() -> Vec<Vec<Place>> {
    let first = [(0, 0), (3, 4), (5, 1), (13, 15), (7, 7), (2, 9), (9, 3)];
    let shifted = |by: u32| places(&first.map(|(row, column)| ((row + by) % 14, (column + 3 * by) % 16)));
    (0..18).map(shifted).collect()
}

/// The estimates of the patches of a group, and what it keeps of the noise.
type Estimated = (Vec<Vec<f32>>, Vec<f32>);

/// Estimates all groups, as many at a time as lanes.
fn estimated(
    estimator: &mut GroupEstimator,
    planes: (&Plane, Option<&Plane>),
    groups: &[Vec<Place>],
    sigma: f64,
) -> impl Iterator<Item = (fearless_simd::Level, Vec<Estimated>)> {
    crate::kernels::all_levels().into_iter().map(move |level| {
        let found = dispatch!(level, simd => estimated_by(simd, estimator, planes, groups, sigma as f32));
        (level, found)
    })
}

#[inline(always)]
fn estimated_by<S: Simd>(
    simd: S,
    estimator: &mut GroupEstimator,
    planes: (&Plane, Option<&Plane>),
    groups: &[Vec<Place>],
    sigma: f32,
) -> Vec<Estimated> {
    let mut all = Vec::new();
    // The last part has fewer groups than lanes; nothing may be left of those before.
    for part in groups.chunks(S::f32s::LEN) {
        let (places, patches) = (part.concat(), part[0].len());
        estimator.prepare(simd, planes, Groups { places: &places, patches }, sigma);
        let mut found = vec![(Vec::new(), Vec::new()); part.len()];
        let mut first = 0;
        while first < patches {
            let count = estimator.estimate(simd, first, patches);
            for number in 0..count {
                let estimates = estimator.estimates(simd, number);
                found.iter_mut().zip(estimates).for_each(|(found, estimate)| found.0.push(estimate.to_vec()));
            }
            first += count;
        }
        if let Some(kept) = estimator.kept(simd) {
            found.iter_mut().zip(kept).for_each(|(found, kept)| found.1 = kept.to_vec());
        }
        all.extend(found);
    }
    all
}

#[test]
fn groups_are_estimated_by_their_own_gaussians() {
    let (noisy, pilot) = (picture(size(20, 18), 10.0), picture(size(20, 18), 2.0));
    let (sigma, groups) = (9.0, groups());
    for (side, guide) in [(3, Some(&pilot)), (4, Some(&pilot)), (4, None), (2, None)] {
        let patches = |image: &GrayImage, group: &[Place]| {
            group.iter().map(|&place| patch(image, place, side)).collect::<Vec<_>>()
        };
        let plane = |image: &GrayImage| Plane::new(image, "", side, 90.0, Run::default()).unwrap();
        let planes = (plane(&noisy), guide.map(plane));
        let mut estimator = GroupEstimator::new(side, 32, (guide.is_some(), false));
        for (level, found) in estimated(&mut estimator, (&planes.0, planes.1.as_ref()), &groups, sigma) {
            assert_eq!(found.len(), groups.len());
            for (group, (found, _)) in groups.iter().zip(&found) {
                let expected = wiener(&patches(guide.unwrap_or(&noisy), group), &patches(&noisy, group), sigma);
                assert_eq!(found.len(), expected.len());
                for (value, expected) in
                    found.iter().zip(&expected).flat_map(|(all, expected)| all.iter().zip(expected))
                {
                    assert!((f64::from(*value) + 90.0 - expected).abs() < 1e-3, "{level:?}: {value} for {expected}");
                }
            }
        }
    }
}

#[test]
fn what_a_group_keeps_of_the_noise_is_the_diagonal_of_its_filter() {
    let pilot = picture(size(20, 18), 12.0);
    let (sigma, groups) = (9.0, groups());
    for side in [3, 4] {
        let plane = Plane::new(&pilot, "", side, 90.0, Run::default()).unwrap();
        let mut estimator = GroupEstimator::new(side, 32, (false, true));
        for (level, found) in estimated(&mut estimator, (&plane, None), &groups, sigma) {
            for (group, (_, kept)) in groups.iter().zip(&found) {
                let guides: Vec<_> = group.iter().map(|&place| patch(&pilot, place, side)).collect();
                // What the filter makes of one more at a pixel, at that pixel.
                let impulse = |i: usize, height: f64| {
                    let noisy: Vec<f64> = (0..side * side).map(|j| if i == j { height } else { 0.0 }).collect();
                    wiener(&guides, &[noisy], sigma)[0][i]
                };
                for (i, &kept) in kept[..side * side].iter().enumerate() {
                    let expected = impulse(i, 1.0) - impulse(i, 0.0) + 0.25 / group.len() as f64;
                    assert!((f64::from(kept) - expected).abs() < 1e-4, "{level:?}: {kept} for {expected}");
                }
            }
        }
    }
}

#[test]
fn a_group_has_the_nearest_patches_in_reach() {
    let image = picture(size(70, 30), 20.0);
    let (reach, group) = (9, 20);
    let origins = [(0, 0), (12, 33), (25, 65), (3, 64)];
    for (side, origin) in [2, 3, 5].into_iter().flat_map(|side| origins.map(|origin| (side, origin))) {
        let plane = Plane::new(&image, "", side, 100.0, Run::default()).unwrap();
        let own = patch(&image, places(&[origin])[0], side);
        let origins: Vec<(u32, u32)> = window(origin.0 as usize, reach, 31 - side)
            .flat_map(|row| window(origin.1 as usize, reach, 71 - side).map(move |column| (row as u32, column as u32)))
            .collect();
        let mut candidates: Vec<(f64, (u32, u32))> = places(&origins)
            .iter()
            .map(|place| {
                let other = patch(&image, *place, side);
                (own.iter().zip(&other).map(|(a, b)| (a - b).powi(2)).sum(), (place.row, place.column))
            })
            .collect();
        candidates.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut expected: Vec<_> = candidates[..group].iter().map(|candidate| candidate.1).collect();
        for level in crate::kernels::all_levels() {
            let mut matcher = Matcher::new(side, reach, group);
            let at = (origin.0 as usize, origin.1 as usize);
            let found = dispatch!(level, simd => matcher.find(simd, &plane, at).to_vec());
            let mut found: Vec<_> = found.iter().map(|place| (place.row, place.column)).collect();
            found.sort_unstable();
            expected.sort_unstable();
            assert_eq!(found, expected);
        }
    }
}

#[test]
fn a_patch_is_in_its_own_group_even_if_all_are_equal() {
    let flat = Plane::new(&GrayImage::from_fn(size(40, 40), |_, _| 9.0).unwrap(), "", 4, 0.0, Run::default()).unwrap();
    let found = dispatch!(best_level(), simd => Matcher::new(4, 10, 8).find(simd, &flat, (17, 30)).to_vec());
    assert!(found.contains(&Place { row: 17, column: 30 }) && found.len() == 8);
}

#[test]
fn windows_have_their_full_length_at_borders() {
    assert_eq!(window(0, 4, 20), 0..8);
    assert_eq!(window(10, 4, 20), 6..14);
    assert_eq!(window(19, 4, 20), 12..20);
    assert_eq!(window(2, 4, 5), 0..5);
}

#[test]
fn estimates_that_overlap_are_averaged() {
    let mut canvases = [Canvas::new(0..3, 4, 2), Canvas::new(1..3, 4, 2)];
    // What follows a patch is not to be added.
    let patches =
        [[1.0, 2.0, 3.0, 4.0], [10.0, 20.0, 30.0, 40.0], [0.0; 4]].map(|patch| [&patch[..], &[99.0; 32]].concat());
    let mut add = |canvas: usize, origins: &[(u32, u32)], first: usize| {
        let places = places(origins);
        canvases[canvas].count(&places);
        for (place, estimate) in places.into_iter().zip(&patches[first..]) {
            dispatch!(best_level(), simd => canvases[canvas].add(simd, place, estimate));
        }
    };
    add(0, &[(0, 0), (0, 1)], 0);
    add(1, &[(1, 0), (1, 2)], 0);
    add(0, &[(0, 2)], 2);
    assert!(canvases[0].has((0, 1)) && !canvases[0].has((1, 0)) && canvases[1].has((1, 2)));
    let expected = [1.0, 6.0, 10.0, 0.0, 4.0 / 2.0, 36.0 / 3.0, 50.0 / 3.0, 20.0 / 2.0, 3.0, 4.0, 30.0, 40.0];
    for (found, expected) in
        means(&canvases.map(Canvas::complete), size(4, 3), 0.5, Run::default()).unwrap().0.iter().zip(expected)
    {
        assert!((found - 0.5 - expected).abs() < 1e-6, "{found} for {expected}");
    }
}

/// Taller than what one thread works on at a time, twice over.
const TALL: Size = Size { width: 11, height: 140 };

#[test]
fn the_energies_of_a_tall_picture_are_sums_of_squares_in_every_row() {
    let image = picture(TALL, 8.0);
    for side in [2, 5] {
        let plane = Plane::new(&image, "", side, 90.0, Run::threads(2)).unwrap();
        for row in 0..=TALL.height - side {
            for (column, found) in plane.energies(row, 0).iter().take(TALL.width - side + 1).enumerate() {
                let place = Place { row: row as u32, column: column as u32 };
                let expected: f64 = patch(&image, place, side).iter().map(|sample| (sample - 90.0).powi(2)).sum();
                assert!((f64::from(*found) - expected).abs() <= 1e-5 * expected, "({row}, {column}), side {side}");
            }
        }
    }
}

#[test]
fn the_means_of_a_tall_picture_are_those_of_its_estimates_in_every_row() {
    let (side, rows) = (3, [0..70, 20..130, 64..65 + 3, 125..140]);
    let mut canvases = rows.clone().map(|rows| Canvas::new(rows, TALL.width, side));
    let mut plain = vec![(0.0, 0.0, 0.0); TALL.pixels()];
    for (canvas, rows) in canvases.iter_mut().zip(rows) {
        for (row, column) in
            (rows.start..=rows.end - side).flat_map(|row| (0..=TALL.width - side).map(move |c| (row, c)))
        {
            let all = places(&[(row as u32, column as u32)]);
            canvas.count(&all);
            let value = (7 * row + 3 * column + rows.start) as f32;
            dispatch!(best_level(), simd => {
                canvas.add(simd, all[0], &[value; 32]);
                canvas.add_kept(simd, all[0], &[0.5 * value; 32]);
            });
            for (r, c) in (0..side).flat_map(|r| (0..side).map(move |c| (r, c))) {
                let (count, sum, kept) = &mut plain[(row + r) * TALL.width + column + c];
                *count += 1.0;
                *sum += f64::from(value);
                *kept += f64::from(0.5 * value);
            }
        }
    }
    let (found, kept) = means(&canvases.map(Canvas::complete), TALL, 0.5, Run::threads(2)).unwrap();
    for (pixel, (count, sum, sum_kept)) in plain.into_iter().enumerate() {
        assert!((found[pixel] - 0.5 - sum / count).abs() < 1e-2, "pixel {pixel}");
        assert!((kept[pixel] - sum_kept / count).abs() < 1e-2, "pixel {pixel}");
    }
}

#[test]
fn noise_is_taken_out() {
    let (clean, noisy) = (picture(size(96, 80), 0.0), picture(size(96, 80), 20.0));
    let found = NonLocal::white_noise().estimate(&noisy, 20.0, None, Run::default()).unwrap();
    let (before, after) = (psnr(&clean, &noisy).unwrap(), psnr(&clean, &found).unwrap());
    assert!(after > before + 9.0, "{before:.2} dB became {after:.2} dB");
    // One pass that has the truth for a pilot is better still.
    let one = NonLocal { passes: 1, ..NonLocal::white_noise() };
    let guided = one.estimate(&noisy, 20.0, Some(&clean), Run::default()).unwrap();
    assert!(psnr(&clean, &guided).unwrap() > after + 1.0);
}

#[cfg(feature = "io")]
#[test]
fn noise_is_taken_out_of_photographs() {
    for (name, least) in [("camera.png", 7.5), ("chelsea.png", 8.5), ("brick.png", 6.0)] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/cc0").join(name);
        let whole = crate::image::read(path).unwrap();
        let part = size(128, 128);
        let clean = GrayImage::from_fn(part, |row, column| whole.row(row + 90)[column + 150]).unwrap();
        let noise = picture(part, 25.0).into_samples();
        let noise = noise.iter().zip(picture(part, 0.0).into_samples()).map(|(with, without)| with - without);
        let samples = clean.samples().iter().zip(noise).map(|(value, noise)| value + noise).collect();
        let noisy = GrayImage::new(part, samples).unwrap();
        let found = NonLocal::white_noise().estimate(&noisy, 25.0, None, Run::default()).unwrap();
        let (before, after) = (psnr(&clean, &noisy).unwrap(), psnr(&clean, &found).unwrap());
        assert!(after > before + least, "{name}: {before:.2} dB became {after:.2} dB");
    }
}

#[test]
fn results_are_the_same_bits_for_any_number_of_threads() {
    let noisy = picture(size(75, 150), 15.0);
    let settings = NonLocal { passes: 2, caution: 8.0, ..NonLocal::default() };
    let one = settings.estimate(&noisy, 15.0, None, Run::threads(1)).unwrap();
    for threads in [2, 5] {
        assert_eq!(settings.estimate(&noisy, 15.0, None, Run::threads(threads)).unwrap(), one);
    }
    let next = settings.find(&noisy, 15.0, (1, None), false, Run::default()).unwrap().image;
    assert_ne!(next, one, "another turn has another grid");
}

#[test]
fn without_noise_a_picture_stays_as_it_is() {
    let image = picture(size(40, 33), 10.0);
    let found = NonLocal::default().estimate(&image, 0.0, None, Run::default()).unwrap();
    assert!(psnr(&image, &found).unwrap() > 60.0);
    // Nor if it is its own pilot.
    let twice = NonLocal { passes: 2, ..NonLocal::default() };
    assert!(psnr(&image, &twice.estimate(&image, 0.0, None, Run::default()).unwrap()).unwrap() > 50.0);
    let flat = GrayImage::from_fn(size(19, 23), |_, _| 77.0).unwrap();
    for sigma in [0.0, 1e-30, 5.0, 1e30] {
        let found = NonLocal::white_noise().estimate(&flat, sigma, None, Run::default()).unwrap();
        assert!(found.samples().iter().all(|value| (value - 77.0).abs() < 1e-3));
    }
}

#[test]
fn any_picture_of_at_least_one_patch_can_be_estimated() {
    for (width, height) in [(6, 6), (7, 6), (6, 90), (200, 6), (13, 11)] {
        let image = picture(size(width, height), 5.0);
        let found = NonLocal::default().estimate(&image, 3.0, None, Run::default()).unwrap();
        assert!(found.size() == image.size() && found.samples().iter().all(|value| value.is_finite()));
    }
}

#[test]
fn what_cannot_be_done_is_refused() {
    let image = picture(size(12, 12), 1.0);
    let good = NonLocal::default();
    for bad in [
        NonLocal { side: 1, ..good },
        NonLocal { side: 13, ..good },
        NonLocal { stride: 7, ..good },
        NonLocal { stride: 0, ..good },
        NonLocal { group: 1, ..good },
        NonLocal { reach: 128, ..good },
        NonLocal { passes: 0, ..good },
        NonLocal { caution: 0.0, ..good },
    ] {
        assert!(matches!(bad.estimate(&image, 1.0, None, Run::default()), Err(Error::InvalidParameter { .. })));
    }
    assert!(good.estimate(&image, f64::NAN, None, Run::default()).is_err());
    assert!(good.estimate(&image, -1.0, None, Run::default()).is_err());
    let other = picture(size(12, 13), 1.0);
    assert!(good.estimate(&image, 1.0, Some(&other), Run::default()).is_err());
    let broken = GrayImage::from_fn(size(12, 12), |r, c| if (r, c) == (3, 5) { f64::INFINITY } else { 0.0 }).unwrap();
    let huge = GrayImage::from_fn(size(12, 12), |r, c| if (r, c) == (3, 5) { 1e20 } else { 0.0 }).unwrap();
    assert!(good.estimate(&huge, 1.0, None, Run::default()).unwrap_err().to_string().contains("1e12"));
    let refused = Error::NotFinite { what: "image", row: 3, column: 5 };
    assert_eq!(good.estimate(&broken, 1.0, None, Run::default()), Err(refused));
}

#[test]
fn a_run_can_be_interrupted_between_strips_and_passes() {
    let image = picture(size(30, 200), 5.0);
    let stop = |done: usize, total: usize| {
        assert!(done <= total && total == 4 * 6000);
        if done > 9000 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let run = Run::threads(1).on_progress(&stop);
    let result = NonLocal::white_noise().estimate(&image, 5.0, None, run);
    assert!(matches!(result, Err(Error::Interrupted { done: 9001..=12000, total: 24000 })), "{result:?}");
}
