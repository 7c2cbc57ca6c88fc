//! The tokens and the cost of an agent, from the conversation file that the client writes for it.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use overtone_store::files;
use serde_json::Value;

use crate::view::lines::Lines;

/// Tokens by kind, and their cost at list prices.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Tokens {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    pub cost_usd: f64,
}

impl Tokens {
    pub fn add(&mut self, other: Self) {
        self.input += other.input;
        self.output += other.output;
        self.cache_read += other.cache_read;
        self.cache_write += other.cache_write;
        self.cost_usd += other.cost_usd;
    }

    pub const fn total(&self) -> u64 {
        self.input + self.output + self.cache_read + self.cache_write
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct AgentUsage {
    pub model: Option<String>,
    pub messages: usize,
    pub tokens: Tokens,
}

/// Prices in dollars per million tokens: a part of the model's name, input, output. Reading from the cache costs a tenth of
/// the price for input, and writing to it a quarter more than input. The cost of other models counts as zero, since a
/// guess would be misleading.
const PRICES: [(&str, f64, f64); 6] = [
    ("opus-4-1", 15.0, 75.0),
    ("opus-4-0", 15.0, 75.0),
    ("opus", 5.0, 25.0),
    ("sonnet", 3.0, 15.0),
    ("haiku-4", 1.0, 5.0),
    ("haiku", 0.8, 4.0),
];

/// The usage of the agent with this id. `transcript` is the session's own; the client keeps the conversations of its
/// agents in a folder beside it. `None` if there is no such conversation.
pub fn agent_usage(transcript: &Path, agent_id: &str) -> io::Result<Option<AgentUsage>> {
    let Some(path) = agent_conversation(transcript, agent_id) else { return Ok(None) };
    let Some(file) = files::open_regular(&path)? else { return Ok(None) };
    read_usage(file).map(Some)
}

/// The file where the client keeps the conversation of an agent. `None` for an id with characters other than letters,
/// digits, `-` and `_`, because the id becomes part of the path.
pub fn agent_conversation(transcript: &Path, agent_id: &str) -> Option<PathBuf> {
    if !is_plain_id(agent_id) {
        return None;
    }
    Some(conversation_folder(transcript).join(format!("agent-{agent_id}.jsonl")))
}

fn is_plain_id(agent_id: &str) -> bool {
    !agent_id.is_empty() && agent_id.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
}

fn conversation_folder(transcript: &Path) -> PathBuf {
    transcript.with_extension("").join("subagents")
}

/// The ids of the session's agents that have a conversation file, each with the length of the file.
pub fn agent_conversations(transcript: &Path) -> Vec<(String, u64)> {
    let Ok(entries) = fs::read_dir(conversation_folder(transcript)) else { return Vec::new() };
    let mut found = Vec::new();
    for entry in entries.flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
        let Some(id) = name.strip_prefix("agent-").and_then(|name| name.strip_suffix(".jsonl")) else {
            continue;
        };
        if is_plain_id(id)
            && let Ok(metadata) = entry.metadata()
        {
            found.push((id.to_owned(), metadata.len()));
        }
    }
    found
}

/// Lines that are too long are skipped: a message with a usage is far shorter.
fn read_usage(file: File) -> io::Result<AgentUsage> {
    let mut usage = AgentUsage::default();
    let mut counted_ids = HashSet::new();
    let mut lines = Lines::new(file, 0)?;
    while let Some(line) = lines.next_line()? {
        add_line(&mut usage, &mut counted_ids, line.bytes.unwrap_or_default());
    }
    add_line(&mut usage, &mut counted_ids, lines.unfinished());
    Ok(usage)
}

fn add_line(usage: &mut AgentUsage, counted_ids: &mut HashSet<String>, line: &[u8]) {
    if let Ok(value) = serde_json::from_slice::<Value>(line) {
        add_message(usage, counted_ids, &value["message"]);
    }
}

/// Adds the usage of a message. The client writes a message once for each of its blocks, with the same usage each time, so
/// every id is counted once.
fn add_message(usage: &mut AgentUsage, counted_ids: &mut HashSet<String>, message: &Value) {
    let counts = &message["usage"];
    if !counts.is_object() {
        return;
    }
    let id = message["id"].as_str().unwrap_or_default();
    if !id.is_empty() && !counted_ids.insert(id.to_owned()) {
        return;
    }
    let model = message["model"].as_str().unwrap_or_default();
    let number = |name: &str| counts[name].as_u64().unwrap_or(0);
    let mut tokens = Tokens {
        input: number("input_tokens"),
        output: number("output_tokens"),
        cache_read: number("cache_read_input_tokens"),
        cache_write: number("cache_creation_input_tokens"),
        cost_usd: 0.0,
    };
    tokens.cost_usd = cost(model, &tokens);
    usage.tokens.add(tokens);
    usage.messages += 1;
    if !model.is_empty() {
        usage.model = Some(model.to_owned());
    }
}

#[allow(clippy::cast_precision_loss, reason = "counts of tokens are far below 2^52")]
fn cost(model: &str, tokens: &Tokens) -> f64 {
    let Some((_, input, output)) = PRICES.iter().find(|(name, ..)| model.contains(name)) else { return 0.0 };
    let in_millions = |count: u64| count as f64 / 1e6;
    in_millions(tokens.input) * input
        + in_millions(tokens.output) * output
        + in_millions(tokens.cache_read) * input * 0.1
        + in_millions(tokens.cache_write) * input * 1.25
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_counts_once_and_has_a_price() {
        let line = r#"{"message":{"id":"m1","model":"claude-sonnet-4-5","usage":{"input_tokens":1000000,"output_tokens":1000000,"cache_read_input_tokens":1000000}}}"#;
        let text = format!("{line}\n{line}\ntorn\n{{\"message\":{{}}}}\n");
        let usage = read_usage(crate::view::lines::tests::file(text.as_bytes()).reopen().unwrap()).unwrap();
        assert_eq!((usage.messages, usage.tokens.total()), (1, 3_000_000));
        assert!((usage.tokens.cost_usd - 18.3).abs() < 1e-9, "{usage:?}");
        assert!(cost("glm-4.6", &usage.tokens).abs() < f64::EPSILON);
    }

    #[test]
    fn an_id_cannot_contain_a_path() {
        let at = Path::new("/p/abc.jsonl");
        assert_eq!(agent_conversation(at, "a1"), Some("/p/abc/subagents/agent-a1.jsonl".into()));
        for bad in ["", "../x", "a/b", "a.b"] {
            assert_eq!(agent_conversation(at, bad), None, "{bad}");
        }
    }
}
