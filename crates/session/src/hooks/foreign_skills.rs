//! Detects skills and commands that are not the plugin's, but would run under one of its names.
//!
//! The client's payload contains only the name, and an `ot:auto` of the repository or the user takes precedence over the
//! plugin's (observed with 2.1.197 and 2.1.325). So the folders that the client loads them from are searched. In case of
//! doubt a name counts as foreign: the client then asks the user, as it does without Overtone.

use std::fs;
use std::path::{Path, PathBuf};

use overtone_claude::wire::HookInput;
use overtone_core::registry::{PLUGIN_NAME, PLUGIN_PREFIX};
use overtone_store::files::read_small;
use serde::Deserialize;

use overtone_claude::Environment;

/// A folder with more entries is not searched, and counts as having a foreign name.
const MAX_ENTRIES: usize = 512;

/// Whether a skill or command that is not the plugin's may have one of its names.
pub(crate) fn may_exist(environment: &Environment, input: &HookInput) -> bool {
    let (cwd, project) = (PathBuf::from(&*input.cwd()), environment.project(input));
    let started_in = project.as_deref().unwrap_or(&cwd);
    // The client looks for `.claude` from the working folder upwards.
    let folders = started_in.ancestors().chain(cwd.ancestors());
    let mut client_dirs: Vec<_> = folders.map(|folder| folder.join(".claude")).collect();
    client_dirs.extend(environment.client_dir.clone());
    let mut additional = Vec::new();
    for dir in &client_dirs {
        for name in ["settings.json", "settings.local.json"] {
            let Some(folders) = additional_folders_in_settings(&dir.join(name)) else { return true };
            additional.extend(folders);
        }
    }
    let Some(folders) = additional_folders_in_command_line() else { return true };
    additional.extend(folders);
    for folder in additional {
        let Some(folder) = resolve(&folder, started_in, environment) else { return true };
        client_dirs.push(folder.join(".claude"));
    }
    client_dirs.iter().any(|dir| has_foreign_names(dir))
}

fn has_foreign_names(client_dir: &Path) -> bool {
    any_entry(&client_dir.join("commands"), |name, _| has_plugin_name(name))
        || any_entry(&client_dir.join("skills"), |name, path| has_plugin_name(name) || !has_plain_name(path))
}

/// Whether an entry of the folder matches, or cannot be examined.
fn any_entry(folder: &Path, matches: impl Fn(&str, &Path) -> bool) -> bool {
    // Most folders do not exist. One that cannot be opened cannot be loaded by the client either.
    let Ok(entries) = fs::read_dir(folder) else { return false };
    for (count, entry) in entries.enumerate() {
        let Ok(entry) = entry else { return true };
        let name = entry.file_name();
        let Some(name) = name.to_str() else { return true };
        if count >= MAX_ENTRIES || matches(name, &entry.path()) {
            return true;
        }
    }
    false
}

/// Whether the name is `ot`, which becomes the prefix of what the folder contains, or has this prefix. Case is ignored.
fn has_plugin_name(name: &str) -> bool {
    let name = name.to_lowercase();
    name == PLUGIN_NAME || name.starts_with(PLUGIN_PREFIX)
}

/// Whether the front matter of the skill in this folder has no name, or a plain one without a colon. Older clients call a
/// skill by that name.
fn has_plain_name(folder: &Path) -> bool {
    match read_small(&folder.join("SKILL.md")) {
        Ok(None) => true,
        Ok(Some(text)) => front_matter(&text).all(is_plain_line),
        // For example a symbolic link, which is not followed.
        Err(_) => false,
    }
}

fn front_matter(text: &str) -> impl Iterator<Item = &str> {
    let text = text.trim_start_matches('\u{feff}');
    let starts = text.starts_with("---");
    text.lines().skip(1).take_while(move |line| starts && line.trim_end() != "---")
}

/// Whether a line of YAML is certain not to set a name with a colon. YAML has many ways to write a key: only `name: word`
/// is understood, and any line that could contain a name in another form is not plain.
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

/// The additional folders in a settings file, from which the client loads skills too. `None` if the file cannot be read.
fn additional_folders_in_settings(file: &Path) -> Option<Vec<String>> {
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

/// The additional folders on the command line that the client was started with. `None` if it cannot be read.
#[cfg(target_os = "linux")]
fn additional_folders_in_command_line() -> Option<Vec<String>> {
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

/// Other systems have no file with the command line.
#[cfg(not(target_os = "linux"))]
fn additional_folders_in_command_line() -> Option<Vec<String>> {
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
    fn only_lines_that_cannot_set_a_plugin_name_are_plain() {
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
    fn names_with_the_prefix_of_the_plugin_are_found() {
        for name in ["ot", "OT", "ot:auto", "Ot:x.md"] {
            assert!(has_plugin_name(name), "{name}");
        }
        for name in ["other", "auto.md", "not:x", "ot.md"] {
            assert!(!has_plugin_name(name), "{name}");
        }
    }
}
