//! `.csv`: numbers as text, a sample a line.

use std::io::{self, BufRead, BufReader, Read, Seek, Write};

use csv::{ByteRecord, ReaderBuilder, Trim};

use crate::scalar::Scalar;

use super::reason::{Outcome, Reason, quoted};
use super::storage::{MatrixFile, Order};

/// The longest beginning of a file in which a separator is looked for.
const BEGINNING: u64 = 1 << 20;

/// Reads the samples of a table. Its separator is a tab, a semicolon or a comma, whichever of them its first line has, in
/// this order; a first line without any number is a header; lines that start with `#` are comments.
pub(super) fn read<T: Scalar>(mut file: impl Read + Seek) -> Outcome<MatrixFile<T>> {
    let separator = separator(&mut file)?;
    file.rewind()?;
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .comment(Some(b'#'))
        .trim(Trim::All)
        .delimiter(separator)
        .from_reader(file);
    let mut lines = Lines { values: Vec::new(), n_features: 0, n_samples: 0 };
    let mut record = ByteRecord::new();
    let mut first = true;
    while reader.read_byte_record(&mut record)? {
        let blank = record.len() == 1 && record[0].is_empty();
        let header = first && is_header(&record);
        if !blank && !header {
            lines.push(&record)?;
        }
        first &= blank;
    }
    if lines.n_samples == 0 {
        return Err("the table holds no numbers; give a sample a line".into());
    }
    Ok(MatrixFile::owned(lines.values, (lines.n_features, lines.n_samples), Order::Rows)?)
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
struct Lines<T> {
    values: Vec<T>,
    n_features: usize,
    n_samples: usize,
}

impl<T: Scalar> Lines<T> {
    fn push(&mut self, record: &ByteRecord) -> Outcome<()> {
        let line = record.position().map_or(0, csv::Position::line);
        if self.n_samples == 0 {
            self.n_features = record.len();
        } else if record.len() != self.n_features {
            let (found, expected) = (record.len(), self.n_features);
            return Err(
                format!("line {line} has {found} columns, those before it {expected}; give all lines as many").into()
            );
        }
        for (column, field) in (1..).zip(record) {
            self.values.push(T::from_f64(
                number(field).map_err(|what| Reason::from(format!("line {line}, column {column}: {what}")))?,
            ));
        }
        self.n_samples += 1;
        Ok(())
    }
}

fn number(field: &[u8]) -> Result<f64, String> {
    if field.is_empty() {
        return Err("the value is missing; give a number in every column, and leave the line out otherwise".into());
    }
    let text = String::from_utf8_lossy(field);
    text.parse().map_err(|_| {
        let hint = if text.contains(',') { " with a decimal point" } else { ", or leave the column or line out" };
        format!("{} is not a number; give one{hint}", quoted(&text))
    })
}

/// Whether no field is a number. A first line with some numbers is taken for a sample, so that none is lost silently.
fn is_header(record: &ByteRecord) -> bool {
    record.iter().all(|field| number(field).is_err())
}

/// The separator of the first line that is neither empty nor a comment.
fn separator(file: &mut impl Read) -> Outcome<u8> {
    let mut beginning = BufReader::new(file.take(BEGINNING));
    let mut line = Vec::new();
    while beginning.read_until(b'\n', &mut line)? > 0 {
        if line.iter().find(|byte| !byte.is_ascii_whitespace()).is_some_and(|&byte| byte != b'#') {
            break;
        }
        line.clear();
    }
    Ok([b'\t', b';', b','].into_iter().find(|separator| line.contains(separator)).unwrap_or(b','))
}

impl From<csv::Error> for Reason {
    fn from(error: csv::Error) -> Self {
        match error.into_kind() {
            csv::ErrorKind::Io(error) => error.into(),
            other => format!("the table is damaged: {}", quoted(&format!("{other:?}"))).into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Matrix;
    use std::io::Cursor;

    fn table(text: &str) -> Outcome<Matrix<f64>> {
        Ok(read(Cursor::new(text.as_bytes().to_vec()))?.to_matrix())
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
            ("1;2,5\n", "line 1, column 2: \"2,5\" is not a number; give one with a decimal point"),
            ("1 2\n3 4\n5 6\n", "line 2, column 1: \"3 4\" is not a number"),
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
