//! `overtone remote`: what is configured for notifications, and whether it works.

use overtone_messages::remote as words;
use overtone_remote::{Figures, Probed, Problem, Settings, described, figures, probe};
use serde_json::{Value, json};

use crate::args::{OutputArgs, RemoteAction, RemoteArgs};
use crate::context::Context;
use crate::ui::error::{Done, Failure, warn};
use crate::ui::out;
use crate::ui::style::Tone;
use crate::ui::table::{Cell, Table};

const CHANNELS: [&str; 3] = ["telegram", "webhook", "ntfy"];

pub(crate) fn run(context: &Context, args: &RemoteArgs) -> Done {
    match &args.action {
        RemoteAction::Check { output } => check(context, output),
        RemoteAction::Test { output } => test(context, output),
    }
}

fn check(context: &Context, output: &OutputArgs) -> Done {
    let home = context.home()?;
    let (settings, problems) = Settings::load(home);
    let (about, counts) = (described(&settings), figures(home));
    let is_valid = problems.iter().all(Problem::is_note);
    if output.json {
        out::json(&object(context, &about, &problems, counts))?;
        return if is_valid { Ok(()) } else { Err(Failure::Silent(1)) };
    }
    if settings.is_empty() && is_valid {
        return out::print(&nothing(context));
    }
    if !settings.is_empty() {
        let lang = context.lang;
        out::print(&table(context, &about).render(context.palette))?;
        out::print(&words::figures(lang, counts.pending, counts.sent, counts.dropped, counts.foreign))?;
    }
    tell(context, &problems);
    if is_valid { Ok(()) } else { Err(invalid(context)) }
}

fn nothing(context: &Context) -> String {
    format!("{}\n{}", words::nothing_configured(context.lang), where_to_add(context))
}

fn invalid(context: &Context) -> Failure {
    Failure::new(words::has_problems(context.lang)).hint(words::has_problems_hint(context.lang))
}

fn object(context: &Context, about: &Value, problems: &[Problem], counts: Figures) -> Value {
    let of_problem = |problem: &Problem| json!({ "key": problem.key, "text": problem.text(context.lang), "note": problem.is_note() });
    json!({
        "valid": problems.iter().all(Problem::is_note),
        "channels": about,
        "problems": problems.iter().map(of_problem).collect::<Vec<_>>(),
        "pending": counts.pending, "sent": counts.sent, "dropped": counts.dropped, "foreign": counts.foreign,
    })
}

fn table(context: &Context, about: &Value) -> Table {
    let mut table = Table::default();
    for name in CHANNELS.into_iter().filter(|name| about[name].is_object()) {
        let events = about[name]["events"].as_array().cloned().unwrap_or_default();
        let events: Vec<_> = events.iter().filter_map(Value::as_str).collect();
        let on = Cell::new(words::is_on(context.lang)).tone(Tone::Good);
        table.row([name.into(), on, place(&about[name]).into(), events.join(" ").into()]);
    }
    table
}

fn place(about: &Value) -> String {
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

fn tell(context: &Context, problems: &[Problem]) {
    for problem in problems {
        warn(&problem.text(context.lang));
    }
}

fn test(context: &Context, output: &OutputArgs) -> Done {
    let (settings, problems) = Settings::load(context.home()?);
    if settings.is_empty() && problems.is_empty() && !output.json {
        return Err(unset(context));
    }
    let results = probe(&settings, context.lang, context.environment.version);
    if output.json {
        return show_object(context, &results, &problems);
    }
    tell(context, &problems);
    out::print(&results_table(context, &results).render(context.palette))?;
    let lang = context.lang;
    if !results.iter().all(is_sent) {
        return Err(Failure::new(words::not_all_sent(lang)).hint(words::not_all_sent_hint(lang)));
    }
    if problems.iter().all(Problem::is_note) { Ok(()) } else { Err(invalid(context)) }
}

const fn is_sent(probed: &Probed) -> bool {
    probed.problem.is_none()
}

fn show_object(context: &Context, results: &[Probed], problems: &[Problem]) -> Done {
    let all_sent = !results.is_empty() && results.iter().all(is_sent);
    let is_good = all_sent && problems.iter().all(Problem::is_note);
    let of = |probed: &Probed| json!({ "target": probed.target, "sent": is_sent(probed), "problem": probed.problem });
    let problems: Vec<_> = problems.iter().map(|problem| problem.text(context.lang)).collect();
    let results: Vec<_> = results.iter().map(of).collect();
    out::json(&json!({ "ok": is_good, "results": results, "problems": problems }))?;
    if is_good { Ok(()) } else { Err(Failure::Silent(1)) }
}

fn unset(context: &Context) -> Failure {
    let lang = context.lang;
    Failure::new(words::nothing_configured(lang)).hint(where_to_add(context))
}

fn where_to_add(context: &Context) -> String {
    let path = context.environment.home.as_ref().map(|home| home.config_file().display().to_string());
    words::nothing_configured_hint(context.lang, &path.unwrap_or_default())
}

fn results_table(context: &Context, results: &[Probed]) -> Table {
    let mut table = Table::default();
    for probed in results {
        let answer = match &probed.problem {
            None => Cell::new(words::was_sent(context.lang)).tone(Tone::Good),
            Some(problem) => Cell::new(problem.clone()).tone(Tone::Bad),
        };
        table.row([probed.target.clone().into(), answer]);
    }
    table
}
