//! What there is to say about a session, each thing in a few words.

use overtone_engine::state::{ActiveAgent, Millis, StoppedBy};
use overtone_engine::text::duration;
use overtone_messages::{cli, page, top as words};
use overtone_view::{Condition, State, pause_words};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use super::text::{age, clean, fit};
use super::tone::Tone;
use crate::sessions::Row;
use crate::state::Look;

/// Between two facts.
const DOT: &str = " · ";
/// From these per cent on, the use of the context is a warning.
const FULL: u32 = 70;
const VERY_FULL: u32 = 90;

/// What goes last when there is too little room.
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

/// In the order in which they are shown.
pub(super) fn facts(row: &Row, look: &Look, now: Millis) -> Vec<Fact> {
    let mut facts = condition(row, look, now);
    if row.summary.state.is_open() {
        facts.extend(tasks(row, look));
        facts.extend(rounds(row, look));
    }
    facts.extend(usage(row, look));
    facts.extend(supervisor(row, look));
    facts
}

/// What only the pane has room for.
pub(super) fn counters(row: &Row, look: &Look) -> Vec<Fact> {
    let Some(workflow) = row.workflow() else { return Vec::new() };
    let compactions = row.summary.compactions.automatic.saturating_add(row.summary.compactions.manual);
    let counters = [
        (workflow.fail_count, words::failures(look.lang, workflow.fail_count)),
        (workflow.reject_count, words::rejections(look.lang, workflow.reject_count)),
        (compactions, words::compactions(look.lang, compactions)),
    ];
    let counted = counters.into_iter().filter(|(count, _)| *count > 0);
    counted.map(|(_, text)| Fact::new(Weight::Rounds, Tone::Plain, text)).collect()
}

/// Who is at work, or why nobody is.
fn condition(row: &Row, look: &Look, now: Millis) -> Vec<Fact> {
    let lang = look.lang;
    let ago = cli::ago(lang, &age(now.since(row.summary.last_activity)));
    let state = |tone: Tone, text: String| Fact::new(Weight::Condition, tone, text);
    let ended = |tone: Tone, text: String| vec![state(tone, text), state(Tone::Faint, ago.clone())];
    match row.summary.state {
        State::Running => match (agents(row, now), idle(row, look)) {
            (Some(agents), _) => vec![state(Tone::Busy, agents)],
            (None, Some((tone, text))) => ended(tone, text),
            (None, None) => vec![state(Tone::Faint, ago)],
        },
        State::Stopped => {
            let tone = if row.summary.needs_person() { Tone::Warning } else { Tone::Plain };
            ended(tone, stopped(row, look))
        }
        State::Aborted => ended(Tone::Bad, cli::state_aborted(lang)),
        State::Broken => ended(Tone::Bad, cli::state_broken(lang)),
        State::Completed => ended(Tone::Good, cli::state_completed(lang)),
        State::None => ended(Tone::Faint, page::no_workflow(lang)),
    }
}

/// Why nothing happens in a workflow whose loop was not stopped.
fn idle(row: &Row, look: &Look) -> Option<(Tone, String)> {
    let condition = Condition::new(row.workflow()?, row.summary.looping.as_ref(), &look.settings);
    match condition {
        Condition::Finished => Some((Tone::Good, cli::state_finished(look.lang))),
        Condition::Paused => Some((Tone::Warning, pause_words(look.lang, row.summary.looping.as_ref()))),
        Condition::NeedsUser => Some((Tone::Warning, cli::state_needs_you(look.lang))),
        _ => None,
    }
}

fn stopped(row: &Row, look: &Look) -> String {
    match row.summary.looping.as_ref().and_then(|looping| looping.stopped_by) {
        Some(StoppedBy::User) => cli::loop_stopped_by_user(look.lang),
        Some(StoppedBy::SessionEnd) => cli::loop_stopped_by_end(look.lang),
        Some(StoppedBy::Limit) => cli::loop_stopped_by_limit(look.lang),
        Some(StoppedBy::Moved) => moved(row, look),
        Some(StoppedBy::Completion) | None => cli::state_stopped(look.lang),
    }
}

fn moved(row: &Row, look: &Look) -> String {
    let to = row.workflow().and_then(|workflow| workflow.moved_to.as_deref());
    to.map_or_else(|| cli::state_stopped(look.lang), |to| cli::state_moved(look.lang, to))
}

/// `developer 3m 20s, tester 12s`.
fn agents(row: &Row, now: Millis) -> Option<String> {
    let shown = |agent: &ActiveAgent| {
        let since = agent.started_at.map(|at| format!(" {}", duration(now.since(at))));
        format!("{}{}", agent.slot, since.unwrap_or_default())
    };
    let agents: Vec<_> = row.workflow()?.active_agents.iter().map(shown).collect();
    (!agents.is_empty()).then(|| agents.join(", "))
}

fn tasks(row: &Row, look: &Look) -> Option<Fact> {
    let tasks = row.summary.tasks.as_ref()?;
    Some(Fact::new(Weight::Tasks, Tone::Plain, words::tasks(look.lang, tasks.checked, tasks.total)))
}

fn rounds(row: &Row, look: &Look) -> Option<Fact> {
    let (count, limit) = (row.summary.looping.as_ref()?.iterations, look.settings.max_iterations);
    let tone = if count >= limit { Tone::Warning } else { Tone::Plain };
    Some(Fact::new(Weight::Rounds, tone, words::rounds(look.lang, count, limit)))
}

fn usage(row: &Row, look: &Look) -> Vec<Fact> {
    let usage = &row.summary.usage;
    let context = usage.context_percent.filter(|_| row.summary.state.is_open()).map(|percent| {
        let tone = match percent {
            VERY_FULL.. => Tone::Bad,
            FULL.. => Tone::Warning,
            _ => Tone::Plain,
        };
        Fact::new(Weight::Context, tone, words::context(look.lang, percent))
    });
    let cost = usage.cost_usd.map(|cost| Fact::new(Weight::Cost, Tone::Plain, format!("${cost:.2}")));
    context.into_iter().chain(cost).collect()
}

fn supervisor(row: &Row, look: &Look) -> Option<Fact> {
    let lang = look.lang;
    let (tone, text) = match (&row.supervision, row.supervisor) {
        (Some(seen), _) => {
            let (tone, outcome) = match seen.last.as_deref() {
                Some("allow") => (Tone::Good, page::outcome_allow(lang)),
                Some("block") => (Tone::Warning, page::outcome_block(lang)),
                _ => (Tone::Plain, page::outcome_not_reviewed(lang)),
            };
            (tone, words::supervised(lang, seen.rounds, &outcome))
        }
        (None, Some(true)) => (Tone::Plain, words::supervisor_on(lang)),
        (None, Some(false)) => (Tone::Faint, words::supervisor_off(lang)),
        (None, None) => return None,
    };
    Some(Fact::new(Weight::Supervisor, tone, text))
}

/// Takes as many as fit into so many columns and leaves the lightest behind. One is always taken, if cut.
pub(super) fn take(facts: &mut Vec<Fact>, look: &Look, columns: usize) -> Line<'static> {
    let mut taken = std::mem::take(facts);
    while taken.len() > 1 && width(&taken) > columns {
        let lightest = taken.iter().enumerate().rev().min_by_key(|(_, fact)| fact.weight);
        let Some((at, _)) = lightest else { break };
        facts.insert(0, taken.remove(at));
    }
    if let Some(only) = taken.first_mut().filter(|only| only.text.width() > columns) {
        only.text = fit(&only.text, columns);
    }
    joined(&taken, look)
}

/// All of them, in as many lines as it takes.
pub(super) fn lines(facts: Vec<Fact>, look: &Look, columns: usize) -> Vec<Line<'static>> {
    let mut lines: Vec<Vec<Fact>> = Vec::new();
    for fact in facts {
        match lines.last_mut() {
            Some(line) if width(line) + DOT.width() + fact.text.width() <= columns => line.push(fact),
            _ => lines.push(vec![fact]),
        }
    }
    lines.iter().map(|line| joined(line, look)).collect()
}

fn width(facts: &[Fact]) -> usize {
    facts.iter().map(|fact| fact.text.width()).sum::<usize>() + facts.len().saturating_sub(1) * DOT.width()
}

fn joined(facts: &[Fact], look: &Look) -> Line<'static> {
    let mut spans: Vec<Span> = Vec::new();
    for fact in facts {
        if !spans.is_empty() {
            spans.push(Tone::Faint.paint(DOT, look.colours));
        }
        spans.push(fact.tone.paint(fact.text.clone(), look.colours));
    }
    Line::from(spans)
}
