//! Fixed-size column blocks in parallel: the one place where threads are made.
//!
//! The blocks do not depend on the number of threads and each is worked on by one thread from start to end, so results
//! are the same bits for any number of threads. Threads live for one call: nothing global is kept, a forked child
//! process starts clean, and a call asked to use n threads uses n.
//!
//! Whoever watches is asked after each block whether to go on. Where a block may take long, its work counts what it does on
//! a [`Pulse`], which asks in between.

use std::cell::Cell;
use std::num::NonZero;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
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
    #[cfg(feature = "io")]
    scratch: Option<Scratch<'a>>,
}

/// Where what takes too much memory goes, and what too much is, in bytes.
#[cfg(feature = "io")]
#[derive(Clone, Copy)]
struct Scratch<'a> {
    folder: &'a std::path::Path,
    above: u64,
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
/// Work that passes over the samples several times counts them each time, and the number done never falls; while single
/// samples take long it is told again. It may end before it has counted all, if it is done sooner than it might have been.
pub type ProgressFn<'a> = dyn Fn(usize, usize) -> ControlFlow<()> + 'a;

impl<'a> Run<'a> {
    /// Exactly this many threads, the caller's among them; 0 means one for each core.
    pub fn threads(threads: usize) -> Self {
        Self { threads, ..Self::default() }
    }

    /// Calls `progress` after each block the calling thread has finished, and now and then while one takes long.
    #[must_use]
    pub fn on_progress(self, progress: &'a ProgressFn<'a>) -> Self {
        Self { progress: Some(progress), ..self }
    }

    /// A choice for [`scratch_in`](Self::scratch_in): that of the program and of the Python package, a gibibyte.
    #[cfg(feature = "io")]
    pub const HELD: u64 = 1 << 30;

    /// Puts what a call keeps of all samples between two passes into files of this folder: boosting does so with
    /// approximations and codes, if the approximations are more than `above` bytes (feature `io`). The results are the same
    /// bits.
    ///
    /// The files have no names and are gone with what uses them, however that ends. Without a folder everything is held in
    /// memory.
    #[cfg(feature = "io")]
    #[must_use]
    pub fn scratch_in(self, folder: &'a std::path::Path, above: u64) -> Self {
        Self { scratch: Some(Scratch { folder, above }), ..self }
    }

    /// Where something of so many bytes is to go; `None` into memory.
    #[cfg(feature = "io")]
    pub(crate) fn scratch_for(&self, bytes: u64) -> Option<&'a std::path::Path> {
        self.scratch.filter(|scratch| bytes > scratch.above).map(|scratch| scratch.folder)
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
            0 if blocks <= 1 => 1, // to ask takes longer than a small block
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
        self.map_long_blocks(total, size, scratch, |space, range, _| work(space, range))
    }

    /// The same for blocks that may take long: `work` counts what it does on its thread's pulse.
    pub(crate) fn map_long_blocks<S, R: Send>(
        &self,
        total: usize,
        size: usize,
        scratch: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, Range<usize>, &Pulse<'_>) -> Result<R> + Sync,
    ) -> Result<Vec<R>> {
        let queue = Queue::new(total, size, self.span.unwrap_or(Span { start: 0, end: total, total }));
        let results: Mutex<Vec<Option<Result<R>>>> = Mutex::new((0..queue.blocks()).map(|_| None).collect());
        self.on_threads(&queue, &|pulse| {
            let mut space = scratch();
            while let Some((index, range)) = queue.take() {
                let width = range.len();
                let result = work(&mut space, range, pulse);
                pulse.finish(width, result.is_err());
                results.lock().unwrap_or_else(PoisonError::into_inner)[index] = Some(result);
            }
        });
        let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        match results.into_iter().flatten().collect::<Result<Vec<R>>>() {
            Ok(results) => queue.end(results.len()).map(|()| results),
            // Said by work inside a block, which knows nothing of the whole.
            Err(Error::Interrupted { .. }) => Err(queue.interrupted()),
            Err(error) => Err(error),
        }
    }

    /// Gives each of these to `work`, on one of the threads, and tells nobody: pieces of what is written to, say.
    pub(crate) fn each<T: Send>(
        &self,
        pieces: impl Iterator<Item = T>,
        work: impl Fn(T) -> Result<()> + Sync,
    ) -> Result<()> {
        let pieces: Vec<_> = pieces.map(|piece| Mutex::new(Some(piece))).collect();
        let take = |i: usize| pieces[i].lock().unwrap_or_else(PoisonError::into_inner).take();
        let one = |(): &mut (), range: Range<usize>| range.filter_map(take).try_for_each(&work);
        self.silent().map_blocks(pieces.len(), 1, || (), one).map(|_| ())
    }

    /// Long work that has no blocks, on the caller's thread: a step that does no samples.
    pub(crate) fn listening<R>(&self, work: impl FnOnce(&Pulse<'_>) -> Result<R>) -> Result<R> {
        let here = self.span.map_or(Span { start: 0, end: 0, total: 0 }, |span| Span { end: span.start, ..span });
        let queue = Queue::new(0, 1, here);
        work(&Pulse { queue: &queue, tell: self.progress, caller: None, work: Cell::new(0) })
    }

    /// Runs `worker` on the threads, of which only the caller's tells of progress.
    ///
    /// The worker is a trait object, so that all that belongs to threads is compiled once and not for each kind of work.
    fn on_threads(&self, queue: &Queue, worker: &(dyn Fn(&Pulse<'_>) + Sync)) {
        let pulse = Pulse { queue, tell: self.progress, caller: None, work: Cell::new(0) };
        let workers = self.workers(queue.blocks());
        if workers == 1 {
            // Without what only several need: that takes as long as a step with few samples and few atoms.
            worker(&pulse);
            return;
        }
        // One beat that waits to be heard is as good as many.
        let (sender, beats) = sync_channel(1);
        std::thread::scope(|scope| {
            for _ in 1..workers {
                let caller = Some(sender.clone());
                scope.spawn(move || worker(&Pulse { queue, tell: None, caller, work: Cell::new(0) }));
            }
            drop(sender);
            worker(&pulse);
            // The others may still work for long, and cannot ask by themselves.
            for () in beats {
                pulse.ask();
            }
        });
    }
}

/// So many samples at a time, or fewer if the `work` of one, in multiply-adds, would make a pass over them take long: nobody
/// is asked during a pass.
pub(crate) fn block_size(most: usize, work: usize) -> usize {
    const PASS: usize = 1 << 31;
    /// As many as the passes over a dictionary have in registers at once.
    const FEWEST: usize = 12;
    (PASS / work.max(1)).clamp(FEWEST.min(most), most)
}

/// How long work on one thread hears that it is not to go on.
///
/// There is no clock in this library: work is counted, and whoever watches is asked after so much of it. Only the caller's
/// thread asks; the others wake it where it has nothing left to do but wait for them.
pub(crate) struct Pulse<'a> {
    queue: &'a Queue,
    /// Whoever watches, on the caller's thread.
    tell: Option<&'a ProgressFn<'a>>,
    /// The caller's thread, on the others.
    caller: Option<SyncSender<()>>,
    /// Since the last question.
    work: Cell<usize>,
}

impl Pulse<'_> {
    /// Multiply-adds between two questions: some ten milliseconds.
    const BEAT: usize = 1 << 26;

    /// Counts so many multiply-adds, or what takes as long.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if the work is not to go on; its results are not wanted any more.
    #[inline]
    pub(crate) fn count(&self, work: usize) -> Result<()> {
        self.work.set(self.work.get().saturating_add(work));
        if self.work.get() >= Self::BEAT {
            self.ask();
        }
        if self.queue.interrupted.load(Ordering::Relaxed) { Err(self.queue.interrupted()) } else { Ok(()) }
    }

    /// Runs work inside a block that has blocks of its own, on this thread.
    pub(crate) fn within<R>(&self, work: impl FnOnce(Run<'_>) -> R) -> R {
        let hear = |_: usize, _: usize| match self.count(Self::BEAT) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        };
        work(Run::threads(1).on_progress(&hear))
    }

    fn finish(&self, width: usize, failed: bool) {
        if failed {
            self.queue.stop.store(true, Ordering::Relaxed);
        } else {
            self.queue.done.fetch_add(width, Ordering::Relaxed);
            self.ask();
        }
    }

    #[cold]
    fn ask(&self) {
        self.work.set(0);
        if let Some(caller) = &self.caller {
            // If a beat waits already, the caller has not heard that one yet; if there is no caller, the end is near.
            let _ = caller.try_send(());
        }
        let (done, total) = self.queue.progress();
        let is_wanted = !self.queue.interrupted.load(Ordering::Relaxed);
        if is_wanted && self.tell.is_some_and(|tell| tell(done, total).is_break()) {
            self.queue.stop.store(true, Ordering::Relaxed);
            self.queue.interrupted.store(true, Ordering::Relaxed);
        }
    }
}

/// The blocks not yet taken.
struct Queue {
    total: usize,
    size: usize,
    whole: Span,
    next: AtomicUsize,
    done: AtomicUsize,
    /// No block is to be begun: one has failed, or whoever watches wants no more.
    stop: AtomicBool,
    /// Whoever watches wants no more, so those begun are not needed either. After a failure they are: of several errors the
    /// first one is returned, for any number of threads.
    interrupted: AtomicBool,
}

impl Queue {
    fn new(total: usize, size: usize, whole: Span) -> Self {
        let [next, done] = [0, 0].map(AtomicUsize::new);
        let [stop, interrupted] = [false, false].map(AtomicBool::new);
        Self { total, size, whole, next, done, stop, interrupted }
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

    /// How many samples of the whole are done, and how many it has.
    fn progress(&self) -> (usize, usize) {
        (self.whole.at(self.done.load(Ordering::Relaxed), self.total), self.whole.total)
    }

    fn interrupted(&self) -> Error {
        let (done, total) = self.progress();
        Error::Interrupted { done, total }
    }

    /// An error unless all blocks are finished and the steps after this one are wanted.
    fn end(&self, finished: usize) -> Result<()> {
        // Whoever asks to stop at the end of a step that is not the last means the steps after it.
        let asked_to_stop = self.stop.load(Ordering::Relaxed) && self.whole.end < self.whole.total;
        if finished < self.blocks() || asked_to_stop { Err(self.interrupted()) } else { Ok(()) }
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
    fn every_piece_is_worked_on_once_for_any_number_of_threads() {
        for threads in [1, 2, 7] {
            let mut numbers = vec![1; 100];
            let add = |piece: &mut [i32]| -> Result<()> {
                for number in piece {
                    *number += 1;
                }
                Ok(())
            };
            Run::threads(threads).each(numbers.chunks_mut(7), add).unwrap();
            assert_eq!(numbers, [2; 100]);
        }
        Run::default().each(std::iter::empty::<()>(), |()| unreachable!()).unwrap();
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

    /// Asks to stop at the n-th question.
    fn stop_at(nth: usize, asked: &Cell<usize>) -> impl Fn(usize, usize) -> ControlFlow<()> + '_ {
        move |_, _| {
            asked.set(asked.get() + 1);
            if asked.get() == nth { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }
    }

    #[test]
    fn a_block_that_takes_long_hears_a_stop_on_any_thread() {
        // None of the blocks would ever end, so on two threads the second can only have heard it from the first.
        for threads in [1, 2, 3] {
            let asked = Cell::new(0);
            let stop = stop_at(5, &asked);
            let endless = |(): &mut (), _: Range<usize>, pulse: &Pulse<'_>| -> Result<()> {
                loop {
                    pulse.count(Pulse::BEAT / 4)?;
                }
            };
            let result = Run::threads(threads).on_progress(&stop).map_long_blocks(threads, 1, || (), endless);
            assert_eq!(result, Err(Error::Interrupted { done: 0, total: threads }));
            assert_eq!(asked.get(), 5);
        }
    }

    #[test]
    fn the_caller_asks_for_a_thread_that_works_alone() {
        let asked = Cell::new(0);
        let stop = stop_at(9, &asked);
        let caller = std::thread::current().id();
        let both = std::sync::Barrier::new(2);
        let work = |(): &mut (), _: Range<usize>, pulse: &Pulse<'_>| -> Result<()> {
            both.wait(); // so that the caller has one of the blocks and another thread the other
            while std::thread::current().id() != caller {
                pulse.count(Pulse::BEAT)?;
            }
            Ok(())
        };
        let result = Run::threads(2).on_progress(&stop).map_long_blocks(2, 1, || (), work);
        assert_eq!(result, Err(Error::Interrupted { done: 1, total: 2 }));
        assert_eq!(asked.get(), 9);
    }

    #[test]
    fn work_within_a_block_hears_a_stop_and_leaves_the_counting_to_the_whole() {
        let asked = Cell::new(0);
        let stop = stop_at(4, &asked);
        let inner = |(): &mut (), _: Range<usize>, pulse: &Pulse<'_>| {
            pulse.within(|run| run.map_blocks(100, 1, || (), |(), _| Ok(())))
        };
        let result = Run::threads(1).on_progress(&stop).map_long_blocks(30, 10, || (), inner);
        assert_eq!(result, Err(Error::Interrupted { done: 0, total: 30 }));
        assert_eq!(asked.get(), 4);
    }

    #[test]
    fn blocks_are_smaller_only_where_a_pass_over_them_would_take_long() {
        assert_eq!([0, 1, 64 * 2048, 256 * 9298].map(|work| block_size(96, work)), [96; 4]);
        assert_eq!([1 << 26, 1 << 30, usize::MAX].map(|work| block_size(96, work)), [32, 12, 12]);
        assert_eq!(block_size(8, usize::MAX), 8);
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
