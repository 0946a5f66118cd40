//! Jobs one after the other, cancelled, failed, wrong.

use serde_json::{Value, json};
use sparsemble::image::GrayImage;

use super::client::{Running, long_job, photograph, png, short_job};

#[test]
fn a_running_job_is_stopped_by_its_cancellation_and_the_next_one_begins() {
    let studio = Running::new();
    let job = long_job(&studio);
    let next = short_job(&studio);
    let running = studio.until(&job, |job| job["progress"].as_f64().unwrap() > 0.0);
    assert_eq!(running["state"], "running");
    assert!(running["progress"].as_f64().unwrap() < 1.0);
    assert_eq!(studio.job(&next)["ahead"], 1);
    assert_eq!(studio.dismiss(&job).status, 202);
    studio.ended(&job, "cancelled");
    studio.get(&format!("/api/jobs/{job}/after")).send().refused(404, "no result");
    studio.ended(&next, "done");
}

#[test]
fn a_waiting_job_is_cancelled_at_once() {
    let studio = Running::new();
    let [running, waiting] = [long_job(&studio), long_job(&studio)];
    assert_eq!(studio.dismiss(&waiting).json()["state"], "cancelled");
    studio.dismiss(&running);
    studio.ended(&running, "cancelled");
}

#[test]
fn two_jobs_are_done_in_their_order_and_their_results_dropped_when_they_are_dismissed() {
    let studio = Running::new();
    let jobs = [short_job(&studio), short_job(&studio)];
    studio.ended(&jobs[1], "done");
    let results = jobs.each_ref().map(|job| {
        assert_eq!(studio.job(job)["state"], "done");
        studio.get(&format!("/api/jobs/{job}/after")).send().body
    });
    assert_eq!(results[0], results[1]);
    studio.dismiss(&jobs[0]);
    assert_eq!(studio.job(&jobs[0])["state"], "cancelled");
    studio.get(&format!("/api/jobs/{}/after", jobs[0])).send().refused(404, "no result");
    assert_eq!(studio.job(&jobs[1])["state"], "done");
}

#[test]
fn the_studio_ends_while_a_job_runs() {
    let mut studio = Running::new();
    let job = long_job(&studio);
    studio.until(&job, |job| job["state"] == "running");
    studio.stop();
    assert!(std::net::TcpStream::connect(("127.0.0.1", studio.port)).is_err());
}

#[test]
fn descriptions_that_make_no_sense_are_refused() {
    let studio = Running::new();
    let picture = studio.picture(&png(&photograph(20)));
    let other = studio.picture(&png(&photograph(21)));
    let refused: [(Value, &str); 12] = [
        (json!({ "name": "enlarge", "scale": 1 }), "give 2, 3 or 4"),
        (json!({ "name": "enlarge", "scale": 5 }), "give 2, 3 or 4"),
        (json!({ "name": "enlarge", "scale": -2 }), "no such restoration"),
        (json!({ "name": "enlarge", "scale": u64::MAX }), "give 2, 3 or 4"),
        (json!({ "name": "enlarge", "scale": 2, "path": "/etc/passwd" }), "unknown field `path`"),
        (json!({ "name": "denoise", "sigma": -1 }), "0 to 100"),
        (json!({ "name": "denoise", "sigma": 1e300 }), "0 to 100"),
        (json!({ "name": "denoise", "sigma": null }), "no such restoration"),
        (json!({ "name": "recover", "measurements": 0 }), "1 to 64"),
        (json!({ "name": "recover", "measurements": 65 }), "1 to 64"),
        (json!({ "name": "inpaint", "mask": other }), "the mask has 21×21 pixels, the picture 20×20"),
        (json!({ "name": "rm" }), "unknown variant `rm`"),
    ];
    for (task, reason) in refused {
        studio.ask(&json!({ "picture": picture, "task": task })).refused(422, reason);
    }
    let large = json!({ "picture": "x".repeat(5000) });
    studio.ask(&large).refused(413, "allowed");
    let text = studio.request("POST", "/api/jobs").body("application/json", b"{ not json").send();
    text.refused(422, "no such restoration");
}

#[test]
fn a_job_that_cannot_be_done_says_why_and_others_go_on() {
    let studio = Running::new();
    let tiny = studio.picture(&png(&photograph(4)));
    let job = studio.start(&tiny, &json!({ "name": "denoise", "sigma": 10 }), false);
    assert!(studio.ended(&job, "failed")["error"].as_str().unwrap().contains('8'));
    let picture = photograph(20);
    let white = GrayImage::from_fn(picture.size(), |_, _| 255.0).unwrap();
    let [picture, white] = [picture, white].map(|picture| studio.picture(&png(&picture)));
    let job = studio.start(&picture, &json!({ "name": "inpaint", "mask": white }), false);
    assert!(studio.ended(&job, "failed")["error"].as_str().unwrap().contains("mask"));
    studio.ended(&short_job(&studio), "done");
}
