//! A line without anything of the user's: what is not known to be harmless does not stay.
//!
//! Every field has its vocabulary. A word outside it becomes [`REDACTED`], a field that no version of ours writes
//! is dropped, and ids become hashes, so that the same agent is still the same. The replay of the copy therefore
//! ends as that of the original.

use overtone_engine::state::{Hold, Verdict};
use overtone_engine::{ENDED_WITHOUT_RESULT, INTERRUPTED, NO_REPORT, NO_REPORT_IN_TIME, NO_VERDICT};
use overtone_registry::{Agent, EventKind, StageKey, Workflow};
use serde_json::{Map, Value, json};

use crate::line::{Line, Why, parse};

const REDACTED: &str = "redacted";

const NUMBERS: [&str; 14] = [
    "attempt",
    "count",
    "durationMs",
    "failCount",
    "handoff",
    "idle",
    "iteration",
    "iterations",
    "length",
    "rejectCount",
    "score",
    "tasks",
    "transcriptSize",
    "total",
];

const TOOLS: [&str; 7] = ["Agent", "Bash", "Edit", "MultiEdit", "NotebookEdit", "Task", "Write"];

const REASONS: [&str; 21] = [
    "clear",
    "feature-moved",
    "feature-taken",
    "handback",
    "lesson-judged",
    "logout",
    "loop-limit",
    "loop-stopped",
    "message",
    "needs-person",
    NO_VERDICT,
    "other",
    "prompt_input_exit",
    "replaced",
    "report-sent-back",
    "resume",
    "resumed",
    "retry-limit",
    "session-moved",
    "session-pulled",
    "stage-blocked",
];

/// The line as it may be shown to anybody, without its end. Lines stay lines, so numbers stay the same.
pub fn redact(line: &[u8]) -> String {
    match parse(1, line) {
        None => String::new(),
        Some(Ok(line)) => Value::Object(cleaned(&line)).to_string(),
        Some(Err(skipped)) => match skipped.why {
            Why::Unknown(_) => json!({ "type": REDACTED }).to_string(),
            // No JSON, as before.
            Why::Unreadable => REDACTED.to_owned(),
        },
    }
}

fn cleaned(line: &Line) -> Map<String, Value> {
    let field =
        |(name, value): (&String, &Value)| clean(line.kind, name, value).map(|value| (name.clone(), value));
    line.fields.iter().filter_map(field).collect()
}

/// `None` for a field that is nothing of ours.
fn clean(kind: EventKind, name: &str, value: &Value) -> Option<Value> {
    let words: fn(EventKind, &str) -> String = match name {
        "type" => |kind, _| kind.name().to_owned(),
        "category" => |kind, _| kind.category().to_owned(),
        "label" => |kind, _| kind.label().to_owned(),
        "error" => error,
        "agentId" | "continues" => |_, id| hashed(id),
        "feature" | "featureName" | "folder" | "from" | "to" => |_, _| REDACTED.to_owned(),
        _ => return known(name).map(|is_known| each(value, |word| kept(word, is_known))),
    };
    Some(each(value, |word| words(kind, word)))
}

/// Which words may stand in a field.
fn known(name: &str) -> Option<fn(&str) -> bool> {
    Some(match name {
        "ts" => |word| is_made_of(word, "0123456789-:.TZ+"),
        "stage" | "currentStage" | "stages" => |word| word.parse::<StageKey>().is_ok(),
        "agent" => |word| Agent::from_name(word).is_some(),
        "slot" | "slots" => is_slot,
        "result" => |word| Verdict::from_key(word).is_some(),
        "workflowType" => |word| Workflow::from_name(word).is_some(),
        "group" => |word| Workflow::ALL.iter().flat_map(|w| w.groups()).any(|group| group.name == word),
        "source" => |word| ["startup", "resume", "clear", "compact", "fork"].contains(&word),
        "missing" => |word| Hold::from_key(word).is_some(),
        "handback" => |word| ["flagged", "withheld"].contains(&word),
        "trigger" => |word| ["auto", "manual"].contains(&word),
        "by" => |word| ["user", "model", "unknown", "dashboard", "telegram", "top"].contains(&word),
        "toolName" => |word| TOOLS.contains(&word),
        "reason" => |word| REASONS.contains(&word),
        "limits" => |word| is_made_of(word, "0123456789/"),
        "version" => |word| is_made_of(word, "0123456789."),
        name if NUMBERS.contains(&name) => |_| false,
        _ => return None,
    })
}

fn is_made_of(word: &str, characters: &str) -> bool {
    word.len() <= 64 && word.chars().all(|c| characters.contains(c))
}

/// `tester`, `tester#2`.
fn is_slot(word: &str) -> bool {
    let (agent, twin) = word.split_once('#').unwrap_or((word, "2"));
    Agent::from_name(agent).is_some() && !twin.is_empty() && is_made_of(twin, "0123456789")
}

fn kept(word: &str, is_known: fn(&str) -> bool) -> String {
    if is_known(word) { word.to_owned() } else { REDACTED.to_owned() }
}

/// Changes the words of a value. Numbers tell nothing; what has no business here is emptied.
fn each(value: &Value, change: impl Fn(&str) -> String) -> Value {
    match value {
        Value::String(word) => Value::String(change(word)),
        Value::Array(list) => list
            .iter()
            .map(|item| item.as_str().map_or_else(|| json!(0), |word| Value::String(change(word))))
            .collect(),
        Value::Object(_) => json!({}),
        plain => plain.clone(),
    }
}

fn error(kind: EventKind, text: &str) -> String {
    match (kind, text) {
        (_, NO_REPORT | NO_REPORT_IN_TIME | ENDED_WITHOUT_RESULT | INTERRUPTED) => text.to_owned(),
        (EventKind::AgentError, _) => "API Error".to_owned(),
        _ => REDACTED.to_owned(),
    }
}

/// FNV-1a: an id says nothing by itself, it only has to stay the same id.
fn hashed(id: &str) -> String {
    let hash = id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("id-{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_the_users_stays() {
        let line = r#"{"ts":"2026-02-23T14:00:00.000Z","type":"agent:error","category":"SECRET","label":"SECRET",
            "stage":"TEST:2","agent":"tester","slot":"tester#2","agentId":"SECRET","error":"API Error: /home/SECRET",
            "SECRET":"x","feature":"SECRET","featureName":null,"by":"SECRET","reason":"SECRET","toolName":"SECRET",
            "count":3,"attempt":"SECRET","stages":["DEV","SECRET",["SECRET"],{"SECRET":1}],"result":{"SECRET":1},
            "workflowType":"SECRET","limits":"SECRET","version":"0.1.0","source":"SECRET"}"#;
        let copy = redact(line.replace('\n', " ").as_bytes());
        assert!(!copy.contains("SECRET"), "{copy}");
        let fields: Value = serde_json::from_str(&copy).unwrap();
        assert_eq!((&fields["slot"], &fields["stage"]), (&json!("tester#2"), &json!("TEST:2")));
        assert_eq!((&fields["error"], &fields["featureName"]), (&json!("API Error"), &Value::Null));
        assert_eq!((&fields["label"], &fields["count"]), (&json!("代理錯誤"), &json!(3)));
        assert_eq!(redact(copy.as_bytes()).len(), copy.len());
    }

    #[test]
    fn lines_keep_their_sort() {
        for (line, copy) in [
            (&b""[..], ""),
            (b"  ", ""),
            (br#"{"type":"stage:st"#, REDACTED),
            (b"password", REDACTED),
            (br#"{"x":"password"}"#, REDACTED),
            (br#"{"type":"password","x":1}"#, r#"{"type":"redacted"}"#),
        ] {
            assert_eq!(redact(line), copy);
        }
    }
}
