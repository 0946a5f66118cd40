//! Ctrl-C and requests to end: the work stops at its next block, or the program at once, and nothing half-written stays.

use std::io::{IsTerminal, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};

use crate::{failure, output};

/// Someone wants to stop.
static ASKED: AtomicBool = AtomicBool::new(false);
/// Someone asks whether to stop.
static LISTENED: AtomicBool = AtomicBool::new(false);
/// What is told of it, for work that waits and cannot ask.
static TOLD: OnceLock<Box<dyn Fn() + Send + Sync>> = OnceLock::new();

/// Watches from now on. Work that [listens](asked) is asked to stop first; a second Ctrl-C, or one while nobody listens,
/// ends the program.
pub(crate) fn watch() -> Result<()> {
    let asked = || {
        if !LISTENED.load(Ordering::Relaxed) || ASKED.swap(true, Ordering::Relaxed) {
            end();
        }
        if let Some(stop) = TOLD.get() {
            stop();
        }
    };
    ctrlc::set_handler(asked).context("cannot watch for Ctrl-C")
}

/// Whether the work is to stop.
pub(crate) fn asked() -> bool {
    LISTENED.store(true, Ordering::Relaxed);
    ASKED.load(Ordering::Relaxed)
}

/// Has work that waits told to stop, once.
pub(crate) fn tell(stop: impl Fn() + Send + Sync + 'static) {
    LISTENED.store(true, Ordering::Relaxed);
    // A command has one place where it waits.
    let _ = TOLD.set(Box::new(stop));
}

/// Says that nobody asks any more.
pub(crate) fn listen_no_more() {
    LISTENED.store(false, Ordering::Relaxed);
}

fn end() {
    output::sweep();
    let mut stderr = std::io::stderr();
    // The line may hold a bar; nothing is left to do if none of this can be written.
    let clear = if stderr.is_terminal() { "\r\x1b[K" } else { "" };
    let _ = writeln!(stderr, "{clear}error: interrupted");
    std::process::exit(failure::INTERRUPTED.into());
}
