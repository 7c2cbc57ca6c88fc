//! `overtone stats`: how often stages pass, and how long they take.

use overtone_messages::cli as words;
use overtone_view::{Figures, Filter, StageFigures, figures, read_history};
use serde_json::{Value, json};

use crate::args::StatsArgs;
use crate::context::Context;
use crate::session::Chosen;
use crate::ui::error::{Done, Failure, warn};
use crate::ui::out;
use crate::ui::quantity::percent;
use crate::ui::table::{Cell, Fields, Table};
use crate::ui::text::Text;
use overtone_engine::text::duration;

pub(crate) fn run(context: &Context, args: &StatsArgs) -> Done {
    let one = one(context, args)?;
    let sessions = match &one {
        Some(chosen) => vec![chosen.session.clone()],
        None => context.home()?.sessions().map_err(|error| Failure::store(context.lang, &error))?,
    };
    let mut histories = Vec::new();
    for session in sessions {
        let path = session.timeline_file();
        let history = match read_history(&path) {
            Ok(history) => history,
            // One session that cannot be read does not hide the others.
            Err(error) if one.is_none() => {
                let path = path.display().to_string();
                warn(&words::cannot_use(context.lang, &path, &error.to_string()));
                continue;
            }
            Err(error) => return Err(Failure::io(context.lang, &path, &error)),
        };
        if history.unreadable > 0 {
            warn(&words::unreadable_lines(context.lang, history.unreadable, &path.display().to_string()));
        }
        histories.push(history);
    }
    let figures = figures(&histories, &Filter::default(), &|_| None);
    if args.session.output.json {
        return out::json(&object(one.as_ref(), &figures));
    }
    if let Some(chosen) = &one {
        chosen.announce(context);
    }
    if figures.stages.is_empty() {
        return out::print(&words::no_stats(context.lang));
    }
    out::print(&text(context, &figures))
}

/// The one session that is counted; `None` for all of them.
fn one(context: &Context, args: &StatsArgs) -> Result<Option<Chosen>, Failure> {
    if args.all {
        return Ok(None);
    }
    context.required_session_to_read(args.session.id.as_deref()).map(Some)
}

fn object(one: Option<&Chosen>, figures: &Figures) -> Value {
    let stage = |stage: &StageFigures| {
        json!({
            "stage": stage.stage, "runs": stage.runs, "passAt1": stage.pass_at_1, "passAt3": stage.pass_at_3,
            "failures": stage.failures, "medianMs": stage.median, "p90Ms": stage.p90,
        })
    };
    json!({
        "session": one.map(|chosen| chosen.session.id().as_str()),
        "project": one.and_then(|chosen| chosen.session.origin().project),
        "sessions": figures.sessions,
        "workflows": {
            "started": figures.started, "completed": figures.completed, "aborted": figures.aborted,
        },
        "passAt1": figures.pass_at_1,
        "passAt3": figures.pass_at_3,
        "failures": figures.failures,
        "stages": figures.stages.iter().map(stage).collect::<Vec<_>>(),
    })
}

fn text(context: &Context, figures: &Figures) -> Text {
    let lang = context.lang;
    let share = |share: Option<f64>| share.map_or_else(|| "–".to_owned(), percent);
    let time = |millis: Option<i64>| millis.map_or_else(|| "–".to_owned(), duration);
    let mut head = Fields::default();
    head.add(words::label_sessions(lang), figures.sessions.to_string());
    let counts = words::workflow_counts(lang, figures.started, figures.completed, figures.aborted);
    head.add(words::label_workflow(lang), counts);
    head.add("pass@1".into(), share(figures.pass_at_1));
    head.add("pass@3".into(), share(figures.pass_at_3));
    let mut table = Table::with_head([
        words::label_stage(lang),
        words::head_runs(lang),
        "pass@1".into(),
        "pass@3".into(),
        words::head_failures(lang),
        words::head_median(lang),
        "p90".into(),
    ]);
    for stage in &figures.stages {
        table.row([
            stage.stage.as_str().into(),
            Cell::new(stage.runs.to_string()).right(),
            Cell::new(share(stage.pass_at_1)).right(),
            Cell::new(share(stage.pass_at_3)).right(),
            Cell::new(stage.failures.to_string()).right(),
            Cell::new(time(stage.median)).right(),
            Cell::new(time(stage.p90)).right(),
        ]);
    }
    Text::join([head.render(context.palette), table.render(context.palette)], "\n")
}
