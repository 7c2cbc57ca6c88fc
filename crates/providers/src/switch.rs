//! Changes the client's settings: what all sessions share at every start, a provider's route only with `ccc use`, and
//! back again.
//!
//! Two files change: what is ours is written down first, for before and after, so that a kill in between leaves
//! nothing that the next switch does not recognise. One switch at a time; a reader of `settings.json` sees the
//! old or the new content.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use overtone_settings::{Document, SettingsError, SettingsFile, patience};
use serde_json::Value;

use crate::claim::{Claim, both, exchange};
use crate::config::make_private;
use crate::fragment::{Leaf, keys, leaves};
use crate::mask::{masked, masked_value};
use crate::running::has_supervised;
use crate::{Config, Fragment, Place, Places, ProvidersError, Wanted, config, owned};

const PATIENCE: Duration = Duration::from_secs(30);
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// A key of the settings that changes, with its values as they may be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub key: String,
    pub before: Option<String>,
    pub after: Option<String>,
}

/// What [`switch`] and [`prepare`] did.
#[derive(Debug, Default)]
pub struct Switched {
    pub changes: Vec<Change>,
    /// Others could read the settings, which hold a secret now, so that they were made private.
    pub tightened: bool,
    /// Keys that an earlier version had written and that were taken out.
    pub leftovers: Vec<String>,
}

/// What stays in the settings although it is ours and not wanted any more.
#[derive(Debug, Clone, Copy, Default)]
struct Keep {
    /// What `ccc use` has put there.
    route: bool,
    /// The hook of the supervisor.
    hook: bool,
}

/// `ccc use`: puts a provider into the settings, its route included, and makes it the current one. If one of the two
/// fails, neither is done.
pub fn switch(places: &Places, name: &str, wanted: &Fragment) -> Result<Switched, ProvidersError> {
    let _lock = lock(places)?;
    let keep = Keep { route: false, hook: has_supervised(places) };
    and_choose(places, name, || put(places, wanted, keep, Some(name)))
}

/// A start: puts what all sessions share into the settings, and makes the provider the current one. What an earlier
/// version wrote for a provider goes, what `ccc use` wrote stays.
pub fn prepare(places: &Places, name: &str, shared: &Fragment) -> Result<Switched, ProvidersError> {
    let _lock = lock(places)?;
    let keep = Keep { route: true, hook: has_supervised(places) };
    and_choose(places, name, || put(places, shared, keep, None))
}

fn and_choose(
    places: &Places,
    name: &str,
    change: impl FnOnce() -> Result<Switched, ProvidersError>,
) -> Result<Switched, ProvidersError> {
    let file = places.config_file();
    let before = Config::load(&file)?.current()?;
    config::set_current(&file, Some(name))?;
    let done = change();
    if done.is_err() {
        // The first error is the one to tell.
        let _ = config::set_current(&file, before.as_deref());
    }
    done
}

/// What [`switch`] would change. Nothing is written.
pub fn preview(places: &Places, wanted: &Fragment) -> Result<Vec<Change>, ProvidersError> {
    rehearsed(places, wanted, Keep { route: false, hook: has_supervised(places) })
}

/// What [`prepare`] would change. Nothing is written.
pub fn preview_start(places: &Places, shared: &Fragment) -> Result<Vec<Change>, ProvidersError> {
    rehearsed(places, shared, Keep { route: true, hook: has_supervised(places) })
}

fn rehearsed(places: &Places, wanted: &Fragment, keep: Keep) -> Result<Vec<Change>, ProvidersError> {
    let path = places.settings();
    let before = SettingsFile::at(&path).read()?;
    let claims = owned::load(&places.owned(), &path)?;
    let mut after = Document::parse(&path, &before.to_text())?;
    check_plain(&path, &before)?;
    let new = exchanged(&mut after, &claims, &leaves(wanted), keep, None)?;
    Ok(changes(&before, &after, &both(&claims, &new)))
}

/// Takes a provider out of the configuration; if the settings are on it, the user's own values come back.
pub fn remove(places: &Places, name: &str) -> Result<Vec<Change>, ProvidersError> {
    let file = places.config_file();
    let config = Config::load(&file)?;
    config.check(name, None)?;
    let _lock = lock(places)?;
    let is_current = config.current()?.is_some_and(|current| current == name);
    let is_used = used(places)?.is_some_and(|used| used == name);
    let changes = if is_current || is_used {
        put(places, &Fragment::new(), Keep { route: !is_used, hook: has_supervised(places) }, None)?.changes
    } else {
        Vec::new()
    };
    config::take_out(&file, name)?;
    Ok(changes)
}

/// `ccc use --off`: takes the provider out of the settings; the user's own values come back.
pub fn unuse(places: &Places) -> Result<Vec<Change>, ProvidersError> {
    let _lock = lock(places)?;
    let keep = Keep { route: false, hook: has_supervised(places) };
    Ok(put(places, &Fragment::new(), keep, None)?.changes)
}

/// The provider that `ccc use` has put into the settings.
pub fn used(places: &Places) -> Result<Option<String>, ProvidersError> {
    let claims = owned::load(&places.owned(), &places.settings())?;
    Ok(claims.into_iter().find_map(|claim| claim.used))
}

/// Takes out what an earlier version wrote at a start; everything else stays.
pub(crate) fn clear_leftovers(places: &Places) -> Result<(), ProvidersError> {
    let _lock = lock(places)?;
    let path = places.settings();
    let old = owned::load(&places.owned(), &path)?;
    let (gone, kept): (Vec<_>, Vec<_>) = old.into_iter().partition(is_leftover);
    SettingsFile::at(&path).edit(|document| {
        check_plain(&path, document)?;
        exchange(document, &gone, &[]).map_err(ProvidersError::from)
    })?;
    owned::save(&places.owned(), &path, &kept)
}

pub(crate) fn is_leftover(claim: &Claim) -> bool {
    claim.used.is_none() && claim.is_route()
}

/// The variables and helpers in a settings file that an earlier version wrote at a start.
pub(crate) fn leftovers(places: &Places, document: &Document) -> Result<Vec<String>, ProvidersError> {
    let claims = owned::load(&places.owned(), &places.settings())?;
    let left = claims.iter().filter(|claim| is_leftover(claim) && claim.is_valid(document));
    Ok(left.map(|claim| claim.path.join(".")).collect())
}

fn put(
    places: &Places,
    wanted: &Fragment,
    keep: Keep,
    used: Option<&str>,
) -> Result<Switched, ProvidersError> {
    let (path, owned) = (places.settings(), places.owned());
    let (settings, wanted) = (SettingsFile::at(&path), leaves(wanted));
    let old = owned::load(&owned, &path)?;
    let before = settings.read()?;
    check_plain(&path, &before)?;
    let leftovers = leftovers(places, &before)?;
    settings.backup_once(&places.backup())?;
    // Before the secret is in the file, and not after.
    let tightened = wanted.iter().any(holds_secret) && tighten(&path)?;
    let announce = |both: &[Claim]| owned::save(&owned, &path, both);
    let (_, (new, changes)) = settings.edit(|document| {
        replace(document, &old, |document| exchanged(document, &old, &wanted, keep, used), announce)
    })?;
    owned::save(&owned, &path, &new)?;
    let leftovers = if used.is_some() { Vec::new() } else { leftovers };
    Ok(Switched { changes, tightened, leftovers })
}

/// Exchanges what is ours for what is wanted, apart from what is to stay.
fn exchanged(
    document: &mut Document,
    old: &[Claim],
    wanted: &[Leaf],
    keep: Keep,
    used: Option<&str>,
) -> Result<Vec<Claim>, SettingsError> {
    let wants_hook = wanted.iter().any(|(path, _)| is_hook(path));
    let stays = |claim: &&Claim| {
        let by_use = keep.route && claim.used.is_some();
        by_use || (keep.hook && !wants_hook && is_hook(&claim.path))
    };
    let (kept, given_up): (Vec<_>, Vec<_>) = old.iter().partition(stays);
    let given_up: Vec<_> = given_up.into_iter().cloned().collect();
    let mut new = exchange(document, &given_up, wanted)?;
    for claim in new.iter_mut().filter(|claim| claim.is_route()) {
        claim.used = used.map(str::to_owned);
    }
    // What is in the settings by `ccc use` already is not claimed a second time.
    let is_new = |claim: &&Claim| !new.iter().any(|other| other.path == claim.path);
    let mut all: Vec<_> = kept.into_iter().filter(is_new).cloned().collect();
    all.extend(new);
    Ok(all)
}

fn is_hook(path: &[String]) -> bool {
    matches!(path, [hooks, stop] if hooks == "hooks" && stop == "Stop")
}

fn holds_secret((path, value): &Leaf) -> bool {
    let name = path.last().map_or("", String::as_str);
    match value {
        Value::String(text) => path.first().is_some_and(|key| key == "env") && masked(name, text) != *text,
        _ => false,
    }
}

/// Makes a file private, and says whether it was not.
fn tighten(path: &Path) -> Result<bool, ProvidersError> {
    match fs::metadata(path) {
        Ok(about) if about.is_file() && about.permissions().mode() & 0o077 != 0 => {
            make_private(path).map_err(|error| ProvidersError::io(path, error))?;
            Ok(true)
        }
        // A new file is private from the start; what cannot be used is told by the edit.
        _ => Ok(false),
    }
}

fn replace(
    document: &mut Document,
    old: &[Claim],
    exchange: impl Fn(&mut Document) -> Result<Vec<Claim>, SettingsError>,
    announce: impl Fn(&[Claim]) -> Result<(), ProvidersError>,
) -> Result<(Vec<Claim>, Vec<Change>), ProvidersError> {
    let before = Document::parse(Path::new(""), &document.to_text())?;
    let new = exchange(document)?;
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
        // The client ignores such a file as a whole, too.
        Ok(value) if value.get("env").is_some_and(|env| !env.is_object()) => {
            let place = Place::of(path, settings, &["env"]);
            Err(ProvidersError::WrongType { place, key: "env".to_owned(), wanted: Wanted::Object })
        }
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
