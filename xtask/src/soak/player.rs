//! The main agent of one session, and the user in front of it: follows what the hooks say, with accidents.

mod delegation;
mod mishaps;

use overtone_core::registry::{Agent, SpecsDocs, Workflow};
use serde_json::Value;

use super::checks::answers::{self, model_text};
use super::dice::Dice;
use super::disk::{Disk, Flow, StageOnDisk, tasks_file};
use super::event::{Client, Event, Running};
use super::seat::{MOST_EVENTS, Seat};
use super::words::{Orders, offers, orders};
use crate::error::{Error, Result};
use crate::shell;

/// How much goes wrong in a session, in per cent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Temper {
    /// Verdicts that are bad news.
    pub(crate) bad_news: u8,
    /// Reports without a verdict, and half as many that need the user.
    pub(crate) unclear: u8,
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
            0 => Self { bad_news: 0, unclear: 0, bad_ends: 0, mishaps: 0, kills: 0, idleness: 0 },
            1 => Self { bad_news: 35, unclear: 8, bad_ends: 0, mishaps: 10, kills: 0, idleness: 0 },
            2 => Self { bad_news: 10, unclear: 10, bad_ends: 30, mishaps: 25, kills: 0, idleness: 0 },
            3 => Self { bad_news: 10, unclear: 8, bad_ends: 10, mishaps: 10, kills: 40, idleness: 5 },
            4 => Self { bad_news: 10, unclear: 20, bad_ends: 5, mishaps: 60, kills: 8, idleness: 5 },
            _ => Self { bad_news: 10, unclear: 15, bad_ends: 10, mishaps: 20, kills: 8, idleness: 40 },
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
    /// How often the user lets a stopped workflow go on.
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

    /// Starts the next workflow as the user would, over one that was left open if need be.
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
        self.orders = None;
        if with_feature {
            self.write_tasks(&feature)?;
        }
        self.patience = self.seat.dice.between(1, 5);
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
            return self.user_decides();
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
            Some(Orders::Ask(agents)) => self.ask_user(&agents),
            None => self.stop(),
        }
    }

    /// The user answers, or the main agent stops so that they see the question.
    fn ask_user(&mut self, agents: &[Agent]) -> Result<()> {
        if self.seat.dice.percent(40) {
            return self.stop();
        }
        self.seat.play(Event::user_answer())?;
        self.follow_answer(agents)
    }

    /// With the user's answer the blocked stage runs again, or the code is changed first.
    fn follow_answer(&mut self, agents: &[Agent]) -> Result<()> {
        if self.seat.dice.percent(30) { self.send(&[Agent::Developer]) } else { self.send(agents) }
    }

    /// Ticks tasks of the workflow's feature, as an agent with an editor does: all, or the first one.
    fn tick(&mut self, all: bool) -> Result<()> {
        let open = self.seat.disk.tasks.as_ref().is_some_and(|tasks| !tasks.open.is_empty());
        let feature = self.seat.flow().and_then(|flow| flow.feature.clone()).filter(|_| open);
        let Some(feature) = feature else { return Ok(()) };
        self.edit_tasks(&feature, |text| match text.split_once("## Tasks") {
            Some((stages, work)) if all => format!("{stages}## Tasks{}", work.replace("- [ ] ", "- [x] ")),
            _ => text.replacen("- [ ] ", "- [x] ", 1),
        })
    }

    fn stop(&mut self) -> Result<()> {
        let background: Vec<_> =
            self.seat.running.iter().filter(|a| a.background && !a.dead).cloned().collect();
        let mut listed = background.clone();
        // The client lists an agent that has reported for a moment longer.
        if self.seat.dice.percent(10) {
            listed.extend(self.ended.last().cloned());
        }
        let running = (self.seat.client == Client::New).then_some(listed.as_slice());
        let answer = self.seat.play(Event::stop(running, self.sent_back))?;
        self.sent_back = true;
        let Some(answer) = answer else { return Ok(()) };
        let text = model_text(&answer);
        self.orders = orders(text);
        if text.is_empty() && background.is_empty() { self.user_decides() } else { Ok(()) }
    }

    /// The session has come to rest. A patient user lets it go on; otherwise this workflow is over.
    fn user_decides(&mut self) -> Result<()> {
        let reason = self.reason();
        if reason == "completed" || self.patience == 0 {
            self.finish(reason);
            return Ok(());
        }
        self.patience -= 1;
        let looping = &self.seat.disk.looping;
        let is_over = looping.stopped || self.seat.flow().is_none_or(|flow| !flow.is_open());
        // A pause ends with the work, too, so the command is not needed.
        let is_paused = looping.paused.is_some();
        if is_over || (is_paused && self.seat.dice.percent(30)) {
            self.resume()?;
        }
        self.hear_and_go_on("go on, please")?;
        match self.orders.take() {
            Some(Orders::Ask(agents)) => self.follow_answer(&agents),
            orders => {
                self.orders = orders;
                Ok(())
            }
        }
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
        let is_blocked = self.seat.flow().is_some_and(|flow| flow.stages.iter().any(StageOnDisk::is_blocked));
        match (ending, self.seat.disk.looping.stopped_by.as_deref()) {
            (Some("completed"), _) => "completed",
            (Some(_), _) => "aborted",
            (None, Some("user")) => "stopped by the user",
            (None, Some("limit")) => "too many rounds",
            (None, _) if is_blocked => "needs the user",
            (None, _) => "paused",
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

    /// The user writes that the work goes on, so what the main agent may offer is what it does.
    fn hear_and_go_on(&mut self, prompt: &str) -> Result<()> {
        self.sent_back = false;
        let answer = self.seat.play(Event::prompt(prompt))?;
        self.listen(answer.as_ref());
        if let Some(offered) = answer.as_ref().and_then(|answer| offers(model_text(answer))) {
            self.orders = Some(offered);
        }
        Ok(())
    }

    /// New orders replace old ones; words without orders do not.
    fn listen(&mut self, answer: Option<&Value>) {
        if let Some(given) = answer.and_then(|answer| orders(model_text(answer))) {
            self.orders = Some(given);
        }
    }
}
