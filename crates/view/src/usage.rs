//! What an agent has used, from the conversation that the client keeps of it.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use overtone_store::files;
use serde_json::Value;

use crate::lines::Lines;

/// Tokens by kind, and what they cost by the public prices.
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

/// Dollars for a million tokens: input and output. Reading from the cache costs a tenth of input, writing a quarter
/// more. A model that is not listed has no price: no figure is better than a wrong one.
const PRICES: [(&str, f64, f64); 6] = [
    ("opus-4-1", 15.0, 75.0),
    ("opus-4-0", 15.0, 75.0),
    ("opus", 5.0, 25.0),
    ("sonnet", 3.0, 15.0),
    ("haiku-4", 1.0, 5.0),
    ("haiku", 0.8, 4.0),
];

/// What the agent with this id has used. `transcript` is the session's own; the client keeps those of its agents
/// in a folder beside it. `None` when there is no such conversation.
pub fn agent_usage(transcript: &Path, agent_id: &str) -> io::Result<Option<AgentUsage>> {
    let Some(path) = agent_conversation(transcript, agent_id) else { return Ok(None) };
    let Some(file) = files::open_regular(&path)? else { return Ok(None) };
    read(file).map(Some)
}

/// Where the client keeps the conversation of an agent. An id is part of a file's name, so it must be nothing else.
pub fn agent_conversation(transcript: &Path, agent_id: &str) -> Option<PathBuf> {
    is_plain(agent_id).then(|| folder(transcript).join(format!("agent-{agent_id}.jsonl")))
}

fn is_plain(agent_id: &str) -> bool {
    !agent_id.is_empty() && agent_id.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
}

fn folder(transcript: &Path) -> PathBuf {
    transcript.with_extension("").join("subagents")
}

/// The agents of a session that have a conversation, with its length.
pub fn agent_conversations(transcript: &Path) -> Vec<(String, u64)> {
    let entries = fs::read_dir(folder(transcript)).into_iter().flatten().flatten();
    let found = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let id = name.strip_prefix("agent-")?.strip_suffix(".jsonl").filter(|id| is_plain(id))?;
        Some((id.to_owned(), entry.metadata().ok()?.len()))
    });
    found.collect()
}

/// A message of the model is far shorter than the longest line.
fn read(file: File) -> io::Result<AgentUsage> {
    let mut usage = AgentUsage::default();
    let mut seen = HashSet::new();
    let mut lines = Lines::new(file, 0)?;
    while let Some(line) = lines.next_line()? {
        take_line(&mut usage, &mut seen, line.bytes.unwrap_or_default());
    }
    take_line(&mut usage, &mut seen, lines.unfinished());
    Ok(usage)
}

fn take_line(usage: &mut AgentUsage, seen: &mut HashSet<String>, line: &[u8]) {
    if let Ok(value) = serde_json::from_slice::<Value>(line) {
        take(usage, seen, &value["message"]);
    }
}

/// A message is written once for each of its blocks, with the same usage each time.
fn take(usage: &mut AgentUsage, seen: &mut HashSet<String>, message: &Value) {
    let counts = &message["usage"];
    let id = message["id"].as_str().unwrap_or_default();
    if !counts.is_object() || !(id.is_empty() || seen.insert(id.to_owned())) {
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
        let usage = read(crate::lines::tests::file(text.as_bytes()).reopen().unwrap()).unwrap();
        assert_eq!((usage.messages, usage.tokens.total()), (1, 3_000_000));
        assert!((usage.tokens.cost_usd - 18.3).abs() < 1e-9, "{usage:?}");
        assert!(cost("glm-4.6", &usage.tokens).abs() < f64::EPSILON);
    }

    #[test]
    fn an_id_is_no_path() {
        let at = Path::new("/p/abc.jsonl");
        assert_eq!(agent_conversation(at, "a1"), Some("/p/abc/subagents/agent-a1.jsonl".into()));
        for bad in ["", "../x", "a/b", "a.b"] {
            assert_eq!(agent_conversation(at, bad), None, "{bad}");
        }
    }
}
