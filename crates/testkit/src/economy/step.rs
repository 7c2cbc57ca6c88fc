//! What a scripted agent does, as data, and the turns that it becomes.

use std::path::PathBuf;

use serde_json::json;

use super::job::FEATURE;
use crate::{Turn, tool, tools};

/// One turn of an agent.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    /// Tool calls in one message. If nothing is left of them, the agent takes its next step.
    Calls(&'static [Call]),
    /// A sub-agent's last words.
    Report,
}

/// One tool call. Paths are relative to the project; `{feature}` stands for the feature's folder.
#[derive(Debug, Clone, Copy)]
pub(super) enum Call {
    Read(&'static str),
    /// File, old text, new text.
    Edit(&'static str, &'static str, &'static str),
    Write(&'static str, &'static str),
    Bash(&'static str),
    /// Reads every handoff that the agent's context names and does not quote.
    Handoffs,
    /// Only of an agent that is asked to document its change itself: these calls on the documents.
    Documents(&'static [Call]),
}

/// Where an agent's paths are.
#[derive(Debug, Clone)]
pub(super) struct Folders {
    pub(super) project: PathBuf,
    /// Where Overtone keeps the session's handoffs.
    pub(super) handoffs: PathBuf,
}

impl Folders {
    /// The turn for these calls. `received` is what the agent was told at its start. `None` if there is nothing to call.
    pub(super) fn turn(&self, calls: &[Call], received: &str) -> Option<Turn> {
        let turns: Vec<Turn> = calls.iter().flat_map(|call| self.calls(*call, received)).collect();
        if turns.is_empty() { None } else { Some(tools(turns)) }
    }

    fn calls(&self, call: Call, received: &str) -> Vec<Turn> {
        let path = |path: &str| {
            let folder = format!("specs/features/in-progress/{FEATURE}");
            self.project.join(path.replace("{feature}", &folder))
        };
        let one = match call {
            Call::Read(file) => tool("Read", json!({"file_path": path(file)})),
            Call::Edit(file, old, new) => {
                tool("Edit", json!({"file_path": path(file), "old_string": old, "new_string": new}))
            }
            Call::Write(file, contents) => {
                tool("Write", json!({"file_path": path(file), "content": contents}))
            }
            Call::Bash(command) => tool("Bash", json!({"command": command, "description": "Check the work"})),
            Call::Documents(calls) if is_asked_to_document(received) => {
                return calls.iter().flat_map(|call| self.calls(*call, received)).collect();
            }
            Call::Documents(_) => return Vec::new(),
            Call::Handoffs => {
                let files = handoffs_named(received).into_iter().filter(|name| !is_quoted(received, name));
                let read = |name| tool("Read", json!({"file_path": self.handoffs.join(name)}));
                return files.map(read).collect();
            }
        };
        vec![one]
    }
}

/// The names of handoff files in a text, such as `01-DEV-developer.md`, each once.
fn handoffs_named(text: &str) -> Vec<&str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
    let mut found = Vec::new();
    for word in text.split(|c| !is_part(c)) {
        let Some(stem) = word.strip_suffix(".md") else { continue };
        let digits = stem.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 2 && stem[digits..].starts_with('-') && !found.contains(&word) {
            found.push(word);
        }
    }
    found
}

/// Whether the agent has received the whole text of this handoff, below its name.
fn is_quoted(text: &str, handoff: &str) -> bool {
    text.lines().any(|line| line.strip_prefix("### ") == Some(handoff))
}

/// Whether the agent's context says that it may document its own change.
pub(super) fn is_asked_to_document(text: &str) -> bool {
    text.contains("\"documented\":true")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handoffs_are_found_by_their_names() {
        let text = "Earlier (/x/handoffs):\n- PLAN: pass, 01-PLAN-planner.md\n- 02-TEST:2-a.md, 01-PLAN-planner.md 2026-11-19.md";
        assert_eq!(handoffs_named(text), ["01-PLAN-planner.md"]);
    }

    #[test]
    fn what_is_quoted_need_not_be_read() {
        let text = "- PLAN: pass, 01-PLAN-planner.md\n- ARCH: pass, 02-ARCH-architect.md\n### 02-ARCH-architect.md\nDone.";
        assert!(!is_quoted(text, "01-PLAN-planner.md") && is_quoted(text, "02-ARCH-architect.md"));
    }
}
