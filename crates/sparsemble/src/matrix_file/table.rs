//! `.csv`: numbers as text, a sample a line.

use std::io::{self, BufRead, BufReader, Read, Write};

use crate::scalar::Scalar;

use super::storage::{MatrixFile, Order};
use crate::reason::{Outcome, quoted};

/// What stands between two numbers, in the order it is looked for; without any of them it is white space.
const SEPARATORS: [char; 3] = ['\t', ';', ','];
/// What some programs begin a file with.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Reads the samples of a table. Its separator is a tab, a semicolon or a comma, whichever of them its first line has, in
/// this order, else white space; a first line without any number is a header; empty lines and those that start with `#` are passed over.
pub(super) fn read<T: Scalar>(file: impl Read) -> Outcome<MatrixFile<T>> {
    let mut file = BufReader::new(file);
    let mut samples = Samples { values: Vec::new(), shape: (0, 0) };
    let (mut bytes, mut separator) = (Vec::new(), None);
    for number in 1_u64.. {
        bytes.clear();
        if file.read_until(b'\n', &mut bytes)? == 0 {
            break;
        }
        let text = String::from_utf8_lossy(&bytes);
        let line = text.trim_start_matches(BYTE_ORDER_MARK).trim_end_matches(['\r', '\n']);
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let first = separator.is_none();
        let separator = *separator.get_or_insert_with(|| separator_of(line));
        let fields = || fields(line, separator);
        // A first line with some numbers is taken for a sample, so that none is lost silently.
        let header = first && fields().all(|field| value(field).is_err());
        if !header {
            samples.push(number, fields())?;
        }
    }
    if samples.shape.1 == 0 {
        return Err("the table holds no numbers; give a sample a line".into());
    }
    Ok(MatrixFile::owned(samples.values, samples.shape, Order::Rows)?)
}

/// Writes a table without a header; every number is written so that it is read again as itself.
pub(super) fn write<T: Scalar>(
    file: &mut dyn Write,
    (n_rows, n_columns): (usize, usize),
    mut fill: impl FnMut(usize, &mut [T]),
) -> io::Result<()> {
    let mut row = vec![T::ZERO; n_columns];
    for index in 0..n_rows {
        row.fill(T::ZERO);
        fill(index, &mut row);
        for (place, value) in row.iter().enumerate() {
            let separator = if place == 0 { "" } else { "," };
            write!(file, "{separator}{value:?}")?;
        }
        writeln!(file)?;
    }
    Ok(())
}

/// What has been read so far.
struct Samples<T> {
    values: Vec<T>,
    /// The number of features and of samples.
    shape: (usize, usize),
}

impl<T: Scalar> Samples<T> {
    fn push<'a>(&mut self, line: u64, fields: impl Iterator<Item = &'a str>) -> Outcome<()> {
        let before = self.values.len();
        for (column, field) in (1..).zip(fields) {
            let value = value(field).map_err(|what| format!("line {line}, column {column}: {what}"))?;
            self.values.push(T::from_f64(value));
        }
        let (found, (expected, count)) = (self.values.len() - before, self.shape);
        if count > 0 && found != expected {
            return Err(format!("line {line} has {found} columns, those before it {expected}; give all as many").into());
        }
        self.shape = (found, count + 1);
        Ok(())
    }
}

fn value(field: &str) -> Result<f64, String> {
    if field.is_empty() {
        return Err("the value is missing; give a number in every column, or leave the line out".into());
    }
    field.parse().map_err(|_| {
        let hint = if field.contains(',') { " with a decimal point" } else { ", or leave the column or line out" };
        format!("{} is not a number; give one{hint}", quoted(field))
    })
}

/// A field without the spaces and the quotation marks around it.
fn unquoted(field: &str) -> &str {
    let field = field.trim();
    field.strip_prefix('"').and_then(|field| field.strip_suffix('"')).map_or(field, str::trim)
}

/// `None` is white space.
fn separator_of(line: &str) -> Option<char> {
    SEPARATORS.into_iter().find(|separator| line.contains(*separator))
}

fn fields(line: &str, separator: Option<char>) -> impl Iterator<Item = &str> {
    let by_character = separator.map(|separator| line.split(separator).map(unquoted));
    let by_space = separator.is_none().then(|| line.split_whitespace().map(unquoted));
    by_character.into_iter().flatten().chain(by_space.into_iter().flatten())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Matrix;

    fn table(text: &str) -> Outcome<Matrix<f64>> {
        Ok(read(text.as_bytes())?.to_matrix())
    }

    #[test]
    fn separators_headers_comments_and_line_ends_are_found_out() {
        let expected = Matrix::from_columns(vec![1.0, -2.5, 1e-3, 4.0], 2, 2).unwrap();
        for text in [
            "1,-2.5\n0.001,4\n",
            "a,b\n1,-2.5\n0.001,4",
            "1;-2.5\r\n0.001;4\r\n",
            "\"width\"\t\"height\"\n1\t-2.5\n1E-3\t4.0\n",
            "\u{feff}a, b\n\n 1 , -2.5\n\n+1e-3,\"4\"\n\n",
            "# made by numpy.savetxt\n1,-2.5\n# half way\n0.001,4\n",
            "1.000e+00 -2.5\n  0.001   4\n",
            "width height\n1 -2.5\n0.001 4\n",
        ] {
            assert_eq!(table(text).unwrap(), expected, "{text:?}");
        }
        assert_eq!(table("7\n8\n9\n").unwrap(), Matrix::from_columns(vec![7.0, 8.0, 9.0], 1, 3).unwrap());
    }

    #[test]
    fn what_is_not_a_number_is_named_by_line_and_column() {
        for (text, message) in [
            ("1,2\n3,four\n", "line 2, column 2: \"four\" is not a number"),
            ("a,b\n1,2\n\n,4\n", "line 4, column 1: the value is missing"),
            ("1,2\n3\n", "line 2 has 1 columns, those before it 2"),
            ("1,2\n3,4,5\n", "line 2 has 3 columns"),
            ("1\t2\n3\t\n", "line 2, column 2: the value is missing"),
            ("1;2,5\n", "line 1, column 2: \"2,5\" is not a number; give one with a decimal point"),
            ("1,2\n3 4\n", "line 2, column 1: \"3 4\" is not a number"),
            ("1 2\n3,4\n", "line 2, column 1: \"3,4\" is not a number; give one with a decimal point"),
            ("x,2\n3,4\n", "line 1, column 1: \"x\" is not a number"),
            ("", "no numbers"),
            ("a,b\n", "no numbers"),
            ("\u{0}\u{1}\u{2}", "no numbers"),
        ] {
            let reason = format!("{:?}", table(text).unwrap_err()).replace("\\\"", "\"");
            assert!(reason.contains(message), "{text:?}: {reason}");
        }
    }

    #[test]
    fn missing_numbers_may_be_written_as_nan() {
        let samples = table("1,nan\n-inf,2\n").unwrap();
        assert!(samples.column(0)[1].is_nan() && samples.column(1)[0].is_infinite());
    }
}
