//! Plays the agents of a case: takes each one's next step and makes a turn of it.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use super::case::{Case, Role, Step};
use super::column::Column;
use crate::{Actor, Request, Turn, UserShell, error, report, text, tool, tools};

/// What the client answers when it has started something in the background, and what stands in front of its id there.
const LAUNCHED: [(&str, &str); 2] =
    [("Async agent launched", "agentId: "), ("Workflow launched in background", "Task ID: ")];

/// How the client begins what it says about an agent that the main agent did not wait for: its report, or its end.
const ENDINGS: [&str; 2] = ["[Subagent hand-back]", "<task-notification>"];

/// What the main agent says while agents are at work.
const WAITING: &str = "I wait for the report.";

/// All agents of a case. Clones share their state.
#[derive(Debug, Clone)]
pub(super) struct Cast(Arc<Mutex<Parts>>);

#[derive(Debug)]
struct Parts {
    column: Column,
    project: PathBuf,
    shell: UserShell,
    main: Part,
    agents: HashMap<Role, Part>,
    /// The ids of agents in the background whose report has not arrived.
    running: BTreeSet<String>,
    waits: usize,
}

/// What one kind of agent still has to say, and what it has said.
#[derive(Debug, Default, Clone)]
pub(super) struct Part {
    steps: VecDeque<Step>,
    last: Option<Step>,
    /// How many agents of the kind were started.
    pub(super) started: usize,
    /// How many answers were reports or other last words.
    pub(super) endings: usize,
    /// How many answers repeated the last step, because the script was over.
    pub(super) repeated: usize,
}

impl Part {
    fn new(steps: &[Step]) -> Self {
        Self { steps: steps.iter().copied().collect(), ..Self::default() }
    }

    /// The next step. What the user does before it is done now.
    fn next(&mut self, shell: &UserShell) -> Option<Step> {
        while let Some(step) = self.steps.pop_front() {
            if let Step::User(line) = step {
                shell.run(line);
                continue;
            }
            self.last = Some(step);
            return self.last;
        }
        self.repeated += 1;
        self.last
    }

    fn take(&mut self, request: &Request, shell: &UserShell) -> Option<Step> {
        if request.is_first() {
            self.started += 1;
        }
        let step = self.next(shell);
        if let Some(Step::Say(_) | Step::Report(_) | Step::ApiError) | None = step {
            self.endings += 1;
        }
        step
    }

    pub(super) fn is_over(&self) -> bool {
        self.steps.is_empty()
    }

    /// Whether an agent of the kind was started, and none was asked again after its last words.
    pub(super) fn was_accepted(&self) -> bool {
        self.started > 0 && self.endings == self.started
    }

    /// Whether an agent had to go on after its last words.
    pub(super) fn was_sent_back(&self) -> bool {
        self.endings > self.started
    }
}

impl Cast {
    pub(super) fn new(case: &Case, column: Column, project: PathBuf, shell: UserShell) -> Self {
        let agents = case.agents.iter().map(|(role, steps)| (*role, Part::new(steps))).collect();
        let main = Part::new(case.main);
        Self(Arc::new(Mutex::new(Parts {
            column,
            project,
            shell,
            main,
            agents,
            running: BTreeSet::new(),
            waits: 0,
        })))
    }

    pub(super) fn answer(&self, request: &Request) -> Turn {
        self.lock().answer(request)
    }

    /// Whether the main agent has said all that it has to say, and no agent is at work in the background.
    pub(super) fn is_over(&self) -> bool {
        let parts = self.lock();
        parts.main.is_over() && parts.running.is_empty()
    }

    pub(super) fn main(&self) -> Part {
        self.lock().main.clone()
    }

    pub(super) fn agent(&self, role: Role) -> Part {
        self.lock().agents.get(&role).cloned().unwrap_or_default()
    }

    /// How often the main agent only waited.
    pub(super) fn waits(&self) -> usize {
        self.lock().waits
    }

    fn lock(&self) -> MutexGuard<'_, Parts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Parts {
    fn answer(&mut self, request: &Request) -> Turn {
        match request.actor() {
            Actor::Main => self.answer_main(request),
            Actor::Sub(_) | Actor::ForeignSub => {
                let Some(role) = role_of(request) else { return text("ok") };
                let part = self.agents.entry(role).or_default();
                let step = part.take(request, &self.shell);
                self.turn(step.unwrap_or(Step::Report("done")))
            }
            Actor::Compaction | Actor::Reviewer | Actor::Side => text("ok"),
        }
    }

    /// The main agent waits for all agents that it has started before it goes on.
    fn answer_main(&mut self, request: &Request) -> Turn {
        self.note_background_agents(&request.new_text());
        if !self.running.is_empty() {
            self.waits += 1;
            return text(WAITING);
        }
        let step = self.main.take(request, &self.shell);
        self.turn(step.unwrap_or(Step::Say("done")))
    }

    fn note_background_agents(&mut self, received: &str) {
        for (opening, label) in LAUNCHED {
            for launched in received.split(opening).skip(1) {
                let Some((_, rest)) = launched.split_once(label) else { continue };
                self.running.insert(rest.chars().take_while(char::is_ascii_alphanumeric).collect());
            }
        }
        if ENDINGS.iter().any(|opening| received.contains(opening)) {
            self.running.retain(|id| !is_named_as_ended(received, id));
        }
    }

    fn turn(&self, step: Step) -> Turn {
        let path = |path: &str| self.project.join(path);
        match step {
            Step::Say(words) => text(words),
            Step::Report(words) => report(words),
            Step::ApiError => error(500, "api_error", "the server had a problem"),
            Step::Read(file) => tool("Read", json!({"file_path": path(file)})),
            Step::Write(file, contents) => {
                tool("Write", json!({"file_path": path(file), "content": contents}))
            }
            Step::Bash(command) => tool("Bash", json!({"command": command, "description": "a command"})),
            Step::Delegate(role) => self.delegate(role),
            Step::DelegateAll(roles) => tools(roles.iter().map(|role| self.delegate(*role))),
            Step::DelegateMany(count, role) => tools((0..count).map(|_| self.delegate(role))),
            Step::DelegateRespelled(role) => delegation(role, &respelled(&self.column.agent_name(role))),
            Step::Call(name, input) => {
                let input: Value = serde_json::from_str(input).expect("a case has valid JSON");
                tool(name, input)
            }
            Step::User(_) => unreachable!("what the user does is not a turn"),
        }
    }

    fn delegate(&self, role: Role) -> Turn {
        delegation(role, &self.column.agent_name(role))
    }
}

/// A call that starts an agent. The prompt names its role, so that the agent is recognised in every column.
fn delegation(role: Role, name: &str) -> Turn {
    let prompt = format!("{} Do your part of the user's request.", tag(role));
    let input = json!({
        "subagent_type": name, "description": "the next step", "prompt": prompt, "run_in_background": false,
    });
    tool("Agent", input)
}

/// Whether the client says that this agent has reported or ended. It gives the id in two ways.
fn is_named_as_ended(received: &str, id: &str) -> bool {
    received.contains(&format!("from=\"{id}\"")) || received.contains(&format!("<task-id>{id}</task-id>"))
}

/// What the prompt of an agent of this kind begins with.
pub(super) fn tag(role: Role) -> String {
    format!("[[{}]]", role.name())
}

/// The kind of the agent that asks, by the prompt that it was given.
pub(super) fn role_of(request: &Request) -> Option<Role> {
    let texts = request.user_texts();
    let first = texts.iter().find(|text| text.contains("[["))?;
    Role::ALL.into_iter().find(|role| first.contains(&tag(*role)))
}

/// The same agent for the client: it compares names without case, and takes `_` for `-`.
fn respelled(name: &str) -> String {
    match name.split_once(':') {
        Some((plugin, agent)) => format!("{plugin}:{}", respelled(agent)),
        None => name.to_uppercase().replace('-', "_"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_are_respelled_and_not_the_plugin() {
        assert_eq!(respelled("ot:code-reviewer"), "ot:CODE_REVIEWER");
        assert_eq!(respelled("tester"), "TESTER");
    }

    #[test]
    fn an_ended_background_agent_is_known_by_its_id() {
        let handed_back = r#"<agent-message from="a1">"#;
        assert!(is_named_as_ended(handed_back, "a1") && !is_named_as_ended(handed_back, "a"));
        assert!(is_named_as_ended("<task-id>w2</task-id>", "w2"));
    }
}
