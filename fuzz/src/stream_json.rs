//! The reviewer's output: any line is read, and whatever it says, a stop is allowed only where it says so.

use overtone_ccc::supervisor::{ResultLine, StreamLine, Verdict, parse_line};
use serde_json::{Value, json};

pub fn check(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for line in text.lines() {
        match parse_line(line) {
            StreamLine::Text(texts) => assert!(texts.iter().all(|text| !text.trim().is_empty())),
            StreamLine::Result(result) => no_stop_without_a_word(&result),
            StreamLine::Other => {}
        }
    }
    // The same as a result's text, which is what models write freely.
    let verdict = Verdict::parse(None, &text);
    assert!(!verdict.allow_stop || says_true(&text));
    its_own_verdict_comes_last(&text);
    what_is_written_is_read(&text, &verdict);
}

fn no_stop_without_a_word(result: &ResultLine) {
    let verdict = Verdict::parse(result.structured.as_ref(), &result.text);
    let structured = result.structured.as_ref().map(Value::to_string).unwrap_or_default();
    assert!(!verdict.allow_stop || says_true(&structured) || says_true(&result.text));
    assert_eq!(verdict.feedback, verdict.feedback.trim());
    assert!(!result.out_of_budget || result.is_error);
}

fn says_true(text: &str) -> bool {
    text.contains("true") || text.contains("True")
}

fn its_own_verdict_comes_last(text: &str) {
    for allow_stop in [true, false] {
        let own = json!({ "completed": allow_stop, "feedback": "mine" });
        let verdict = Verdict::parse(None, &format!("{text}\n{own}\n"));
        assert_eq!((verdict.allow_stop, verdict.feedback.as_str()), (allow_stop, "mine"));
    }
}

fn what_is_written_is_read(text: &str, verdict: &Verdict) {
    let line = json!({ "type": "result", "subtype": "success", "result": text }).to_string();
    let StreamLine::Result(result) = parse_line(&line) else { panic!("a result") };
    assert_eq!((result.text.as_str(), result.is_error), (text, false));
    let structured = json!({ "completed": verdict.allow_stop, "feedback": verdict.feedback });
    assert_eq!(Verdict::parse(Some(&structured), text), *verdict, "structured output comes first");
}
