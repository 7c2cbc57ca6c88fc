//! `ccc use` and `ccc remove`.

use std::env;

use overtone_messages::ccc as words;
use overtone_providers::{
    Change, Config, Fragment, Running, followers, merge, preview, remove as remove_provider, shared_route,
    switch, unuse,
};

use super::args::{NameArgs, UseArgs};
use super::face::Face;
use super::report::{failure, shown};
use super::supervisor;
use crate::ui::error::{Done, Failure, say};

pub(super) fn use_provider(face: &Face, args: &UseArgs) -> Done {
    match &args.provider {
        Some(name) => put(face, name, args.dry_run),
        None => take_out(face, args.dry_run),
    }
}

fn put(face: &Face, name: &str, dry_run: bool) -> Done {
    let report = |error| failure(face.lang, &error);
    let wanted = fragment(face, &face.config()?, name)?;
    if dry_run {
        show_changes(face, &preview(&face.places, &wanted).map_err(report)?);
        print_followers(face, &words::would_follow(face.lang));
        return Ok(());
    }
    let done = switch(&face.places, name, &wanted).map_err(report)?;
    say(&words::switched(face.lang, name));
    if done.tightened {
        say(&words::tightened(face.lang, &shown(&face.places.settings())));
    }
    if !done.changes.is_empty() {
        print_followers(face, &words::follows(face.lang));
    }
    Ok(())
}

fn take_out(face: &Face, dry_run: bool) -> Done {
    let report = |error| failure(face.lang, &error);
    if dry_run {
        show_changes(face, &preview(&face.places, &Fragment::new()).map_err(report)?);
        return Ok(());
    }
    unuse(&face.places).map_err(report)?;
    say(&words::switched_off(face.lang));
    Ok(())
}

/// Names the sessions that a change of the shared settings moves.
fn print_followers(face: &Face, head: &str) {
    let running = followers(&face.places);
    if running.is_empty() {
        return;
    }
    say(head);
    for one in &running {
        say(&follower(face, one));
    }
}

fn follower(face: &Face, running: &Running) -> String {
    let folder = running.folder.as_deref().map(shown).unwrap_or_default();
    let line = format!("  {}  {folder}", running.process);
    let line = match &running.provider {
        Some(name) => format!("{line}  ({})", words::started_on(face.lang, name)),
        None => line,
    };
    line.replace(char::is_control, " ").trim_end().to_owned()
}

pub(super) fn remove(face: &Face, args: &NameArgs) -> Done {
    let removed = remove_provider(&face.places, &args.provider);
    removed.map_err(|error| failure(face.lang, &error))?;
    say(&words::removed(face.lang, &args.provider, &shown(&face.places.config_file())));
    Ok(())
}

/// All that the client's shared settings are to hold for a provider.
fn fragment(face: &Face, config: &Config, name: &str) -> Result<Fragment, Failure> {
    let fragment = shared_route(&face.places, config, name, &|variable| env::var(variable).ok());
    let mut fragment = fragment.map_err(|error| failure(face.lang, &error))?;
    merge(&mut fragment, &supervisor::settings(config));
    Ok(fragment)
}

pub(super) fn show_changes(face: &Face, changes: &[Change]) {
    let file = shown(&face.places.settings());
    if changes.is_empty() {
        return say(&words::would_change_nothing(face.lang, &file));
    }
    say(&words::would_change(face.lang, &file));
    for change in changes {
        say(&format!("  {}", line(change)));
    }
}

fn line(change: &Change) -> String {
    let key = &change.key;
    let line = match (&change.before, &change.after) {
        (None, Some(after)) => format!("+ {key} = {after}"),
        (Some(before), Some(after)) => format!("~ {key} = {before} → {after}"),
        (before, None) => format!("- {key} = {}", before.as_deref().unwrap_or_default()),
    };
    line.replace(char::is_control, " ")
}
