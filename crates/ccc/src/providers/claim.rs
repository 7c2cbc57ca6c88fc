//! Claims: which values in the client's settings belong to `ccc`, and how they are written and undone.
//!
//! A claim records the values that `ccc` wrote to a key and the value they replaced. If the key has a different value
//! now, the user has changed it: the value is theirs, and the claim is void. Of a list only the items that `ccc` added
//! are claimed, so that the user's own hooks and rules are never touched.

use jsonc_edit::{Document, SettingsError};
use serde_json::Value;

use crate::providers::fragment::{Leaf, keys};
use crate::providers::route::ROUTE_KEYS;

/// A claim on one key of the settings.
#[derive(Clone, PartialEq)]
pub(crate) struct Claim {
    pub(crate) path: Vec<String>,
    pub(crate) kind: ClaimKind,
    /// `ccc` created the object that contains the key; it is removed together with the last claim in it.
    pub(crate) created_parent: bool,
    /// The provider for which `ccc use` wrote the value. A start leaves such values alone. A route value without a
    /// provider was written at a start by an earlier version of `ccc`.
    pub(crate) used_provider: Option<String>,
}

/// What is claimed of a key.
#[derive(Clone, PartialEq)]
pub(crate) enum ClaimKind {
    /// The whole value, if it is one of `ours`; these are several while a switch is in progress.
    Value { ours: Vec<Value>, previous: Option<Value> },
    /// These items of a list; `created_list` if `ccc` also created the list.
    Items { ours: Vec<Value>, created_list: bool },
}

impl Claim {
    /// Whether the key decides where requests go, or is an environment variable of the client.
    pub(crate) fn is_route(&self) -> bool {
        match self.path.first() {
            Some(key) => key == "env" || ROUTE_KEYS.contains(&key.as_str()),
            None => false,
        }
    }

    /// Whether the settings still contain what was claimed.
    pub(crate) fn is_valid(&self, document: &Document) -> bool {
        let path = keys(&self.path);
        match &self.kind {
            ClaimKind::Value { ours, .. } => {
                matches!(document.get(&path), Some(value) if ours.contains(&value))
            }
            ClaimKind::Items { ours, .. } => {
                document.array_items(&path).iter().any(|item| ours.contains(item))
            }
        }
    }

    /// Restores the previous value.
    fn undo(&self, document: &mut Document) -> Result<(), SettingsError> {
        let path = keys(&self.path);
        match &self.kind {
            ClaimKind::Value { previous: Some(previous), .. } => {
                return document.set(&path, previous.clone());
            }
            ClaimKind::Value { previous: None, .. } => {}
            ClaimKind::Items { ours, created_list } => {
                document.array_retain(&path, |item| !ours.contains(item))?;
                if !created_list || !document.array_items(&path).is_empty() {
                    return Ok(());
                }
            }
        }
        if self.created_parent {
            document.remove_pruning(&path)?
        } else {
            document.remove(&path)?
        };
        Ok(())
    }
}

/// Replaces the claimed values by the target values and returns the new claims. Keys that stay keep their position in the
/// file.
pub(crate) fn exchange(
    document: &mut Document,
    old: &[Claim],
    target: &[Leaf],
) -> Result<Vec<Claim>, SettingsError> {
    let valid: Vec<_> = old.iter().filter(|claim| claim.is_valid(document)).cloned().collect();
    let stays = |claim: &Claim| target.iter().any(|leaf| takes_over(claim, leaf));
    for claim in valid.iter().rev().filter(|claim| !stays(claim)) {
        claim.undo(document)?;
    }
    let mut new: Vec<Claim> = Vec::new();
    for leaf in target {
        let held = valid.iter().find(|claim| takes_over(claim, leaf));
        let created_parent = creates_parent(document, &leaf.0, valid.iter().chain(&new));
        new.extend(claim(document, leaf, held, created_parent)?);
    }
    Ok(new)
}

/// Whether the target value continues a claim: the same key, and a list if it was a list.
fn takes_over(claim: &Claim, (path, value): &Leaf) -> bool {
    claim.path == *path && matches!(claim.kind, ClaimKind::Items { .. }) == value.is_array()
}

/// Whether the object that contains the key exists only because of `ccc`, or will be created now.
fn creates_parent<'a>(
    document: &Document,
    path: &[String],
    mut claims: impl Iterator<Item = &'a Claim>,
) -> bool {
    let [outer @ .., _] = path else { return false };
    if document.get(&keys(outer)).is_none() {
        return true;
    }
    let is_sibling = |claim: &Claim| claim.path.len() == path.len() && claim.path.starts_with(outer);
    claims.any(|claim| claim.created_parent && is_sibling(claim))
}

fn claim(
    document: &mut Document,
    (path, value): &Leaf,
    held: Option<&Claim>,
    created_parent: bool,
) -> Result<Option<Claim>, SettingsError> {
    let now = document.get(&keys(path));
    let claimed = match (value, &now) {
        (Value::Array(items), Some(Value::Array(_)) | None) => claim_items(document, path, items, held)?,
        _ => claim_value(document, path, value, now, held)?,
    };
    Ok(claimed.map(|kind| Claim { path: path.clone(), kind, created_parent, used_provider: None }))
}

/// A value that the user has set already is not claimed, so that it stays when the claim is undone.
fn claim_value(
    document: &mut Document,
    path: &[String],
    value: &Value,
    now: Option<Value>,
    held: Option<&Claim>,
) -> Result<Option<ClaimKind>, SettingsError> {
    let previous = match held.map(|claim| &claim.kind) {
        Some(ClaimKind::Value { previous, .. }) => previous.clone(),
        _ if now.as_ref() == Some(value) => return Ok(None),
        _ => now,
    };
    document.set(&keys(path), value.clone())?;
    Ok(Some(ClaimKind::Value { ours: vec![value.clone()], previous }))
}

fn claim_items(
    document: &mut Document,
    path: &[String],
    target: &[Value],
    held: Option<&Claim>,
) -> Result<Option<ClaimKind>, SettingsError> {
    let path = keys(path);
    let (held, created_list) = match held.map(|claim| &claim.kind) {
        Some(ClaimKind::Items { ours, created_list }) => (ours.as_slice(), *created_list),
        _ => ([].as_slice(), document.get(&path).is_none()),
    };
    document.array_retain(&path, |item| !held.contains(item) || target.contains(item))?;
    let present = document.array_items(&path);
    let is_ours = |item: &&Value| held.contains(item) || !present.contains(item);
    let ours: Vec<_> = target.iter().filter(is_ours).cloned().collect();
    for item in ours.iter().filter(|item| !present.contains(item)) {
        document.array_push(&path, item.clone())?;
    }
    if ours.is_empty() { Ok(None) } else { Ok(Some(ClaimKind::Items { ours, created_list })) }
}

/// Claims that are valid both before and after a switch. They are saved before the settings change, so that a process
/// that is killed in between leaves nothing unclaimed.
pub(crate) fn union(old: &[Claim], new: &[Claim]) -> Vec<Claim> {
    let same = |claim: &Claim| new.iter().any(|other| other.path == claim.path);
    let gone = old.iter().filter(|claim| !same(claim)).cloned();
    let joined = new.iter().map(|claim| match old.iter().find(|other| other.path == claim.path) {
        Some(old) => Claim { kind: join(&old.kind, &claim.kind), ..claim.clone() },
        None => claim.clone(),
    });
    gone.chain(joined).collect()
}

fn join(old: &ClaimKind, new: &ClaimKind) -> ClaimKind {
    let together = |old: &[Value], new: &[Value]| [old, new].concat();
    match (old, new) {
        (ClaimKind::Value { ours: old, .. }, ClaimKind::Value { ours: new, previous }) => {
            ClaimKind::Value { ours: together(old, new), previous: previous.clone() }
        }
        (ClaimKind::Items { ours: old, .. }, ClaimKind::Items { ours: new, created_list }) => {
            ClaimKind::Items { ours: together(old, new), created_list: *created_list }
        }
        (_, new) => new.clone(),
    }
}

#[cfg(test)]
#[path = "claim_tests.rs"]
mod tests;
