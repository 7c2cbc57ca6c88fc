//! One session at the table: plays events through the program, keeps a model of who was sent, and holds what lies
//! on the disk against it after every event. What is played is not decided here.

use std::collections::BTreeMap;
use std::process::Output;
use std::time::{Duration, Instant};

use overtone_core::registry::Hook;
use serde_json::{Value, json};

use super::checks::{self, Look};
use super::dice::Dice;
use super::disk::{AgentOnDisk, Disk, Flow, Status};
use super::event::{Client, Event, Meaning, Running};
use super::figures::Figures;
use super::kill;
use super::model;
use super::rules::{self, Door, Limits, Reception};
use crate::error::{Error, Result};
use crate::sandbox::{self, Sandbox};

/// More than any workflow needs; one that plays on for longer does not end.
pub(crate) const MOST_EVENTS: usize = 1500;

/// The latest point at which a hook is killed; some hooks are over before.
const LAST_POINT: usize = 260;

/// An event with its answer; `None` when the hook was killed.
#[derive(Debug, Clone)]
pub(crate) struct Played {
    pub(crate) event: Event,
    pub(crate) answer: Option<Value>,
}

/// What killed hooks excuse: they may have written their lines without the state that belongs to them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Excuses {
    /// Ends that may be told once more than delegations.
    pub(crate) ends: usize,
    /// Agents that worked without a record, so that their stage never started.
    pub(crate) unrecorded: usize,
    /// Texts that may wait although they were delivered.
    pub(crate) texts: bool,
}

/// What a session looked like when it was sent back to work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Progress {
    stages: Vec<(u64, bool, bool)>,
    ticked: usize,
    handoffs: u64,
}

#[derive(Debug)]
pub(crate) struct Seat<'a> {
    pub(crate) sandbox: &'a Sandbox,
    pub(crate) session: String,
    pub(crate) client: Client,
    pub(crate) limits: Limits,
    pub(crate) dice: Dice,
    /// How many of a hundred hooks are killed.
    pub(crate) kill_chance: u8,
    pub(crate) disk: Disk,
    pub(crate) running: Vec<Running>,
    pub(crate) excuses: Excuses,
    pub(crate) idle_rounds: u64,
    pub(crate) figures: Figures,
    /// Events of the workflow that is being played.
    pub(crate) events: usize,
    story: Vec<Value>,
    last_round: Option<Progress>,
}

impl<'a> Seat<'a> {
    pub(crate) fn new(
        sandbox: &'a Sandbox,
        session: String,
        client: Client,
        limits: Limits,
        dice: Dice,
    ) -> Self {
        Self {
            sandbox,
            session,
            client,
            limits,
            dice,
            kill_chance: 0,
            disk: Disk::default(),
            running: Vec::new(),
            excuses: Excuses::default(),
            idle_rounds: 0,
            figures: Figures::default(),
            events: 0,
            story: Vec::new(),
            last_round: None,
        }
    }

    pub(crate) fn flow(&self) -> Option<&Flow> {
        self.disk.flow.as_ref()
    }

    /// What was played so far, one line each, for whoever looks into a broken promise.
    pub(crate) fn story(&self) -> String {
        self.story.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    }

    /// Plays one event, perhaps with a killed hook. The client may send it again or go on without an answer.
    pub(crate) fn play(&mut self, event: Event) -> Result<Option<Value>> {
        if !self.dice.percent(self.kill_chance) {
            return self.play_together(vec![event]).map(first_answer);
        }
        match self.play_killed(event.clone())? {
            None if self.dice.percent(50) => self.play_together(vec![event]).map(first_answer),
            answer => Ok(answer),
        }
    }

    /// Plays events whose hooks run at the same time, as those of agents launched in one message do.
    pub(crate) fn play_together(&mut self, events: Vec<Event>) -> Result<Vec<Played>> {
        let before = Instant::now();
        let children = events.iter().map(|event| {
            let payload = self.payload(event);
            sandbox::feed(&mut self.command(event.hook), &payload)
        });
        let children = children.collect::<Result<Vec<_>>>()?;
        let mut played = Vec::new();
        for (event, child) in events.into_iter().zip(children) {
            let output = child.wait_with_output().map_err(|e| Error::new(format!("a hook is lost: {e}")))?;
            played.push(self.answered(event, &output)?);
        }
        self.took(&played, before.elapsed());
        self.settle(&played)?;
        Ok(played)
    }

    fn play_killed(&mut self, event: Event) -> Result<Option<Value>> {
        let point = self.dice.below(LAST_POINT);
        let payload = self.payload(&event);
        let Some(output) = kill::run(&mut self.command(event.hook), &payload, point)? else {
            self.figures.kills += 1;
            self.figures.events += 1;
            self.excuse(&event);
            return self.settle(&[Played { event, answer: None }]).map(|()| None);
        };
        let played = self.answered(event, &output)?;
        self.settle(std::slice::from_ref(&played))?;
        Ok(played.answer)
    }

    fn excuse(&mut self, event: &Event) {
        self.excuses.texts = true;
        if matches!(
            event.meaning,
            Meaning::Report { .. }
                | Meaning::StrayEnds
                | Meaning::Gone { .. }
                | Meaning::Interrupted(_)
                | Meaning::Prompt(_)
                | Meaning::AgentStoppedByUser
                | Meaning::Stop { .. }
        ) {
            self.excuses.ends += 1;
        }
    }

    fn answered(&mut self, event: Event, output: &Output) -> Result<Played> {
        self.figures.events += 1;
        let complaint = String::from_utf8_lossy(&output.stderr);
        let answer = sandbox::read_answer(event.hook, output);
        match answer {
            Ok(answer) if complaint.is_empty() => Ok(Played { event, answer: Some(answer) }),
            Ok(answer) => {
                let played = [Played { event, answer: Some(answer) }];
                Err(self.broken("one clean answer", &format!("it complained: {complaint}"), &played))
            }
            Err(error) => {
                let played = [Played { event, answer: None }];
                Err(self.broken(
                    "one clean answer",
                    &format!("{error}; it complained: {complaint:?}"),
                    &played,
                ))
            }
        }
    }

    fn took(&mut self, played: &[Played], time: Duration) {
        // Hooks at the same time wait for each other, which is not their speed.
        if let [only] = played {
            self.figures.timed(only.event.hook, time);
        }
    }

    fn command(&self, hook: Hook) -> std::process::Command {
        let mut command = self.sandbox.command(&["hook", hook.name()]);
        command.env("CLAUDE_CODE_SESSION_ID", &self.session);
        if hook == Hook::OnStart {
            command.env("CLAUDE_ENV_FILE", self.env_file());
        }
        command
    }

    fn env_file(&self) -> std::path::PathBuf {
        self.sandbox.home().join(format!("env-{}.sh", self.session))
    }

    fn payload(&self, event: &Event) -> Value {
        self.sandbox.event(&self.session, event.hook, event.fields.clone())
    }

    /// Runs `overtone …` as the Bash tool does: with what the session's start exported, and nothing else that
    /// names the session.
    pub(crate) fn command_line(&mut self, arguments: &[&str]) -> Result<bool> {
        self.play(Event::own_command(&format!("overtone {}", arguments.join(" "))))?;
        let mut command = self.sandbox.command(arguments);
        let exports = std::fs::read_to_string(self.env_file()).unwrap_or_default();
        for line in exports.lines().filter_map(|line| line.strip_prefix("export ")) {
            if let Some((name, value)) = line.split_once('=') {
                command.env(name, value.trim_matches('\''));
            }
        }
        let output = command.output().map_err(|e| Error::new(format!("cannot run overtone: {e}")))?;
        self.story.push(json!({"command": arguments, "stdout": String::from_utf8_lossy(&output.stdout),
            "stderr": String::from_utf8_lossy(&output.stderr), "success": output.status.success()}));
        self.disk = self.read_disk(&[])?;
        Ok(output.status.success())
    }

    /// A new workflow is a new count of everything.
    pub(crate) fn begin_anew(&mut self) {
        self.events = 0;
        self.running.clear();
        self.forget_rounds();
    }

    pub(crate) fn forget_rounds(&mut self) {
        self.last_round = None;
        self.idle_rounds = 0;
    }

    fn read_disk(&mut self, played: &[Played]) -> Result<Disk> {
        Disk::read(self.sandbox, &self.session)
            .map_err(|what| self.broken("state files are whole", &what, played))
    }

    /// Reads the disk, brings the model up to date and checks every promise.
    fn settle(&mut self, played: &[Played]) -> Result<()> {
        self.events += played.len();
        self.tell(played);
        let after = self.read_disk(played)?;
        let before = std::mem::replace(&mut self.disk, after);
        let door = self.expected_door(&before, played);
        for one in played {
            self.follow(&before, one, door.as_ref());
        }
        self.figures.count(&before, &self.disk, played);
        let look = Look { seat: self, before: &before, played, door };
        match checks::first_broken(&look) {
            Some((name, what)) => Err(self.broken(name, &what, played)),
            None => Ok(()),
        }
    }

    fn expected_door(&mut self, before: &Disk, played: &[Played]) -> Option<Door> {
        let [Played { event: Event { meaning: Meaning::Stop { listed }, .. }, .. }] = played else {
            return None;
        };
        let progress = progress(before);
        let idle =
            if self.last_round.is_some() && self.last_round == progress { self.idle_rounds + 1 } else { 0 };
        let door = rules::door(before, listed.as_deref(), idle, &self.limits);
        // A killed Stop counts as a round if it got as far as the loop's file.
        let counted = matches!(door, Door::GoOn(_) | Door::Stuck)
            && (played[0].answer.is_some() || before.looping != self.disk.looping);
        if counted {
            self.idle_rounds = idle;
            self.last_round = progress;
        }
        Some(door)
    }

    /// What an event does to the model. After a kill the disk tells which of the two it was: all or nothing.
    fn follow(&mut self, before: &Disk, played: &Played, door: Option<&Door>) {
        let mut next = self.running.clone();
        change(&mut next, before, played, door);
        if played.answer.is_some() || !agree(&self.running, &self.disk) {
            self.running = next;
        }
        // A pause forgets the rounds before it, and so does its end.
        let freed = match played.event.meaning {
            _ if self.disk.looping.paused != before.looping.paused => true,
            Meaning::Prompt(_) => played.answer.is_some() || self.disk.looping != before.looping,
            Meaning::SessionStart { .. } => before.looping.stopped && !self.disk.looping.stopped,
            _ => false,
        };
        if freed {
            self.forget_rounds();
        }
    }

    fn tell(&mut self, played: &[Played]) {
        for one in played {
            self.story.push(json!({"event": self.events, "hook": one.event.hook.name(),
                "fields": one.event.fields, "answer": one.answer}));
        }
    }

    pub(crate) fn broken(&self, promise: &str, what: &str, played: &[Played]) -> Error {
        let events: Vec<_> = played
            .iter()
            .map(|one| {
                let answer = one.answer.as_ref().map_or_else(|| "killed".to_owned(), Value::to_string);
                format!("  {} {}\n  answer {answer}", one.event.hook.name(), self.payload(&one.event))
            })
            .collect();
        Error::new(format!(
            "broken promise: {promise}\n  {what}\n  session {}, event {}\n{}",
            self.session,
            self.events,
            events.join("\n")
        ))
    }
}

fn first_answer(played: Vec<Played>) -> Option<Value> {
    played.into_iter().next().and_then(|one| one.answer)
}

fn change(running: &mut Vec<Running>, before: &Disk, played: &Played, door: Option<&Door>) {
    let open = before.flow.as_ref().is_some_and(Flow::is_open);
    let meaning = &played.event.meaning;
    match meaning {
        Meaning::Delegate { call, .. } => {
            let allowed = played.answer.as_ref().is_none_or(is_allowed);
            if let Some(agent) = running.iter_mut().find(|agent| agent.call == *call && allowed) {
                agent.recorded = true;
            }
        }
        Meaning::Continue { id } | Meaning::AgentStart { id, .. } if model::is_admitted(before, meaning) => {
            running.iter_mut().filter(|agent| agent.id == *id).for_each(|agent| agent.recorded = true);
        }
        Meaning::Report { reporter, channel, content } => {
            if let Reception::Ends(_) = rules::reception(before, reporter, *channel, *content) {
                running.retain(|agent| agent.call != reporter.call);
            }
        }
        Meaning::Gone { reporter, .. } | Meaning::Interrupted(reporter) => {
            running.retain(|agent| agent.call != reporter.call);
        }
        Meaning::InBackground { call } => {
            running.iter_mut().filter(|agent| agent.call == *call).for_each(|agent| agent.background = true);
        }
        Meaning::SessionStart { compact: false } => running.clear(),
        Meaning::Stop { .. } if open && door != Some(&Door::Silent) => running.clear(),
        Meaning::Prompt(_) | Meaning::AgentStoppedByUser if open => {
            let entries = before.flow.iter().flat_map(|flow| &flow.agents);
            let lost: Vec<_> = entries.filter(|entry| model::is_lost(before, meaning, door, entry)).collect();
            running.retain(|agent| !lost.iter().any(|entry| is_entry_of(entry, agent)));
        }
        _ => {}
    }
}

/// Whether this is the record of that agent; one that was continued is known by its id alone.
fn is_entry_of(entry: &AgentOnDisk, agent: &Running) -> bool {
    match &entry.call {
        Some(call) => *call == agent.call,
        None => entry.id.as_ref() == Some(&agent.id),
    }
}

pub(crate) fn is_allowed(answer: &Value) -> bool {
    answer["hookSpecificOutput"]["permissionDecision"] == "allow"
}

/// Whether the workflow waits for exactly the agents that were sent and have not ended.
pub(crate) fn agree(running: &[Running], disk: &Disk) -> bool {
    let mut sent: BTreeMap<&str, i64> = BTreeMap::new();
    for agent in running.iter().filter(|agent| agent.recorded) {
        *sent.entry(agent.agent.name()).or_default() += 1;
    }
    for agent in disk.flow.iter().flat_map(|flow| &flow.agents) {
        *sent.entry(agent.agent.name()).or_default() -= 1;
    }
    sent.values().all(|count| *count == 0)
}

fn progress(disk: &Disk) -> Option<Progress> {
    let flow = rules::release(disk.flow.as_ref()?, |_| true);
    let stages = flow.stages.iter();
    Some(Progress {
        stages: stages
            .map(|s| (s.attempts, s.status == Status::Pending, s.status == Status::Completed))
            .collect(),
        ticked: disk.tasks.as_ref().map_or(0, |tasks| tasks.ticked),
        handoffs: flow.handoffs,
    })
}
