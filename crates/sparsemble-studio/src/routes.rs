//! Which part of the studio answers a request.
//!
//! | request | answer |
//! | --- | --- |
//! | `GET /` and the files it names | the page |
//! | `POST /api/pictures` | keeps the picture file in the body: its name and size |
//! | `GET /api/pictures/ID` | the picture as PNG |
//! | `POST /api/jobs` | starts a restoration: its name |
//! | `GET /api/jobs/ID` | how far it is, and what came of it |
//! | `GET /api/jobs/ID/after`, `…/before` | the result as PNG, and what to look at it beside |
//! | `DELETE /api/jobs/ID` | cancels it, or drops its result |

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};
use sparsemble::metrics::Quality;

use crate::guard::Guard;
use crate::http::{Answer, Head, Refusal, Wire};
use crate::jobs::{Job, State};
use crate::page;
use crate::pictures::Picture;
use crate::server::Shared;
use crate::work::{Outcome, Task, Work};

/// The longest description of a restoration.
const DESCRIPTION_BYTES: usize = 4 << 10;

/// What the page sends to start a restoration.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    picture: String,
    task: Described,
    #[serde(default)]
    simulate: bool,
}

#[derive(Deserialize)]
#[serde(tag = "name", rename_all = "lowercase", deny_unknown_fields)]
enum Described {
    Enlarge { scale: usize },
    Denoise { sigma: f64 },
    Inpaint { mask: String },
    Recover { measurements: usize },
}

/// Reads a request and finds its answer.
pub(crate) fn answer(shared: &Shared, wire: &mut Wire) -> Answer {
    respond(shared, wire).unwrap_or_else(Answer::from)
}

fn respond(shared: &Shared, wire: &mut Wire) -> Result<Answer, Refusal> {
    let head = Head::read(wire)?;
    wire.allow(shared.settings.limits.body_time);
    shared.guard.check_host(&head)?;
    let path = head.path.clone();
    let Some(call) = path.strip_prefix("/api/") else {
        Guard::check_reader(&head)?;
        if head.method != "GET" {
            return Err(wrong_method());
        }
        return page::file(&path, &shared.guard, &shared.settings).ok_or_else(nothing_here);
    };
    shared.guard.check_call(&head)?;
    let method = head.method.clone();
    match (method.as_str(), call.split('/').collect::<Vec<_>>().as_slice()) {
        ("POST", ["pictures"]) => keep_picture(shared, head, wire),
        ("GET", ["pictures", id]) => show_picture(shared, id),
        ("POST", ["jobs"]) => start_job(shared, head, wire),
        ("GET", ["jobs", id]) => {
            let job = job(shared, id)?;
            Ok(Answer::json(200, &told(shared, &job)))
        }
        ("GET", ["jobs", id, which @ ("before" | "after")]) => show_result(shared, id, which),
        ("DELETE", ["jobs", id]) => {
            let job = job(shared, id)?;
            job.cancel();
            Ok(Answer::json(202, &told(shared, &job)))
        }
        (_, ["pictures" | "jobs", ..]) => Err(wrong_method()),
        _ => Err(nothing_here()),
    }
}

fn keep_picture(shared: &Shared, head: Head, wire: &mut Wire) -> Result<Answer, Refusal> {
    expect_kind(&head, "application/octet-stream")?;
    let limits = &shared.settings.limits;
    // Held until the picture is decoded: what is in memory at a time is bounded.
    let _turn = shared.uploads.enter().ok_or_else(|| Refusal::new(503, "other pictures are being read; try again"))?;
    let bytes = head.body(wire, limits.upload_bytes)?;
    let picture = Picture::decode(&bytes, limits).map_err(|error| Refusal::new(422, error.to_string()))?;
    let layout = picture.layout.clone();
    let kept = shared.pictures.keep(Arc::new(picture), limits);
    let id = kept.map_err(|error| Refusal::new(503, format!("no random number could be had: {error}")))?;
    Ok(Answer::json(
        201,
        &json!({
            "id": id,
            "width": layout.size.width,
            "height": layout.size.height,
            "channels": layout.channels,
        }),
    ))
}

fn show_picture(shared: &Shared, id: &str) -> Result<Answer, Refusal> {
    let png = picture(shared, id)?.png().map_err(|error| Refusal::new(422, error.to_string()))?;
    Ok(Answer::file("image/png", Arc::new(png)))
}

fn start_job(shared: &Shared, head: Head, wire: &mut Wire) -> Result<Answer, Refusal> {
    expect_kind(&head, "application/json")?;
    let body = head.body(wire, DESCRIPTION_BYTES)?;
    let described: Description =
        serde_json::from_slice(&body).map_err(|error| Refusal::new(422, format!("no such restoration: {error}")))?;
    let task = match described.task {
        Described::Enlarge { scale } => Task::Enlarge(scale),
        Described::Denoise { sigma } => Task::Denoise(sigma),
        Described::Inpaint { mask } => Task::Inpaint(picture(shared, &mask)?),
        Described::Recover { measurements } => Task::Recover(measurements),
    };
    let work = Work { picture: picture(shared, &described.picture)?, task, simulate: described.simulate };
    work.check(&shared.settings.limits)?;
    let job = shared.jobs.add(work, &shared.settings.limits)?;
    Ok(Answer::json(201, &told(shared, &job)))
}

fn show_result(shared: &Shared, id: &str, which: &str) -> Result<Answer, Refusal> {
    let State::Done(outcome) = job(shared, id)?.state() else {
        return Err(Refusal::new(404, "there is no result"));
    };
    let png = if which == "after" { Some(&outcome.after) } else { outcome.before.as_ref() };
    png.map(|png| Answer::file("image/png", Arc::clone(png))).ok_or_else(nothing_here)
}

/// What is to be known of a restoration.
fn told(shared: &Shared, job: &Job) -> Value {
    let mut object = json!({ "id": job.id, "progress": job.progress() });
    let state = match job.state() {
        State::Waiting(_) => {
            object["ahead"] = shared.jobs.ahead_of(job).into();
            "waiting"
        }
        State::Running => "running",
        State::Cancelled => "cancelled",
        State::Failed(error) => {
            object["error"] = error.into();
            "failed"
        }
        State::Done(outcome) => {
            object["result"] = result(&outcome);
            "done"
        }
    };
    object["state"] = state.into();
    object
}

fn result(outcome: &Outcome) -> Value {
    // Pictures that are the same have no PSNR that JSON can hold.
    let figures = |quality: &Quality| {
        let psnr = if quality.psnr.is_finite() { json!(quality.psnr) } else { json!("inf") };
        json!({ "psnr": psnr, "ssim": quality.ssim })
    };
    let [before, after] = outcome.quality.each_ref().map(|quality| quality.as_ref().map(figures));
    json!({
        "width": outcome.size.width,
        "height": outcome.size.height,
        "seconds": outcome.seconds,
        "has_before": outcome.before.is_some(),
        "before": before,
        "after": after,
    })
}

fn picture(shared: &Shared, id: &str) -> Result<Arc<Picture>, Refusal> {
    shared.pictures.get(id).ok_or_else(|| Refusal::new(404, "the picture is no longer there; choose it again"))
}

fn job(shared: &Shared, id: &str) -> Result<Arc<Job>, Refusal> {
    let job = shared.jobs.get(id).ok_or_else(|| Refusal::new(404, "the result is no longer there; start again"))?;
    job.touch();
    Ok(job)
}

/// Forms of other pages can send neither of the kinds that calls want.
fn expect_kind(head: &Head, kind: &str) -> Result<(), Refusal> {
    if head.header("content-type")? == Some(kind) {
        return Ok(());
    }
    Err(Refusal::new(415, format!("send this as {kind}")))
}

fn wrong_method() -> Refusal {
    Refusal::new(405, "this cannot be done here")
}

fn nothing_here() -> Refusal {
    Refusal::new(404, "there is nothing here")
}
