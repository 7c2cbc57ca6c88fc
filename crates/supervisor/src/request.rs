//! What the person asked for, from the session's transcript. It is pinned in the record, so that it is still known
//! when the conversation has been compacted.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use overtone_engine::text::cut;
use serde_json::Value;

use crate::secrets::Secrets;

/// How far is looked; a request stands at the beginning.
const MAX_BYTES: u64 = 8 * 1024 * 1024;
const MAX_UNITS: usize = 4_000;

/// Texts of the client that stand where a person's would.
const NOT_A_PERSON: [&str; 6] = [
    "Stop hook feedback:",
    "<task-notification>",
    "<local-command-",
    "<bash-",
    "[Request interrupted",
    "Caveat: ",
];

/// What was asked for, and when.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) text: String,
    pub(crate) at: Option<String>,
}

/// The first request at or after a place in the transcript.
pub(crate) fn find(transcript: &Path, from: u64, secrets: &Secrets) -> Option<Request> {
    // A pipe would never end.
    let length = transcript.metadata().ok().filter(std::fs::Metadata::is_file)?.len();
    let mut file = File::open(transcript).ok()?;
    // A shorter file than before is another one.
    file.seek(SeekFrom::Start(if from <= length { from } else { 0 })).ok()?;
    let lines = BufReader::new(file.take(MAX_BYTES)).split(b'\n');
    let (text, at) = lines.map_while(Result::ok).find_map(|line| {
        let line: Value = serde_json::from_slice(&line).ok()?;
        Some((request(&line)?, line["timestamp"].as_str().map(str::to_owned)))
    })?;
    Some(Request { text: cut(&secrets.clean(&text), MAX_UNITS).to_owned(), at })
}

/// Where the next request will be looked for: what comes after everything that is there now.
pub(crate) fn end_of(transcript: &Path) -> u64 {
    transcript.metadata().map_or(0, |about| about.len())
}

fn request(line: &Value) -> Option<String> {
    let is_set = |name: &str| line.get(name) == Some(&Value::Bool(true));
    if line["type"] != "user" || ["isMeta", "isSidechain", "isCompactSummary"].iter().any(|name| is_set(name))
    {
        return None;
    }
    let text = content(&line["message"]["content"])?;
    let text = text.trim();
    if text.contains("<command-name>") {
        return typed_command(text);
    }
    let is_person = !text.is_empty() && !NOT_A_PERSON.iter().any(|start| text.starts_with(start));
    is_person.then(|| text.to_owned())
}

fn content(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter(|block| block["type"] == "text");
            let texts: Vec<_> = texts.filter_map(|block| block["text"].as_str()).collect();
            (!texts.is_empty()).then(|| texts.join("\n"))
        }
        _ => None,
    }
}

/// `/name what to do`; a command without more words asks for nothing that could be reviewed.
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

    fn user(content: &Value) -> Value {
        json!({"type": "user", "message": {"role": "user", "content": content}})
    }

    #[test]
    fn only_a_persons_words_are_a_request() {
        let mut summary = user(&json!("This session is being continued"));
        summary["isCompactSummary"] = json!(true);
        for line in [
            summary,
            json!({"type": "assistant", "message": {"content": "hello"}}),
            user(&json!([{"type": "tool_result", "content": "x"}])),
            user(&json!("Stop hook feedback:\ngo on")),
            user(&json!("<command-name>/clear</command-name><command-args></command-args>")),
            json!(3),
        ] {
            assert_eq!(request(&line), None, "{line}");
        }
        let command = "<command-message>x</command-message><command-name>/ot:auto</command-name>\n<command-args>mend it</command-args>";
        assert_eq!(request(&user(&json!(command))).unwrap(), "/ot:auto mend it");
        assert_eq!(request(&user(&json!([{"type": "text", "text": "mend"}]))).unwrap(), "mend");
    }

    #[test]
    fn the_first_request_from_a_place_on() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jsonl");
        let first = format!("torn\n{}\n", user(&json!("one")));
        overtone_store::files::append_lines(&path, &format!("{first}{}\n", user(&json!("two")))).unwrap();
        let find = |from| find(&path, from, &Secrets::default()).map(|request| request.text);
        assert_eq!(find(0).unwrap(), "one");
        assert_eq!(find(first.len() as u64).unwrap(), "two");
        assert_eq!(find(end_of(&path)), None);
        assert_eq!(find(1 << 40).unwrap(), "one");
    }
}
