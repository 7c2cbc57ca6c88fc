//! Checks agents and skills: each exists, has the front matter of the registry, and a body.

use std::path::Path;

use overtone_core::registry::{Agent, Economy, Skill};
use overtone_store::front_matter::{Field, FrontMatter};

use super::{Problem, WRITE_AGAIN, problem, read_text};
use crate::plugin::agents;
use crate::plugin::front_matter::FrontMatterBuilder;
use crate::plugin::skills::SkillPage;

/// The longest body of a reference skill in UTF-16 units, about 300 tokens.
const REFERENCE_UNITS: usize = 1200;

/// Fields that decide what an agent may do. Fields that the registry does not set must be missing: `memory`, for example,
/// gives file-writing tools back to a read-only agent.
const AGENT_FIELDS: [&str; 7] = ["name", "model", "color", "tools", "disallowedTools", "skills", "memory"];

/// Fields that decide who may call a skill and what it may run.
const SKILL_FIELDS: [&str; 4] = ["name", "allowed-tools", "disable-model-invocation", "user-invocable"];

/// Checks the agents against the economy that they were most likely written for: the one with the fewest problems.
pub(super) fn check_agents(dir: &Path) -> Vec<Problem> {
    let problems = Economy::ALL.map(|economy| check_agents_for(dir, economy));
    problems.into_iter().min_by_key(Vec::len).unwrap_or_default()
}

fn check_agents_for(dir: &Path, economy: Economy) -> Vec<Problem> {
    let check = |agent: Agent| {
        let (path, expected) = (agents::path(agent), agents::front_matter(agent, economy));
        match read_text(dir, &path) {
            Ok(text) => check_page(&path, &text, &AGENT_FIELDS, &expected),
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
    let text = match read_text(dir, &path) {
        Ok(text) => text,
        Err(problem) => return vec![problem],
    };
    let mut problems = check_page(&path, &text, &SKILL_FIELDS, &skill.front_matter());
    let units = match FrontMatter::parse(text.as_bytes()) {
        Some(found) => body_of(&found).encode_utf16().count(),
        None => 0,
    };
    if matches!(skill.0, Skill::Reference(_)) && units > REFERENCE_UNITS {
        let what = format!("body has {units} characters, at most {REFERENCE_UNITS} are allowed");
        problems.push(problem(&path, what, "some agents get this text in every run: shorten it"));
    }
    problems
}

/// The body without surrounding white space, and with the same line breaks whatever the file uses.
fn body_of(page: &FrontMatter<'_>) -> String {
    String::from_utf8_lossy(page.body()).replace("\r\n", "\n").trim().to_owned()
}

/// Compares the front matter of a page with the expected one, and checks that it has a description and a body.
fn check_page(path: &str, text: &str, fields: &[&str], expected: &FrontMatterBuilder) -> Vec<Problem> {
    let Some(found) = FrontMatter::parse(text.as_bytes()) else {
        return vec![problem(path, "has no front matter between two --- lines", WRITE_AGAIN)];
    };
    if body_of(&found).is_empty() {
        return vec![problem(path, "has no body", WRITE_AGAIN)];
    }
    let mut problems = Vec::new();
    for key in fields {
        if let Some(what) = difference(key, expected.get(key), found.field(key).as_ref()) {
            problems.push(problem(path, what, WRITE_AGAIN));
        }
    }
    if found.get("description").is_none() {
        problems.push(problem(path, "description is missing", "the client chooses by it"));
    }
    problems
}

fn difference(key: &str, expected: Option<&Field>, found: Option<&Field>) -> Option<String> {
    match (expected, found) {
        (None, None) => None,
        (Some(expected), None) => Some(format!("{key} is missing, expected {expected}")),
        (None, Some(found)) => Some(format!("{key} is {found}, expected no such field")),
        (Some(expected), Some(found)) if sorted(expected) == sorted(found) => None,
        (Some(expected), Some(found)) => Some(format!("{key} is {found}, expected {expected}")),
    }
}

/// The items of a list in a fixed order: their order means nothing to the client.
fn sorted(field: &Field) -> Vec<&str> {
    let mut items = field.items();
    items.sort_unstable();
    items
}
