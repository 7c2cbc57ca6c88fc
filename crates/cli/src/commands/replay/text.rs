//! A replay in words.

use overtone_engine::Snapshot;
use overtone_engine::state::{StageResult, StageState};
use overtone_messages::{cli, replay as words};
use overtone_replay::{Difference, Finding, Line, Skipped, Why, fields_of};
use overtone_store::timeline::Entry;
use serde_json::Value;

use super::stored::Stored;
use super::{Ending, Teller};
use crate::commands::status;
use crate::commands::timeline::line;
use crate::context::Context;
use crate::ui::error::Done;
use crate::ui::out;
use crate::ui::style::Tone;
use crate::ui::table::{Cell, Fields};
use crate::ui::text::Text as Shown;

/// How many of the lines that were passed over are named.
const NAMED: usize = 10;

pub(super) struct Text<'a> {
    pub(super) context: &'a Context,
}

impl Teller for Text<'_> {
    fn difference(&mut self, difference: &Difference) -> Done {
        let context = self.context;
        let mut lines = vec![context.palette.paint(Tone::Bad, &title(context, difference))];
        lines.extend(difference.before.iter().map(|line| self.line(line)));
        let mut fields = self.finding(&difference.finding);
        self.add_state(&difference.state, &mut fields);
        lines.push(fields.render(context.palette));
        out::print(&(Shown::join(lines, "\n") + "\n"))
    }

    fn end(&mut self, ending: &Ending) -> Done {
        let lang = self.context.lang;
        let mut fields = Fields::default();
        fields.add(words::label_timeline(lang), ending.source.name.as_str());
        fields.add(words::label_lines(lang), self.lines(ending));
        fields.add(words::label_given(lang), self.given(ending));
        self.add_skipped(ending, &mut fields);
        if let Some(version) = &ending.summary.recorded_by {
            let text = words::recorded_by(lang, version, self.context.environment.version);
            fields.add(words::label_recorded_by(lang), text);
        }
        if ending.differences == 0 {
            self.add_state(&ending.state, &mut fields);
        }
        self.add_stored(&ending.stored, &mut fields);
        fields.add(words::label_result(lang), self.result(ending));
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

impl Text<'_> {
    fn line(&self, line: &Line) -> Shown {
        let width = line::label_width(self.context.lang);
        let event = line::render(self.context, &Entry { fields: line.fields.clone() }, width);
        Shown::join([format!("{:>7}", line.number).into(), event], "  ")
    }

    /// The two lines side by side as they are written: here every character may matter.
    fn finding(&self, finding: &Finding) -> Fields {
        let lang = self.context.lang;
        let mut fields = Fields::default();
        let (expected, found) = match finding {
            Finding::Changed { expected, found, .. } => (Some(expected), Some(found)),
            Finding::Missing { expected, found } => (Some(expected), found.as_ref()),
            Finding::Unexpected { found } => (None, Some(found)),
        };
        let expected =
            expected.map_or_else(|| "–".to_owned(), |record| Value::Object(fields_of(record)).to_string());
        let found = found.map_or_else(|| words::end_of_timeline(lang), as_recorded);
        fields.add(words::label_expected(lang), Cell::new(expected).tone(Tone::Good));
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

    fn lines(&self, ending: &Ending) -> String {
        let (lang, summary) = (self.context.lang, &ending.summary);
        match ending.args.until {
            _ if ending.differences > 0 && !ending.args.all => words::stopped_at(lang, summary.lines),
            Some(until) => words::lines_until(lang, summary.lines, summary.workflows, until),
            None => words::lines(lang, summary.lines, summary.workflows),
        }
    }

    fn given(&self, ending: &Ending) -> String {
        let given = &ending.summary.given;
        let counts: Vec<_> = given.iter().map(|(name, count)| format!("{name} {count}")).collect();
        if counts.is_empty() { words::given_nothing(self.context.lang) } else { counts.join(", ") }
    }

    fn add_skipped(&self, ending: &Ending, fields: &mut Fields) {
        let (lang, summary) = (self.context.lang, &ending.summary);
        if summary.skipped.is_empty() {
            return;
        }
        let named = summary.skipped.iter().take(NAMED).map(|skipped| self.skipped(skipped));
        let mut lines: Vec<_> = named.map(|text| Cell::new(text).tone(Tone::Warning)).collect();
        let hidden = summary.skipped_count.saturating_sub(lines.len() as u64);
        if hidden > 0 {
            lines.push(Cell::new(words::more_skipped(lang, hidden)));
        }
        fields.add_lines(words::label_skipped(lang), lines);
    }

    fn skipped(&self, skipped: &Skipped) -> String {
        match &skipped.why {
            Why::Unreadable => words::unreadable(self.context.lang, skipped.number),
            Why::Unknown(name) => {
                let name: String = name.chars().take(80).collect();
                words::unknown_type(self.context.lang, skipped.number, &name)
            }
        }
    }

    fn add_stored(&self, stored: &Stored, fields: &mut Fields) {
        let lang = self.context.lang;
        let lines = match stored {
            Stored::Absent => return,
            Stored::Same => vec![Cell::new(words::stored_same(lang)).tone(Tone::Good)],
            Stored::Unsure => vec![Cell::new(words::stored_unsure(lang))],
            Stored::MovedOn => vec![Cell::new(words::stored_moved_on(lang))],
            Stored::Broken(problem) => {
                vec![Cell::new(words::stored_broken(lang, problem)).tone(Tone::Warning)]
            }
            Stored::Different(mismatches) => mismatches
                .iter()
                .map(|m| words::stored_differs(lang, &m.name, shown(&m.replayed), shown(&m.stored)))
                .map(|text| Cell::new(text).tone(Tone::Bad))
                .collect(),
        };
        fields.add_lines(words::label_stored(lang), lines);
    }

    fn result(&self, ending: &Ending) -> Cell {
        let lang = self.context.lang;
        let stored = match &ending.stored {
            Stored::Different(mismatches) => mismatches.len() as u64,
            _ => 0,
        };
        match ending.differences + stored {
            0 => Cell::new(words::no_difference(lang)).tone(Tone::Good),
            count => Cell::new(words::differences(lang, count)).tone(Tone::Bad),
        }
    }
}

fn as_recorded(line: &Line) -> String {
    Value::Object(line.fields.clone()).to_string()
}

/// `TEST:2  completed · fail · 2×`.
fn stage_line(stage: &StageState) -> String {
    let result = stage.result.as_ref().map(|result: &StageResult| format!(" · {}", result.text()));
    let (key, status) = (stage.key.to_string(), stage.status.key());
    format!("{key:<10} {status}{} · {}×", result.unwrap_or_default(), stage.attempts)
}

fn shown(value: &str) -> &str {
    if value.is_empty() { "–" } else { value }
}
