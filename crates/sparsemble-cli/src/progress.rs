//! What can be seen of long work on a terminal, and how it is stopped.

use std::fmt::Write;
use std::ops::ControlFlow;
use std::time::Duration;

use anyhow::Result;
use indicatif::{HumanDuration, ProgressBar, ProgressState, ProgressStyle};
use sparsemble::Run;

use crate::interrupt;

/// How often the bar is drawn while nothing is told.
const TICK: Duration = Duration::from_millis(200);

/// The part of the work before which nobody knows how long it takes.
const KNOWN: f32 = 0.02;

/// A bar, and the wish to stop.
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// Draws nothing unless the error stream is a terminal.
    pub(crate) fn start(what: &'static str) -> Result<Self> {
        let style = ProgressStyle::with_template("{msg:36} {wide_bar} {percent:>3} %{left}")?;
        // A bar that cannot be drawn is no failure.
        let left =
            |state: &ProgressState, text: &mut dyn Write| drop(text.write_str(&left(state.fraction(), state.eta())));
        let bar = ProgressBar::no_length().with_style(style.with_key("left", left)).with_message(what);
        bar.enable_steady_tick(TICK);
        Ok(Self { bar })
    }

    /// For [`sparsemble::Run::on_progress`].
    pub(crate) fn tell(&self, done: usize, total: usize) -> ControlFlow<()> {
        self.bar.set_length(total as u64);
        self.bar.set_position(done as u64);
        if interrupt::asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// The same for work that ends by an error when it is to stop.
    pub(crate) fn count(&self, done: usize, total: usize) -> Result<()> {
        match self.tell(done, total) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(sparsemble::Error::Interrupted { done, total }.into()),
        }
    }

    /// The same for one of several works in a row; each has a bar of its own.
    pub(crate) fn tell_of(&self, what: &str, done: usize, total: usize) -> ControlFlow<()> {
        if self.bar.message() != what {
            self.begin(what.to_owned());
        }
        self.tell(done, total)
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

/// How long the rest will take, in words, once so much is done that it can be told.
fn left(done: f32, rest: Duration) -> String {
    if done < KNOWN { String::new() } else { format!("  {} left", HumanDuration(rest)) }
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

    #[test]
    fn no_time_is_told_before_it_can_be_known() {
        assert_eq!(left(0.0, Duration::from_secs(240)), "");
        assert_eq!(left(0.019, Duration::from_secs(240)), "");
        assert_eq!(left(0.02, Duration::from_secs(240)), "  4 minutes left");
    }
}
