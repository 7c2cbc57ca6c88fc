//! Sends events to the hooks, checks their answers and prints both.

use std::thread;

use overtone_core::engine::text::agent_name;
use overtone_core::messages::{Lang, demo as words};
use overtone_core::registry::{Agent, Hook};
use overtone_hook::ansi::Tone;
use serde_json::Value;

use super::error::{DemoError, HookError};
use super::expected::{Expected, denial_reason, model_text, user_text};
use super::payload::Delegation;
use super::sandbox::{Answer, Sandbox};
use super::screen::Screen;
use super::timings::{self, Timings};
use crate::ui::error::CommandResult;

/// Further lines of an answer are only counted.
const MAX_LINES: usize = 6;

/// Replaces the tool names of agents by the names that users know.
pub(super) fn with_user_names(lang: Lang, text: &str) -> String {
    Agent::ALL.into_iter().fold(text.to_owned(), |text, agent| {
        text.replace(&agent_name(lang, agent), &agent.name().to_uppercase())
    })
}

#[derive(Debug)]
pub(super) struct DemoRunner<'a> {
    lang: Lang,
    sandbox: &'a Sandbox,
    screen: Screen,
    timings: Timings,
    /// The current step, for the error message.
    step: String,
    delegations: usize,
}

impl<'a> DemoRunner<'a> {
    pub(super) fn new(lang: Lang, sandbox: &'a Sandbox, screen: Screen) -> Self {
        Self { lang, sandbox, screen, timings: Timings::default(), step: String::new(), delegations: 0 }
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

    /// The number of the next delegation.
    pub(super) const fn next_number(&mut self) -> usize {
        self.delegations += 1;
        self.delegations
    }

    /// Prints the title of the next step.
    pub(super) fn begin_step(&mut self, text: String) -> Result<(), DemoError> {
        self.screen.line(Tone::Strong, &format!("▸ {text}"))?;
        self.step = text;
        self.screen.pause()
    }

    /// Sends one event and prints the answer.
    pub(super) fn send(
        &mut self,
        hook: Hook,
        payload: &Value,
        expected: Expected,
    ) -> Result<Answer, DemoError> {
        let answer = self.check(self.sandbox.run_hook(hook, payload), expected)?;
        self.show_answer(&answer, expected)?;
        self.show_times(&[&answer])?;
        self.show_progress()?;
        Ok(answer)
    }

    /// Sends one event for each delegation, all at the same time, as the client does.
    pub(super) fn send_all(
        &mut self,
        hook: Hook,
        delegations: &[Delegation],
        expected: Expected,
    ) -> Result<Vec<Answer>, DemoError> {
        let sandbox = self.sandbox;
        let results = thread::scope(|scope| {
            let call = |delegation: &Delegation| {
                let payload = delegation.payload(hook);
                scope.spawn(move || sandbox.run_hook(hook, &payload))
            };
            let running: Vec<_> = delegations.iter().map(call).collect();
            running.into_iter().filter_map(|thread| thread.join().ok()).collect::<Vec<_>>()
        });
        results.into_iter().map(|answer| self.check(answer, expected)).collect()
    }

    fn check(&mut self, result: Result<Answer, HookError>, expected: Expected) -> Result<Answer, DemoError> {
        self.screen.check_interrupt()?;
        let answer = result?;
        self.timings.add(answer.hook, answer.took);
        expected.check(answer.hook, &answer.json)?;
        Ok(answer)
    }

    pub(super) fn show_answer(&self, answer: &Answer, expected: Expected) -> CommandResult {
        match expected {
            Expected::Quiet | Expected::Harmless => Ok(()),
            Expected::Allowed => self.show_text(Tone::Good, &words::allowed(self.lang)),
            Expected::Briefed(_) => self.show_text(Tone::Plain, &words::briefed(self.lang)),
            Expected::Denied(_) => self.show_text(Tone::Bad, denial_reason(&answer.json)),
            Expected::ForModel(_) => {
                self.show_text(Tone::Plain, &self.without_instructions(model_text(&answer.json)))
            }
            Expected::ForUser(_) => {
                self.show_text(Tone::Plain, &self.without_instructions(user_text(&answer.json)))
            }
        }
    }

    /// The text without the instructions for the model: the demo is for users.
    fn without_instructions(&self, text: &str) -> String {
        let lines: Vec<_> = text.lines().filter(|line| !line.contains('⛔')).collect();
        if lines.is_empty() && !text.is_empty() {
            return words::pointed_to_auto(self.lang);
        }
        with_user_names(self.lang, &lines.join("\n"))
    }

    /// Prints the beginning of a text, indented.
    fn show_text(&self, tone: Tone, text: &str) -> CommandResult {
        for line in text.lines().take(MAX_LINES) {
            self.screen.line(tone, &format!("  {line}"))?;
        }
        match text.lines().count().saturating_sub(MAX_LINES) {
            0 => Ok(()),
            more => self.screen.line(Tone::Faint, &format!("  {}", words::more_lines(self.lang, more))),
        }
    }

    pub(super) fn show_times(&self, answers: &[&Answer]) -> CommandResult {
        let time =
            |answer: &&Answer| format!("{} {}", answer.hook.name(), timings::format_millis(answer.took));
        let times: Vec<_> = answers.iter().map(time).collect();
        self.screen.line(Tone::Faint, &format!("  {}", times.join(" · ")))
    }

    pub(super) fn show_progress(&mut self) -> CommandResult {
        match self.sandbox.workflow() {
            Some(workflow) => self.screen.progress(self.lang, &workflow),
            None => Ok(()),
        }
    }
}
