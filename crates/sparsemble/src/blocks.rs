//! Fixed-size column blocks in parallel: the one place where threads are made.
//!
//! The blocks do not depend on the number of threads and each is worked on by one thread from start to end, so results
//! are the same bits for any number of threads. Threads live for one call: nothing global is kept, a forked child
//! process starts clean, and a call asked to use n threads uses n.

use std::num::NonZero;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

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
    /// Where in a longer whole this run is; `None` if it is the whole.
    span: Option<Span>,
}

/// The samples of a whole that a step does.
#[derive(Clone, Copy)]
struct Span {
    start: usize,
    end: usize,
    total: usize,
}

impl Span {
    /// How many samples of the whole are done when `done` of the `count` that the step counts are.
    fn at(self, done: usize, count: usize) -> usize {
        // Wide enough for the product of any two counts; the quotient is at most the length of the span.
        let share = (self.end - self.start) as u128 * done.min(count) as u128 / count.max(1) as u128;
        self.start + share as usize
    }
}

/// Told how many samples are done and how many there are; asked whether to go on. Always called on the caller's thread.
///
/// Work that passes over the samples several times counts them each time, and the number done never falls. It may end
/// before it has counted all, if it is done sooner than it might have been.
pub type ProgressFn<'a> = dyn Fn(usize, usize) -> ControlFlow<()> + 'a;

impl<'a> Run<'a> {
    /// Exactly this many threads, the caller's among them; 0 means one for each core.
    pub fn threads(threads: usize) -> Self {
        Self { threads, ..Self::default() }
    }

    /// Calls `progress` after each block the calling thread has finished.
    #[must_use]
    pub fn on_progress(self, progress: &'a ProgressFn<'a>) -> Self {
        Self { progress: Some(progress), ..self }
    }

    /// How a step of a longer work is run: the same threads, and progress told as that of the whole, of whose `total`
    /// samples the step does those in `samples`.
    ///
    /// A step may itself have parts. One that does no samples tells the same number again, and can be interrupted.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use sparsemble::coding::{CodingBasis, OneSparse, Samples, SparseCoder};
    /// use sparsemble::{Matrix, Run};
    ///
    /// let samples = Matrix::from_fn(4, 10, |r, c| (r + c) as f32);
    /// let basis = CodingBasis::new(samples.view())?;
    /// let report = |done: usize, total: usize| {
    ///     assert!((30..=40).contains(&done) && total == 100); // the fourth of ten passes
    ///     ControlFlow::Continue(())
    /// };
    /// let run = Run::default().on_progress(&report).part(30..40, 100);
    /// OneSparse::default().encode(&basis, &Samples::new(samples.view()), run)?;
    /// # Ok::<(), sparsemble::Error>(())
    /// ```
    #[must_use]
    pub fn part(self, samples: Range<usize>, total: usize) -> Self {
        let whole = self.span.unwrap_or(Span { start: 0, end: total, total });
        let end = samples.end.min(total);
        let [start, end] = [samples.start.min(end), end].map(|done| whole.at(done, total));
        Self { span: Some(Span { start, end, total: whole.total }), ..self }
    }

    /// The [`part`](Self::part) of some of several passes over the same samples.
    pub(crate) fn passes(self, passes: Range<usize>, of: usize, n_samples: usize) -> Self {
        let samples = |passes: usize| passes.saturating_mul(n_samples);
        self.part(samples(passes.start)..samples(passes.end), samples(of))
    }

    /// The same threads, but nobody is told: for steps that are short, or must not be left half done.
    pub(crate) fn silent(self) -> Self {
        Self { progress: None, ..self }
    }

    /// Tells of work that has no blocks.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if it is not to go on.
    #[cfg(feature = "io")]
    pub(crate) fn tell(&self, done: usize, total: usize) -> Result<()> {
        let whole = self.span.unwrap_or(Span { start: 0, end: total, total });
        let (done, total) = (whole.at(done, total), whole.total);
        match self.progress {
            Some(tell) if tell(done, total).is_break() => Err(Error::Interrupted { done, total }),
            _ => Ok(()),
        }
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
        let queue = Queue::new(total, size, self.span.unwrap_or(Span { start: 0, end: total, total }));
        let results: Mutex<Vec<Option<Result<R>>>> = Mutex::new((0..queue.blocks()).map(|_| None).collect());
        self.on_threads(queue.blocks(), &|progress| {
            let mut space = scratch();
            while let Some((index, range)) = queue.take() {
                let width = range.len();
                let result = work(&mut space, range);
                queue.finish(width, result.is_err(), progress);
                results.lock().unwrap_or_else(PoisonError::into_inner)[index] = Some(result);
            }
        });
        let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        let results = results.into_iter().flatten().collect::<Result<Vec<R>>>()?;
        queue.end(results.len())?;
        Ok(results)
    }

    /// Runs `worker` on the threads, of which only the caller's tells of progress.
    ///
    /// The worker is a trait object, so that all that belongs to threads is compiled once and not for each kind of work.
    fn on_threads(&self, blocks: usize, worker: &(dyn Fn(Option<&ProgressFn<'_>>) + Sync)) {
        std::thread::scope(|scope| {
            for _ in 1..self.workers(blocks) {
                scope.spawn(|| worker(None));
            }
            worker(self.progress);
        });
    }
}

/// The blocks not yet taken.
struct Queue {
    total: usize,
    size: usize,
    whole: Span,
    next: AtomicUsize,
    done: AtomicUsize,
    stop: AtomicBool,
}

impl Queue {
    fn new(total: usize, size: usize, whole: Span) -> Self {
        Self { total, size, whole, next: AtomicUsize::new(0), done: AtomicUsize::new(0), stop: AtomicBool::new(false) }
    }

    fn blocks(&self) -> usize {
        self.total.div_ceil(self.size)
    }

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
        let told = self.whole.at(done, self.total);
        let go_on = progress.is_none_or(|tell| tell(told, self.whole.total).is_continue());
        if !go_on || failed {
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    /// An error unless all blocks are finished and the steps after this one are wanted.
    fn end(&self, finished: usize) -> Result<()> {
        // Whoever asks to stop at the end of a step that is not the last means the steps after it.
        let asked_to_stop = self.stop.load(Ordering::Relaxed) && self.whole.end < self.whole.total;
        if finished < self.blocks() || asked_to_stop {
            let done = self.whole.at(self.done.load(Ordering::Relaxed), self.total);
            return Err(Error::Interrupted { done, total: self.whole.total });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
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
    fn parts_of_parts_tell_of_the_whole() {
        let told = RefCell::new(Vec::new());
        let tell = |done: usize, total: usize| {
            told.borrow_mut().push((done, total));
            ControlFlow::Continue(())
        };
        let whole = Run::threads(1).on_progress(&tell);
        let blocks = |run: Run<'_>| run.map_blocks(4, 2, || (), |(), _| Ok(())).unwrap();
        for pass in 0..2 {
            let pass = whole.passes(pass..pass + 1, 2, 40);
            blocks(pass.part(0..10, 40));
            blocks(pass.part(10..10, 40));
            blocks(pass.part(10..40, 40));
            blocks(pass.silent());
        }
        let expected = [5, 10, 10, 10, 25, 40, 45, 50, 50, 50, 65, 80];
        assert_eq!(told.into_inner(), expected.map(|done| (done, 80)));
    }

    #[test]
    fn a_part_of_any_numbers_is_inside_the_whole() {
        let most = usize::MAX;
        for (samples, total) in [(0..most, most), (most..3, 2), (5..9, 7), (0..0, 0), (most..most, 0)] {
            let whole = Run::threads(1).part(10..20, 30);
            for span in [whole.part(samples.clone(), total).span, whole.passes(samples, total, most).span] {
                let span = span.unwrap();
                assert!(10 <= span.start && span.start <= span.end && span.end <= 20 && span.total == 30);
            }
        }
    }

    #[test]
    fn an_interrupted_part_says_where_the_whole_was_left() {
        let stop =
            |done: usize, _total: usize| if done >= 57 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        let run = Run::threads(1).on_progress(&stop).part(50..60, 100);
        let result = run.map_blocks(10, 2, || (), |(), range| Ok(range));
        assert_eq!(result, Err(Error::Interrupted { done: 58, total: 100 }));
    }

    #[test]
    fn a_stop_at_the_end_of_a_part_is_one_unless_it_is_the_last() {
        let stop = |_: usize, _: usize| ControlFlow::Break(());
        let last_block = |run: Run<'_>| run.on_progress(&stop).map_blocks(3, 3, || (), |(), range| Ok(range));
        let run = Run::threads(1);
        assert_eq!(last_block(run.part(0..3, 6)), Err(Error::Interrupted { done: 3, total: 6 }));
        assert!(last_block(run.part(3..6, 6)).is_ok() && last_block(run).is_ok());
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
