//! A request: its head first, its body only if somebody wants it.

use std::io::{self, ErrorKind, Read};

use super::{Refusal, Wire};

/// The longest head; those of browsers have about one thousand bytes.
const HEAD_BYTES: usize = 16 << 10;
/// The most lines in it.
const HEADERS: usize = 64;

/// What a request begins with.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) method: String,
    /// Without what follows a question mark.
    pub(crate) path: String,
    headers: Vec<(String, String)>,
    /// Bytes of the body that came together with the head.
    early: Vec<u8>,
}

impl Head {
    /// Reads a head, and refuses what is none.
    pub(crate) fn read(wire: &mut Wire) -> Result<Self, Refusal> {
        let mut bytes = Vec::new();
        let mut buffer = [0; 4096];
        loop {
            let count = wire.read(&mut buffer).map_err(|error| unreadable(&error))?;
            if count == 0 {
                return Err(Refusal::new(400, "the request ended before it was complete"));
            }
            bytes.extend_from_slice(&buffer[..count]);
            if let Some(head) = Self::parse(&bytes)? {
                return Ok(head);
            }
            if bytes.len() > HEAD_BYTES {
                return Err(too_long());
            }
        }
    }

    /// The head at the beginning of these bytes, if all of it is there.
    fn parse(bytes: &[u8]) -> Result<Option<Self>, Refusal> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS];
        let mut request = httparse::Request::new(&mut headers);
        let length = match request.parse(bytes) {
            Ok(httparse::Status::Complete(length)) if length <= HEAD_BYTES => length,
            Ok(httparse::Status::Partial) => return Ok(None),
            Ok(httparse::Status::Complete(_)) | Err(httparse::Error::TooManyHeaders) => return Err(too_long()),
            Err(error) => return Err(Refusal::new(400, format!("this is no request: {error}"))),
        };
        let text = |header: &httparse::Header<'_>| {
            let value = std::str::from_utf8(header.value);
            value.map(|value| (header.name.to_ascii_lowercase(), value.to_owned()))
        };
        let headers = request.headers.iter().map(text).collect::<Result<_, _>>();
        let headers = headers.map_err(|_| Refusal::new(400, "a header of the request is no text"))?;
        let target = request.path.unwrap_or_default();
        let path = target.split_once('?').map_or(target, |(path, _)| path).to_owned();
        let method = request.method.unwrap_or_default().to_owned();
        Ok(Some(Self { method, path, headers, early: bytes[length..].to_vec() }))
    }

    /// The value of a header. One that is there twice is refused: who knows which of the two somebody else has checked.
    pub(crate) fn header(&self, name: &str) -> Result<Option<&str>, Refusal> {
        let mut values = self.headers.iter().filter(|(found, _)| found == name).map(|(_, value)| value.as_str());
        match (values.next(), values.next()) {
            (_, Some(_)) => Err(Refusal::new(400, format!("the request has two headers {name}"))),
            (value, None) => Ok(value),
        }
    }

    /// Reads the body, of at most this many bytes; a larger one is refused before any of it is read.
    pub(crate) fn body(self, wire: &mut Wire, most: usize) -> Result<Vec<u8>, Refusal> {
        if self.header("transfer-encoding")?.is_some() {
            return Err(Refusal::new(501, "send the body as a whole, with its length"));
        }
        let length =
            self.header("content-length")?.ok_or_else(|| Refusal::new(411, "the length of the body is missing"))?;
        // A sign or a space is no part of a length, though a number may be parsed with a sign.
        let digits = length.bytes().all(|byte| byte.is_ascii_digit());
        let length: usize = match length.parse() {
            Ok(length) if digits => length,
            _ => return Err(Refusal::new(400, "the length of the body is no number")),
        };
        if length > most {
            return Err(Refusal::new(413, too_large(length, most)));
        }
        let mut body = self.early;
        body.truncate(length);
        let rest = (length - body.len()) as u64;
        wire.take(rest).read_to_end(&mut body).map_err(|error| unreadable(&error))?;
        if body.len() < length {
            return Err(Refusal::new(400, "the body of the request is shorter than its length says"));
        }
        Ok(body)
    }
}

fn too_long() -> Refusal {
    Refusal::new(431, "the head of the request is too long")
}

fn too_large(length: usize, most: usize) -> String {
    let mebibytes = |bytes: usize| bytes as f64 / f64::from(1 << 20);
    format!("this has {:.1} MB, more than the {:.1} MB that are allowed", mebibytes(length), mebibytes(most))
}

fn unreadable(error: &io::Error) -> Refusal {
    match error.kind() {
        ErrorKind::TimedOut | ErrorKind::WouldBlock => Refusal::new(408, "the request took too long"),
        _ => Refusal::new(400, format!("the request could not be read: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_parsed_once_it_is_whole() {
        let bytes = b"POST /api/jobs?x=1 HTTP/1.1\r\nHost: a\r\nTWICE: 1\r\ntwice: 2\r\n\r\nbody";
        for end in 0..bytes.len() - 4 {
            assert!(Head::parse(&bytes[..end]).unwrap().is_none());
        }
        let head = Head::parse(bytes).unwrap().unwrap();
        assert_eq!(
            (head.method.as_str(), head.path.as_str(), head.early.as_slice()),
            ("POST", "/api/jobs", &b"body"[..])
        );
        assert_eq!(head.header("host").unwrap(), Some("a"));
        assert_eq!(head.header("origin").unwrap(), None);
        assert!(head.header("twice").is_err());
    }

    #[test]
    fn what_is_no_head_is_refused() {
        for (bytes, status) in [
            (b"GET\r\n\r\n".to_vec(), 400),
            (b"GET / HTTP/1.1\r\nHost: \xff\r\n\r\n".to_vec(), 400),
            ([b"GET / HTTP/1.1\r\n".as_slice(), &b"a: b\r\n".repeat(65), b"\r\n"].concat(), 431),
            ([b"GET / HTTP/1.1\r\na: ".as_slice(), &[b'b'; HEAD_BYTES], b"\r\n\r\n"].concat(), 431),
        ] {
            assert_eq!(Head::parse(&bytes).unwrap_err().status, status);
        }
    }
}
