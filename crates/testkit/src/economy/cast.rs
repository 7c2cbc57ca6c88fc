//! Plays the agents of a measured session. The main agent does what Overtone's texts tell it, and nothing else.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use overtone_core::registry::{PLUGIN_PREFIX, StageKey, Workflow};
use serde_json::{Value, json};

use super::job::{self, FEATURE};
use super::step::{Folders, Step, is_asked_to_document};
use super::words::Language;
use crate::{Actor, Gate, Request, Turn, report, text, tool, tools, wait_until};

/// How the page of `/ot:auto` asks for the workflow's own page, after `overtone init`.
const ASKS_FOR_PAGE: &str = "Invoke the skill `ot:<workflow>`";

/// Everybody who works in a session with a workflow. Clones share their state.
#[derive(Debug, Clone)]
pub(super) struct Cast(Arc<Mutex<Parts>>);

#[derive(Debug)]
struct Parts {
    workflow: Workflow,
    language: Language,
    folders: Folders,
    /// Overtone's files about the session.
    state: SessionFiles,
    progress: Progress,
    /// What the agents of each kind still have to do, stage by stage.
    agents: HashMap<&'static str, VecDeque<Part>>,
    /// The stages that the main agent has delegated.
    delegated: Vec<StageKey>,
    /// The stages whose agents have asked for their first turn.
    begun: Vec<StageKey>,
}

/// What the main agent did last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    Asked,
    ReadAuto,
    Started,
    Delegating,
}

/// The part of one stage's agent.
#[derive(Debug)]
struct Part {
    key: StageKey,
    steps: VecDeque<Step>,
}

impl Cast {
    pub(super) fn new(workflow: Workflow, language: Language, folders: Folders, session: &Path) -> Self {
        let mut agents: HashMap<_, VecDeque<_>> = HashMap::new();
        for key in workflow.stage_keys() {
            let steps = job::steps(workflow, key).into();
            agents.entry(key.stage.agent().name()).or_default().push_back(Part { key, steps });
        }
        let state = SessionFiles { folder: session.to_owned() };
        let (progress, delegated, begun) = (Progress::Asked, Vec::new(), Vec::new());
        Self(Arc::new(Mutex::new(Parts {
            workflow,
            language,
            folders,
            state,
            progress,
            agents,
            delegated,
            begun,
        })))
    }

    pub(super) fn answer(&self, request: &Request) -> Turn {
        let mut parts = self.lock();
        let (turn, wait) = match request.actor() {
            Actor::Main => (parts.answer_main(request), None),
            Actor::Sub(agent) => parts.answer_agent(agent, request),
            Actor::ForeignSub | Actor::Compaction | Actor::Reviewer | Actor::Side => (text("ok"), None),
        };
        drop(parts);
        match wait {
            Some(wait) => self.hold(turn, wait),
            None => turn,
        }
    }

    /// Holds the turn back until the stage beside it has come so far.
    fn hold(&self, turn: Turn, wait: Wait) -> Turn {
        let (gate, cast) = (Gate::closed(), self.clone());
        let turn = turn.behind(&gate);
        thread::spawn(move || {
            wait_until("the stage beside it", || cast.is_over(wait));
            gate.open();
        });
        turn
    }

    fn is_over(&self, wait: Wait) -> bool {
        let parts = self.lock();
        match wait {
            Wait::Begun(key) => parts.begun.contains(&key) || parts.state.is_complete(key),
            Wait::Complete(key) => parts.state.is_complete(key),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Parts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What an agent waits for that works beside another one. So every run has the same texts: which files have changed when an agent
/// begins, and which stage was complete first.
#[derive(Debug, Clone, Copy)]
enum Wait {
    Begun(StageKey),
    Complete(StageKey),
}

impl Parts {
    fn answer_main(&mut self, request: &Request) -> Turn {
        match self.progress {
            Progress::Asked => {
                self.progress = Progress::ReadAuto;
                skill("auto", self.language.job())
            }
            Progress::ReadAuto => {
                self.progress = Progress::Started;
                tool(
                    "Bash",
                    json!({"command": init_command(self.workflow), "description": "Start the workflow"}),
                )
            }
            Progress::Started => {
                self.progress = Progress::Delegating;
                if asks_for_page(request, self.workflow) {
                    return skill(self.workflow.name(), self.language.job());
                }
                self.delegate(request)
            }
            Progress::Delegating => self.delegate(request),
        }
    }

    /// Starts the agents of the next stages, or says the last words if there are none. Honest work passes at once, so panics if a
    /// stage is open again.
    fn delegate(&mut self, request: &Request) -> Turn {
        let keys = self.state.next_stages(self.workflow);
        if keys.is_empty() {
            return text(self.language.job_done());
        }
        for key in &keys {
            assert!(!self.delegated.contains(key), "{key} is open again: {}", request.new_text());
        }
        self.delegated.extend(&keys);
        tools(keys.into_iter().map(|key| self.delegation(key)))
    }

    fn delegation(&self, key: StageKey) -> Turn {
        let agent = format!("{PLUGIN_PREFIX}{}", key.stage.agent().name());
        let prompt = self.language.delegation(self.workflow, key);
        tool("Agent", json!({"subagent_type": agent, "description": key.to_string(), "prompt": prompt}))
    }

    fn answer_agent(&mut self, agent: &str, request: &Request) -> (Turn, Option<Wait>) {
        let Some(part) = self.agents.get_mut(agent).and_then(VecDeque::front_mut) else {
            panic!("{agent} has nothing left to do, but received: {}", request.new_text());
        };
        let (key, beside) = (part.key, earlier_of_group(self.workflow, part.key));
        let is_first = !self.begun.contains(&key);
        if is_first {
            self.begun.push(key);
        }
        while let Some(Step::Calls(calls)) = part.steps.pop_front() {
            if let Some(turn) = self.folders.turn(calls, &request.text()) {
                let wait = if is_first { beside.map(Wait::Begun) } else { None };
                return (turn, wait);
            }
        }
        self.agents.get_mut(agent).and_then(VecDeque::pop_front);
        (report(self.language.report(key, is_asked_to_document(&request.text()))), beside.map(Wait::Complete))
    }
}

/// The stage that stands before this one in its parallel group.
fn earlier_of_group(workflow: Workflow, key: StageKey) -> Option<StageKey> {
    let (_, keys) = workflow.group_of(key)?;
    let at = keys.iter().position(|other| *other == key)?;
    keys.get(at.checked_sub(1)?).copied()
}

fn skill(name: &str, request: &str) -> Turn {
    tool("Skill", json!({"skill": format!("{PLUGIN_PREFIX}{name}"), "args": request}))
}

fn init_command(workflow: Workflow) -> String {
    match workflow {
        Workflow::Single => "overtone init single".to_owned(),
        other => format!("overtone init {} --feature {FEATURE}", other.name()),
    }
}

/// Whether the texts that the main agent has received send it to the workflow's page: the page of `/ot:auto`, or a line of what
/// `init` printed.
fn asks_for_page(request: &Request, workflow: Workflow) -> bool {
    let name = format!("{PLUGIN_PREFIX}{}", workflow.name());
    let printed = request.text_since_answer();
    let asks = |line: &str| line.to_lowercase().contains("skill") && line.contains(&name);
    request.text().contains(ASKS_FOR_PAGE) || printed.lines().any(asks)
}

/// What Overtone wrote about the session.
#[derive(Debug)]
struct SessionFiles {
    folder: PathBuf,
}

impl SessionFiles {
    /// The stages to delegate now: the first one that is not complete, with the others of its parallel group.
    fn next_stages(&self, workflow: Workflow) -> Vec<StageKey> {
        let stages = self.stages();
        let is_open = |key: &StageKey| !is_complete(&stages, *key);
        let Some(next) = workflow.stage_keys().find(is_open) else { return Vec::new() };
        match workflow.group_of(next) {
            Some((_, keys)) => keys.into_iter().filter(is_open).collect(),
            None => vec![next],
        }
    }

    fn is_complete(&self, key: StageKey) -> bool {
        is_complete(&self.stages(), key)
    }

    fn stages(&self) -> Value {
        let text = std::fs::read_to_string(self.folder.join("workflow.json")).unwrap_or_default();
        let document: Value = serde_json::from_str(&text).unwrap_or_default();
        document["stages"].clone()
    }
}

fn is_complete(stages: &Value, key: StageKey) -> bool {
    stages[key.to_string()]["status"] == "completed"
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn asks(page: &str, printed: &str) -> bool {
        let message = |role: &str, text: &str| json!({"role": role, "content": text});
        let messages = [message("user", page), message("assistant", "init"), message("user", printed)];
        let request = Request::new(Actor::Main, json!({"messages": messages}), BTreeMap::new(), &[]);
        asks_for_page(&request, Workflow::Quick)
    }

    #[test]
    fn the_page_of_the_workflow_is_opened_only_if_a_text_asks_for_it() {
        assert!(asks("3. Invoke the skill `ot:<workflow>` with the request.", "Started"));
        assert!(asks("3. Follow what it prints.", "Now run the skill ot:quick."));
        assert!(!asks(
            "3. Follow what it prints.",
            "Started quick\nNext, delegate DEVELOPER (ot:developer)."
        ));
    }

    #[test]
    fn the_next_stage_is_delegated_with_those_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let put = |stages: Value| {
            let file = folder.path().join("workflow.json");
            std::fs::File::create(file)
                .and_then(|file| Ok(serde_json::to_writer(file, &json!({"stages": stages}))?))
                .unwrap();
        };
        let files = SessionFiles { folder: folder.path().to_owned() };
        let next = || {
            let keys = files.next_stages(Workflow::Quick);
            keys.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(next(), "DEV");
        put(json!({"DEV": {"status": "completed"}}));
        assert_eq!(next(), "REVIEW TEST");
        let done = json!({"status": "completed"});
        put(json!({"DEV": done, "REVIEW": done, "TEST": done, "RETRO": done}));
        assert_eq!(next(), "DOCS", "a stage may be completed without being delegated");
    }
}
