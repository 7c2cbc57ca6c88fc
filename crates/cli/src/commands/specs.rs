//! `overtone specs`: the features of a project and where they are.

mod show;

use std::fs;
use std::path::PathBuf;

use overtone_messages::{cli as words, shelf_label};
use overtone_registry::{SpecsDocs, Workflow};
use overtone_store::specs::{Feature, FeatureName, Shelf, Specs, SpecsError};
use overtone_store::{OwnFeatures, clock};
use serde_json::json;

use super::init::{find_workflow, holder, in_use};
use crate::args::{ArchiveArgs, FeatureArgs, OutputArgs, SpecsAction, SpecsArgs};
use crate::context::Context;
use crate::ui::error::{Done, Failure, warn};
use crate::ui::nearest::nearest;
use crate::ui::out;
use show::{object, tasks_of};

pub(crate) fn run(context: &Context, args: &SpecsArgs) -> Done {
    let project = context.project(args.project.dir.as_deref())?;
    let desk = Desk { context, specs: Specs::new(&project), project };
    match &args.action {
        SpecsAction::New { name, workflow, backlog, output } => {
            desk.create(name, workflow.as_deref(), *backlog, output)
        }
        SpecsAction::List { output } => desk.list(output),
        SpecsAction::Show(args) => desk.show(args),
        SpecsAction::Pause(args) => desk.shift(args, Shelf::Paused),
        SpecsAction::Resume(args) => desk.shift(args, Shelf::InProgress),
        SpecsAction::Backlog(args) => desk.shift(args, Shelf::Backlog),
        SpecsAction::Archive(args) => desk.archive(args),
    }
}

struct Desk<'a> {
    context: &'a Context,
    specs: Specs,
    project: PathBuf,
}

impl Desk<'_> {
    fn create(&self, name: &str, workflow: Option<&str>, backlog: bool, output: &OutputArgs) -> Done {
        let workflow = workflow.map(|name| find_workflow(self.context, name)).transpose()?;
        let name = FeatureName::try_from(name).map_err(|error| self.failure(&error.into()))?;
        // Whoever makes a feature wants its list of tasks, whatever the workflow keeps.
        let docs = match workflow.map(Workflow::specs_docs) {
            None | Some(SpecsDocs::None) => SpecsDocs::Tasks,
            Some(docs) => docs,
        };
        let on = if backlog { Shelf::Backlog } else { Shelf::InProgress };
        let now = clock::to_iso(clock::now());
        // Only what is made here is recorded as begun here, and before it is there.
        self.specs.ensure_free(&name).map_err(|error| self.failure(&error))?;
        let session = Context::sessions_of_environment();
        let recorded = self.own_features()?.add(name.as_str(), session.first(), clock::now());
        let root = self.context.home()?.root();
        recorded.map_err(|error| Failure::io(self.context.lang, root, &error))?;
        let made =
            self.specs.create(&name, docs, workflow, &now, on).map_err(|error| self.failure(&error))?;
        let path = made.dir.display().to_string();
        tell(&made, output, &words::feature_made(self.context.lang, &made.name, &path))
    }

    fn list(&self, output: &OutputArgs) -> Done {
        let features = self.specs.list().map_err(|error| self.failure(&error.into()))?;
        if output.json {
            let list: Vec<_> = features.iter().map(object).collect();
            return out::json(&json!({ "features": list }));
        }
        if features.is_empty() {
            return out::print(&words::no_features(self.context.lang));
        }
        out::print(&show::table(self.context, &features).render(self.context.palette))
    }

    fn show(&self, args: &FeatureArgs) -> Done {
        let found = self.specs.find(&args.name).map_err(|error| self.failure(&error.into()))?;
        let feature = found.ok_or_else(|| self.unknown(&args.name))?;
        if args.output.json {
            return out::json(&object(&feature));
        }
        out::print(&show::text(self.context, &feature))
    }

    fn shift(&self, args: &FeatureArgs, to: Shelf) -> Done {
        let lang = self.context.lang;
        let before = self.specs.find(&args.name).map_err(|error| self.failure(&error.into()))?;
        let moved = self.specs.shift(&args.name, to).map_err(|error| self.failure(&error))?;
        let target = shelf_label(lang, to.folder());
        let line = match before.map(|feature| feature.shelf) {
            Some(from) if from == to => words::feature_there(lang, &moved.name, target),
            Some(from) => words::feature_moved(lang, &moved.name, shelf_label(lang, from.folder()), target),
            None => words::feature_there(lang, &moved.name, target),
        };
        tell(&moved, &args.output, &line)
    }

    fn archive(&self, args: &ArchiveArgs) -> Done {
        let (force, args) = (args.force, &args.feature);
        if !force {
            self.refuse_if_in_use(&args.name)?;
        }
        let before = self.specs.find(&args.name).map_err(|error| self.failure(&error.into()))?;
        let date = clock::to_date(clock::now());
        let to = match self.specs.archive(&args.name, &date) {
            Err(SpecsError::NotFound { .. }) => self.half_archived(&args.name)?,
            outcome => outcome.map_err(|error| self.failure(&error))?,
        };
        if let Err(error) = self.own_features()?.remove(&args.name) {
            // The feature is in the archive all the same.
            warn(&words::cannot_use(self.context.lang, "features.json", &error.to_string()));
        }
        if args.output.json {
            let folder = to.file_name().unwrap_or_default().to_string_lossy();
            return out::json(&json!({ "name": args.name, "shelf": "archive", "folder": folder, "dir": to }));
        }
        let (lang, path) = (self.context.lang, to.display().to_string());
        let (checked, total) = before.as_ref().map_or((0, 0), tasks_of);
        out::print(&match total - checked {
            0 => words::feature_archived(lang, &args.name, &path),
            open => words::feature_archived_open(lang, &args.name, &path, open),
        })
    }

    /// Where the feature is, if an earlier run was ended between putting it away and forgetting that it was begun here.
    fn half_archived(&self, name: &str) -> Result<PathBuf, Failure> {
        let is_recorded = self.own_features()?.names().contains(name);
        let folder = self.project.join("specs/features/archive");
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let ours = |path: &PathBuf| {
            let folder = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            folder.split_once('_').is_some_and(|(_, feature)| feature == name)
        };
        match entries.filter(ours).max() {
            Some(path) if is_recorded => Ok(path),
            _ => Err(self.unknown(name)),
        }
    }

    fn own_features(&self) -> Result<OwnFeatures, Failure> {
        Ok(OwnFeatures::of(self.context.home()?, &self.project))
    }

    /// Fails if a session other than the one this runs in works on the feature.
    fn refuse_if_in_use(&self, name: &str) -> Done {
        let own = Context::sessions_of_environment();
        match holder(self.context, &self.project, name, own.first())? {
            Some(holder) => {
                let hint = words::archive_in_use_hint(self.context.lang, holder.session.short());
                Err(in_use(self.context, name, &holder).hint(hint))
            }
            None => Ok(()),
        }
    }

    fn failure(&self, error: &SpecsError) -> Failure {
        match error {
            SpecsError::NotFound { name, .. } => self.unknown(name),
            other => Failure::specs(self.context.lang, other),
        }
    }

    /// There is no such feature; perhaps a similar one.
    fn unknown(&self, name: &str) -> Failure {
        let lang = self.context.lang;
        let features = self.specs.list().unwrap_or_default();
        let hint = match nearest(name, features.iter().map(|feature| feature.name.as_str())) {
            Some(near) => words::did_you_mean(lang, near),
            None => words::no_feature_hint(lang),
        };
        let folder = self.project.join("specs").join("features");
        Failure::new(words::no_feature(lang, name, &folder.display().to_string())).hint(hint)
    }
}

fn tell(feature: &Feature, output: &OutputArgs, line: &str) -> Done {
    if output.json { out::json(&object(feature)) } else { out::print(line) }
}
