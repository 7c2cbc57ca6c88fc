//! The state of one session, read once.

use overtone_core::engine::state::{LoopState, Millis, WorkflowState};
use overtone_core::engine::{Feature, FeatureOrigin};
use overtone_session::evidence::checks::{PinnedChecks, RunningCheck, running_check};
use overtone_store::specs::Specs;
use overtone_store::{Compactions, LoadedWorkflow, Session, clock};

use crate::context::Context;
use crate::ui::error::{CommandError, CommandResult};

#[derive(Debug)]
pub(crate) struct SessionStatus {
    pub(crate) session: Session,
    /// The last state that Overtone wrote, whatever another program made of the file.
    pub(crate) workflow: Option<WorkflowState>,
    /// Another program has changed the file since.
    pub(crate) was_edited: bool,
    pub(crate) looping: Option<LoopState>,
    /// The workflow's own feature, if it is in progress in the session's project.
    pub(crate) feature: Option<Feature>,
    pub(crate) compactions: Compactions,
    pub(crate) context_percent: Option<u32>,
    /// The checks that the workflow is bound to. `None` if it has none, or they cannot be read.
    pub(crate) checks: Option<PinnedChecks>,
    pub(crate) running_check: Option<RunningCheck>,
    pub(crate) now: Millis,
}

impl SessionStatus {
    pub(crate) fn load(context: &Context, session: &Session) -> CommandResult<Self> {
        let store_error = |error| CommandError::store(context.lang, &error);
        let LoadedWorkflow { document, edit, .. } = session.load_workflow().map_err(store_error)?;
        let workflow = document.map(|document| document.state);
        let looping = session.looping().map_err(store_error)?.map(|document| document.state);
        let feature = workflow.as_ref().and_then(|workflow| own_feature(context, session, workflow));
        Ok(Self {
            workflow,
            was_edited: edit.is_some(),
            looping,
            feature,
            compactions: session.compactions(),
            context_percent: session.usage().context_percent,
            checks: pinned_checks(context, session)?,
            running_check: running_check(session),
            now: clock::now(),
            session: session.clone(),
        })
    }
}

fn pinned_checks(context: &Context, session: &Session) -> CommandResult<Option<PinnedChecks>> {
    let Some(project) = session.origin().project.or_else(|| context.project(None).ok()) else {
        return Ok(None);
    };
    PinnedChecks::load(context.home()?, session, &project)
        .map_err(|error| CommandError::store(context.lang, &error))
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
        ticked_work: tasks.checked_work,
    })
}
