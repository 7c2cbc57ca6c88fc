//! Puts the client's settings on a provider, and off it again.
//!
//! Two files change: what is ours is written down first, for before and after, so that a kill in between leaves
//! nothing that the next switch does not recognise. One switch at a time; a reader of `settings.json` sees the
//! old or the new content.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use overtone_settings::{Document, SettingsFile, patience};
use serde_json::Value;

use crate::claim::{Claim, both, exchange};
use crate::fragment::{Leaf, keys, leaves};
use crate::mask::masked_value;
use crate::{Config, Fragment, Place, Places, ProvidersError, config, owned};

const PATIENCE: Duration = Duration::from_secs(30);
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// A key of the settings that changes, with its values as they may be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub key: String,
    pub before: Option<String>,
    pub after: Option<String>,
}

/// Writes the settings for a provider and makes it the current one. If one of the two fails, neither is done.
pub fn switch(places: &Places, name: &str, wanted: &Fragment) -> Result<Vec<Change>, ProvidersError> {
    let _lock = lock(places)?;
    let file = places.config_file();
    let before = Config::load(&file)?.current()?;
    config::set_current(&file, Some(name))?;
    let done = put(places, wanted);
    if done.is_err() {
        // The first error is the one to tell.
        let _ = config::set_current(&file, before.as_deref());
    }
    done
}

/// What [`switch`] would change. Nothing is written.
pub fn preview(places: &Places, wanted: &Fragment) -> Result<Vec<Change>, ProvidersError> {
    let path = places.settings();
    let before = SettingsFile::at(&path).read()?;
    let claims = owned::load(&places.owned(), &path)?;
    let mut after = Document::parse(&path, &before.to_text())?;
    check_plain(&path, &before)?;
    let new = exchange(&mut after, &claims, &leaves(wanted))?;
    Ok(changes(&before, &after, &both(&claims, &new)))
}

/// Takes a provider out of the configuration; if the settings are on it, the user's own values come back.
pub fn remove(places: &Places, name: &str) -> Result<Vec<Change>, ProvidersError> {
    let file = places.config_file();
    let config = Config::load(&file)?;
    config.check(name, None)?;
    let _lock = lock(places)?;
    let is_current = config.current()?.is_some_and(|current| current == name);
    let changes = if is_current { put(places, &Fragment::new())? } else { Vec::new() };
    config::take_out(&file, name)?;
    Ok(changes)
}

fn put(places: &Places, wanted: &Fragment) -> Result<Vec<Change>, ProvidersError> {
    let (path, owned) = (places.settings(), places.owned());
    let (settings, wanted) = (SettingsFile::at(&path), leaves(wanted));
    let old = owned::load(&owned, &path)?;
    let before = settings.read()?;
    check_plain(&path, &before)?;
    settings.backup_once(&places.backup())?;
    let (_, (new, changes)) = settings
        .edit(|document| replace(document, &old, &wanted, |both| owned::save(&owned, &path, both)))?;
    owned::save(&owned, &path, &new)?;
    Ok(changes)
}

fn replace(
    document: &mut Document,
    old: &[Claim],
    wanted: &[Leaf],
    announce: impl Fn(&[Claim]) -> Result<(), ProvidersError>,
) -> Result<(Vec<Claim>, Vec<Change>), ProvidersError> {
    let before = Document::parse(Path::new(""), &document.to_text())?;
    let new = exchange(document, old, wanted)?;
    let both = both(old, &new);
    // With the same claims as before there is nothing to announce.
    if new != old {
        announce(&both)?;
    }
    let changes = changes(&before, document, &both);
    Ok((new, changes))
}

fn changes(before: &Document, after: &Document, claims: &[Claim]) -> Vec<Change> {
    let change = |claim: &Claim| {
        let path = keys(&claim.path);
        let (before, after) = (before.get(&path), after.get(&path));
        let name = claim.path.last().map_or("", String::as_str);
        let shown = |value: &Value| masked_value(name, value);
        (before != after).then(|| Change {
            key: claim.path.join("."),
            before: before.as_ref().map(shown),
            after: after.as_ref().map(shown),
        })
    };
    claims.iter().filter_map(change).collect()
}

/// The client ignores a settings file with comments or extra commas as a whole: a switch would have no effect.
pub(crate) fn check_plain(path: &Path, settings: &Document) -> Result<(), ProvidersError> {
    let text = settings.to_text();
    let text = text.trim_start_matches('\u{feff}');
    if text.trim().is_empty() {
        return Ok(());
    }
    match serde_json::from_str::<Value>(text) {
        Ok(_) => Ok(()),
        Err(error) => Err(ProvidersError::NotPlain(Place { path: path.to_owned(), line: error.line() })),
    }
}

/// One switch at a time. The lock is gone with the process.
pub(crate) fn lock(places: &Places) -> Result<File, ProvidersError> {
    let path = places.lock();
    make_state(places)?;
    let open = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path);
    let file = open.map_err(|error| ProvidersError::io(&path, error))?;
    let started = Instant::now();
    loop {
        match file.try_lock() {
            // Some network file systems cannot lock; each file is still replaced as a whole.
            Ok(()) | Err(TryLockError::Error(_)) => return Ok(file),
            Err(TryLockError::WouldBlock) if started.elapsed() > patience(PATIENCE) => {
                return Err(ProvidersError::Busy(path));
            }
            Err(TryLockError::WouldBlock) => thread::sleep(LOOK_EVERY),
        }
    }
}

pub(crate) fn make_state(places: &Places) -> Result<(), ProvidersError> {
    let state = places.state();
    let made = match fs::metadata(&state) {
        Ok(about) if about.is_dir() => Ok(()),
        _ => DirBuilder::new().recursive(true).mode(0o700).create(&state),
    };
    made.map_err(|error| ProvidersError::io(&state, error))
}
