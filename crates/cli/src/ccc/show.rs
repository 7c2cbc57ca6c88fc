//! `ccc list`, `ccc current` and `ccc env`. Secrets are always masked, also in JSON output.

use overtone_ccc::providers::{Config, masked};
use overtone_core::messages::ccc as messages;
use serde::Serialize;
use serde_json::{Map, Value};

use super::args::{EnvArgs, OutputArgs};
use super::context::CccContext;
use super::report::{display_path, failure};
use crate::ui::error::CommandResult;
use crate::ui::out;
use crate::ui::table::{Cell, Table};
use overtone_hook::ansi::{Palette, Tone};

/// The output of `ccc list --json`.
#[derive(Serialize)]
struct ListJson {
    file: String,
    providers: Vec<ProviderJson>,
}

#[derive(Serialize)]
struct ProviderJson {
    name: String,
    current: bool,
    env: Map<String, Value>,
}

/// The output of `ccc current --json`.
#[derive(Serialize)]
struct CurrentJson {
    provider: String,
    file: String,
    line: usize,
}

/// The output of `ccc env --json`.
#[derive(Serialize)]
struct EnvJson {
    provider: String,
    env: Map<String, Value>,
}

pub(super) fn list(context: &CccContext, output: &OutputArgs) -> CommandResult {
    let config = context.config()?;
    let names = config.names().map_err(|error| failure(context.lang, &error))?;
    if output.json {
        return list_json(context, &config, &names);
    }
    if names.is_empty() {
        return out::print(&messages::no_providers(context.lang, &display_path(config.path())));
    }
    let current = current_name(context, &config)?;
    let lang = context.lang;
    let head = [messages::head_provider(lang), messages::head_address(lang), messages::head_model(lang)];
    let [provider, address, model] = head;
    let mut table = Table::with_head([String::new(), provider, address, model]);
    for name in &names {
        table.row(row(context, &config, name, current.as_ref() == Some(name))?);
    }
    out::print(&table.render(Palette::for_stdout()))
}

fn row(context: &CccContext, config: &Config, name: &str, is_current: bool) -> CommandResult<[Cell; 4]> {
    let env = masked_env(context, config, name)?;
    let value = |variable: &str| env.get(variable).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (mark, tone) = if is_current { ("*", Tone::Good) } else { ("", Tone::Plain) };
    Ok([
        Cell::new(mark).tone(tone),
        Cell::new(name).tone(tone),
        Cell::new(value("ANTHROPIC_BASE_URL")),
        Cell::new(value("ANTHROPIC_MODEL")),
    ])
}

fn list_json(context: &CccContext, config: &Config, names: &[String]) -> CommandResult {
    let current = current_name(context, config)?;
    let mut providers = Vec::new();
    for name in names {
        let env = masked_env(context, config, name)?;
        providers.push(ProviderJson { name: name.clone(), current: current.as_ref() == Some(name), env });
    }
    out::json(&ListJson { file: display_path(config.path()), providers })
}

/// The current provider as named in the file.
fn current_name(context: &CccContext, config: &Config) -> CommandResult<Option<String>> {
    config.current().map_err(|error| failure(context.lang, &error))
}

pub(super) fn current(context: &CccContext, output: &OutputArgs) -> CommandResult {
    let config = context.config()?;
    let (name, location) = match context.pin()? {
        Some(pin) => (pin.provider, pin.location),
        None => (config.chosen().map_err(|error| failure(context.lang, &error))?, config.current_location()),
    };
    config.check(&name, Some(location.clone())).map_err(|error| failure(context.lang, &error))?;
    if output.json {
        let file = display_path(&location.path);
        return out::json(&CurrentJson { provider: name, file, line: location.line });
    }
    out::print(&name)
}

pub(super) fn env(context: &CccContext, args: &EnvArgs) -> CommandResult {
    let config = context.config()?;
    let name = match &args.provider {
        Some(name) => name.clone(),
        None => config.chosen().map_err(|error| failure(context.lang, &error))?,
    };
    let env = masked_env(context, &config, &name)?;
    if args.output.json {
        return out::json(&EnvJson { provider: name, env });
    }
    let line = |(variable, value): (&String, &Value)| {
        format!("{variable}={}\n", value.as_str().unwrap_or_default().replace(char::is_control, " "))
    };
    out::print(&env.iter().map(line).collect::<String>())
}

fn masked_env(context: &CccContext, config: &Config, name: &str) -> CommandResult<Map<String, Value>> {
    let env = config.env(name).map_err(|error| failure(context.lang, &error))?;
    let mask = |(variable, value): (String, String)| {
        let masked = masked(&variable, &value);
        (variable, Value::String(masked))
    };
    Ok(env.into_iter().map(mask).collect())
}
