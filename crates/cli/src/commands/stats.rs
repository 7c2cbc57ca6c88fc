//! `overtone stats`: how often stages pass, and how long they take.

use std::path::PathBuf;

use clap::Args;
use overtone_core::economy::{Cost, price_tag, short_count};
use overtone_core::engine::text::duration;
use overtone_core::messages::cli as words;
use overtone_hook::ansi::Text;
use overtone_session::view::{Filter, SessionUsage, StageStatistics, Statistics, read_history, statistics};
use serde::Serialize;

use crate::args::SessionArgs;
use crate::context::Context;
use crate::session::SelectedSession;
use crate::ui::error::{CommandError, CommandResult, warn};
use crate::ui::out;
use crate::ui::quantity::{or_dash, percent};
use crate::ui::table::{Cell, Fields, Table};

const EXAMPLES: &str = "\
Examples:
  overtone stats
  overtone stats --all --json

pass@1: stages that passed on the first attempt; pass@3: within the first
three. An attempt counts once an agent gives a verdict; attempts that end with
an API error do not count. Failures are what a stage has found, repairs how
often work was repaired because of it, and the last column is its cost in a
completed workflow on average.";

/// Show how often stages pass on the first attempt, what they find, and what they cost
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct StatsArgs {
    /// All sessions together
    #[arg(long, conflicts_with = "id")]
    all: bool,
    #[command(flatten)]
    session: SessionArgs,
}

pub(crate) fn run(context: &Context, args: &StatsArgs) -> CommandResult {
    let selected = selected_session(context, args)?;
    let sessions = match &selected {
        Some(selected) => vec![selected.session.clone()],
        None => context.home()?.sessions().map_err(|error| CommandError::store(context.lang, &error))?,
    };
    let mut counted = Vec::new();
    for session in sessions {
        let path = session.timeline_file();
        let history = match read_history(&path) {
            Ok(history) => history,
            // An unreadable session does not hide the others.
            Err(error) if selected.is_none() => {
                let path = path.display().to_string();
                warn(&words::cannot_use(context.lang, &path, &error.to_string()));
                continue;
            }
            Err(error) => return Err(CommandError::io(context.lang, &path, &error)),
        };
        if history.unreadable > 0 {
            warn(&words::unreadable_lines(context.lang, history.unreadable, &path.display().to_string()));
        }
        // Without what was used, the rest is still right.
        let usage = SessionUsage::load(&session, &history).unwrap_or_default();
        counted.push((history, usage));
    }
    let sessions = counted.iter().map(|(history, usage)| (history, &*usage.entries));
    let figures = statistics(sessions, &Filter::default(), &context.prices());
    if args.session.output.json {
        return out::json(&to_json(selected.as_ref(), &figures));
    }
    if let Some(selected) = &selected {
        selected.announce(context);
    }
    if figures.stages.is_empty() {
        return out::print(&words::no_stats(context.lang));
    }
    out::print(&render(context, &figures))
}

/// The session to count; `None` for all.
fn selected_session(context: &Context, args: &StatsArgs) -> CommandResult<Option<SelectedSession>> {
    if args.all {
        return Ok(None);
    }
    context.required_session_to_read(args.session.id.as_deref()).map(Some)
}

/// The output of `overtone stats --json`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StatisticsJson<'a> {
    session: Option<&'a str>,
    project: Option<PathBuf>,
    sessions: usize,
    workflows: WorkflowsJson,
    #[serde(rename = "passAt1")]
    pass_at_1: Option<f64>,
    #[serde(rename = "passAt3")]
    pass_at_3: Option<f64>,
    failures: usize,
    stages: Vec<StageJson<'a>>,
}

#[derive(Serialize)]
struct WorkflowsJson {
    started: usize,
    completed: usize,
    aborted: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StageJson<'a> {
    stage: &'a str,
    runs: usize,
    #[serde(rename = "passAt1")]
    pass_at_1: Option<f64>,
    #[serde(rename = "passAt3")]
    pass_at_3: Option<f64>,
    failures: usize,
    repairs: usize,
    median_ms: Option<i64>,
    p90_ms: Option<i64>,
    tokens: u64,
    cost_usd: Option<f64>,
    /// Per completed workflow.
    cost_usd_each: Option<f64>,
}

fn to_json<'a>(selected: Option<&'a SelectedSession>, figures: &'a Statistics) -> StatisticsJson<'a> {
    let stage = |stage: &'a StageStatistics| StageJson {
        stage: &stage.stage,
        runs: stage.runs,
        pass_at_1: stage.pass_at_1,
        pass_at_3: stage.pass_at_3,
        failures: stage.failures,
        repairs: stage.repairs,
        median_ms: stage.median,
        p90_ms: stage.p90,
        tokens: stage.spending.tokens.total(),
        cost_usd: stage.spending.cost.known_usd(),
        cost_usd_each: cost_each(stage, figures.completed).and_then(|cost| cost.known_usd()),
    };
    StatisticsJson {
        session: selected.map(|selected| selected.session.id().as_str()),
        project: selected.and_then(|selected| selected.session.origin().project),
        sessions: figures.sessions,
        workflows: WorkflowsJson {
            started: figures.started,
            completed: figures.completed,
            aborted: figures.aborted,
        },
        pass_at_1: figures.pass_at_1,
        pass_at_3: figures.pass_at_3,
        failures: figures.failures,
        stages: figures.stages.iter().map(stage).collect(),
    }
}

fn render(context: &Context, figures: &Statistics) -> Text {
    let lang = context.lang;
    let share = |share: Option<f64>| or_dash(share.map(percent));
    let time = |millis: Option<i64>| or_dash(millis.map(duration));
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
        words::head_repairs(lang),
        words::head_median(lang),
        "p90".into(),
        "Token".into(),
        words::head_cost(lang),
        words::head_cost_each(lang),
    ]);
    for stage in &figures.stages {
        table.row([
            stage.stage.as_str().into(),
            Cell::new(stage.runs.to_string()).right(),
            Cell::new(share(stage.pass_at_1)).right(),
            Cell::new(share(stage.pass_at_3)).right(),
            Cell::new(stage.failures.to_string()).right(),
            Cell::new(stage.repairs.to_string()).right(),
            Cell::new(time(stage.median)).right(),
            Cell::new(time(stage.p90)).right(),
            Cell::new(short_count(stage.spending.tokens.total())).right(),
            Cell::new(price_tag(&stage.spending.cost)).right(),
            Cell::new(or_dash(cost_each(stage, figures.completed).map(|cost| price_tag(&cost)))).right(),
        ]);
    }
    Text::join([head.render(context.palette), table.render(context.palette)], "\n")
}

/// What the stage has cost in a completed workflow, on average.
#[allow(clippy::cast_precision_loss, reason = "counts of workflows are small")]
fn cost_each(stage: &StageStatistics, completed: usize) -> Option<Cost> {
    if completed == 0 || stage.finished_spending.is_nothing() {
        return None;
    }
    let mut each = stage.finished_spending.cost;
    each.usd /= completed as f64;
    Some(each)
}
