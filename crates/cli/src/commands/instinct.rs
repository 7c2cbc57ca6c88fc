//! `overtone instinct`: what was learned in a project, and a person's word on it.

use overtone_engine::instinct::Signal;
use overtone_engine::text::short_id;
use overtone_messages::cli as words;
use overtone_store::clock;
use overtone_store::instincts::{Lesson, LessonOrigin, Memory};
use serde_json::{Value, json};

use crate::args::{InstinctAction, InstinctArgs, LessonArgs, OutputArgs};
use crate::context::Context;
use crate::ui::error::{Done, Failure};
use crate::ui::nearest::nearest;
use crate::ui::out;
use crate::ui::quantity::{age, percent};
use crate::ui::style::Tone;
use crate::ui::table::{Cell, Table};

pub(crate) fn run(context: &Context, args: &InstinctArgs) -> Done {
    let project = context.project(args.project.dir.as_deref())?;
    let desk = Desk { context, memory: Memory::of(context.home()?, &project) };
    match &args.action {
        InstinctAction::List { output } => desk.list(output),
        InstinctAction::Confirm(args) => desk.judge(args, Signal::Confirm),
        InstinctAction::Contradict(args) => desk.judge(args, Signal::Contradict),
        InstinctAction::Rm(args) => desk.remove(args),
        InstinctAction::Clear { output } => desk.clear(output),
        InstinctAction::Decay { output } => desk.decay(output),
    }
}

struct Desk<'a> {
    context: &'a Context,
    memory: Memory,
}

impl Desk<'_> {
    fn lessons(&self) -> Result<Vec<Lesson>, Failure> {
        let lang = self.context.lang;
        self.memory.lessons(clock::now()).map_err(|error| {
            Failure::new(words::cannot_read_lessons(lang, &error.to_string()))
                .hint(words::check_path_hint(lang))
        })
    }

    fn list(&self, output: &OutputArgs) -> Done {
        let lessons = self.lessons()?;
        if output.json {
            let list: Vec<_> = lessons.iter().map(object).collect();
            return out::json(&json!({ "lessons": list }));
        }
        if lessons.is_empty() {
            return out::print(&words::no_lessons(self.context.lang));
        }
        out::print(&table(self.context, &lessons).render(self.context.palette))
    }

    fn judge(&self, args: &LessonArgs, signal: Signal) -> Done {
        let lang = self.context.lang;
        let judged = self.memory.judge(&args.id, signal, clock::now());
        let judged = judged.map_err(|error| Failure::store(lang, &error))?;
        let Some(lesson) = judged else { return Err(self.unknown(&args.id)?) };
        if args.output.json {
            return out::json(&object(&lesson));
        }
        let sure = percent(lesson.confidence.fraction());
        out::print(&if lesson.confidence.is_dropped() {
            words::lesson_forgotten(lang, &lesson.id)
        } else {
            words::lesson_judged(lang, &lesson.id, &sure)
        })
    }

    fn remove(&self, args: &LessonArgs) -> Done {
        let lang = self.context.lang;
        let removed = self.memory.remove(&args.id, clock::now());
        let removed = removed.map_err(|error| Failure::store(lang, &error))?;
        let Some(lesson) = removed else { return Err(self.unknown(&args.id)?) };
        if args.output.json {
            return out::json(&object(&lesson));
        }
        out::print(&words::lesson_forgotten(lang, &lesson.id))
    }

    fn clear(&self, output: &OutputArgs) -> Done {
        let lang = self.context.lang;
        let gone = self.memory.clear(clock::now()).map_err(|error| Failure::store(lang, &error))?;
        if output.json {
            let list: Vec<_> = gone.iter().map(object).collect();
            return out::json(&json!({ "removed": list }));
        }
        out::print(&match gone.len() {
            0 => words::no_lessons(lang),
            count => words::lessons_cleared(lang, count),
        })
    }

    fn unknown(&self, id: &str) -> Result<Failure, Failure> {
        let lang = self.context.lang;
        let lessons = self.lessons()?;
        let hint = match nearest(id, lessons.iter().map(|lesson| lesson.id.as_str())) {
            Some(near) => words::did_you_mean(lang, near),
            None => words::no_lesson_hint(lang),
        };
        Ok(Failure::new(words::no_lesson(lang, id)).hint(hint))
    }

    fn decay(&self, output: &OutputArgs) -> Done {
        let lang = self.context.lang;
        let gone = self.memory.decay(clock::now()).map_err(|error| Failure::store(lang, &error))?;
        if output.json {
            let list: Vec<_> = gone.iter().map(object).collect();
            return out::json(&json!({ "removed": list }));
        }
        let names: Vec<_> = gone.iter().map(|lesson| lesson.id.as_str()).collect();
        out::print(&match names.len() {
            0 => words::nothing_faded(lang),
            count => words::faded(lang, count, &names.join(", ")),
        })
    }
}

fn object(lesson: &Lesson) -> Value {
    json!({
        "id": lesson.id, "type": lesson.kind.key(), "trigger": lesson.trigger, "lesson": lesson.lesson,
        "confidence": lesson.confidence.fraction(), "applicable": lesson.confidence.is_applicable(),
        "count": lesson.count, "lastSeen": lesson.last_seen.map(clock::to_iso), "evidence": lesson.evidence,
        "origin": lesson.origin.as_ref().map(origin_object),
    })
}

fn origin_object(origin: &LessonOrigin) -> Value {
    json!({ "session": origin.session, "project": origin.project, "at": origin.at.map(clock::to_iso) })
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
        let seen =
            lesson.last_seen.map_or_else(|| "–".to_owned(), |at| words::ago(lang, &age(now.since(at))));
        table.row([
            lesson.id.as_str().into(),
            Cell::new(percent(lesson.confidence.fraction())).tone(tone).right(),
            Cell::new(lesson.count.to_string()).right(),
            seen.into(),
            lesson.origin.as_ref().map_or("–", |origin| short_id(&origin.session)).into(),
            lesson.lesson.as_str().into(),
            lesson.evidence.as_deref().unwrap_or("–").into(),
        ]);
    }
    table
}
