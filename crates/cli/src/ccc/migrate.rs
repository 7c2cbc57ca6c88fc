//! `ccc migrate`: imports an existing set-up and shows what it found, with tokens masked.

use overtone_ccc::providers::{
    FoundProvider, Migration, MigrationOptions, MigrationStatus, import_file, is_provider_name,
    migrate_settings,
};
use overtone_core::messages::{care, ccc as messages};
use serde::Serialize;

use super::args::MigrateArgs;
use super::command_line::is_command;
use super::context::CccContext;
use super::report::{display_path, failure};
use crate::ui::error::{CommandError, CommandResult, note};
use crate::ui::out::{self, JsonObject};

pub(super) fn run(context: &CccContext, args: &MigrateArgs) -> CommandResult {
    let is_usable_name = |name: &str| is_provider_name(name) && !is_command(name);
    if let Some(name) = &args.name
        && !is_usable_name(name)
    {
        return Err(CommandError::new(messages::bad_name(context.lang, name))
            .hint(messages::bad_name_hint(context.lang)));
    }
    let options = MigrationOptions { is_usable_name: &is_usable_name, dry_run: args.dry_run };
    let migration = match &args.from {
        Some(file) => import_file(&context.paths, file, &options),
        None => migrate_settings(&context.paths, args.name.as_deref(), &options),
    };
    let migration = migration.map_err(|error| failure(context.lang, &error))?;
    print_summary(context, args, &migration);
    if args.output.json { out::json(&to_json(args, &migration)) } else { Ok(()) }
}

fn print_summary(context: &CccContext, args: &MigrateArgs, migration: &Migration) {
    let lang = context.lang;
    for found in &migration.found {
        print_provider(context, found);
    }
    if migration.is_empty() {
        let source = args.from.clone().unwrap_or_else(|| context.paths.settings());
        return note(&care::migrate_nothing(lang, &display_path(&source)));
    }
    for key in &migration.keys {
        note(&care::migrate_key(lang, key));
    }
    if let Some(name) = &migration.current {
        note(&care::migrate_current(lang, name));
    }
    if !migration.owned.is_empty() {
        note(&care::migrate_owned(
            lang,
            &display_path(&context.paths.settings()),
            &migration.owned.join(", "),
        ));
    }
    if args.dry_run {
        note(&care::migrate_dry_run(lang));
    } else if context.paths.config_backup().exists() {
        note(&care::migrate_backup(lang, &display_path(&context.paths.config_backup())));
    }
}

fn print_provider(context: &CccContext, found: &FoundProvider) {
    let (lang, name) = (context.lang, found.name.replace(char::is_control, " "));
    note(&care::migrate_found(lang, &name));
    for (variable, value) in &found.env {
        note(&format!("  {variable}={}", value.replace(char::is_control, " ")));
    }
    note(&match found.status {
        MigrationStatus::Added => {
            care::migrate_added(lang, &name, &display_path(&context.paths.config_file()))
        }
        MigrationStatus::Known => care::migrate_known(lang, &name),
        MigrationStatus::NameTaken => care::migrate_taken(lang, &name),
        MigrationStatus::BadName => care::migrate_bad_name(lang, &name),
        MigrationStatus::NotUnderstood => care::migrate_not_understood(lang, &name),
    });
}

/// The output of `ccc migrate --json`.
#[derive(Serialize)]
struct MigrationJson<'a> {
    found: Vec<FoundJson<'a>>,
    current: Option<&'a str>,
    keys: &'a [String],
    owned: &'a [String],
    dry_run: bool,
    changed: bool,
}

#[derive(Serialize)]
struct FoundJson<'a> {
    name: &'a str,
    #[serde(rename = "fate")]
    status: &'static str,
    env: JsonObject<&'a str, &'a str>,
}

fn to_json<'a>(args: &MigrateArgs, migration: &'a Migration) -> MigrationJson<'a> {
    let found = |provider: &'a FoundProvider| FoundJson {
        name: &provider.name,
        status: status_key(provider.status),
        env: provider.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect(),
    };
    MigrationJson {
        found: migration.found.iter().map(found).collect(),
        current: migration.current.as_deref(),
        keys: &migration.keys,
        owned: &migration.owned,
        dry_run: args.dry_run,
        changed: !args.dry_run && !migration.is_empty(),
    }
}

const fn status_key(status: MigrationStatus) -> &'static str {
    match status {
        MigrationStatus::Added => "added",
        MigrationStatus::Known => "known",
        MigrationStatus::NameTaken => "name-taken",
        MigrationStatus::BadName => "bad-name",
        MigrationStatus::NotUnderstood => "not-understood",
    }
}
