//! `ccc list`, `ccc current` and `ccc env`. Secrets are masked, whoever asks.

use overtone_messages::ccc as words;
use overtone_providers::{Config, masked};
use serde_json::{Map, Value, json};

use super::args::{EnvArgs, OutputArgs};
use super::face::Face;
use super::report::{failure, shown};
use crate::ui::error::{Done, Failure};
use crate::ui::out;
use crate::ui::style::{Palette, Tone};
use crate::ui::table::{Cell, Table};

pub(super) fn list(face: &Face, output: &OutputArgs) -> Done {
    let config = face.config()?;
    let names = config.names().map_err(|error| failure(face.lang, &error))?;
    if output.json {
        return list_json(face, &config, &names);
    }
    if names.is_empty() {
        return out::print(&words::no_providers(face.lang, &shown(config.path())));
    }
    let current = current_name(face, &config)?;
    let lang = face.lang;
    let head = [words::head_provider(lang), words::head_address(lang), words::head_model(lang)];
    let [provider, address, model] = head;
    let mut table = Table::with_head([String::new(), provider, address, model]);
    for name in &names {
        table.row(row(face, &config, name, current.as_ref() == Some(name))?);
    }
    out::print(&table.render(Palette::for_stdout()))
}

fn row(face: &Face, config: &Config, name: &str, is_current: bool) -> Result<[Cell; 4], Failure> {
    let env = masked_env(face, config, name)?;
    let value = |variable: &str| env.get(variable).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (mark, tone) = if is_current { ("*", Tone::Good) } else { ("", Tone::Plain) };
    Ok([
        Cell::new(mark).tone(tone),
        Cell::new(name).tone(tone),
        Cell::new(value("ANTHROPIC_BASE_URL")),
        Cell::new(value("ANTHROPIC_MODEL")),
    ])
}

fn list_json(face: &Face, config: &Config, names: &[String]) -> Done {
    let current = current_name(face, config)?;
    let mut providers = Vec::new();
    for name in names {
        let env = masked_env(face, config, name)?;
        providers.push(json!({ "name": name, "current": current.as_ref() == Some(name), "env": env }));
    }
    out::json(&json!({ "file": shown(config.path()), "providers": providers }))
}

/// What the file says; a name without a provider is shown as none.
fn current_name(face: &Face, config: &Config) -> Result<Option<String>, Failure> {
    config.current().map_err(|error| failure(face.lang, &error))
}

pub(super) fn current(face: &Face, output: &OutputArgs) -> Done {
    let config = face.config()?;
    let (name, place) = match face.pin()? {
        Some(pin) => (pin.provider, pin.place),
        None => (config.chosen().map_err(|error| failure(face.lang, &error))?, config.current_place()),
    };
    let place_of_name = Some(place.clone());
    config.check(&name, place_of_name).map_err(|error| failure(face.lang, &error))?;
    if output.json {
        return out::json(&json!({ "provider": name, "file": shown(&place.path), "line": place.line }));
    }
    out::print(&name)
}

pub(super) fn env(face: &Face, args: &EnvArgs) -> Done {
    let config = face.config()?;
    let name = match &args.provider {
        Some(name) => name.clone(),
        None => config.chosen().map_err(|error| failure(face.lang, &error))?,
    };
    let env = masked_env(face, &config, &name)?;
    if args.output.json {
        return out::json(&json!({ "provider": name, "env": env }));
    }
    let line = |(variable, value): (&String, &Value)| {
        format!("{variable}={}\n", value.as_str().unwrap_or_default().replace(char::is_control, " "))
    };
    out::print(&env.iter().map(line).collect::<String>())
}

fn masked_env(face: &Face, config: &Config, name: &str) -> Result<Map<String, Value>, Failure> {
    let env = config.env(name).map_err(|error| failure(face.lang, &error))?;
    let hide = |(variable, value): (String, String)| {
        let shown = masked(&variable, &value);
        (variable, Value::String(shown))
    };
    Ok(env.into_iter().map(hide).collect())
}
