//! Installs the commands `/supervisor` and `/supervisoroff` for every session. They are files among the user's own
//! commands, because the names of a plugin's commands have the plugin's name as a prefix.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use overtone_core::messages::{Lang, supervisor as messages};

use crate::install::register::ClientFolder;

const NAMES: [&str; 2] = ["supervisor", "supervisoroff"];

/// Writes the commands in the given language. Files that Overtone did not write are left unchanged.
pub fn install_commands(client_folder: &ClientFolder, lang: Lang) -> Result<(), (PathBuf, io::Error)> {
    for name in NAMES {
        let path = command_file(client_folder, name);
        if may_write(&path, name) {
            write(&path, &content(name, lang)).map_err(|error| (path, error))?;
        }
    }
    Ok(())
}

/// Removes the commands that Overtone wrote and the user did not change, and then the folder if it is empty.
pub fn remove_commands(client_folder: &ClientFolder) -> Result<(), (PathBuf, io::Error)> {
    for name in NAMES {
        let path = command_file(client_folder, name);
        if is_written_by_us(&path, name) {
            fs::remove_file(&path).map_err(|error| (path, error))?;
        }
    }
    // This fails if the folder has other files, and then it stays.
    let _ = fs::remove_dir(client_folder.commands());
    Ok(())
}

fn command_file(client_folder: &ClientFolder, name: &str) -> PathBuf {
    client_folder.commands().join(format!("{name}.md"))
}

/// The content of a command file. The model cannot invoke the command, so that it cannot switch off its own supervisor. The
/// file permits exactly the one command line that it contains.
fn content(name: &str, lang: Lang) -> String {
    let command = format!("overtone ccc supervise {} --inside", switch(name));
    render(name, lang, &format!("Bash({command})"), &command)
}

/// The content that version 0.1 wrote.
fn earlier_content(name: &str, lang: Lang) -> String {
    let command =
        format!("overtone ccc supervise {} --inside --session ${{CLAUDE_SESSION_ID}}", switch(name));
    render(name, lang, "Bash(overtone *)", &command)
}

fn switch(name: &str) -> &'static str {
    if name == "supervisor" { "on" } else { "off" }
}

fn render(name: &str, lang: Lang, tools: &str, command: &str) -> String {
    let description = match switch(name) {
        "on" => messages::command_on(lang),
        _ => messages::command_off(lang),
    };
    let instruction = messages::command_instruction(lang);
    format!(
        "---\ndescription: {description}\nallowed-tools: {tools}\ndisable-model-invocation: true\n---\n\n\
         !`{command}`\n\n{instruction}\n"
    )
}

fn may_write(path: &Path, name: &str) -> bool {
    path.symlink_metadata().is_err() || is_written_by_us(path, name)
}

/// Whether the file is as Overtone wrote it, in any language and by any version.
fn is_written_by_us(path: &Path, name: &str) -> bool {
    // Links are not followed, and a pipe is not read.
    let Ok(metadata) = path.symlink_metadata() else { return false };
    if !metadata.is_file() {
        return false;
    }
    let Ok(text) = fs::read_to_string(path) else { return false };
    Lang::ALL.iter().any(|lang| content(name, *lang) == text || earlier_content(name, *lang) == text)
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    overtone_store::files::write_atomic(path, text.as_bytes(), 0o644)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_installed_and_removed_and_files_of_the_user_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let folder = ClientFolder::new(None, dir.path());
        install_commands(&folder, Lang::ZhTw).unwrap();
        install_commands(&folder, Lang::En).unwrap();
        let on = fs::read_to_string(command_file(&folder, "supervisor")).unwrap();
        assert!(on.contains("supervise on") && on.contains("disable-model-invocation: true"), "{on}");
        assert!(on.contains("allowed-tools: Bash(overtone ccc supervise on --inside)\n"), "{on}");
        remove_commands(&folder).unwrap();
        assert!(!folder.commands().exists());
        fs::create_dir_all(folder.commands()).unwrap();
        write(&command_file(&folder, "supervisor"), &earlier_content("supervisor", Lang::ZhTw)).unwrap();
        install_commands(&folder, Lang::En).unwrap();
        assert_eq!(
            fs::read_to_string(command_file(&folder, "supervisor")).unwrap(),
            on,
            "an earlier version's is replaced"
        );
        remove_commands(&folder).unwrap();
        fs::create_dir_all(folder.commands()).unwrap();
        write(&command_file(&folder, "supervisor"), "mine").unwrap();
        install_commands(&folder, Lang::En).unwrap();
        remove_commands(&folder).unwrap();
        assert_eq!(fs::read_to_string(command_file(&folder, "supervisor")).unwrap(), "mine");
        assert!(!command_file(&folder, "supervisoroff").exists());
    }
}
