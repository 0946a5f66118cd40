//! What whoever starts a studio decides.

use std::time::Duration;

/// How a studio is run.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The port of 127.0.0.1 to listen on; 0 is any that is free.
    pub port: u16,
    /// The threads of a restoration; 0 is one for each core.
    pub threads: usize,
    /// Pictures that the page offers to those who have none at hand.
    pub samples: &'static [Sample],
    /// What is refused.
    pub limits: Limits,
}

/// A picture that is part of the program: a PNG file.
#[derive(Debug)]
pub struct Sample {
    /// Its name, such as `camera.png`.
    pub name: &'static str,
    /// The bytes of its file.
    pub bytes: &'static [u8],
}

/// What is refused, and how long anything is waited for or kept.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Bytes of a picture file.
    pub upload_bytes: usize,
    /// Pixels of a picture; a result may have four times as many.
    pub pixels: u64,
    /// Connections at a time.
    pub connections: usize,
    /// Picture files that are received and decoded at a time.
    pub uploads: usize,
    /// Restorations that wait for their turn.
    pub queue: usize,
    /// Bytes of pictures that are kept, and bytes of results: the oldest go first.
    pub kept_bytes: usize,
    /// Time for the head of a request.
    pub head_time: Duration,
    /// Time for the rest of a request, and for an answer to be taken.
    pub body_time: Duration,
    /// What nobody has asked for in this time is dropped, and if it is running it is stopped.
    pub idle_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            upload_bytes: 32 << 20,
            pixels: 16_000_000,
            connections: 32,
            uploads: 2,
            queue: 8,
            kept_bytes: 256 << 20,
            head_time: Duration::from_secs(5),
            body_time: Duration::from_mins(1),
            idle_time: Duration::from_mins(15),
        }
    }
}

impl Limits {
    /// Pixels of a result.
    pub(crate) fn result_pixels(&self) -> u64 {
        self.pixels.saturating_mul(4)
    }
}
