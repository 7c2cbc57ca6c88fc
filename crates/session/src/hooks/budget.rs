//! The budget before a tool call: counts what the calling agent has used, and ends its work when a limit is reached.

use std::convert::Infallible;
use std::error::Error;
use std::path::{Path, PathBuf};

use overtone_claude::Environment;
use overtone_claude::process::is_called_by_other;
use overtone_claude::wire::HookInput;
use overtone_core::engine::state::WorkflowState;
use overtone_core::engine::{Facts, Reply, ToolCaller, Trigger, concerns_budget, decide};
use overtone_core::registry::{BudgetKind, Hook};
use overtone_store::config::Config;
use overtone_store::{Home, Session, clock, files};

use crate::hooks::limits::handle_file_size_signal;
use crate::hooks::update::{DocumentMode, update_session};
use crate::usage::{Caller, RecordContext, agent_conversation, record_call};

/// Whether the budget is checked by this hook: by one for each tool call. Reports are not kept from being delivered.
pub(crate) fn is_checked(hook: Hook, input: &HookInput) -> bool {
    match hook {
        Hook::PreTask | Hook::PreWrite | Hook::PreCommand | Hook::PreTool => true,
        // The other hook for shell commands checks them.
        Hook::AllowOwn => input.tool_name() == "Skill",
        _ => false,
    }
}

/// The answer that denies the call or ends the agent, because a limit is reached. `None` if there is nothing against the call.
pub(crate) fn check(
    hook: Hook,
    environment: &Environment,
    input: &HookInput,
    home: &Home,
    session: &Session,
) -> Result<Option<Reply>, Box<dyn Error>> {
    let Some(document) = session.load_workflow()?.document else { return Ok(None) };
    let workflow = &document.state;
    let (agent_id, agent_type) = (input.agent_id(), input.agent_type());
    let caller = ToolCaller::new(&agent_id, &agent_type);
    if !depends_on_budget(workflow, caller) || is_called_by_other(&document.clients()) {
        return Ok(None);
    }
    let config = Config::load_or_default(home);
    let record = RecordContext { session, workflow, now: clock::now() };
    let counted = match conversation(input) {
        Some(conversation) => {
            handle_file_size_signal();
            let who = match caller {
                ToolCaller::Main => Caller::Main,
                ToolCaller::Stage(_) | ToolCaller::Other(_) => {
                    Caller::Agent { id: &agent_id, kind: &agent_type }
                }
            };
            Some(record_call(&record, &conversation, &who, &input.tool_use_id())?)
        }
        None => None,
    };
    let message = counted.as_ref().and_then(|counted| counted.message.clone());
    let facts = Facts {
        now: record.now,
        lang: environment.lang().unwrap_or_else(|| config.language()),
        settings: config.settings(),
        helpers: session.helpers(),
        spent: counted.map(|counted| counted.spent.spending(&config.prices())),
        ..Facts::default()
    };
    let trigger = Trigger::CallingTool {
        caller,
        agent_id: &agent_id,
        message: message.as_deref(),
        starts_agent: hook == Hook::PreTask,
    };
    if !concerns_budget(workflow, &trigger, &facts) {
        return Ok(None);
    }
    let mut reply = Reply::default();
    update_session(home, session, None, DocumentMode::Update, |snapshot| {
        let outcome = decide(snapshot, &trigger, &facts);
        reply = outcome.reply.clone();
        Ok::<_, Infallible>(outcome)
    })?;
    let answers = reply.permission.is_some() || reply.end_turn.is_some();
    Ok(if answers { Some(reply) } else { None })
}

/// What the file of a workflow contains if its budget needs a look before every tool call.
const MARKS: [&str; 4] = ["\"usd\":", "\"tokens\":", "\"minutes\":", "\"reached\":"];

/// Whether the budget may have to be checked, from the text of the file alone: most workflows have only a limit on agents, and
/// verifying and parsing the file costs more than the rest of the hook.
pub(crate) fn may_depend_on_budget(input: &HookInput, session: &Session) -> bool {
    if matches!(ToolCaller::new(&input.agent_id(), &input.agent_type()), ToolCaller::Other(_)) {
        return session.has_workflow();
    }
    match files::read_small(&session.workflow_file()) {
        Ok(Some(text)) => MARKS.iter().any(|mark| text.contains(mark)),
        Ok(None) | Err(_) => false,
    }
}

/// Whether a limit may be reached by this call. Agents of the client's `Workflow` tool have started without a question.
fn depends_on_budget(workflow: &WorkflowState, caller: ToolCaller) -> bool {
    let budget = &workflow.budget;
    let is_counted = budget.limits.is_counted() || budget.reached.is_some();
    let has_agent_limit = budget.limits.workflow.get(BudgetKind::Agents).is_some();
    workflow.is_open() && (is_counted || (has_agent_limit && matches!(caller, ToolCaller::Other(_))))
}

/// The file with the conversation of the agent that makes the call.
fn conversation(input: &HookInput) -> Option<PathBuf> {
    let transcript = input.transcript_path();
    let (transcript, agent_id) = (Path::new(&*transcript), input.agent_id());
    if !transcript.is_absolute() {
        return None;
    }
    if agent_id.is_empty() { Some(transcript.to_owned()) } else { agent_conversation(transcript, &agent_id) }
}
