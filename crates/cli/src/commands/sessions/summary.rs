//! Summary of a session: its workflow, progress, last activity and size on disk.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use overtone_core::engine::state::{Ending, Millis};
use overtone_core::messages::{Lang, cli as words};
use overtone_hook::ansi::Tone;
use overtone_session::view::SessionState;
use overtone_store::{Session, clock};
use serde::Serialize;

use crate::context::Context;
use crate::ui::error::{CommandError, CommandResult};

/// Handoffs are one level down; Overtone creates nothing deeper.
const MAX_DEPTH: usize = 3;

/// The label for the state of a session.
pub(super) fn label(session: &Summary, lang: Lang) -> String {
    match session.state {
        SessionState::Running if session.is_finished => words::state_finished(lang),
        SessionState::None => "–".to_owned(),
        SessionState::Running => words::state_running(lang),
        SessionState::Stopped => words::state_stopped(lang),
        SessionState::Completed => words::state_completed(lang),
        SessionState::Aborted => words::state_aborted(lang),
        SessionState::Broken => words::state_broken(lang),
    }
}

pub(super) const fn tone(session: &Summary) -> Tone {
    match session.state {
        SessionState::Running if session.is_finished => Tone::Good,
        SessionState::None => Tone::Faint,
        SessionState::Running => Tone::Strong,
        SessionState::Stopped => Tone::Warning,
        SessionState::Completed => Tone::Good,
        SessionState::Aborted | SessionState::Broken => Tone::Bad,
    }
}

/// Whether the session may have unfinished work. An unreadable state may be anything.
pub(super) const fn may_be_open(state: SessionState) -> bool {
    state.is_open() || matches!(state, SessionState::Broken)
}

#[derive(Debug, Clone)]
pub(super) struct Summary {
    pub(super) session: Session,
    pub(super) project: Option<PathBuf>,
    pub(super) workflow: Option<String>,
    /// Resolved stages and all stages.
    pub(super) progress: (usize, usize),
    pub(super) state: SessionState,
    /// Every stage is done.
    pub(super) is_finished: bool,
    pub(super) last_activity: Millis,
    pub(super) bytes: u64,
    /// The session of this process, or the one that started last.
    pub(super) current: bool,
}

impl Summary {
    pub(super) fn read(session: &Session, current: bool) -> Self {
        let (bytes, last_activity) = disk_usage(session.dir(), MAX_DEPTH);
        let (workflow, progress, state) = read_workflow(session);
        let project = session.origin().project;
        let is_finished = progress.1 > 0 && progress.0 == progress.1;
        let session = session.clone();
        Self { session, project, workflow, progress, state, is_finished, last_activity, bytes, current }
    }

    pub(super) fn id(&self) -> &str {
        self.session.id().as_str()
    }

    pub(super) fn project_name(&self) -> Option<String> {
        self.project.as_deref()?.file_name().map(|name| name.to_string_lossy().into_owned())
    }

    pub(super) fn to_json(&self) -> SummaryJson<'_> {
        let (done, total) = self.progress;
        SummaryJson {
            id: self.id(),
            current: self.current,
            project: self.project.as_deref(),
            workflow: self.workflow.as_deref(),
            done,
            total,
            status: self.state.key(),
            last_activity: clock::to_iso(self.last_activity),
            bytes: self.bytes,
        }
    }
}

/// A session in the JSON output.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SummaryJson<'a> {
    id: &'a str,
    current: bool,
    project: Option<&'a Path>,
    workflow: Option<&'a str>,
    done: usize,
    total: usize,
    status: &'static str,
    last_activity: String,
    bytes: u64,
}

/// All sessions, the last active first.
pub(super) fn all(context: &Context) -> CommandResult<Vec<Summary>> {
    let own = context.own_sessions()?;
    let sessions = context.home()?.sessions().map_err(|error| CommandError::store(context.lang, &error))?;
    let mut all: Vec<_> = sessions.iter().map(|s| Summary::read(s, own.contains(s.id()))).collect();
    all.sort_by(|a, b| b.last_activity.cmp(&a.last_activity).then_with(|| a.id().cmp(b.id())));
    Ok(all)
}

fn read_workflow(session: &Session) -> (Option<String>, (usize, usize), SessionState) {
    let workflow = match session.workflow() {
        Ok(Some(document)) => document.state,
        Ok(None) => return (None, (0, 0), SessionState::None),
        Err(_) => return (None, (0, 0), SessionState::Broken),
    };
    let state = match (workflow.ending, session.looping()) {
        (Some(Ending::Completed), _) => SessionState::Completed,
        (Some(Ending::Aborted), _) => SessionState::Aborted,
        (None, Ok(Some(looping))) if looping.state.stopped => SessionState::Stopped,
        (None, Ok(_)) => SessionState::Running,
        (None, Err(_)) => SessionState::Broken,
    };
    let progress = (workflow.resolved_count(), workflow.stages.len());
    (Some(workflow.workflow_type), progress, state)
}

/// Bytes in a folder and its newest change. Links are not followed.
fn disk_usage(dir: &Path, depth: usize) -> (u64, Millis) {
    let own = fs::symlink_metadata(dir).ok();
    let mut total = (0, own.as_ref().map(changed).unwrap_or_default());
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let Ok(about) = entry.metadata() else { continue };
        let (bytes, newest) = match depth {
            1.. if about.is_dir() => disk_usage(&entry.path(), depth - 1),
            _ => (about.len(), changed(&about)),
        };
        total = (total.0 + bytes, total.1.max(newest));
    }
    total
}

fn changed(about: &fs::Metadata) -> Millis {
    let since = about.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    Millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
