//! Reads what an agent did from its transcript.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use overtone_claude::wire::{HookInput, TranscriptAction, read_transcript_actions};
use overtone_core::engine::state::Millis;
use overtone_core::evidence::{Activity, ToolCall};
use overtone_store::{clock, files};

/// A long conversation of an agent has a few megabytes. Of a longer one, only the end is read.
const MAX_BYTES: usize = 32 * 1024 * 1024;

/// The clocks of the client and of the hook may differ by the resolution of a time stamp.
const CLOCK_TOLERANCE: i64 = 1000;

/// What the agent has done since `since`. `None` if its transcript cannot be read: then nothing is known, which is not held
/// against it.
pub fn read_activity(transcript: &Path, since: Option<Millis>) -> Option<Activity> {
    if !transcript.is_absolute() {
        return None;
    }
    let (bytes, is_whole) = files::read_tail(transcript, MAX_BYTES).ok()??;
    let text = String::from_utf8_lossy(&bytes);
    // The first line of a part is cut off.
    let lines = text.lines().skip(usize::from(!is_whole));
    let mut open_calls: HashMap<String, (String, String)> = HashMap::new();
    let mut activity = Activity::default();
    for line in lines {
        let (time, actions) = read_transcript_actions(line);
        if is_earlier(time.as_deref(), since) {
            continue;
        }
        for action in actions {
            match action {
                TranscriptAction::Call { id, tool, command } => drop(open_calls.insert(id, (tool, command))),
                TranscriptAction::Result { id, failed, output } => {
                    if let Some((tool, command)) = open_calls.remove(&id) {
                        activity.record(&ToolCall {
                            tool: &tool,
                            command: &command,
                            failed,
                            output: &output,
                        });
                    }
                }
            }
        }
    }
    Some(activity)
}

/// Whether an entry is of an earlier run of an agent that was continued.
fn is_earlier(time: Option<&str>, since: Option<Millis>) -> bool {
    match (time.and_then(clock::from_iso), since) {
        (Some(at), Some(since)) => at.0 + CLOCK_TOLERANCE < since.0,
        _ => false,
    }
}

/// The file with the conversation of the agent that an event is about. Only one event names it; the client keeps it beside
/// the transcript of the session.
pub(crate) fn transcript_of(input: &HookInput, agent_id: &str) -> Option<PathBuf> {
    let named = input.agent_transcript_path();
    if !named.is_empty() {
        return Some(PathBuf::from(&*named));
    }
    let is_plain =
        !agent_id.is_empty() && agent_id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if !is_plain {
        return None;
    }
    let main = input.transcript_path();
    let folder = main.strip_suffix(".jsonl")?;
    Some(Path::new(folder).join("subagents").join(format!("agent-{agent_id}.jsonl")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(time: &str, block: &str) -> String {
        format!("{{\"timestamp\":\"{time}\",\"message\":{{\"content\":[{block}]}}}}\n")
    }

    fn call(time: &str, id: &str, command: &str) -> String {
        let block =
            format!(r#"{{"type":"tool_use","id":"{id}","name":"Bash","input":{{"command":"{command}"}}}}"#);
        entry(time, &block)
    }

    fn result(time: &str, id: &str, failed: bool) -> String {
        let block =
            format!(r#"{{"type":"tool_result","tool_use_id":"{id}","is_error":{failed},"content":"x"}}"#);
        entry(time, &block)
    }

    #[test]
    fn only_calls_since_the_agent_was_started_count() {
        let (early, late) = ("2026-01-01T00:00:00.000Z", "2026-01-01T01:00:00.000Z");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent-a1.jsonl");
        let text = call(early, "t1", "make test")
            + &result(early, "t1", true)
            + &call(late, "t2", "make test")
            + &result(late, "t2", false)
            + &call(late, "t3", "make test");
        files::write_atomic(&path, text.as_bytes(), files::PRIVATE).unwrap();
        let all = read_activity(&path, None).unwrap();
        assert_eq!((all.runs, all.last_test_failed), (2, false));
        assert_eq!(read_activity(&path, clock::from_iso(late)).unwrap().runs, 1);
        assert_eq!(read_activity(&path, clock::from_iso("2026-01-01T02:00:00.000Z")).unwrap().runs, 0);
        assert_eq!(read_activity(&folder.path().join("none"), None), None);
        assert_eq!(read_activity(Path::new("agent-a1.jsonl"), None), None);
    }
}
