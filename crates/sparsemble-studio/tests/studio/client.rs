//! A studio that runs for a test, and a client that can also say what no browser would.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread::JoinHandle;

use serde_json::{Value, json};
use sparsemble::image::{BitDepth, GrayImage, Size, decode, encode_png};
use sparsemble_studio::{Limits, Sample, Settings, Stopper, Studio};

static SAMPLES: [Sample; 1] = [Sample { name: "camera.png", bytes: CAMERA }];
const CAMERA: &[u8] = include_bytes!("../../../../data/cc0/camera.png");

/// A studio on any free port, ended when it is dropped.
pub(crate) struct Running {
    pub(crate) port: u16,
    token: String,
    stopper: Stopper,
    server: Option<JoinHandle<std::io::Result<()>>>,
}

impl Running {
    pub(crate) fn new() -> Self {
        Self::with(Limits::default())
    }

    pub(crate) fn with(limits: Limits) -> Self {
        let settings = Settings { port: 0, threads: 1, samples: &SAMPLES, limits };
        let studio = Studio::bind(settings).unwrap();
        let port = studio.url().trim_end_matches('/').rsplit_once(':').unwrap().1.parse().unwrap();
        let stopper = studio.stopper();
        let server = Some(std::thread::spawn(move || studio.serve()));
        let mut running = Self { port, token: String::new(), stopper, server };
        let page = running.get("/").send().text();
        running.token.push_str(page.split("data-token=\"").nth(1).unwrap().split('"').next().unwrap());
        running
    }

    /// Ends it, and waits until it has.
    pub(crate) fn stop(&mut self) {
        self.stopper.stop();
        if let Some(server) = self.server.take() {
            server.join().unwrap().unwrap();
        }
    }

    pub(crate) fn connect(&self) -> TcpStream {
        TcpStream::connect(("127.0.0.1", self.port)).unwrap()
    }

    /// A request as the page makes it.
    pub(crate) fn request(&self, method: &str, path: &str) -> Request<'_> {
        let host = format!("127.0.0.1:{}", self.port);
        let headers = [
            ("Host", host.clone()),
            ("Origin", format!("http://{host}")),
            ("Sec-Fetch-Site", "same-origin".into()),
            ("X-Sparsemble-Token", self.token.clone()),
        ];
        let headers = headers.map(|(name, value)| (name.to_owned(), value)).to_vec();
        Request { studio: self, start: format!("{method} {path} HTTP/1.1"), headers, body: Vec::new() }
    }

    pub(crate) fn get(&self, path: &str) -> Request<'_> {
        self.request("GET", path)
    }

    pub(crate) fn upload(&self, file: &[u8]) -> Answer {
        self.request("POST", "/api/pictures").body("application/octet-stream", file).send()
    }

    /// Uploads a picture that is not refused: its name.
    pub(crate) fn picture(&self, file: &[u8]) -> String {
        let answer = self.upload(file);
        assert_eq!(answer.status, 201, "{}", answer.text());
        answer.json()["id"].as_str().unwrap().to_owned()
    }

    pub(crate) fn ask(&self, description: &Value) -> Answer {
        self.request("POST", "/api/jobs").body("application/json", description.to_string().as_bytes()).send()
    }

    /// Starts a job that is not refused: its name.
    pub(crate) fn start(&self, picture: &str, task: &Value, simulate: bool) -> String {
        let answer = self.ask(&json!({ "picture": picture, "task": task, "simulate": simulate }));
        assert_eq!(answer.status, 201, "{}", answer.text());
        answer.json()["id"].as_str().unwrap().to_owned()
    }

    pub(crate) fn job(&self, id: &str) -> Value {
        self.get(&format!("/api/jobs/{id}")).send().json()
    }

    pub(crate) fn dismiss(&self, id: &str) -> Answer {
        self.request("DELETE", &format!("/api/jobs/{id}")).send()
    }

    /// Asks for a job until it is as it should be.
    pub(crate) fn until(&self, id: &str, state: impl Fn(&Value) -> bool) -> Value {
        loop {
            let job = self.job(id);
            if state(&job) {
                return job;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }

    /// Waits for the end of a job, which is this.
    pub(crate) fn ended(&self, id: &str, state: &str) -> Value {
        let job = self.until(id, |job| !["waiting", "running"].contains(&job["state"].as_str().unwrap_or_default()));
        assert_eq!(job["state"], state, "{job}");
        job
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
    }
}

pub(crate) struct Request<'a> {
    studio: &'a Running,
    start: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request<'_> {
    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(found, _)| found != name);
        self
    }

    pub(crate) fn also(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With another value of a header.
    pub(crate) fn with(self, name: &str, value: &str) -> Self {
        self.without(name).also(name, value)
    }

    pub(crate) fn body(mut self, kind: &str, body: &[u8]) -> Self {
        self.body = body.to_vec();
        self.with("Content-Type", kind).with("Content-Length", &body.len().to_string())
    }

    /// The bytes of the request up to its body.
    pub(crate) fn head(&self) -> Vec<u8> {
        let lines = self.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n"));
        format!("{}\r\n{}\r\n", self.start, lines.collect::<Vec<_>>().concat()).into_bytes()
    }

    pub(crate) fn send(self) -> Answer {
        let mut stream = self.studio.connect();
        stream.write_all(&[self.head(), self.body].concat()).unwrap();
        Answer::read(stream)
    }
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// All that comes until the connection is closed.
    pub(crate) fn read(mut stream: TcpStream) -> Self {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").expect("no answer") + 4;
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Self { status, head, body: bytes[end..].to_vec() }
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("{} {}", self.head, self.text()))
    }

    /// Refused with this status, and a sentence that says this.
    #[track_caller]
    pub(crate) fn refused(&self, status: u16, part: &str) {
        assert_eq!(self.status, status, "{}", self.text());
        let error = self.json()["error"].as_str().unwrap().to_owned();
        assert!(error.contains(part), "{error}");
    }
}

/// A part of a photograph.
pub(crate) fn photograph(side: usize) -> GrayImage {
    decode(CAMERA).unwrap().cropped((90, 150), Size { width: side, height: side }).unwrap()
}

pub(crate) fn png(image: &GrayImage) -> Vec<u8> {
    encode_png(image, BitDepth::Eight).unwrap()
}

/// A picture and a restoration of it that takes long enough to be cancelled.
pub(crate) fn long_job(studio: &Running) -> String {
    // A photograph again and again, side by side and one below the other.
    let (tile, size) = (photograph(360), Size { width: 1080, height: 1080 });
    let many = GrayImage::from_fn(size, |row, column| tile.row(row % 360)[column % 360]).unwrap();
    let picture = studio.picture(&png(&many));
    studio.start(&picture, &json!({ "name": "recover", "measurements": 8 }), false)
}

/// One that is done in no time.
pub(crate) fn short_job(studio: &Running) -> String {
    let picture = studio.picture(&png(&photograph(24)));
    studio.start(&picture, &json!({ "name": "enlarge", "scale": 2 }), false)
}
