//! How far packed data may grow: a small file must not fill the memory.

use crate::reason::Outcome;

/// What any file may unpack to.
const ALWAYS: u64 = 1 << 26;
/// Beyond it, how many times its packed length: real data are far below, and deflate can do a thousand.
const TIMES: u64 = 256;

/// Refuses data that promise to unpack to far more than is believable.
pub(super) fn check_expansion(packed: u64, unpacked: u64) -> Outcome<()> {
    if unpacked > ALWAYS.max(packed.saturating_mul(TIMES)) {
        return Err(format!(
            "{packed} packed bytes promise to become {unpacked}, more than {TIMES} times as many; if this is meant, \
             unpack it yourself and give a .npy file"
        )
        .into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_data_may_grow_at_will_and_large_data_only_so_far() {
        assert!(check_expansion(10, ALWAYS).is_ok() && check_expansion(1 << 30, 1 << 37).is_ok());
        assert!(check_expansion(10, ALWAYS + 1).is_err() && check_expansion(1 << 30, (1 << 38) + 1).is_err());
        assert!(check_expansion(u64::MAX, u64::MAX).is_ok());
    }
}
