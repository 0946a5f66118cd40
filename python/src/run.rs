//! How a long call is run from Python: other threads go on, Ctrl-C is heeded, progress is told.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use sparsemble::Run;

use crate::error::to_python;

/// The least time between two looks at Python: short for a human, long against waiting for the interpreter.
const PAUSE: Duration = Duration::from_millis(50);

/// Who is told how many samples are done, and of how many.
///
/// Python: `Callable[[int, int], Any]`
type Progress = Py<PyAny>;

/// `(n_threads, progress)` as Python passes them; 0 threads means one for each core.
#[derive(FromPyObject)]
pub(crate) struct RunOptions(usize, Option<Progress>);

impl RunOptions {
    /// How many threads there are to be.
    pub(crate) fn threads(&self) -> usize {
        self.0
    }

    /// Runs `work` while other Python threads go on, and raises what its errors or the progress callback say.
    pub(crate) fn call<R: Send>(
        self,
        py: Python<'_>,
        work: impl FnOnce(Run<'_>) -> sparsemble::Result<R> + Send,
    ) -> PyResult<R> {
        let Self(threads, progress) = self;
        let (result, raised) = py.detach(move || {
            let watch = Rc::new(Watch { progress, last: Cell::new(None), raised: Cell::new(None) });
            // The library's callback type owns what it uses.
            let teller = Rc::clone(&watch);
            let result = work(Run::threads(threads).on_progress(&move |done, total| teller.tell(done, total)));
            (result, watch.raised.take())
        });
        match raised {
            Some(exception) => Err(exception),
            None => result.map_err(to_python),
        }
    }
}

/// Looks at Python now and then, on the thread that made the call (signals are only seen on the main one).
struct Watch {
    progress: Option<Progress>,
    last: Cell<Option<Instant>>,
    raised: Cell<Option<PyErr>>,
}

impl Watch {
    fn tell(&self, done: usize, total: usize) -> ControlFlow<()> {
        // The end is told by the caller: the last block may be another thread's, which must not call Python.
        if done == total || self.last.get().is_some_and(|last| last.elapsed() < PAUSE) {
            return ControlFlow::Continue(());
        }
        let looked = Python::attach(|py| {
            py.check_signals()?;
            self.progress.as_ref().map_or(Ok(()), |progress| progress.call1(py, (done, total)).map(|_| ()))
        });
        self.last.set(Some(Instant::now()));
        match looked {
            Ok(()) => ControlFlow::Continue(()),
            Err(exception) => {
                self.raised.set(Some(exception));
                ControlFlow::Break(())
            }
        }
    }
}
