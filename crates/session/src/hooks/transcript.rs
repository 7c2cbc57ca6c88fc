//! Finds the report at the end of an agent's transcript. Reads only a bounded part of the file, from its end.

use std::path::Path;

use overtone_claude::wire::{TranscriptEntry, read_transcript_entry};
use overtone_store::files;

/// A report has a few kilobytes, and the entries that may follow it are small too.
const TAIL_BYTES: usize = 256 * 1024;

/// The agent's report in answer to its last prompt: the text it handed back, or else its last message. `None` if the file
/// cannot be read or its end contains neither.
pub(crate) fn last_report(path: &Path) -> Option<String> {
    if !path.is_absolute() {
        return None;
    }
    let (tail, _) = files::read_tail(path, TAIL_BYTES).ok()??;
    let text = String::from_utf8_lossy(&tail);
    for line in text.lines().rev() {
        match read_transcript_entry(line) {
            TranscriptEntry::Report(report) => return Some(report),
            TranscriptEntry::Prompt => return None,
            TranscriptEntry::Other => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report_in(lines: &[&str]) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent.jsonl");
        files::write_atomic(&path, lines.join("\n").as_bytes(), files::PRIVATE).unwrap();
        last_report(&path)
    }

    #[test]
    fn entries_after_the_handed_back_text_are_skipped() {
        let handed = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"now I report"},{"type":"tool_use","name":"SubagentHandback","input":{"message":"2 failed"}}]}}"#;
        let result =
            r#"{"type":"user","message":{"content":[{"type":"tool_result","content":"delivered"}]}}"#;
        assert_eq!(report_in(&[handed, result, "{\"cut"]).as_deref(), Some("2 failed"));
    }

    #[test]
    fn the_last_message_is_the_report_if_nothing_was_handed_back() {
        let first = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"first"}]}}"#;
        let last = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}}"#;
        assert_eq!(report_in(&[first, last]).as_deref(), Some("a\nb"));
        assert_eq!(report_in(&["not json", "{}"]), None);
        assert_eq!(last_report(Path::new("relative.jsonl")), None);
    }

    /// An agent that is continued has its earlier reports in the same transcript.
    #[test]
    fn a_report_before_the_last_prompt_is_ignored() {
        let report = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"all pass"}]}}"#;
        let result = r#"{"type":"user","message":{"content":[{"type":"tool_result","content":"x"}]}}"#;
        for prompt in [
            r#"{"type":"user","message":{"content":"test it again"}}"#,
            r#"{"type":"user","message":{"content":[{"type":"text","text":"test it again"}]}}"#,
        ] {
            assert_eq!(report_in(&[report, result, prompt, result]), None);
            assert_eq!(report_in(&[prompt, report, result]).as_deref(), Some("all pass"));
        }
    }

    #[test]
    fn only_the_end_of_a_long_transcript_is_read() {
        let long = format!(
            r#"{{"type":"assistant","message":{{"content":[{{"type":"text","text":"{}"}}]}}}}"#,
            "x".repeat(400_000)
        );
        assert_eq!(report_in(&[&long]), None);
        let last = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"end"}]}}"#;
        assert_eq!(report_in(&[&long, last]).as_deref(), Some("end"));
    }
}
