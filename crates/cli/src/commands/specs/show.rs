//! Features as text and as JSON.

use std::path::Path;

use overtone_core::messages::{cli as words, shelf_label};
use overtone_hook::ansi::{Text, Tone};
use overtone_store::specs::{Feature, Shelf};
use serde::Serialize;

use crate::context::Context;
use crate::ui::table::{Cell, Fields, Table};

/// A feature in the JSON output.
#[derive(Serialize)]
pub(super) struct FeatureJson<'a> {
    name: &'a str,
    shelf: &'static str,
    workflow: Option<&'a str>,
    created: Option<&'a str>,
    dir: &'a Path,
    tasks: Option<TasksJson<'a>>,
}

#[derive(Serialize)]
struct TasksJson<'a> {
    checked: usize,
    total: usize,
    pending: &'a [String],
}

impl<'a> FeatureJson<'a> {
    pub(super) fn new(feature: &'a Feature) -> Self {
        let tasks = feature.tasks.as_ref();
        Self {
            name: &feature.name,
            shelf: feature.shelf.folder(),
            workflow: feature.workflow.as_deref(),
            created: feature.created.as_deref(),
            dir: &feature.dir,
            tasks: tasks.map(|tasks| TasksJson {
                checked: tasks.checked,
                total: tasks.total,
                pending: &tasks.pending,
            }),
        }
    }
}

/// Ticked tasks and all tasks.
pub(super) fn task_counts(feature: &Feature) -> (usize, usize) {
    match &feature.tasks {
        Some(tasks) => (tasks.checked, tasks.total),
        None => (0, 0),
    }
}

pub(super) fn table(context: &Context, features: &[Feature]) -> Table {
    let lang = context.lang;
    let mut table = Table::with_head([
        words::head_shelf(lang),
        words::head_name(lang),
        words::label_workflow(lang),
        words::head_tasks(lang),
        words::head_created(lang),
    ]);
    for feature in features {
        let tone = if feature.shelf == Shelf::InProgress { Tone::Strong } else { Tone::Faint };
        table.row([
            Cell::new(shelf_label(lang, feature.shelf.folder())).tone(tone),
            feature.name.as_str().into(),
            feature.workflow.as_deref().unwrap_or("–").into(),
            Cell::new(progress(feature)).right(),
            day(feature).into(),
        ]);
    }
    table
}

pub(super) fn render(context: &Context, feature: &Feature) -> Text {
    let lang = context.lang;
    let mut fields = Fields::default();
    fields.add(words::label_feature(lang), Cell::new(&*feature.name).tone(Tone::Strong));
    fields.add(words::head_shelf(lang), shelf_label(lang, feature.shelf.folder()));
    if let Some(workflow) = &feature.workflow {
        fields.add(words::label_workflow(lang), workflow.as_str());
    }
    if let Some(created) = &feature.created {
        fields.add(words::head_created(lang), created.as_str());
    }
    fields.add(words::label_folder(lang), feature.dir.display().to_string());
    let pending = feature.tasks.iter().flat_map(|tasks| &tasks.pending);
    let tasks = pending.map(|task| Cell::new(format!("- [ ] {task}")));
    let lines = std::iter::once(Cell::new(progress(feature))).chain(tasks);
    fields.add_lines(words::head_tasks(lang), lines.collect());
    fields.render(context.palette)
}

fn progress(feature: &Feature) -> String {
    match task_counts(feature) {
        (_, 0) => "–".to_owned(),
        (checked, total) => format!("{checked}/{total}"),
    }
}

/// The date of a time stamp; anything else is shown as it is.
fn day(feature: &Feature) -> &str {
    let created = feature.created.as_deref().unwrap_or("–");
    created.split('T').next().unwrap_or(created)
}
