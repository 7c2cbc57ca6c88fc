//! `overtone init`: starts a workflow in a session.

mod feature;
mod report;

use std::error::Error;
use std::path::PathBuf;

use overtone_engine::commands::{Refusal, Start, init};
use overtone_hooks::{Documented, act};
use overtone_messages::cli as words;
use overtone_registry::{SpecsDocs, Workflow};
use overtone_store::specs::SpecsError;
use overtone_store::{Session, clock};

use super::fleet::{Held, ask_for_feature};
use crate::args::InitArgs;
use crate::context::Context;
use crate::ui::error::{Done, Failure};
use crate::ui::nearest::nearest;
use feature::Attached;
use report::Started;

pub(crate) fn run(context: &Context, args: &InitArgs) -> Done {
    let workflow = find_workflow(context, &args.workflow)?;
    let session = context.required_session(args.session.id.as_deref())?;
    let project = context.project(args.project.dir.as_deref())?;
    let request = Request { workflow, feature: args.feature.as_deref(), force: args.force, project };
    // Nothing is moved for a start that cannot succeed.
    feature::check(&request.project, workflow, request.feature)
        .map_err(|error| Failure::specs(context.lang, &error))?;
    let claimed = claim(context, &session, &request, args.anyway)?;
    let set_aside = if args.force { set_broken_aside(context, &session)? } else { Vec::new() };
    let attached = start(context, &session, &request).inspect_err(|_| {
        if let Some(held) = claimed {
            held.give_back();
        }
    })?;
    report::print(context, &args.session.output, &Started { session, workflow, attached, set_aside })
}

/// Asks the fleet, if there is one, whether the feature is free.
fn claim(
    context: &Context,
    session: &Session,
    request: &Request,
    anyway: bool,
) -> Result<Option<Held>, Failure> {
    let keeps_documents = request.workflow.specs_docs() != SpecsDocs::None;
    match request.feature.filter(|_| keeps_documents) {
        Some(feature) => ask_for_feature(context, session.id(), &request.project, feature, anyway),
        None => Ok(None),
    }
}

/// What is to be started, and where.
struct Request<'a> {
    workflow: Workflow,
    feature: Option<&'a str>,
    force: bool,
    project: PathBuf,
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
    let mut attached = Attached::Nothing;
    let problems = act(context.home()?, session, Some(&request.project), Documented::Anew, |snapshot| {
        let plan = |feature, feature_is_new| Start {
            session_id: session.id().as_str(),
            workflow: request.workflow,
            feature,
            feature_is_new,
            force: request.force,
            now: clock::now(),
        };
        // Refused before any folder is made.
        init(snapshot, &plan(None, false)).map_err(Stopped::Refused)?;
        attached =
            feature::attach(&request.project, request.workflow, request.feature).map_err(Stopped::Specs)?;
        init(snapshot, &plan(attached.name(), attached.is_new())).map_err(Stopped::Refused)
    });
    match problems {
        Ok(problems) if problems.is_empty() => Ok(attached),
        // The new state could not take the place of the old one.
        Ok(problems) => Err(Failure::problems(context.lang, &problems)),
        Err(error) => Err(why(context, error.as_ref())),
    }
}

/// Why nothing was started.
#[derive(Debug)]
enum Stopped {
    Refused(Refusal),
    Specs(SpecsError),
}

impl std::fmt::Display for Stopped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Refused(refusal) => refusal.fmt(f),
            Self::Specs(error) => error.fmt(f),
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
        _ => Failure::driver(context.lang, error),
    }
}
