//! `/supervisor` and `/supervisoroff` for every session: two files among the user's own commands. A plugin's would
//! have its name before theirs.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use overtone_messages::{Lang, supervisor as words};

use crate::register::Place;

const NAMES: [&str; 2] = ["supervisor", "supervisoroff"];

/// Writes the commands in a language. A file that is not ours stays as it is.
pub fn install_commands(place: &Place, lang: Lang) -> Result<(), (PathBuf, io::Error)> {
    for name in NAMES {
        let path = file(place, name);
        if may_write(&path, name) {
            write(&path, &content(name, lang)).map_err(|error| (path, error))?;
        }
    }
    Ok(())
}

/// Takes them away, those that are still ours, and a folder that is empty then.
pub fn remove_commands(place: &Place) -> Result<(), (PathBuf, io::Error)> {
    for name in NAMES {
        let path = file(place, name);
        if is_ours(&path, name) {
            fs::remove_file(&path).map_err(|error| (path, error))?;
        }
    }
    // It stays when there is anything else in it.
    let _ = fs::remove_dir(place.commands());
    Ok(())
}

fn file(place: &Place, name: &str) -> PathBuf {
    place.commands().join(format!("{name}.md"))
}

/// The model cannot call it: nobody switches off their own supervisor. It grants exactly the one line that it has.
fn content(name: &str, lang: Lang) -> String {
    let command = format!("overtone ccc supervise {} --inside", switch(name));
    page(name, lang, &format!("Bash({command})"), &command)
}

/// As version 0.1 wrote it.
fn earlier_content(name: &str, lang: Lang) -> String {
    let command =
        format!("overtone ccc supervise {} --inside --session ${{CLAUDE_SESSION_ID}}", switch(name));
    page(name, lang, "Bash(overtone *)", &command)
}

fn switch(name: &str) -> &'static str {
    if name == "supervisor" { "on" } else { "off" }
}

fn page(name: &str, lang: Lang, tools: &str, command: &str) -> String {
    let description = match switch(name) {
        "on" => words::command_on(lang),
        _ => words::command_off(lang),
    };
    let instruction = words::command_instruction(lang);
    format!(
        "---\ndescription: {description}\nallowed-tools: {tools}\ndisable-model-invocation: true\n---\n\n\
         !`{command}`\n\n{instruction}\n"
    )
}

fn may_write(path: &Path, name: &str) -> bool {
    path.symlink_metadata().is_err() || is_ours(path, name)
}

/// In whatever language and by whichever version it was written.
fn is_ours(path: &Path, name: &str) -> bool {
    let is_file = path.symlink_metadata().is_ok_and(|about| about.is_file());
    let text = if is_file { fs::read_to_string(path).ok() } else { None };
    let Some(text) = text else { return false };
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
    fn they_come_and_go_and_leave_others_alone() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place::new(None, dir.path());
        install_commands(&place, Lang::ZhTw).unwrap();
        install_commands(&place, Lang::En).unwrap();
        let on = fs::read_to_string(file(&place, "supervisor")).unwrap();
        assert!(on.contains("supervise on") && on.contains("disable-model-invocation: true"), "{on}");
        assert!(on.contains("allowed-tools: Bash(overtone ccc supervise on --inside)\n"), "{on}");
        remove_commands(&place).unwrap();
        assert!(!place.commands().exists());
        fs::create_dir_all(place.commands()).unwrap();
        write(&file(&place, "supervisor"), &earlier_content("supervisor", Lang::ZhTw)).unwrap();
        install_commands(&place, Lang::En).unwrap();
        assert_eq!(
            fs::read_to_string(file(&place, "supervisor")).unwrap(),
            on,
            "an earlier version's is replaced"
        );
        remove_commands(&place).unwrap();
        fs::create_dir_all(place.commands()).unwrap();
        write(&file(&place, "supervisor"), "mine").unwrap();
        install_commands(&place, Lang::En).unwrap();
        remove_commands(&place).unwrap();
        assert_eq!(fs::read_to_string(file(&place, "supervisor")).unwrap(), "mine");
        assert!(!file(&place, "supervisoroff").exists());
    }
}
