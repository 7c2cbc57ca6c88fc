//! `ccc validate` against real servers: each outcome is distinct, and no token is shown or sent elsewhere.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Barrier};

use serde_json::{Map, Value, json};

use crate::context::{TOKEN_A, TOKEN_B, TestContext, ccc_output, put};
use crate::server::{Reply, Server, listen, silent};
use crate::terminal::at_terminal;
use crate::tls::{Stream, Tls};

fn provider(address: &str) -> Value {
    json!({ "env": { "ANTHROPIC_BASE_URL": address, "ANTHROPIC_AUTH_TOKEN": TOKEN_A, "ANTHROPIC_MODEL": "kimi-k2" } })
}

fn with_servers(providers: &[(&str, Value)]) -> TestContext {
    let context = TestContext::without_providers();
    let all: Map<String, Value> =
        providers.iter().map(|(name, entry)| ((*name).to_owned(), entry.clone())).collect();
    put(&context.config(), json!({ "providers": all, "current_provider": providers[0].0 }).to_string());
    context
}

/// Checks the outcome for a provider at an address, as JSON and as text.
#[track_caller]
fn assert_outcome(address: &str, outcome: &str, parts: &[&str]) -> Value {
    let context = with_servers(&[("p", provider(address))]);
    let output = context.run_ccc("validate --json --timeout 600");
    let found = output.json()["providers"][0].clone();
    assert_eq!(found["outcome"], outcome, "{found}");
    assert_eq!(output.code, Some(i32::from(found["usable"] != true)), "{output:?}");
    let output = context.run_ccc("validate --timeout 600");
    assert_eq!(output.code, Some(i32::from(found["usable"] != true)), "{output:?}");
    assert!(output.stdout.lines().any(|line| line.starts_with("p ")), "{output:?}");
    output.stderr_has(parts);
    found
}

#[test]
fn a_list_of_models_is_enough_and_costs_nothing() {
    let server = Server::always(Reply::models());
    let found = assert_outcome(&server.address(), "ok", &[]);
    assert_eq!((&found["usable"], &found["what"]), (&json!(true), &json!("ok")));
    let seen = server.seen();
    assert!(seen.iter().all(|request| request.line == "GET /v1/models HTTP/1.1"), "{seen:?}");
    let named = seen.iter().find(|request| !request.is_anonymous()).unwrap();
    assert_eq!(named.header("authorization"), Some(format!("Bearer {TOKEN_A}").as_str()));
    assert_eq!(named.header("x-api-key"), None);
    assert_eq!(named.header("anthropic-version"), Some("2023-06-01"));
}

#[test]
fn keys_and_own_headers_are_sent_as_the_client_sends_them() {
    let server = Server::always(Reply::models());
    let env = json!({ "env": {
        "ANTHROPIC_BASE_URL": format!("{}/", server.address()), "ANTHROPIC_API_KEY": TOKEN_B,
        "ANTHROPIC_CUSTOM_HEADERS": "X-Team: blue\nX-Two: a: b"
    } });
    let both = json!({ "env": {
        "ANTHROPIC_BASE_URL": server.address(), "ANTHROPIC_API_KEY": TOKEN_B, "ANTHROPIC_AUTH_TOKEN": "${MINE}"
    } });
    let context = with_servers(&[("key", env), ("both", both)]).with_env("MINE", TOKEN_A);
    context.run_ccc("validate key both").succeeds();
    let seen: Vec<_> = server.seen().into_iter().filter(|request| !request.is_anonymous()).collect();
    let key = seen.iter().find(|request| request.header("authorization").is_none()).unwrap();
    assert_eq!(key.header("x-api-key"), Some(TOKEN_B));
    assert_eq!((key.header("x-team"), key.header("x-two")), (Some("blue"), Some("a: b")));
    let both = seen.iter().find(|request| request.header("authorization").is_some()).unwrap();
    assert_eq!(both.header("authorization"), Some(format!("Bearer {TOKEN_A}").as_str()));
    assert_eq!(both.header("x-api-key"), Some(TOKEN_B));
}

/// A server without a list of models, which answers messages with this.
fn messages(status: u16, body: &'static str) -> Server {
    Server::new(move |request| match request.line.as_str() {
        "POST /v1/messages HTTP/1.1" => Reply::new(status, body),
        _ => Reply::new(404, "not here"),
    })
}

#[test]
fn without_a_list_one_token_is_asked_for() {
    let server = messages(200, r#"{"type":"message","content":[]}"#);
    assert_outcome(&server.address(), "ok", &[]);
    let asked = server.seen().into_iter().find(|request| request.line.starts_with("POST")).unwrap();
    let body: Value = serde_json::from_str(&asked.body).unwrap();
    assert_eq!((&body["model"], &body["max_tokens"]), (&json!("kimi-k2"), &json!(1)));
    assert_eq!(asked.header("content-type"), Some("application/json"));
}

#[test]
fn a_list_for_everyone_says_nothing_about_the_token() {
    let server = Server::new(|request| match request.line.split(' ').next() {
        Some("GET") => Reply::models(),
        _ => Reply::new(401, r#"{"error":{"message":"bad key"}}"#),
    });
    assert_outcome(&server.address(), "key-refused", &["token refused (401)", "the server says: bad key"]);
}

#[test]
fn every_answer_has_its_own_outcome() {
    for (status, outcome, part) in [
        (401, "key-refused", "token refused (401)"),
        (403, "key-refused", "token refused (403)"),
        (429, "limited", "ok, but rate or quota limited"),
        (500, "server-failed", "has an internal error (500)"),
        (529, "server-failed", "has an internal error (529)"),
        (404, "no-such-address", "check ANTHROPIC_BASE_URL"),
        (402, "rejected", "request rejected (402)"),
    ] {
        let server = Server::new(move |_| Reply::new(status, "{}"));
        assert_outcome(&server.address(), outcome, &[part, "hint: "]);
    }
    let model = messages(404, r#"{"error":{"type":"not_found_error","message":"model: kimi-k2"}}"#);
    assert_outcome(
        &model.address(),
        "no-such-model",
        &["does not know the model kimi-k2", "ANTHROPIC_MODEL"],
    );
    let page = Server::new(|_| Reply::new(200, "<html>welcome</html>"));
    assert_outcome(&page.address(), "not-the-api", &["not the Messages API"]);
}

#[test]
fn a_doubled_version_is_noticed() {
    let server = messages(200, r#"{"content":[]}"#);
    assert_outcome(&format!("{}/v1", server.address()), "no-such-address", &["remove /v1 from the end"]);
}

#[test]
fn every_connection_error_has_its_own_outcome() {
    assert_outcome("http://no-such-host.invalid", "unknown-host", &["unknown host (DNS)"]);
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    assert_outcome(&format!("http://127.0.0.1:{port}"), "connection-refused", &["connection refused"]);
    assert_outcome("kimi.example", "bad-address", &["not a valid address", "https://"]);
    let garbage = listen(|mut stream| {
        let _ = stream.write_all(b"220 mail.example ready\r\n");
        let _ = stream.read(&mut [0; 64]);
    });
    assert_outcome(
        &format!("https://127.0.0.1:{garbage}"),
        "tls",
        &["cannot establish an encrypted connection"],
    );
    assert_outcome(&format!("http://127.0.0.1:{garbage}"), "not-the-api", &[]);
}

#[test]
fn a_silent_server_is_waited_for_only_so_long() {
    let (port, _alive) = silent();
    let context = with_servers(&[("p", provider(&format!("http://127.0.0.1:{port}")))]);
    let output = context.run_ccc("validate --timeout 0.3");
    assert_eq!(output.code, Some(1));
    output.stderr_has(&["timed out", "--timeout"]);
    assert_eq!(context.run_ccc("validate --timeout 0").code, Some(2));
    assert_eq!(context.run_ccc("validate --timeout soon").code, Some(2));
}

/// A server with a certificate of its own; returns its port and the certificate.
fn with_certificate() -> (u16, String) {
    let tls = Tls::new();
    let certificate = tls.certificate.clone();
    (listen(move |stream| serve(tls.accept(stream))), certificate)
}

fn serve(mut stream: Stream) {
    let mut request = [0; 4096];
    let Ok(count) = stream.read(&mut request) else { return };
    let is_named = String::from_utf8_lossy(&request[..count]).to_lowercase().contains("authorization");
    let reply = if is_named { ("200 OK", r#"{"data":[]}"#) } else { ("401 X", "{}") };
    let _ = write!(stream, "HTTP/1.1 {}\r\ncontent-length: {}\r\n\r\n{}", reply.0, reply.1.len(), reply.1);
    stream.conn.send_close_notify();
    let _ = stream.flush();
}

#[test]
fn an_unknown_certificate_is_refused_and_a_companys_own_can_be_named() {
    let (port, certificate) = with_certificate();
    let address = format!("https://127.0.0.1:{port}");
    assert_outcome(&address, "tls", &["certificate is not trusted", "NODE_EXTRA_CA_CERTS"]);
    for variable in ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"] {
        let context = with_servers(&[("p", provider(&address))]);
        let file = context.path("company.pem");
        put(&file, &certificate);
        let context = context.with_env(variable, file.to_str().unwrap());
        context.run_ccc("validate").succeeds();
        put(&file, "nothing");
        context.run_ccc("validate").stderr_has(&["contains no usable certificates", variable]);
    }
}

#[test]
fn a_redirect_is_not_followed() {
    let other = Server::always(Reply::models());
    let location = format!("location: {}/v1/models?token={TOKEN_A}", other.address());
    let server = Server::new(move |_| Reply::new(302, "").header(&location));
    assert_outcome(&server.address(), "redirected", &["redirects to http://127.0.0.1, not followed"]);
    assert!(other.seen().is_empty());
}

/// [`Output::of`] looks for the tokens in everything that is said.
#[test]
fn a_server_that_repeats_the_token_is_masked() {
    let echo = Server::new(|request| {
        let token = request.header("authorization").unwrap_or_default().to_owned();
        let message = format!("\u{1b}[31mkey\u{0} {token} is\nwrong {}", "x".repeat(5000));
        Reply::new(401, &json!({ "error": { "message": message } }).to_string())
    });
    let found = assert_outcome(&echo.address(), "key-refused", &["[31mkey ****"]);
    let said = found["said"].as_str().unwrap();
    assert!(said.chars().count() < 200 && !said.contains(char::is_control), "{said}");
}

#[test]
fn an_endless_answer_is_not_read_to_its_end() {
    let port = listen(|mut stream| {
        let mut request = [0; 4096];
        let _ = stream.read(&mut request);
        let _ = stream.write_all(b"HTTP/1.1 500 X\r\nconnection: close\r\n\r\n");
        let block = [b'x'; 4096];
        // Ends when the other side has seen enough.
        while stream.write_all(&block).is_ok() {}
    });
    assert_outcome(&format!("http://127.0.0.1:{port}"), "server-failed", &["has an internal error (500)"]);
}

#[test]
fn missing_values_are_reported_without_a_request() {
    let server = Server::always(Reply::models());
    let env = |more: Value| {
        let mut env = json!({ "ANTHROPIC_BASE_URL": server.address() });
        env.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({ "env": env })
    };
    let context = with_servers(&[
        ("none", env(json!({}))),
        ("unset", env(json!({ "ANTHROPIC_AUTH_TOKEN": "${NOBODY_SET_THIS}" }))),
        ("bedrock", env(json!({ "CLAUDE_CODE_USE_BEDROCK": "1" }))),
        ("odd", env(json!({ "ANTHROPIC_API_KEY": "two\nlines" }))),
    ]);
    let output = context.run_ccc("validate --all --json");
    let outcomes: Vec<_> =
        output.json()["providers"].as_array().unwrap().iter().map(|found| found["outcome"].clone()).collect();
    assert_eq!(outcomes, ["no-token", "unset-variable", "other-route", "bad-header"]);
    context.run_ccc("validate --all").stderr_has(&[
        "no token is set",
        "NOBODY_SET_THIS",
        "4 providers cannot be used",
        "other API",
    ]);
    assert!(server.seen().is_empty());
    context.run_ccc("validate nobody").fails(&["unknown provider: nobody"]);
    assert_eq!(context.run_ccc("validate none --all").code, Some(2));
    TestContext::without_providers().run_ccc("validate --all").fails(&["no provider is selected", "ccc add"]);
}

/// No answer is given before all have been asked: one after the other, none would ever be.
#[test]
fn all_are_asked_at_the_same_time() {
    let barrier = Arc::new(Barrier::new(8));
    let server = Server::new(move |request| {
        if request.is_anonymous() {
            return Reply::new(401, "{}");
        }
        barrier.wait();
        Reply::models()
    });
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let providers: Vec<_> = names.iter().map(|name| (*name, provider(&server.address()))).collect();
    let context = with_servers(&providers);
    let output = context.run_ccc("validate --all --json --timeout 600").succeeds();
    let found = output.json();
    let listed: Vec<_> = found["providers"].as_array().unwrap().iter().map(|p| p["name"].clone()).collect();
    assert_eq!(listed, names);
    assert_eq!(output.stderr, "");
}

#[test]
fn a_terminal_shows_the_progress() {
    let server = Server::always(Reply::models());
    let context = with_servers(&[("a", provider(&server.address())), ("b", provider(&server.address()))]);
    let (code, seen) = at_terminal(&mut context.ccc_command(&["validate", "--all"]), "");
    assert_eq!(code, Some(0), "{seen}");
    for part in ["\r0/2 checking", "\r1/2 checking", "\r2/2 checking", "\r\u{1b}[K"] {
        assert!(seen.contains(part), "no {part:?} in {seen:?}");
    }
}

#[test]
fn the_proxy_of_the_environment_is_used_unless_excepted() {
    let proxy = listen(|mut stream| {
        let mut request = [0; 4096];
        let _ = stream.read(&mut request);
        let _ = stream.write_all(b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n");
    });
    let server = Server::always(Reply::models());
    let context = with_servers(&[("p", provider(&server.address()))])
        .with_env("HTTP_PROXY", format!("http://127.0.0.1:{proxy}"));
    assert_eq!(context.run_ccc("validate").code, Some(1));
    assert!(server.seen().is_empty());
    context.with_env("NO_PROXY", "localhost,127.0.0.1").run_ccc("validate").succeeds();
}

#[test]
fn a_pinned_project_asks_its_own() {
    let good = Server::always(Reply::models());
    let context = with_servers(&[
        ("bad", provider("http://no-such-host.invalid")),
        ("good", provider(&good.address())),
    ]);
    put(&context.path("project/.ccc.json"), r#"{"provider":"good"}"#);
    let output = ccc_output(&context.ccc_command(&["validate"]).output().unwrap()).succeeds();
    assert!(output.stdout.contains("good") && !output.stdout.contains("bad"), "{output:?}");
}
