//! Uses dummy secrets that look like real ones.

use proptest::prelude::*;

use super::redact;

/// Texts, each with the part that must be removed.
const SECRETS: [(&str, &str); 29] = [
    ("key sk-ant-api03-AbCdEf0123456789-xyz rejected", "AbCdEf0123456789"),
    ("x-api-key: sk-kimi-0123456789abcdef", "0123456789abcdef"),
    ("export GLM_KEY=8f2b1c.Zq0-notReal", "8f2b1c"),
    ("clone https://ann:hunter2secret@git.example/x.git failed", "hunter2secret"),
    ("postgres://app:p%40ss-w0rd@db.example:5432/prod", "p%40ss-w0rd"),
    ("redis://:onlypassword@cache.example/0", "onlypassword"),
    ("https://oauth2:glpat-aBcDeFgHiJ0123456789@git.example", "glpat-aBcDeFgHiJ0123456789"),
    ("AKIAIOSFODNN7EXAMPLE", "IOSFODNN7EXAMPLE"),
    ("aws_access_key_id = ASIAIOSFODNN7EXAMPLE", "IOSFODNN7EXAMPLE"),
    ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalrXUtnFEMI"),
    ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "K7MDENG"),
    ("{\"aws_session_token\": \"FwoGZXIvYXdzEXAMPLE//////////wEaD\"}", "FwoGZXIvYXdzEXAMPLE"),
    ("{\\\"password\\\": \\\"correct horse\\\"}", "correct horse"),
    ("password: hunter22", "hunter22"),
    ("'client_secret' => 'abc-123-def'", "abc-123-def"),
    ("Authorization: Bearer abc.def-123456", "abc.def-123456"),
    ("authorization: Basic YW5uOmh1bnRlcjI=", "YW5uOmh1bnRlcjI"),
    ("curl -H 'Bearer 0123456789'", "0123456789"),
    ("Cookie: session=abcdef123456", "abcdef123456"),
    ("?api_key=0123abcd&x=1", "0123abcd"),
    ("AccountKey=Zm9vYmFyYmF6cXV4Cg==;EndpointSuffix=x", "Zm9vYmFyYmF6cXV4Cg"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "eyJzdWIiOiIxIn0"),
    ("ghp_16C7e42F292c6912E7710c838347Ae178B4a", "16C7e42F292c"),
    ("github_pat_11ABCDEFG0aBcDeFgHiJkL_mNoPqRsT", "11ABCDEFG0"),
    ("AIzaSyA-0123456789abcdefghijklmnopqrstu", "SyA-0123456789"),
    ("xoxb-123456789012-abcdefghijkl", "123456789012"),
    ("hf_aBcDeFgHiJkLmNoPqRsTuVwXyZ012345", "aBcDeFgHiJkL"),
    ("npm_0123456789abcdefghijABCDEFGHIJ", "0123456789abcdef"),
    ("ANTHROPIC_AUTH_TOKEN=plain-words-only", "plain-words-only"),
];

#[test]
fn every_kind_of_secret_is_removed() {
    for (text, secret) in SECRETS {
        for text in [text.to_owned(), format!("a line\nbefore: {text} and after"), format!("错误：{text}。")]
        {
            let clean = redact(&text);
            assert!(!clean.contains(secret), "{text} -> {clean}");
            assert!(clean.contains("***"), "{text} -> {clean}");
        }
    }
}

const BODY: &str = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\nVJTUt9Us8cKj\nMzEfYyjiWA4R4==";

#[test]
fn private_keys_are_removed_whole_and_in_pieces() {
    let pem =
        |kind: &str| format!("-----BEGIN {kind}PRIVATE KEY-----\n{BODY}\n-----END {kind}PRIVATE KEY-----");
    for kind in ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "] {
        let clean = redact(&format!("read:\n{}\ndone", pem(kind)));
        assert_eq!(clean, "read:\n***\ndone", "{kind}");
    }
    let whole = pem("RSA ");
    let half = whole.len() / 2;
    for piece in [&whole[..half], &whole[half..]] {
        let clean = redact(&format!("log: {piece}"));
        assert!(
            !clean.contains("MzEfYyji") && !clean.contains("MIIEvQIB") && !clean.contains("VJTUt9Us"),
            "{clean}"
        );
    }
    let json = serde_json::json!({ "key": whole, "n": 1 }).to_string();
    let clean: serde_json::Value = serde_json::from_str(&redact(&json)).unwrap();
    assert_eq!(clean, serde_json::json!({ "key": "***", "n": 1 }));
    let torn = serde_json::json!({ "text": &whole[..half], "n": 1 }).to_string();
    let clean: serde_json::Value = serde_json::from_str(&redact(&torn)).unwrap();
    assert_eq!(clean, serde_json::json!({ "text": "***", "n": 1 }));
}

#[test]
fn text_without_secrets_stays_unchanged() {
    for text in [
        "error[E0308]: expected `Token`, found `u8` at src/main.rs:12:5",
        "token: expected a string",
        "test sk_learn ... ok, ask-me-anything",
        "see https://docs.example/keys?page=2#top and git@github.com:org/repo.git",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "max_tokens=4096, keys: 12, key: value, author: Ann",
        "the private key is read from disk",
        "PASSWORD=$(pass show x) make",
        "assert_eq!(token, secret)",
        "密码：必须加密",
        "",
    ] {
        assert_eq!(redact(text), text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_secret_is_removed_from_any_surrounding_text(before in ".{0,40}", after in ".{0,40}", which in 0..SECRETS.len()) {
        let clean = redact(&format!("{before}\n{}\n{after}", SECRETS[which].0));
        prop_assert!(!clean.contains(SECRETS[which].1), "{}", clean);
    }

    /// The redacted line is valid JSON with the same keys.
    #[test]
    fn json_stays_json(text in ".{0,60}", between in "[ \n\t\"]", which in 0..SECRETS.len()) {
        let text = format!("{text}{between}{}\n", SECRETS[which].0);
        // JSON text inside a JSON string, like the result of a tool.
        let inner = serde_json::json!({ "text": text }).to_string();
        let line = serde_json::json!({ "type": "text", "text": text, "inner": inner, "n": [1] });
        prop_assert!(!redact(&line.to_string()).contains(SECRETS[which].1.trim_matches('"')), "{}", redact(&line.to_string()));
        let clean: serde_json::Value = serde_json::from_str(&redact(&line.to_string())).unwrap();
        prop_assert_eq!(&clean["type"], "text");
        prop_assert_eq!(&clean["n"], &line["n"]);
    }
}

#[test]
fn hostile_text_is_processed_quickly() {
    for piece in [
        "PRIVATE KEY",
        "-----BEGIN PRIVATE KEY-----",
        "://",
        "://@",
        "token=",
        "password: ",
        "sk-",
        "a.",
        "\\\"",
    ] {
        redact(&piece.repeat(200_000));
    }
}
