//! `sparsemble studio`: the page of `sparsemble-studio`, started and ended.

use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use serde_json::json;
use sparsemble_studio::{Limits, Sample, Settings, Studio};

use crate::args::StudioArguments;
use crate::interrupt;
use crate::output::{print, warn};
use crate::photographs::{CAMERA, CHELSEA};

/// No picture that the models of the program have learned from (crates/sparsemble/models/README.md): they would be
/// better on it than on yours.
static SAMPLES: [Sample; 2] =
    [Sample { name: "camera.png", bytes: CAMERA }, Sample { name: "chelsea.png", bytes: CHELSEA }];

pub(crate) fn run(arguments: &StudioArguments) -> Result<()> {
    let limits = Limits {
        upload_bytes: (arguments.max_megabytes as usize) << 20,
        pixels: u64::from(arguments.max_megapixels) * 1_000_000,
        ..Limits::default()
    };
    let settings = Settings { port: arguments.port, threads: arguments.threads, samples: &SAMPLES, limits };
    let studio = Studio::bind(settings).with_context(|| {
        format!("cannot listen on port {} of 127.0.0.1; give another by --port, or 0 for any", arguments.port)
    })?;
    let url = studio.url();
    let stopper = studio.stopper();
    interrupt::tell(move || stopper.stop());
    let object = json!({ "program": "sparsemble studio", "version": env!("CARGO_PKG_VERSION"), "url": url });
    print(arguments.json, &object, &format!("the studio is at {url} (Ctrl-C ends it)"))?;
    if arguments.open && browser(&url).is_err() {
        warn(&format!("no browser could be opened; go to {url}"))?;
    }
    Ok(studio.serve()?)
}

/// Opens the page by what the system has for it.
fn browser(url: &str) -> std::io::Result<()> {
    let words: &[&str] = match std::env::consts::OS {
        "macos" => &["open"],
        "windows" => &["rundll32", "url.dll,FileProtocolHandler"],
        _ => &["xdg-open"],
    };
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map(drop)
}
