//! `overtone remote`: what is configured for notifications, and whether it works.

use clap::{Args, Subcommand};
use overtone_core::messages::remote as words;
use overtone_hook::ansi::Tone;
use overtone_server::remote::{
    ConfigError, OutboxCounts, Settings, TestResult, describe_channels, outbox_counts, send_test_messages,
};
use serde::Serialize;
use serde_json::Value;

use crate::args::OutputArgs;
use crate::context::Context;
use crate::ui::error::{CommandError, CommandResult, warn};
use crate::ui::out;
use crate::ui::table::{Cell, Table};

const EXAMPLES: &str = "\
Examples:
  overtone remote check     show what is configured, and any errors
  overtone remote test      send a message on every channel and show the results

Configure channels in config.json under remote: telegram, webhook, ntfy. The
dashboard sends the notifications, so it has to be running; it reads the
configuration at startup. Exits with 1 if something is wrong.";

/// Check and test notifications to your phone
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RemoteArgs {
    #[command(subcommand)]
    action: RemoteAction,
}

#[derive(Debug, Subcommand)]
enum RemoteAction {
    /// Show what is configured, without secrets, and whether it is valid
    Check {
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Send a test message on every channel now
    Test {
        #[command(flatten)]
        output: OutputArgs,
    },
}

const CHANNELS: [&str; 3] = ["telegram", "webhook", "ntfy"];

pub(crate) fn run(context: &Context, args: &RemoteArgs) -> CommandResult {
    match &args.action {
        RemoteAction::Check { output } => check(context, output),
        RemoteAction::Test { output } => test(context, output),
    }
}

fn check(context: &Context, output: &OutputArgs) -> CommandResult {
    let home = context.home()?;
    let (settings, problems) = Settings::load(home);
    let (about, counts) = (describe_channels(&settings), outbox_counts(home));
    let is_valid = problems.iter().all(ConfigError::is_warning);
    if output.json {
        out::json(&check_json(context, &about, &problems, counts))?;
        return if is_valid { Ok(()) } else { Err(CommandError::silent(1)) };
    }
    if settings.is_empty() && is_valid {
        return out::print(&nothing_configured(context));
    }
    if !settings.is_empty() {
        let lang = context.lang;
        out::print(&table(context, &about).render(context.palette))?;
        out::print(&words::figures(lang, counts.pending, counts.sent, counts.dropped, counts.foreign))?;
    }
    warn_about(context, &problems);
    if is_valid { Ok(()) } else { Err(invalid_config(context)) }
}

fn nothing_configured(context: &Context) -> String {
    format!("{}\n{}", words::nothing_configured(context.lang), where_to_add(context))
}

fn invalid_config(context: &Context) -> CommandError {
    CommandError::new(words::has_problems(context.lang)).hint(words::has_problems_hint(context.lang))
}

/// The output of `overtone remote check --json`.
#[derive(Serialize)]
struct CheckJson<'a> {
    valid: bool,
    channels: &'a Value,
    problems: Vec<ProblemJson<'a>>,
    pending: usize,
    sent: u64,
    dropped: u64,
    foreign: u64,
}

#[derive(Serialize)]
struct ProblemJson<'a> {
    key: &'a str,
    text: String,
    #[serde(rename = "note")]
    is_warning: bool,
}

fn check_json<'a>(
    context: &Context,
    channels: &'a Value,
    problems: &'a [ConfigError],
    counts: OutboxCounts,
) -> CheckJson<'a> {
    let problem = |problem: &'a ConfigError| ProblemJson {
        key: &problem.key,
        text: problem.message(context.lang),
        is_warning: problem.is_warning(),
    };
    CheckJson {
        valid: problems.iter().all(ConfigError::is_warning),
        channels,
        problems: problems.iter().map(problem).collect(),
        pending: counts.pending,
        sent: counts.sent,
        dropped: counts.dropped,
        foreign: counts.foreign,
    }
}

fn table(context: &Context, about: &Value) -> Table {
    let mut table = Table::default();
    for name in CHANNELS.into_iter().filter(|name| about[name].is_object()) {
        let events = about[name]["events"].as_array().cloned().unwrap_or_default();
        let events: Vec<_> = events.iter().filter_map(Value::as_str).collect();
        let on = Cell::new(words::is_on(context.lang)).tone(Tone::Good);
        table.row([name.into(), on, destination(&about[name]).into(), events.join(" ").into()]);
    }
    table
}

fn destination(about: &Value) -> String {
    let text = |name: &str| about[name].as_str().unwrap_or_default();
    match (&about["chats"], text("topic")) {
        (Value::Array(chats), _) => {
            let chats: Vec<_> = chats.iter().map(Value::to_string).collect();
            format!("{} → {}", text("base"), chats.join(", "))
        }
        (_, "") => text("url").to_owned(),
        (_, topic) => format!("{} → {topic}", text("base")),
    }
}

fn warn_about(context: &Context, problems: &[ConfigError]) {
    for problem in problems {
        warn(&problem.message(context.lang));
    }
}

fn test(context: &Context, output: &OutputArgs) -> CommandResult {
    let (settings, problems) = Settings::load(context.home()?);
    if settings.is_empty() && problems.is_empty() && !output.json {
        return Err(not_configured(context));
    }
    let results = send_test_messages(&settings, context.lang, context.environment.version);
    if output.json {
        return print_test_json(context, &results, &problems);
    }
    warn_about(context, &problems);
    out::print(&results_table(context, &results).render(context.palette))?;
    let lang = context.lang;
    if !results.iter().all(is_sent) {
        return Err(CommandError::new(words::not_all_sent(lang)).hint(words::not_all_sent_hint(lang)));
    }
    if problems.iter().all(ConfigError::is_warning) { Ok(()) } else { Err(invalid_config(context)) }
}

/// The output of `overtone remote test --json`.
#[derive(Serialize)]
struct TestJson {
    ok: bool,
    results: Vec<ResultJson>,
    problems: Vec<String>,
}

#[derive(Serialize)]
struct ResultJson {
    target: String,
    sent: bool,
    problem: Option<String>,
}

const fn is_sent(result: &TestResult) -> bool {
    result.error.is_none()
}

fn print_test_json(context: &Context, results: &[TestResult], problems: &[ConfigError]) -> CommandResult {
    let all_sent = !results.is_empty() && results.iter().all(is_sent);
    let is_good = all_sent && problems.iter().all(ConfigError::is_warning);
    let result_json = |result: &TestResult| ResultJson {
        target: result.target.clone(),
        sent: is_sent(result),
        problem: result.error.clone(),
    };
    out::json(&TestJson {
        ok: is_good,
        results: results.iter().map(result_json).collect(),
        problems: problems.iter().map(|problem| problem.message(context.lang)).collect(),
    })?;
    if is_good { Ok(()) } else { Err(CommandError::silent(1)) }
}

fn not_configured(context: &Context) -> CommandError {
    let lang = context.lang;
    CommandError::new(words::nothing_configured(lang)).hint(where_to_add(context))
}

fn where_to_add(context: &Context) -> String {
    let path = context.environment.home.as_ref().map(|home| home.config_file().display().to_string());
    words::nothing_configured_hint(context.lang, &path.unwrap_or_default())
}

fn results_table(context: &Context, results: &[TestResult]) -> Table {
    let mut table = Table::default();
    for result in results {
        let answer = match &result.error {
            None => Cell::new(words::was_sent(context.lang)).tone(Tone::Good),
            Some(problem) => Cell::new(problem.clone()).tone(Tone::Bad),
        };
        table.row([result.target.clone().into(), answer]);
    }
    table
}
