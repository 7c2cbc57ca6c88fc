//! Carries effects out.
//!
//! In two parts, around the answer: [`prepare`] writes everything that may fail (new state beside the old, the
//! timeline, handoffs); [`finish`] exchanges the state files and does what may fail without harm. State never
//! changes for an answer that could not be given. What has a lock of its own is done when the session's has been given
//! back: the others are waiting.

use std::error::Error;
use std::io::{self, Read, Write};
use std::path::Path;

use overtone_engine::instinct::{Observation, Signal};
use overtone_engine::state::Millis;
use overtone_engine::{Effect, Record};
use overtone_registry::EventKind;
use overtone_store::files::Replaced;
use overtone_store::instincts::Memory;
use overtone_store::specs::Specs;
use overtone_store::{
    Home, LoopDoc, OwnFeatures, Session, SessionLock, StoreError, Transaction, WorkflowDoc, clock, files,
    timeline,
};

use crate::limits::survive_file_limit;

/// The client's environment file has a few lines. A longer one is not read, and so not written either.
const MAX_ENV_FILE: u64 = 1024 * 1024;

/// Where effects take place.
pub(crate) struct Scene<'a> {
    pub(crate) home: &'a Home,
    pub(crate) session: &'a Session,
    /// The session's folder is known to be there.
    pub(crate) has_folder: bool,
    pub(crate) project: Option<&'a Path>,
    pub(crate) env_file: Option<&'a Path>,
    pub(crate) learning: bool,
    pub(crate) now: Millis,
}

/// The documents that the state was read from.
#[derive(Default)]
pub(crate) struct Documents {
    pub(crate) workflow: Option<WorkflowDoc>,
    pub(crate) looping: Option<LoopDoc>,
}

/// Carries the effects out around the answer. What is returned went wrong but did no harm.
pub(crate) fn around(
    scene: &Scene,
    documents: Documents,
    effects: &[Effect],
    lock: Option<SessionLock>,
    answer: impl FnOnce() -> io::Result<()>,
) -> Result<Vec<String>, Box<dyn Error>> {
    if !effects.is_empty() {
        survive_file_limit();
    }
    if !scene.has_folder && effects.iter().any(leaves_a_trace) {
        scene.session.create()?;
    }
    let transaction = prepare(scene, documents, effects)?;
    answer()?;
    let finished = finish(scene, transaction, effects);
    drop(lock);
    // No box is ticked and no feature archived for a state that did not come about.
    let Finished { mut problems, replaced } = match finished {
        Ok(finished) => finished,
        Err(error) => return Ok(vec![error.to_string()]),
    };
    drop(replaced);
    problems.extend(effects.iter().filter_map(|effect| afterwards(scene, effect).err()));
    Ok(problems)
}

/// Whether the effect writes into the session's folder. A compaction of a session that we never met does not.
fn leaves_a_trace(effect: &Effect) -> bool {
    match effect {
        Effect::PutWorkflow(_) | Effect::PutLoop(_) | Effect::Emit(_) | Effect::SaveHandoff(_) => true,
        Effect::Observe(seen) => seen.signal == Signal::Confirm,
        _ => false,
    }
}

fn prepare(scene: &Scene, documents: Documents, effects: &[Effect]) -> Result<Transaction, StoreError> {
    let mut transaction = Transaction::default();
    put_state(scene, documents, effects, &mut transaction)?;
    for effect in effects {
        if let Effect::SaveHandoff(handoff) = effect {
            if handoff.appends {
                scene.session.append_handoff(&handoff.file, &handoff.text)?;
            } else {
                scene.session.save_handoff(&handoff.file, &handoff.text)?;
            }
        }
    }
    let records: Vec<&Record> = effects.iter().filter_map(as_record).collect();
    timeline::append(&scene.session.timeline_file(), &records, scene.now)?;
    Ok(transaction)
}

fn as_record(effect: &Effect) -> Option<&Record> {
    match effect {
        Effect::Emit(record) => Some(record),
        _ => None,
    }
}

/// Only the last version of each file counts.
fn put_state(
    scene: &Scene,
    documents: Documents,
    effects: &[Effect],
    transaction: &mut Transaction,
) -> Result<(), StoreError> {
    let workflow = effects.iter().rev().find_map(|effect| match effect {
        Effect::PutWorkflow(state) => Some(state),
        _ => None,
    });
    if let Some(state) = workflow.cloned() {
        let document = match documents.workflow {
            Some(document) => document.with(state),
            None => WorkflowDoc::new(state),
        };
        transaction.put_workflow(scene.session, &document)?;
    }
    let looping = effects.iter().rev().find_map(|effect| match effect {
        Effect::PutLoop(state) => Some(state),
        _ => None,
    });
    if let Some(state) = looping {
        transaction.put_loop(scene.session, &documents.looping.unwrap_or_default().with(state.clone()))?;
    }
    Ok(())
}

/// What became of the state.
struct Finished {
    problems: Vec<String>,
    replaced: Vec<Replaced>,
}

impl Finished {
    fn note(&mut self, result: Result<Vec<Replaced>, String>) {
        match result {
            Ok(replaced) => self.replaced.extend(replaced),
            Err(problem) => self.problems.push(problem),
        }
    }
}

/// Whatever fails here is told in the returned lines and does not undo the rest.
fn finish(scene: &Scene, transaction: Transaction, effects: &[Effect]) -> Result<Finished, StoreError> {
    let mut finished = Finished { problems: Vec::new(), replaced: transaction.commit()? };
    for effect in effects {
        finished.note(match effect {
            Effect::TickStage { feature, key } => with_specs(scene, |specs| {
                specs.tick_stage(feature, *key).map(|_| ()).map_err(|error| error.to_string())
            })
            .map(|()| Vec::new()),
            Effect::ArchiveFeature { feature } => archive(scene, feature).map(|()| Vec::new()),
            Effect::CountCompaction { automatic, completed_stages } if scene.has_folder => scene
                .session
                .count_compaction(*automatic, *completed_stages)
                .map(|replaced| vec![replaced])
                .map_err(|error| error.to_string()),
            _ => Ok(Vec::new()),
        });
    }
    Ok(finished)
}

/// What is not the session's: the project's memory, the pointer to the session, the client's environment.
fn afterwards(scene: &Scene, effect: &Effect) -> Result<(), String> {
    match effect {
        Effect::Observe(seen) if scene.learning => observe(scene, seen),
        Effect::PointCurrentSession => text(scene.home.point_current_session(scene.session.id())),
        Effect::ClearCurrentSession => text(scene.home.clear_current_session(scene.session.id())),
        Effect::ExportSession => text(export_session(scene)),
        _ => Ok(()),
    }
}

fn text(result: io::Result<()>) -> Result<(), String> {
    result.map_err(|error| error.to_string())
}

fn observe(scene: &Scene, seen: &Observation) -> Result<(), String> {
    let Some(project) = scene.project else { return Ok(()) };
    Memory::of(scene.home, project).observe(scene.session, seen, scene.now).map_err(|error| error.to_string())
}

fn with_specs(scene: &Scene, act: impl FnOnce(&Specs) -> Result<(), String>) -> Result<(), String> {
    scene.project.map_or(Ok(()), |project| act(&Specs::new(project)))
}

/// Puts the feature away, unless another session is at work on it.
fn archive(scene: &Scene, feature: &str) -> Result<(), String> {
    let holder = scene
        .project
        .and_then(|project| scene.home.feature_holder(project, feature, Some(scene.session.id())));
    if holder.is_some_and(|holder| !holder.is_paused) {
        let record = Record::new(EventKind::SystemWarning).with("reason", "feature-taken");
        return timeline::append(&scene.session.timeline_file(), &[&record], scene.now)
            .map_err(|error| error.to_string());
    }
    with_specs(scene, |specs| {
        let to = specs.archive(feature, &clock::to_date(scene.now)).map_err(|error| error.to_string())?;
        let folder = to.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let record = Record::new(EventKind::SpecsArchive).with("feature", feature).with("folder", folder);
        timeline::append(&scene.session.timeline_file(), &[&record], scene.now)
            .map_err(|error| error.to_string())?;
        forget_feature(scene, feature)
    })
}

fn forget_feature(scene: &Scene, feature: &str) -> Result<(), String> {
    let Some(project) = scene.project else { return Ok(()) };
    text(OwnFeatures::of(scene.home, project).remove(feature))
}

/// Tells the Bash tool which session and project it runs in: the client sources this file before each command.
fn export_session(scene: &Scene) -> io::Result<()> {
    let Some(path) = scene.env_file else { return Ok(()) };
    let mut file = files::open_to_append(path)?;
    let mut present = String::new();
    let length = (&mut file).take(MAX_ENV_FILE + 1).read_to_string(&mut present)?;
    if length as u64 > MAX_ENV_FILE {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "too large for an environment file"));
    }
    let project =
        scene.project.map(|dir| format!("export OVERTONE_PROJECT_DIR={}", quoted(&dir.to_string_lossy())));
    let lines = [Some(format!("export OVERTONE_SESSION_ID={}", scene.session.id())), project];
    let missing = lines.into_iter().flatten().filter(|line| !present.lines().any(|other| other == line));
    let text: String = missing.flat_map(|line| [line, "\n".to_owned()]).collect();
    if text.is_empty() {
        return Ok(());
    }
    let start = if present.is_empty() || present.ends_with('\n') { "" } else { "\n" };
    file.write_all(format!("{start}{text}").as_bytes())
}

/// A word that a shell takes as it is.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_shell_takes_any_path_as_it_is() {
        for path in ["/a b", "/it's", "/$(x)`y`\"z\"", "/a;b&c"] {
            let output = std::process::Command::new("sh")
                .arg("-c")
                .arg(format!("printf %s {}", quoted(path)))
                .output();
            assert_eq!(String::from_utf8(output.unwrap().stdout).unwrap(), path);
        }
    }
}
