//! `ccc edit`: opens the configuration in the user's editor. The file is replaced only by a valid text.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use overtone_ccc::providers::{Config, ConfigSnapshot, ReplaceOutcome};
use overtone_core::messages::care;
use signal_hook::consts::SIGINT;

use super::args::EditArgs;
use super::context::CccContext;
use super::report::{display_path, failure, fault, parts};
use crate::ui::error::{CommandError, CommandResult, note};
use crate::ui::terminal;

const DEFAULT_EDITOR: &str = "vi";
/// Editors that accept `+LINE` to start at a line.
const EDITORS_WITH_LINE: [&str; 9] =
    ["vi", "vim", "nvim", "gvim", "view", "nano", "emacs", "emacsclient", "micro"];

pub(super) fn run(context: &CccContext, args: &EditArgs) -> CommandResult {
    let failed = |error| failure(context.lang, &error);
    let file = context.paths.config_file();
    let snapshot = ConfigSnapshot::take(&context.paths).map_err(failed)?;
    let before = match snapshot.text() {
        Some(text) => text.to_owned(),
        None => care::template(context.lang),
    };
    let line = args.provider.as_deref().map(|name| line_of(context, &file, &before, name)).transpose()?;
    let copy = ConfigSnapshot::copy(&context.paths, &before).map_err(failed)?;
    let ends_on_interrupt = Arc::new(AtomicBool::new(true));
    // If this fails, Ctrl-C in the editor also ends this process.
    let _ = signal_hook::flag::register_conditional_default(SIGINT, Arc::clone(&ends_on_interrupt));
    let session =
        EditSession { context, file, snapshot, before, copy, line: line.flatten(), ends_on_interrupt };
    while !session.edit_once()? {}
    Ok(())
}

/// The line of a provider; `None` for a malformed file, which the user is about to fix.
fn line_of(context: &CccContext, file: &Path, text: &str, name: &str) -> CommandResult<Option<usize>> {
    let Ok(config) = Config::parse(file, text) else { return Ok(None) };
    let failed = |error| failure(context.lang, &error);
    config.check(name, None).map_err(failed)?;
    Ok(config.line_of(name))
}

struct EditSession<'a> {
    context: &'a CccContext,
    file: PathBuf,
    snapshot: ConfigSnapshot,
    before: String,
    copy: PathBuf,
    line: Option<usize>,
    /// Whether Ctrl-C ends this process. While the editor runs, only the editor handles it.
    ends_on_interrupt: Arc<AtomicBool>,
}

impl EditSession<'_> {
    /// Opens the editor once. Returns whether editing is finished.
    fn edit_once(&self) -> CommandResult<bool> {
        self.open()?;
        let failed = |error| failure(self.context.lang, &error);
        let after = ConfigSnapshot::read_copy(&self.copy).map_err(failed)?;
        if after == self.before {
            self.discard();
            note(&care::edit_unchanged(self.context.lang, &display_path(&self.file)));
            return Ok(true);
        }
        let faults = self.faults(&after);
        if faults.is_empty() {
            return self.save(&after).map(|()| true);
        }
        self.refuse(&faults).map(|()| false)
    }

    fn open(&self) -> CommandResult {
        let editor = editor();
        let line_argument = match self.line {
            Some(line) if accepts_line(&editor) => Some(format!("+{line}")),
            _ => None,
        };
        self.ends_on_interrupt.store(false, Ordering::SeqCst);
        // A shell, since the variable may contain arguments and quotes.
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!("{editor} \"$@\"")).arg(&editor).args(line_argument).arg(&self.copy);
        let status = shell.status();
        self.ends_on_interrupt.store(true, Ordering::SeqCst);
        match status {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(self.editor_failed(&editor, &status.to_string())),
            Err(error) => Err(self.editor_failed(&editor, &error.to_string())),
        }
    }

    fn editor_failed(&self, editor: &str, reason: &str) -> CommandError {
        let lang = self.context.lang;
        let hint = match ConfigSnapshot::read_copy(&self.copy) {
            Ok(text) if text == self.before => {
                self.discard();
                care::editor_failed_hint(lang)
            }
            Ok(_) | Err(_) => care::editor_failed_kept(lang, &display_path(&self.copy)),
        };
        CommandError::new(care::editor_failed(lang, editor, reason)).hint(hint)
    }

    /// The faults that prevent saving. An unknown key does not.
    fn faults(&self, text: &str) -> Vec<String> {
        match Config::parse(&self.copy, text) {
            Err(error) => vec![parts(failure(self.context.lang, &error)).0],
            Ok(config) => {
                let faults = config.faults();
                let serious = faults.iter().filter(|fault| fault.is_serious());
                serious.map(|found| fault(self.context.lang, found).0).collect()
            }
        }
    }

    fn refuse(&self, faults: &[String]) -> CommandResult {
        let lang = self.context.lang;
        for fault in faults {
            note(fault);
        }
        if terminal::can_ask() && terminal::confirm(&care::edit_again(lang)) {
            return Ok(());
        }
        let hint = care::edit_faulty_hint(lang, &display_path(&self.copy), &display_path(&self.file));
        Err(CommandError::new(care::edit_faulty(lang, faults.len())).hint(hint))
    }

    fn save(&self, text: &str) -> CommandResult {
        let lang = self.context.lang;
        let file = display_path(&self.file);
        match self.snapshot.replace(text).map_err(|error| self.unsaved(failure(lang, &error)))? {
            ReplaceOutcome::Done => {
                self.discard();
                note(&care::edit_saved(lang, &file));
                Ok(())
            }
            ReplaceOutcome::ChangedMeanwhile => Err(CommandError::new(care::edit_meanwhile(lang, &file))
                .hint(care::edit_meanwhile_hint(lang, &display_path(&self.copy)))),
        }
    }

    fn unsaved(&self, failure: CommandError) -> CommandError {
        let (message, _) = parts(failure);
        let hint =
            care::edit_faulty_hint(self.context.lang, &display_path(&self.copy), &display_path(&self.file));
        CommandError::new(message).hint(hint)
    }

    fn discard(&self) {
        // The copy is not needed any more. If it cannot be removed, `ccc doctor` reports it.
        let _ = fs::remove_file(&self.copy);
    }
}

fn editor() -> String {
    let set = |name: &str| env::var(name).ok().filter(|value| !value.trim().is_empty());
    set("VISUAL").or_else(|| set("EDITOR")).unwrap_or_else(|| DEFAULT_EDITOR.to_owned())
}

fn accepts_line(editor: &str) -> bool {
    let program = editor.split_whitespace().next().unwrap_or_default();
    let Some(name) = Path::new(program).file_name() else { return false };
    EDITORS_WITH_LINE.contains(&name.to_string_lossy().as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_editors_accept_a_line() {
        for editor in ["vi", "/usr/bin/nvim -u NONE", "nano"] {
            assert!(accepts_line(editor), "{editor}");
        }
        for editor in ["code --wait", "ed", "", "vimrc-edit"] {
            assert!(!accepts_line(editor), "{editor}");
        }
    }
}
