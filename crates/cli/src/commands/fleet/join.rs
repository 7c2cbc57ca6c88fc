//! `overtone fleet join` and `leave`: the way there is tried, then `config.json` has the section `fleet`.

use std::path::Path;

use overtone_fleet::{Settings, Share, is_running};
use overtone_messages::fleet as words;
use overtone_store::config::Config;
use serde_json::{Map, Value, json};

use super::desk::{Desk, machine};
use crate::args::{JoinArgs, OutputArgs};
use crate::context::Context;
use crate::ui::error::{Done, Failure, say};
use crate::ui::out;
use crate::ui::style::Tone;
use crate::ui::table::{Cell, Fields};

/// What stays of an older section: it says nothing about one server.
const KEPT: [&str; 2] = ["retention", "name"];

pub(super) fn run(context: &Context, args: &JoinArgs) -> Done {
    let section = section(context, args)?;
    let settings = join(context, section, args.offline)?;
    report(context, &settings, args.offline, &args.output)
}

/// Tries the way there and writes the section.
pub(super) fn join(context: &Context, section: Value, offline: bool) -> Result<Settings, Failure> {
    let home = context.home()?;
    let settings = read(context, &section)?;
    if !offline {
        let desk = Desk::at(context, settings.clone())?;
        desk.wait(desk.link.try_out(&desk.machine.id))?;
    }
    Config::set_section(home, "fleet", Some(section))
        .map_err(|error| Failure::store(context.lang, &error))?;
    Ok(settings)
}

fn read(context: &Context, section: &Value) -> Result<Settings, Failure> {
    let (settings, problems) = Settings::read(context.home()?, section);
    let texts: Vec<_> = problems.iter().map(|problem| problem.text(context.lang)).collect();
    settings.ok_or_else(|| Failure::new(texts.join("; ")).hint(words::join_hint(context.lang)))
}

/// The section that is there now.
pub(super) fn known(context: &Context) -> Result<Map<String, Value>, Failure> {
    let config = Config::load(context.home()?).map_err(|error| Failure::store(context.lang, &error))?;
    Ok(config.section("fleet").and_then(Value::as_object).cloned().unwrap_or_default())
}

fn section(context: &Context, args: &JoinArgs) -> Result<Value, Failure> {
    let mut section = known(context)?;
    section.retain(|name, _| KEPT.contains(&name.as_str()));
    section.insert("url".to_owned(), json!(args.url));
    let files = [
        ("credentials", &args.credentials),
        ("ca", &args.ca),
        ("certificate", &args.certificate),
        ("key", &args.key),
    ];
    for (name, file) in files {
        if let Some(file) = file {
            section.insert(name.to_owned(), json!(absolute(context, file)?));
        }
    }
    for (name, text) in [("prefix", &args.prefix), ("name", &args.name), ("share", &args.share)] {
        section.extend(text.iter().map(|text| (name.to_owned(), json!(text))));
    }
    section.extend(args.replicas.map(|count| ("replicas".to_owned(), json!(count))));
    Ok(Value::Object(section))
}

/// The file must be there, wherever a relay is started later.
fn absolute(context: &Context, file: &Path) -> Result<std::path::PathBuf, Failure> {
    file.canonicalize().map_err(|error| Failure::io(context.lang, file, &error))
}

fn report(context: &Context, settings: &Settings, offline: bool, output: &OutputArgs) -> Done {
    let (home, machine) = (context.home()?, machine(context, settings)?);
    let is_full = settings.share == Share::Full;
    if output.json {
        return out::json(&json!({
            "joined": settings.shown_urls(), "prefix": settings.names.prefix(), "machine": machine.id,
            "name": machine.name, "share": if is_full { "full" } else { "state" }, "checked": !offline,
            "relayRunning": is_running(home),
        }));
    }
    let lang = context.lang;
    let mut fields = Fields::default();
    let place = format!("{} · {}", settings.shown_urls(), settings.names.prefix());
    fields.add(words::label_joined(lang), Cell::new(place).tone(Tone::Strong));
    fields.add(words::label_as(lang), format!("{} ({})", machine.name, machine.id));
    fields.add(
        words::label_shared(lang),
        if is_full { words::shared_full(lang) } else { words::shared_state(lang) },
    );
    if !is_full {
        fields.add(words::label_not_shared(lang), words::not_shared(lang));
    }
    let next = if is_running(home) { words::relay_is_old(lang) } else { words::start_relay(lang) };
    out::print(&(fields.render(context.palette) + &format!("→ {next}\n")))
}

pub(super) fn leave(context: &Context, output: &OutputArgs) -> Done {
    let (home, lang) = (context.home()?, context.lang);
    let was_there = Config::set_section(home, "fleet", None).map_err(|error| Failure::store(lang, &error))?;
    let runs = is_running(home);
    if output.json {
        return out::json(&json!({ "left": was_there, "relayRunning": runs }));
    }
    if !was_there {
        return out::print(&words::was_not_joined(lang));
    }
    if runs {
        say(&words::relay_is_old(lang));
    }
    out::print(&words::left(lang))
}
