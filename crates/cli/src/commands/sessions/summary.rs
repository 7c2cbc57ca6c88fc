//! One session in a line: its workflow, how far it is, when it was last active, how much room it takes.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use overtone_engine::state::{Ending, Millis};
use overtone_messages::{Lang, cli as words};
use overtone_store::{Session, clock};
use overtone_view::State;
use serde_json::{Value, json};

use crate::context::Context;
use crate::ui::error::Failure;
use crate::ui::style::Tone;

/// Handoffs are one level down; nothing of ours is deeper.
const DEPTH: usize = 3;

/// How the state of a session is called.
pub(super) fn label(session: &Summary, lang: Lang) -> String {
    match session.state {
        State::Running if session.is_finished => words::state_finished(lang),
        State::None => "–".to_owned(),
        State::Running => words::state_running(lang),
        State::Stopped => words::state_stopped(lang),
        State::Completed => words::state_completed(lang),
        State::Aborted => words::state_aborted(lang),
        State::Broken => words::state_broken(lang),
    }
}

pub(super) const fn tone(session: &Summary) -> Tone {
    match session.state {
        State::Running if session.is_finished => Tone::Good,
        State::None => Tone::Faint,
        State::Running => Tone::Strong,
        State::Stopped => Tone::Warning,
        State::Completed => Tone::Good,
        State::Aborted | State::Broken => Tone::Bad,
    }
}

/// Whether work may still be waiting there. What cannot be read may be anything.
pub(super) const fn may_wait(state: State) -> bool {
    state.is_open() || matches!(state, State::Broken)
}

#[derive(Debug, Clone)]
pub(super) struct Summary {
    pub(super) session: Session,
    pub(super) project: Option<PathBuf>,
    pub(super) workflow: Option<String>,
    /// Resolved stages and all stages.
    pub(super) progress: (usize, usize),
    pub(super) state: State,
    /// Every stage is done.
    pub(super) is_finished: bool,
    pub(super) last_activity: Millis,
    pub(super) bytes: u64,
    /// This process, or the session that started last.
    pub(super) current: bool,
}

impl Summary {
    pub(super) fn of(session: &Session, current: bool) -> Self {
        let (bytes, last_activity) = usage(session.dir(), DEPTH);
        let (workflow, progress, state) = about(session);
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

    pub(super) fn object(&self) -> Value {
        let (done, total) = self.progress;
        json!({
            "id": self.id(), "current": self.current, "project": self.project, "workflow": self.workflow, "done": done, "total": total,
            "status": self.state.key(), "lastActivity": clock::to_iso(self.last_activity), "bytes": self.bytes,
        })
    }
}

/// All sessions, the last active first.
pub(super) fn all(context: &Context) -> Result<Vec<Summary>, Failure> {
    let own = context.own_sessions()?;
    let sessions = context.home()?.sessions().map_err(|error| Failure::store(context.lang, &error))?;
    let mut all: Vec<_> = sessions.iter().map(|s| Summary::of(s, own.contains(s.id()))).collect();
    all.sort_by(|a, b| b.last_activity.cmp(&a.last_activity).then_with(|| a.id().cmp(b.id())));
    Ok(all)
}

fn about(session: &Session) -> (Option<String>, (usize, usize), State) {
    let workflow = match session.workflow() {
        Ok(Some(document)) => document.state,
        Ok(None) => return (None, (0, 0), State::None),
        Err(_) => return (None, (0, 0), State::Broken),
    };
    let stopped = session.looping().map(|looping| looping.is_some_and(|document| document.state.stopped));
    let state = match (workflow.ending, stopped) {
        (Some(Ending::Completed), _) => State::Completed,
        (Some(Ending::Aborted), _) => State::Aborted,
        (None, Ok(true)) => State::Stopped,
        (None, Ok(false)) => State::Running,
        (None, Err(_)) => State::Broken,
    };
    let progress = (workflow.resolved_count(), workflow.stages.len());
    (Some(workflow.workflow_type), progress, state)
}

/// Bytes in a folder and its newest change. Links are not followed.
fn usage(dir: &Path, depth: usize) -> (u64, Millis) {
    let own = fs::symlink_metadata(dir).ok();
    let mut total = (0, own.as_ref().map(changed).unwrap_or_default());
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let Ok(about) = entry.metadata() else { continue };
        let (bytes, newest) = match depth {
            1.. if about.is_dir() => usage(&entry.path(), depth - 1),
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
