//! Short facts about a session.

use overtone_core::economy::price_tag;
use overtone_core::engine::state::{ActiveAgent, Millis, StoppedBy};
use overtone_core::engine::text::duration;
use overtone_core::messages::{cli, page, top as words};
use overtone_session::view::{Condition, SessionState, pause_reason};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use super::text::{age, clean, fit};
use super::tone::Tone;
use crate::sessions::Row;
use crate::state::DisplayOptions;

const SEPARATOR: &str = " · ";
/// The use of the context, in percent, from which it is shown as a warning.
const CONTEXT_WARNING: u32 = 70;
/// The use of the context, in percent, from which it is shown as an error.
const CONTEXT_CRITICAL: u32 = 90;

/// The importance of a fact. The lowest is dropped first if the line is too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    Rounds,
    Supervisor,
    Cost,
    Context,
    Tasks,
    Condition,
}

#[derive(Debug, Clone)]
pub(super) struct Fact {
    text: String,
    tone: Tone,
    weight: Weight,
}

impl Fact {
    fn new(weight: Weight, tone: Tone, text: impl AsRef<str>) -> Self {
        Self { text: clean(text.as_ref()), tone, weight }
    }

    pub(super) fn width(&self) -> usize {
        self.text.width()
    }
}

/// The facts in the order in which they are shown.
pub(super) fn facts(row: &Row, display: &DisplayOptions, now: Millis) -> Vec<Fact> {
    let mut facts = condition(row, display, now);
    if row.summary.state.is_open() {
        facts.extend(tasks(row, display));
        facts.extend(rounds(row, display));
    }
    facts.extend(usage(row, display));
    facts.extend(supervisor(row, display));
    facts
}

/// Counters that are shown only in the pane of the selected session.
pub(super) fn counters(row: &Row, display: &DisplayOptions) -> Vec<Fact> {
    let Some(workflow) = row.workflow() else { return Vec::new() };
    let compactions = row.summary.compactions.automatic.saturating_add(row.summary.compactions.manual);
    let counters = [
        (workflow.fail_count, words::failures(display.lang, workflow.fail_count)),
        (workflow.reject_count, words::rejections(display.lang, workflow.reject_count)),
        (compactions, words::compactions(display.lang, compactions)),
    ];
    let non_zero = counters.into_iter().filter(|(count, _)| *count > 0);
    non_zero.map(|(_, text)| Fact::new(Weight::Rounds, Tone::Plain, text)).collect()
}

/// Which agents are at work, or why none is.
fn condition(row: &Row, display: &DisplayOptions, now: Millis) -> Vec<Fact> {
    let lang = display.lang;
    let ago = cli::ago(lang, &age(now.since(row.summary.last_activity)));
    let state = |tone: Tone, text: String| Fact::new(Weight::Condition, tone, text);
    let ended = |tone: Tone, text: String| vec![state(tone, text), state(Tone::Faint, ago.clone())];
    match row.summary.state {
        SessionState::Running => match (agents(row, now), idle_reason(row, display)) {
            (Some(agents), _) => vec![state(Tone::Busy, agents)],
            (None, Some((tone, text))) => ended(tone, text),
            (None, None) => vec![state(Tone::Faint, ago)],
        },
        SessionState::Stopped => {
            let tone = if row.summary.needs_user() { Tone::Warning } else { Tone::Plain };
            ended(tone, stop_reason(row, display))
        }
        SessionState::Aborted => ended(Tone::Bad, cli::state_aborted(lang)),
        SessionState::Broken => ended(Tone::Bad, cli::state_broken(lang)),
        SessionState::Completed => ended(Tone::Good, cli::state_completed(lang)),
        SessionState::None => ended(Tone::Faint, page::no_workflow(lang)),
    }
}

/// Why nothing happens in a workflow whose loop was not stopped.
fn idle_reason(row: &Row, display: &DisplayOptions) -> Option<(Tone, String)> {
    let condition = Condition::new(row.workflow()?, row.summary.looping.as_ref(), &display.settings);
    match condition {
        Condition::Finished => Some((Tone::Good, cli::state_finished(display.lang))),
        Condition::Paused => Some((Tone::Warning, pause_reason(display.lang, row.summary.looping.as_ref()))),
        Condition::NeedsUser => Some((Tone::Warning, cli::state_needs_you(display.lang))),
        _ => None,
    }
}

fn stop_reason(row: &Row, display: &DisplayOptions) -> String {
    match row.summary.looping.as_ref().and_then(|looping| looping.stopped_by) {
        Some(StoppedBy::User) => cli::loop_stopped_by_user(display.lang),
        Some(StoppedBy::SessionEnd) => cli::loop_stopped_by_end(display.lang),
        Some(StoppedBy::Limit) => cli::loop_stopped_by_limit(display.lang),
        Some(StoppedBy::Moved) => moved(row, display),
        Some(StoppedBy::Completion) | None => cli::state_stopped(display.lang),
    }
}

fn moved(row: &Row, display: &DisplayOptions) -> String {
    match row.workflow().and_then(|workflow| workflow.moved_to.as_deref()) {
        Some(machine) => cli::state_moved(display.lang, machine),
        None => cli::state_stopped(display.lang),
    }
}

/// `developer 3m 20s, tester 12s`.
fn agents(row: &Row, now: Millis) -> Option<String> {
    let describe = |agent: &ActiveAgent| match agent.started_at {
        Some(at) => format!("{} {}", agent.slot, duration(now.since(at))),
        None => agent.slot.clone(),
    };
    let agents: Vec<_> = row.workflow()?.active_agents.iter().map(describe).collect();
    if agents.is_empty() { None } else { Some(agents.join(", ")) }
}

fn tasks(row: &Row, display: &DisplayOptions) -> Option<Fact> {
    let tasks = row.summary.tasks.as_ref()?;
    Some(Fact::new(Weight::Tasks, Tone::Plain, words::tasks(display.lang, tasks.checked, tasks.total)))
}

fn rounds(row: &Row, display: &DisplayOptions) -> Option<Fact> {
    let (count, limit) = (row.summary.looping.as_ref()?.iterations, display.settings.max_iterations);
    let tone = if count >= limit { Tone::Warning } else { Tone::Plain };
    Some(Fact::new(Weight::Rounds, tone, words::rounds(display.lang, count, limit)))
}

fn usage(row: &Row, display: &DisplayOptions) -> Vec<Fact> {
    let usage = &row.summary.usage;
    let mut facts = Vec::new();
    if row.summary.state.is_open()
        && let Some(percent) = usage.context_percent
    {
        let tone = match percent {
            CONTEXT_CRITICAL.. => Tone::Bad,
            CONTEXT_WARNING.. => Tone::Warning,
            _ => Tone::Plain,
        };
        facts.push(Fact::new(Weight::Context, tone, words::context(display.lang, percent)));
    }
    facts.extend(cost(row, display));
    facts
}

/// What the session has cost, and what its workflow has: `$1.24 (▶ $0.80)`.
fn cost(row: &Row, display: &DisplayOptions) -> Option<Fact> {
    let workflow = row.summary.workflow_usage.cost(&display.prices);
    let text = match (row.summary.usage.cost_usd, workflow.usd > 0.0) {
        (Some(session), true) => format!("${session:.2} (▶ {})", price_tag(&workflow)),
        (Some(session), false) => format!("${session:.2}"),
        (None, true) => format!("▶ {}", price_tag(&workflow)),
        (None, false) => return None,
    };
    Some(Fact::new(Weight::Cost, Tone::Plain, text))
}

fn supervisor(row: &Row, display: &DisplayOptions) -> Option<Fact> {
    let lang = display.lang;
    let (tone, text) = match (&row.supervision, row.supervisor) {
        (Some(supervision), _) => {
            let (tone, outcome) = match supervision.last.as_deref() {
                Some("allow") => (Tone::Good, page::outcome_allow(lang)),
                Some("block") => (Tone::Warning, page::outcome_block(lang)),
                _ => (Tone::Plain, page::outcome_not_reviewed(lang)),
            };
            (tone, words::supervised(lang, supervision.rounds, &outcome))
        }
        (None, Some(true)) => (Tone::Plain, words::supervisor_on(lang)),
        (None, Some(false)) => (Tone::Faint, words::supervisor_off(lang)),
        (None, None) => return None,
    };
    Some(Fact::new(Weight::Supervisor, tone, text))
}

/// Removes the facts that fit into this many columns and joins them. The least important ones remain in `facts`. At least
/// one fact is taken, and cut if necessary.
pub(super) fn take_fitting(facts: &mut Vec<Fact>, display: &DisplayOptions, columns: usize) -> Line<'static> {
    let mut taken = std::mem::take(facts);
    while taken.len() > 1 && width(&taken) > columns {
        let least_important = taken.iter().enumerate().rev().min_by_key(|(_, fact)| fact.weight);
        let Some((at, _)) = least_important else { break };
        facts.insert(0, taken.remove(at));
    }
    if let Some(first) = taken.first_mut()
        && first.text.width() > columns
    {
        first.text = fit(&first.text, columns);
    }
    join(&taken, display)
}

/// All facts, in as many lines as necessary.
pub(super) fn lines(facts: Vec<Fact>, display: &DisplayOptions, columns: usize) -> Vec<Line<'static>> {
    let mut lines: Vec<Vec<Fact>> = Vec::new();
    for fact in facts {
        match lines.last_mut() {
            Some(line) if width(line) + SEPARATOR.width() + fact.text.width() <= columns => line.push(fact),
            _ => lines.push(vec![fact]),
        }
    }
    lines.iter().map(|line| join(line, display)).collect()
}

fn width(facts: &[Fact]) -> usize {
    facts.iter().map(|fact| fact.text.width()).sum::<usize>()
        + facts.len().saturating_sub(1) * SEPARATOR.width()
}

fn join(facts: &[Fact], display: &DisplayOptions) -> Line<'static> {
    let mut spans: Vec<Span> = Vec::new();
    for fact in facts {
        if !spans.is_empty() {
            spans.push(Tone::Faint.paint(SEPARATOR, display.colours));
        }
        spans.push(fact.tone.paint(fact.text.clone(), display.colours));
    }
    Line::from(spans)
}
