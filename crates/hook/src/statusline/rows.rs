//! `overtone subagent-statusline`: the rows of the client's list of agents, for its `subagentStatusLine` setting.
//!
//! The client sends all rows at once. The answer has one object `{"id", "content"}` per line for each row to replace: those
//! of the workflow's agents, which are recognised by their id. Other rows stay as they are.

use overtone_claude::Environment;
use overtone_core::engine::state::{ActiveAgent, WorkflowState};
use overtone_core::engine::text::{duration, escaped_json, printable};
use overtone_core::messages::{Lang, stage_name};
use overtone_store::clock;
use serde_json::{Value, json};

use super::input::Input;
use super::parts::cut;
use super::state::State;

pub(crate) fn run(environment: &Environment) {
    super::print(&escaped_json(&super::or_default(|| rows(environment))));
}

fn rows(environment: &Environment) -> Option<String> {
    let input = Input::read()?;
    let state = State::load(environment, &input)?;
    let (workflow, columns) = (state.workflow?, input.columns().unwrap_or(usize::MAX));
    let lines = input.tasks().iter().filter_map(|task| {
        let content = content(state.lang, &workflow, task)?;
        Some(json!({ "id": task["id"], "content": cut(&content, columns) }).to_string())
    });
    Some(lines.collect::<Vec<_>>().join("\n"))
}

/// `🧪 Test (tester) · try 2 · 1m 05s · 12.3k · run the login tests`.
fn content(lang: Lang, workflow: &WorkflowState, task: &Value) -> Option<String> {
    let id = task["id"].as_str()?;
    let agent = workflow.active_agents.iter().find(|agent| agent.agent_id.as_deref() == Some(id))?;
    let mut parts = vec![title(lang, agent)];
    parts.extend(attempt(workflow, agent));
    parts.extend(agent.started_at.map(|at| duration(clock::now().since(at))));
    parts.extend(task["tokenCount"].as_u64().filter(|count| *count > 0).map(tokens));
    parts.extend(task["description"].as_str().filter(|text| !text.is_empty()).map(str::to_owned));
    Some(printable(&parts.join(" · ")).into_owned())
}

fn title(lang: Lang, agent: &ActiveAgent) -> String {
    match agent.stage {
        Some(key) => format!("{} ({})", stage_name(lang, key.stage), agent.name()),
        None => agent.name().to_owned(),
    }
}

/// The number of the attempt, from the second on.
fn attempt(workflow: &WorkflowState, agent: &ActiveAgent) -> Option<String> {
    let attempts = workflow.stage(agent.stage?)?.attempts;
    if attempts > 1 { Some(format!("#{attempts}")) } else { None }
}

/// `512`, `12.3k`.
#[allow(clippy::cast_precision_loss, reason = "shown with one decimal")]
fn tokens(count: u64) -> String {
    if count < 1_000 { format!("↓ {count}") } else { format!("↓ {:.1}k", count as f64 / 1e3) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use overtone_core::engine::state::Millis;
    use overtone_core::registry::Workflow;

    #[test]
    fn only_agents_of_the_workflow_get_a_row() {
        let mut workflow = WorkflowState::new("s", Workflow::Quick, None, Millis(0));
        workflow.stages[2].attempts = 2;
        workflow.active_agents.push(ActiveAgent {
            slot: "tester".to_owned(),
            stage: Some(workflow.stages[2].key),
            agent_id: Some("a1".to_owned()),
            ..ActiveAgent::default()
        });
        let row = |id: &str| {
            let task = json!({ "id": id, "description": "run\nthem", "tokenCount": 12_345 });
            content(Lang::En, &workflow, &task)
        };
        assert_eq!(row("a1").as_deref(), Some("🧪 Test (tester) · #2 · ↓ 12.3k · run them"));
        assert_eq!(row("a2"), None);
    }
}
