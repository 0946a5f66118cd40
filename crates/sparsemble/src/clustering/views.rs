//! Clusters made visible: the embedding as points in a plane, the graph as a picture.

use crate::eigen::Eigen;
use crate::error::{Error, Result, expect_size};
use crate::graph::Graph;
use crate::image::{GrayImage, Size, WHITE};
use crate::matrix::{Matrix, MatrixView};

/// The two directions in which points differ most: 2 × T coordinates, the first the longer one, their mean at zero.
///
/// Each axis points to where its longest point is.
///
/// # Shapes
/// Points of any dimension e in, e × T.
///
/// # Cost
/// e² multiply-adds a point.
///
/// # Errors
/// If there is no point or a coordinate is not finite.
///
/// # Example
/// ```
/// use sparsemble::Matrix;
/// use sparsemble::clustering::plane;
///
/// // Points along a diagonal of space: all of the plane's second coordinates are zero.
/// let points = Matrix::from_fn(3, 5, |_, i| i as f64);
/// let plane = plane(points.view())?;
/// assert!((0..5).all(|i| plane.column(i)[1].abs() < 1e-9));
/// assert!((plane.column(4)[0].abs() - 12.0_f64.sqrt()).abs() < 1e-9);
/// # Ok::<(), sparsemble::Error>(())
/// ```
pub fn plane(points: MatrixView<'_, f64>) -> Result<Matrix<f64>> {
    let (size, count) = (points.rows(), points.columns());
    if size == 0 || count == 0 {
        return Err(Error::Empty { what: "embedding", unit: "point" });
    }
    points.expect_finite("embedding")?;
    let points = points.to_matrix();
    let mut mean = vec![0.0; size];
    for i in 0..count {
        mean.iter_mut().zip(points.column(i)).for_each(|(mean, x)| *mean += x / count as f64);
    }
    let mut scatter = Matrix::zeros(size, size);
    for i in 0..count {
        let centred: Vec<f64> = points.column(i).iter().zip(&mean).map(|(x, mean)| x - mean).collect();
        for (c, &by) in centred.iter().enumerate() {
            scatter.column_mut(c).iter_mut().zip(&centred).for_each(|(sum, x)| *sum += by * x);
        }
    }
    let directions = Eigen::new(&scatter).vectors;
    let along = |i: usize, axis: usize| -> f64 {
        if axis >= size {
            return 0.0;
        }
        let terms = points.column(i).iter().zip(&mean).zip(directions.column(axis));
        terms.map(|((x, mean), direction)| (x - mean) * direction).sum()
    };
    let mut plane = Matrix::from_fn(2, count, |axis, i| along(i, axis));
    for axis in 0..2 {
        let longest =
            (0..count).map(|i| plane.column(i)[axis]).fold(0.0, |a: f64, b| if b.abs() > a.abs() { b } else { a });
        if longest < 0.0 {
            (0..count).for_each(|i| plane.column_mut(i)[axis] *= -1.0);
        }
    }
    Ok(plane)
}

/// A picture of a graph: `side` × `side` pixels, vertices in the order of their clusters, the darker the more weight is
/// between them. Clusters that are apart are dark squares along the diagonal.
///
/// Grey levels are by the square root of the mean weight, so that faint links show as well.
///
/// # Cost
/// A pass over the edges.
///
/// # Errors
/// If there is not one label for each vertex, or no vertex, or `side` is zero.
pub fn graph_picture(graph: &Graph, labels: &[u32], side: usize) -> Result<GrayImage> {
    expect_size("labels: number (that of the vertices)", graph.vertices(), labels.len())?;
    let count = graph.vertices();
    let side = side.min(count);
    if side == 0 {
        return Err(Error::parameter("side", side, "must be at least 1, and there must be a vertex"));
    }
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|&i| (labels[i], i));
    let mut cell_of = vec![0; count];
    order.iter().enumerate().for_each(|(place, &i)| cell_of[i] = place * side / count);
    let mut sizes = vec![0.0; side];
    for &cell in &cell_of {
        sizes[cell] += 1.0;
    }
    let mut sums = vec![0.0; side * side];
    for i in 0..count {
        let (neighbours, weights) = graph.row(i);
        for (&j, &weight) in neighbours.iter().zip(weights) {
            sums[cell_of[i] * side + cell_of[j as usize]] += f64::from(weight);
        }
    }
    let density = |row: usize, column: usize| (sums[row * side + column] / (sizes[row] * sizes[column])).sqrt();
    let most = (0..side * side).map(|cell| density(cell / side, cell % side)).fold(0.0, f64::max);
    let shade =
        |row: usize, column: usize| if most > 0.0 { WHITE * (1.0 - density(row, column) / most) } else { WHITE };
    GrayImage::from_fn(Size { width: side, height: side }, shade)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_that_are_apart_are_squares_along_the_diagonal() {
        // Two pairs, the vertices of which alternate.
        let graph = Graph::new(vec![0, 1, 2, 3, 4], vec![2, 3, 0, 1], vec![1.0, 0.25, 1.0, 0.25]).unwrap();
        let picture = graph_picture(&graph, &[0, 1, 0, 1], 2).unwrap();
        assert_eq!(picture.samples(), [0.0, 255.0, 255.0, 127.5]);
        let finer = graph_picture(&graph, &[0, 1, 0, 1], 100).unwrap();
        assert_eq!(finer.size(), Size { width: 4, height: 4 });
        let none = Graph::new(vec![0, 0, 0], vec![], vec![]).unwrap();
        assert_eq!(graph_picture(&none, &[0, 0], 1).unwrap().samples(), [255.0]);
        assert!(graph_picture(&none, &[0], 1).is_err() && graph_picture(&none, &[0, 0], 0).is_err());
    }

    #[test]
    fn the_plane_keeps_the_distances_of_points_that_lie_in_one() {
        let points = Matrix::from_fn(4, 9, |r, i| [(i as f64).sin(), 2.0, 0.5 * (i as f64).cos(), 0.0][r]);
        let found = plane(points.view()).unwrap();
        let distance = |matrix: &Matrix<f64>, i: usize, j: usize| -> f64 {
            matrix.column(i).iter().zip(matrix.column(j)).map(|(a, b)| (a - b).powi(2)).sum()
        };
        for (i, j) in [(0, 1), (2, 7), (8, 4)] {
            assert!((distance(&points, i, j) - distance(&found, i, j)).abs() < 1e-9);
        }
        assert_eq!(plane(Matrix::from_fn(1, 2, |_, i| i as f64).view()).unwrap().column(1)[1], 0.0);
        assert!(plane(Matrix::zeros(0, 3).view()).is_err());
        assert!(plane(Matrix::from_fn(2, 2, |_, _| f64::NAN).view()).is_err());
    }
}
