//! `ccc use` and `ccc remove`.

use std::env;

use overtone_ccc::providers::{
    Change, Config, Fragment, RunningClient, clients_on_shared_settings, merge, preview_switch,
    remove_provider, shared_route, switch_off, switch_provider,
};
use overtone_core::messages::ccc as messages;

use super::args::{NameArgs, UseArgs};
use super::context::CccContext;
use super::report::{display_path, failure};
use super::supervisor;
use crate::ui::error::{CommandResult, note};

pub(super) fn use_provider(context: &CccContext, args: &UseArgs) -> CommandResult {
    match &args.provider {
        Some(name) => switch_to(context, name, args.dry_run),
        None => switch_back(context, args.dry_run),
    }
}

fn switch_to(context: &CccContext, name: &str, dry_run: bool) -> CommandResult {
    let report = |error| failure(context.lang, &error);
    let target = fragment(context, &context.config()?, name)?;
    if dry_run {
        show_changes(context, &preview_switch(&context.paths, &target).map_err(report)?);
        print_followers(context, &messages::would_follow(context.lang));
        return Ok(());
    }
    let outcome = switch_provider(&context.paths, name, &target).map_err(report)?;
    note(&messages::switched(context.lang, name));
    if outcome.made_private {
        note(&messages::tightened(context.lang, &display_path(&context.paths.settings())));
    }
    if !outcome.changes.is_empty() {
        print_followers(context, &messages::follows(context.lang));
    }
    Ok(())
}

fn switch_back(context: &CccContext, dry_run: bool) -> CommandResult {
    let report = |error| failure(context.lang, &error);
    if dry_run {
        show_changes(context, &preview_switch(&context.paths, &Fragment::new()).map_err(report)?);
        return Ok(());
    }
    switch_off(&context.paths).map_err(report)?;
    note(&messages::switched_off(context.lang));
    Ok(())
}

/// Lists the running clients that a change of the shared settings affects.
fn print_followers(context: &CccContext, head: &str) {
    let clients = clients_on_shared_settings(&context.paths);
    if clients.is_empty() {
        return;
    }
    note(head);
    for client in &clients {
        note(&client_line(context, client));
    }
}

fn client_line(context: &CccContext, client: &RunningClient) -> String {
    let folder = client.folder.as_deref().map(display_path).unwrap_or_default();
    let line = format!("  {}  {folder}", client.process);
    let line = match &client.provider {
        Some(name) => format!("{line}  ({})", messages::started_on(context.lang, name)),
        None => line,
    };
    line.replace(char::is_control, " ").trim_end().to_owned()
}

pub(super) fn remove(context: &CccContext, args: &NameArgs) -> CommandResult {
    let removed = remove_provider(&context.paths, &args.provider);
    removed.map_err(|error| failure(context.lang, &error))?;
    note(&messages::removed(context.lang, &args.provider, &display_path(&context.paths.config_file())));
    Ok(())
}

/// The shared settings for a provider.
fn fragment(context: &CccContext, config: &Config, name: &str) -> CommandResult<Fragment> {
    let fragment = shared_route(&context.paths, config, name, &|variable| env::var(variable).ok());
    let mut fragment = fragment.map_err(|error| failure(context.lang, &error))?;
    merge(&mut fragment, &supervisor::settings(config));
    Ok(fragment)
}

pub(super) fn show_changes(context: &CccContext, changes: &[Change]) {
    let file = display_path(&context.paths.settings());
    if changes.is_empty() {
        return note(&messages::would_change_nothing(context.lang, &file));
    }
    note(&messages::would_change(context.lang, &file));
    for change in changes {
        note(&format!("  {}", change_line(change)));
    }
}

fn change_line(change: &Change) -> String {
    let key = &change.key;
    let line = match (&change.before, &change.after) {
        (None, Some(after)) => format!("+ {key} = {after}"),
        (Some(before), Some(after)) => format!("~ {key} = {before} → {after}"),
        (before, None) => format!("- {key} = {}", before.as_deref().unwrap_or_default()),
    };
    line.replace(char::is_control, " ")
}
