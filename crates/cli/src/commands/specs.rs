//! `overtone specs`: the features of a project and the shelves they are on.

mod show;

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use overtone_core::messages::{cli as words, shelf_label};
use overtone_core::registry::{SpecsDocs, Workflow};
use overtone_store::specs::{Feature, FeatureName, Shelf, Specs, SpecsError};
use overtone_store::{OwnFeatures, clock};
use serde::Serialize;

use super::init::{active_holder, find_workflow, in_use_error};
use crate::args::{Names, OutputArgs, ProjectArgs};
use crate::context::Context;
use crate::ui::error::{CommandError, CommandResult, warn};
use crate::ui::nearest::nearest;
use crate::ui::out;
use show::{FeatureJson, task_counts};

const EXAMPLES: &str = "\
Examples:
  overtone specs new user-login --workflow standard
  overtone specs new dark-mode --backlog
  overtone specs pause user-login
  overtone specs archive user-login
  overtone specs list --json";

/// Create features and move them between in-progress, paused, backlog and archive
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SpecsArgs {
    #[command(subcommand)]
    action: SpecsAction,
    #[command(flatten)]
    project: ProjectArgs,
}

#[derive(Debug, Subcommand)]
enum SpecsAction {
    /// Create a feature with its documents
    New {
        /// In kebab-case, like user-login
        #[arg(value_name = "NAME")]
        name: String,
        /// The workflow whose stages and documents it starts with
        #[arg(long, value_name = "WORKFLOW", value_parser = Names::workflows(), hide_possible_values = true)]
        workflow: Option<String>,
        /// Save it in the backlog for later
        #[arg(long)]
        backlog: bool,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// List all features
    List {
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Show one feature and its open tasks
    Show(FeatureArgs),
    /// Pause a feature
    Pause(FeatureArgs),
    /// Continue a paused feature or one from the backlog
    Resume(FeatureArgs),
    /// Move a feature back to the backlog
    Backlog(FeatureArgs),
    /// Move a finished feature to the archive, under today's date
    Archive(ArchiveArgs),
}

#[derive(Debug, Args)]
struct ArchiveArgs {
    #[command(flatten)]
    feature: FeatureArgs,
    /// Archive it even if a session is working on it
    #[arg(long)]
    force: bool,
}

#[derive(Debug, Args)]
struct FeatureArgs {
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    output: OutputArgs,
}

pub(crate) fn run(context: &Context, args: &SpecsArgs) -> CommandResult {
    let project = context.project(args.project.dir.as_deref())?;
    let commands = FeatureCommands { context, specs: Specs::new(&project), project };
    match &args.action {
        SpecsAction::New { name, workflow, backlog, output } => {
            commands.create(name, workflow.as_deref(), *backlog, output)
        }
        SpecsAction::List { output } => commands.list(output),
        SpecsAction::Show(args) => commands.show(args),
        SpecsAction::Pause(args) => commands.shift(args, Shelf::Paused),
        SpecsAction::Resume(args) => commands.shift(args, Shelf::InProgress),
        SpecsAction::Backlog(args) => commands.shift(args, Shelf::Backlog),
        SpecsAction::Archive(args) => commands.archive(args),
    }
}

/// The output of `overtone specs list --json`.
#[derive(Serialize)]
struct FeaturesJson<'a> {
    features: Vec<FeatureJson<'a>>,
}

/// The output of `overtone specs archive --json`.
#[derive(Serialize)]
struct ArchivedJson<'a> {
    name: &'a str,
    shelf: &'static str,
    folder: &'a str,
    dir: &'a Path,
}

struct FeatureCommands<'a> {
    context: &'a Context,
    specs: Specs,
    project: PathBuf,
}

impl FeatureCommands<'_> {
    fn create(
        &self,
        name: &str,
        workflow: Option<&str>,
        backlog: bool,
        output: &OutputArgs,
    ) -> CommandResult {
        let workflow = workflow.map(|name| find_workflow(self.context, name)).transpose()?;
        let name = FeatureName::try_from(name).map_err(|error| self.specs_error(&error.into()))?;
        // A new feature always gets a task list, whatever the workflow keeps.
        let docs = match workflow.map(Workflow::specs_docs) {
            None | Some(SpecsDocs::None) => SpecsDocs::Tasks,
            Some(docs) => docs,
        };
        let on = if backlog { Shelf::Backlog } else { Shelf::InProgress };
        let now = clock::to_iso(clock::now());
        // A feature is recorded as begun on this machine before it is created.
        self.specs.ensure_free(&name).map_err(|error| self.specs_error(&error))?;
        let session = Context::sessions_of_environment();
        let recorded = self.own_features()?.add(name.as_str(), session.first(), clock::now());
        let root = self.context.home()?.root();
        recorded.map_err(|error| CommandError::io(self.context.lang, root, &error))?;
        let made =
            self.specs.create(&name, docs, workflow, &now, on).map_err(|error| self.specs_error(&error))?;
        let path = made.dir.display().to_string();
        print_feature(&made, output, &words::feature_made(self.context.lang, &made.name, &path))
    }

    fn list(&self, output: &OutputArgs) -> CommandResult {
        let features = self.specs.list().map_err(|error| self.specs_error(&error.into()))?;
        if output.json {
            let features = features.iter().map(FeatureJson::new).collect();
            return out::json(&FeaturesJson { features });
        }
        if features.is_empty() {
            return out::print(&words::no_features(self.context.lang));
        }
        out::print(&show::table(self.context, &features).render(self.context.palette))
    }

    fn show(&self, args: &FeatureArgs) -> CommandResult {
        let found = self.specs.find(&args.name).map_err(|error| self.specs_error(&error.into()))?;
        let feature = found.ok_or_else(|| self.unknown_feature(&args.name))?;
        if args.output.json {
            return out::json(&FeatureJson::new(&feature));
        }
        out::print(&show::render(self.context, &feature))
    }

    fn shift(&self, args: &FeatureArgs, to: Shelf) -> CommandResult {
        let lang = self.context.lang;
        let before = self.specs.find(&args.name).map_err(|error| self.specs_error(&error.into()))?;
        let moved = self.specs.shift(&args.name, to).map_err(|error| self.specs_error(&error))?;
        let target = shelf_label(lang, to.folder());
        let line = match before.map(|feature| feature.shelf) {
            Some(from) if from == to => words::feature_there(lang, &moved.name, target),
            Some(from) => words::feature_moved(lang, &moved.name, shelf_label(lang, from.folder()), target),
            None => words::feature_there(lang, &moved.name, target),
        };
        print_feature(&moved, &args.output, &line)
    }

    fn archive(&self, args: &ArchiveArgs) -> CommandResult {
        let (force, args) = (args.force, &args.feature);
        if !force {
            self.refuse_if_in_use(&args.name)?;
        }
        let before = self.specs.find(&args.name).map_err(|error| self.specs_error(&error.into()))?;
        let date = clock::to_date(clock::now());
        let to = match self.specs.archive(&args.name, &date) {
            Err(SpecsError::NotFound { .. }) => self.find_half_archived(&args.name)?,
            outcome => outcome.map_err(|error| self.specs_error(&error))?,
        };
        if let Err(error) = self.own_features()?.remove(&args.name) {
            // The feature is archived nevertheless.
            warn(&words::cannot_use(self.context.lang, "features.json", &error.to_string()));
        }
        if args.output.json {
            let folder = to.file_name().unwrap_or_default().to_string_lossy();
            return out::json(&ArchivedJson {
                name: &args.name,
                shelf: Shelf::Archive.folder(),
                folder: &folder,
                dir: &to,
            });
        }
        let (lang, path) = (self.context.lang, to.display().to_string());
        let (checked, total) = before.as_ref().map(task_counts).unwrap_or_default();
        out::print(&match total - checked {
            0 => words::feature_archived(lang, &args.name, &path),
            open => words::feature_archived_open(lang, &args.name, &path, open),
        })
    }

    /// The archive folder of a feature, if an earlier run ended between moving it and removing its record.
    fn find_half_archived(&self, name: &str) -> CommandResult<PathBuf> {
        let is_recorded = self.own_features()?.names().contains(name);
        let folder = self.project.join("specs/features/archive");
        let mut newest = None;
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            // `<date>_<feature>`
            match entry.file_name().to_string_lossy().split_once('_') {
                Some((_, feature)) if feature == name => newest = newest.max(Some(entry.path())),
                _ => {}
            }
        }
        match newest {
            Some(path) if is_recorded => Ok(path),
            _ => Err(self.unknown_feature(name)),
        }
    }

    fn own_features(&self) -> CommandResult<OwnFeatures> {
        Ok(OwnFeatures::for_project(self.context.home()?, &self.project))
    }

    /// Fails if a session other than the one this runs in works on the feature.
    fn refuse_if_in_use(&self, name: &str) -> CommandResult {
        let own = Context::sessions_of_environment();
        match active_holder(self.context, &self.project, name, own.first())? {
            Some(holder) => {
                let hint = words::archive_in_use_hint(self.context.lang, holder.session.short());
                Err(in_use_error(self.context, name, &holder).hint(hint))
            }
            None => Ok(()),
        }
    }

    fn specs_error(&self, error: &SpecsError) -> CommandError {
        match error {
            SpecsError::NotFound { name, .. } => self.unknown_feature(name),
            other => CommandError::specs(self.context.lang, other),
        }
    }

    /// The error for a name without a feature, with the nearest name as a hint.
    fn unknown_feature(&self, name: &str) -> CommandError {
        let lang = self.context.lang;
        let features = self.specs.list().unwrap_or_default();
        let hint = match nearest(name, features.iter().map(|feature| feature.name.as_str())) {
            Some(near) => words::did_you_mean(lang, near),
            None => words::no_feature_hint(lang),
        };
        let folder = self.project.join("specs").join("features");
        CommandError::new(words::no_feature(lang, name, &folder.display().to_string())).hint(hint)
    }
}

fn print_feature(feature: &Feature, output: &OutputArgs, line: &str) -> CommandResult {
    if output.json { out::json(&FeatureJson::new(feature)) } else { out::print(line) }
}
