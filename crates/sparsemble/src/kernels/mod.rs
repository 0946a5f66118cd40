//! The SIMD kernels: everything that is worth writing for the machine.
//!
//! One pass decides the speed of this crate: [`correlate()`] multiplies a packed dictionary with a block of samples, keeps
//! each tile of the product in registers and hands it to an *epilogue*, which keeps running maxima or stores it. The
//! product as a whole is never written unless the epilogue wants it. One-sparse coding, the working sets of the lasso
//! and the correlations of the greedy coders are that pass with different epilogues.
//!
//! The kernels are written once, generic over the scalar and over the instruction set, on top of `fearless_simd`; the
//! best instruction set of the machine (AVX-512, AVX2, SSE, NEON, wasm, portable) is chosen at run time. Every function that
//! takes a `simd` token must be `#[inline(always)]`: inlining is what carries the instruction set from the caller's
//! `dispatch!` to the innermost loop. Two steps have a form of their own besides: four products of bytes, for which AVX-512 has
//! an instruction (`byte_maps.rs`), and the fused pass, for processors with an AVX-512 older than the one that `fearless_simd`
//! serves (`wide.rs`, which has the only `unsafe` of the crate).

mod aligned;
mod best;
mod byte_columns;
mod byte_maps;
mod classes;
mod coarse;
mod coarse_best;
mod coarse_classes;
mod coarse_columns;
mod columns;
mod correlate;
mod energies;
mod marks;
mod panels;
mod sweep;
#[cfg(test)]
mod tests;
mod vectors;
#[cfg(target_arch = "x86_64")]
pub(crate) mod wide;

pub(crate) use aligned::Aligned;
pub(crate) use best::Best;
pub(crate) use byte_columns::ByteColumns;
pub(crate) use byte_maps::{ByteMapper, ByteMaps};
pub(crate) use classes::Classes;
pub(crate) use coarse::{CoarsePanels, CoarseTiles, correlate_coarsely, norm_of};
pub(crate) use coarse_classes::CoarseClasses;
pub(crate) use coarse_columns::CoarseColumns;
pub(crate) use columns::Columns;
pub(crate) use correlate::{Epilogue, Largest, Maxima, Product, Store, correlate, correlate_loose};
pub(crate) use energies::Energies;
pub(crate) use marks::Marks;
pub(crate) use panels::{Panels, TILE, Tiles, VECTORS};
pub(crate) use sweep::largest_left;
pub(crate) use vectors::{
    COMBINED, add_combinations, add_outer_products, axpy, dot, dots, few_dots, first_largest, rotate,
    subtract_combination,
};

/// The best instruction set of this machine.
pub(crate) fn best_level() -> fearless_simd::Level {
    fearless_simd::Level::new()
}

/// Every instruction set this machine can run, for tests, and the portable form last. Where every machine has vector
/// instructions that form is compiled only because `crates/same-features` asks for it, and nothing else chooses it. With AVX-512 the
/// fused pass of AVX2 is that of `wide.rs`, so its own is tested only where there is none.
#[cfg(test)]
pub(crate) fn all_levels() -> Vec<fearless_simd::Level> {
    let best = best_level();
    let mut levels = vec![best];
    #[cfg(target_arch = "x86_64")]
    {
        use fearless_simd::Level;
        levels.extend(best.as_avx2().map(Level::Avx2));
        levels.extend(best.as_sse4_2().map(Level::Sse4_2));
        levels.extend(best.as_sse2().map(Level::Sse2));
    }
    levels.push(fearless_simd::Level::fallback());
    levels
}
