use std::time::Duration;

use crate::service::{Reply, Service};
use crate::world::{World, assert_no_secrets, wait_for};

#[test]
fn what_fails_is_tried_again_and_arrives_once() {
    let mut world = World::new();
    for service in [&world.telegram, &world.webhook, &world.ntfy] {
        service.answer_next([Reply::status(500), Reply::status(502)]);
    }
    world.serve();
    world.finished("s1");
    world.finished("s2");
    for service in [&world.telegram, &world.webhook, &world.ntfy] {
        let taken = service.wait_taken(2);
        assert_eq!((service.requests().len(), taken.len()), (4, 2));
        assert!(taken[0].body.contains("s1") && taken[1].body.contains("s2"), "in their order");
    }
    let ids: Vec<_> =
        world.webhook.requests().iter().map(|request| request.header("x-overtone-id").to_owned()).collect();
    assert_eq!((&ids[0], &ids[1]), (&ids[2], &ids[2]), "an attempt keeps the id");
    assert_ne!(ids[2], ids[3]);
    wait_for("an empty outbox", || world.outbox()["pending"].as_array().is_some_and(Vec::is_empty));
    assert_no_secrets(&world.logs());
    assert!(world.logs().contains("cannot send s1:"), "{}", world.logs());
}

#[test]
fn a_service_that_says_when_is_not_asked_before() {
    let mut world = World::new();
    let limited = |headers, body: &str| Reply { status: 429, headers, body: body.to_owned() };
    let words =
        r#"{"ok":false,"error_code":429,"description":"Too Many Requests","parameters":{"retry_after":1}}"#;
    world.telegram.answer_next([limited(vec![], words)]);
    world.ntfy.answer_next([limited(vec![("retry-after", "1".to_owned())], "")]);
    world.serve();
    world.finished("s1");
    for service in [&world.telegram, &world.ntfy] {
        let requests = service.wait_requests(2);
        let waited = requests[1].at - requests[0].at;
        assert!(waited >= Duration::from_millis(990), "{waited:?}");
        assert_eq!((requests[0].status, requests[1].status), (429, 200));
    }
}

#[test]
fn a_service_that_was_down_gets_everything_later() {
    let mut world = World::new();
    // An address where nobody listens now.
    let vacant = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut remote = world.all_channels();
    remote["webhook"]["url"] = format!("http://{vacant}/hook/path").into();
    world.configure(&remote);
    world.serve();
    world.finished("s1");
    world.ntfy.wait_taken(1);
    wait_for("a failed attempt", || world.outbox()["pending"][0]["tries"].as_u64() >= Some(2));
    let late = Service::start_at(vacant);
    world.finished("s2");
    let taken = late.wait_taken(2);
    assert!(taken[0].body.contains("s1") && taken[1].body.contains("s2"));
    assert_eq!(taken.len(), 2);
    assert_no_secrets(&world.logs());
}

/// The same message again would be refused again; the next one is another matter.
#[test]
fn a_message_that_is_refused_is_given_up() {
    let mut world = World::new();
    world.webhook.answer_next([Reply::status(400)]);
    world.serve();
    world.finished("s1");
    world.finished("s2");
    let requests = world.webhook.wait_requests(2);
    assert_eq!(requests.len(), 2);
    assert!(requests[1].body.contains("s2"));
    wait_for("the log", || world.logs().contains("dropped s1:"));
    wait_for("the count", || world.outbox()["dropped"] == 1);
}

/// A redirect would carry the token to somebody else.
#[test]
fn redirects_are_not_followed() {
    let mut world = World::new();
    let elsewhere = Service::start();
    let away = || Reply {
        status: 302,
        headers: vec![("location", format!("{}/thief", elsewhere.url()))],
        body: String::new(),
    };
    for service in [&world.telegram, &world.webhook, &world.ntfy] {
        service.answer_next([away()]);
    }
    world.serve();
    world.finished("s1");
    for service in [&world.telegram, &world.webhook, &world.ntfy] {
        service.wait_taken(1);
    }
    assert!(elsewhere.requests().is_empty());
}

#[test]
fn secrets_are_in_no_log_and_no_answer() {
    let mut world = World::new();
    for service in [&world.telegram, &world.webhook, &world.ntfy] {
        service.answer_next([Reply::status(401), Reply::status(404)]);
    }
    world.serve();
    world.finished("s1");
    for service in [&world.telegram, &world.webhook, &world.ntfy] {
        service.wait_taken(1);
    }
    for path in
        ["/api/health", "/api/sessions", "/api/sessions/s1", "/api/sessions/s1/timeline", "/api/openapi.json"]
    {
        assert_no_secrets(&world.get(path));
    }
    assert_no_secrets(&world.logs());
    assert_no_secrets(&world.outbox().to_string());
}

/// A wrong value costs its channel and is told, and the server runs.
#[test]
fn a_wrong_configuration_does_not_end_the_server() {
    let mut world = World::new();
    world.put_secret("telegram", crate::world::TOKEN, 0o644);
    world.serve();
    world.finished("s1");
    world.ntfy.wait_taken(1);
    world.webhook.wait_taken(1);
    assert!(world.logs().contains("remote.telegram.tokenFile"), "{}", world.logs());
    assert!(world.telegram.requests().is_empty());
    assert!(world.get("/api/health").contains("200 OK"));
}
