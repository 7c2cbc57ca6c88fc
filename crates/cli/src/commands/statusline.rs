//! `overtone statusline`: one line for the client, which starts it at every change. Whatever is wrong, the line is
//! empty and the exit code 0: nothing is gained by an error message down there.

use std::io::{self, Write};
use std::panic;

use overtone_engine::state::{Ending, Status, WorkflowState};
use overtone_hooks::Environment;
use overtone_messages::{Lang, cli as words, stage_name};
use overtone_store::config::Config;
use overtone_store::{Session, SessionId};
use serde_json::Value;

use crate::ui::style::{Palette, Tone};
use crate::ui::terminal;

/// From these per cent on, the use of the context is a warning.
const FULL: u32 = 70;
const VERY_FULL: u32 = 90;

pub(crate) fn run(environment: &Environment) {
    panic::set_hook(Box::new(|_| ()));
    let line = panic::catch_unwind(|| line(environment)).ok().flatten().unwrap_or_default();
    // A client that does not listen cannot be helped.
    let _ = io::stdout().write_all(format!("{line}\n").as_bytes());
}

/// `None` when anything is not as it should be.
fn line(environment: &Environment) -> Option<String> {
    if terminal::stdin_is_terminal() {
        return None;
    }
    let bytes = overtone_hooks::read_stdin()?;
    let input: Value = serde_json::from_slice(&bytes).ok().filter(Value::is_object)?;
    let (percent, cost) = (used_percent(&input), cost(&input));
    let state = State::load(environment, &input, percent)?;
    let palette = Palette::for_client();
    let mut parts = Vec::new();
    if let Some(workflow) = &state.workflow {
        parts.push(palette.paint(Tone::Strong, &progress(workflow)));
        parts.push(stage(state.lang, workflow));
        parts.extend(agents(workflow));
    }
    parts.extend(percent.map(|percent| palette.paint(tone(percent), &format!("ctx {percent}%"))));
    parts.extend(cost.map(|dollars| format!("${dollars:.2}")));
    parts.extend((state.compactions > 0).then(|| format!("⟲ {}", state.compactions)));
    Some(parts.join(" · "))
}

/// What is on disk about the session.
#[derive(Default)]
struct State {
    lang: Lang,
    workflow: Option<WorkflowState>,
    compactions: u32,
}

impl State {
    /// Also notes the use of the context, which hooks are not told. `None` when the state is broken.
    fn load(environment: &Environment, input: &Value, percent: Option<u32>) -> Option<Self> {
        let id = input["session_id"].as_str().and_then(SessionId::parse);
        let Some((home, id)) = environment.home.as_ref().zip(id) else { return Some(Self::default()) };
        let session: Session = home.session(&id);
        if let Some(percent) = percent {
            // A lock that is held costs one reading; the next one comes soon.
            let _ = session.note_context_percent(percent);
        }
        let made = session.compactions();
        Some(Self {
            lang: environment.lang().unwrap_or_else(|| Config::load_or_default(home).language()),
            workflow: session.workflow().ok()?.map(|document| document.state),
            compactions: made.automatic.saturating_add(made.manual),
        })
    }
}

fn progress(workflow: &WorkflowState) -> String {
    let name = one_line(&workflow.workflow_type);
    format!("{name} {}/{}", workflow.resolved_count(), workflow.stages.len())
}

/// What is being worked on, else what comes next, or how it ended.
fn stage(lang: Lang, workflow: &WorkflowState) -> String {
    match workflow.ending {
        Some(Ending::Completed) => return format!("✅ {}", words::state_completed(lang)),
        Some(Ending::Aborted) => return format!("⛔ {}", words::state_aborted(lang)),
        None => {}
    }
    let active = workflow.stages.iter().filter(|stage| stage.status == Status::Active);
    let names: Vec<_> = active.map(|stage| stage_name(lang, stage.key.stage)).collect();
    match workflow.current_stage {
        Some(key) if names.is_empty() => stage_name(lang, key.stage),
        _ => names.join(" + "),
    }
}

fn agents(workflow: &WorkflowState) -> Option<String> {
    let names: Vec<_> = workflow.active_agents.iter().map(|agent| one_line(agent.name())).collect();
    (!names.is_empty()).then(|| format!("▶ {}", names.join(", ")))
}

/// Names from the state file may be another version's.
fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

const fn tone(percent: u32) -> Tone {
    match percent {
        VERY_FULL.. => Tone::Bad,
        FULL.. => Tone::Warning,
        _ => Tone::Plain,
    }
}

fn used_percent(input: &Value) -> Option<u32> {
    let percent = input["context_window"]["used_percentage"].as_f64()?;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0..=100")]
    Some(percent.round().clamp(0.0, 100.0) as u32)
}

fn cost(input: &Value) -> Option<f64> {
    input["cost"]["total_cost_usd"].as_f64().filter(|dollars| *dollars > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use overtone_engine::state::Millis;
    use overtone_registry::Workflow;

    #[test]
    fn the_stage_is_what_is_worked_on() {
        let mut workflow = WorkflowState::new("s", Workflow::Quick, None, Millis(0));
        assert_eq!(progress(&workflow), "quick 0/5");
        assert_eq!(stage(Lang::En, &workflow), "💻 Development");
        workflow.stages[1].status = Status::Active;
        workflow.stages[2].status = Status::Active;
        assert_eq!(stage(Lang::En, &workflow), "🔍 Review + 🧪 Test");
        workflow.ending = Some(Ending::Completed);
        assert!(stage(Lang::En, &workflow).starts_with('✅'));
    }

    #[test]
    fn warnings_begin_at_seventy_and_ninety() {
        assert_eq!(
            [tone(69), tone(70), tone(89), tone(90)],
            [Tone::Plain, Tone::Warning, Tone::Warning, Tone::Bad]
        );
    }

    #[test]
    fn odd_numbers_are_taken_calmly() {
        let of = |text: &str| used_percent(&serde_json::from_str(text).unwrap());
        assert_eq!(of(r#"{"context_window":{"used_percentage":42.6}}"#), Some(43));
        assert_eq!(of(r#"{"context_window":{"used_percentage":-3}}"#), Some(0));
        assert_eq!(of(r#"{"context_window":{"used_percentage":1e30}}"#), Some(100));
        assert_eq!(of(r#"{"context_window":{"used_percentage":null}}"#), None);
        assert_eq!(of(r#"{"context_window":7}"#), None);
    }
}
