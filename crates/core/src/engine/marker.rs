//! The marker that ends a report: `<!-- VERDICT: {"result":"PASS"} -->`, and the grader's `<!-- GRADE: {"score":85} -->`.
//!
//! A quoted marker is not a verdict, and a pass must be exactly that word: reports are written by a model that knows
//! these markers and may mention them.

use crate::engine::state::Verdict;

/// A verdict as a marker gives it.
pub(crate) struct Marker<'a> {
    pub(crate) verdict: Verdict,
    /// The rest of the report after the marker.
    pub(crate) after: &'a str,
}

/// The verdict of the last marker, since an agent may quote its instructions before it gives its own verdict. If the last
/// marker has an unknown word, there is no verdict, and earlier markers are ignored.
pub(crate) fn last_marker(message: &str) -> Option<Marker<'_>> {
    for comment in comments(message, "VERDICT:") {
        let verdict = verdict_in(comment.body)?;
        if verdict != Verdict::Pass || !comment.is_quoted() {
            return Some(Marker { verdict, after: comment.after });
        }
    }
    None
}

/// A text field of the last verdict, such as the reason why nothing was changed. An empty text counts as none.
pub(crate) fn verdict_field(message: &str, name: &str) -> Option<String> {
    let body = comments(message, "VERDICT:").next()?.body;
    let (_, rest) = body.split_once(&format!("\"{name}\""))?;
    let value = rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    let mut text = String::new();
    let mut characters = value.chars();
    while let Some(c) = characters.next() {
        match c {
            '"' => break,
            '\\' => text.extend(characters.next()),
            c => text.push(c),
        }
    }
    let text = text.trim();
    if text.is_empty() { None } else { Some(text.to_owned()) }
}

/// A field of the last verdict that is true or false, with or without quotes.
pub(crate) fn verdict_flag(message: &str, name: &str) -> Option<bool> {
    let body = comments(message, "VERDICT:").next()?.body;
    let (_, rest) = body.split_once(&format!("\"{name}\""))?;
    let value = rest.trim_start().strip_prefix(':')?.trim_start().trim_start_matches('"');
    let end = value.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(value.len());
    value[..end].to_ascii_lowercase().parse().ok()
}

/// The score of a grader's marker.
pub(crate) fn grade(message: &str) -> Option<i64> {
    let body = comments(message, "GRADE:").next()?.body;
    let digits = body.split_once("\"score\"")?.1.trim_start_matches([':', ' ', '"']);
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().ok()
}

/// The verdict that a word stands for.
pub(crate) fn verdict_word(word: &str) -> Option<Verdict> {
    match word.to_ascii_uppercase().as_str() {
        "PASS" | "PASSED" | "APPROVE" | "APPROVED" | "OK" | "DONE" | "COMPLETED" | "SUCCESS" => {
            Some(Verdict::Pass)
        }
        "FAIL" | "FAILED" | "FAILURE" => Some(Verdict::Fail),
        "REJECT" | "REJECTED" | "REQUEST_CHANGES" | "REQUEST-CHANGES" => Some(Verdict::Reject),
        "ISSUES" | "ISSUE" => Some(Verdict::Issues),
        "BLOCKED" | "BLOCK" => Some(Verdict::Blocked),
        _ => None,
    }
}

/// The verdict in a marker. A failure may have an explanation ("FAIL (2 tests)"). A pass with an explanation, or as one of
/// several choices, does not count.
fn verdict_in(body: &str) -> Option<Verdict> {
    let value = value_in(body);
    let end = value.find(|c: char| !(c.is_ascii_alphabetic() || c == '_' || c == '-')).unwrap_or(value.len());
    let verdict = verdict_word(&value[..end])?;
    if verdict == Verdict::Pass && end < value.len() { None } else { Some(verdict) }
}

/// The text of the `result` field, or the whole body if there is no such field.
fn value_in(body: &str) -> &str {
    let Some((_, field)) = body.split_once("\"result\"") else {
        return body.trim_matches(|c: char| c.is_whitespace() || matches!(c, '{' | '}' | '"'));
    };
    let field = field.trim_start_matches(|c: char| c.is_whitespace() || c == ':');
    let value = match field.strip_prefix('"') {
        Some(text) => text.split('"').next(),
        None => field.split([',', '}']).next(),
    };
    value.unwrap_or_default().trim()
}

/// An HTML comment of a report, with the text around it.
struct Comment<'a> {
    before: &'a str,
    body: &'a str,
    after: &'a str,
}

/// The comments with this name, the last one first.
fn comments<'a>(message: &'a str, name: &'static str) -> impl Iterator<Item = Comment<'a>> {
    message.rmatch_indices("<!--").filter_map(move |(at, opening)| {
        let inner = message[at + opening.len()..].trim_start().strip_prefix(name)?;
        // A comment that is never closed ends with its line.
        let closed = inner.split_once("-->").or_else(|| inner.split_once('\n'));
        let (body, after) = closed.unwrap_or((inner, ""));
        Some(Comment { before: &message[..at], body, after })
    })
}

impl Comment<'_> {
    /// Whether the comment is only quoted as code. One that ends the report, alone on its line, counts nevertheless.
    fn is_quoted(&self) -> bool {
        let is_inline = self.before.ends_with('`');
        let fences = self.before.lines().filter(|line| line.trim_start().starts_with("```")).count();
        if !is_inline && fences % 2 == 0 {
            return false;
        }
        let line = self.before.rsplit('\n').next().unwrap_or_default();
        let is_alone = line.trim_matches(|c: char| c.is_whitespace() || c == '`').is_empty();
        let is_last = self.after.trim_matches(|c: char| c.is_whitespace() || c == '`').is_empty();
        !(is_alone && is_last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(message: &str) -> Option<Verdict> {
        last_marker(message).map(|marker| marker.verdict)
    }

    #[test]
    fn a_pass_is_exactly_that_word() {
        for word in
            ["PASS|FAIL", "PASS with 2 failures", "PASS?", "PASS or FAIL", "NOT PASS", "PASS, BLOCKED"]
        {
            assert_eq!(read(&format!("<!-- VERDICT: {{\"result\":\"{word}\"}} -->")), None, "{word}");
        }
        assert_eq!(read("<!-- VERDICT: PASS with 2 failures -->"), None);
        for word in ["PASS", " pass ", "Passed"] {
            let message = format!("<!-- VERDICT: {{ \"result\" : \"{word}\", \"tests\": 3 }} -->");
            assert_eq!(read(&message), Some(Verdict::Pass), "{word}");
        }
        assert_eq!(read("<!-- VERDICT: PASS -->"), Some(Verdict::Pass));
        assert_eq!(read("<!-- VERDICT: {\"result\":\"FAIL (2)\"} -->"), Some(Verdict::Fail));
    }

    #[test]
    fn a_pass_that_is_quoted_as_code_does_not_count() {
        let pass = "<!-- VERDICT: {\"result\":\"PASS\"} -->";
        let fail = "<!-- VERDICT: {\"result\":\"FAIL\"} -->";
        for (message, verdict) in [
            (format!("When all is done I say `{pass}` at the end; the rest follows."), None),
            (format!("The contract:\n```html\n{pass}\n```\nNow I begin."), None),
            (format!("I will end with `{pass}`"), None),
            (format!("{fail}\nI did not write `{pass}`, as you see."), Some(Verdict::Fail)),
            (format!("```\nexample\n```\n{pass}\nfiles: a.rs"), Some(Verdict::Pass)),
            (format!("done\n```\n{pass}\n```\n"), Some(Verdict::Pass)),
            (format!("done\n`{pass}`\n"), Some(Verdict::Pass)),
        ] {
            assert_eq!(read(&message), verdict, "{message}");
        }
    }

    #[test]
    fn other_fields_of_a_verdict_are_read() {
        let field = |body: &str| verdict_field(&format!("x <!-- VERDICT: {body} -->"), "unchanged");
        let given = r#"{"result":"PASS", "unchanged" : "it \"works\" already"}"#;
        assert_eq!(field(given).as_deref(), Some("it \"works\" already"));
        for none in [r#"{"result":"PASS"}"#, r#"{"unchanged":" "}"#, r#"{"unchanged":true}"#, "PASS"] {
            assert_eq!(field(none), None, "{none}");
        }
        assert_eq!(verdict_field("\"unchanged\": \"because\"", "unchanged"), None);
    }

    #[test]
    fn flags_of_a_verdict_are_read() {
        let flag = |body: &str| verdict_flag(&format!("x <!-- VERDICT: {body} -->"), "visible");
        assert_eq!(flag(r#"{"result":"PASS","visible":false}"#), Some(false));
        assert_eq!(flag(r#"{"result":"PASS","visible": "True"}"#), Some(true));
        for none in [r#"{"result":"PASS"}"#, r#"{"visible":0}"#, r#"{"visible":"no"}"#, "PASS"] {
            assert_eq!(flag(none), None, "{none}");
        }
        assert_eq!(verdict_flag("\"visible\": false", "visible"), None);
    }

    #[test]
    fn grades_are_read() {
        assert_eq!(grade("<!-- GRADE: {\"score\":85} -->"), Some(85));
        assert_eq!(grade("<!-- GRADE: {\"score\": \"7\"} -->"), Some(7));
        assert_eq!(grade("no grade"), None);
    }
}
