//! The queue: restorations that wait, the one that runs, and those that are done.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sparsemble::{Error, Run};

use crate::guard::secret;
use crate::http::Refusal;
use crate::settings::Limits;
use crate::work::{Outcome, Work};

/// The most that are remembered after they have ended.
const ENDED: usize = 32;

/// The parts of a restoration that the bar can show.
const FINE: usize = 10_000;

/// One restoration.
pub(crate) struct Job {
    pub(crate) id: String,
    state: Mutex<State>,
    /// The bits of the share that is done: in one piece, so that no two counts are read apart.
    progress: AtomicU64,
    unwanted: AtomicBool,
    asked: Mutex<Instant>,
}

/// Where it is.
#[derive(Clone)]
pub(crate) enum State {
    Waiting(Arc<Work>),
    Running,
    Done(Arc<Outcome>),
    Failed(String),
    Cancelled,
}

impl Job {
    pub(crate) fn state(&self) -> State {
        lock(&self.state).clone()
    }

    /// The share of it that is done.
    pub(crate) fn progress(&self) -> f64 {
        f64::from_bits(self.progress.load(Ordering::Relaxed))
    }

    /// Somebody is interested in it.
    pub(crate) fn touch(&self) {
        *lock(&self.asked) = Instant::now();
    }

    fn is_forgotten(&self, idle: Duration) -> bool {
        lock(&self.asked).elapsed() > idle
    }

    fn has_ended(&self) -> bool {
        !matches!(*lock(&self.state), State::Waiting(_) | State::Running)
    }

    fn bytes(&self) -> usize {
        if let State::Done(outcome) = &*lock(&self.state) { outcome.bytes() } else { 0 }
    }

    /// Nobody wants it: it ends, or does not begin, or its result is dropped.
    pub(crate) fn cancel(&self) {
        self.unwanted.store(true, Ordering::Relaxed);
        let mut state = lock(&self.state);
        // One that runs says itself when it has ended.
        if !matches!(*state, State::Running) {
            *state = State::Cancelled;
        }
    }

    /// Takes it out of the queue, unless it was cancelled meanwhile.
    fn start(&self) -> Option<Arc<Work>> {
        let mut state = lock(&self.state);
        let State::Waiting(work) = &*state else { return None };
        let work = Arc::clone(work);
        *state = State::Running;
        Some(work)
    }

    fn run(&self, work: &Work, threads: usize, idle: Duration) {
        let tell = |done: usize, total: usize| {
            self.progress.store((done as f64 / total.max(1) as f64).to_bits(), Ordering::Relaxed);
            let stop = self.unwanted.load(Ordering::Relaxed) || self.is_forgotten(idle);
            if stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        // A fault of ours must not take the other restorations with it.
        let outcome =
            catch_unwind(AssertUnwindSafe(|| work.run(Run::threads(threads).on_progress(&tell).part(0..FINE, FINE))));
        // Locked before it is asked whether the result is wanted: one that is cancelled now finds it done and drops it.
        let mut state = lock(&self.state);
        *state = match outcome {
            Ok(Ok(outcome)) if !self.unwanted.load(Ordering::Relaxed) => State::Done(Arc::new(outcome)),
            Ok(Ok(_) | Err(Error::Interrupted { .. })) => State::Cancelled,
            Ok(Err(error)) => State::Failed(error.to_string()),
            Err(_) => State::Failed("this is a fault of the program; please report it with the picture".into()),
        };
    }
}

/// All restorations that are known, in the order in which they came.
#[derive(Default)]
pub(crate) struct Jobs {
    known: Mutex<VecDeque<Arc<Job>>>,
    closed: AtomicBool,
    news: Condvar,
}

impl Jobs {
    /// Puts a restoration into the queue, unless that is full.
    pub(crate) fn add(&self, work: Work, limits: &Limits) -> Result<Arc<Job>, Refusal> {
        let id = secret().map_err(|error| Refusal::new(503, format!("no random number could be had: {error}")))?;
        let mut known = lock(&self.known);
        if known.iter().filter(|job| matches!(*lock(&job.state), State::Waiting(_))).count() >= limits.queue {
            return Err(Refusal::new(503, "too many restorations are waiting; cancel one, or wait until one is done"));
        }
        let job = Arc::new(Job {
            id,
            state: Mutex::new(State::Waiting(Arc::new(work))),
            progress: AtomicU64::new(0),
            unwanted: AtomicBool::new(false),
            asked: Mutex::new(Instant::now()),
        });
        known.push_back(Arc::clone(&job));
        self.news.notify_all();
        Ok(job)
    }

    pub(crate) fn get(&self, id: &str) -> Option<Arc<Job>> {
        lock(&self.known).iter().find(|job| job.id == id).cloned()
    }

    /// How many are to end before this one can begin.
    pub(crate) fn ahead_of(&self, job: &Job) -> usize {
        lock(&self.known).iter().take_while(|other| other.id != job.id).filter(|other| !other.has_ended()).count()
    }

    /// Does one restoration after the other, until [`close`](Self::close).
    pub(crate) fn work(&self, threads: usize, limits: &Limits) {
        while let Some((job, work)) = self.next(limits) {
            job.run(&work, threads, limits.idle_time);
        }
    }

    fn next(&self, limits: &Limits) -> Option<(Arc<Job>, Arc<Work>)> {
        let mut known = lock(&self.known);
        while !self.closed.load(Ordering::Relaxed) {
            tidy(&mut known, limits);
            if let Some(next) = known.iter().find_map(|job| Some((Arc::clone(job), job.start()?))) {
                return Some(next);
            }
            let waited = self.news.wait_timeout(known, limits.idle_time);
            known = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        None
    }

    /// Stops what runs and starts nothing more.
    pub(crate) fn close(&self) {
        let known = lock(&self.known);
        self.closed.store(true, Ordering::Relaxed);
        for job in known.iter() {
            job.cancel();
        }
        self.news.notify_all();
    }
}

/// Drops what nobody asks for, and the oldest results if they are too many or too large; the newest always stays.
fn tidy(known: &mut VecDeque<Arc<Job>>, limits: &Limits) {
    known.retain(|job| !job.is_forgotten(limits.idle_time));
    let (mut count, mut bytes) = (0, 0);
    let mut stay: Vec<bool> = known
        .iter()
        .rev()
        .map(|job| {
            count += usize::from(job.has_ended());
            bytes += job.bytes();
            !job.has_ended() || count == 1 || (count <= ENDED && bytes <= limits.kept_bytes)
        })
        .collect();
    known.retain(|_| stay.pop().unwrap_or(true));
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
