//! What can be seen of long work on a terminal, and how it is stopped.

use std::fmt::Write;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Result;
use indicatif::{HumanDuration, ProgressBar, ProgressState, ProgressStyle};
use sparsemble::Run;

use crate::interrupt;
use crate::pace::Pace;

/// How often the bar is drawn while nothing is told.
const TICK: Duration = Duration::from_millis(200);

/// A bar, and the wish to stop.
pub(crate) struct Progress {
    bar: ProgressBar,
    pace: Arc<Mutex<Pace>>,
}

fn locked(pace: &Mutex<Pace>) -> MutexGuard<'_, Pace> {
    pace.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Progress {
    /// Draws nothing unless the error stream is a terminal.
    pub(crate) fn start(what: &'static str) -> Result<Self> {
        // What stays empty at the end is for the `^C` that a terminal shows: in a line of its own it would keep the bar.
        let style = ProgressStyle::with_template("{msg:36} {wide_bar} {percent:>3} %{left}   ")?;
        let pace = Arc::new(Mutex::new(Pace::begin(Instant::now())));
        let seen = Arc::clone(&pace);
        let left = move |state: &ProgressState, text: &mut dyn Write| {
            let left = state.len().and_then(|total| locked(&seen).left(Instant::now(), total));
            if let Some(left) = left {
                // A bar that cannot be drawn is no failure.
                let _ = write!(text, "  {} left", HumanDuration(left));
            }
        };
        let bar = ProgressBar::no_length().with_style(style.with_key("left", left)).with_message(what);
        bar.enable_steady_tick(TICK);
        Ok(Self { bar, pace })
    }

    /// For [`sparsemble::Run::on_progress`].
    pub(crate) fn tell(&self, done: usize, total: usize) -> ControlFlow<()> {
        locked(&self.pace).hear(Instant::now(), done as u64);
        self.bar.set_length(total as u64);
        self.bar.set_position(done as u64);
        if interrupt::asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// What becomes of each of several things, which are counted; an error if it is to stop.
    pub(crate) fn counted<A, R>(&self, all: &[A], each: impl Fn(&A) -> Result<R>) -> Result<Vec<R>> {
        let total = all.len();
        let counted = |(done, one): (usize, &A)| match self.tell(done, total) {
            ControlFlow::Continue(()) => each(one),
            ControlFlow::Break(()) => Err(sparsemble::Error::Interrupted { done, total }.into()),
        };
        all.iter().enumerate().map(counted).collect()
    }

    /// The same for one of several works in a row; each has a bar of its own.
    pub(crate) fn tell_of(&self, what: &str, done: usize, total: usize) -> ControlFlow<()> {
        if self.bar.message() != what {
            self.begin(what.to_owned());
        }
        self.tell(done, total)
    }

    /// Does what must be done before the work goes on, behind a bar of its own.
    pub(crate) fn first<R>(&self, what: &str, threads: usize, work: impl FnOnce(Run<'_>) -> Result<R>) -> Result<R> {
        let then = self.bar.message();
        let tell = |done: usize, total: usize| self.tell(done, total);
        self.begin(what.to_owned());
        let done = work(Run::threads(threads).on_progress(&tell))?;
        self.begin(then);
        Ok(done)
    }

    /// Reads a file, which may be long, and says what comes next.
    pub(crate) fn reading<R>(
        &self,
        next: &'static str,
        read: impl FnOnce(Run<'_>) -> sparsemble::Result<R>,
    ) -> sparsemble::Result<R> {
        let tell = |done: usize, total: usize| self.tell_of("reading", done, total);
        let read = read(Run::default().on_progress(&tell))?;
        self.begin(next.to_owned());
        Ok(read)
    }

    /// Says what comes next; its bar and its time begin anew.
    pub(crate) fn begin(&self, what: String) {
        *locked(&self.pace) = Pace::begin(Instant::now());
        self.bar.reset();
        self.bar.set_message(what);
    }

    /// Does something that prints, while the bar is away.
    pub(crate) fn suspended<R>(&self, prints: impl FnOnce() -> R) -> R {
        self.bar.suspend(prints)
    }

    /// Says how far the work is.
    pub(crate) fn say(&self, message: String) {
        self.bar.set_message(message);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
        interrupt::listen_no_more();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_work_begins_with_an_empty_bar() {
        let progress = Progress::start("looking at the samples").unwrap();
        assert!(progress.tell(88, 100).is_continue());
        progress.begin("training".into());
        assert_eq!((progress.bar.message().as_str(), progress.bar.position()), ("training", 0));
        // A step of the same work goes on with its bar.
        assert!(progress.tell(7, 100).is_continue());
        progress.say("step 1 of 9".into());
        assert_eq!((progress.bar.message().as_str(), progress.bar.position()), ("step 1 of 9", 7));
    }
}
