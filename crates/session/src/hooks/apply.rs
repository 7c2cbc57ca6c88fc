//! Carries out the effects of a decision.
//!
//! The answer is printed in the middle. [`prepare`] first does everything that may fail: it writes the new state beside
//! the old one, the timeline and the handoffs. Then the answer is printed, and [`finish`] exchanges the state files. So
//! state never changes for an answer that could not be given. Effects on files with a lock of their own follow when the
//! session's lock is released, so that other processes do not wait for them.

use std::error::Error;
use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;

use overtone_claude::process::is_called_by_other;
use overtone_core::engine::instinct::{Observation, Signal};
use overtone_core::engine::state::{Millis, WorkflowState};
use overtone_core::engine::{Effect, Record, Snapshot};
use overtone_core::registry::EventKind;
use overtone_store::files::Replaced;
use overtone_store::instincts::Memory;
use overtone_store::seal::SealKey;
use overtone_store::specs::Specs;
use overtone_store::{
    CHECKS_FILE, Edit, Home, LoadedLoop, LoadedWorkflow, LoopDoc, OwnFeatures, Session, SessionLock,
    StoreError, Transaction, WorkflowDoc, clock, files, timeline,
};

use crate::evidence::{TREE_FILE, WorkTree};
use crate::hooks::limits::handle_file_size_signal;

/// The client's environment file has a few lines. A longer one is neither read nor written.
const MAX_ENV_FILE: u64 = 1024 * 1024;

/// The files that a workflow may start with.
const EVIDENCE_FILES: [&str; 2] = [CHECKS_FILE, TREE_FILE];

type EffectResult = Result<(), Box<dyn Error>>;

/// What effects are applied to.
pub(crate) struct EffectContext<'a> {
    pub(crate) home: &'a Home,
    pub(crate) session: &'a Session,
    /// Whether the session's folder is known to exist.
    pub(crate) has_folder: bool,
    pub(crate) project: Option<&'a Path>,
    pub(crate) env_file: Option<&'a Path>,
    pub(crate) learning: bool,
    pub(crate) now: Millis,
    /// The work tree that agents start from now, if it was looked at.
    pub(crate) tree: Option<&'a WorkTree>,
}

/// The documents that the state was read from.
#[derive(Default)]
pub(crate) struct Documents {
    pub(crate) workflow: Option<WorkflowDoc>,
    pub(crate) looping: Option<LoopDoc>,
    /// What another program made of the workflow. The document is the last one that Overtone wrote.
    pub(crate) edit: Option<Edit>,
    /// Another program has stopped or paused the loop, or noted a question.
    pub(crate) is_loop_edited: bool,
    is_sealed: bool,
    key: Option<SealKey>,
}

impl Documents {
    pub(crate) fn new(workflow: LoadedWorkflow, looping: LoadedLoop) -> Self {
        let LoadedWorkflow { document, edit, is_sealed, key } = workflow;
        let LoadedLoop { document: looping, is_edited } = looping;
        Self { workflow: document, looping, edit, is_loop_edited: is_edited, is_sealed, key }
    }

    /// The files of the workflow that another program has removed.
    pub(crate) fn missing_files(&self, session: &Session) -> Vec<&'static str> {
        let Some(workflow) = &self.workflow else { return Vec::new() };
        let required = workflow.required_files();
        let is_missing = |file: &&str| required.iter().any(|name| name == file) && !is_present(session, file);
        EVIDENCE_FILES.into_iter().filter(is_missing).collect()
    }

    /// Whether the call that is being handled comes from another process than the clients of the workflow.
    pub(crate) fn is_called_by_other(&self) -> bool {
        match &self.workflow {
            Some(workflow) => is_called_by_other(&workflow.clients()),
            None => false,
        }
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        Snapshot {
            workflow: self.workflow.as_ref().map(|document| document.state.clone()),
            looping: self.looping.as_ref().map(|document| document.state.clone()),
        }
    }
}

/// Applies the effects and calls `print_answer` in between. Afterwards the documents are those that were written. Returns
/// warnings: errors that came after the answer and undo nothing.
pub(crate) fn apply_effects(
    context: &EffectContext,
    documents: &mut Documents,
    effects: &[Effect],
    lock: Option<SessionLock>,
    print_answer: impl FnOnce() -> io::Result<()>,
) -> Result<Vec<String>, Box<dyn Error>> {
    if !effects.is_empty() {
        handle_file_size_signal();
    }
    if !context.has_folder && effects.iter().any(writes_to_session_folder) {
        context.session.create()?;
    }
    let transaction = prepare(context, documents, effects)?;
    print_answer()?;
    let finished = finish(context, transaction, effects);
    drop(lock);
    // When the state could not be exchanged, the effects that depend on it are left out.
    let Finished { mut warnings, replaced } = match finished {
        Ok(finished) => finished,
        Err(error) => return Ok(vec![error.to_string()]),
    };
    drop(replaced);
    for effect in effects {
        if let Err(error) = apply_outside_session(context, effect) {
            warnings.push(error.to_string());
        }
    }
    Ok(warnings)
}

/// A compaction is not among them, so that it creates no folder for a session that Overtone has never seen.
fn writes_to_session_folder(effect: &Effect) -> bool {
    match effect {
        Effect::PutWorkflow(_) | Effect::PutLoop(_) | Effect::Emit(_) | Effect::SaveHandoff(_) => true,
        Effect::Observe(observation) => observation.signal == Signal::Confirm,
        _ => false,
    }
}

fn prepare(
    context: &EffectContext,
    documents: &mut Documents,
    effects: &[Effect],
) -> Result<Transaction, StoreError> {
    let mut transaction = Transaction::default();
    if let Some(edit) = &documents.edit {
        context.session.keep_edit(edit)?;
    }
    if let Some(tree) = context.tree {
        tree.put(&mut transaction, context.session)?;
    }
    put_state(context, documents, effects, &mut transaction)?;
    let mut records = Vec::new();
    for effect in effects {
        match effect {
            Effect::SaveHandoff(handoff) if handoff.appends => {
                context.session.append_handoff(&handoff.file, &handoff.text)?;
            }
            Effect::SaveHandoff(handoff) => context.session.save_handoff(&handoff.file, &handoff.text)?,
            Effect::Emit(record) => records.push(record),
            _ => {}
        }
    }
    timeline::append(&context.session.timeline_file(), &records, context.now)?;
    Ok(transaction)
}

/// Puts the new state files into the transaction. If a file is put several times, the last version is used.
///
/// The file that tells whether the change was made comes last, so that after a kill between the two files it can be
/// repeated: the loop if it starts again, otherwise the workflow.
fn put_state(
    context: &EffectContext,
    documents: &mut Documents,
    effects: &[Effect],
    transaction: &mut Transaction,
) -> Result<(), StoreError> {
    let looping = effects.iter().rev().find_map(|effect| match effect {
        Effect::PutLoop(state) => Some(state),
        _ => None,
    });
    let workflow = effects.iter().rev().find_map(|effect| match effect {
        Effect::PutWorkflow(state) => Some(state),
        _ => None,
    });
    let starts_again = match (&documents.looping, looping) {
        (Some(old), Some(new)) => old.state.stopped && !new.stopped,
        _ => false,
    };
    let key = documents.key;
    let looping = match looping {
        Some(state) => Some(documents.looping.take().unwrap_or_default().with(state.clone())),
        // An earlier version wrote the session: its loop is sealed with its workflow.
        None if workflow.is_some() && documents.workflow.is_some() && !documents.is_sealed => {
            context.session.looping()?
        }
        None => None,
    };
    if !starts_again && let Some(document) = &looping {
        transaction.put_loop(context.session, document, key)?;
    }
    if let Some(state) = workflow.cloned() {
        let document = match documents.workflow.take() {
            Some(document) => document.with(state),
            None => new_workflow(context.session, state),
        };
        transaction.put_workflow(context.session, documents.workflow.insert(document), key)?;
    }
    if starts_again && let Some(document) = &looping {
        transaction.put_loop(context.session, document, key)?;
    }
    documents.looping = looping.or(documents.looping.take());
    Ok(())
}

/// A workflow that starts in the clients that the session runs in, with the files that were written for it before.
fn new_workflow(session: &Session, state: WorkflowState) -> WorkflowDoc {
    let mut document = WorkflowDoc::new(state);
    for client in session.clients() {
        document.add_client(client);
    }
    let written = EVIDENCE_FILES.into_iter().filter(|file| is_present(session, file));
    document.set_required_files(&written.collect::<Vec<_>>());
    document
}

fn is_present(session: &Session, file: &str) -> bool {
    fs::symlink_metadata(session.dir().join(file)).is_ok()
}

struct Finished {
    warnings: Vec<String>,
    /// The replaced files. They are dropped after the lock is released, since closing them may wait for the disk.
    replaced: Vec<Replaced>,
}

/// Exchanges the state files, then applies the effects that need the session's lock. An error of such an effect becomes
/// a warning and does not undo the rest.
fn finish(
    context: &EffectContext,
    transaction: Transaction,
    effects: &[Effect],
) -> Result<Finished, StoreError> {
    let mut finished = Finished { warnings: Vec::new(), replaced: transaction.commit()? };
    for effect in effects {
        let result = match effect {
            Effect::TickStage { feature, key } => match context.project {
                Some(project) => {
                    Specs::new(project).tick_stage(feature, *key).map(|_| ()).map_err(Into::into)
                }
                None => Ok(()),
            },
            Effect::ArchiveFeature { feature } => archive_feature(context, feature),
            Effect::CountCompaction { automatic, completed_stages } if context.has_folder => {
                match context.session.count_compaction(*automatic, *completed_stages) {
                    Ok(replaced) => {
                        finished.replaced.push(replaced);
                        Ok(())
                    }
                    Err(error) => Err(error.into()),
                }
            }
            _ => Ok(()),
        };
        if let Err(error) = result {
            finished.warnings.push(error.to_string());
        }
    }
    Ok(finished)
}

/// Applies effects on files outside the session: the project's memory, the pointer to the current session, and the
/// client's environment file.
fn apply_outside_session(context: &EffectContext, effect: &Effect) -> EffectResult {
    match effect {
        Effect::Observe(observation) if context.learning => record_observation(context, observation)?,
        Effect::PointCurrentSession => context.home.set_current_session(context.session.id())?,
        Effect::ClearCurrentSession => context.home.clear_current_session(context.session.id())?,
        Effect::ExportSession => export_session(context)?,
        _ => {}
    }
    Ok(())
}

fn record_observation(context: &EffectContext, observation: &Observation) -> EffectResult {
    let Some(project) = context.project else { return Ok(()) };
    Memory::for_project(context.home, project).observe(context.session, observation, context.now)?;
    Ok(())
}

/// Archives the feature, unless another session works on it.
fn archive_feature(context: &EffectContext, feature: &str) -> EffectResult {
    let Some(project) = context.project else { return Ok(()) };
    let timeline_file = context.session.timeline_file();
    if let Some(holder) = context.home.feature_holder(project, feature, Some(context.session.id()))
        && !holder.is_paused
    {
        let record = Record::new(EventKind::SystemWarning).with("reason", "feature-taken");
        timeline::append(&timeline_file, &[&record], context.now)?;
        return Ok(());
    }
    let archived = Specs::new(project).archive(feature, &clock::to_date(context.now))?;
    let folder = archived.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let record = Record::new(EventKind::SpecsArchive).with("feature", feature).with("folder", folder);
    timeline::append(&timeline_file, &[&record], context.now)?;
    OwnFeatures::for_project(context.home, project).remove(feature)?;
    Ok(())
}

/// Writes the session and the project to the file that the client sources before each Bash command.
fn export_session(context: &EffectContext) -> io::Result<()> {
    let Some(path) = context.env_file else { return Ok(()) };
    let mut file = files::open_to_append(path)?;
    let mut present = String::new();
    let length = (&mut file).take(MAX_ENV_FILE + 1).read_to_string(&mut present)?;
    if length as u64 > MAX_ENV_FILE {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "too large for an environment file"));
    }
    let mut lines = vec![format!("export OVERTONE_SESSION_ID={}", context.session.id())];
    if let Some(dir) = context.project {
        lines.push(format!("export OVERTONE_PROJECT_DIR={}", shell_quoted(&dir.to_string_lossy())));
    }
    lines.retain(|line| !present.lines().any(|other| other == line));
    if lines.is_empty() {
        return Ok(());
    }
    let start = if present.is_empty() || present.ends_with('\n') { "" } else { "\n" };
    file.write_all(format!("{start}{}\n", lines.join("\n")).as_bytes()).inspect_err(|_| {
        // The client's shell must not run half a line.
        let _ = file.set_len(length as u64);
    })
}

/// The text as one word of a POSIX shell.
fn shell_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::shell_quoted;

    #[test]
    fn a_shell_reads_a_quoted_path_unchanged() {
        for path in ["/a b", "/it's", "/$(x)`y`\"z\"", "/a;b&c"] {
            let output = std::process::Command::new("sh")
                .arg("-c")
                .arg(format!("printf %s {}", shell_quoted(path)))
                .output();
            assert_eq!(String::from_utf8(output.unwrap().stdout).unwrap(), path);
        }
    }
}
