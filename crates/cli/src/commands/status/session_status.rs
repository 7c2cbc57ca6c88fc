//! The state of one session, read once.

use overtone_core::engine::state::{LoopState, Millis, WorkflowState};
use overtone_core::engine::{Feature, FeatureOrigin};
use overtone_store::specs::Specs;
use overtone_store::{Compactions, Session, clock};

use crate::context::Context;
use crate::ui::error::{CommandError, CommandResult};

#[derive(Debug)]
pub(crate) struct SessionStatus {
    pub(crate) session: Session,
    pub(crate) workflow: Option<WorkflowState>,
    pub(crate) looping: Option<LoopState>,
    /// The workflow's own feature, if it is in progress in the session's project.
    pub(crate) feature: Option<Feature>,
    pub(crate) compactions: Compactions,
    pub(crate) context_percent: Option<u32>,
    pub(crate) now: Millis,
}

impl SessionStatus {
    pub(crate) fn load(context: &Context, session: &Session) -> CommandResult<Self> {
        let store_error = |error| CommandError::store(context.lang, &error);
        let workflow = session.workflow().map_err(store_error)?.map(|document| document.state);
        let looping = session.looping().map_err(store_error)?.map(|document| document.state);
        let feature = workflow.as_ref().and_then(|workflow| own_feature(context, session, workflow));
        Ok(Self {
            workflow,
            looping,
            feature,
            compactions: session.compactions(),
            context_percent: session.usage().context_percent,
            now: clock::now(),
            session: session.clone(),
        })
    }
}

/// Unreadable specs are ignored, so that the rest is still shown.
fn own_feature(context: &Context, session: &Session, workflow: &WorkflowState) -> Option<Feature> {
    let own = workflow.feature_name.as_deref()?;
    let project = session.origin().project.or_else(|| context.project(None).ok())?;
    let feature = Specs::new(project).active(Some(own)).ok()??;
    if feature.name != own {
        return None;
    }
    let tasks = feature.tasks.unwrap_or_default();
    Some(Feature {
        name: feature.name,
        origin: FeatureOrigin::Own,
        checked: tasks.checked,
        total: tasks.total,
        pending: tasks.pending,
        open_work: tasks.open_work,
    })
}
