//! What is run with faults, as `subjects.txt` lists it: every hook, the status lines, `ccc`, and every command that writes.

use std::path::Path;

use overtone_core::registry::Hook;

use crate::sandbox::client_input;

const SUBJECTS: &str = include_str!("subjects.txt");

/// What is expected of a program when something fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// One JSON answer, exit code 0.
    Hook,
    /// The same, but a review may say nothing and reports its rounds on stderr.
    Review,
    /// One line of text, exit code 0.
    StatusLine,
    /// Success, or an error with a hint.
    Command,
    /// The same, for a command that becomes the client in the end.
    Launch,
}

/// A program with its arguments, its input and the situation it is run in.
#[derive(Debug, Clone)]
pub(super) struct Subject {
    pub name: String,
    pub kind: Kind,
    pub situation: &'static str,
    /// Both may have placeholders, which the fixture fills.
    pub arguments: Vec<&'static str>,
    pub input: Option<String>,
}

impl Subject {
    pub(super) fn all() -> Vec<Self> {
        SUBJECTS
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .flat_map(Self::parse)
            .collect()
    }

    /// The subject of a line, once for each of its situations.
    fn parse(line: &'static str) -> Vec<Self> {
        let (line, input) = match line.split_once(" < ") {
            Some((line, input)) => (line, Some(input.to_owned())),
            None => (line, None),
        };
        let mut words = line.split(' ');
        let mut next = || words.next().unwrap_or_default();
        let (name, kind, situations) = (next(), next(), next());
        let arguments: Vec<&str> = words.collect();
        let (kind, arguments, input) = match kind {
            "hook" => {
                let hook = name.split('.').next().unwrap_or_default();
                (Kind::Hook, vec!["hook", hook], input.map(|fields| hook_input(hook, &fields)))
            }
            "review" => (Kind::Review, arguments, input),
            "status-line" => (Kind::StatusLine, arguments, input),
            "launch" => (Kind::Launch, arguments, input),
            _ => (Kind::Command, arguments, input),
        };
        let subject = |situation: &'static str| Self {
            name: format!("{name}/{situation}"),
            kind,
            situation,
            arguments: arguments.clone(),
            input: input.clone(),
        };
        situations.split(',').map(subject).collect()
    }

    pub(super) fn is_command(&self) -> bool {
        matches!(self.kind, Kind::Command | Kind::Launch)
    }

    /// Whether it copies the programs themselves, which takes long.
    pub(super) fn is_heavy(&self) -> bool {
        self.situation == "installed" || self.name == "up/none"
    }
}

/// What the client writes to a hook's stdin, with placeholders.
fn hook_input(hook: &str, fields: &str) -> String {
    let (transcript, project) = (Path::new("{root}/transcript.jsonl"), Path::new("{root}/project"));
    let fields = serde_json::from_str(fields).unwrap_or_default();
    client_input("{session}", transcript, project, Hook::from_name(hook), fields).to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn every_hook_is_a_subject_and_every_subject_has_its_own_name() {
        let all = Subject::all();
        for (index, subject) in all.iter().enumerate() {
            assert!(!all[..index].iter().any(|other| other.name == subject.name), "{} twice", subject.name);
            let input: Option<Value> =
                subject.input.as_ref().map(|it| serde_json::from_str(it).unwrap_or_default());
            if subject.kind == Kind::Hook {
                assert!(input.is_some_and(|event| event.as_object().unwrap().len() > 5), "{}", subject.name);
            }
        }
        for hook in Hook::ALL {
            let count = all.iter().filter(|subject| subject.arguments == ["hook", hook.name()]).count();
            assert!(count >= 2, "{} is missing", hook.name());
        }
    }
}
