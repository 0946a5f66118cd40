//! Numbers of sixteen bits (IEEE 754 binary16), which a file can hold maps in; nothing is computed in them.

/// The bits of the nearest half; halfway goes to the even one, too large to infinity.
pub(super) fn to_half(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16) as u16 & 0x8000;
    let magnitude = bits & 0x7fff_ffff;
    if magnitude > 0x7f80_0000 {
        return sign | 0x7e00; // NaN
    }
    if magnitude >= 0x4780_0000 {
        return sign | 0x7c00; // 2¹⁶ and beyond
    }
    if magnitude < 0x3880_0000 {
        // Below 2⁻¹⁴ halves are multiples of 2⁻²⁴, to which an addition rounds.
        let shifted = f32::from_bits(magnitude) + 0.5;
        return sign | (shifted.to_bits() - 0.5_f32.to_bits()) as u16;
    }
    // Drops 13 bits of the fraction, to the nearest, and moves the exponent; a carry into it is right.
    let even = (magnitude >> 13) & 1;
    sign | ((magnitude - 0x3800_0000 + 0x0fff + even) >> 13) as u16
}

/// The number of these bits.
pub(super) fn from_half(half: u16) -> f32 {
    let sign = u32::from(half & 0x8000) << 16;
    let (exponent, fraction) = (u32::from(half >> 10) & 0x1f, u32::from(half) & 0x3ff);
    let magnitude = match exponent {
        0 => (fraction as f32 * 2.0_f32.powi(-24)).to_bits(),
        0x1f => 0x7f80_0000 | fraction << 13,
        _ => (exponent + 112) << 23 | fraction << 13,
    };
    f32::from_bits(sign | magnitude)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_survives_the_way_to_a_float_and_back() {
        for half in 0..=u16::MAX {
            let value = from_half(half);
            if value.is_nan() {
                assert!(from_half(to_half(value)).is_nan());
            } else {
                assert_eq!(to_half(value), half, "{value}");
            }
        }
    }

    #[test]
    fn a_float_becomes_the_nearest_half() {
        for (value, expected) in [(1.0, 0x3c00), (-2.0, 0xc000), (65504.0, 0x7bff), (65520.0, 0x7c00), (1e9, 0x7c00)] {
            assert_eq!(to_half(value), expected, "{value}");
        }
        // Between any two neighbours, the nearer; in the middle, the even one.
        for half in 0..0x7bff_u16 {
            let (low, high) = (from_half(half), from_half(half + 1));
            let middle = low + (high - low) / 2.0;
            assert_eq!(to_half(middle), half + half % 2, "{middle}");
            assert_eq!(to_half(low + (high - low) * 0.25), half);
            assert_eq!(to_half(low + (high - low) * 0.75), half + 1);
        }
    }
}
