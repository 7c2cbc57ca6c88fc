use serde_json::{Value, json};

use crate::common::Output;
use crate::fixture::{CHAT, RemoteFixture, assert_no_secrets};
use crate::service::Reply;

fn object(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn what_is_configured_is_shown_without_secrets() {
    let fixture = RemoteFixture::new();
    let Output { code, stdout: text, stderr: errors } = fixture.run_args(&["remote", "check"]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    for part in ["telegram", "webhook", "ntfy", "my-topic", "needs-person", &CHAT.to_string(), "0 waiting"] {
        assert!(text.contains(part), "no {part} in {text}");
    }
    assert_no_secrets(&text);
    let Output { stdout: json, .. } = fixture.run_args(&["remote", "check", "--json"]);
    assert_no_secrets(&json);
    assert_eq!(object(&json)["valid"], json!(true));
    assert_eq!(object(&json)["channels"]["telegram"]["token"], "****");
}

#[test]
fn nothing_is_no_failure_to_check_but_one_to_test() {
    let fixture = RemoteFixture::new();
    fixture.configure(&json!({}));
    let Output { code, stdout: text, .. } = fixture.run_args(&["remote", "check"]);
    assert!(code == Some(0) && text.contains("no channel is configured"), "{text}");
    let Output { code, stdout: text, stderr: errors } = fixture.run_args(&["remote", "test"]);
    assert_eq!((code, text.as_str()), (Some(1), ""));
    assert!(errors.contains("error: no channel is configured\nhint: "), "{errors}");
}

#[test]
fn what_is_wrong_is_named() {
    let fixture = RemoteFixture::new();
    fixture.put_secret("webhook", crate::fixture::SECRET, 0o604);
    let mut remote = fixture.all_channels();
    remote["ntfy"]["events"] = json!(["done", "oops"]);
    fixture.configure(&remote);
    let Output { code, stdout: text, stderr: errors } = fixture.run_args(&["remote", "check"]);
    assert_eq!(code, Some(1));
    assert!(text.contains("telegram") && !text.contains("webhook"), "{text}");
    for part in ["remote.webhook.secretFile", "chmod 600", "oops", "hint: "] {
        assert!(errors.contains(part), "no {part} in {errors}");
    }
    let Output { code, stdout: json, .. } = fixture.run_args(&["remote", "check", "--json"]);
    let about = object(&json);
    assert_eq!(
        (code, &about["valid"], about["problems"].as_array().unwrap().len()),
        (Some(1), &json!(false), 2)
    );
    std::fs::write(fixture.state_file("config.json"), "{broken").unwrap();
    let Output { code, stderr: errors, .. } = fixture.run_args(&["remote", "check"]);
    assert!(code == Some(1) && errors.contains("config.json"), "{errors}");
}

#[test]
fn a_test_message_goes_to_every_channel() {
    let fixture = RemoteFixture::new();
    let Output { code, stdout: text, stderr: errors } = fixture.run_args(&["remote", "test"]);
    assert_eq!((code, errors.as_str()), (Some(0), ""), "{text}");
    assert!(text.contains(&format!("telegram/{CHAT}")) && text.matches("sent").count() == 3, "{text}");
    assert_eq!(fixture.webhook.taken()[0].json()["event"], "test");
    assert!(fixture.telegram.taken()[0].json()["text"].as_str().unwrap().contains("test message"));
    assert_eq!(fixture.ntfy.taken().len(), 1);
}

#[test]
fn a_test_that_fails_says_how_and_ends_with_one() {
    let fixture = RemoteFixture::new();
    let refused = r#"{"ok":false,"error_code":401,"description":"Unauthorized"}"#;
    fixture.telegram.answer_next([Reply { status: 401, headers: vec![], body: refused.to_owned() }]);
    let vacant = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut remote = fixture.all_channels();
    remote["webhook"]["url"] = format!("http://{vacant}/hook/path").into();
    fixture.configure(&remote);
    let Output { code, stdout: text, stderr: errors } = fixture.run_args(&["remote", "test", "--json"]);
    let about = object(&text);
    assert_eq!((code, &about["ok"]), (Some(1), &json!(false)));
    let result = |target: &str| {
        let results = about["results"].as_array().unwrap();
        results.iter().find(|result| result["target"].as_str().unwrap().starts_with(target)).unwrap().clone()
    };
    assert_eq!(result("telegram")["problem"], "401 Unauthorized");
    assert!(result("webhook")["problem"].as_str().unwrap().contains("refused"));
    assert_eq!(result("ntfy")["sent"], json!(true));
    assert_no_secrets(&format!("{text}{errors}"));
    // It is tried once, since a user waits at the terminal.
    assert_eq!(fixture.telegram.requests().len(), 1);
}
