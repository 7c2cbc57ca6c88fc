//! Sends events to the hooks, checks the answers and tells both.

use std::thread;

use overtone_engine::text::agent_name;
use overtone_messages::{Lang, demo as words};
use overtone_registry::{Agent, Hook};
use serde_json::Value;

use super::expected::{Expected, reason, shown, told};
use super::payload::Errand;
use super::sandbox::{Answer, Sandbox};
use super::screen::Screen;
use super::stop::{Problem, Stop};
use super::timings::{self, Timings};
use crate::ui::error::Done;
use crate::ui::style::Tone;

/// More lines of one answer are only counted.
const SHOWN_LINES: usize = 6;

/// A text with agents as users know them: the prefix is for the client's tool.
pub(super) fn for_user(lang: Lang, text: &str) -> String {
    Agent::ALL.into_iter().fold(text.to_owned(), |text, agent| {
        text.replace(&agent_name(lang, agent), &agent.name().to_uppercase())
    })
}

#[derive(Debug)]
pub(super) struct Teller<'a> {
    lang: Lang,
    sandbox: &'a Sandbox,
    screen: Screen,
    timings: Timings,
    /// What is being told, for the report of a failure.
    step: String,
    errands: usize,
}

impl<'a> Teller<'a> {
    pub(super) fn new(lang: Lang, sandbox: &'a Sandbox, screen: Screen) -> Self {
        Self { lang, sandbox, screen, timings: Timings::default(), step: String::new(), errands: 0 }
    }

    pub(super) const fn lang(&self) -> Lang {
        self.lang
    }

    pub(super) const fn sandbox(&self) -> &'a Sandbox {
        self.sandbox
    }

    pub(super) const fn screen(&mut self) -> &mut Screen {
        &mut self.screen
    }

    pub(super) const fn timings(&self) -> &Timings {
        &self.timings
    }

    pub(super) fn step(&self) -> &str {
        &self.step
    }

    /// A number for the next errand.
    pub(super) const fn next_number(&mut self) -> usize {
        self.errands += 1;
        self.errands
    }

    /// Begins a step.
    pub(super) fn tell(&mut self, text: String) -> Result<(), Stop> {
        self.screen.line(Tone::Strong, &format!("▸ {text}"))?;
        self.step = text;
        self.screen.beat()
    }

    /// Sends one event, and shows what came back.
    pub(super) fn ask(&mut self, hook: Hook, payload: &Value, expected: Expected) -> Result<Answer, Stop> {
        let answer = self.checked(self.sandbox.call(hook, payload), expected)?;
        self.show_answer(&answer, expected)?;
        self.show_times(&[&answer])?;
        self.show_progress()?;
        Ok(answer)
    }

    /// Sends one event for each errand, all at the same time, as the client does.
    pub(super) fn ask_all(
        &mut self,
        hook: Hook,
        errands: &[Errand],
        expected: Expected,
    ) -> Result<Vec<Answer>, Stop> {
        let sandbox = self.sandbox;
        let called = thread::scope(|scope| {
            let call = |errand: &Errand| {
                let payload = errand.payload(hook);
                scope.spawn(move || sandbox.call(hook, &payload))
            };
            let running: Vec<_> = errands.iter().map(call).collect();
            running.into_iter().filter_map(|thread| thread.join().ok()).collect::<Vec<_>>()
        });
        called.into_iter().map(|answer| self.checked(answer, expected)).collect()
    }

    fn checked(&mut self, called: Result<Answer, Problem>, expected: Expected) -> Result<Answer, Stop> {
        self.screen.heed()?;
        let answer = called?;
        self.timings.add(answer.hook, answer.took);
        expected.check(answer.hook, &answer.json)?;
        Ok(answer)
    }

    pub(super) fn show_answer(&self, answer: &Answer, expected: Expected) -> Done {
        match expected {
            Expected::Quiet | Expected::Harmless => Ok(()),
            Expected::Allowed => self.show_text(Tone::Good, &words::allowed(self.lang)),
            Expected::Briefed(_) => self.show_text(Tone::Plain, &words::briefed(self.lang)),
            Expected::Denied(_) => self.show_text(Tone::Bad, reason(&answer.json)),
            Expected::Told(_) => self.show_text(Tone::Plain, &self.told_in_short(told(&answer.json))),
            Expected::Shown(_) => self.show_text(Tone::Plain, &self.told_in_short(shown(&answer.json))),
        }
    }

    /// What the model is told, without its orders: the demo is for users.
    fn told_in_short(&self, text: &str) -> String {
        let lines: Vec<_> = text.lines().filter(|line| !line.contains('⛔')).collect();
        if lines.is_empty() && !text.is_empty() {
            return words::pointed_to_auto(self.lang);
        }
        for_user(self.lang, &lines.join("\n"))
    }

    /// The beginning of a text, one step to the right.
    fn show_text(&self, tone: Tone, text: &str) -> Done {
        for line in text.lines().take(SHOWN_LINES) {
            self.screen.line(tone, &format!("  {line}"))?;
        }
        match text.lines().count().saturating_sub(SHOWN_LINES) {
            0 => Ok(()),
            more => self.screen.line(Tone::Faint, &format!("  {}", words::more_lines(self.lang, more))),
        }
    }

    pub(super) fn show_times(&self, answers: &[&Answer]) -> Done {
        let time = |answer: &&Answer| format!("{} {}", answer.hook.name(), timings::shown(answer.took));
        let times: Vec<_> = answers.iter().map(time).collect();
        self.screen.line(Tone::Faint, &format!("  {}", times.join(" · ")))
    }

    pub(super) fn show_progress(&mut self) -> Done {
        match self.sandbox.workflow() {
            Some(workflow) => self.screen.progress(self.lang, &workflow),
            None => Ok(()),
        }
    }
}
