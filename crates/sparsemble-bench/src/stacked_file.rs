//! Stacked codes in a file, so that graphs with fewer members or sharper codes need not be coded anew.
//!
//! Words of four bytes, little-endian: the number of samples, then for each member its number of atoms, the atom of each
//! sample and its coefficient.

use std::path::Path;

use anyhow::{Context, Result};
use sparsemble::graph::StackedCodes;

/// Reads the codes of a file.
pub(crate) fn read(path: &Path) -> Result<StackedCodes> {
    let bytes = std::fs::read(path).with_context(|| format!("reading {}", path.display()))?;
    let mut words = bytes.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word));
    let n_samples = words.next().context("the file of codes is empty")? as usize;
    let mut codes = StackedCodes::new(n_samples);
    while let Some(n_atoms) = words.next() {
        let atoms = words.by_ref().take(n_samples).collect();
        let coefficients = words.by_ref().take(n_samples).map(f32::from_bits).collect();
        codes.push(n_atoms as usize, atoms, coefficients)?;
    }
    Ok(codes)
}

/// Writes codes to a file, whole or not at all: a run may be stopped.
pub(crate) fn write(path: &Path, codes: &StackedCodes) -> Result<()> {
    let mut words = vec![u32::try_from(codes.n_samples())?];
    for member in codes.members() {
        words.push(u32::try_from(member.n_atoms())?);
        words.extend(member.atoms());
        words.extend(member.coefficients().iter().map(|a| a.to_bits()));
    }
    let unfinished = path.with_extension("part");
    std::fs::write(&unfinished, words.into_iter().flat_map(u32::to_le_bytes).collect::<Vec<u8>>())
        .and_then(|()| std::fs::rename(&unfinished, path))
        .with_context(|| format!("writing {}", path.display()))
}

/// The first members, with a·(a/‖x‖)^(s − 1) in place of a, as [`MemberGraph`](sparsemble::graph::MemberGraph) stacks it for
/// the sharpness s; `codes` are those for s = 1. `counts` says how many samples each stands for, `energies` is ‖x‖².
pub(crate) fn sharpened(
    codes: &StackedCodes,
    n_members: usize,
    sharpness: f64,
    (counts, energies): (&[f64], &[f64]),
) -> Result<StackedCodes> {
    let mut sharp = StackedCodes::new(codes.n_samples());
    for member in codes.members().take(n_members) {
        let coefficient = |(i, &stacked): (usize, &f32)| {
            if stacked == 0.0 {
                return 0.0;
            }
            let a = f64::from(stacked) / counts[i];
            let closeness = (a.abs() / energies[i].sqrt()).min(1.0);
            (counts[i] * a * closeness.powf(sharpness - 1.0)) as f32
        };
        let coefficients = member.coefficients().iter().enumerate().map(coefficient).collect();
        sharp.push(member.n_atoms(), member.atoms().to_vec(), coefficients)?;
    }
    Ok(sharp)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparsemble::graph::{AtomCount, MemberGraph};
    use sparsemble::{Matrix, Run};

    #[test]
    fn codes_come_back_as_they_were_written() {
        let path = std::env::temp_dir().join(format!("sparsemble-bench-codes-{}", std::process::id()));
        let mut codes = StackedCodes::new(3);
        codes.push(2, vec![0, 1, 0], vec![0.5, -1.0, 0.0]).unwrap();
        codes.push(1, vec![0, 0, 0], vec![1.0, 0.25, 1.0]).unwrap();
        write(&path, &codes).unwrap();
        assert_eq!(read(&path).unwrap(), codes);
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn fewer_and_sharper_members_are_those_that_the_library_makes() {
        let samples = Matrix::from_fn(5, 80, |r, i| ((r * 37 + i * 11) as f32 * 0.7).sin());
        let counts: Vec<f64> = (0..80).map(|i| f64::from(1 << (i % 3))).collect();
        let energies: Vec<f64> =
            (0..80).map(|i| samples.column(i).iter().map(|x| f64::from(*x) * f64::from(*x)).sum()).collect();
        let codes = |n_members: usize, sharpness: f64, nonnegative: bool| {
            let atoms = AtomCount::Exactly(9);
            let graph = MemberGraph { n_members, sharpness, atoms, nonnegative, ..MemberGraph::default() };
            graph.codes(samples.view(), Some(&counts), 1, Run::threads(1)).unwrap()
        };
        for nonnegative in [true, false] {
            let all = codes(6, 1.0, nonnegative);
            let some = sharpened(&all, 4, 8.0, (&counts, &energies)).unwrap();
            assert_eq!(some, codes(4, 8.0, nonnegative));
        }
    }
}
