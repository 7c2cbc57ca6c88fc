use std::time::Duration;

use crate::fixture::{RemoteFixture, assert_no_secrets};
use crate::service::{Reply, Service};
use overtone_testkit::wait_until;

#[test]
fn what_fails_is_tried_again_and_arrives_once() {
    let mut fixture = RemoteFixture::new();
    for service in [&fixture.telegram, &fixture.webhook, &fixture.ntfy] {
        service.answer_next([Reply::status(500), Reply::status(502)]);
    }
    fixture.serve();
    fixture.finished("s1");
    fixture.finished("s2");
    for service in [&fixture.telegram, &fixture.webhook, &fixture.ntfy] {
        let taken = service.wait_taken(2);
        assert_eq!((service.requests().len(), taken.len()), (4, 2));
        assert!(taken[0].body.contains("s1") && taken[1].body.contains("s2"), "in their order");
    }
    let ids: Vec<_> =
        fixture.webhook.requests().iter().map(|request| request.header("x-overtone-id").to_owned()).collect();
    assert_eq!((&ids[0], &ids[1]), (&ids[2], &ids[2]), "an attempt keeps the id");
    assert_ne!(ids[2], ids[3]);
    wait_until("an empty outbox", || fixture.outbox()["pending"].as_array().is_some_and(Vec::is_empty));
    assert_no_secrets(&fixture.logs());
    assert!(fixture.logs().contains("cannot send s1:"), "{}", fixture.logs());
}

#[test]
fn a_service_that_says_when_is_not_asked_before() {
    let mut fixture = RemoteFixture::new();
    let limited = |headers, body: &str| Reply { status: 429, headers, body: body.to_owned() };
    let words =
        r#"{"ok":false,"error_code":429,"description":"Too Many Requests","parameters":{"retry_after":1}}"#;
    fixture.telegram.answer_next([limited(vec![], words)]);
    fixture.ntfy.answer_next([limited(vec![("retry-after", "1".to_owned())], "")]);
    fixture.serve();
    fixture.finished("s1");
    for service in [&fixture.telegram, &fixture.ntfy] {
        let requests = service.wait_requests(2);
        let waited = requests[1].at - requests[0].at;
        assert!(waited >= Duration::from_millis(990), "{waited:?}");
        assert_eq!((requests[0].status, requests[1].status), (429, 200));
    }
}

#[test]
fn a_service_that_was_down_gets_everything_later() {
    let mut fixture = RemoteFixture::new();
    // An address without a listener.
    let vacant = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut remote = fixture.all_channels();
    remote["webhook"]["url"] = format!("http://{vacant}/hook/path").into();
    fixture.configure(&remote);
    fixture.serve();
    fixture.finished("s1");
    fixture.ntfy.wait_taken(1);
    wait_until("a failed attempt", || fixture.outbox()["pending"][0]["tries"].as_u64() >= Some(2));
    let late = Service::start_at(vacant);
    fixture.finished("s2");
    let taken = late.wait_taken(2);
    assert!(taken[0].body.contains("s1") && taken[1].body.contains("s2"));
    assert_eq!(taken.len(), 2);
    assert_no_secrets(&fixture.logs());
}

/// The same message again would be refused again; the next one is another matter.
#[test]
fn a_message_that_is_refused_is_given_up() {
    let mut fixture = RemoteFixture::new();
    fixture.webhook.answer_next([Reply::status(400)]);
    fixture.serve();
    fixture.finished("s1");
    fixture.finished("s2");
    let requests = fixture.webhook.wait_requests(2);
    assert_eq!(requests.len(), 2);
    assert!(requests[1].body.contains("s2"));
    wait_until("the log", || fixture.logs().contains("dropped s1:"));
    wait_until("the count", || fixture.outbox()["dropped"] == 1);
}

/// A redirect would send the token to another server.
#[test]
fn redirects_are_not_followed() {
    let mut fixture = RemoteFixture::new();
    let elsewhere = Service::start();
    let away = || Reply {
        status: 302,
        headers: vec![("location", format!("{}/thief", elsewhere.url()))],
        body: String::new(),
    };
    for service in [&fixture.telegram, &fixture.webhook, &fixture.ntfy] {
        service.answer_next([away()]);
    }
    fixture.serve();
    fixture.finished("s1");
    for service in [&fixture.telegram, &fixture.webhook, &fixture.ntfy] {
        service.wait_taken(1);
    }
    assert!(elsewhere.requests().is_empty());
}

#[test]
fn secrets_are_in_no_log_and_no_answer() {
    let mut fixture = RemoteFixture::new();
    for service in [&fixture.telegram, &fixture.webhook, &fixture.ntfy] {
        service.answer_next([Reply::status(401), Reply::status(404)]);
    }
    fixture.serve();
    fixture.finished("s1");
    for service in [&fixture.telegram, &fixture.webhook, &fixture.ntfy] {
        service.wait_taken(1);
    }
    for path in
        ["/api/health", "/api/sessions", "/api/sessions/s1", "/api/sessions/s1/timeline", "/api/openapi.json"]
    {
        assert_no_secrets(&fixture.get(path));
    }
    assert_no_secrets(&fixture.logs());
    assert_no_secrets(&fixture.outbox().to_string());
}

/// A wrong value disables its channel and is reported; the server runs.
#[test]
fn a_wrong_configuration_does_not_end_the_server() {
    let mut fixture = RemoteFixture::new();
    fixture.put_secret("telegram", crate::fixture::TOKEN, 0o644);
    fixture.serve();
    fixture.finished("s1");
    fixture.ntfy.wait_taken(1);
    fixture.webhook.wait_taken(1);
    assert!(fixture.logs().contains("remote.telegram.tokenFile"), "{}", fixture.logs());
    assert!(fixture.telegram.requests().is_empty());
    assert!(fixture.get("/api/health").contains("200 OK"));
}
