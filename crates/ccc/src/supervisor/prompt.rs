//! Builds the reviewer's prompt: the user's `SUPERVISOR.md` or the default text, the facts, and the instruction.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use overtone_core::engine::text::cut;
use overtone_core::messages::{Lang, supervisor as messages};

use crate::supervisor::checks::Evidence;

/// The limit of a prompt in UTF-16 units, of at most three bytes each. It is enough for instructions and evidence.
const MAX_UNITS: usize = 40_000;
const MAX_BYTES: u64 = 128 * 1024;

/// What the prompt contains besides the instructions.
#[derive(Debug, Default)]
pub(crate) struct ReviewFacts<'a> {
    pub(crate) request: Option<&'a str>,
    pub(crate) evidence: &'a [Evidence],
}

pub(crate) fn build(file: &Path, facts: &ReviewFacts<'_>, lang: Lang) -> String {
    compose(read_custom_prompt(file), facts, lang)
}

fn compose(custom: Option<String>, facts: &ReviewFacts<'_>, lang: Lang) -> String {
    let text = custom.unwrap_or_else(|| messages::prompt(lang));
    let mut parts = vec![cut(text.trim(), MAX_UNITS / 2).to_owned()];
    parts.extend(facts.request.map(|request| format!("{}\n{request}", messages::original_request(lang))));
    parts.extend(render_evidence(facts.evidence, lang));
    parts.push(messages::instruction(lang));
    parts.join("\n\n").replace('\0', "")
}

fn render_evidence(evidence: &[Evidence], lang: Lang) -> Option<String> {
    if evidence.is_empty() {
        return None;
    }
    let lines: Vec<_> = evidence.iter().map(|one| one.render(lang)).collect();
    let text = format!("{}\n{}", messages::evidence(lang), lines.join("\n\n"));
    Some(cut(&text, MAX_UNITS / 2).to_owned())
}

/// Reads the user's prompt, following links. Returns `None` if the file is missing, empty or not a regular file.
fn read_custom_prompt(file: &Path) -> Option<String> {
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(file).ok()?.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes).trim_start_matches('\u{feff}').to_owned();
    if text.trim().is_empty() { None } else { Some(text) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::supervisor::checks::CheckResult;

    #[test]
    fn the_users_prompt_comes_first_and_the_instruction_last() {
        let text = compose(Some("---\nstrict\0".into()), &ReviewFacts::default(), Lang::ZhCn);
        assert!(text.starts_with("---\nstrict\n\n"));
        assert!(text.ends_with(&messages::instruction(Lang::ZhCn)));
        assert!(compose(None, &ReviewFacts::default(), Lang::En).starts_with("You are a strict reviewer."));
    }

    #[test]
    fn the_prompt_contains_the_request_and_the_evidence() {
        let evidence = [Evidence {
            name: "cargo test".into(),
            result: CheckResult::Passed,
            tail: "12 passed".into(),
            seconds: 1.0,
        }];
        let facts = ReviewFacts { request: Some("fix the door"), evidence: &evidence };
        let text = compose(None, &facts, Lang::En);
        for part in ["fix the door", "cargo test", "12 passed"] {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn a_prompt_is_limited_in_length() {
        let facts = ReviewFacts { request: Some(&"测".repeat(4_000)), evidence: &[] };
        assert!(compose(Some("测".repeat(100_000)), &facts, Lang::ZhCn).len() < 128 * 1024);
    }
}
