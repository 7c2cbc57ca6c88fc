//! Agents and skills: present, with the front matter of the registry, and with a body.

use std::path::Path;

use overtone_core::registry::{Agent, Skill};

use super::{Problem, WRITE_AGAIN, problem, read_text};
use crate::plugin::agents;
use crate::plugin::front_matter::{Field, FrontMatter};
use crate::plugin::skills::SkillPage;

/// The longest body of a reference skill in UTF-16 units, about 300 tokens.
const REFERENCE_UNITS: usize = 1200;

/// Fields that decide what an agent may do; one that the registry does not ask for must be absent.
/// `memory` is here because it gives file-writing tools back to a read-only agent.
const AGENT_FIELDS: [&str; 7] = ["name", "model", "color", "tools", "disallowedTools", "skills", "memory"];

/// Fields that decide who may call a skill and what it may run.
const SKILL_FIELDS: [&str; 4] = ["name", "allowed-tools", "disable-model-invocation", "user-invocable"];

pub(super) fn check_agents(dir: &Path) -> Vec<Problem> {
    let check = |agent: Agent| {
        let (path, expected) = (agents::path(agent), agents::front_matter(agent));
        match read(dir, &path) {
            Ok((found, _)) => compare(&path, &AGENT_FIELDS, &expected, &found),
            Err(problem) => vec![problem],
        }
    };
    Agent::ALL.into_iter().flat_map(check).collect()
}

pub(super) fn check_skills(dir: &Path) -> Vec<Problem> {
    SkillPage::all().flat_map(|skill| check_skill(dir, skill)).collect()
}

fn check_skill(dir: &Path, skill: SkillPage) -> Vec<Problem> {
    let path = skill.path();
    let (found, body) = match read(dir, &path) {
        Ok(parts) => parts,
        Err(problem) => return vec![problem],
    };
    let mut problems = compare(&path, &SKILL_FIELDS, &skill.front_matter(), &found);
    let units = body.encode_utf16().count();
    if matches!(skill.0, Skill::Reference(_)) && units > REFERENCE_UNITS {
        let what = format!("body has {units} characters, at most {REFERENCE_UNITS} are allowed");
        problems.push(problem(&path, what, "some agents get this text in every run: shorten it"));
    }
    problems
}

/// The front matter and the trimmed body, which must not be empty.
fn read(dir: &Path, path: &str) -> Result<(FrontMatter, String), Problem> {
    let text = read_text(dir, path)?;
    let (found, body) = FrontMatter::parse(&text)
        .ok_or_else(|| problem(path, "has no front matter between two --- lines", WRITE_AGAIN))?;
    match body.trim() {
        "" => Err(problem(path, "has no body", WRITE_AGAIN)),
        body => Ok((found, body.to_owned())),
    }
}

fn compare(path: &str, fields: &[&str], expected: &FrontMatter, found: &FrontMatter) -> Vec<Problem> {
    let differs = |key: &&str| {
        let what = difference(key, expected.get(key), found.get(key))?;
        Some(problem(path, what, WRITE_AGAIN))
    };
    let mut problems: Vec<_> = fields.iter().filter_map(differs).collect();
    if found.get("description").is_none_or(|text| text.items().concat().is_empty()) {
        problems.push(problem(path, "description is missing", "the client chooses by it"));
    }
    problems
}

fn difference(key: &str, expected: Option<&Field>, found: Option<&Field>) -> Option<String> {
    match (expected, found) {
        (None, None) => None,
        (Some(expected), None) => Some(format!("{key} is missing, expected {expected}")),
        (None, Some(found)) => Some(format!("{key} is {found}, expected no such field")),
        (Some(expected), Some(found)) => {
            (sorted(expected) != sorted(found)).then(|| format!("{key} is {found}, expected {expected}"))
        }
    }
}

/// The order of a list means nothing to the client.
fn sorted(field: &Field) -> Vec<&str> {
    let mut items = field.items();
    items.sort_unstable();
    items
}
