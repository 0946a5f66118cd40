//! A connection on which nothing can be waited for longer than was said.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

/// How long the other side may take to close a connection after its answer.
const FAREWELL: Duration = Duration::from_secs(2);

/// A connection and the time until which all reading and writing has to be done.
///
/// The time of a socket is for each call alone: a client that sends a byte now and then would never run out of it.
pub(crate) struct Wire {
    stream: TcpStream,
    deadline: Instant,
}

impl Wire {
    pub(crate) fn new(stream: TcpStream, time: Duration) -> Self {
        Self { stream, deadline: Instant::now() + time }
    }

    /// From now on there is this much time.
    pub(crate) fn allow(&mut self, time: Duration) {
        self.deadline = Instant::now() + time;
    }

    fn left(&self) -> io::Result<Option<Duration>> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(Some(left)) }
    }

    /// Ends the connection so that the answer arrives even if not all of the request was read: to close with bytes unread
    /// would make the system take the answer back.
    pub(crate) fn close(mut self) {
        self.allow(FAREWELL);
        if self.stream.shutdown(Shutdown::Write).is_ok() {
            let _unread = io::copy(&mut self, &mut io::sink());
        }
    }
}

impl Read for Wire {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        self.stream.read(buffer)
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}
