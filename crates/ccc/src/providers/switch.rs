//! Writes the client's settings: the shared part at every start, a provider's route only with `ccc use`. Undoes both.
//!
//! Two files change. The claims valid before and after the switch are saved first, so that a process that is killed in
//! between leaves nothing that the next switch does not recognise. A lock allows one switch at a time. A reader of
//! `settings.json` sees either the old or the new content.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::time::Duration;

use jsonc_edit::lock::{LockError, lock_within};
use jsonc_edit::{Document, SettingsError, SettingsFile, effective_timeout};
use serde_json::Value;

use crate::providers::claim::{Claim, exchange, union};
use crate::providers::config::make_private;
use crate::providers::fragment::{Leaf, keys, leaves};
use crate::providers::mask::{masked, masked_value};
use crate::providers::running::has_supervised;
use crate::providers::{CccPaths, Config, FileLocation, Fragment, ProvidersError, ValueType, config, owned};

const LOCK_TIMEOUT: Duration = Duration::from_secs(30);

/// A changed key of the settings, with masked values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub key: String,
    pub before: Option<String>,
    pub after: Option<String>,
}

/// The outcome of [`switch_provider`] and [`prepare_start`].
#[derive(Debug, Default)]
pub struct SwitchOutcome {
    pub changes: Vec<Change>,
    /// The settings file contains a secret now and was readable by others, so it was made private.
    pub made_private: bool,
    /// Keys that an earlier version had written and that were removed.
    pub leftovers: Vec<String>,
}

/// Claimed values that stay in the settings although no target value replaces them.
#[derive(Debug, Clone, Copy, Default)]
struct Keep {
    /// Values written by `ccc use`.
    route: bool,
    /// The supervisor's hook, while a supervised client is running.
    hook: bool,
}

/// `ccc use`: writes a provider to the settings, including its route, and makes it the current one. If one of the two
/// fails, neither is done.
pub fn switch_provider(
    paths: &CccPaths,
    name: &str,
    target: &Fragment,
) -> Result<SwitchOutcome, ProvidersError> {
    let _lock = lock(paths)?;
    let keep = Keep { route: false, hook: has_supervised(paths) };
    with_current_provider(paths, name, || apply(paths, target, keep, Some(name)))
}

/// Prepares a start: writes the shared part of the settings and makes the provider the current one. Values that an
/// earlier version wrote for a provider are removed; values written by `ccc use` stay.
pub fn prepare_start(
    paths: &CccPaths,
    name: &str,
    shared: &Fragment,
) -> Result<SwitchOutcome, ProvidersError> {
    let _lock = lock(paths)?;
    let keep = Keep { route: true, hook: has_supervised(paths) };
    with_current_provider(paths, name, || apply(paths, shared, keep, None))
}

/// Makes the provider the current one and performs the change. If the change fails, the previous one is restored.
fn with_current_provider(
    paths: &CccPaths,
    name: &str,
    change: impl FnOnce() -> Result<SwitchOutcome, ProvidersError>,
) -> Result<SwitchOutcome, ProvidersError> {
    let file = paths.config_file();
    let before = Config::load(&file)?.current()?;
    config::set_current(&file, Some(name))?;
    let done = change();
    if done.is_err() {
        // The first error is the one to report.
        let _ = config::set_current(&file, before.as_deref());
    }
    done
}

/// What [`switch_provider`] would change. Nothing is written.
pub fn preview_switch(paths: &CccPaths, target: &Fragment) -> Result<Vec<Change>, ProvidersError> {
    preview_changes(paths, target, Keep { route: false, hook: has_supervised(paths) })
}

/// What [`prepare_start`] would change. Nothing is written.
pub fn preview_start(paths: &CccPaths, shared: &Fragment) -> Result<Vec<Change>, ProvidersError> {
    preview_changes(paths, shared, Keep { route: true, hook: has_supervised(paths) })
}

fn preview_changes(paths: &CccPaths, target: &Fragment, keep: Keep) -> Result<Vec<Change>, ProvidersError> {
    let path = paths.settings();
    let before = SettingsFile::at(&path).read()?;
    let claims = owned::load(&paths.owned(), &path)?;
    let mut after = Document::parse(&path, &before.to_text())?;
    check_plain(&path, &before)?;
    let new = exchange_claims(&mut after, &claims, &leaves(target), keep, None)?;
    Ok(changes(&before, &after, &union(&claims, &new)))
}

/// Removes a provider from the configuration. If the settings are on it, the user's own values are restored.
pub fn remove_provider(paths: &CccPaths, name: &str) -> Result<Vec<Change>, ProvidersError> {
    let file = paths.config_file();
    let config = Config::load(&file)?;
    config.check(name, None)?;
    let _lock = lock(paths)?;
    let is_current = config.current()?.as_deref() == Some(name);
    let is_used = used_provider(paths)?.as_deref() == Some(name);
    let changes = if is_current || is_used {
        apply(paths, &Fragment::new(), Keep { route: !is_used, hook: has_supervised(paths) }, None)?.changes
    } else {
        Vec::new()
    };
    config::remove_provider(&file, name)?;
    Ok(changes)
}

/// `ccc use --off`: removes the provider from the settings and restores the user's own values.
pub fn switch_off(paths: &CccPaths) -> Result<Vec<Change>, ProvidersError> {
    let _lock = lock(paths)?;
    let keep = Keep { route: false, hook: has_supervised(paths) };
    Ok(apply(paths, &Fragment::new(), keep, None)?.changes)
}

/// The provider that `ccc use` has written to the settings.
pub fn used_provider(paths: &CccPaths) -> Result<Option<String>, ProvidersError> {
    let claims = owned::load(&paths.owned(), &paths.settings())?;
    Ok(claims.into_iter().find_map(|claim| claim.used_provider))
}

/// Removes values that an earlier version wrote at a start; everything else stays.
pub(crate) fn clear_leftovers(paths: &CccPaths) -> Result<(), ProvidersError> {
    let _lock = lock(paths)?;
    let path = paths.settings();
    let old = owned::load(&paths.owned(), &path)?;
    let (gone, kept): (Vec<_>, Vec<_>) = old.into_iter().partition(is_leftover);
    SettingsFile::at(&path).edit(|document| {
        check_plain(&path, document)?;
        exchange(document, &gone, &[]).map_err(ProvidersError::from)
    })?;
    owned::save(&paths.owned(), &path, &kept)
}

/// Whether an earlier version wrote the value at a start.
pub(crate) fn is_leftover(claim: &Claim) -> bool {
    claim.used_provider.is_none() && claim.is_route()
}

/// The keys of route values in a settings file that an earlier version wrote at a start.
pub(crate) fn leftovers(paths: &CccPaths, document: &Document) -> Result<Vec<String>, ProvidersError> {
    let claims = owned::load(&paths.owned(), &paths.settings())?;
    let left = claims.iter().filter(|claim| is_leftover(claim) && claim.is_valid(document));
    Ok(left.map(|claim| claim.path.join(".")).collect())
}

/// Replaces the claimed values in the settings by the target values. `used_provider`: the provider, if `ccc use` writes them.
fn apply(
    paths: &CccPaths,
    target: &Fragment,
    keep: Keep,
    used_provider: Option<&str>,
) -> Result<SwitchOutcome, ProvidersError> {
    let (path, owned) = (paths.settings(), paths.owned());
    let (settings, target) = (SettingsFile::at(&path), leaves(target));
    let old = owned::load(&owned, &path)?;
    let before = settings.read()?;
    check_plain(&path, &before)?;
    let leftovers = leftovers(paths, &before)?;
    settings.backup_once(&paths.backup())?;
    // Before the secret is written to the file.
    let made_private = target.iter().any(contains_secret) && restrict_permissions(&path)?;
    let save_claims = |claims: &[Claim]| owned::save(&owned, &path, claims);
    let (_, (new, changes)) = settings.edit(|document| {
        let exchange =
            |document: &mut Document| exchange_claims(document, &old, &target, keep, used_provider);
        edit_claimed(document, &old, exchange, save_claims)
    })?;
    owned::save(&owned, &path, &new)?;
    let leftovers = if used_provider.is_some() { Vec::new() } else { leftovers };
    Ok(SwitchOutcome { changes, made_private, leftovers })
}

/// Replaces the claimed values by the target values, except for those to keep, and returns the new claims.
fn exchange_claims(
    document: &mut Document,
    old: &[Claim],
    target: &[Leaf],
    keep: Keep,
    used_provider: Option<&str>,
) -> Result<Vec<Claim>, SettingsError> {
    let wants_hook = target.iter().any(|(path, _)| is_hook(path));
    let stays = |claim: &&Claim| {
        let by_use = keep.route && claim.used_provider.is_some();
        by_use || (keep.hook && !wants_hook && is_hook(&claim.path))
    };
    let (kept, given_up): (Vec<_>, Vec<_>) = old.iter().partition(stays);
    let given_up: Vec<_> = given_up.into_iter().cloned().collect();
    let mut new = exchange(document, &given_up, target)?;
    for claim in new.iter_mut().filter(|claim| claim.is_route()) {
        claim.used_provider = used_provider.map(str::to_owned);
    }
    // A kept claim on a key that is claimed anew would be a duplicate.
    let is_new = |claim: &&Claim| !new.iter().any(|other| other.path == claim.path);
    let mut all: Vec<_> = kept.into_iter().filter(is_new).cloned().collect();
    all.extend(new);
    Ok(all)
}

fn is_hook(path: &[String]) -> bool {
    matches!(path, [hooks, stop] if hooks == "hooks" && stop == "Stop")
}

fn contains_secret((path, value): &Leaf) -> bool {
    match (path.as_slice(), value) {
        ([env, .., name], Value::String(text)) if env == "env" => masked(name, text) != *text,
        _ => false,
    }
}

/// Makes a file private. Returns whether it was readable by others.
fn restrict_permissions(path: &Path) -> Result<bool, ProvidersError> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() && metadata.permissions().mode() & 0o077 != 0 => {
            make_private(path).map_err(|error| ProvidersError::io(path, error))?;
            Ok(true)
        }
        // A new file is created private, and the edit reports a path that cannot be used.
        _ => Ok(false),
    }
}

/// Edits the document and returns the new claims and the changes. Before the edited document is written, `save_claims`
/// receives the claims that are valid before and after the edit.
fn edit_claimed(
    document: &mut Document,
    old: &[Claim],
    exchange: impl Fn(&mut Document) -> Result<Vec<Claim>, SettingsError>,
    save_claims: impl Fn(&[Claim]) -> Result<(), ProvidersError>,
) -> Result<(Vec<Claim>, Vec<Change>), ProvidersError> {
    let before = Document::parse(Path::new(""), &document.to_text())?;
    let new = exchange(document)?;
    let all = union(old, &new);
    // Unchanged claims are saved already.
    if new != old {
        save_claims(&all)?;
    }
    let changes = changes(&before, document, &all);
    Ok((new, changes))
}

fn changes(before: &Document, after: &Document, claims: &[Claim]) -> Vec<Change> {
    let mut found = Vec::new();
    for claim in claims {
        let path = keys(&claim.path);
        let (before, after) = (before.get(&path), after.get(&path));
        if before == after {
            continue;
        }
        let name = claim.path.last().map(String::as_str).unwrap_or_default();
        let mask = |value: &Value| masked_value(name, value);
        found.push(Change {
            key: claim.path.join("."),
            before: before.as_ref().map(mask),
            after: after.as_ref().map(mask),
        });
    }
    found
}

/// Fails unless the settings are plain JSON with a valid `env`. The client ignores a file with comments or extra commas
/// as a whole, so that a switch would have no effect.
pub(crate) fn check_plain(path: &Path, settings: &Document) -> Result<(), ProvidersError> {
    let text = settings.to_text();
    let text = text.trim_start_matches('\u{feff}');
    if text.trim().is_empty() {
        return Ok(());
    }
    match serde_json::from_str::<Value>(text) {
        // The client ignores such a file as well.
        Ok(value) if !matches!(value.get("env"), None | Some(Value::Object(_))) => {
            let location = FileLocation::of_key(path, settings, &["env"]);
            Err(ProvidersError::WrongType { location, key: "env".to_owned(), expected: ValueType::Object })
        }
        Ok(_) => Ok(()),
        Err(error) => {
            Err(ProvidersError::NotPlain(FileLocation { path: path.to_owned(), line: error.line() }))
        }
    }
}

/// Waits for the lock that allows one switch at a time. The system releases it when the process ends.
pub(crate) fn lock(paths: &CccPaths) -> Result<File, ProvidersError> {
    let path = paths.lock();
    make_state_folder(paths)?;
    let open = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path);
    let file = open.map_err(|error| ProvidersError::io(&path, error))?;
    match lock_within(&file, effective_timeout(LOCK_TIMEOUT)) {
        // Some network file systems cannot lock; each file is still replaced as a whole.
        Ok(()) | Err(LockError::Unsupported(_)) => Ok(file),
        Err(LockError::Busy) => Err(ProvidersError::Busy(path)),
    }
}

/// Creates the state folder if it is missing.
pub(crate) fn make_state_folder(paths: &CccPaths) -> Result<(), ProvidersError> {
    let state = paths.state();
    let created = match fs::metadata(&state) {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        _ => DirBuilder::new().recursive(true).mode(0o700).create(&state),
    };
    created.map_err(|error| ProvidersError::io(&state, error))
}
