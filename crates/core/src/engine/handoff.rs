//! The files that keep the reports of agents: their names and their first line.

use crate::registry::{Agent, StageKey};

use crate::engine::state::{Verdict, WorkflowState};

/// The name of the next handoff: `handoffs/03-TEST-2-tester.md`.
pub(crate) fn next_handoff_file(
    workflow: &mut WorkflowState,
    stage: Option<StageKey>,
    agent: Agent,
) -> String {
    workflow.handoff_count += 1;
    let title = handoff_title(stage, agent).replace(':', "-");
    format!("handoffs/{:02}-{title}-{}.md", workflow.handoff_count, agent.name())
}

/// The number that a handoff's name begins with.
pub(crate) fn handoff_number(file: &str) -> Option<u32> {
    file.strip_prefix("handoffs/")?.split('-').next()?.parse().ok()
}

/// The stage in the title of a handoff. An agent without a stage in this workflow has the one that it is made for.
fn handoff_title(stage: Option<StageKey>, agent: Agent) -> String {
    match stage.or_else(|| agent.stage().map(StageKey::first)) {
        Some(key) => key.to_string(),
        None => "OTHER".to_owned(),
    }
}

/// The line that a handoff begins with.
pub(crate) fn handoff_head(stage: Option<StageKey>, agent: Agent, verdict: Option<Verdict>) -> String {
    let result = match verdict {
        Some(verdict) => verdict.key(),
        None => "none",
    };
    let title = handoff_title(stage, agent);
    format!("<!-- stage: {title} · agent: {} · result: {result} -->\n\n", agent.name())
}
