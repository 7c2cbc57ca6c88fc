//! The main agent of one session, and the person in front of it: follows what the hooks say, with accidents.

mod delegation;
mod mishaps;

use overtone_registry::{SpecsDocs, Workflow};
use serde_json::Value;

use super::checks::answers::told;
use super::dice::Dice;
use super::disk::{Disk, Flow, tasks_file};
use super::event::{Client, Event, Running};
use super::seat::{MOST_EVENTS, Seat};
use super::words::{Orders, orders};
use crate::error::{Error, Result};
use crate::shell;

/// How much goes wrong in a session, in per cent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Temper {
    /// Verdicts that are bad news.
    pub(crate) bad_news: u8,
    /// Agents that do not end as they should.
    pub(crate) bad_ends: u8,
    /// Moves before which something else happens.
    pub(crate) mishaps: u8,
    /// Hooks that are killed.
    pub(crate) kills: u8,
    /// Orders that the main agent does not follow.
    pub(crate) idleness: u8,
}

impl Temper {
    /// From sessions where all goes well to those where little does.
    pub(crate) fn of(dice: &mut Dice) -> Self {
        match dice.below(6) {
            0 => Self { bad_news: 0, bad_ends: 0, mishaps: 0, kills: 0, idleness: 0 },
            1 => Self { bad_news: 35, bad_ends: 0, mishaps: 10, kills: 0, idleness: 0 },
            2 => Self { bad_news: 10, bad_ends: 30, mishaps: 25, kills: 0, idleness: 0 },
            3 => Self { bad_news: 10, bad_ends: 10, mishaps: 10, kills: 40, idleness: 5 },
            4 => Self { bad_news: 10, bad_ends: 5, mishaps: 60, kills: 8, idleness: 5 },
            _ => Self { bad_news: 10, bad_ends: 10, mishaps: 20, kills: 8, idleness: 40 },
        }
    }
}

/// Where a player is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Away,
    /// In the session, before the next workflow.
    Idle,
    Working,
    Over,
}

#[derive(Debug)]
pub(crate) struct Player<'a> {
    pub(crate) seat: Seat<'a>,
    temper: Temper,
    /// Numbers and types of the workflows still to be played, the next one last.
    queue: Vec<(usize, Workflow)>,
    /// The workflow that is being played, or was last.
    current: Option<(usize, Workflow)>,
    phase: Phase,
    orders: Option<Orders>,
    /// How often the person lets a stopped workflow go on.
    patience: usize,
    calls: usize,
    /// The session was sent back to work and has used no tool since.
    sent_back: bool,
    ended: Vec<Running>,
}

impl<'a> Player<'a> {
    pub(crate) fn new(seat: Seat<'a>, temper: Temper, mut queue: Vec<(usize, Workflow)>) -> Self {
        queue.reverse();
        Self {
            seat,
            temper,
            queue,
            current: None,
            phase: Phase::Away,
            orders: None,
            patience: 0,
            calls: 0,
            sent_back: false,
            ended: Vec::new(),
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    /// The number of the workflow that is being played, or was last.
    pub(crate) fn number(&self) -> Option<usize> {
        self.current.map(|(number, _)| number)
    }

    /// One move: a few events that belong together.
    pub(crate) fn take_turn(&mut self) -> Result<()> {
        match self.phase {
            Phase::Away => self.arrive(),
            Phase::Idle => self.begin(),
            Phase::Working => self.work(),
            Phase::Over => Ok(()),
        }
    }

    fn arrive(&mut self) -> Result<()> {
        self.seat.kill_chance = 0;
        self.seat.play(Event::session_start("startup"))?;
        self.phase = Phase::Idle;
        Ok(())
    }

    /// Starts the next workflow as the person would, over one that was left open if need be.
    fn begin(&mut self) -> Result<()> {
        let Some((number, workflow)) = self.queue.pop() else { return self.leave() };
        self.current = Some((number, workflow));
        self.seat.kill_chance = 0;
        self.hear(Event::prompt("please do it"))?;
        let feature = format!("feature-{number}");
        let with_feature = workflow.specs_docs() != SpecsDocs::None && self.seat.dice.percent(60);
        let mut arguments = vec!["init", workflow.name()];
        if with_feature {
            arguments.extend(["--feature", &feature]);
        }
        if self.seat.flow().is_some_and(Flow::is_open) {
            arguments.push("--force");
        }
        if !self.seat.command_line(&arguments)? {
            return Err(self.seat.broken("a workflow can be started", &arguments.join(" "), &[]));
        }
        self.seat.begin_anew();
        if with_feature {
            self.write_tasks(&feature)?;
        }
        self.patience = self.seat.dice.below(3);
        self.seat.kill_chance = self.temper.kills;
        self.phase = Phase::Working;
        self.hear(Event::prompt("go"))
    }

    fn leave(&mut self) -> Result<()> {
        self.seat.play(Event::session_end("prompt_input_exit"))?;
        self.phase = Phase::Over;
        Ok(())
    }

    /// The planner's tasks, below the stages that the program has written there.
    fn write_tasks(&mut self, feature: &str) -> Result<()> {
        let count = self.seat.dice.below(4);
        let tasks: Vec<_> = (1..=count).map(|n| format!("- [ ] part {n} works")).collect();
        self.edit_tasks(feature, |text| text + "\n" + &tasks.join("\n") + "\n")
    }

    fn edit_tasks(&mut self, feature: &str, edit: impl FnOnce(String) -> String) -> Result<()> {
        let path = tasks_file(self.seat.sandbox, feature);
        let text = std::fs::read_to_string(&path).map_err(|e| Error::io("cannot read tasks", &path, &e))?;
        shell::write_file(&path, edit(text).as_bytes())?;
        self.seat.disk = Disk::read(self.seat.sandbox, &self.seat.session).map_err(Error::new)?;
        Ok(())
    }

    fn work(&mut self) -> Result<()> {
        if self.seat.events > MOST_EVENTS {
            return Err(self.seat.broken("every workflow ends", "it plays on and on", &[]));
        }
        if self.seat.flow().is_none_or(|flow| !flow.is_open()) {
            return self.person_decides();
        }
        if self.seat.dice.percent(self.temper.mishaps) {
            return self.mishap();
        }
        if self.seat.running.iter().any(|agent| agent.background) && self.seat.dice.percent(60) {
            return self.end_background_agent();
        }
        let idle = self.seat.dice.percent(self.temper.idleness);
        match self.orders.take().filter(|_| !idle) {
            Some(Orders::Send(agents)) => self.send_in_order(&agents),
            Some(Orders::Tick) => self.tick(),
            None => self.stop(),
        }
    }

    /// Ticks the first open task, as an agent with an editor does.
    fn tick(&mut self) -> Result<()> {
        if let Some(feature) = self.seat.flow().and_then(|flow| flow.feature.clone()) {
            self.edit_tasks(&feature, |text| text.replacen("- [ ] ", "- [x] ", 1))?;
            self.seat.play(Event::bash_used("cargo test"))?;
        }
        Ok(())
    }

    fn stop(&mut self) -> Result<()> {
        let background: Vec<_> =
            self.seat.running.iter().filter(|a| a.background && !a.dead).cloned().collect();
        let listed: Vec<_> = background.iter().collect();
        let running = (self.seat.client == Client::New).then_some(listed.as_slice());
        let answer = self.seat.play(Event::stop(running, self.sent_back))?;
        self.sent_back = true;
        let Some(answer) = answer else { return Ok(()) };
        self.orders = orders(told(&answer));
        let let_go = told(&answer).is_empty();
        if let_go && background.is_empty() { self.person_decides() } else { Ok(()) }
    }

    /// The session has come to rest. A patient person lets it go on; otherwise this workflow is over.
    fn person_decides(&mut self) -> Result<()> {
        let reason = self.reason();
        if reason == "completed" || self.patience == 0 {
            self.finish(reason);
            return Ok(());
        }
        self.patience -= 1;
        if reason != "no progress" {
            self.resume()?;
        }
        self.hear(Event::prompt("go on, please"))
    }

    fn resume(&mut self) -> Result<()> {
        if !self.seat.command_line(&["resume"])? {
            return Err(self.seat.broken("a stopped workflow can be resumed", "overtone resume failed", &[]));
        }
        self.seat.forget_rounds();
        let open = self.seat.flow().is_some_and(Flow::is_open);
        if open && !self.seat.disk.looping.stopped {
            return Ok(());
        }
        Err(self.seat.broken("a stopped workflow can be resumed", "it is still stopped", &[]))
    }

    fn reason(&self) -> &'static str {
        let ending = self.seat.flow().and_then(|flow| flow.ending.as_deref());
        match (ending, self.seat.disk.looping.stopped_by.as_deref()) {
            (Some("completed"), _) => "completed",
            (Some(_), _) => "aborted",
            (None, Some("user")) => "stopped by the user",
            (None, Some("limit")) => "too many rounds",
            (None, _) => "no progress",
        }
    }

    fn finish(&mut self, reason: &'static str) {
        if let Some((_, workflow)) = self.current {
            self.seat.figures.ended(workflow, reason);
        }
        self.orders = None;
        self.phase = Phase::Idle;
    }

    /// Plays an event whose answer the main agent reads.
    fn hear(&mut self, event: Event) -> Result<()> {
        self.sent_back = false;
        let answer = self.seat.play(event)?;
        self.listen(answer.as_ref());
        Ok(())
    }

    /// New orders replace old ones; words without orders do not.
    fn listen(&mut self, answer: Option<&Value>) {
        if let Some(given) = answer.and_then(|answer| orders(told(answer))) {
            self.orders = Some(given);
        }
    }
}
