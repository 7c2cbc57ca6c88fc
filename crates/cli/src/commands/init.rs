//! `overtone init`: starts a workflow in a session.

mod checks;
mod feature;
mod report;

use std::error::Error;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use overtone_core::economy::{Limits, parse_limits};
use overtone_core::engine::commands::{Refusal, Start, init};
use overtone_core::messages::{checks as check_words, cli as words};
use overtone_core::registry::{SpecsDocs, Workflow};
use overtone_session::evidence::{WorkTree, record_baseline};
use overtone_session::hooks::{DocumentMode, update_session};
use overtone_store::specs::{Specs, SpecsError};
use overtone_store::{Holder, Origin, OwnFeatures, Session, SessionId, StoreError, clock};

use super::fleet::{FeatureClaim, claim_feature};
use crate::args::{Names, OutputArgs, ProjectArgs};
use crate::context::Context;
use crate::ui::error::{CommandError, CommandResult, warn};
use crate::ui::nearest::nearest;
use crate::ui::quantity::age;
use checks::StartingChecks;
use feature::AttachedFeature;
use report::StartedWorkflow;

const EXAMPLES: &str = "\
Examples:
  overtone init quick
  overtone init standard --feature user-login
  overtone init debug --force                  replace what is running
  overtone init quick --budget 5usd            stop and ask at 5 dollars
  overtone init quick --feature x --anyway     even if another session works on it, or it came
                                               with the repository

One session works on a feature at a time: it holds the feature while its workflow
runs, until it is stopped, ends, or is inactive for two hours. The feature's
documents are in specs/features/in-progress/<name>. A paused feature or one from
the backlog is moved back there. A feature that was not started on this machine
is refused, since somebody else wrote its tasks. Single-stage workflows keep no
documents.";

/// Start a workflow in a session
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct InitArgs {
    /// The kind of work
    #[arg(value_name = "WORKFLOW", value_parser = Names::workflows())]
    workflow: String,
    /// The feature to work on, in kebab-case; created with its documents if it does not exist
    #[arg(long, value_name = "NAME")]
    feature: Option<String>,
    /// Inside Claude Code, print only what was started: not the stages with their agents and what to do when one fails
    #[arg(long)]
    brief: bool,
    /// What the workflow may use, such as 5usd or 2Mtokens,90min,20agents; smaller limits of the project or your configuration
    /// hold as well
    #[arg(long, value_name = "LIMITS", value_parser = parse_limits)]
    budget: Option<Limits>,
    /// Replace a running workflow, or set broken state files aside
    #[arg(long)]
    force: bool,
    /// Start even if another session, here or on another machine of the fleet, works on the feature, or if the feature
    /// came with the repository
    #[arg(long)]
    anyway: bool,
    /// The session's full id (it may be a new one) [default: the current session, else the one that started last, if it
    /// works in this folder]
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    #[command(flatten)]
    project: ProjectArgs,
    #[command(flatten)]
    output: OutputArgs,
}

pub(crate) fn run(context: &Context, args: &InitArgs) -> CommandResult {
    let workflow = find_workflow(context, &args.workflow)?;
    let session = context.session_to_start(args.session.as_deref())?;
    let project = context.project(args.project.dir.as_deref())?;
    let keeps_documents = workflow.specs_docs() != SpecsDocs::None;
    let request = Request {
        workflow,
        named: args.feature.as_deref(),
        feature: if keeps_documents { args.feature.as_deref() } else { None },
        force: args.force,
        anyway: args.anyway,
        budget: args.budget.unwrap_or_default(),
        project,
    };
    // Checked first, so that nothing is moved for a start that cannot succeed.
    feature::check(&request.project, request.feature)
        .map_err(|error| CommandError::specs(context.lang, &error))?;
    request.refuse_if_foreign(context, &session)?;
    request.refuse_if_in_use(context, &session)?;
    let claimed = claim(context, &session, &request)?;
    let mut checks = StartingChecks::read(context, &request.project, workflow)?;
    checks.budget.workflow = checks.budget.workflow.smaller(&request.budget);
    let set_aside = if args.force { rename_broken_files(context, &session)? } else { Vec::new() };
    let attached = start(context, &session, &request, &checks).inspect_err(|_| {
        if let Some(held) = claimed {
            held.release();
        }
    })?;
    let started = StartedWorkflow { session, workflow, attached, set_aside, checks };
    report::print(context, &args.output, &started, args.brief)
}

/// Asks the fleet, if there is one, whether the feature is free.
fn claim(context: &Context, session: &Session, request: &Request) -> CommandResult<Option<FeatureClaim>> {
    match request.feature {
        Some(feature) => claim_feature(context, session.id(), &request.project, feature, request.anyway),
        None => Ok(None),
    }
}

/// What to start, and where.
struct Request<'a> {
    workflow: Workflow,
    /// The feature as given.
    named: Option<&'a str>,
    /// The same, if the workflow keeps documents.
    feature: Option<&'a str>,
    force: bool,
    anyway: bool,
    budget: Limits,
    project: PathBuf,
}

impl Request<'_> {
    /// Fails if the feature came with the repository: its tasks would become orders, and only the user decides that.
    fn refuse_if_foreign(&self, context: &Context, session: &Session) -> CommandResult {
        if self.anyway {
            return Ok(());
        }
        let Some(name) = self.feature else { return Ok(()) };
        let existing = feature::existing(&Specs::new(&self.project), name)
            .map_err(|error| CommandError::specs(context.lang, &error))?;
        let Some(feature) = existing else { return Ok(()) };
        if works_on(session, name) || self.own_features(context)?.names().contains(name) {
            return Ok(());
        }
        let path = feature.dir.display().to_string();
        Err(CommandError::new(words::feature_not_ours(context.lang, name, &path))
            .hint(words::feature_not_ours_hint(context.lang)))
    }

    fn own_features(&self, context: &Context) -> CommandResult<OwnFeatures> {
        Ok(OwnFeatures::for_project(context.home()?, &self.project))
    }

    /// Fails if another session of this machine works on the feature.
    fn refuse_if_in_use(&self, context: &Context, session: &Session) -> CommandResult {
        if self.anyway {
            return Ok(());
        }
        let Some(feature) = self.feature else { return Ok(()) };
        match active_holder(context, &self.project, feature, Some(session.id()))? {
            Some(holder) => {
                let hint = words::feature_in_use_hint(context.lang, holder.session.short());
                Err(in_use_error(context, feature, &holder).hint(hint))
            }
            None => Ok(()),
        }
    }
}

/// Whether the session's workflow, perhaps of an earlier version that kept no record, is about the feature.
fn works_on(session: &Session, feature: &str) -> bool {
    match session.workflow() {
        Ok(Some(workflow)) => workflow.state.feature_name.as_deref() == Some(feature),
        Ok(None) | Err(_) => false,
    }
}

/// The session that works on a feature. A session whose loop is stopped does not hold its feature.
pub(super) fn active_holder(
    context: &Context,
    project: &Path,
    feature: &str,
    except: Option<&SessionId>,
) -> CommandResult<Option<Holder>> {
    let holder = context.home()?.feature_holder(project, feature, except);
    Ok(holder.filter(|holder| !holder.is_paused))
}

pub(super) fn in_use_error(context: &Context, feature: &str, holder: &Holder) -> CommandError {
    let since = age(clock::now().since(holder.last_active));
    CommandError::new(words::feature_in_use(context.lang, feature, holder.session.short(), &since))
}

/// The workflow of that name; the error suggests the nearest name.
pub(super) fn find_workflow(context: &Context, name: &str) -> CommandResult<Workflow> {
    let unknown = || {
        let names = Workflow::ALL.map(Workflow::name);
        let list = names.join(", ");
        let hint = match nearest(name, names) {
            Some(near) => words::did_you_mean_or(context.lang, near, &list),
            None => words::one_of(context.lang, &list),
        };
        CommandError::new(words::unknown_workflow(context.lang, name)).hint(hint)
    };
    Workflow::from_name(name).ok_or_else(unknown)
}

fn rename_broken_files(context: &Context, session: &Session) -> CommandResult<Vec<PathBuf>> {
    if !session.exists() {
        return Ok(Vec::new());
    }
    session.rename_broken_files().map_err(|error| CommandError::store(context.lang, &error))
}

fn start(
    context: &Context,
    session: &Session,
    request: &Request,
    checks: &StartingChecks,
) -> CommandResult<AttachedFeature> {
    // Two sessions that start at the same moment must not both find the feature free.
    let _lock = match request.feature {
        Some(_) => Some(lock_home(context)?),
        None => None,
    };
    request.refuse_if_in_use(context, session)?;
    let own_features = request.own_features(context)?;
    // Read before the session is locked, because a large project takes a while.
    let tree = WorkTree::at_beginning(&request.project);
    let mut attached = AttachedFeature::Nothing;
    let problems =
        update_session(context.home()?, session, Some(&request.project), DocumentMode::Replace, |snapshot| {
            let plan = Start {
                force: request.force,
                guard: checks.guard,
                rules: checks.rules,
                budget: checks.budget,
                by: Some(context.initiator(snapshot)),
                ..Start::new(session.id().as_str(), request.workflow, clock::now())
            };
            // A refusal comes before any folder is created.
            init(snapshot, &plan).map_err(StartError::Refused)?;
            session.pin_checks(&checks.checks).map_err(StartError::Evidence)?;
            record_baseline(session, tree.as_ref()).map_err(StartError::Evidence)?;
            session.forget_helpers().map_err(StartError::Evidence)?;
            if let Some(name) = request.feature {
                own_features.add(name, Some(session.id()), clock::now()).map_err(StartError::Record)?;
            }
            attached = feature::attach(&request.project, request.workflow, request.named)
                .map_err(StartError::Specs)?;
            let plan = Start {
                feature: attached.name(),
                feature_is_new: attached.is_new(),
                tasks_ticked: attached.tasks_ticked(),
                ..plan
            };
            init(snapshot, &plan).map_err(StartError::Refused)
        });
    match problems {
        Ok(problems) if problems.is_empty() => {
            record_project(session, &request.project);
            if tree.is_none() {
                warn(&check_words::tree_not_read(context.lang, &request.project.display().to_string()));
            }
            Ok(attached)
        }
        // The state files could not be replaced.
        Ok(problems) => Err(CommandError::problems(context.lang, &problems)),
        Err(error) => Err(start_error(context, error.as_ref())),
    }
}

fn lock_home(context: &Context) -> CommandResult<File> {
    let home = context.home()?;
    home.lock().map_err(|error| CommandError::io(context.lang, home.root(), &error))
}

/// Records the project of a session that was not started by the client.
fn record_project(session: &Session, project: &Path) {
    let origin = session.origin();
    if origin.project.is_none() {
        // The workflow has started. Without the record, it is only not found by its folder.
        let _ = session.note_origin(&Origin { project: Some(project.to_owned()), ..origin });
    }
}

/// Why no workflow was started.
#[derive(Debug, thiserror::Error)]
enum StartError {
    #[error("{0}")]
    Refused(Refusal),
    #[error("{0}")]
    Specs(SpecsError),
    /// It could not be recorded that this machine works on the feature.
    #[error("{0}")]
    Record(io::Error),
    /// The checks of the workflow or the state of the files could not be written.
    #[error("{0}")]
    Evidence(StoreError),
}

fn start_error(context: &Context, error: &(dyn Error + 'static)) -> CommandError {
    match error.downcast_ref::<StartError>() {
        Some(StartError::Refused(Refusal::Running { workflow_type, done, total })) => {
            CommandError::new(words::running(context.lang, workflow_type, *done, *total))
                .hint(words::running_hint(context.lang))
        }
        Some(StartError::Refused(Refusal::Moved { to })) => {
            CommandError::new(words::moved_to(context.lang, to)).hint(words::running_hint(context.lang))
        }
        Some(StartError::Specs(error)) => CommandError::specs(context.lang, error),
        Some(StartError::Evidence(error)) => CommandError::store(context.lang, error),
        Some(StartError::Record(error)) => match context.home() {
            Ok(home) => CommandError::io(context.lang, home.root(), error),
            Err(error) => error,
        },
        _ => CommandError::driver(context.lang, error),
    }
}
