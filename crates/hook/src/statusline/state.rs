//! The state of the session on disk.

use overtone_claude::Environment;
use overtone_core::economy::Cost;
use overtone_core::engine::settings::Settings;
use overtone_core::engine::state::{LoopState, WorkflowState};
use overtone_core::messages::Lang;
use overtone_session::evidence::checks::{RunningCheck, running_check};
use overtone_session::view::Condition;
use overtone_store::config::Config;
use overtone_store::{Session, Usage};

use super::input::Input;

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) lang: Lang,
    pub(super) workflow: Option<WorkflowState>,
    looping: Option<LoopState>,
    settings: Settings,
    pub(super) compactions: u32,
    pub(super) running_check: Option<RunningCheck>,
    /// What the workflow has cost, as far as it was counted.
    pub(super) workflow_cost: Option<Cost>,
}

/// Rounds to cents, so that the stored cost does not change with every call.
fn to_cents(dollars: f64) -> f64 {
    (dollars * 100.0).round() / 100.0
}

impl State {
    /// Reads the state, and stores the use of the context and the cost, which hooks do not get from the client. Returns
    /// `None` if the state cannot be read.
    pub(super) fn load(environment: &Environment, input: &Input) -> Option<Self> {
        let (Some(home), Some(id)) = (&environment.home, input.session()) else {
            return Some(Self::default());
        };
        let session: Session = home.session(&id);
        let usage = Usage { context_percent: input.context_percent(), cost_usd: input.cost().map(to_cents) };
        if usage != Usage::default() {
            // If the lock is held, this value is lost. The next one comes soon.
            let _ = session.note_usage(usage);
        }
        let (compactions, config) = (session.compactions(), Config::load_or_default(home));
        let workflow = session.workflow().ok()?.map(|document| document.state);
        let running_check = match &workflow {
            Some(workflow) if workflow.is_open() => running_check(&session),
            _ => None,
        };
        let workflow_cost = workflow.as_ref().and_then(|workflow| {
            let spent = session.spent_since(workflow.created_at).total;
            if spent.is_empty() { None } else { Some(spent.cost(&config.prices())) }
        });
        Some(Self {
            lang: environment.lang().unwrap_or_else(|| config.language()),
            workflow,
            looping: session.looping().ok()?.map(|document| document.state),
            settings: config.settings(),
            compactions: compactions.automatic.saturating_add(compactions.manual),
            running_check,
            workflow_cost,
        })
    }

    pub(super) fn condition(&self, workflow: &WorkflowState) -> Condition {
        Condition::new(workflow, self.looping.as_ref(), &self.settings)
    }
}
