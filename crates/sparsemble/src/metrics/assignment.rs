//! The optimal assignment of rows to columns: the Hungarian method.

use crate::error::Result;
use crate::matrix::MatrixView;

/// Pairs each row with a column of its own, or each column with a row if those are fewer, so that the costs of the pairs
/// have the least sum. The pairs are in the order of the rows.
///
/// # Cost
/// O(n²m) for n × m costs, n ≤ m; the method of shortest augmenting paths.
///
/// # Errors
/// If a cost is not finite.
///
/// # Example
/// ```
/// use sparsemble::Matrix;
/// use sparsemble::metrics::optimal_assignment;
///
/// // Both rows are cheapest in column 0; row 1 gains more by it.
/// let costs = Matrix::from_columns(vec![1.0, 2.0, 3.0, 9.0], 2, 2)?;
/// assert_eq!(optimal_assignment(costs.view())?, [(0, 1), (1, 0)]);
/// # Ok::<(), sparsemble::Error>(())
/// ```
pub fn optimal_assignment(costs: MatrixView<'_, f64>) -> Result<Vec<(usize, usize)>> {
    costs.expect_finite("costs")?;
    let turned = costs.rows() > costs.columns();
    let costs = if turned { costs.transposed() } else { costs };
    let mut matching = Matching::new(costs);
    (0..costs.rows()).for_each(|row| matching.add(row));
    let mut pairs: Vec<(usize, usize)> =
        matching.row_of.iter().enumerate().filter_map(|(column, row)| row.map(|row| (row, column))).collect();
    if turned {
        for (row, column) in &mut pairs {
            std::mem::swap(row, column);
        }
    }
    pairs.sort_unstable();
    Ok(pairs)
}

/// Some rows with their columns, at the least cost for these rows, and prices that prove it: cost − u − v ≥ 0 everywhere
/// and = 0 for the pairs.
struct Matching<'a> {
    costs: MatrixView<'a, f64>,
    row_prices: Vec<f64>,
    column_prices: Vec<f64>,
    row_of: Vec<Option<usize>>,
}

impl<'a> Matching<'a> {
    fn new(costs: MatrixView<'a, f64>) -> Self {
        let (rows, columns) = (costs.rows(), costs.columns());
        Self { costs, row_prices: vec![0.0; rows], column_prices: vec![0.0; columns], row_of: vec![None; columns] }
    }

    /// Adds a row by the shortest path from it to a free column, over pairs that are exchanged along it.
    fn add(&mut self, row: usize) {
        let columns = self.row_of.len();
        let mut distances = vec![f64::INFINITY; columns];
        let mut from = vec![None; columns];
        let mut settled = vec![false; columns];
        let (mut at, mut via, mut length) = (row, None, 0.0);
        let end = loop {
            let mut nearest: Option<usize> = None;
            for column in (0..columns).filter(|&column| !settled[column]) {
                let reduced = self.costs.get(at, column) - self.row_prices[at] - self.column_prices[column];
                if length + reduced < distances[column] {
                    distances[column] = length + reduced;
                    from[column] = via;
                }
                if nearest.is_none_or(|nearest| distances[column] < distances[nearest]) {
                    nearest = Some(column);
                }
            }
            let Some(column) = nearest else { return };
            settled[column] = true;
            length = distances[column];
            match self.row_of[column] {
                Some(next) => (at, via) = (next, Some(column)),
                None => break column,
            }
        };
        self.reprice(row, &settled, &distances, length);
        let mut column = end;
        while let Some(before) = from[column] {
            self.row_of[column] = self.row_of[before];
            column = before;
        }
        self.row_of[column] = Some(row);
    }

    /// Keeps all reduced costs non-negative, and those along the path at zero.
    fn reprice(&mut self, row: usize, settled: &[bool], distances: &[f64], length: f64) {
        self.row_prices[row] += length;
        for column in (0..settled.len()).filter(|&column| settled[column]) {
            self.column_prices[column] -= length - distances[column];
            if let Some(row) = self.row_of[column] {
                self.row_prices[row] += length - distances[column];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Matrix;

    fn total(costs: &Matrix<f64>, pairs: &[(usize, usize)]) -> f64 {
        pairs.iter().map(|&(row, column)| costs.column(column)[row]).sum()
    }

    /// The least sum over all ways to give the rows from `row` on columns that are free.
    fn by_trying_all(costs: &Matrix<f64>, row: usize, free: &mut Vec<bool>) -> f64 {
        if row == costs.rows() {
            return 0.0;
        }
        let mut least = f64::INFINITY;
        for column in 0..costs.columns() {
            if std::mem::replace(&mut free[column], false) {
                least = least.min(costs.column(column)[row] + by_trying_all(costs, row + 1, free));
                free[column] = true;
            }
        }
        least
    }

    #[test]
    fn no_other_assignment_costs_less() {
        for case in 0..300_usize {
            let (rows, columns) = (case % 5, case % 5 + case % 3);
            let value = |r: usize, c: usize| ((case * 131 + r * 17 + c * 29) as f64 * 1.7).sin() * 9.0;
            // Integers in every other case, so that there are ties.
            let costs =
                Matrix::from_fn(rows, columns, |r, c| if case % 2 == 0 { value(r, c).round() } else { value(r, c) });
            let pairs = optimal_assignment(costs.view()).unwrap();
            assert_eq!(pairs.len(), rows);
            assert!(pairs.iter().enumerate().all(|(row, pair)| pair.0 == row));
            let expected = by_trying_all(&costs, 0, &mut vec![true; columns]);
            assert!((total(&costs, &pairs) - expected).abs() < 1e-12, "case {case}");
            let turned = optimal_assignment(costs.view().transposed()).unwrap();
            let turned: Vec<_> = turned.into_iter().map(|(row, column)| (column, row)).collect();
            assert!((total(&costs, &turned) - expected).abs() < 1e-12, "case {case}, turned");
        }
    }

    #[test]
    fn costs_that_are_no_numbers_are_refused() {
        assert!(optimal_assignment(Matrix::from_fn(2, 2, |_, _| f64::NAN).view()).is_err());
        assert_eq!(optimal_assignment(Matrix::zeros(0, 3).view()), Ok(Vec::new()));
        assert_eq!(optimal_assignment(Matrix::zeros(3, 0).view()), Ok(Vec::new()));
    }
}
