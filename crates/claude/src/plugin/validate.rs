//! Checks a plugin folder on disk against the registry, and reports what the client would silently ignore or refuse.

mod hooks;
mod markdown;

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use overtone_core::registry::PLUGIN_NAME;
use serde_json::Value;

use crate::plugin::manifest::{MARKETPLACE_NAME, MARKETPLACE_PATH, PLUGIN_PATH};

/// Larger files are not read. Apart from its program, the files of a plugin are a few kilobytes.
const MAX_FILE: u64 = 16 * 1024 * 1024;

/// Something that keeps the plugin from working as defined in the registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Relative to the plugin's folder.
    pub path: String,
    /// A lowercase fragment.
    pub what: String,
    /// What to do, or why it matters.
    pub hint: String,
}

const WRITE_AGAIN: &str = "`overtone up` writes the plugin's files again";

/// All problems of the plugin in `dir`; none means that every hook, agent and skill will work.
pub fn validate(dir: &Path) -> Vec<Problem> {
    let mut problems = plugin_manifest(dir);
    problems.extend(marketplace_manifest(dir));
    problems.extend(hooks::check(dir));
    problems.extend(markdown::check_agents(dir));
    problems.extend(markdown::check_skills(dir));
    problems
}

fn plugin_manifest(dir: &Path) -> Vec<Problem> {
    let manifest = match read_json(dir, PLUGIN_PATH) {
        Ok(manifest) => manifest,
        Err(problem) => return vec![problem],
    };
    let mut problems = Vec::new();
    if manifest["name"] != PLUGIN_NAME {
        let what = format!("name is {}, expected \"{PLUGIN_NAME}\"", manifest["name"]);
        problems.push(problem(PLUGIN_PATH, what, "agents and skills are called by this name"));
    }
    if manifest.get("hooks").is_some() {
        let hint = "the client finds hooks/hooks.json itself and refuses to load it twice";
        problems.push(problem(PLUGIN_PATH, "has a key \"hooks\"", hint));
    }
    problems
}

fn marketplace_manifest(dir: &Path) -> Vec<Problem> {
    let manifest = match read_json(dir, MARKETPLACE_PATH) {
        Ok(manifest) => manifest,
        Err(problem) => return vec![problem],
    };
    let mut problems = Vec::new();
    if manifest["name"] != MARKETPLACE_NAME {
        let what = format!("name is {}, expected \"{MARKETPLACE_NAME}\"", manifest["name"]);
        problems.push(problem(MARKETPLACE_PATH, what, WRITE_AGAIN));
    }
    let mut plugins = manifest["plugins"].as_array().into_iter().flatten();
    if !plugins.any(|plugin| plugin["name"] == PLUGIN_NAME && plugin["source"] == "./") {
        let what = format!("lists no plugin \"{PLUGIN_NAME}\" with source \"./\"");
        problems.push(problem(MARKETPLACE_PATH, what, WRITE_AGAIN));
    }
    problems
}

fn problem(path: &str, what: impl Into<String>, hint: &str) -> Problem {
    Problem { path: path.to_owned(), what: what.into(), hint: hint.to_owned() }
}

fn read_text(dir: &Path, path: &str) -> Result<String, Problem> {
    read_regular(&dir.join(path)).map_err(|error| match error.kind() {
        ErrorKind::NotFound => problem(path, "is missing", WRITE_AGAIN),
        ErrorKind::InvalidData => problem(path, "is not UTF-8 text", WRITE_AGAIN),
        _ => problem(path, format!("cannot be read: {error}"), "check the file's permissions"),
    })
}

/// Reads a regular file. A pipe, a device or a huge file is an error.
fn read_regular(path: &Path) -> io::Result<String> {
    let metadata = path.metadata()?;
    if !metadata.is_file() || metadata.len() > MAX_FILE {
        return Err(io::Error::other("not a file of a plugin"));
    }
    fs::read_to_string(path)
}

fn read_json(dir: &Path, path: &str) -> Result<Value, Problem> {
    let text = read_text(dir, path)?;
    serde_json::from_str(&text)
        .map_err(|error| problem(path, format!("is not valid JSON: {error}"), WRITE_AGAIN))
}
