//! Finds the user's request in the session's transcript. It is pinned in the record, so that it is still known after the
//! conversation has been compacted.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use overtone_core::engine::text::cut;
use overtone_store::supervision::PinnedRequest;
use serde_json::Value;

use crate::supervisor::secrets::Secrets;

/// How much of the transcript is searched; the request is near the start.
const MAX_BYTES: u64 = 8 * 1024 * 1024;
const MAX_UNITS: usize = 4_000;

/// Prefixes of user messages that the client itself generates.
const GENERATED_PREFIXES: [&str; 6] = [
    "Stop hook feedback:",
    "<task-notification>",
    "<local-command-",
    "<bash-",
    "[Request interrupted",
    "Caveat: ",
];

/// The first request at or after an offset in the transcript.
pub(crate) fn find(transcript: &Path, from: u64, secrets: &Secrets) -> Option<PinnedRequest> {
    // Reading a pipe would block.
    let length = transcript.metadata().ok().filter(std::fs::Metadata::is_file)?.len();
    let mut file = File::open(transcript).ok()?;
    // A file that is shorter than before is a new one.
    file.seek(SeekFrom::Start(if from <= length { from } else { 0 })).ok()?;
    let lines = BufReader::new(file.take(MAX_BYTES)).split(b'\n');
    let (text, at) = lines.map_while(Result::ok).find_map(|line| {
        let line: Value = serde_json::from_slice(&line).ok()?;
        Some((request_in(&line)?, line["timestamp"].as_str().map(str::to_owned)))
    })?;
    Some(PinnedRequest { text: cut(&secrets.redact_strictly(&text), MAX_UNITS).to_owned(), at })
}

/// The offset from which to search for the next request.
pub(crate) fn transcript_length(transcript: &Path) -> u64 {
    match transcript.metadata() {
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    }
}

/// The request in a transcript line, if it is a message that the user typed.
fn request_in(line: &Value) -> Option<String> {
    let is_set = |name: &str| line.get(name) == Some(&Value::Bool(true));
    if line["type"] != "user" || ["isMeta", "isSidechain", "isCompactSummary"].iter().any(|name| is_set(name))
    {
        return None;
    }
    let text = text_of(&line["message"]["content"])?;
    let text = text.trim();
    if text.contains("<command-name>") {
        return typed_command(text);
    }
    if text.is_empty() || GENERATED_PREFIXES.iter().any(|prefix| text.starts_with(prefix)) {
        return None;
    }
    Some(text.to_owned())
}

fn text_of(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter(|block| block["type"] == "text");
            let texts: Vec<_> = texts.filter_map(|block| block["text"].as_str()).collect();
            if texts.is_empty() { None } else { Some(texts.join("\n")) }
        }
        _ => None,
    }
}

/// The command with its arguments. A command without arguments contains no request that could be reviewed.
fn typed_command(text: &str) -> Option<String> {
    let between = |name: &str| {
        let rest = text.split_once(&format!("<{name}>"))?.1;
        Some(rest.split_once(&format!("</{name}>"))?.0.trim())
    };
    let arguments = between("command-args").filter(|arguments| !arguments.is_empty())?;
    Some(format!("{} {arguments}", between("command-name")?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn user_line(content: &Value) -> Value {
        json!({"type": "user", "message": {"role": "user", "content": content}})
    }

    #[test]
    fn only_messages_of_the_user_are_requests() {
        let mut summary = user_line(&json!("This session is being continued"));
        summary["isCompactSummary"] = json!(true);
        for line in [
            summary,
            json!({"type": "assistant", "message": {"content": "hello"}}),
            user_line(&json!([{"type": "tool_result", "content": "x"}])),
            user_line(&json!("Stop hook feedback:\ngo on")),
            user_line(&json!("<command-name>/clear</command-name><command-args></command-args>")),
            json!(3),
        ] {
            assert_eq!(request_in(&line), None, "{line}");
        }
        let command = "<command-message>x</command-message><command-name>/ot:auto</command-name>\n<command-args>fix it</command-args>";
        assert_eq!(request_in(&user_line(&json!(command))).unwrap(), "/ot:auto fix it");
        assert_eq!(request_in(&user_line(&json!([{"type": "text", "text": "fix"}]))).unwrap(), "fix");
    }

    #[test]
    fn the_first_request_after_an_offset_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jsonl");
        let first = format!("torn\n{}\n", user_line(&json!("one")));
        overtone_store::files::append_lines(&path, &format!("{first}{}\n", user_line(&json!("two"))))
            .unwrap();
        let find = |from| find(&path, from, &Secrets::default()).map(|request| request.text);
        assert_eq!(find(0).unwrap(), "one");
        assert_eq!(find(first.len() as u64).unwrap(), "two");
        assert_eq!(find(transcript_length(&path)), None);
        assert_eq!(find(1 << 40).unwrap(), "one");
    }
}
