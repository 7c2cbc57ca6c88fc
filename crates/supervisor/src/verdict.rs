//! From the reviewer's answer to a verdict: the structured output, JSON in the text, near-JSON, else the text.

use serde_json::{Map, Value};

use crate::repair::repaired;

/// How many opening braces are tried when the text holds no proper JSON.
const MAX_TRIES: usize = 16;

/// Where a verdict is looked for: at the end of a text. It bounds the time for hostile ones.
const MAX_BYTES: usize = 64 * 1024;

/// What the reviewer came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    pub allow_stop: bool,
    /// May be empty.
    pub feedback: String,
}

impl Verdict {
    /// Never fails: an answer that cannot be understood is feedback, as it is.
    pub fn read(structured: Option<&Value>, text: &str) -> Self {
        structured
            .and_then(Value::as_object)
            .and_then(from_object)
            .or_else(|| last_in(tail(text)))
            .or_else(|| near_json(tail(text)))
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

/// The last verdict in a text, fenced or loose: what comes before it may be an example.
fn last_in(text: &str) -> Option<Verdict> {
    let (mut at, mut last) = (0, None);
    while let Some(brace) = text[at..].find('{') {
        let start = at + brace;
        match verdict_at(&text[start..]) {
            Some((verdict, length)) => {
                last = Some(verdict);
                at = start + length;
            }
            None => at = start + 1,
        }
    }
    last
}

/// The verdict that a text begins with, and its length.
fn verdict_at(text: &str) -> Option<(Verdict, usize)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Map<String, Value>>();
    let verdict = from_object(&values.next()?.ok()?)?;
    Some((verdict, values.byte_offset()))
}

fn near_json(text: &str) -> Option<Verdict> {
    let braces = text.match_indices('{').take(MAX_TRIES);
    let verdicts = braces.filter_map(|(at, _)| {
        let object: Map<String, Value> = serde_json::from_str(&repaired(&text[at..])?).ok()?;
        from_object(&object)
    });
    verdicts.last()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(text: &str) -> (bool, String) {
        let verdict = Verdict::read(None, text);
        (verdict.allow_stop, verdict.feedback)
    }

    fn is(allow_stop: bool, feedback: &str) -> (bool, String) {
        (allow_stop, feedback.to_owned())
    }

    #[test]
    fn structured_output_comes_first() {
        let structured = json!({"completed": false, "feedback": "tests"});
        let verdict = Verdict::read(Some(&structured), r#"{"completed":true,"feedback":""}"#);
        assert_eq!((verdict.allow_stop, verdict.feedback), is(false, "tests"));
        let odd = json!({"completed": "yes"});
        assert!(Verdict::read(Some(&odd), r#"{"completed":true,"feedback":""}"#).allow_stop);
    }

    #[test]
    fn json_is_found_in_prose_and_fences() {
        assert_eq!(read("ok:\n```json\n{\"completed\": true, \"feedback\": \"\"}\n```\nbye"), is(true, ""));
        assert_eq!(read(r#"I say {"allow_stop":false,"feedback":"do {x}"} now"#), is(false, "do {x}"));
        assert_eq!(read(r#"{"result":{"completed":true,"feedback":"f"}}"#), is(true, "f"));
    }

    #[test]
    fn the_last_verdict_counts() {
        let text = r#"Such as {"completed":true,"feedback":"x"}. Mine: {"completed":false,"feedback":"y"}"#;
        assert_eq!(read(text), is(false, "y"));
        // JSON that is quoted inside the feedback is no verdict.
        let quoted = r#"{"completed":false,"feedback":"print {\"completed\":true,\"feedback\":\"\"}"}"#;
        assert!(!read(quoted).0);
    }

    #[test]
    fn near_json_is_repaired() {
        assert_eq!(read(r#"{"completed": false, "feedback": "run tests",}"#), is(false, "run tests"));
        assert_eq!(
            read("{'completed': True, 'feedback': 'it\\'s fine, don't worry'}"),
            is(true, "it's fine, don't worry")
        );
        assert_eq!(read("{\"completed\": false, \"feedback\": \"a\nb\"}"), is(false, "a\nb"));
    }

    #[test]
    fn everything_else_is_feedback_and_never_a_pass() {
        for text in
            ["run the tests", "{broken", r#"{"completed": true, "feedb"#, r#"{"completed":"true"}"#, "{}"]
        {
            assert_eq!(read(text), is(false, text));
        }
        assert_eq!(read("  \n"), is(false, ""));
    }

    #[test]
    fn hostile_text_takes_no_time() {
        for piece in ["{", "{\"a\":", "{'", "[{"] {
            assert!(!read(&piece.repeat(200_000)).0);
        }
    }
}
