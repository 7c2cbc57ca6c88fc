//! Parses the reviewer's answer: structured output first, then JSON in the text, then near-JSON, else plain feedback.

use serde_json::{Map, Value};

use crate::supervisor::repair::repair_json;

/// How many opening braces are tried if the text contains no valid JSON.
const MAX_ATTEMPTS: usize = 16;

/// Only the end of a text is searched for a verdict, which bounds the time for hostile texts.
const MAX_BYTES: usize = 64 * 1024;

/// The reviewer's decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    pub allow_stop: bool,
    /// May be empty.
    pub feedback: String,
}

impl Verdict {
    /// Parses an answer. It never fails: an answer that is not understood blocks the stop and is used as feedback.
    pub fn parse(structured: Option<&Value>, text: &str) -> Self {
        structured
            .and_then(Value::as_object)
            .and_then(from_object)
            .or_else(|| last_json_verdict(tail(text)))
            .or_else(|| last_near_json_verdict(tail(text)))
            .unwrap_or_else(|| Self { allow_stop: false, feedback: text.trim().to_owned() })
    }
}

fn from_object(object: &Map<String, Value>) -> Option<Verdict> {
    let allow_stop = object.get("completed").or_else(|| object.get("allow_stop"))?.as_bool()?;
    let feedback = object.get("feedback").and_then(Value::as_str).unwrap_or_default();
    Some(Verdict { allow_stop, feedback: feedback.trim().to_owned() })
}

fn tail(text: &str) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(MAX_BYTES))..]
}

/// The last verdict in a text, fenced or not: earlier ones may be examples.
fn last_json_verdict(text: &str) -> Option<Verdict> {
    let (mut at, mut last) = (0, None);
    while let Some(brace) = text[at..].find('{') {
        let start = at + brace;
        match verdict_at_start(&text[start..]) {
            Some((verdict, length)) => {
                last = Some(verdict);
                at = start + length;
            }
            None => at = start + 1,
        }
    }
    last
}

/// The verdict at the start of a text, and its length.
fn verdict_at_start(text: &str) -> Option<(Verdict, usize)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Map<String, Value>>();
    let verdict = from_object(&values.next()?.ok()?)?;
    Some((verdict, values.byte_offset()))
}

fn last_near_json_verdict(text: &str) -> Option<Verdict> {
    let braces = text.match_indices('{').take(MAX_ATTEMPTS);
    let verdicts = braces.filter_map(|(at, _)| {
        let object: Map<String, Value> = serde_json::from_str(&repair_json(&text[at..])?).ok()?;
        from_object(&object)
    });
    verdicts.last()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parse(text: &str) -> (bool, String) {
        let verdict = Verdict::parse(None, text);
        (verdict.allow_stop, verdict.feedback)
    }

    fn expected(allow_stop: bool, feedback: &str) -> (bool, String) {
        (allow_stop, feedback.to_owned())
    }

    #[test]
    fn structured_output_comes_first() {
        let structured = json!({"completed": false, "feedback": "tests"});
        let verdict = Verdict::parse(Some(&structured), r#"{"completed":true,"feedback":""}"#);
        assert_eq!((verdict.allow_stop, verdict.feedback), expected(false, "tests"));
        let odd = json!({"completed": "yes"});
        assert!(Verdict::parse(Some(&odd), r#"{"completed":true,"feedback":""}"#).allow_stop);
    }

    #[test]
    fn json_is_found_in_prose_and_code_fences() {
        assert_eq!(
            parse("ok:\n```json\n{\"completed\": true, \"feedback\": \"\"}\n```\nbye"),
            expected(true, "")
        );
        assert_eq!(parse(r#"I say {"allow_stop":false,"feedback":"do {x}"} now"#), expected(false, "do {x}"));
        assert_eq!(parse(r#"{"result":{"completed":true,"feedback":"f"}}"#), expected(true, "f"));
    }

    #[test]
    fn the_last_verdict_is_used() {
        let text = r#"Such as {"completed":true,"feedback":"x"}. Mine: {"completed":false,"feedback":"y"}"#;
        assert_eq!(parse(text), expected(false, "y"));
        // JSON inside the feedback string is not a verdict.
        let quoted = r#"{"completed":false,"feedback":"print {\"completed\":true,\"feedback\":\"\"}"}"#;
        assert!(!parse(quoted).0);
    }

    #[test]
    fn near_json_is_repaired() {
        assert_eq!(parse(r#"{"completed": false, "feedback": "run tests",}"#), expected(false, "run tests"));
        assert_eq!(
            parse("{'completed': True, 'feedback': 'it\\'s fine, don't worry'}"),
            expected(true, "it's fine, don't worry")
        );
        assert_eq!(parse("{\"completed\": false, \"feedback\": \"a\nb\"}"), expected(false, "a\nb"));
    }

    #[test]
    fn other_answers_are_feedback_and_never_allow_a_stop() {
        for text in
            ["run the tests", "{broken", r#"{"completed": true, "feedb"#, r#"{"completed":"true"}"#, "{}"]
        {
            assert_eq!(parse(text), expected(false, text));
        }
        assert_eq!(parse("  \n"), expected(false, ""));
    }

    #[test]
    fn hostile_text_is_processed_quickly() {
        for piece in ["{", "{\"a\":", "{'", "[{"] {
            assert!(!parse(&piece.repeat(200_000)).0);
        }
    }
}
