//! `overtone statusline`: prints the status line for the client, which starts it on every change. On any error the line is
//! empty and the exit code 0, because an error message in the status line helps nobody.

mod input;
mod parts;
pub(crate) mod rows;
mod state;

use std::env;
use std::io::{self, Write};
use std::panic;

use overtone_claude::Environment;
use overtone_core::economy::{Cost, price_tag};
use overtone_core::engine::state::{ActiveAgent, Millis, Status, WorkflowState};
use overtone_core::engine::text::duration;
use overtone_core::messages::{Lang, cli, stage_name};
use overtone_session::evidence::checks::RunningCheck;
use overtone_session::view::Condition;
use overtone_store::clock;

use crate::ansi::{Palette, Printable, Text, Tone};
use input::Input;
use parts::{Part, Parts, Weight};
use state::State;

/// The use of the context, in percent, from which it is shown as a warning.
const CONTEXT_WARNING: u32 = 70;
/// The use of the context, in percent, from which it is shown as an error.
const CONTEXT_CRITICAL: u32 = 90;

/// How many columns the client leaves free on either side of the line.
const MARGIN: usize = 2;

pub(crate) fn run(environment: &Environment) {
    print(&or_default(|| render(environment)).terminal_text());
}

/// Prints the line. If the client has closed the pipe, there is nobody to report it to.
fn print(line: &str) {
    let mut stdout = io::stdout().lock();
    let _ = stdout
        .write_all(line.as_bytes())
        .and_then(|()| stdout.write_all(b"\n"))
        .and_then(|()| stdout.flush());
}

/// The result of `run`, or the default if it returns `None` or panics.
fn or_default<T: Default>(run: impl FnOnce() -> Option<T> + panic::UnwindSafe) -> T {
    panic::set_hook(Box::new(|_| ()));
    match panic::catch_unwind(run) {
        Ok(Some(value)) => value,
        Ok(None) | Err(_) => T::default(),
    }
}

/// Returns `None` if the payload or the state cannot be read.
fn render(environment: &Environment) -> Option<Text> {
    let input = Input::read()?;
    let state = State::load(environment, &input)?;
    Some(parts(&input, &state, clock::now()).render(Palette::for_client(), columns()))
}

/// The width of the line without the margins. `None` if the client does not say how wide the terminal is.
fn columns() -> Option<usize> {
    let columns: usize = env::var("COLUMNS").ok()?.trim().parse().ok()?;
    columns.checked_sub(2 * MARGIN).filter(|width| *width > 0)
}

/// The parts of the line from left to right. Parts with a low weight are dropped first when the line is too long.
fn parts(input: &Input, state: &State, now: Millis) -> Parts {
    let mut parts = Parts::default();
    match &state.workflow {
        Some(workflow) => {
            parts.add(Weight::Workflow, Part::new(&workflow.workflow_type).tone(Tone::Strong));
            parts.add(Weight::Stage, stage(state.lang, workflow, state.condition(workflow)));
            parts.add_some(Weight::Check, state.running_check.as_ref().map(|check| check_part(check, now)));
            parts.add_some(Weight::Agents, agents(workflow, now));
        }
        None => parts.add_some(Weight::Model, input.model().map(Part::new)),
    }
    if let Some(used) = input.context_percent() {
        parts.add(Weight::Context, Part::new(&format!("ctx {used}%")).tone(context_tone(used)));
    }
    parts.add_some(Weight::Cost, cost_part(input.cost(), state.workflow_cost.as_ref()));
    if state.compactions > 0 {
        parts.add(Weight::Compactions, Part::new(&format!("⟲ {}", state.compactions)));
    }
    parts
}

/// What the client says the session has cost, and what the workflow has: `$1.24 (▶ $0.80)`.
fn cost_part(session: Option<f64>, workflow: Option<&Cost>) -> Option<Part> {
    let workflow = workflow.filter(|cost| cost.usd > 0.0).map(price_tag);
    let session = session.map(|usd| format!("${usd:.2}"));
    let text = match (session, workflow) {
        (Some(session), Some(workflow)) => format!("{session} (▶ {workflow})"),
        (Some(session), None) => session,
        (None, Some(workflow)) => format!("▶ {workflow}"),
        (None, None) => return None,
    };
    Some(Part::new(&text))
}

/// The stages at work, else the next one, or why nothing is done; then how many stages are done.
fn stage(lang: Lang, workflow: &WorkflowState, condition: Condition) -> Part {
    let progress = format!("{}/{}", workflow.resolved_count(), workflow.stages.len());
    let (text, tone) = match condition {
        Condition::Running => (format!("▶ {}", stage_names(lang, workflow)), Tone::Plain),
        Condition::Finished => (format!("✅ {}", cli::state_finished(lang)), Tone::Good),
        Condition::Completed => (format!("✅ {}", cli::state_completed(lang)), Tone::Good),
        Condition::Stopped | Condition::Paused | Condition::SessionEnded => {
            (format!("⏸ {}", cli::state_paused(lang)), Tone::Warning)
        }
        Condition::NeedsUser => (format!("✋ {}", cli::state_needs_you(lang)), Tone::Bad),
        Condition::Moved => (moved(lang, workflow), Tone::Warning),
    };
    Part::new(&format!("{text} {progress}")).tone(tone)
}

fn moved(lang: Lang, workflow: &WorkflowState) -> String {
    format!("⇢ {}", cli::state_moved(lang, workflow.moved_to.as_deref().unwrap_or_default()))
}

fn stage_names(lang: Lang, workflow: &WorkflowState) -> String {
    let active = workflow.stages.iter().filter(|stage| stage.status == Status::Active);
    let names: Vec<_> = active.map(|stage| stage_name(lang, stage.key.stage)).collect();
    match workflow.current_stage {
        Some(key) if names.is_empty() => stage_name(lang, key.stage),
        _ => names.join(" + "),
    }
}

/// The check that runs now. The agent waits for it.
fn check_part(check: &RunningCheck, now: Millis) -> Part {
    Part::new(&format!("🧾 {} {}", check.name, duration(now.since(check.started_at)))).tone(Tone::Warning)
}

fn agents(workflow: &WorkflowState, now: Millis) -> Option<Part> {
    let describe = |agent: &ActiveAgent| match agent.started_at {
        Some(at) => format!("{} {}", agent.name(), duration(now.since(at))),
        None => agent.name().to_owned(),
    };
    let agents: Vec<_> = workflow.active_agents.iter().map(describe).collect();
    if agents.is_empty() { None } else { Some(Part::new(&agents.join(", "))) }
}

const fn context_tone(percent: u32) -> Tone {
    match percent {
        CONTEXT_CRITICAL.. => Tone::Bad,
        CONTEXT_WARNING.. => Tone::Warning,
        _ => Tone::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use overtone_core::registry::Workflow;

    #[test]
    fn the_stage_shows_what_is_at_work_or_why_nothing_is() {
        let mut workflow = WorkflowState::new("s", Workflow::Quick, None, Millis(0));
        let text =
            |workflow: &WorkflowState, condition| stage(Lang::En, workflow, condition).text().to_owned();
        assert_eq!(text(&workflow, Condition::Running), "▶ 💻 Development 0/5");
        workflow.stages[1].status = Status::Active;
        workflow.stages[2].status = Status::Active;
        assert_eq!(text(&workflow, Condition::Running), "▶ 🔍 Review + 🧪 Test 0/5");
        for paused in [Condition::Stopped, Condition::Paused, Condition::SessionEnded] {
            assert_eq!(text(&workflow, paused), "⏸ paused 0/5");
        }
        assert_eq!(text(&workflow, Condition::NeedsUser), "✋ waiting for you 0/5");
        assert_eq!(text(&workflow, Condition::Finished), "✅ finished 0/5");
        assert_eq!(text(&workflow, Condition::Completed), "✅ completed 0/5");
        workflow.moved_to = Some("workshop".to_owned());
        assert_eq!(text(&workflow, Condition::Moved), "⇢ moved to workshop 0/5");
    }

    #[test]
    fn the_cost_of_the_workflow_is_beside_that_of_the_session() {
        let text = |session, workflow: Option<f64>| {
            let cost = workflow.map(|usd| Cost { usd, unpriced_tokens: 0 });
            cost_part(session, cost.as_ref()).map(|part| part.text().to_owned())
        };
        assert_eq!(text(Some(1.239), Some(0.8)).as_deref(), Some("$1.24 (▶ $0.80)"));
        assert_eq!(text(Some(1.239), Some(0.0)).as_deref(), Some("$1.24"));
        assert_eq!(text(None, Some(2.0)).as_deref(), Some("▶ $2.00"));
        assert_eq!(text(None, None), None);
    }

    #[test]
    fn the_context_is_highlighted_from_seventy_and_ninety_percent() {
        assert_eq!(
            [context_tone(69), context_tone(70), context_tone(89), context_tone(90)],
            [Tone::Plain, Tone::Warning, Tone::Warning, Tone::Bad]
        );
    }
}
