//! `overtone config`: shows and changes the configuration.

mod about;

use clap::{Args, Subcommand};
use overtone_claude::install::rewrite_plugin;
use overtone_core::messages::{cli as words, install as install_words};
use overtone_hook::ansi::Tone;
use overtone_store::config::{Config, ConfigError, KEYS, Key, keys};
use serde::Serialize;
use serde_json::Value;

use crate::args::{Names, OutputArgs};
use crate::context::Context;
use crate::ui::error::{CommandError, CommandResult, warn};
use crate::ui::nearest::nearest;
use crate::ui::out::{self, JsonObject};
use crate::ui::table::{Cell, Table};

const EXAMPLES: &str = "\
Examples:
  overtone config list
  overtone config get language
  overtone config set loop.maxIterations 40
  overtone config set economy lean             agents with fewer tools, from the next
                                               start of Claude Code";

/// Show and change the configuration
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    action: ConfigAction,
}

#[derive(Debug, Subcommand)]
enum ConfigAction {
    /// List every key with its value
    List {
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Print the value of one key
    Get {
        #[arg(value_name = "KEY", value_parser = Names::config_keys())]
        key: String,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Change the value of one key
    Set {
        #[arg(value_name = "KEY", value_parser = Names::config_keys())]
        key: String,
        #[arg(value_name = "VALUE", allow_negative_numbers = true)]
        value: String,
        #[command(flatten)]
        output: OutputArgs,
    },
}

pub(crate) fn run(context: &Context, args: &ConfigArgs) -> CommandResult {
    match &args.action {
        ConfigAction::List { output } => list(context, output),
        ConfigAction::Get { key, output } => get(context, key, output),
        ConfigAction::Set { key, value, output } => set(context, key, value, output),
    }
}

fn load(context: &Context) -> CommandResult<Config> {
    Config::load(context.home()?).map_err(|error| CommandError::store(context.lang, &error))
}

fn list(context: &Context, output: &OutputArgs) -> CommandResult {
    let config = load(context)?;
    if output.json {
        let entries = KEYS.iter().map(|key| (key.name, KeyJson::new(&config, key)));
        return out::json(&entries.collect::<JsonObject<_, _>>());
    }
    out::print(&table(context, &config).render(context.palette))?;
    for key in KEYS.iter().filter(|key| config.has_bad_value(key)) {
        let given = config.own_value(key).map(ToString::to_string).unwrap_or_default();
        warn(&words::bad_value_ignored(context.lang, key.name, &given, &about::allowed(context.lang, key)));
    }
    Ok(())
}

/// One key in the JSON output.
#[derive(Serialize)]
struct KeyJson {
    value: Value,
    default: Value,
    set: bool,
}

impl KeyJson {
    fn new(config: &Config, key: &Key) -> Self {
        let set = config.own_value(key).is_some() && !config.has_bad_value(key);
        Self { value: config.value(key), default: key.default_value(), set }
    }
}

/// The output of `overtone config set --json`.
#[derive(Serialize)]
struct ChangedKeyJson<'a> {
    key: &'a str,
    value: Value,
}

/// Values that differ from the default are highlighted.
fn table(context: &Context, config: &Config) -> Table {
    let lang = context.lang;
    let mut table =
        Table::with_head([words::head_key(lang), words::head_value(lang), words::head_about(lang)]);
    for key in &KEYS {
        let value = config.value(key);
        let tone = if value == key.default_value() { Tone::Plain } else { Tone::Strong };
        table.row([
            key.name.into(),
            Cell::new(value_text(&value)).tone(tone),
            about::description(lang, key).into(),
        ]);
    }
    table
}

fn get(context: &Context, name: &str, output: &OutputArgs) -> CommandResult {
    let key = find(context, name)?;
    let config = load(context)?;
    if output.json {
        return out::json(&KeyJson::new(&config, key));
    }
    out::print(&value_text(&config.value(key)))
}

fn set(context: &Context, name: &str, text: &str, output: &OutputArgs) -> CommandResult {
    let value = change(context, name, text)?;
    let note = if name == keys::ECONOMY.key().name { Some(apply_economy(context)?) } else { None };
    if output.json {
        return out::json(&ChangedKeyJson { key: name, value });
    }
    out::print(&format!("{name} = {}", value_text(&value)))?;
    match note {
        Some(note) => out::print(&note),
        None => Ok(()),
    }
}

/// Writes the installed plugin for the economy that was just chosen. Returns what the user has to do next.
fn apply_economy(context: &Context) -> CommandResult<String> {
    let (home, lang) = (context.home()?, context.lang);
    // The context has the configuration as it was before the change.
    let economy = load(context)?.get(keys::ECONOMY);
    let is_installed =
        rewrite_plugin(home, economy).map_err(|(path, error)| CommandError::io(lang, &path, &error))?;
    Ok(if is_installed {
        install_words::agents_rewritten(lang, economy.name())
    } else {
        install_words::agents_not_installed(lang)
    })
}

/// Sets a key and returns its new value.
pub(super) fn change(context: &Context, name: &str, text: &str) -> CommandResult<Value> {
    let key = find(context, name)?;
    Config::set_by_name(context.home()?, name, text).map_err(|error| config_error(context, key, error))
}

fn find(context: &Context, name: &str) -> CommandResult<&'static Key> {
    let unknown = || {
        let hint = match nearest(name, KEYS.iter().map(|key| key.name)) {
            Some(near) => words::did_you_mean_key(context.lang, near),
            None => words::list_keys_hint(context.lang),
        };
        CommandError::new(words::unknown_key(context.lang, name)).hint(hint)
    };
    Key::find(name).ok_or_else(unknown)
}

fn config_error(context: &Context, key: &Key, error: ConfigError) -> CommandError {
    let lang = context.lang;
    match error {
        ConfigError::BadValue { given, .. } => CommandError::new(words::bad_value(lang, key.name, &given))
            .hint(words::allowed(lang, &about::allowed(lang, key))),
        ConfigError::Store(error) => CommandError::store(lang, &error),
        ConfigError::UnknownKey(name) => CommandError::new(words::unknown_key(lang, &name)),
    }
}

fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
