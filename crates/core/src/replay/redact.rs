//! Removes everything from a line that may come from the user. Only what is known to be harmless is kept.
//!
//! Every field has a vocabulary. Other words become [`REDACTED`], fields that no version of ours records are dropped, and
//! ids become hashes, so that an agent keeps its identity. The replay of the copy therefore has the same result as that
//! of the original.

use crate::economy::parse_limits;
use crate::engine::integrity::FileChange;
use crate::engine::state::{SendBackReason, StageResult};
use crate::engine::{
    CUT_SHORT, ENDED_WITHOUT_RESULT, ENDS_WORK, INTERRUPTED, NO_REPORT, NO_REPORT_IN_TIME, NO_VERDICT, RULE,
    RULE_REASONS,
};
use crate::registry::{
    Agent, BudgetKind, DocsRule, EventKind, GuardLevel, Hook, RetroRule, StageKey, Violation, WarningReason,
    Workflow,
};
use serde_json::{Map, Value, json};

use crate::replay::line::{Line, SkipReason, parse};

const REDACTED: &str = "redacted";

const NUMBERS: [&str; 17] = [
    "attempt",
    "count",
    "durationMs",
    "failCount",
    "handoff",
    "idle",
    "iteration",
    "iterations",
    "length",
    "limit",
    "rejectCount",
    "score",
    "tasks",
    "tokens",
    "transcriptSize",
    "total",
    "used",
];

/// The files of a session that Overtone seals.
const SESSION_FILES: [&str; 5] = ["workflow.json", "loop.json", "checks.json", "receipts.jsonl", "tree.json"];

const TOOLS: [&str; 7] = ["Agent", "Bash", "Edit", "MultiEdit", "NotebookEdit", "Task", "Write"];

/// The reasons of other events than warnings.
const REASONS: [&str; 11] = [
    CUT_SHORT,
    "clear",
    "logout",
    "needs-person",
    NO_VERDICT,
    "other",
    "prompt_input_exit",
    "replaced",
    "resume",
    "resumed",
    "retry-limit",
];

/// The line without private data and without its line break. Every line stays a line, so the numbers stay the same.
pub fn redact(line: &[u8]) -> String {
    match parse(1, line) {
        None => String::new(),
        Some(Ok(line)) => Value::Object(cleaned(&line)).to_string(),
        Some(Err(skipped)) => match skipped.reason {
            SkipReason::Unknown(_) => json!({ "type": REDACTED }).to_string(),
            // The copy is not JSON either.
            SkipReason::Unreadable => REDACTED.to_owned(),
        },
    }
}

fn cleaned(line: &Line) -> Map<String, Value> {
    let field =
        |(name, value): (&String, &Value)| clean(line.kind, name, value).map(|value| (name.clone(), value));
    line.fields.iter().filter_map(field).collect()
}

/// The redacted value of a field. `None` if the field is not one of ours.
fn clean(kind: EventKind, name: &str, value: &Value) -> Option<Value> {
    let words: fn(EventKind, &str) -> String = match name {
        "type" => |kind, _| kind.name().to_owned(),
        "category" => |kind, _| kind.category().to_owned(),
        "label" => |kind, _| kind.label().to_owned(),
        "error" => error,
        "agentId" | "continues" => |_, id| hashed(id),
        "feature" | "featureName" | "folder" | "from" | "to" => |_, _| REDACTED.to_owned(),
        _ => return vocabulary(name).map(|is_known| map_texts(value, |word| kept(word, is_known))),
    };
    Some(map_texts(value, |word| words(kind, word)))
}

/// The check for the words of a field. `None` if the field is not one of ours.
fn vocabulary(name: &str) -> Option<fn(&str) -> bool> {
    Some(match name {
        "ts" => |word| is_made_of(word, "0123456789-:.TZ+"),
        "stage" | "currentStage" | "stages" | "reopened" => |word| word.parse::<StageKey>().is_ok(),
        "agent" => |word| Agent::from_name(word).is_some(),
        "slot" | "slots" => is_slot,
        "result" => |word| !matches!(StageResult::from_name(word), StageResult::Other(_)),
        "workflowType" => |word| Workflow::from_name(word).is_some(),
        "group" => |word| Workflow::ALL.iter().flat_map(|w| w.groups()).any(|group| group.name == word),
        "source" => |word| ["startup", "resume", "clear", "compact", "fork"].contains(&word),
        "missing" => |word| SendBackReason::from_key(word).is_some(),
        "handback" => |word| ["flagged", "withheld"].contains(&word),
        "trigger" => |word| ["auto", "manual"].contains(&word),
        "violation" => |word| Violation::from_name(word).is_some(),
        "answer" => |word| word == "denied",
        "by" => {
            |word| ["main", "user", "model", "unknown", "dashboard", "telegram", "top", RULE].contains(&word)
        }
        "toolName" => |word| TOOLS.contains(&word),
        "hook" => |word| Hook::from_name(word).is_some(),
        "file" => |word| SESSION_FILES.contains(&word),
        "change" => |word| FileChange::from_key(word).is_some(),
        "reason" => |word| {
            let is_of_engine =
                WarningReason::from_name(word).is_some() || SendBackReason::from_key(word).is_some();
            is_of_engine || REASONS.contains(&word) || RULE_REASONS.contains(&word)
        },
        "guard" => |word| GuardLevel::from_name(word).is_some(),
        "retro" => |word| RetroRule::from_name(word).is_some(),
        "docs" => |word| DocsRule::from_name(word).is_some(),
        "kind" => |word| BudgetKind::from_name(word).is_some(),
        "ends" => |word| [ENDS_WORK, "starts"].contains(&word),
        "budget" | "stageBudget" => |word| word.len() <= 128 && parse_limits(word).is_ok(),
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

/// Changes the texts in a value. Numbers are kept, and objects are emptied.
fn map_texts(value: &Value, change: impl Fn(&str) -> String) -> Value {
    match value {
        Value::String(word) => Value::String(change(word)),
        Value::Array(list) => {
            let changed = list.iter().map(|item| match item {
                Value::String(word) => Value::String(change(word)),
                _ => json!(0),
            });
            changed.collect()
        }
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

/// The FNV-1a hash of an id. An id is not secret, and its hash only has to stay the same.
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
    fn nothing_from_the_user_is_kept() {
        let line = r#"{"ts":"2026-02-23T14:00:00.000Z","type":"agent:error","category":"SECRET","label":"SECRET",
            "stage":"TEST:2","agent":"tester","slot":"tester#2","agentId":"SECRET","error":"API Error: /home/SECRET",
            "SECRET":"x","feature":"SECRET","featureName":null,"by":"SECRET","reason":"SECRET","toolName":"SECRET",
            "count":3,"attempt":"SECRET","stages":["DEV","SECRET",["SECRET"],{"SECRET":1}],"result":{"SECRET":1},
            "workflowType":"SECRET","limits":"SECRET","version":"0.1.0","source":"SECRET",
            "receipts":["SECRET: passed"],"checks":[{"check":"SECRET","result":"pass","run":3}]}"#;
        let copy = redact(line.replace('\n', " ").as_bytes());
        assert!(!copy.contains("SECRET"), "{copy}");
        let fields: Value = serde_json::from_str(&copy).unwrap();
        assert_eq!((&fields["slot"], &fields["stage"]), (&json!("tester#2"), &json!("TEST:2")));
        assert_eq!((&fields["error"], &fields["featureName"]), (&json!("API Error"), &Value::Null));
        assert_eq!((&fields["label"], &fields["count"]), (&json!("代理錯誤"), &json!(3)));
        assert_eq!(redact(copy.as_bytes()).len(), copy.len());
    }

    #[test]
    fn lines_keep_their_kind() {
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
