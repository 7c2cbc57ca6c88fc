//! `overtone init`: starts a workflow in a session.

mod feature;
mod report;

use std::error::Error;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use overtone_engine::commands::{Refusal, Start, init};
use overtone_hooks::{Documented, act};
use overtone_messages::cli as words;
use overtone_registry::{SpecsDocs, Workflow};
use overtone_store::specs::{Specs, SpecsError};
use overtone_store::{Holder, Origin, OwnFeatures, Session, SessionId, clock};

use super::fleet::{Held, ask_for_feature};
use crate::args::InitArgs;
use crate::context::Context;
use crate::ui::error::{Done, Failure};
use crate::ui::nearest::nearest;
use crate::ui::quantity::age;
use feature::Attached;
use report::Started;

pub(crate) fn run(context: &Context, args: &InitArgs) -> Done {
    let workflow = find_workflow(context, &args.workflow)?;
    let session = context.session_to_start(args.session.as_deref())?;
    let project = context.project(args.project.dir.as_deref())?;
    let keeps_documents = workflow.specs_docs() != SpecsDocs::None;
    let request = Request {
        workflow,
        named: args.feature.as_deref(),
        feature: args.feature.as_deref().filter(|_| keeps_documents),
        force: args.force,
        anyway: args.anyway,
        project,
    };
    // Nothing is moved for a start that cannot succeed.
    feature::check(&request.project, request.feature)
        .map_err(|error| Failure::specs(context.lang, &error))?;
    request.refuse_if_foreign(context, &session)?;
    request.refuse_if_in_use(context, &session)?;
    let claimed = claim(context, &session, &request)?;
    let set_aside = if args.force { set_broken_aside(context, &session)? } else { Vec::new() };
    let attached = start(context, &session, &request).inspect_err(|_| {
        if let Some(held) = claimed {
            held.give_back();
        }
    })?;
    report::print(context, &args.output, &Started { session, workflow, attached, set_aside })
}

/// Asks the fleet, if there is one, whether the feature is free.
fn claim(context: &Context, session: &Session, request: &Request) -> Result<Option<Held>, Failure> {
    match request.feature {
        Some(feature) => ask_for_feature(context, session.id(), &request.project, feature, request.anyway),
        None => Ok(None),
    }
}

/// What is to be started, and where.
struct Request<'a> {
    workflow: Workflow,
    /// The feature as it was named.
    named: Option<&'a str>,
    /// The same, if the workflow keeps documents.
    feature: Option<&'a str>,
    force: bool,
    anyway: bool,
    project: PathBuf,
}

impl Request<'_> {
    /// Fails if the feature came with the repository: its tasks would become orders, and only the user decides that.
    fn refuse_if_foreign(&self, context: &Context, session: &Session) -> Done {
        let Some(name) = self.feature.filter(|_| !self.anyway) else { return Ok(()) };
        let existing = feature::existing(&Specs::new(&self.project), name)
            .map_err(|error| Failure::specs(context.lang, &error))?;
        let Some(feature) = existing else { return Ok(()) };
        if works_on(session, name) || self.own_features(context)?.names().contains(name) {
            return Ok(());
        }
        let path = feature.dir.display().to_string();
        Err(Failure::new(words::feature_not_ours(context.lang, name, &path))
            .hint(words::feature_not_ours_hint(context.lang)))
    }

    fn own_features(&self, context: &Context) -> Result<OwnFeatures, Failure> {
        Ok(OwnFeatures::of(context.home()?, &self.project))
    }

    /// Fails if another session of this machine works on the feature.
    fn refuse_if_in_use(&self, context: &Context, session: &Session) -> Done {
        let Some(feature) = self.feature.filter(|_| !self.anyway) else { return Ok(()) };
        match holder(context, &self.project, feature, Some(session.id()))? {
            Some(holder) => {
                let hint = words::feature_in_use_hint(context.lang, holder.session.short());
                Err(in_use(context, feature, &holder).hint(hint))
            }
            None => Ok(()),
        }
    }
}

/// Whether the session's workflow, perhaps of an earlier version that kept no record, is about the feature.
fn works_on(session: &Session, feature: &str) -> bool {
    let workflow = session.workflow().ok().flatten();
    workflow.is_some_and(|workflow| workflow.state.feature_name.as_deref() == Some(feature))
}

/// The session that is at work on a feature. One whose loop is stopped leaves it to others.
pub(super) fn holder(
    context: &Context,
    project: &Path,
    feature: &str,
    except: Option<&SessionId>,
) -> Result<Option<Holder>, Failure> {
    let holder = context.home()?.feature_holder(project, feature, except);
    Ok(holder.filter(|holder| !holder.is_paused))
}

pub(super) fn in_use(context: &Context, feature: &str, holder: &Holder) -> Failure {
    let since = age(clock::now().since(holder.last_active));
    Failure::new(words::feature_in_use(context.lang, feature, holder.session.short(), &since))
}

/// The workflow of that name, or the nearest one as a hint.
pub(super) fn find_workflow(context: &Context, name: &str) -> Result<Workflow, Failure> {
    let unknown = || {
        let names = Workflow::ALL.map(Workflow::name);
        let list = names.join(", ");
        let hint = match nearest(name, names) {
            Some(near) => words::did_you_mean_or(context.lang, near, &list),
            None => words::one_of(context.lang, &list),
        };
        Failure::new(words::unknown_workflow(context.lang, name)).hint(hint)
    };
    Workflow::from_name(name).ok_or_else(unknown)
}

fn set_broken_aside(context: &Context, session: &Session) -> Result<Vec<PathBuf>, Failure> {
    if !session.exists() {
        return Ok(Vec::new());
    }
    session.set_broken_aside().map_err(|error| Failure::store(context.lang, &error))
}

fn start(context: &Context, session: &Session, request: &Request) -> Result<Attached, Failure> {
    // Two sessions that start at the same moment must not both find the feature free.
    let _lock = match request.feature {
        Some(_) => Some(lock_home(context)?),
        None => None,
    };
    request.refuse_if_in_use(context, session)?;
    let own_features = request.own_features(context)?;
    let mut attached = Attached::Nothing;
    let problems = act(context.home()?, session, Some(&request.project), Documented::Anew, |snapshot| {
        let plan = |feature, feature_is_new| Start {
            session_id: session.id().as_str(),
            workflow: request.workflow,
            feature,
            feature_is_new,
            force: request.force,
            by: Some(context.initiator(snapshot)),
            now: clock::now(),
        };
        // Refused before any folder is made.
        init(snapshot, &plan(None, false)).map_err(Stopped::Refused)?;
        if let Some(name) = request.feature {
            own_features.add(name, Some(session.id()), clock::now()).map_err(Stopped::Record)?;
        }
        attached =
            feature::attach(&request.project, request.workflow, request.named).map_err(Stopped::Specs)?;
        init(snapshot, &plan(attached.name(), attached.is_new())).map_err(Stopped::Refused)
    });
    match problems {
        Ok(problems) if problems.is_empty() => {
            note_project(session, &request.project);
            Ok(attached)
        }
        // The new state could not take the place of the old one.
        Ok(problems) => Err(Failure::problems(context.lang, &problems)),
        Err(error) => Err(why(context, error.as_ref())),
    }
}

fn lock_home(context: &Context) -> Result<File, Failure> {
    let home = context.home()?;
    home.lock().map_err(|error| Failure::io(context.lang, home.root(), &error))
}

/// A session that was not started by the client has not said yet where it works.
fn note_project(session: &Session, project: &Path) {
    let origin = session.origin();
    if origin.project.is_none() {
        // The workflow has started; without this it is only not found by its folder.
        let _ = session.note_origin(&Origin { project: Some(project.to_owned()), ..origin });
    }
}

/// Why nothing was started.
#[derive(Debug)]
enum Stopped {
    Refused(Refusal),
    Specs(SpecsError),
    /// It could not be recorded that the feature is begun here.
    Record(io::Error),
}

impl std::fmt::Display for Stopped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Refused(refusal) => refusal.fmt(f),
            Self::Specs(error) => error.fmt(f),
            Self::Record(error) => error.fmt(f),
        }
    }
}

impl Error for Stopped {}

fn why(context: &Context, error: &(dyn Error + 'static)) -> Failure {
    match error.downcast_ref::<Stopped>() {
        Some(Stopped::Refused(Refusal::Running { workflow_type, done, total })) => {
            Failure::new(words::running(context.lang, workflow_type, *done, *total))
                .hint(words::running_hint(context.lang))
        }
        Some(Stopped::Refused(Refusal::Moved { to })) => {
            Failure::new(words::moved_to(context.lang, to)).hint(words::running_hint(context.lang))
        }
        Some(Stopped::Specs(error)) => Failure::specs(context.lang, error),
        Some(Stopped::Record(error)) => match context.home() {
            Ok(home) => Failure::io(context.lang, home.root(), error),
            Err(failure) => failure,
        },
        _ => Failure::driver(context.lang, error),
    }
}
