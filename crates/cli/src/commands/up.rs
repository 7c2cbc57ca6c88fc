//! `overtone up`: puts the plugin and this program where Claude Code can load them. Running it again repairs.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

use overtone_messages::cli as words;
use overtone_store::files;
use serde_json::json;

use super::validate;
use crate::args::UpArgs;
use crate::context::Context;
use crate::ui::error::{Done, Failure};
use crate::ui::out;
use crate::ui::style::Tone;
use crate::ui::table::{Cell, Fields};

/// Executable for everyone who may enter the folder.
const EXECUTABLE: u32 = 0o755;

pub(crate) fn run(context: &Context, args: &UpArgs) -> Done {
    let installed = install(context)?;
    let problems = overtone_plugin::validate(&installed.plugin);
    let plugin = installed.plugin.display().to_string();
    if args.output.json {
        let mut object = validate::object(&installed.plugin, &problems);
        object["binary"] = json!(installed.binary);
        object["binaryChanged"] = json!(installed.changed);
        object["version"] = json!(context.environment.version);
        object["start"] = json!(start_command(&plugin));
        out::json(&object)?;
    } else if problems.is_empty() {
        out::print(&text(context, &installed))?;
    } else {
        out::print(&validate::text(&problems))?;
    }
    validate::verdict(context, &plugin, &problems)
}

struct Installed {
    plugin: PathBuf,
    binary: PathBuf,
    /// The program there was missing or another version.
    changed: bool,
}

fn install(context: &Context) -> Result<Installed, Failure> {
    let home = context.home()?;
    let plugin = home.root().join("plugin");
    let binary = plugin.join("bin").join("overtone");
    let failed = |path: &Path, error: &io::Error| Failure::io(context.lang, path, error);
    // Two at once would write into the same temporary file.
    let _lock = home.lock().map_err(|error| failed(home.root(), &error))?;
    overtone_plugin::write_to(&plugin).map_err(|error| failed(&plugin, &error))?;
    let program = own_program().map_err(|error| failed(Path::new("overtone"), &error))?;
    let changed = place(&binary, &program).map_err(|error| failed(&binary, &error))?;
    Ok(Installed { plugin, binary, changed })
}

/// This very program, even if its file has been replaced since it was started.
fn own_program() -> io::Result<Vec<u8>> {
    fs::read("/proc/self/exe").or_else(|_| env::current_exe().and_then(fs::read))
}

/// Exchanges the program in one step: a hook that starts meanwhile runs the old or the new one. False when it is
/// the same already.
fn place(binary: &Path, program: &[u8]) -> io::Result<bool> {
    if is_executable(binary) && fs::read(binary).is_ok_and(|present| present == program) {
        return Ok(false);
    }
    if let Some(folder) = binary.parent() {
        fs::create_dir_all(folder)?;
    }
    files::write_atomic(binary, program, EXECUTABLE)?;
    Ok(true)
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.symlink_metadata().is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o100 != 0)
}

fn text(context: &Context, installed: &Installed) -> String {
    let lang = context.lang;
    let plugin = installed.plugin.display().to_string();
    let version = context.environment.version;
    let program = if installed.changed {
        words::program_installed(lang, version)
    } else {
        words::program_unchanged(lang, version)
    };
    let mut fields = Fields::default();
    fields.add(words::label_plugin(lang), words::plugin_is_good(lang, &plugin));
    fields.add(words::label_program(lang), program);
    fields.add(words::label_start(lang), Cell::new(start_command(&plugin)).tone(Tone::Strong));
    fields.add(words::label_then(lang), Cell::new(words::first_wish(lang)).tone(Tone::Strong));
    fields.render(context.palette)
}

fn start_command(plugin: &str) -> String {
    format!("claude --plugin-dir {}", quoted(plugin))
}

/// As a shell needs it.
fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@:,".contains(c);
    if path.chars().all(plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_survive_a_shell() {
        assert_eq!(quoted("/home/u/.overtone/plugin"), "/home/u/.overtone/plugin");
        assert_eq!(quoted("/my home/it's"), r"'/my home/it'\''s'");
    }

    #[test]
    fn the_program_is_replaced_only_when_it_differs() {
        let dir = tempfile::tempdir().unwrap();
        let binary = dir.path().join("bin/overtone");
        assert!(place(&binary, b"one").unwrap());
        assert!(!place(&binary, b"one").unwrap());
        assert!(place(&binary, b"two").unwrap());
        assert!(is_executable(&binary));
        assert_eq!(fs::read_dir(dir.path().join("bin")).unwrap().count(), 1);
    }
}
