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
    let stage = stage.or_else(|| agent.stage().map(StageKey::first));
    stage.map_or_else(|| "OTHER".to_owned(), |key| key.to_string())
}

/// The line that a handoff begins with.
pub(crate) fn handoff_head(stage: Option<StageKey>, agent: Agent, verdict: Option<Verdict>) -> String {
    let (title, result) = (handoff_title(stage, agent), verdict.map_or("none", Verdict::key));
    format!("<!-- stage: {title} · agent: {} · result: {result} -->\n\n", agent.name())
}
