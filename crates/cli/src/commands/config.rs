//! `overtone config`: what can be changed, and to what.

mod about;

use overtone_messages::cli as words;
use overtone_store::config::{Config, ConfigError, KEYS, Key};
use serde_json::{Map, Value, json};

use crate::args::{ConfigAction, ConfigArgs, OutputArgs};
use crate::context::Context;
use crate::ui::error::{Done, Failure, warn};
use crate::ui::nearest::nearest;
use crate::ui::out;
use crate::ui::style::Tone;
use crate::ui::table::{Cell, Table};

pub(crate) fn run(context: &Context, args: &ConfigArgs) -> Done {
    match &args.action {
        ConfigAction::List { output } => list(context, output),
        ConfigAction::Get { key, output } => get(context, key, output),
        ConfigAction::Set { key, value, output } => set(context, key, value, output),
    }
}

fn load(context: &Context) -> Result<Config, Failure> {
    Config::load(context.home()?).map_err(|error| Failure::store(context.lang, &error))
}

fn list(context: &Context, output: &OutputArgs) -> Done {
    let config = load(context)?;
    if output.json {
        let entries = KEYS.iter().map(|key| (key.name.to_owned(), object(&config, key)));
        return out::json(&Value::Object(entries.collect::<Map<_, _>>()));
    }
    out::print(&table(context, &config).render(context.palette))?;
    for key in KEYS.iter().filter(|key| config.has_bad_value(key)) {
        let given = config.own_value(key).map(ToString::to_string).unwrap_or_default();
        warn(&words::bad_value_ignored(context.lang, key.name, &given, &about::allowed(context.lang, key)));
    }
    Ok(())
}

fn object(config: &Config, key: &Key) -> Value {
    let set = config.own_value(key).is_some() && !config.has_bad_value(key);
    json!({ "value": config.value(key), "default": key.default_value(), "set": set })
}

/// A changed value stands out.
fn table(context: &Context, config: &Config) -> Table {
    let lang = context.lang;
    let mut table =
        Table::with_head([words::head_key(lang), words::head_value(lang), words::head_about(lang)]);
    for key in &KEYS {
        let value = config.value(key);
        let tone = if value == key.default_value() { Tone::Plain } else { Tone::Strong };
        table.row([key.name.into(), Cell::new(plain(&value)).tone(tone), about::about(lang, key).into()]);
    }
    table
}

fn get(context: &Context, name: &str, output: &OutputArgs) -> Done {
    let key = find(context, name)?;
    let config = load(context)?;
    if output.json {
        return out::json(&object(&config, key));
    }
    out::print(&plain(&config.value(key)))
}

fn set(context: &Context, name: &str, text: &str, output: &OutputArgs) -> Done {
    let value = change(context, name, text)?;
    if output.json {
        return out::json(&json!({ "key": name, "value": value }));
    }
    out::print(&format!("{name} = {}", plain(&value)))
}

/// Sets a key and returns its new value.
pub(super) fn change(context: &Context, name: &str, text: &str) -> Result<Value, Failure> {
    let key = find(context, name)?;
    Config::set(context.home()?, name, text).map_err(|error| refused(context, key, error))
}

fn find(context: &Context, name: &str) -> Result<&'static Key, Failure> {
    let unknown = || {
        let hint = match nearest(name, KEYS.iter().map(|key| key.name)) {
            Some(near) => words::did_you_mean_key(context.lang, near),
            None => words::list_keys_hint(context.lang),
        };
        Failure::new(words::unknown_key(context.lang, name)).hint(hint)
    };
    Key::find(name).ok_or_else(unknown)
}

fn refused(context: &Context, key: &Key, error: ConfigError) -> Failure {
    let lang = context.lang;
    match error {
        ConfigError::BadValue { given, .. } => Failure::new(words::bad_value(lang, key.name, &given))
            .hint(words::allowed(lang, &about::allowed(lang, key))),
        ConfigError::Store(error) => Failure::store(lang, &error),
        ConfigError::UnknownKey(name) => Failure::new(words::unknown_key(lang, &name)),
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
