//! The chosen atoms of one sample and the triangular system that fits them.
//!
//! With the chosen unit atoms D_S = QR, Q having orthonormal columns, the fit solves R a = Qᵀx. A choice adds one column
//! to R; Q itself is only needed where the residual is. Matching pursuit fits nothing: it only adds up shares.

/// The chosen atoms, with the columns of R and the entries of Qᵀx, or with the sums of their shares.
#[derive(Debug, Clone, Default)]
pub(super) struct Selection {
    pub(super) atoms: Vec<u32>,
    /// Upper triangle, column after column; one over the diagonal in its place, since all it does is divide.
    triangle: Vec<f64>,
    /// The entries of Qᵀx, or the sums of shares.
    projections: Vec<f64>,
}

impl Selection {
    pub(super) fn clear(&mut self) {
        self.atoms.clear();
        self.triangle.clear();
        self.projections.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.atoms.len()
    }

    /// Adds an atom with its coordinates in Q, its distance to the span so far, and the sample's coordinate along it.
    pub(super) fn push(&mut self, atom: u32, coordinates: impl Iterator<Item = f64>, distance: f64, projection: f64) {
        self.atoms.push(atom);
        self.triangle.extend(coordinates);
        self.triangle.push(1.0 / distance);
        self.projections.push(projection);
    }

    /// Matching pursuit: adds a share to an atom, which may have one already.
    pub(super) fn add_share(&mut self, atom: u32, share: f64) {
        if let Some(place) = self.atoms.iter().position(|&j| j == atom) {
            self.projections[place] += share;
        } else {
            self.atoms.push(atom);
            self.projections.push(share);
        }
    }

    fn column(&self, k: usize) -> &[f64] {
        &self.triangle[k * (k + 1) / 2..][..=k]
    }

    /// The coefficients on the unit atoms: of the fit, or the sums of shares if nothing was fitted.
    pub(super) fn coefficients(&self) -> Vec<f64> {
        let mut coefficients = self.projections.clone();
        if !self.triangle.is_empty() {
            self.solve_upper(&mut coefficients);
        }
        coefficients
    }

    /// Replaces correlations by (D_SᵀD_S)⁻¹ times them: what is still missing from coefficients that leave them over.
    pub(super) fn correct(&self, correlations: &mut [f64]) {
        // Rᵀy = c, then R z = y.
        for k in 0..self.len() {
            let column = self.column(k);
            let sum: f64 = column[..k].iter().zip(&*correlations).map(|(r, y)| r * y).sum();
            correlations[k] = (correlations[k] - sum) * column[k];
        }
        self.solve_upper(correlations);
    }

    fn solve_upper(&self, right: &mut [f64]) {
        for k in (0..self.len()).rev() {
            let column = self.column(k);
            let value = right[k] * column[k];
            right[k] = value;
            right[..k].iter_mut().zip(column).for_each(|(b, r)| *b -= r * value);
        }
    }
}
