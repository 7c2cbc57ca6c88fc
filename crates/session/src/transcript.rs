//! Finds the report at the end of an agent's transcript. Reads only a bounded part of the file, from its end.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use overtone_claude::wire::{TranscriptEntry, read_transcript_entry};
use overtone_core::engine::state::Millis;
use overtone_store::{clock, files};

/// A report has a few kilobytes, and the entries that may follow it are small too.
const TAIL_BYTES: usize = 256 * 1024;

/// How many bytes of JSON a byte of text may become.
const ESCAPED_BYTES: usize = 6;

/// The client writes transcripts about every 100 ms. On a busy machine it takes longer.
const WRITE_LIMIT: Duration = Duration::from_secs(10);
const POLL_INTERVAL: Duration = Duration::from_millis(10);

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
            TranscriptEntry::Report { text, .. } => return Some(text),
            TranscriptEntry::Prompt => return None,
            TranscriptEntry::Other => {}
        }
    }
    None
}

/// Waits until the client has written the transcript up to this report, which was made after `after`. The client calls a
/// hook before it has written what the agent did last. Returns whether the report is there.
pub(crate) fn wait_for_report(path: &Path, message: &str, after: Option<Millis>) -> bool {
    let deadline = Instant::now() + WRITE_LIMIT;
    while !has_report(path, message, after) {
        if Instant::now() > deadline {
            return false;
        }
        thread::sleep(POLL_INTERVAL);
    }
    true
}

/// The parts of a message may be entries of their own, so one of them is enough.
fn has_report(path: &Path, message: &str, after: Option<Millis>) -> bool {
    let limit = TAIL_BYTES + ESCAPED_BYTES * message.len();
    let Ok(Some((tail, _))) = files::read_tail(path, limit) else { return false };
    let text = String::from_utf8_lossy(&tail);
    for line in text.lines().rev() {
        if let TranscriptEntry::Report { text, time } = read_transcript_entry(line)
            && !text.trim().is_empty()
            && message.contains(text.trim())
        {
            return match (time.as_deref().and_then(clock::from_iso), after) {
                (Some(time), Some(after)) => time > after,
                _ => true,
            };
        }
    }
    false
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

    fn message(time: &str, text: &str) -> String {
        format!(
            r#"{{"type":"assistant","timestamp":"{time}","message":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#
        )
    }

    #[test]
    fn a_report_is_waited_for_until_the_client_has_written_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent.jsonl");
        let writer = thread::spawn({
            let path = path.clone();
            move || {
                for text in ["I look at it", "all pass"] {
                    thread::sleep(3 * POLL_INTERVAL);
                    let line = message("2026-01-01T00:00:02.000Z", text);
                    files::write_atomic(&path, line.as_bytes(), files::PRIVATE).unwrap();
                }
            }
        });
        assert!(wait_for_report(&path, "all pass\n", clock::from_iso("2026-01-01T00:00:01.000Z")));
        writer.join().unwrap();
    }

    #[test]
    fn an_earlier_report_in_the_same_words_is_another_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent.jsonl");
        let has = |lines: &[String], after: &str| {
            files::write_atomic(&path, lines.join("\n").as_bytes(), files::PRIVATE).unwrap();
            has_report(&path, "all pass", clock::from_iso(after))
        };
        let [first, second, third] = [1, 2, 3].map(|second| format!("2026-01-01T00:00:0{second}.000Z"));
        assert!(has(&[message(&second, "all pass")], &first));
        assert!(!has(&[message(&second, "all pass")], &second));
        assert!(has(&[message(&first, "all pass"), message(&third, "all pass")], &second));
        assert!(!has(&[message(&third, "")], &second));
    }
}
