//! What one round needs to know of a sample: how the sample, its approximation and the member's lie to each other.

use fearless_simd::Simd;

use crate::scalar::Scalar;

const SIDE_BY_SIDE: usize = 8;

/// Products of x − x_{l−1} and D_l a_l − x_{l−1}, of one sample or summed over many by mass.
#[derive(Clone, Copy, Default)]
pub(super) struct Products {
    /// Of the first with itself: the error before the round.
    pub(super) error: f64,
    /// Of the two: the numerator of Eq. (12).
    pub(super) both: f64,
    /// Of the second with itself: the denominator of Eq. (12).
    pub(super) step: f64,
    /// Of their difference x − D_l a_l with itself: e_l.
    pub(super) member: f64,
}

impl Products {
    /// Those of one sample, in one go through the three columns.
    #[inline(always)]
    pub(super) fn of<S: Simd, T: Scalar>(_: S, x: &[T], before: &[T], member: &[T]) -> Self {
        let mut sums = [[0.0_f64; SIDE_BY_SIDE]; 4];
        let (chunks, rest) = x.as_chunks::<SIDE_BY_SIDE>();
        let ((before, before_rest), (member, member_rest)) = (before.as_chunks(), member.as_chunks());
        for ((x, before), member) in chunks.iter().zip(before).zip(member) {
            add(&mut sums, x, before, member);
        }
        add_rest(&mut sums, rest, before_rest, member_rest);
        let [error, both, step, member] = sums.map(|sums| sums.iter().sum());
        Self { error, both, step, member }
    }

    /// Adds another one that counts `mass`.
    #[inline(always)]
    pub(super) fn add(&mut self, mass: f64, other: Self) {
        self.error += mass * other.error;
        self.both += mass * other.both;
        self.step += mass * other.step;
        self.member += mass * other.member;
    }
}

#[inline(always)]
fn add<T: Scalar>(
    [error, both, step, whole]: &mut [[f64; SIDE_BY_SIDE]; 4],
    x: &[T; SIDE_BY_SIDE],
    before: &[T; SIDE_BY_SIDE],
    member: &[T; SIDE_BY_SIDE],
) {
    for i in 0..SIDE_BY_SIDE {
        let [x, before, member] = [x[i], before[i], member[i]].map(Scalar::to_f64);
        let (to_sample, to_member, left) = (x - before, member - before, x - member);
        error[i] += to_sample * to_sample;
        both[i] += to_sample * to_member;
        step[i] += to_member * to_member;
        whole[i] += left * left;
    }
}

/// Adds columns shorter than a chunk, as chunks filled up with zeros.
#[inline(always)]
fn add_rest<T: Scalar>(sums: &mut [[f64; SIDE_BY_SIDE]; 4], x: &[T], before: &[T], member: &[T]) {
    if !x.is_empty() {
        let fill = |values: &[T]| {
            let mut chunk = [T::ZERO; SIDE_BY_SIDE];
            chunk[..values.len()].copy_from_slice(values);
            chunk
        };
        add(sums, &fill(x), &fill(before), &fill(member));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::best_level;
    use fearless_simd::dispatch;

    #[test]
    fn the_products_are_those_of_plain_sums_whatever_the_length() {
        for length in [1, 7, 8, 21, 64] {
            let column = |shift: usize| (0..length).map(|i| ((3 * i + shift) as f64).sin()).collect::<Vec<f64>>();
            let (x, before, member) = (column(1), column(5), column(9));
            let found = dispatch!(best_level(), simd => Products::of(simd, &x, &before, &member));
            let sum = |term: &dyn Fn(usize) -> f64| (0..length).map(term).sum::<f64>();
            let expected = [
                (found.error, sum(&|i| (x[i] - before[i]).powi(2))),
                (found.both, sum(&|i| (x[i] - before[i]) * (member[i] - before[i]))),
                (found.step, sum(&|i| (member[i] - before[i]).powi(2))),
                (found.member, sum(&|i| (x[i] - member[i]).powi(2))),
            ];
            assert!(expected.iter().all(|(found, plain)| (found - plain).abs() < 1e-12), "{length}: {expected:?}");
        }
    }
}
