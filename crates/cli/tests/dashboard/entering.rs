//! How a page is let in: by a link that works once, or by the token.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::context::{Server, TestContext};
use crate::http::{Response, request};
use overtone_testkit::wait_for;

/// What a page sends after it was let in.
struct Page {
    cookie: String,
    key: String,
}

fn enter(server: &Server, shown: &Value) -> Response {
    let origin = format!("http://{}", server.address);
    request(&server.address, "POST", "/api/enter", &[("Origin", &origin)], &shown.to_string())
}

fn page(answer: Response) -> Page {
    let line =
        answer.head.lines().find(|line| line.to_lowercase().starts_with("set-cookie:")).unwrap().to_owned();
    let cookie = line.split_once(": ").unwrap().1.to_owned();
    for part in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    let key = answer.ok()["key"].as_str().unwrap().to_owned();
    Page { cookie: cookie.split(';').next().unwrap().to_owned(), key }
}

impl Page {
    fn ask(&self, server: &Server, method: &str, path: &str, more: &[(&str, &str)]) -> u16 {
        let own = [("Cookie", self.cookie.as_str()), ("X-Overtone-Key", self.key.as_str())];
        request(
            &server.address,
            method,
            path,
            &[&own, more].concat(),
            if method == "GET" { "" } else { "{}" },
        )
        .status
    }
}

/// A program that stands for the browser and notes what it is started with.
fn fake_browser(context: &TestContext) -> PathBuf {
    let noted = context.path("opened");
    let script =
        format!("#!/bin/sh\necho \"$1\" > {0}.args\ncp \"$1\" {0}.page\nmv {0}.page {0}\n", noted.display());
    context.write("bin/xdg-open", script);
    fs::set_permissions(context.path("bin/xdg-open"), fs::Permissions::from_mode(0o755)).unwrap();
    noted
}

/// The address that `overtone dashboard --open` sends the browser to.
fn opened_address(context: &TestContext, arguments: &[&str]) -> String {
    let noted = fake_browser(context);
    let _ = fs::remove_file(&noted);
    let path = format!("{}:/usr/bin:/bin", context.path("bin").display());
    let done = context.command(arguments).env("PATH", path).output().unwrap();
    assert!(done.status.success(), "{done:?}");
    let printed = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    assert!(!printed.contains("code="), "{printed}");
    let text = wait_for(|| fs::read_to_string(&noted).ok());
    let address = text.split("href=\"").nth(1).unwrap().split('"').next().unwrap();
    address.to_owned()
}

fn code(address: &str) -> &str {
    address.split_once("#code=").unwrap().1
}

#[test]
fn the_browser_is_opened_with_a_link_that_works_once() {
    let context = TestContext::for_dashboard();
    context.start_workflow("one", "quick");
    let server = context.serve();
    let address = opened_address(&context, &["dashboard", "--open"]);
    assert!(address.starts_with(&format!("http://{}/#code=", server.address)), "{address}");
    assert!(!address.contains(&server.token));
    // Every user of the machine sees what a program is started with.
    let arguments = fs::read_to_string(context.path("opened.args")).unwrap();
    assert!(!arguments.contains(code(&address)) && !arguments.contains(&server.token), "{arguments}");
    let mode = |path: &str| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(arguments.trim()), 0o600);
    let page = page(enter(&server, &json!({ "code": code(&address) })));
    enter(&server, &json!({ "code": code(&address) })).refused(401);
    assert!(!PathBuf::from(arguments.trim()).exists(), "a link that was used is gone");
    assert_eq!(page.ask(&server, "GET", "/api/sessions", &[]), 200);
    let origin = format!("http://{}", server.address);
    assert_eq!(page.ask(&server, "POST", "/api/sessions/one/stop", &[("Origin", &origin)]), 200);
}

#[test]
fn both_halves_are_needed_and_no_other_site_may_use_them() {
    let context = TestContext::for_dashboard();
    context.start_workflow("one", "quick");
    let server = context.serve();
    let page = page(enter(&server, &json!({ "token": server.token })));
    let other = Page { cookie: page.cookie.clone(), key: "0".repeat(page.key.len()) };
    assert_eq!(other.ask(&server, "GET", "/api/sessions", &[]), 401, "a cookie alone reaches every port");
    let other = Page { cookie: String::new(), key: page.key.clone() };
    assert_eq!(other.ask(&server, "GET", "/api/sessions", &[]), 401);
    for elsewhere in [("Origin", "http://127.0.0.1:1"), ("Sec-Fetch-Site", "same-site"), ("Origin", "null")] {
        assert_eq!(page.ask(&server, "GET", "/api/sessions", &[elsewhere]), 403, "{elsewhere:?}");
        assert_eq!(page.ask(&server, "POST", "/api/sessions/one/stop", &[elsewhere]), 403, "{elsewhere:?}");
    }
    assert_eq!(page.ask(&server, "POST", "/api/sessions/one/stop", &[]), 403, "a browser names the origin");
    assert_eq!(page.ask(&server, "GET", "/api/sessions", &[("Host", "evil.example")]), 421);
}

#[test]
fn wrong_codes_and_tokens_are_rejected() {
    let context = TestContext::for_dashboard();
    let server = context.serve();
    let long = "a".repeat(50_000);
    for shown in [
        json!({}),
        json!({ "code": "" }),
        json!({ "code": "0000000000000000." }),
        json!({ "code": "../../token." }),
        json!({ "code": long }),
        json!({ "token": "" }),
        json!({ "token": "0".repeat(48) }),
    ] {
        let answer = enter(&server, &shown);
        assert!(!answer.head.to_lowercase().contains("set-cookie"), "{answer:?}");
        answer.refused(401);
    }
    for shown in [json!([]), json!({ "code": 1 })] {
        assert!([400, 415, 422].contains(&enter(&server, &shown).status), "{shown}");
    }
    let elsewhere = [("Origin", "http://evil.example")];
    let body = json!({ "token": server.token }).to_string();
    request(&server.address, "POST", "/api/enter", &elsewhere, &body).refused(403);
}

/// What an open page still sends when the port has another owner must open nothing.
#[test]
fn nothing_that_a_page_has_outlives_its_server() {
    let context = TestContext::for_dashboard();
    let server = context.serve();
    let page = page(enter(&server, &json!({ "token": server.token })));
    let address = opened_address(&context, &["dashboard", "--open"]);
    let port = server.port();
    drop(server);
    let server = context.serve_on(port);
    assert_eq!(server.port(), port);
    assert_eq!(page.ask(&server, "GET", "/api/sessions", &[]), 401);
    enter(&server, &json!({ "code": code(&address) })).refused(401);
}

#[test]
fn a_token_that_others_can_read_is_refused_with_a_hint() {
    let context = TestContext::for_dashboard();
    drop(context.serve());
    let token = context.path("overtone/dashboard/token");
    fs::set_permissions(&token, fs::Permissions::from_mode(0o644)).unwrap();
    let old = fs::read_to_string(&token).unwrap();
    for arguments in [
        &["dashboard"][..],
        &["dashboard", "--open"],
        &["dashboard", "--token"],
        &["dashboard", "--foreground"],
    ] {
        let done = context.run_args(arguments);
        let stderr = &done.stderr;
        assert_ne!(done.code, Some(0), "{done:?}");
        assert!(
            stderr.contains("(644)") && stderr.contains("hint: ") && stderr.contains("rm -f"),
            "{stderr}"
        );
        assert!(done.stdout.is_empty(), "{done:?}");
    }
    let doctor = context.run_args(&["doctor", "--json"]);
    assert!(doctor.stdout.contains("token-exposed"), "{doctor:?}");
    fs::remove_file(&token).unwrap();
    let server = context.serve();
    assert_ne!(server.token, old.trim());
}
