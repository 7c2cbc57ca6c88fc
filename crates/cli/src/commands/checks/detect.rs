//! `overtone checks detect`: proposes checks from the files of the project, and adds them to `overtone.toml` on request.

use clap::Args;
use overtone_core::evidence::detect::ProposedCheck;
use overtone_core::messages::{Lang, checks as words};
use overtone_hook::ansi::{Text, Tone};
use overtone_session::evidence::detect_checks;
use overtone_store::project_file::{AdditionError, NewCheck, ProjectFile};
use serde::Serialize;

use crate::args::{OutputArgs, ProjectArgs};
use crate::context::Context;
use crate::project_checks::{file_error, stage_list};
use crate::ui::error::{CommandError, CommandResult};
use crate::ui::out;
use crate::ui::table::{Cell, Table};

const EXAMPLES: &str = "\
Examples:
  overtone checks detect              only shows what it found
  overtone checks detect --write      adds it to overtone.toml

Reads the manifests of cargo, npm, pytest, go, Maven, Gradle, dotnet, mix and
others, Makefiles and justfiles. It runs nothing. The rest of overtone.toml stays
as it is, and a check that exists is never changed.";

/// Propose checks from the project's files
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct DetectArgs {
    /// Add the proposed checks to overtone.toml
    #[arg(long)]
    write: bool,
    #[command(flatten)]
    project: ProjectArgs,
    #[command(flatten)]
    output: OutputArgs,
}

/// The output of `overtone checks detect --json`.
#[derive(Serialize)]
struct DetectJson<'a> {
    file: String,
    proposed: Vec<ProposedJson<'a>>,
    /// The names of the checks that were written.
    added: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ProposedJson<'a> {
    name: &'a str,
    run: &'a str,
    stages: Vec<&'static str>,
    found_in: &'a str,
}

pub(super) fn run(context: &Context, args: &DetectArgs) -> CommandResult {
    let lang = context.lang;
    let project = context.project(args.project.dir.as_deref())?;
    let path = ProjectFile::path_in(&project).display().to_string();
    let proposed = detect_checks(&project).map_err(|error| CommandError::io(lang, &project, &error))?;
    let added = if args.write {
        let new: Vec<_> = proposed.iter().map(|check| new_check(lang, check)).collect();
        ProjectFile::add_checks(&project, &new).map_err(|error| addition_error(lang, &path, &error))?
    } else {
        Vec::new()
    };
    if args.output.json {
        return out::json(&DetectJson {
            file: path,
            proposed: proposed.iter().map(to_json).collect(),
            added,
        });
    }
    if proposed.is_empty() {
        return out::print(&words::nothing_detected(lang, &project.display().to_string()));
    }
    let end = if !args.write {
        words::write_hint(lang)
    } else if added.is_empty() {
        words::nothing_to_add(lang, &path)
    } else {
        words::written(lang, &path, &added.join(", "))
    };
    out::print(&(render(context, &proposed) + &format!("{end}\n")))
}

fn new_check(lang: Lang, proposed: &ProposedCheck) -> NewCheck {
    NewCheck {
        name: proposed.name.clone(),
        run: proposed.run.clone(),
        stages: proposed.stages.clone(),
        comment: Some(words::found_in(lang, &proposed.because)),
    }
}

fn to_json(proposed: &ProposedCheck) -> ProposedJson<'_> {
    ProposedJson {
        name: &proposed.name,
        run: &proposed.run,
        stages: proposed.stages.iter().map(|stage| stage.key()).collect(),
        found_in: &proposed.because,
    }
}

fn render(context: &Context, proposed: &[ProposedCheck]) -> Text {
    let lang = context.lang;
    let mut table = Table::with_head([
        words::head_check(lang),
        words::head_stages(lang),
        words::head_found_in(lang),
        words::head_command(lang),
    ]);
    for check in proposed {
        table.row([
            Cell::new(&check.name).tone(Tone::Strong),
            stage_list(&check.stages).into(),
            (&check.because).into(),
            (&check.run).into(),
        ]);
    }
    table.render(context.palette)
}

fn addition_error(lang: Lang, path: &str, error: &AdditionError) -> CommandError {
    match error {
        AdditionError::File(error) => file_error(lang, error),
        AdditionError::NotAppendable(text) => {
            CommandError::new(words::not_appendable(lang, path)).hint(words::not_appendable_hint(lang, text))
        }
    }
}
