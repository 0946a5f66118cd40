//! The page: plain files, compiled in and served as they are.

use std::sync::Arc;

use crate::guard::Guard;
use crate::http::Answer;
use crate::settings::Settings;
use crate::work::BLOCK_PIXELS;

const HTML: &str = include_str!("../page/index.html");

/// Everything but the page itself: where it is asked for, what it is, what is in it.
const FILES: [(&str, &str, &str); 6] = [
    ("/studio.css", "text/css; charset=utf-8", include_str!("../page/studio.css")),
    ("/studio.js", "text/javascript; charset=utf-8", include_str!("../page/studio.js")),
    ("/calls.js", "text/javascript; charset=utf-8", include_str!("../page/calls.js")),
    ("/brush.js", "text/javascript; charset=utf-8", include_str!("../page/brush.js")),
    ("/viewer.js", "text/javascript; charset=utf-8", include_str!("../page/viewer.js")),
    ("/icon.svg", "image/svg+xml", include_str!("../page/icon.svg")),
];

/// The file at a path, if there is one.
pub(crate) fn file(path: &str, guard: &Guard, settings: &Settings) -> Option<Answer> {
    if path == "/" {
        return Some(Answer::file("text/html; charset=utf-8", Arc::new(html(guard, settings).into_bytes())));
    }
    if let Some((_, kind, text)) = FILES.iter().find(|(place, ..)| *place == path) {
        return Some(Answer::file(kind, Arc::new(text.as_bytes().to_vec())));
    }
    let name = path.strip_prefix("/samples/")?;
    let sample = settings.samples.iter().find(|sample| sample.name == name)?;
    Some(Answer::file("image/png", Arc::new(sample.bytes.to_vec())))
}

/// The page with what only this run of the studio knows.
fn html(guard: &Guard, settings: &Settings) -> String {
    let limits = &settings.limits;
    let samples: Vec<_> = settings.samples.iter().map(|sample| sample.name).collect();
    [
        ("{token}", guard.token().to_owned()),
        ("{samples}", samples.join(" ")),
        ("{upload-bytes}", limits.upload_bytes.to_string()),
        ("{pixels}", limits.pixels.to_string()),
        ("{result-pixels}", limits.result_pixels().to_string()),
        ("{block-pixels}", BLOCK_PIXELS.to_string()),
        ("{version}", env!("CARGO_PKG_VERSION").to_owned()),
    ]
    .iter()
    .fold(HTML.to_owned(), |page, (place, value)| page.replace(place, value))
}
