//! What the reviewer is asked: the person's `SUPERVISOR.md` or our own words, and the instruction.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use overtone_engine::text::cut;
use overtone_messages::{Lang, supervisor as words};

use crate::checks::Evidence;

/// Enough for instructions and evidence; a model has to read all of it. A UTF-16 unit has at most three bytes.
const MAX_UNITS: usize = 40_000;
const MAX_BYTES: u64 = 128 * 1024;

/// What the reviewer is told beside the conversation itself.
#[derive(Debug, Default)]
pub(crate) struct Facts<'a> {
    pub(crate) request: Option<&'a str>,
    pub(crate) evidence: &'a [Evidence],
}

pub(crate) fn prompt(file: &Path, facts: &Facts<'_>, lang: Lang) -> String {
    compose(own_words(file), facts, lang)
}

fn compose(own: Option<String>, facts: &Facts<'_>, lang: Lang) -> String {
    let own = own.unwrap_or_else(|| words::prompt(lang));
    let mut parts = vec![cut(own.trim(), MAX_UNITS / 2).to_owned()];
    parts.extend(facts.request.map(|request| format!("{}\n{request}", words::original_request(lang))));
    parts.extend(evidence(facts.evidence, lang));
    parts.push(words::instruction(lang));
    let text = parts.join("\n\n");
    text.replace('\0', "")
}

fn evidence(evidence: &[Evidence], lang: Lang) -> Option<String> {
    let lines: Vec<_> = evidence.iter().map(|one| one.text(lang)).collect();
    let text = format!("{}\n{}", words::evidence(lang), lines.join("\n\n"));
    (!lines.is_empty()).then(|| cut(&text, MAX_UNITS / 2).to_owned())
}

/// A link is followed: it is the person's file. A missing, empty or odd one counts as none.
fn own_words(file: &Path) -> Option<String> {
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(file).ok()?.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes).trim_start_matches('\u{feff}').to_owned();
    (!text.trim().is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::Found;

    #[test]
    fn the_persons_words_come_first_and_the_instruction_last() {
        let text = compose(Some("---\nstrict\0".into()), &Facts::default(), Lang::ZhCn);
        assert!(text.starts_with("---\nstrict\n\n"));
        assert!(text.ends_with(&words::instruction(Lang::ZhCn)));
        assert!(compose(None, &Facts::default(), Lang::En).starts_with("You are a strict reviewer."));
    }

    #[test]
    fn the_reviewer_is_told_the_request_and_the_evidence() {
        let evidence = [Evidence {
            name: "cargo test".into(),
            found: Found::Passed,
            tail: "12 passed".into(),
            seconds: 1.0,
        }];
        let facts = Facts { request: Some("mend the door"), evidence: &evidence };
        let text = compose(None, &facts, Lang::En);
        for part in ["mend the door", "cargo test", "12 passed"] {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn a_prompt_is_never_too_long() {
        let facts = Facts { request: Some(&"测".repeat(4_000)), evidence: &[] };
        assert!(compose(Some("测".repeat(100_000)), &facts, Lang::ZhCn).len() < 128 * 1024);
    }
}
