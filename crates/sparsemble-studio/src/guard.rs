//! Whether a request comes from our own page: other pages in the same browser can reach 127.0.0.1 too.
//!
//! | another page may | and fails because |
//! | --- | --- |
//! | give its own name our address (DNS rebinding) | `Host` is not ours |
//! | send requests from its own origin | `Origin` and `Sec-Fetch-Site` say so, and it does not know the token |
//! | read our page to learn the token | no answer allows other origins to read it |
//! | put our page into a frame and have it clicked on | no answer may be framed |

use std::io;

use crate::http::{Head, Refusal};

/// The header in which the page sends its token; one that no form or image of another page can send.
const TOKEN: &str = "x-sparsemble-token";

/// Which requests are let in.
pub(crate) struct Guard {
    hosts: [String; 2],
    token: String,
}

impl Guard {
    pub(crate) fn new(port: u16) -> io::Result<Self> {
        Ok(Self { hosts: [format!("127.0.0.1:{port}"), format!("localhost:{port}")], token: secret()? })
    }

    /// What the page must send with every call.
    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// Refuses requests to another name than ours.
    pub(crate) fn check_host(&self, head: &Head) -> Result<(), Refusal> {
        let host = head.header("host")?.unwrap_or_default();
        if self.hosts.iter().any(|ours| ours.eq_ignore_ascii_case(host)) {
            return Ok(());
        }
        Err(Refusal::new(403, format!("this is not {host:?}; open http://{}/", self.hosts[0])))
    }

    /// Refuses requests for the files of the page that are neither its own nor those of someone who opens it.
    pub(crate) fn check_reader(head: &Head) -> Result<(), Refusal> {
        let opens =
            head.header("sec-fetch-mode")? == Some("navigate") && head.header("sec-fetch-dest")? == Some("document");
        match head.header("sec-fetch-site")? {
            None | Some("same-origin" | "none") => Ok(()),
            Some(_) if opens => Ok(()),
            Some(_) => Err(foreign()),
        }
    }

    /// Refuses calls that our own page would not make.
    pub(crate) fn check_call(&self, head: &Head) -> Result<(), Refusal> {
        let ours =
            |origin: &str| origin.strip_prefix("http://").is_some_and(|host| self.hosts.iter().any(|h| h == host));
        match head.header("origin")? {
            Some(origin) if !ours(origin) => return Err(foreign()),
            // Browsers name the origin of whatever may change something.
            None if head.method != "GET" => return Err(foreign()),
            _ => {}
        }
        if head.header("sec-fetch-site")?.is_some_and(|site| site != "same-origin") {
            return Err(foreign());
        }
        match head.header(TOKEN)? {
            Some(token) if same(token.as_bytes(), self.token.as_bytes()) => Ok(()),
            _ => Err(Refusal::new(403, "the studio was started anew since this page was opened; load the page again")),
        }
    }
}

fn foreign() -> Refusal {
    Refusal::new(403, "only the studio's own page may ask for this")
}

/// Whether two are equal, in a time that does not tell how much of them is.
fn same(left: &[u8], right: &[u8]) -> bool {
    left.len() == right.len() && left.iter().zip(right).fold(0, |differing, (l, r)| differing | (l ^ r)) == 0
}

/// 128 random bits of the system, as text: tokens, and names that cannot be guessed.
pub(crate) fn secret() -> io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}
