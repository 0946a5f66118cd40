//! Options of the form `name=value`, and matrices in files: raw little-endian `f32`, column after column.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::str::FromStr;

use anyhow::{Context, Result, ensure};
use sparsemble::Matrix;

/// What was given on the command line.
#[derive(Debug)]
pub(crate) struct Options<'a>(BTreeMap<&'a str, &'a str>);

impl<'a> Options<'a> {
    /// Reads `name=value` arguments.
    pub(crate) fn parse(arguments: &[&'a str]) -> Result<Self> {
        let pair = |argument: &&'a str| argument.split_once('=').with_context(|| format!("{argument:?} has no `=`"));
        Ok(Self(arguments.iter().map(pair).collect::<Result<_>>()?))
    }

    /// The text of an option.
    pub(crate) fn text(&self, name: &str) -> Result<&'a str> {
        self.0.get(name).copied().with_context(|| format!("the option `{name}=` is missing"))
    }

    /// The value of an option, read from its text.
    pub(crate) fn parsed<N: FromStr>(&self, name: &str) -> Result<N> {
        let text = self.text(name)?;
        text.parse().ok().with_context(|| format!("{name}={text} cannot be read"))
    }

    /// The values of an option, with commas between them.
    pub(crate) fn list<N: FromStr>(&self, name: &str) -> Result<Vec<N>> {
        let text = self.text(name)?;
        let values = text.split(',').map(|value| value.parse().ok());
        values.collect::<Option<_>>().with_context(|| format!("{name}={text} cannot be read"))
    }

    /// The matrix in the file of this name, with `features=` rows.
    pub(crate) fn matrix(&self, name: &str) -> Result<Matrix<f32>> {
        let (path, features) = (self.text(name)?, self.parsed::<usize>("features")?);
        let file = File::open(path).with_context(|| format!("reading {path}"))?;
        let count = usize::try_from(file.metadata()?.len())? / size_of::<f32>();
        ensure!(features > 0 && count.is_multiple_of(features), "{path} does not hold f32 columns of {features}");
        // Word by word, so that the samples are never in memory twice and the most of a learner shows.
        let (mut file, mut word) = (BufReader::new(file), [0; size_of::<f32>()]);
        let mut values = Vec::with_capacity(count);
        while values.len() < count {
            file.read_exact(&mut word)?;
            values.push(f32::from_le_bytes(word));
        }
        let columns = values.len() / features;
        Ok(Matrix::from_columns(values, features, columns)?)
    }

    /// Writes the matrix to the file `output=` names, with this ending, if it names one.
    pub(crate) fn write(&self, ending: &str, matrix: &Matrix<f32>) -> Result<()> {
        self.write_bytes(ending, matrix.as_slice().iter().flat_map(|value| value.to_le_bytes()))
    }

    /// The same for anything in bytes.
    pub(crate) fn write_bytes(&self, ending: &str, bytes: impl Iterator<Item = u8>) -> Result<()> {
        let Some(output) = self.0.get("output") else { return Ok(()) };
        let path = format!("{output}{ending}");
        std::fs::write(&path, bytes.collect::<Vec<u8>>()).with_context(|| format!("writing {path}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_comes_back_as_it_was_written() {
        let path = std::env::temp_dir().join(format!("sparsemble-bench-{}", std::process::id()));
        let [samples, output] = ["samples", "output"].map(|name| format!("{name}={}", path.display()));
        let arguments = [samples.as_str(), output.as_str(), "features=3"];
        let options = Options::parse(&arguments).unwrap();
        let matrix = Matrix::from_fn(3, 5, |r, c| r as f32 - 0.1 * c as f32);
        options.write("", &matrix).unwrap();
        assert_eq!(options.matrix("samples").unwrap(), matrix);
        std::fs::remove_file(path).unwrap();
        assert!(options.parsed::<usize>("atoms").is_err() && Options::parse(&["atoms"]).is_err());
    }

    #[test]
    fn a_list_has_commas_and_no_gaps() {
        let options = Options::parse(&["powers=0,1.5,20", "vectors=10,,20"]).unwrap();
        assert_eq!(options.list::<f64>("powers").unwrap(), [0.0, 1.5, 20.0]);
        assert!(options.list::<usize>("vectors").is_err() && options.list::<usize>("atoms").is_err());
    }
}
