//! How long work will take, by how long it has taken so far.

use std::time::{Duration, Instant};

/// The share of the work that must be done before time from before it was first heard of counts: preparing is no measure.
const LEAST_SHARE: f64 = 0.02;

/// When the work began, and what was heard of it first and last.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    begun: Instant,
    heard: Option<[Heard; 2]>,
}

#[derive(Debug, Clone, Copy)]
struct Heard {
    at: Instant,
    done: u64,
}

impl Pace {
    pub(crate) fn begin(now: Instant) -> Self {
        Self { begun: now, heard: None }
    }

    /// So much is done.
    pub(crate) fn hear(&mut self, now: Instant, done: u64) {
        let this = Heard { at: now, done };
        self.heard = match self.heard {
            Some([first, last]) if done == last.done => Some([first, last]),
            Some([first, last]) if done > last.done => Some([first, this]),
            _ => Some([this, this]),
        };
    }

    /// What is left, at the mean speed so far; nobody knows before some of it is done.
    pub(crate) fn left(&self, now: Instant, total: u64) -> Option<Duration> {
        let [first, last] = self.heard?;
        let start = if last.done > first.done {
            first
        } else if last.done as f64 >= LEAST_SHARE * total as f64 {
            Heard { at: self.begun, done: 0 }
        } else {
            return None;
        };
        let done = last.done.checked_sub(start.done).filter(|done| *done > 0)?;
        let seconds = (last.at - start.at).as_secs_f64() / done as f64 * total.saturating_sub(last.done) as f64;
        Some(Duration::try_from_secs_f64(seconds).ok()?.saturating_sub(now - last.at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(start: Instant, seconds: u64) -> Instant {
        start + Duration::from_secs(seconds)
    }

    #[test]
    fn time_that_was_spent_before_the_first_step_is_not_held_against_the_rest() {
        let start = Instant::now();
        let mut pace = Pace::begin(start);
        // A minute to prepare, and then one of a thousand parts each second.
        pace.hear(after(start, 60), 1);
        assert_eq!(pace.left(after(start, 60), 1000), None);
        pace.hear(after(start, 61), 2);
        pace.hear(after(start, 70), 11);
        assert_eq!(pace.left(after(start, 70), 1000), Some(Duration::from_secs(989)));
        // Time goes on while nothing is heard.
        assert_eq!(pace.left(after(start, 80), 1000), Some(Duration::from_secs(979)));
        assert_eq!(pace.left(after(start, 2000), 1000), Some(Duration::ZERO));
    }

    #[test]
    fn of_few_large_steps_the_first_tells_how_long_the_others_take() {
        let start = Instant::now();
        let mut pace = Pace::begin(start);
        assert_eq!(pace.left(after(start, 5), 4), None);
        pace.hear(after(start, 10), 1);
        assert_eq!(pace.left(after(start, 10), 4), Some(Duration::from_secs(30)));
        pace.hear(after(start, 12), 0);
        assert_eq!(pace.left(after(start, 12), 4), None, "other work has begun");
    }
}
