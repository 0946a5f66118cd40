//! Samples and codes to files and back, and files that are not what they should be.

#![allow(clippy::unwrap_used)] // in a test, a panic is the report

mod hostile;

use std::cell::RefCell;
use std::fs;
use std::io::{Read, Seek, SeekFrom, Write};
use std::ops::ControlFlow;

use proptest::prelude::*;
use sparsemble::coding::SparseCodes;
use sparsemble::matrix_file::{
    dtype, is_matrix_file, read, read_codes, read_labelled_watched, read_watched, write, write_arrays, write_codes,
};
use sparsemble::{Error, Matrix, MatrixView, Run, Scalar};

use crate::problems::{Values, cases};

/// Codes with a few entries a sample, and some samples without any.
fn codes<T: Scalar>(n_atoms: usize, n_samples: usize, seed: u64) -> SparseCodes<T> {
    let mut values = Values::new(seed);
    let (mut starts, mut atoms, mut coefficients) = (vec![0], Vec::new(), Vec::new());
    for _ in 0..n_samples {
        let mut chosen = values.order(n_atoms)[..values.below(n_atoms.min(4) + 1)].to_vec();
        chosen.sort_unstable();
        atoms.extend(chosen.iter().map(|&atom| atom as u32));
        coefficients.extend(chosen.iter().map(|_| T::from_f64(values.normal() + 10.0)));
        starts.push(atoms.len());
    }
    SparseCodes::from_parts(n_atoms, starts, atoms, coefficients).unwrap()
}

#[test]
fn a_long_file_tells_how_much_of_it_is_read_and_can_be_left() {
    let folder = tempfile::tempdir().unwrap();
    let samples = Matrix::from_fn(100, 7000, |r, i| ((r * 31 + i * 17) % 101) as f64 / 7.0);
    let [table, array, archive] = ["a.csv", "a.npy", "a.npz"].map(|name| folder.path().join(name));
    write(&table, samples.view()).unwrap();
    write(&array, samples.view()).unwrap();
    write_arrays(&archive, &[("x", samples.view())]).unwrap();
    for path in [table, array, archive] {
        let length = fs::metadata(&path).unwrap().len() as usize;
        let told = RefCell::new(Vec::new());
        let tell = |done: usize, total: usize| {
            assert!(done <= total && total == length, "{done} of {total}");
            told.borrow_mut().push(done);
            ControlFlow::Continue(())
        };
        let all = read_watched::<f64>(&path, Run::default().on_progress(&tell)).unwrap();
        assert_eq!(all.to_matrix(), samples);
        assert!(told.borrow().is_sorted() && told.borrow().len() >= length >> 21, "{}", path.display());
        let stop = |_: usize, _: usize| ControlFlow::Break(());
        let run = Run::default().on_progress(&stop);
        assert!(matches!(read_watched::<f64>(&path, run), Err(Error::Interrupted { done, .. }) if done > 0));
        assert!(matches!(read_labelled_watched::<f64>(&path, None, run), Err(Error::Interrupted { .. })));
    }
}

fn samples_come_back<T: Scalar>(samples: &Matrix<T>, name: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    write(&path, samples.view()).unwrap();
    assert_eq!(&read::<T>(&path).unwrap().to_matrix(), samples, "{name}");
    // A view with other strides is the same samples, so the same file.
    let bytes = fs::read(&path).unwrap();
    let transposed = Matrix::from_fn(samples.columns(), samples.rows(), |r, c| samples.column(r)[c]);
    let shape = (samples.rows(), samples.columns());
    let turned = MatrixView::from_strided(transposed.as_slice(), shape, (samples.columns(), 1)).unwrap();
    write(&path, turned).unwrap();
    assert_eq!(fs::read(&path).unwrap(), bytes, "{name}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

fn codes_come_back<T: Scalar>(codes: &SparseCodes<T>) {
    let folder = tempfile::tempdir().unwrap();
    for name in ["codes.npz", "codes.npy", "codes.csv"] {
        let path = folder.path().join(name);
        write_codes(&path, codes).unwrap();
        assert_eq!(&read_codes::<T>(&path).unwrap(), codes, "{name}");
    }
    let dense = read::<T>(folder.path().join("codes.npy")).unwrap().to_matrix();
    assert_eq!(dense, codes.to_dense());
}

proptest! {
    #![proptest_config(cases(10))]

    #[test]
    fn samples_come_back_bit_for_bit(rows in 1_usize..9, columns in 1_usize..9, seed: u64, scale in -300_i32..300) {
        let samples = Values::new(seed).matrix::<f64>(rows, columns);
        let samples = Matrix::from_fn(rows, columns, |r, c| samples.column(c)[r] * 10.0_f64.powi(scale));
        let single = Matrix::from_fn(rows, columns, |r, c| (samples.column(c)[r] * 10.0_f64.powi(-scale)) as f32);
        for name in ["samples.npy", "samples.csv"] {
            samples_come_back(&samples, name);
            samples_come_back(&single, name);
        }
    }

    #[test]
    fn codes_come_back_entry_for_entry(n_atoms in 1_usize..20, n_samples in 1_usize..20, seed: u64) {
        codes_come_back(&codes::<f64>(n_atoms, n_samples, seed));
        codes_come_back(&codes::<f32>(n_atoms, n_samples, seed));
    }
}

#[test]
fn numbers_of_another_type_are_converted_and_the_type_that_holds_them_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npy");
    write(&path, Matrix::from_columns(vec![0.1_f64, 2.0], 1, 2).unwrap().view()).unwrap();
    assert_eq!(read::<f32>(&path).unwrap().to_matrix().as_slice(), [0.1_f32, 2.0]);
    assert_eq!(dtype(&path).unwrap(), "float64");
    write(&path, Matrix::from_columns(vec![0.1_f32, 2.0], 1, 2).unwrap().view()).unwrap();
    assert_eq!(read::<f64>(&path).unwrap().to_matrix().as_slice(), [f64::from(0.1_f32), 2.0]);
    assert_eq!(dtype(&path).unwrap(), "float32");
}

#[test]
fn nan_and_infinity_are_samples_here_and_refused_as_codes() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.npy", "a.csv"] {
        let path = folder.path().join(name);
        write(&path, Matrix::from_columns(vec![1.0, f64::NAN, f64::INFINITY], 3, 1).unwrap().view()).unwrap();
        let back = read::<f64>(&path).unwrap().to_matrix();
        assert!(back.column(0)[1].is_nan() && back.column(0)[2].is_infinite());
        assert_eq!(read_codes::<f64>(&path), Err(Error::NotFinite { what: "codes", row: 1, column: 0 }));
    }
}

#[test]
fn a_large_file_of_our_own_type_stays_where_it_is() {
    const M: usize = 64;
    const T: usize = 600_000;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.npy");
    write(&path, Matrix::from_columns(vec![7.0_f32; M], M, 1).unwrap().view()).unwrap();
    // The same file with more samples, all of them a hole on the disk but the first and the last.
    let mut file = fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
    let mut header = [0; 128];
    file.read_exact(&mut header).unwrap();
    let text = String::from_utf8_lossy(&header).replace("(1, 64), }     ", &format!("({T}, 64), }}"));
    file.rewind().unwrap();
    let changed: Vec<u8> =
        header[..10].iter().copied().chain(text.chars().skip_while(|c| *c != '{').map(|c| c as u8)).collect();
    file.write_all(&changed).unwrap();
    let end = (128 + 4 * M * T) as u64;
    file.set_len(end).unwrap();
    file.seek(SeekFrom::Start(end - 4)).unwrap();
    file.write_all(&5.0_f32.to_le_bytes()).unwrap();
    drop(file);

    let samples = read::<f32>(&path).unwrap();
    assert!(samples.is_in_file());
    assert_eq!((samples.n_features(), samples.n_samples()), (M, T));
    let view = samples.view();
    let corners = [view.get(0, 0), view.get(0, 1), view.get(M - 1, T - 1)];
    assert_eq!(corners.map(f32::to_bits), [7.0_f32, 0.0, 5.0].map(f32::to_bits));
}

#[test]
fn names_tell_the_format_and_others_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let samples = Matrix::<f64>::zeros(2, 2);
    for name in ["a.txt", "a", "a.npz", "a.mat"] {
        let message = write(folder.path().join(name), samples.view()).unwrap_err().to_string();
        assert!(message.ends_with("must end in .npy or .csv"), "{message}");
    }
    assert!(is_matrix_file("x.npz:train") && is_matrix_file("x.TSV") && !is_matrix_file("x.png"));
    assert!(matches!(read::<f64>(folder.path().join("missing.csv")), Err(Error::Io { .. })));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
