//! Whether a skill or command that is not the plugin's may run under a name of ours.
//!
//! The client's payload has the name only, and a repository's or the user's own `ot:auto` wins over the plugin's (tried
//! with 2.1.197 and 2.1.325). So the folders that the client loads them from are looked through. Whatever cannot be
//! told counts as foreign: the client then asks the user, which is what it does without us.

use std::fs;
use std::path::{Path, PathBuf};

use overtone_registry::{PLUGIN_NAME, PLUGIN_PREFIX};
use overtone_store::files::read_small;
use overtone_wire::HookInput;
use serde::Deserialize;

use crate::environment::Environment;

/// A folder with more entries is not looked through.
const MAX_ENTRIES: usize = 512;

pub(crate) fn may_exist(environment: &Environment, input: &HookInput) -> bool {
    let (cwd, project) = (PathBuf::from(&*input.cwd()), environment.project(input));
    let started_in = project.as_deref().unwrap_or(&cwd);
    // The client looks for `.claude` from the working folder upwards.
    let folders = started_in.ancestors().chain(cwd.ancestors());
    let mut client_dirs: Vec<_> = folders.map(|folder| folder.join(".claude")).collect();
    client_dirs.extend(environment.client_dir.clone());
    let settings =
        client_dirs.iter().flat_map(|dir| ["settings.json", "settings.local.json"].map(|f| dir.join(f)));
    let mut added = Vec::new();
    for file in settings {
        match folders_of_settings(&file) {
            Some(folders) => added.extend(folders),
            None => return true,
        }
    }
    let Some(by_command_line) = folders_of_command_line() else { return true };
    added.extend(by_command_line);
    for folder in added {
        let Some(folder) = resolve(&folder, started_in, environment) else { return true };
        client_dirs.push(folder.join(".claude"));
    }
    client_dirs.iter().any(|dir| has_foreign_names(dir))
}

fn has_foreign_names(client_dir: &Path) -> bool {
    any_entry(&client_dir.join("commands"), |name, _| is_ours(name))
        || any_entry(&client_dir.join("skills"), |name, path| is_ours(name) || !has_plain_name(path))
}

/// Whether some entry of a folder fits, or cannot be looked at.
fn any_entry(folder: &Path, fits: impl Fn(&str, &Path) -> bool) -> bool {
    // Most folders do not exist, and one that cannot be opened is not loaded by the client either.
    let Ok(entries) = fs::read_dir(folder) else { return false };
    for (count, entry) in entries.enumerate() {
        let Ok(entry) = entry else { return true };
        let name = entry.file_name();
        let Some(name) = name.to_str() else { return true };
        if count >= MAX_ENTRIES || fits(name, &entry.path()) {
            return true;
        }
    }
    false
}

/// `ot`, which becomes the prefix of what is in it, or a name with the prefix, in any case.
fn is_ours(name: &str) -> bool {
    let name = name.to_lowercase();
    name == PLUGIN_NAME || name.starts_with(PLUGIN_PREFIX)
}

/// Whether the skill in this folder has no name of its own, or one without a colon that is spelled plainly. Older
/// clients call a skill by the name in its front matter.
fn has_plain_name(folder: &Path) -> bool {
    match read_small(&folder.join("SKILL.md")) {
        Ok(None) => true,
        Ok(Some(text)) => front_matter(&text).all(is_plain_line),
        // A link to a skill elsewhere, for one.
        Err(_) => false,
    }
}

fn front_matter(text: &str) -> impl Iterator<Item = &str> {
    let text = text.trim_start_matches('\u{feff}');
    let starts = text.starts_with("---");
    text.lines().skip(1).take_while(move |line| starts && line.trim_end() != "---")
}

/// YAML has many ways to write a key: only `name: word` is read, and lines that could hide one are not plain.
fn is_plain_line(line: &str) -> bool {
    let line = line.trim();
    if line.starts_with(['{', '?', '"', '\'', '&', '*', '<', '!']) || line.contains('\\') {
        return false;
    }
    let Some(value) = line.strip_prefix("name") else { return true };
    let Some(value) = value.trim_start().strip_prefix(':') else { return true };
    let value = value.trim().trim_matches(['"', '\'']);
    !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-. ".contains(&byte))
}

/// Further folders that settings name, whose skills count too. `None` where the file cannot be read.
fn folders_of_settings(file: &Path) -> Option<Vec<String>> {
    #[derive(Deserialize, Default)]
    #[serde(default, rename_all = "camelCase")]
    struct Permissions {
        additional_directories: Vec<String>,
    }

    #[derive(Deserialize)]
    struct Settings {
        #[serde(default)]
        permissions: Permissions,
    }

    let text = match read_small(file) {
        Ok(Some(text)) => text,
        Ok(None) => return Some(Vec::new()),
        Err(_) => return None,
    };
    if text.trim().is_empty() {
        return Some(Vec::new());
    }
    let settings: Settings = serde_json::from_str(&text).ok()?;
    Some(settings.permissions.additional_directories)
}

/// Further folders of the command line that the client was started with.
#[cfg(target_os = "linux")]
fn folders_of_command_line() -> Option<Vec<String>> {
    let command_line = fs::read(format!("/proc/{}/cmdline", std::os::unix::process::parent_id())).ok()?;
    let arguments = command_line.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    let mut folders = Vec::new();
    let mut is_folder = false;
    for argument in arguments {
        if let Some(folder) = argument.strip_prefix("--add-dir=") {
            folders.push(folder.to_owned());
        } else if argument.starts_with('-') {
            is_folder = argument == "--add-dir";
        } else if is_folder && !argument.is_empty() {
            folders.push(argument.into_owned());
        }
    }
    Some(folders)
}

/// Other systems do not show it.
#[cfg(not(target_os = "linux"))]
fn folders_of_command_line() -> Option<Vec<String>> {
    Some(Vec::new())
}

fn resolve(folder: &str, started_in: &Path, environment: &Environment) -> Option<PathBuf> {
    match folder.strip_prefix('~') {
        Some(rest) => {
            let home = environment.user_home.as_ref()?;
            Some(home.join(rest.trim_start_matches('/')))
        }
        None => Some(started_in.join(folder)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_names_are_believed() {
        for text in [
            "",
            "# no front matter",
            "---\nname: other\ndescription: the name: x\n---\n",
            "---\ndescription: x\n---\nname: ot:x",
        ] {
            assert!(front_matter(text).all(is_plain_line), "{text}");
        }
        for text in [
            "---\nname: ot:auto\n---",
            "---\nname: \"ot:auto\"\n---",
            "---\n\"name\": ot:auto\n---",
            "---\n{name: ot:auto}\n---",
            "---\n? name\n: ot:auto\n---",
            "---\nname: >\n  ot:auto\n---",
            "---\nname : ot:auto\n---",
            "---\nname: \"\\x6ft:auto\"\n---",
            "---\nbase: &b\n  name: ot:auto\n<<: *b\n---",
            "---\nname:\n  ot:auto\n---",
        ] {
            assert!(!front_matter(text).all(is_plain_line), "{text}");
        }
    }

    #[test]
    fn names_that_could_become_ours_are_found() {
        for name in ["ot", "OT", "ot:auto", "Ot:x.md"] {
            assert!(is_ours(name), "{name}");
        }
        for name in ["other", "auto.md", "not:x", "ot.md"] {
            assert!(!is_ours(name), "{name}");
        }
    }
}
