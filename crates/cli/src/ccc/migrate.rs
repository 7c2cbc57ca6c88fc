//! `ccc migrate`: takes an existing set-up over. Everything is shown, tokens masked.

use overtone_messages::{care, ccc as words};
use overtone_providers::{Adoption, Fate, Found, Terms, adopt, import, is_name};
use serde_json::{Map, Value, json};

use super::args::MigrateArgs;
use super::face::Face;
use super::line::is_command;
use super::report::{failure, shown};
use crate::ui::error::{Done, Failure, say};
use crate::ui::out;

pub(super) fn run(face: &Face, args: &MigrateArgs) -> Done {
    let usable = |name: &str| is_name(name) && !is_command(name);
    if let Some(name) = args.name.as_deref().filter(|name| !usable(name)) {
        return Err(Failure::new(words::bad_name(face.lang, name)).hint(words::bad_name_hint(face.lang)));
    }
    let terms = Terms { usable: &usable, dry_run: args.dry_run };
    let adoption = match &args.from {
        Some(file) => import(&face.places, file, &terms),
        None => adopt(&face.places, args.name.as_deref(), &terms),
    };
    let adoption = adoption.map_err(|error| failure(face.lang, &error))?;
    tell(face, args, &adoption);
    if args.output.json { out::json(&object(args, &adoption)) } else { Ok(()) }
}

fn tell(face: &Face, args: &MigrateArgs, adoption: &Adoption) {
    let lang = face.lang;
    for found in &adoption.found {
        tell_found(face, found);
    }
    if adoption.is_empty() {
        let source = args.from.clone().unwrap_or_else(|| face.places.settings());
        return say(&care::migrate_nothing(lang, &shown(&source)));
    }
    for key in &adoption.keys {
        say(&care::migrate_key(lang, key));
    }
    if let Some(name) = &adoption.current {
        say(&care::migrate_current(lang, name));
    }
    if !adoption.owned.is_empty() {
        say(&care::migrate_owned(lang, &shown(&face.places.settings()), &adoption.owned.join(", ")));
    }
    if args.dry_run {
        say(&care::migrate_dry_run(lang));
    } else if face.places.config_backup().exists() {
        say(&care::migrate_backup(lang, &shown(&face.places.config_backup())));
    }
}

fn tell_found(face: &Face, found: &Found) {
    let (lang, name) = (face.lang, found.name.replace(char::is_control, " "));
    say(&care::migrate_found(lang, &name));
    for (variable, value) in &found.env {
        say(&format!("  {variable}={}", value.replace(char::is_control, " ")));
    }
    say(&match found.fate {
        Fate::Added => care::migrate_added(lang, &name, &shown(&face.places.config_file())),
        Fate::Known => care::migrate_known(lang, &name),
        Fate::NameTaken => care::migrate_taken(lang, &name),
        Fate::BadName => care::migrate_bad_name(lang, &name),
        Fate::NotUnderstood => care::migrate_not_understood(lang, &name),
    });
}

fn object(args: &MigrateArgs, adoption: &Adoption) -> Value {
    let env = |found: &Found| -> Map<String, Value> {
        found.env.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect()
    };
    let fate = |found: &Found| match found.fate {
        Fate::Added => "added",
        Fate::Known => "known",
        Fate::NameTaken => "name-taken",
        Fate::BadName => "bad-name",
        Fate::NotUnderstood => "not-understood",
    };
    let found = adoption.found.iter();
    let found = found.map(|found| json!({ "name": found.name, "fate": fate(found), "env": env(found) }));
    json!({
        "found": found.collect::<Vec<_>>(), "current": adoption.current, "keys": adoption.keys,
        "owned": adoption.owned, "dry_run": args.dry_run,
        "changed": !args.dry_run && !adoption.is_empty(),
    })
}
