//! Connections: accepted, counted, each given to a thread of its own.

use std::io::{self, Read};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::guard::Guard;
use crate::http::{Answer, Refusal, Wire};
use crate::jobs::Jobs;
use crate::pictures::Pictures;
use crate::routes;
use crate::settings::Settings;

/// How long to wait when the system has no connection to give, such as when too many files are open; and for what one
/// has to say that is not wanted.
const PAUSE: Duration = Duration::from_millis(50);

/// How long to try to wake up whoever waits for a connection.
const FAREWELL: Duration = Duration::from_secs(1);

/// A studio that has an address.
pub struct Studio {
    listener: TcpListener,
    shared: Arc<Shared>,
}

/// What all threads of a studio know.
pub(crate) struct Shared {
    pub(crate) settings: Settings,
    pub(crate) guard: Guard,
    pub(crate) pictures: Pictures,
    pub(crate) jobs: Jobs,
    pub(crate) uploads: Turnstile,
    connections: Turnstile,
    address: SocketAddr,
    stopped: AtomicBool,
}

/// Ends a studio from another thread.
#[derive(Clone)]
pub struct Stopper(Arc<Shared>);

impl Studio {
    /// Listens on 127.0.0.1, and nowhere else.
    ///
    /// # Errors
    /// If the port is taken, or the system has no random numbers.
    pub fn bind(settings: Settings) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, settings.port))?;
        let address = listener.local_addr()?;
        let shared = Shared {
            guard: Guard::new(address.port())?,
            pictures: Pictures::default(),
            jobs: Jobs::default(),
            uploads: Turnstile::new(settings.limits.uploads),
            connections: Turnstile::new(settings.limits.connections),
            address,
            stopped: AtomicBool::new(false),
            settings,
        };
        Ok(Self { listener, shared: Arc::new(shared) })
    }

    /// Where to point the browser.
    pub fn url(&self) -> String {
        format!("http://{}/", self.shared.address)
    }

    /// For whoever is to end it.
    pub fn stopper(&self) -> Stopper {
        Stopper(Arc::clone(&self.shared))
    }

    /// Serves the page until [`Stopper::stop`].
    ///
    /// # Errors
    /// If no thread can be made for the restorations.
    pub fn serve(self) -> io::Result<()> {
        let shared = Arc::clone(&self.shared);
        let worker = thread::Builder::new().name("studio-worker".into());
        let worker = worker.spawn(move || shared.jobs.work(shared.settings.threads, &shared.settings.limits))?;
        for stream in self.listener.incoming() {
            if self.shared.stopped.load(Ordering::Relaxed) {
                break;
            }
            match stream {
                Ok(stream) => self.welcome(stream),
                Err(_) => thread::sleep(PAUSE),
            }
        }
        // It has caught the faults of restorations; if it has one of its own there is nothing left to do.
        let _ended = worker.join();
        Ok(())
    }

    /// Answers on a thread of its own, if there are not too many.
    fn welcome(&self, stream: TcpStream) {
        let limits = &self.shared.settings.limits;
        let mut wire = Wire::new(stream, limits.head_time);
        let Some(turn) = self.shared.connections.enter() else {
            // Nobody else is welcomed meanwhile, so this must be short. What was sent is read, as to close with bytes unread
            // would take the answer back.
            wire.allow(PAUSE);
            let _head = wire.read(&mut [0; 4096]);
            // One that sends nothing has used up the time for reading, not that for its answer.
            wire.allow(PAUSE);
            let busy = Answer::from(Refusal::new(503, "too many requests at a time; try again"));
            let _unanswered = busy.write(&mut wire);
            return;
        };
        let shared = Arc::clone(&self.shared);
        let conversation = thread::Builder::new().name("studio-connection".into());
        // Without a thread the connection is closed, which is all the answer there can be.
        let _refused = conversation.spawn(move || {
            let answer = routes::answer(&shared, &mut wire);
            wire.allow(shared.settings.limits.body_time);
            if answer.write(&mut wire).is_ok() {
                wire.close();
            }
            drop(turn);
        });
    }
}

impl Stopper {
    /// Stops what runs and ends [`Studio::serve`].
    pub fn stop(&self) {
        self.0.stopped.store(true, Ordering::Relaxed);
        self.0.jobs.close();
        // Whoever waits for a connection wakes up by one.
        let _woken = TcpStream::connect_timeout(&self.0.address, FAREWELL);
    }
}

/// Lets in so many at a time.
#[derive(Clone)]
pub(crate) struct Turnstile {
    inside: Arc<AtomicUsize>,
    most: usize,
}

/// A place inside, until it is dropped.
pub(crate) struct Turn(Arc<AtomicUsize>);

impl Turnstile {
    fn new(most: usize) -> Self {
        Self { inside: Arc::new(AtomicUsize::new(0)), most }
    }

    pub(crate) fn enter(&self) -> Option<Turn> {
        let turn = Turn(Arc::clone(&self.inside));
        // One that finds no room leaves again at once, by being dropped.
        (self.inside.fetch_add(1, Ordering::Relaxed) < self.most).then_some(turn)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
