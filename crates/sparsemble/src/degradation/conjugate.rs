//! The features that fit measurements, for any Φ, by conjugate gradients on the normal equations.

use crate::scalar::Scalar;
use crate::sums::product;

use super::{Degradation, add_multiple};

/// Steps at most. A well-posed problem needs some tens; one that is not is better left early than fitted to noise.
const STEPS: usize = 200;

/// Minimises ‖z − Φ(y₀ + d)‖² + μ‖d‖² over d from d = 0, so that d stays in the range of Φᵀ even for μ = 0.
///
/// The residual r and the gradient g = Φᵀr − μd are carried along rather than ΦᵀΦd, which would square the condition
/// number a second time (Björck, "Numerical Methods for Least Squares Problems", 1996, section 7.4).
pub(super) fn reconcile<T: Scalar>(
    phi: &(impl Degradation<T> + ?Sized),
    measurements: &[T],
    mu: f64,
    features: &mut [T],
) {
    let [mut d, mut gradient] = [(); 2].map(|()| vec![T::ZERO; features.len()]);
    let [mut residual, mut measured] = [(); 2].map(|()| vec![T::ZERO; measurements.len()]);
    // The gradient is small when it is small beside that of fitting from nothing: a start that fits needs no step.
    phi.adjoint(measurements, &mut gradient);
    let scale = product(&gradient, &gradient);
    phi.apply(features, &mut residual);
    for (residual, &z) in residual.iter_mut().zip(measurements) {
        *residual = z - *residual;
    }
    phi.adjoint(&residual, &mut gradient);
    let mut energy = product(&gradient, &gradient);
    let enough = tolerance::<T>().powi(2) * scale.max(energy);
    let mut direction = gradient.clone();
    for _ in 0..STEPS {
        if energy <= enough {
            break;
        }
        phi.apply(&direction, &mut measured);
        let curvature = product(&measured, &measured) + mu * product(&direction, &direction);
        let step = energy / curvature;
        if !step.is_finite() {
            break;
        }
        add_multiple(T::from_f64(step), &direction, &mut d);
        add_multiple(T::from_f64(-step), &measured, &mut residual);
        phi.adjoint(&residual, &mut gradient);
        add_multiple(T::from_f64(-mu), &d, &mut gradient);
        let before = std::mem::replace(&mut energy, product(&gradient, &gradient));
        let kept = T::from_f64(energy / before);
        for (direction, &gradient) in direction.iter_mut().zip(&gradient) {
            *direction = gradient + kept * *direction;
        }
    }
    add_multiple(T::ONE, &d, features);
}

/// What the gradient is to be beside its scale: not so small that rounding keeps it from ever getting there.
fn tolerance<T: Scalar>() -> f64 {
    T::EPSILON.to_f64().sqrt().min(1e-5)
}
