//! What can be seen of long work on a terminal, and how it is stopped.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};

/// A bar, and the wish to stop.
pub(crate) struct Progress {
    bar: ProgressBar,
    stop: Arc<AtomicBool>,
}

impl Progress {
    /// Draws nothing unless the error stream is a terminal. The first Ctrl-C (or a request to end) asks the work to stop,
    /// the second ends the program where it is.
    pub(crate) fn start(what: &'static str) -> Result<Self> {
        let style = ProgressStyle::with_template("{msg:36} {wide_bar} {percent:>3} %  {eta} left")?;
        let bar = ProgressBar::no_length().with_style(style).with_message(what);
        let stop = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stop);
        ctrlc::set_handler(move || {
            if asked.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
        })
        .context("cannot watch for Ctrl-C")?;
        Ok(Self { bar, stop })
    }

    /// For [`sparsemble::Run::on_progress`].
    pub(crate) fn tell(&self, done: usize, total: usize) -> ControlFlow<()> {
        self.bar.set_length(total as u64);
        self.bar.set_position(done as u64);
        if self.stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// The same for one of several works in a row; each has a bar of its own.
    pub(crate) fn tell_of(&self, what: &str, done: usize, total: usize) -> ControlFlow<()> {
        if self.bar.message() != what {
            self.bar.reset();
            self.bar.set_message(what.to_owned());
        }
        self.tell(done, total)
    }

    /// Does something that prints, while the bar is away.
    pub(crate) fn suspended<R>(&self, prints: impl FnOnce() -> R) -> R {
        self.bar.suspend(prints)
    }

    /// Says what is being done.
    pub(crate) fn say(&self, message: String) {
        self.bar.set_message(message);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
