//! What is on disk about the session.

use overtone_engine::settings::Settings;
use overtone_engine::state::{LoopState, WorkflowState};
use overtone_hooks::Environment;
use overtone_messages::Lang;
use overtone_store::config::Config;
use overtone_store::{Session, Usage};
use overtone_view::Condition;

use super::input::Input;

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) lang: Lang,
    pub(super) workflow: Option<WorkflowState>,
    looping: Option<LoopState>,
    settings: Settings,
    pub(super) compactions: u32,
}

/// Less would be written at every reading.
fn to_cents(dollars: f64) -> f64 {
    (dollars * 100.0).round() / 100.0
}

impl State {
    /// Also notes the use of the context, which hooks are not told. `None` when the state is broken.
    pub(super) fn load(environment: &Environment, input: &Input) -> Option<Self> {
        let Some((home, id)) = environment.home.as_ref().zip(input.session()) else {
            return Some(Self::default());
        };
        let session: Session = home.session(&id);
        let usage = Usage { context_percent: input.context_percent(), cost_usd: input.cost().map(to_cents) };
        if usage != Usage::default() {
            // A lock that is held costs one reading; the next one comes soon.
            let _ = session.note_usage(usage);
        }
        let (made, config) = (session.compactions(), Config::load_or_default(home));
        Some(Self {
            lang: environment.lang().unwrap_or_else(|| config.language()),
            workflow: session.workflow().ok()?.map(|document| document.state),
            looping: session.looping().ok()?.map(|document| document.state),
            settings: config.settings(),
            compactions: made.automatic.saturating_add(made.manual),
        })
    }

    pub(super) fn condition(&self, workflow: &WorkflowState) -> Condition {
        Condition::new(workflow, self.looping.as_ref(), &self.settings)
    }
}
