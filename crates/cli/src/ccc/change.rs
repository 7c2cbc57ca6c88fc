//! `ccc use` and `ccc remove`.

use std::env;

use overtone_messages::ccc as words;
use overtone_providers::{Change, Config, Fragment, merge, preview, remove as remove_provider, switch};

use super::args::{NameArgs, UseArgs};
use super::face::Face;
use super::report::{failure, shown};
use super::supervisor;
use crate::ui::error::{Done, Failure, say};

pub(super) fn use_provider(face: &Face, args: &UseArgs) -> Done {
    let wanted = fragment(face, &face.config()?, &args.provider)?;
    if args.dry_run {
        return show_preview(face, &wanted);
    }
    let done = switch(&face.places, &args.provider, &wanted);
    done.map_err(|error| failure(face.lang, &error))?;
    say(&words::switched(face.lang, &args.provider));
    Ok(())
}

pub(super) fn remove(face: &Face, args: &NameArgs) -> Done {
    let removed = remove_provider(&face.places, &args.provider);
    removed.map_err(|error| failure(face.lang, &error))?;
    say(&words::removed(face.lang, &args.provider, &shown(&face.places.config_file())));
    Ok(())
}

/// All that the client's settings are to hold for a provider.
pub(super) fn fragment(face: &Face, config: &Config, name: &str) -> Result<Fragment, Failure> {
    let fragment = config.fragment(name, &|variable| env::var(variable).ok());
    let mut fragment = fragment.map_err(|error| failure(face.lang, &error))?;
    merge(&mut fragment, &supervisor::settings(config));
    Ok(fragment)
}

pub(super) fn show_preview(face: &Face, wanted: &Fragment) -> Done {
    let changes = preview(&face.places, wanted).map_err(|error| failure(face.lang, &error))?;
    let file = shown(&face.places.settings());
    if changes.is_empty() {
        say(&words::would_change_nothing(face.lang, &file));
    } else {
        say(&words::would_change(face.lang, &file));
        for change in &changes {
            say(&format!("  {}", line(change)));
        }
    }
    Ok(())
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
