//! Eigenvectors as coordinates of the vertices.

use crate::dictionary::normalise;
use crate::matrix::Matrix;

use super::Eigenvectors;

/// The smallest that a ratio of eigenvalues counts as.
const LEAST_RATIO: f64 = 1e-6;

impl Eigenvectors {
    /// Coordinates of the vertices in the first `vectors` eigenvectors: Z_i = (u_ij · clip(λ_j / λ_1, 10⁻⁶, 1)^t)_j, made
    /// of norm 1; vectors × T.
    ///
    /// A vertex without edges has the coordinates zero, and so has one in a component whose vector is not among these.
    /// With t = `power` = 0 this is the embedding of Ng, Jordan and Weiss. With a larger power the vectors count by
    /// how long a random walk of t steps remembers them, so that some too many do no harm.
    ///
    /// More vectors than there are count as all of them.
    pub fn embedding(&self, vectors: usize, power: f64) -> Matrix<f64> {
        let vectors = vectors.min(self.values.len());
        let weight = |value: f64| (value / self.values[0]).clamp(LEAST_RATIO, 1.0).powf(power);
        let weights: Vec<f64> = self.values[..vectors].iter().map(|&value| weight(value)).collect();
        let mut embedding = Matrix::zeros(vectors, self.vectors.columns());
        for i in 0..self.vectors.columns() {
            let out = embedding.column_mut(i);
            out.iter_mut().zip(self.vectors.column(i)).zip(&weights).for_each(|((out, u), weight)| *out = u * weight);
            normalise(out);
        }
        // What the eigenvectors have at vertices without edges is rounding, or belongs to the eigenvalue 0.
        self.isolated.iter().for_each(|&i| embedding.column_mut(i as usize).fill(0.0));
        embedding
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_weighted_by_eigenvalues_and_of_norm_one() {
        // Vertices (3, 4), (1e-200, 0), (0, 0) and one without edges.
        let vectors = Matrix::from_columns(vec![3.0, 4.0, 1e-200, 0.0, 0.0, 0.0, 1e-9, 1e-9], 2, 4).unwrap();
        let found = Eigenvectors {
            values: vec![1.0, 0.5],
            vectors,
            residual: 0.0,
            converged: true,
            products: 0,
            components: 1,
            isolated: vec![3],
        };
        let close = |found: &[f64], expected: [f64; 2]| {
            found.iter().zip(expected).for_each(|(a, b)| assert!((a - b).abs() < 1e-15, "{a} for {b}"));
        };
        let plain = found.embedding(2, 0.0);
        close(plain.column(0), [0.6, 0.8]);
        close(plain.column(1), [1.0, 0.0]);
        close(plain.column(2), [0.0, 0.0]);
        close(plain.column(3), [0.0, 0.0]);
        close(found.embedding(2, 1.0).column(0), [3.0 / 13_f64.sqrt(), 2.0 / 13_f64.sqrt()]);
        assert_eq!((found.embedding(1, 1.0).rows(), found.embedding(9, 1.0).rows()), (1, 2));
    }
}
