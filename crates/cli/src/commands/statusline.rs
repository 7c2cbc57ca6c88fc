//! `overtone statusline`: one line for the client, which starts it at every change. Whatever is wrong, the line is
//! empty and the exit code 0: nothing is gained by an error message down there.

mod input;
mod parts;
pub(crate) mod rows;
mod state;

use std::env;
use std::panic;

use overtone_engine::state::{ActiveAgent, Millis, Status, WorkflowState};
use overtone_engine::text::duration;
use overtone_hooks::Environment;
use overtone_messages::{Lang, cli as words, stage_name};
use overtone_store::clock;
use overtone_view::Condition;

use crate::ui::out;
use crate::ui::style::{Palette, Tone};
use crate::ui::text::Text;
use input::Input;
use parts::{Part, Parts, Weight};
use state::State;

/// From these per cent on, the use of the context is a warning.
const FULL: u32 = 70;
const VERY_FULL: u32 = 90;

/// What the client leaves free on either side of the line.
const MARGIN: usize = 2;

pub(crate) fn run(environment: &Environment) {
    out::answer(&guarded(|| line(environment)));
}

/// What comes out of it, and nothing for anything that goes wrong.
fn guarded<T: Default>(make: impl FnOnce() -> Option<T> + panic::UnwindSafe) -> T {
    panic::set_hook(Box::new(|_| ()));
    panic::catch_unwind(make).ok().flatten().unwrap_or_default()
}

/// `None` when anything is not as it should be.
fn line(environment: &Environment) -> Option<Text> {
    let input = Input::read()?;
    let state = State::load(environment, &input)?;
    Some(parts(&input, &state, clock::now()).render(Palette::for_client(), columns()))
}

/// How much room the client says that there is, between the margins of two columns that it leaves.
fn columns() -> Option<usize> {
    let columns: usize = env::var("COLUMNS").ok()?.trim().parse().ok()?;
    columns.checked_sub(2 * MARGIN).filter(|room| *room > 0)
}

/// From left to right, each with its weight when there is too little room.
fn parts(input: &Input, state: &State, now: Millis) -> Parts {
    let mut parts = Parts::default();
    match &state.workflow {
        Some(workflow) => {
            parts.add(Weight::Workflow, Part::new(&workflow.workflow_type).tone(Tone::Strong));
            parts.add(Weight::Stage, stage(state.lang, workflow, state.condition(workflow)));
            parts.extend(Weight::Agents, agents(workflow, now));
        }
        None => parts.extend(Weight::Model, input.model().map(Part::new)),
    }
    let context = input.context_percent();
    parts.extend(Weight::Context, context.map(|used| Part::new(&format!("ctx {used}%")).tone(tone(used))));
    parts.extend(Weight::Cost, input.cost().map(|dollars| Part::new(&format!("${dollars:.2}"))));
    let compacted = (state.compactions > 0).then(|| Part::new(&format!("⟲ {}", state.compactions)));
    parts.extend(Weight::Compactions, compacted);
    parts
}

/// What is being worked on, else what comes next, or why nothing is being done; and how far it is.
fn stage(lang: Lang, workflow: &WorkflowState, condition: Condition) -> Part {
    let progress = format!("{}/{}", workflow.resolved_count(), workflow.stages.len());
    let (text, tone) = match condition {
        Condition::Running => (format!("▶ {}", stage_names(lang, workflow)), Tone::Plain),
        Condition::Finished => (format!("✅ {}", words::state_finished(lang)), Tone::Good),
        Condition::Completed => (format!("✅ {}", words::state_completed(lang)), Tone::Good),
        Condition::Stopped | Condition::Paused | Condition::SessionEnded => {
            (format!("⏸ {}", words::state_paused(lang)), Tone::Warning)
        }
        Condition::NeedsUser => (format!("✋ {}", words::state_needs_you(lang)), Tone::Bad),
        Condition::Moved => (moved(lang, workflow), Tone::Warning),
    };
    Part::new(&format!("{text} {progress}")).tone(tone)
}

fn moved(lang: Lang, workflow: &WorkflowState) -> String {
    format!("⇢ {}", words::state_moved(lang, workflow.moved_to.as_deref().unwrap_or_default()))
}

fn stage_names(lang: Lang, workflow: &WorkflowState) -> String {
    let active = workflow.stages.iter().filter(|stage| stage.status == Status::Active);
    let names: Vec<_> = active.map(|stage| stage_name(lang, stage.key.stage)).collect();
    match workflow.current_stage {
        Some(key) if names.is_empty() => stage_name(lang, key.stage),
        _ => names.join(" + "),
    }
}

fn agents(workflow: &WorkflowState, now: Millis) -> Option<Part> {
    let shown = |agent: &ActiveAgent| {
        let since = agent.started_at.map(|at| format!(" {}", duration(now.since(at))));
        format!("{}{}", agent.name(), since.unwrap_or_default())
    };
    let agents: Vec<_> = workflow.active_agents.iter().map(shown).collect();
    (!agents.is_empty()).then(|| Part::new(&agents.join(", ")))
}

const fn tone(percent: u32) -> Tone {
    match percent {
        VERY_FULL.. => Tone::Bad,
        FULL.. => Tone::Warning,
        _ => Tone::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use overtone_registry::Workflow;

    #[test]
    fn the_stage_is_what_is_worked_on_or_why_nothing_is() {
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
        assert_eq!(text(&workflow, Condition::NeedsUser), "✋ waits for you 0/5");
        assert_eq!(text(&workflow, Condition::Finished), "✅ finished 0/5");
        assert_eq!(text(&workflow, Condition::Completed), "✅ completed 0/5");
        workflow.moved_to = Some("workshop".to_owned());
        assert_eq!(text(&workflow, Condition::Moved), "⇢ moved to workshop 0/5");
    }

    #[test]
    fn warnings_begin_at_seventy_and_ninety() {
        assert_eq!(
            [tone(69), tone(70), tone(89), tone(90)],
            [Tone::Plain, Tone::Warning, Tone::Warning, Tone::Bad]
        );
    }
}
