//! Samples with their classes: a column of a table, or another array of the same file.

use std::path::Path;

use crate::blocks::Run;
use crate::error::{Error, Result, expect_size};
use crate::files;
use crate::matrix::Matrix;
use crate::scalar::Scalar;

use super::archive::Archive;
use super::location::{Format, Location, choose};
use super::storage::{MatrixFile, Order};
use super::{expect_format, mat, read_watched, table, watched};

/// The samples of a file, and what else it says of them.
#[derive(Debug)]
pub struct LabelledSamples<T> {
    /// The samples, without the classes.
    pub samples: MatrixFile<T>,
    /// The names of the features; none if the file has none.
    pub names: Vec<String>,
    /// The classes, if they were asked for.
    pub classes: Option<Classes>,
}

/// To which class each sample belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classes {
    /// The number of each sample's class, from 0.
    pub of_samples: Vec<u32>,
    /// What the classes are called: in the order of their numbers if all are numbers, else in that of the alphabet.
    pub names: Vec<String>,
}

impl Classes {
    /// Numbers classes that are given by their names, one for each sample.
    pub fn of_names(of_samples: &[String]) -> Self {
        let mut names: Vec<&String> = of_samples.iter().collect();
        names.sort_unstable();
        names.dedup();
        let number = |name: &&String| name.parse::<f64>().ok().filter(|number| number.is_finite());
        if names.iter().all(|name| number(name).is_some()) {
            names.sort_by(|a, b| number(a).unwrap_or_default().total_cmp(&number(b).unwrap_or_default()));
        }
        let places: std::collections::HashMap<&String, u32> = names.iter().copied().zip(0..).collect();
        Self {
            of_samples: of_samples.iter().map(|name| places[name]).collect(),
            names: names.into_iter().cloned().collect(),
        }
    }
}

/// Reads the samples of a file as [`read`](super::read) does, and their classes.
///
/// `classes` names them: in a `.csv` file a column, by its name in the header or its number from 1; in a `.npy` file a
/// column by its number; in `.npz` and `.mat` files another array of the same file, with one entry for each sample. In a
/// `.csv` file they may be any text, elsewhere they are numbers.
///
/// # Errors
/// As [`read`](super::read); if there are no such classes, or not one for each sample.
///
/// # Example
/// ```
/// use sparsemble::matrix_file::read_labelled;
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("flowers.csv");
/// std::fs::write(&path, "petal,sepal,kind\n1.4,5.1,setosa\n4.7,7.0,versicolor\n1.3,4.9,setosa\n").unwrap();
/// let flowers = read_labelled::<f64>(&path, Some("kind"))?;
/// assert_eq!(flowers.names, ["petal", "sepal"]);
/// assert_eq!(flowers.classes.unwrap().of_samples, [0, 1, 0]);
/// # Ok::<(), sparsemble::Error>(())
/// ```
pub fn read_labelled<T: Scalar>(location: impl AsRef<Path>, classes: Option<&str>) -> Result<LabelledSamples<T>> {
    read_labelled_watched(location, classes, Run::default())
}

/// The same for a file that takes its time: `run` is told how many of its bytes are read, and may end it.
///
/// # Errors
/// As [`read_labelled`]; [`Error::Interrupted`].
pub fn read_labelled_watched<T: Scalar>(
    location: impl AsRef<Path>,
    classes: Option<&str>,
    run: Run<'_>,
) -> Result<LabelledSamples<T>> {
    let place = Location::parse(location.as_ref())?;
    if place.format == Format::Csv {
        let (file, _) = watched::open(&place.path, run)?;
        let table = table::read(file, classes).map_err(|reason| reason.about_data(&place.path))?;
        let found = classes.map(|_| Classes::of_names(&table.classes));
        return Ok(LabelledSamples { samples: table.samples, names: table.names, classes: found });
    }
    let samples = read_watched::<T>(location.as_ref(), run)?;
    let (samples, classes) = match classes {
        None => (samples, None),
        Some(column) if place.format == Format::Npy => {
            let (samples, classes) = split(&samples, column, &place.path)?;
            (samples, Some(classes))
        }
        Some(name) => {
            let classes =
                if place.format == Format::Npz { array(&place.path, name) } else { matrix(&place.path, name) }?;
            expect_size("classes (entries of their array, one for each sample)", samples.n_samples(), classes.len())?;
            (samples, Some(classes))
        }
    };
    let classes = classes.map(|values| Classes::of_names(&values.iter().map(ToString::to_string).collect::<Vec<_>>()));
    Ok(LabelledSamples { samples, names: Vec::new(), classes })
}

/// Writes the cluster of each sample to a `.csv` file: the header `cluster`, then a line a sample.
///
/// # Errors
/// As [`write()`](super::write()).
pub fn write_clusters(path: impl AsRef<Path>, clusters: &[u32]) -> Result<()> {
    expect_clusters_name(&path)?;
    files::write_atomically(path.as_ref(), |file| {
        writeln!(file, "cluster")?;
        clusters.iter().try_for_each(|cluster| writeln!(file, "{cluster}"))
    })
}

/// Whether [`write_clusters`] could write a file of this name: worth asking before long work.
///
/// # Errors
/// [`Error::Data`] if not.
pub fn expect_clusters_name(path: impl AsRef<Path>) -> Result<()> {
    expect_format(path.as_ref(), &[Format::Csv], ".csv")
}

/// The values of an array in a `.npz` file, of any number of dimensions.
fn array(path: &Path, name: &str) -> Result<Vec<f64>> {
    let (file, length) = files::open(path)?;
    let values = Archive::open(file, length).and_then(|mut archive| {
        let name = choose(&archive.names(), Some(name))?;
        Ok(archive.elements(&name, |number| Ok(number.scalar()))?.1)
    });
    values.map_err(|reason| reason.about_data(path))
}

/// The values of a matrix in a `.mat` file.
fn matrix(path: &Path, name: &str) -> Result<Vec<f64>> {
    let (file, length) = files::open(path)?;
    let matrix = mat::samples::<f64>(file, length, Some(name)).map_err(|reason| reason.about_data(path))?;
    Ok(matrix.to_matrix().into_vec())
}

/// The samples without one of their columns, which is given by its number from 1, and that column.
fn split<T: Scalar>(samples: &MatrixFile<T>, column: &str, path: &Path) -> Result<(MatrixFile<T>, Vec<f64>)> {
    let (n_features, n_samples) = (samples.n_features(), samples.n_samples());
    let number = column.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    let Some(number) = number.filter(|&number| number < n_features && n_features > 1) else {
        let reason = format!("there is no column \"{column}\" beside others; give a number from 1 to {n_features}");
        return Err(Error::Data { name: path.display().to_string(), reason });
    };
    let mut all: Matrix<T> = samples.to_matrix();
    let mut classes = Vec::with_capacity(n_samples);
    let mut kept = Vec::with_capacity((n_features - 1) * n_samples);
    for i in 0..n_samples {
        let column = all.column_mut(i);
        classes.push(column[number].to_f64());
        kept.extend(column.iter().enumerate().filter(|(feature, _)| *feature != number).map(|(_, &value)| value));
    }
    Ok((MatrixFile::owned(kept, (n_features - 1, n_samples), Order::Rows)?, classes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_in_the_order_of_numbers_or_of_the_alphabet() {
        let of = |names: &[&str]| Classes::of_names(&names.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(of(&["10", "9", "10", "-1"]).names, ["-1", "9", "10"]);
        assert_eq!(of(&["10", "9", "10", "-1"]).of_samples, [2, 1, 2, 0]);
        assert_eq!(of(&["10", "b", "9"]).names, ["10", "9", "b"]);
        assert_eq!(of(&[]), Classes { of_samples: Vec::new(), names: Vec::new() });
    }

    #[test]
    fn classes_come_from_columns_and_from_arrays() {
        let folder = tempfile::tempdir().unwrap();
        let samples = Matrix::from_fn(3, 4, |r, i| if r == 1 { (i % 2) as f64 } else { (10 * i + r) as f64 });
        let path = folder.path().join("x.npy");
        super::super::write(&path, samples.view()).unwrap();
        let found = read_labelled::<f64>(&path, Some("2")).unwrap();
        assert_eq!(found.samples.to_matrix().as_slice(), [0.0, 2.0, 10.0, 12.0, 20.0, 22.0, 30.0, 32.0]);
        assert_eq!(found.classes.unwrap().of_samples, [0, 1, 0, 1]);
        assert!(read_labelled::<f64>(&path, Some("4")).is_err() && read_labelled::<f64>(&path, Some("x")).is_err());

        let path = folder.path().join("x.npz");
        let classes = Matrix::from_columns(vec![3.0, 1.0, 1.0, 3.0], 1, 4).unwrap();
        super::super::write_arrays(&path, &[("x", samples.view()), ("y", classes.view())]).unwrap();
        let named = folder.path().join("x.npz:x");
        let found = read_labelled::<f64>(&named, Some("y")).unwrap();
        assert_eq!(
            found.classes.unwrap(),
            Classes { of_samples: vec![1, 0, 0, 1], names: vec!["1".into(), "3".into()] }
        );
        assert!(read_labelled::<f64>(&named, Some("x")).is_err() && read_labelled::<f64>(&named, Some("z")).is_err());
        assert!(read_labelled::<f64>(&named, None).unwrap().classes.is_none());
    }
}
