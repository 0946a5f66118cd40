//! Restoration: pictures from what a known degradation has left of them (§IV).
