//! What is ours in the client's settings, key by key, and how it gets there and away again.
//!
//! A claim says which values of a key are ours and what stood there before. A key that has another value by now
//! has been changed by the user: it is theirs, and the claim is void. In a list only the items that were missing
//! are ours, so that the user's own hooks and rules are never touched.

use overtone_settings::{Document, SettingsError};
use serde_json::Value;

use crate::fragment::{Leaf, keys};
use crate::route::ROUTE_KEYS;

/// One key of the settings.
#[derive(Clone, PartialEq)]
pub(crate) struct Claim {
    pub(crate) path: Vec<String>,
    pub(crate) hold: Hold,
    /// The object around it was not there before, and goes with the last claim in it.
    pub(crate) made: bool,
    /// The provider that `ccc use` has put there. A start leaves it alone. What has no such name and decides the route
    /// was written by an earlier version, at a start.
    pub(crate) used: Option<String>,
}

/// What of a key is ours.
#[derive(Clone, PartialEq)]
pub(crate) enum Hold {
    /// One of these values; more than one while a switch is under way.
    Value { ours: Vec<Value>, previous: Option<Value> },
    /// These items of the list; with `whole`, the list itself was not there before.
    Items { ours: Vec<Value>, whole: bool },
}

impl Claim {
    /// Whether the key decides where requests go, or holds a variable of the client.
    pub(crate) fn is_route(&self) -> bool {
        self.path.first().is_some_and(|key| key == "env" || ROUTE_KEYS.contains(&key.as_str()))
    }

    pub(crate) fn is_valid(&self, document: &Document) -> bool {
        let path = keys(&self.path);
        match &self.hold {
            Hold::Value { ours, .. } => document.get(&path).is_some_and(|value| ours.contains(&value)),
            Hold::Items { ours, .. } => document.array_items(&path).iter().any(|item| ours.contains(item)),
        }
    }

    /// Puts back what was there before.
    fn undo(&self, document: &mut Document) -> Result<(), SettingsError> {
        let path = keys(&self.path);
        match &self.hold {
            Hold::Value { previous: Some(previous), .. } => return document.set(&path, previous.clone()),
            Hold::Value { previous: None, .. } => {}
            Hold::Items { ours, whole } => {
                document.array_retain(&path, |item| !ours.contains(item))?;
                if !whole || !document.array_items(&path).is_empty() {
                    return Ok(());
                }
            }
        }
        if self.made {
            document.remove_pruning(&path)?
        } else {
            document.remove(&path)?
        };
        Ok(())
    }
}

/// Exchanges what is claimed for what is wanted. Keys that stay keep their place in the file.
pub(crate) fn exchange(
    document: &mut Document,
    old: &[Claim],
    wanted: &[Leaf],
) -> Result<Vec<Claim>, SettingsError> {
    let valid: Vec<_> = old.iter().filter(|claim| claim.is_valid(document)).cloned().collect();
    let stays = |claim: &Claim| wanted.iter().any(|leaf| takes_over(claim, leaf));
    for claim in valid.iter().rev().filter(|claim| !stays(claim)) {
        claim.undo(document)?;
    }
    let mut new: Vec<Claim> = Vec::new();
    for leaf in wanted {
        let held = valid.iter().find(|claim| takes_over(claim, leaf));
        let made = is_made(document, &leaf.0, valid.iter().chain(&new));
        new.extend(claim(document, leaf, held, made)?);
    }
    Ok(new)
}

/// Whether a key stays ours, in the same way.
fn takes_over(claim: &Claim, (path, value): &Leaf) -> bool {
    claim.path == *path && matches!(claim.hold, Hold::Items { .. }) == value.is_array()
}

/// Whether what is around the key is there because of us.
fn is_made<'a>(document: &Document, path: &[String], mut claims: impl Iterator<Item = &'a Claim>) -> bool {
    let [outer @ .., _] = path else { return false };
    document.get(&keys(outer)).is_none()
        || claims.any(|claim| claim.made && claim.path.len() == path.len() && claim.path.starts_with(outer))
}

fn claim(
    document: &mut Document,
    (path, value): &Leaf,
    held: Option<&Claim>,
    made: bool,
) -> Result<Option<Claim>, SettingsError> {
    let now = document.get(&keys(path));
    let claimed = match (value, &now) {
        (Value::Array(items), Some(Value::Array(_)) | None) => claim_items(document, path, items, held)?,
        _ => claim_value(document, path, value, now, held)?,
    };
    Ok(claimed.map(|hold| Claim { path: path.clone(), hold, made, used: None }))
}

/// A value that the user has set to the same is not claimed: it is to stay when we go.
fn claim_value(
    document: &mut Document,
    path: &[String],
    value: &Value,
    now: Option<Value>,
    held: Option<&Claim>,
) -> Result<Option<Hold>, SettingsError> {
    let previous = match held.map(|claim| &claim.hold) {
        Some(Hold::Value { previous, .. }) => previous.clone(),
        _ if now.as_ref() == Some(value) => return Ok(None),
        _ => now,
    };
    document.set(&keys(path), value.clone())?;
    Ok(Some(Hold::Value { ours: vec![value.clone()], previous }))
}

fn claim_items(
    document: &mut Document,
    path: &[String],
    wanted: &[Value],
    held: Option<&Claim>,
) -> Result<Option<Hold>, SettingsError> {
    let path = keys(path);
    let (held, whole) = match held.map(|claim| &claim.hold) {
        Some(Hold::Items { ours, whole }) => (ours.as_slice(), *whole),
        _ => ([].as_slice(), document.get(&path).is_none()),
    };
    document.array_retain(&path, |item| !held.contains(item) || wanted.contains(item))?;
    let there = document.array_items(&path);
    let is_ours = |item: &&Value| held.contains(item) || !there.contains(item);
    let ours: Vec<_> = wanted.iter().filter(is_ours).cloned().collect();
    for item in ours.iter().filter(|item| !there.contains(item)) {
        document.array_push(&path, item.clone())?;
    }
    Ok((!ours.is_empty()).then_some(Hold::Items { ours, whole }))
}

/// Claims that hold before and after a switch, for the moment in which nobody can say which of the two it is.
pub(crate) fn both(old: &[Claim], new: &[Claim]) -> Vec<Claim> {
    let same = |claim: &Claim| new.iter().any(|other| other.path == claim.path);
    let gone = old.iter().filter(|claim| !same(claim)).cloned();
    let joined = new.iter().map(|claim| match old.iter().find(|other| other.path == claim.path) {
        Some(old) => Claim { hold: join(&old.hold, &claim.hold), ..claim.clone() },
        None => claim.clone(),
    });
    gone.chain(joined).collect()
}

fn join(old: &Hold, new: &Hold) -> Hold {
    let together = |old: &[Value], new: &[Value]| [old, new].concat();
    match (old, new) {
        (Hold::Value { ours: old, .. }, Hold::Value { ours: new, previous }) => {
            Hold::Value { ours: together(old, new), previous: previous.clone() }
        }
        (Hold::Items { ours: old, .. }, Hold::Items { ours: new, whole }) => {
            Hold::Items { ours: together(old, new), whole: *whole }
        }
        (_, new) => new.clone(),
    }
}

#[cfg(test)]
#[path = "claim_tests.rs"]
mod tests;
