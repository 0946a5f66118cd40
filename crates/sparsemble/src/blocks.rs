//! Fixed-size column blocks in parallel: the one place where threads are made.
//!
//! The blocks do not depend on the number of threads and each is worked on by one thread from start to end, so results
//! are the same bits for any number of threads. Threads live for one call: nothing global is kept, a forked child
//! process starts clean, and a call asked to use n threads uses n.

use std::num::NonZero;
use std::ops::{ControlFlow, Range};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::error::{Error, Result};

/// How a long call is run: on how many threads, and whom it tells of its progress.
///
/// ```
/// use std::ops::ControlFlow;
/// use sparsemble::Run;
///
/// let report = |done: usize, total: usize| {
///     let _ = (done, total);          // draw a bar; return `Break` to stop the call
///     ControlFlow::Continue(())
/// };
/// let run = Run::threads(2).on_progress(&report);
/// ```
#[derive(Clone, Copy, Default)]
pub struct Run<'a> {
    threads: usize,
    progress: Option<&'a ProgressFn<'a>>,
}

/// Told how many samples are done and how many there are; asked whether to go on. Always called on the caller's thread.
pub type ProgressFn<'a> = dyn Fn(usize, usize) -> ControlFlow<()> + 'a;

impl<'a> Run<'a> {
    /// Exactly this many threads, the caller's among them; 0 means one for each core.
    pub fn threads(threads: usize) -> Self {
        Self { threads, progress: None }
    }

    /// Calls `progress` after each block the calling thread has finished.
    #[must_use]
    pub fn on_progress(self, progress: &'a ProgressFn<'a>) -> Self {
        Self { progress: Some(progress), ..self }
    }

    fn workers(&self, blocks: usize) -> usize {
        let wanted = match self.threads {
            0 => std::thread::available_parallelism().map_or(1, NonZero::get),
            n => n,
        };
        wanted.clamp(1, blocks.max(1))
    }

    /// Cuts `0..total` into blocks of `size`, gives each to `work` and returns the results in order.
    ///
    /// Each thread makes one scratch space by `scratch` and keeps it for all of its blocks.
    pub(crate) fn map_blocks<S, R: Send>(
        &self,
        total: usize,
        size: usize,
        scratch: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, Range<usize>) -> Result<R> + Sync,
    ) -> Result<Vec<R>> {
        let blocks = total.div_ceil(size);
        let queue =
            Queue { total, size, next: AtomicUsize::new(0), done: AtomicUsize::new(0), stop: AtomicBool::new(false) };
        let results: Mutex<Vec<(usize, Result<R>)>> = Mutex::new(Vec::with_capacity(blocks));
        let worker = |progress: Option<&ProgressFn<'_>>| {
            let mut space = scratch();
            while let Some((index, range)) = queue.take() {
                let width = range.len();
                let result = work(&mut space, range);
                queue.finish(width, result.is_err(), progress);
                results.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((index, result));
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..self.workers(blocks) {
                scope.spawn(|| worker(None));
            }
            worker(self.progress);
        });
        let mut results = results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        results.sort_unstable_by_key(|(index, _)| *index);
        let finished = results.len();
        let results = results.into_iter().map(|(_, result)| result).collect::<Result<Vec<R>>>()?;
        if finished < blocks {
            return Err(Error::Interrupted { done: queue.done.into_inner(), total });
        }
        Ok(results)
    }
}

/// The blocks not yet taken.
struct Queue {
    total: usize,
    size: usize,
    next: AtomicUsize,
    done: AtomicUsize,
    stop: AtomicBool,
}

impl Queue {
    fn take(&self) -> Option<(usize, Range<usize>)> {
        if self.stop.load(Ordering::Relaxed) {
            return None;
        }
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        let start = index * self.size;
        (start < self.total).then(|| (index, start..(start + self.size).min(self.total)))
    }

    fn finish(&self, width: usize, failed: bool, progress: Option<&ProgressFn<'_>>) {
        let done = self.done.fetch_add(width, Ordering::Relaxed) + width;
        let asked_to_stop = progress.is_some_and(|tell| tell(done, self.total).is_break());
        if failed || asked_to_stop {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn blocks_come_back_in_order_for_any_number_of_threads() {
        for threads in [1, 2, 7] {
            let blocks = Run::threads(threads).map_blocks(10, 3, || (), |(), range| Ok(range)).unwrap();
            assert_eq!(blocks, [0..3, 3..6, 6..9, 9..10]);
        }
        assert!(Run::default().map_blocks(0, 3, || (), |(), range| Ok(range)).unwrap().is_empty());
    }

    #[test]
    fn exactly_the_asked_number_of_threads_works() {
        for threads in [1, 2, 5] {
            let barrier = std::sync::Barrier::new(threads);
            let ids = Run::threads(threads)
                .map_blocks(
                    threads,
                    1,
                    || (),
                    |(), _| {
                        barrier.wait(); // returns only when `threads` workers are inside at once
                        Ok(std::thread::current().id())
                    },
                )
                .unwrap();
            assert_eq!(ids.into_iter().collect::<HashSet<_>>().len(), threads);
        }
    }

    #[test]
    fn the_callback_can_stop_the_work() {
        let stop =
            |done: usize, _total: usize| if done >= 4 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        let result = Run::threads(1).on_progress(&stop).map_blocks(10, 2, || (), |(), range| Ok(range));
        assert_eq!(result, Err(Error::Interrupted { done: 4, total: 10 }));
    }

    #[test]
    fn the_first_error_in_block_order_is_returned() {
        let result = Run::threads(1).map_blocks(
            9,
            1,
            || (),
            |(), range| {
                if range.start >= 3 { Err(Error::Empty { what: "block", unit: "row" }) } else { Ok(()) }
            },
        );
        assert_eq!(result, Err(Error::Empty { what: "block", unit: "row" }));
    }
}
