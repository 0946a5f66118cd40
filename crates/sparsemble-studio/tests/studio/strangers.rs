//! Requests that do not come from the studio's own page.

use serde_json::json;

use super::client::{Request, Running, long_job, photograph, png};

/// One of each call, and whether it may change something.
fn calls<'a>(studio: &'a Running, job: &str) -> Vec<(bool, Request<'a>)> {
    let description = json!({ "picture": "0", "task": { "name": "enlarge", "scale": 2 } }).to_string();
    vec![
        (true, studio.request("POST", "/api/pictures").body("application/octet-stream", &png(&photograph(9)))),
        (true, studio.request("POST", "/api/jobs").body("application/json", description.as_bytes())),
        (true, studio.request("DELETE", &format!("/api/jobs/{job}"))),
        (false, studio.get(&format!("/api/jobs/{job}"))),
    ]
}

/// No call that `spoil` has been at is answered, and none of them has done anything.
fn are_refused(studio: &Running, part: &str, spoil: impl Fn(bool, Request<'_>) -> Option<Request<'_>>) {
    let job = long_job(studio);
    for (changes, call) in calls(studio, &job) {
        if let Some(spoiled) = spoil(changes, call) {
            spoiled.send().refused(403, part);
        }
    }
    assert!(["waiting", "running"].contains(&studio.job(&job)["state"].as_str().unwrap()));
    studio.dismiss(&job);
}

#[test]
fn every_answer_keeps_the_page_to_itself() {
    let studio = Running::new();
    for path in ["/", "/studio.js", "/studio.css", "/samples/camera.png", "/nothing", "/api/jobs/none"] {
        let head = studio.get(path).send().head.to_lowercase();
        for line in [
            "content-security-policy: default-src 'none'; script-src 'self'",
            "frame-ancestors 'none'",
            "x-content-type-options: nosniff",
            "cross-origin-resource-policy: same-origin",
            "referrer-policy: no-referrer",
            "cache-control: no-store",
        ] {
            assert!(head.contains(line), "{path}: {line}");
        }
        assert!(!head.contains("access-control-") && !head.contains("unsafe"));
    }
}

#[test]
fn another_host_is_refused_whatever_it_asks_for() {
    let studio = Running::new();
    let port = studio.port;
    let hosts = [
        "127.0.0.1".to_owned(),
        "localhost".to_owned(),
        String::new(),
        format!("evil.example:{port}"),
        format!("127.0.0.1.evil.example:{port}"),
        format!("127.0.0.1:{}", port ^ 1),
        format!("[::1]:{port}"),
        format!("127.0.0.2:{port}"),
    ];
    for host in &hosts {
        studio.get("/").with("Host", host).send().refused(403, "open http://127.0.0.1:");
        are_refused(&studio, "open http://127.0.0.1:", |_, call| Some(call.with("Host", host)));
    }
    studio.get("/").without("Host").send().refused(403, "open");
    studio.get("/").also("Host", &format!("127.0.0.1:{port}")).send().refused(400, "two headers host");
    assert_eq!(studio.get("/").with("Host", &format!("localhost:{port}")).send().status, 200);
}

#[test]
fn calls_of_another_origin_are_refused() {
    let studio = Running::new();
    let port = studio.port;
    let other_port = format!("http://127.0.0.1:{}", port ^ 1);
    let origins = ["http://evil.example", "null", "", &format!("https://127.0.0.1:{port}"), &other_port];
    for origin in origins {
        are_refused(&studio, "own page", |_, call| Some(call.with("Origin", origin)));
    }
    are_refused(&studio, "own page", |changes, call| changes.then(|| call.without("Origin")));
    for site in ["cross-site", "same-site", "none", ""] {
        are_refused(&studio, "own page", |_, call| Some(call.with("Sec-Fetch-Site", site)));
    }
}

#[test]
fn calls_without_the_token_are_refused() {
    let studio = Running::new();
    are_refused(&studio, "load the page again", |_, call| Some(call.without("X-Sparsemble-Token")));
    for token in ["", "0", "00000000000000000000000000000000"] {
        are_refused(&studio, "load the page again", |_, call| Some(call.with("X-Sparsemble-Token", token)));
    }
    let [one, other] = [Running::new(), Running::new()].map(|studio| studio.get("/").send().text());
    let token = |page: &str| page.split("data-token=\"").nth(1).unwrap()[..32].to_owned();
    assert_ne!(token(&one), token(&other));
}

#[test]
fn forms_and_preflights_of_other_pages_get_nowhere() {
    let studio = Running::new();
    for kind in ["text/plain", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded"] {
        studio.request("POST", "/api/pictures").body(kind, b"P5 1 1 255\n0").send().refused(415, "octet-stream");
        studio.request("POST", "/api/jobs").body(kind, b"{}").send().refused(415, "json");
    }
    let preflight = studio.request("OPTIONS", "/api/jobs").with("Origin", "http://evil.example").send();
    preflight.refused(403, "own page");
    studio.request("OPTIONS", "/api/jobs").send().refused(405, "cannot");
    studio.request("POST", "/").body("text/plain", b"").send().refused(405, "cannot");
}

#[test]
fn the_page_is_for_those_who_open_it_and_not_for_other_pages() {
    let studio = Running::new();
    let from_elsewhere = |mode: &str, dest: &str| {
        let request = studio.get("/").without("Origin").with("Sec-Fetch-Site", "cross-site");
        request.with("Sec-Fetch-Mode", mode).with("Sec-Fetch-Dest", dest).send()
    };
    assert_eq!(from_elsewhere("navigate", "document").status, 200);
    from_elsewhere("navigate", "iframe").refused(403, "own page");
    from_elsewhere("no-cors", "image").refused(403, "own page");
    from_elsewhere("cors", "empty").refused(403, "own page");
}

#[test]
fn no_path_leads_to_a_file() {
    let studio = Running::new();
    for path in [
        "/etc/passwd",
        "//etc/passwd",
        "/../Cargo.toml",
        "/samples/",
        "/samples/../Cargo.toml",
        "/samples/..%2f..%2fCargo.toml",
        "/samples/camera.png/",
        "/api/",
        "/api/pictures/../../../etc/passwd",
        "/api/pictures/%2fetc%2fpasswd",
        "/api/jobs/x/y",
        "http://127.0.0.1/",
        "*",
    ] {
        let answer = studio.get(path).send();
        assert!([404, 405].contains(&answer.status), "{path}: {}", answer.status);
        assert!(answer.json()["error"].is_string());
    }
    let job = json!({ "picture": "/etc/passwd", "task": { "name": "inpaint", "mask": "../mask.png" } });
    studio.ask(&job).refused(404, "choose it again");
}
