//! `.csv`: numbers as text, a sample a line.

use std::io::{self, BufRead, BufReader, Read, Write};

use crate::scalar::Scalar;

use super::location::listed;
use super::storage::{MatrixFile, Order};
use crate::reason::{Outcome, quoted};

/// What stands between two numbers, in the order it is looked for; without any of them it is white space.
const SEPARATORS: [char; 3] = ['\t', ';', ','];
/// What some programs begin a file with.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// What a table holds.
#[derive(Debug)]
pub(super) struct Table<T> {
    pub(super) samples: MatrixFile<T>,
    /// The names of the features; none if there is no header.
    pub(super) names: Vec<String>,
    /// What stands in the column of the classes, if one was asked for: a text for each sample.
    pub(super) classes: Vec<String>,
}

/// Reads a table. Its separator is a tab, a semicolon or a comma, whichever of them its first line has, in this order,
/// else white space; a first line without any number, or one that counts its columns from 0, is a header; empty lines and those that start with `#` are passed
/// over. The column with the classes, by its name or its number from 1, is no feature and need not hold numbers.
pub(super) fn read<T: Scalar>(file: impl Read, classes: Option<&str>) -> Outcome<Table<T>> {
    let mut file = BufReader::new(file);
    let mut samples = Samples { values: Vec::new(), shape: (0, 0), classes: Vec::new() };
    let (mut bytes, mut layout) = (Vec::new(), None::<Layout>);
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
        let first = layout.is_none();
        let layout = match &mut layout {
            Some(layout) => &*layout,
            none => &*none.insert(Layout::of(line, classes)?),
        };
        if !(first && layout.has_header) {
            samples.push(number, fields(line, layout.separator), layout.classes)?;
        }
    }
    if samples.shape.1 == 0 || samples.shape.0 == 0 {
        return Err("the table holds no numbers; give a sample a line".into());
    }
    let names = layout.map(|layout| layout.names).unwrap_or_default();
    let file = MatrixFile::owned(samples.values, samples.shape, Order::Rows)?;
    Ok(Table { samples: file, names, classes: samples.classes })
}

/// What the first line of a table tells.
struct Layout {
    /// `None` is white space.
    separator: Option<char>,
    /// Whether the first line is no sample.
    has_header: bool,
    /// Those of the features in the header.
    names: Vec<String>,
    /// The column of the classes, from 0.
    classes: Option<usize>,
}

impl Layout {
    fn of(line: &str, classes: Option<&str>) -> Outcome<Self> {
        let separator = SEPARATORS.into_iter().find(|separator| fields(line, Some(*separator)).nth(1).is_some());
        // Any other first line with numbers is taken for a sample, so that none is lost silently.
        let has_header = fields(line, separator).all(|field| value(field).is_err()) || counts(fields(line, separator));
        let mut names: Vec<String> =
            if has_header { fields(line, separator).map(str::to_owned).collect() } else { Vec::new() };
        let n_columns = fields(line, separator).count();
        let find = |wanted: &str| {
            let by_name = names.iter().position(|name| name == wanted);
            let by_number = || wanted.parse::<usize>().ok()?.checked_sub(1).filter(|&column| column < n_columns);
            by_name.or_else(by_number).ok_or_else(|| no_column(wanted, &names, n_columns))
        };
        let classes = classes.map(find).transpose()?;
        if let Some(column) = classes.filter(|_| has_header) {
            names.remove(column);
        }
        Ok(Self { separator, has_header, names, classes })
    }
}

/// Whether these are the numbers from 0 on, as pandas calls columns without names, perhaps after the nameless one of the rows.
fn counts<'a>(fields: impl Iterator<Item = &'a str>) -> bool {
    let mut fields = fields.peekable();
    let rows = fields.next_if(|first| first.is_empty()).is_some();
    let (mut expected, mut right) = (0_usize, true);
    for field in fields {
        right &= field.parse() == Ok(expected);
        expected += 1;
    }
    // Two numbers may be a sample; a third one in line is no accident.
    right && expected >= if rows { 1 } else { 3 }
}

fn no_column(wanted: &str, names: &[String], n_columns: usize) -> String {
    let known = if names.is_empty() {
        format!("the table has no header; give a number from 1 to {n_columns}")
    } else {
        format!("the header has {}", listed(names))
    };
    format!("there is no column {}; {known}", quoted(wanted))
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
    /// Those of all samples, if there is a column of them.
    classes: Vec<String>,
}

impl<T: Scalar> Samples<T> {
    fn push<'a>(&mut self, line: u64, fields: impl Iterator<Item = &'a str>, classes: Option<usize>) -> Outcome<()> {
        let before = self.values.len();
        for (column, field) in fields.enumerate() {
            if Some(column) == classes {
                if field.is_empty() {
                    let column = column + 1;
                    return Err(
                        format!("line {line}, column {column}: the class is missing; leave the line out").into()
                    );
                }
                self.classes.push(field.to_owned());
                continue;
            }
            let value = value(field).map_err(|what| format!("line {line}, column {}: {what}", column + 1))?;
            self.values.push(T::from_f64(value));
        }
        let (found, (expected, count)) = (self.values.len() - before, self.shape);
        let (others, complete) = (usize::from(classes.is_some()), classes.is_none() || self.classes.len() == count + 1);
        if !complete || (count > 0 && found != expected) {
            let (found, expected) = (found + usize::from(classes.is_some() && complete), expected + others);
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

/// The fields of a line; separators between quotation marks separate nothing.
fn fields(line: &str, separator: Option<char>) -> impl Iterator<Item = &str> {
    let mut within_quotes = false;
    let separates = move |c: char| {
        within_quotes ^= c == '"';
        !within_quotes && separator.map_or(c.is_whitespace(), |separator| c == separator)
    };
    line.split(separates).filter(move |field| separator.is_some() || !field.is_empty()).map(unquoted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Matrix;

    fn table(text: &str) -> Outcome<Matrix<f64>> {
        Ok(read(text.as_bytes(), None)?.samples.to_matrix())
    }

    #[test]
    fn the_column_of_the_classes_is_no_feature() {
        for (text, column) in [
            ("a,kind,b\n1,x,2\n3,y y,4\n", "kind"),
            ("a,kind,b\n1,x,2\n3,y y,4\n", "2"),
            ("1,x,2\n3,y y,4\n", "2"),
            ("1;2;\"x\"\n3;4;\"y y\"\n", "3"),
        ] {
            let table = read::<f64>(text.as_bytes(), Some(column)).unwrap();
            assert_eq!(table.samples.to_matrix().as_slice(), [1.0, 2.0, 3.0, 4.0], "{text:?}");
            assert_eq!(table.classes, ["x", "y y"]);
            assert!(table.names.is_empty() || table.names == ["a", "b"]);
        }
        for (text, column, message) in [
            ("a,b\n1,2\n", "c", "there is no column \"c\"; the header has \"a\", \"b\""),
            ("1,2\n", "c", "there is no column \"c\"; the table has no header; give a number from 1 to 2"),
            ("1,2\n", "3", "there is no column \"3\""),
            ("1,2\n", "0", "there is no column \"0\""),
            ("1,2,x\n3,4\n", "3", "line 2 has 2 columns, those before it 3"),
            ("1,x\n3\n", "2", "line 2 has 1 columns, those before it 2"),
            ("1,x\n3,4,5\n", "2", "line 2 has 3 columns, those before it 2"),
            ("x\ny\n", "x", "no numbers"),
            ("1,x\n3,\n", "2", "line 2, column 2: the class is missing"),
        ] {
            let reason = format!("{:?}", read::<f64>(text.as_bytes(), Some(column)).unwrap_err()).replace("\\\"", "\"");
            assert!(reason.contains(message), "{text:?}: {reason}");
        }
    }

    #[test]
    fn separators_between_quotation_marks_separate_nothing() {
        for text in ["1,\"x, y\",2\n3,z,4\n", "1 \"x, y\" 2\n3 z 4\n"] {
            let table = read::<f64>(text.as_bytes(), Some("2")).unwrap();
            assert_eq!(table.samples.to_matrix().as_slice(), [1.0, 2.0, 3.0, 4.0], "{text:?}");
            assert_eq!(table.classes, ["x, y", "z"]);
        }
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
        assert_eq!(table("0,1,2\n7,8,9\n").unwrap(), Matrix::from_columns(vec![7.0, 8.0, 9.0], 3, 1).unwrap());
        assert_eq!(table(",0,1\n0,8,9\n").unwrap(), Matrix::from_columns(vec![0.0, 8.0, 9.0], 3, 1).unwrap());
        assert_eq!(table("0,1\n8,9\n").unwrap(), Matrix::from_columns(vec![0.0, 1.0, 8.0, 9.0], 2, 2).unwrap());
        assert_eq!(table("0,1,3\n").unwrap(), Matrix::from_columns(vec![0.0, 1.0, 3.0], 3, 1).unwrap());
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
