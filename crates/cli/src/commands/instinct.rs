//! `overtone instinct`: the lessons learned in a project, and the user's judgement on them.

use clap::{Args, Subcommand};
use overtone_core::engine::instinct::Signal;
use overtone_core::engine::text::short_id;
use overtone_core::messages::cli as words;
use overtone_hook::ansi::Tone;
use overtone_store::clock;
use overtone_store::instincts::{Lesson, LessonOrigin, Memory};
use serde::Serialize;

use crate::args::{OutputArgs, ProjectArgs};
use crate::context::Context;
use crate::ui::error::{CommandError, CommandResult};
use crate::ui::nearest::nearest;
use crate::ui::out;
use crate::ui::quantity::{age, or_dash, percent};
use crate::ui::table::{Cell, Table};

const EXAMPLES: &str = "\
Examples:
  overtone instinct list
  overtone instinct contradict er-1a2b3c4d
  overtone instinct rm er-1a2b3c4d
  overtone instinct clear

A lesson starts at 30% confidence: +5% when it is seen or confirmed, -10% when
it is contradicted, -2% per week. From 70% it is passed on to the main agent;
below 20% it is forgotten. The list shows which session a lesson comes from and
what was seen last; the main agent is told that a command often fails, not what
its error says.";

/// List, rate and remove the lessons learned in a project
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct InstinctArgs {
    #[command(subcommand)]
    action: InstinctAction,
    #[command(flatten)]
    project: ProjectArgs,
}

#[derive(Debug, Subcommand)]
enum InstinctAction {
    /// List the lessons, highest confidence first
    List {
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Mark a lesson as right
    Confirm(LessonArgs),
    /// Mark a lesson as wrong
    Contradict(LessonArgs),
    /// Forget a lesson
    Rm(LessonArgs),
    /// Forget every lesson of the project
    Clear {
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Remove lessons whose confidence has decayed
    Decay {
        #[command(flatten)]
        output: OutputArgs,
    },
}

#[derive(Debug, Args)]
struct LessonArgs {
    #[arg(value_name = "ID")]
    id: String,
    #[command(flatten)]
    output: OutputArgs,
}

pub(crate) fn run(context: &Context, args: &InstinctArgs) -> CommandResult {
    let project = context.project(args.project.dir.as_deref())?;
    let commands = LessonCommands { context, memory: Memory::for_project(context.home()?, &project) };
    match &args.action {
        InstinctAction::List { output } => commands.list(output),
        InstinctAction::Confirm(args) => commands.judge(args, Signal::Confirm),
        InstinctAction::Contradict(args) => commands.judge(args, Signal::Contradict),
        InstinctAction::Rm(args) => commands.remove(args),
        InstinctAction::Clear { output } => commands.clear(output),
        InstinctAction::Decay { output } => commands.decay(output),
    }
}

struct LessonCommands<'a> {
    context: &'a Context,
    memory: Memory,
}

impl LessonCommands<'_> {
    fn lessons(&self) -> CommandResult<Vec<Lesson>> {
        let lang = self.context.lang;
        self.memory.lessons(clock::now()).map_err(|error| {
            CommandError::new(words::cannot_read_lessons(lang, &error.to_string()))
                .hint(words::check_path_hint(lang))
        })
    }

    fn list(&self, output: &OutputArgs) -> CommandResult {
        let lessons = self.lessons()?;
        if output.json {
            return out::json(&LessonsJson { lessons: lessons.iter().map(LessonJson::new).collect() });
        }
        if lessons.is_empty() {
            return out::print(&words::no_lessons(self.context.lang));
        }
        out::print(&table(self.context, &lessons).render(self.context.palette))
    }

    fn judge(&self, args: &LessonArgs, signal: Signal) -> CommandResult {
        let lang = self.context.lang;
        let judged = self.memory.judge(&args.id, signal, clock::now());
        let judged = judged.map_err(|error| CommandError::store(lang, &error))?;
        let Some(lesson) = judged else { return Err(self.unknown_lesson(&args.id)?) };
        if args.output.json {
            return out::json(&LessonJson::new(&lesson));
        }
        let sure = percent(lesson.confidence.fraction());
        out::print(&if lesson.confidence.is_dropped() {
            words::lesson_forgotten(lang, &lesson.id)
        } else {
            words::lesson_judged(lang, &lesson.id, &sure)
        })
    }

    fn remove(&self, args: &LessonArgs) -> CommandResult {
        let lang = self.context.lang;
        let removed = self.memory.remove(&args.id, clock::now());
        let removed = removed.map_err(|error| CommandError::store(lang, &error))?;
        let Some(lesson) = removed else { return Err(self.unknown_lesson(&args.id)?) };
        if args.output.json {
            return out::json(&LessonJson::new(&lesson));
        }
        out::print(&words::lesson_forgotten(lang, &lesson.id))
    }

    fn clear(&self, output: &OutputArgs) -> CommandResult {
        let lang = self.context.lang;
        let removed = self.memory.clear(clock::now()).map_err(|error| CommandError::store(lang, &error))?;
        if output.json {
            return out::json(&RemovedJson { removed: removed.iter().map(LessonJson::new).collect() });
        }
        out::print(&match removed.len() {
            0 => words::no_lessons(lang),
            count => words::lessons_cleared(lang, count),
        })
    }

    fn unknown_lesson(&self, id: &str) -> CommandResult<CommandError> {
        let lang = self.context.lang;
        let lessons = self.lessons()?;
        let hint = match nearest(id, lessons.iter().map(|lesson| lesson.id.as_str())) {
            Some(near) => words::did_you_mean(lang, near),
            None => words::no_lesson_hint(lang),
        };
        Ok(CommandError::new(words::no_lesson(lang, id)).hint(hint))
    }

    fn decay(&self, output: &OutputArgs) -> CommandResult {
        let lang = self.context.lang;
        let removed = self.memory.decay(clock::now()).map_err(|error| CommandError::store(lang, &error))?;
        if output.json {
            return out::json(&RemovedJson { removed: removed.iter().map(LessonJson::new).collect() });
        }
        let names: Vec<_> = removed.iter().map(|lesson| lesson.id.as_str()).collect();
        out::print(&match names.len() {
            0 => words::nothing_faded(lang),
            count => words::faded(lang, count, &names.join(", ")),
        })
    }
}

/// The output of `overtone instinct list --json`.
#[derive(Serialize)]
struct LessonsJson<'a> {
    lessons: Vec<LessonJson<'a>>,
}

/// The JSON output of `clear` and `decay`.
#[derive(Serialize)]
struct RemovedJson<'a> {
    removed: Vec<LessonJson<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LessonJson<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    trigger: &'a str,
    lesson: &'a str,
    confidence: f64,
    applicable: bool,
    count: u32,
    last_seen: Option<String>,
    evidence: Option<&'a str>,
    origin: Option<OriginJson<'a>>,
}

#[derive(Serialize)]
struct OriginJson<'a> {
    session: &'a str,
    project: &'a str,
    at: Option<String>,
}

impl<'a> LessonJson<'a> {
    fn new(lesson: &'a Lesson) -> Self {
        Self {
            id: &lesson.id,
            kind: lesson.kind.key(),
            trigger: &lesson.trigger,
            lesson: &lesson.lesson,
            confidence: lesson.confidence.fraction(),
            applicable: lesson.confidence.is_applicable(),
            count: lesson.count,
            last_seen: lesson.last_seen.map(clock::to_iso),
            evidence: lesson.evidence.as_deref(),
            origin: lesson.origin.as_ref().map(OriginJson::new),
        }
    }
}

impl<'a> OriginJson<'a> {
    fn new(origin: &'a LessonOrigin) -> Self {
        Self { session: &origin.session, project: &origin.project, at: origin.at.map(clock::to_iso) }
    }
}

fn table(context: &Context, lessons: &[Lesson]) -> Table {
    let lang = context.lang;
    let now = clock::now();
    let mut table = Table::with_head([
        "ID".into(),
        words::head_confidence(lang),
        words::head_seen(lang),
        words::head_last_seen(lang),
        words::head_from(lang),
        words::head_lesson(lang),
        words::head_evidence(lang),
    ]);
    for lesson in lessons {
        let tone = if lesson.confidence.is_applicable() { Tone::Good } else { Tone::Plain };
        let seen = lesson.last_seen.map(|at| words::ago(lang, &age(now.since(at))));
        let origin = lesson.origin.as_ref().map(|origin| short_id(&origin.session).to_owned());
        table.row([
            lesson.id.as_str().into(),
            Cell::new(percent(lesson.confidence.fraction())).tone(tone).right(),
            Cell::new(lesson.count.to_string()).right(),
            or_dash(seen).into(),
            or_dash(origin).into(),
            lesson.lesson.as_str().into(),
            lesson.evidence.as_deref().unwrap_or("–").into(),
        ]);
    }
    table
}
