//! A replay as text.

use overtone_core::engine::Snapshot;
use overtone_core::engine::state::{StageResult, StageState};
use overtone_core::messages::{cli, replay as words};
use overtone_core::replay::{Difference, Finding, Line, SkipReason, SkippedLine, record_fields};
use overtone_hook::ansi::{Text, Tone};
use overtone_store::timeline::Entry;
use serde_json::Value;

use super::stored::StoredState;
use super::{ReplayOutcome, ReplayOutput};
use crate::commands::status;
use crate::commands::timeline::line;
use crate::context::Context;
use crate::ui::error::CommandResult;
use crate::ui::out;
use crate::ui::quantity::or_dash;
use crate::ui::table::{Cell, Fields};

/// How many of the skipped lines are listed.
const MAX_LISTED: usize = 10;

pub(super) struct TextOutput<'a> {
    pub(super) context: &'a Context,
}

impl ReplayOutput for TextOutput<'_> {
    fn difference(&mut self, difference: &Difference) -> CommandResult {
        let context = self.context;
        let mut lines = vec![context.palette.paint(Tone::Bad, &title(context, difference))];
        lines.extend(difference.before.iter().map(|line| self.line(line)));
        let mut fields = self.finding(&difference.finding);
        self.add_state(&difference.state, &mut fields);
        lines.push(fields.render(context.palette));
        out::print(&(Text::join(lines, "\n") + "\n"))
    }

    fn end(&mut self, outcome: &ReplayOutcome) -> CommandResult {
        let lang = self.context.lang;
        let mut fields = Fields::default();
        fields.add(words::label_timeline(lang), outcome.source.name.as_str());
        fields.add(words::label_lines(lang), self.lines(outcome));
        fields.add(words::label_given(lang), self.given(outcome));
        self.add_skipped(outcome, &mut fields);
        if let Some(version) = &outcome.summary.recorded_by {
            let text = words::recorded_by(lang, version, self.context.environment.version);
            fields.add(words::label_recorded_by(lang), text);
        }
        if outcome.differences == 0 {
            self.add_state(&outcome.state, &mut fields);
        }
        self.add_stored(&outcome.stored, &mut fields);
        fields.add(words::label_result(lang), self.result(outcome));
        out::print(&fields.render(self.context.palette))
    }
}

fn title(context: &Context, difference: &Difference) -> String {
    let lang = context.lang;
    let title = match &difference.finding {
        Finding::Changed { .. } => words::changed(lang, difference.line),
        Finding::Missing { .. } => words::missing(lang, difference.line),
        Finding::Unexpected { .. } => words::unexpected(lang, difference.line),
    };
    match &difference.state.workflow {
        Some(_) => title,
        None => format!("{title}\n{}", words::no_workflow_yet(lang)),
    }
}

impl TextOutput<'_> {
    fn line(&self, line: &Line) -> Text {
        let width = line::label_width(self.context.lang);
        let event = line::render(self.context, &Entry { fields: line.fields.clone() }, width);
        Text::join([format!("{:>7}", line.number).into(), event], "  ")
    }

    /// Both lines exactly as they are written, since every character may matter.
    fn finding(&self, finding: &Finding) -> Fields {
        let lang = self.context.lang;
        let mut fields = Fields::default();
        let (expected, found) = match finding {
            Finding::Changed { expected, found, .. } => (Some(expected), Some(found)),
            Finding::Missing { expected, found } => (Some(expected), found.as_ref()),
            Finding::Unexpected { found } => (None, Some(found)),
        };
        let expected = expected.map(|record| Value::Object(record_fields(record)).to_string());
        let found = match found {
            Some(line) => event_json(line),
            None => words::end_of_timeline(lang),
        };
        fields.add(words::label_expected(lang), Cell::new(or_dash(expected)).tone(Tone::Good));
        fields.add(words::label_found(lang), Cell::new(found).tone(Tone::Bad));
        if let Finding::Changed { fields: names, .. } = finding {
            fields.add(words::label_differs(lang), names.join(", "));
        }
        fields
    }

    fn add_state(&self, state: &Snapshot, fields: &mut Fields) {
        let Some(workflow) = &state.workflow else { return };
        status::add_state(self.context, workflow, state.looping.as_ref(), fields);
        let stages = workflow.stages.iter().map(|stage| Cell::new(stage_line(stage)));
        fields.add_lines(cli::label_stages(self.context.lang), stages.collect());
        if !workflow.active_agents.is_empty() {
            let slots: Vec<_> = workflow.active_agents.iter().map(|agent| agent.slot.as_str()).collect();
            fields.add(cli::label_agents(self.context.lang), slots.join(", "));
        }
    }

    fn lines(&self, outcome: &ReplayOutcome) -> String {
        let (lang, summary) = (self.context.lang, &outcome.summary);
        match outcome.args.until {
            _ if outcome.differences > 0 && !outcome.args.all => words::stopped_at(lang, summary.lines),
            Some(until) => words::lines_until(lang, summary.lines, summary.workflows, until),
            None => words::lines(lang, summary.lines, summary.workflows),
        }
    }

    fn given(&self, outcome: &ReplayOutcome) -> String {
        let given = &outcome.summary.external;
        let counts: Vec<_> = given.iter().map(|(name, count)| format!("{name} {count}")).collect();
        if counts.is_empty() { words::given_nothing(self.context.lang) } else { counts.join(", ") }
    }

    fn add_skipped(&self, outcome: &ReplayOutcome, fields: &mut Fields) {
        let (lang, summary) = (self.context.lang, &outcome.summary);
        if summary.skipped.is_empty() {
            return;
        }
        let named = summary.skipped.iter().take(MAX_LISTED).map(|skipped| self.skipped(skipped));
        let mut lines: Vec<_> = named.map(|text| Cell::new(text).tone(Tone::Warning)).collect();
        let hidden = summary.skipped_count.saturating_sub(lines.len() as u64);
        if hidden > 0 {
            lines.push(Cell::new(words::more_skipped(lang, hidden)));
        }
        fields.add_lines(words::label_skipped(lang), lines);
    }

    fn skipped(&self, skipped: &SkippedLine) -> String {
        match &skipped.reason {
            SkipReason::Unreadable => words::unreadable(self.context.lang, skipped.number),
            SkipReason::Unknown(name) => {
                let name: String = name.chars().take(80).collect();
                words::unknown_type(self.context.lang, skipped.number, &name)
            }
        }
    }

    fn add_stored(&self, stored: &StoredState, fields: &mut Fields) {
        let lang = self.context.lang;
        let lines = match stored {
            StoredState::Absent => return,
            StoredState::Same => vec![Cell::new(words::stored_same(lang)).tone(Tone::Good)],
            StoredState::Incomplete => vec![Cell::new(words::stored_unsure(lang))],
            StoredState::MovedOn => vec![Cell::new(words::stored_moved_on(lang))],
            StoredState::Broken(problem) => {
                vec![Cell::new(words::stored_broken(lang, problem)).tone(Tone::Warning)]
            }
            StoredState::Different(mismatches) => mismatches
                .iter()
                .map(|m| {
                    words::stored_differs(lang, &m.name, dash_if_empty(&m.replayed), dash_if_empty(&m.stored))
                })
                .map(|text| Cell::new(text).tone(Tone::Bad))
                .collect(),
        };
        fields.add_lines(words::label_stored(lang), lines);
    }

    fn result(&self, outcome: &ReplayOutcome) -> Cell {
        let lang = self.context.lang;
        let stored = match &outcome.stored {
            StoredState::Different(mismatches) => mismatches.len() as u64,
            _ => 0,
        };
        match outcome.differences + stored {
            0 => Cell::new(words::no_difference(lang)).tone(Tone::Good),
            count => Cell::new(words::differences(lang, count)).tone(Tone::Bad),
        }
    }
}

fn event_json(line: &Line) -> String {
    Value::Object(line.fields.clone()).to_string()
}

/// `TEST:2  completed · fail · 2×`.
fn stage_line(stage: &StageState) -> String {
    let result = stage.result.as_ref().map(|result: &StageResult| format!(" · {}", result.as_str()));
    let (key, status) = (stage.key.to_string(), stage.status.key());
    format!("{key:<10} {status}{} · {}×", result.unwrap_or_default(), stage.attempts)
}

fn dash_if_empty(value: &str) -> &str {
    if value.is_empty() { "–" } else { value }
}
