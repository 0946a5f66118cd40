//! Too much, too slow, too many, too broken.

use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;
use sparsemble::image::{GrayImage, Size};
use sparsemble_studio::Limits;

use super::client::{Answer, Running, long_job, photograph, png, short_job};

const SOON: Duration = Duration::from_millis(300);

#[test]
fn a_file_of_too_many_bytes_is_refused_before_it_is_sent() {
    let studio = Running::with(Limits { upload_bytes: 1 << 20, ..Limits::default() });
    let request = studio.request("POST", "/api/pictures").body("application/octet-stream", &[]);
    let mut stream = studio.connect();
    stream.write_all(&request.with("Content-Length", "1048577").head()).unwrap();
    Answer::read(stream).refused(413, "more than the 1.0 MB");
    let endless = studio.request("POST", "/api/pictures").body("application/octet-stream", &[]);
    endless.with("Content-Length", "99999999999999999999999").send().refused(400, "no number");
}

#[test]
fn the_refusal_of_a_large_file_arrives_although_all_of_it_was_sent() {
    let studio = Running::with(Limits { upload_bytes: 1 << 10, ..Limits::default() });
    studio.upload(&vec![0; 8 << 20]).refused(413, "8.0 MB");
}

#[test]
fn a_picture_of_too_many_pixels_is_refused_before_it_is_decoded() {
    let studio = Running::with(Limits { pixels: 1_000_000, ..Limits::default() });
    let black = GrayImage::from_fn(Size { width: 1001, height: 1000 }, |_, _| 0.0).unwrap();
    let bomb = png(&black);
    assert!(bomb.len() < 10_000, "a bomb is small");
    studio.upload(&bomb).refused(422, "more than the 1000000");
    studio.upload(b"P5 60000 60000 255\n").refused(422, "pixels");
    studio.upload(b"P5 4000000000 4000000000 255\n").refused(422, "");
    let fits = GrayImage::from_fn(Size { width: 1000, height: 1000 }, |_, _| 0.0).unwrap();
    let picture = studio.picture(&png(&fits));
    let task = json!({ "picture": picture, "task": { "name": "enlarge", "scale": 3 } });
    studio.ask(&task).refused(422, "choose a smaller scale");
}

#[test]
fn what_is_no_picture_is_refused_with_the_reason() {
    let studio = Running::new();
    let whole = png(&photograph(30));
    studio.upload(b"").refused(422, "the file is empty");
    studio.upload(b"this is text").refused(422, "no picture of a known kind");
    studio.upload(&whole[..whole.len() / 2]).refused(422, "the picture: ");
    let mut damaged = whole.clone();
    for byte in damaged.iter_mut().skip(50) {
        *byte ^= 0x5a;
    }
    studio.upload(&damaged).refused(422, "the picture: ");
    studio.picture(&whole);
}

#[test]
fn heads_that_are_none_are_refused() {
    let studio = Running::new();
    let say = |bytes: &[u8]| {
        let mut stream = studio.connect();
        stream.write_all(bytes).unwrap();
        Answer::read(stream)
    };
    say(b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n").refused(400, "no request");
    say(b"GET / HTTP/1.1 and more\r\n\r\n").refused(400, "no request");
    studio.get("/").also("Long", &"x".repeat(20_000)).send().refused(431, "too long");
    let many = (0..70).fold(studio.get("/"), |request, _| request.also("Many", "1"));
    many.send().refused(431, "too long");
}

#[test]
fn bodies_without_a_plain_length_are_refused() {
    let studio = Running::new();
    let upload = || studio.request("POST", "/api/pictures").body("application/octet-stream", b"x");
    upload().without("Content-Length").send().refused(411, "length");
    upload().without("Content-Length").also("Transfer-Encoding", "chunked").send().refused(501, "as a whole");
    upload().also("Content-Length", "1").send().refused(400, "two headers");
    for length in ["+1", "-1", "1 ", "0x1", "1,1"] {
        let refused = upload().with("Content-Length", length).send();
        // Spaces around a value are no part of it.
        assert!(refused.status == if length == "1 " { 422 } else { 400 }, "{length:?}: {}", refused.status);
    }
    let mut stream = studio.connect();
    stream.write_all(&upload().with("Content-Length", "9").head()).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    Answer::read(stream).refused(400, "shorter");
}

/// Sends a byte now and then for as long as somebody listens.
fn trickle(stream: &TcpStream) -> Answer {
    let mut writing = stream.try_clone().unwrap();
    let writer = std::thread::spawn(move || {
        while writing.write_all(b"x").is_ok() {
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    let answer = Answer::read(stream.try_clone().unwrap());
    let _ = stream.shutdown(std::net::Shutdown::Both);
    writer.join().unwrap();
    answer
}

#[test]
fn a_client_that_never_finishes_its_request_is_cut_off() {
    let studio = Running::with(Limits { head_time: SOON, body_time: SOON, ..Limits::default() });
    let mut head = studio.connect();
    head.write_all(b"GET / HTTP/1.1\r\nX: ").unwrap();
    trickle(&head).refused(408, "too long");
    let mut body = studio.connect();
    let upload = studio.request("POST", "/api/pictures").body("application/octet-stream", b"");
    body.write_all(&upload.with("Content-Length", "1000000").head()).unwrap();
    trickle(&body).refused(408, "too long");
}

#[test]
fn silent_connections_are_counted_and_cut_off() {
    let studio = Running::with(Limits { connections: 3, head_time: SOON, ..Limits::default() });
    let attempt = || {
        let silent: Vec<_> = (0..3).map(|_| studio.connect()).collect();
        // Each of them may be accepted a little later than it was opened.
        while studio.get("/").send().status != 503 {}
        silent.into_iter().map(Answer::read).collect::<Vec<_>>()
    };
    // A request that has its answer may be counted a little longer, and then one of these is one too many.
    let all_were_let_in = |answers: &Vec<Answer>| answers.iter().all(|answer| answer.status != 503);
    let answers = (0..20).map(|_| attempt()).find(all_were_let_in).expect("three connections are let in");
    for answer in answers {
        answer.refused(408, "too long");
    }
    while studio.get("/").send().status != 200 {}
}

#[test]
fn so_many_uploads_at_a_time_and_no_more() {
    let studio = Running::with(Limits { uploads: 1, ..Limits::default() });
    let upload = || studio.request("POST", "/api/pictures").body("application/octet-stream", &png(&photograph(20)));
    let mut slow = studio.connect();
    slow.write_all(&upload().head()).unwrap();
    while upload().send().status != 503 {}
    slow.write_all(&png(&photograph(20))).unwrap();
    assert_eq!(Answer::read(slow).status, 201);
    while upload().send().status != 201 {}
}

#[test]
fn the_queue_has_an_end() {
    let studio = Running::with(Limits { queue: 2, ..Limits::default() });
    let running = long_job(&studio);
    studio.until(&running, |job| job["state"] == "running");
    let waiting = [long_job(&studio), long_job(&studio)];
    let picture = studio.picture(&png(&photograph(20)));
    let one_more = json!({ "picture": picture, "task": { "name": "denoise", "sigma": 5 } });
    studio.ask(&one_more).refused(503, "too many");
    waiting.iter().chain([&running]).for_each(|job| drop(studio.dismiss(job)));
    assert_eq!(studio.ask(&one_more).status, 201);
}

#[test]
fn the_oldest_pictures_and_results_go_first() {
    let studio = Running::with(Limits { kept_bytes: 5000, ..Limits::default() });
    let pictures = [40, 41, 42].map(|side| studio.picture(&png(&photograph(side))));
    let shown = |id: &String| studio.get(&format!("/api/pictures/{id}")).send().status;
    assert_eq!(pictures.each_ref().map(shown), [404, 200, 200]);
    let jobs = [0; 3].map(|_| {
        let job = short_job(&studio);
        studio.ended(&job, "done");
        job
    });
    // The worker tidies up when it looks for more to do.
    studio.until(&jobs[0], |job| job["error"].is_string());
    assert_eq!(studio.job(&jobs[2])["state"], "done");
}

#[test]
fn what_nobody_asks_for_is_stopped_and_dropped() {
    let idle_time = Duration::from_secs(1);
    let studio = Running::with(Limits { idle_time, ..Limits::default() });
    let forgotten = long_job(&studio);
    let picture = studio.picture(&png(&photograph(20)));
    let next = short_job(&studio);
    // It can only begin when the one before it has been stopped.
    studio.ended(&next, "done");
    assert_ne!(studio.job(&forgotten)["state"], "done");
    std::thread::sleep(idle_time);
    studio.picture(&png(&photograph(20)));
    assert_eq!(studio.get(&format!("/api/pictures/{picture}")).send().status, 404);
}
