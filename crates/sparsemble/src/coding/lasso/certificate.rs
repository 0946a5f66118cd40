//! The duality gap: how far at most a code is from the optimum, without knowing the optimum.
//!
//! For the penalised problem P(a) = ½‖x − Da‖² + μ‖a‖₁ every vector θ with |d_jᵀθ| ≤ μ for all j gives the lower bound
//! ½‖x‖² − ½‖x − θ‖². The scaled residual s·r is such a vector for |s| ≤ μ / max_j |d_jᵀr|, and the best s is known in closed
//! form. The residual and its correlations are those of the number type, so in `f32` the gap is known up to the rounding of
//! products of that type, a few times 10⁻⁷ of ‖x‖², or more where λ is tiny: such samples are coded again in `f64`
//! ([`super::outcome`]). Eq. (1) is twice this problem with λ = 2μ, so its gap is twice this gap.

use crate::scalar::Scalar;

/// The gap of Eq. (1) as a fraction of ‖x‖², given that, Σ w|a| and the largest correlation |d_jᵀr| / w_j of all atoms.
#[inline(always)]
pub(super) fn relative_gap<T: Scalar>(
    (x, energy): (&[T], f64),
    residual: &[T],
    mu: f64,
    penalty: f64,
    largest: f64,
) -> f64 {
    gap_of_products((energy, product(x, residual), product(residual, residual)), mu, penalty, largest)
}

/// The same, given xᵀx, xᵀr and rᵀr. It does not branch, so that the compiler can take many samples at once.
#[inline(always)]
pub(super) fn gap_of_products((xx, xr, rr): (f64, f64, f64), mu: f64, penalty: f64, largest: f64) -> f64 {
    let limit = if largest > mu { mu / largest } else { 1.0 };
    // A negative one would not be feasible where only positive correlations are limited, and is never needed.
    let scale = if rr > 0.0 { (xr / rr).max(0.0).min(limit) } else { 0.0 };
    // Twice the primal minus twice the dual: ‖r‖² + 2μΣ − (‖x‖² − ‖x − s r‖²).
    // An empty code costs nothing, however large μ is.
    let price = if penalty > 0.0 { 2.0 * mu * penalty } else { 0.0 };
    let gap = rr + price - (2.0 * scale * xr - scale * scale * rr);
    let relative = if gap.is_nan() { f64::INFINITY } else { gap.max(0.0) / xx };
    if xx <= 0.0 { 0.0 } else { relative }
}

/// aᵀb in double precision, in eight sums side by side so that they do not wait for each other.
#[inline(always)]
pub(super) fn product<T: Scalar>(a: &[T], b: &[T]) -> f64 {
    let mut sums = [0.0; 8];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    for (a, b) in a.iter().zip(b) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a.to_f64() * b.to_f64();
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a.to_f64() * b.to_f64()).sum();
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gap_is_zero_at_the_optimum_and_grows_away_from_it() {
        // One unit atom: the optimum of ½(x − a)² + μ|a| is a = x − μ with residual μ.
        let gap = |a: f64| relative_gap((&[3.0], 9.0), &[3.0 - a], 0.5, a.abs(), (3.0 - a).abs());
        assert!(gap(2.5) < 1e-15);
        assert!(gap(2.4) > gap(2.45) && gap(2.45) > 1e-4);
        assert!(gap(2.6) > 1e-4);
        assert!(gap(0.0) > 0.1);
    }
}
