//! `ccc edit`: the configuration in the user's editor. The file itself changes only when the result is sound.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use overtone_messages::care;
use overtone_providers::{Config, Replaced, Snapshot};
use signal_hook::consts::SIGINT;

use super::args::EditArgs;
use super::face::Face;
use super::report::{failure, fault, parts, shown};
use crate::ui::error::{Done, Failure, say};
use crate::ui::terminal;

const DEFAULT_EDITOR: &str = "vi";
/// Editors that begin at a line if they are given `+LINE`.
const WITH_LINES: [&str; 9] = ["vi", "vim", "nvim", "gvim", "view", "nano", "emacs", "emacsclient", "micro"];

pub(super) fn run(face: &Face, args: &EditArgs) -> Done {
    let told = |error| failure(face.lang, &error);
    let file = face.places.config_file();
    let snapshot = Snapshot::take(&face.places).map_err(told)?;
    let before = snapshot.text().map_or_else(|| care::template(face.lang), str::to_owned);
    let line = args.provider.as_deref().map(|name| line_of(face, &file, &before, name)).transpose()?;
    let copy = Snapshot::copy(&face.places, &before).map_err(told)?;
    let may_be_ended = Arc::new(AtomicBool::new(true));
    // Without it the editor works as well, only less safely.
    let _ = signal_hook::flag::register_conditional_default(SIGINT, Arc::clone(&may_be_ended));
    let session = Session { face, file, snapshot, before, copy, line: line.flatten(), may_be_ended };
    while !session.round()? {}
    Ok(())
}

/// The line of a provider. In a broken file it is not looked for: the person is about to mend it.
fn line_of(face: &Face, file: &Path, text: &str, name: &str) -> Result<Option<usize>, Failure> {
    let Ok(config) = Config::parse(file, text) else { return Ok(None) };
    let told = |error| failure(face.lang, &error);
    config.check(name, None).map_err(told)?;
    Ok(config.line_of(name))
}

struct Session<'a> {
    face: &'a Face,
    file: PathBuf,
    snapshot: Snapshot,
    before: String,
    copy: PathBuf,
    line: Option<usize>,
    /// Whether Ctrl-C is meant for us. While the editor runs, it is the editor's business.
    may_be_ended: Arc<AtomicBool>,
}

impl Session<'_> {
    /// Lets the person edit once, and says whether that was all.
    fn round(&self) -> Result<bool, Failure> {
        self.open()?;
        let told = |error| failure(self.face.lang, &error);
        let after = Snapshot::read_copy(&self.copy).map_err(told)?;
        if after == self.before {
            self.discard();
            say(&care::edit_unchanged(self.face.lang, &shown(&self.file)));
            return Ok(true);
        }
        let faults = self.faults(&after);
        if faults.is_empty() {
            return self.save(&after).map(|()| true);
        }
        self.refuse(&faults).map(|()| false)
    }

    fn open(&self) -> Done {
        let editor = editor();
        let at = self.line.filter(|_| takes_lines(&editor)).map(|line| format!("+{line}"));
        self.may_be_ended.store(false, Ordering::SeqCst);
        // As other programs do it: the variable may hold arguments and quotes.
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!("{editor} \"$@\"")).arg(&editor).args(at).arg(&self.copy);
        let status = shell.status();
        self.may_be_ended.store(true, Ordering::SeqCst);
        match status {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(self.editor_failed(&editor, &status.to_string())),
            Err(error) => Err(self.editor_failed(&editor, &error.to_string())),
        }
    }

    fn editor_failed(&self, editor: &str, how: &str) -> Failure {
        let lang = self.face.lang;
        let is_untouched = Snapshot::read_copy(&self.copy).is_ok_and(|text| text == self.before);
        let hint = if is_untouched {
            self.discard();
            care::editor_failed_hint(lang)
        } else {
            care::editor_failed_kept(lang, &shown(&self.copy))
        };
        Failure::new(care::editor_failed(lang, editor, how)).hint(hint)
    }

    /// What keeps a text from being saved. A slip in a key's name does not.
    fn faults(&self, text: &str) -> Vec<String> {
        match Config::parse(&self.copy, text) {
            Err(error) => vec![parts(failure(self.face.lang, &error)).0],
            Ok(config) => {
                let faults = config.faults();
                let serious = faults.iter().filter(|fault| fault.is_serious());
                serious.map(|found| fault(self.face.lang, found).0).collect()
            }
        }
    }

    fn refuse(&self, faults: &[String]) -> Done {
        let lang = self.face.lang;
        for fault in faults {
            say(fault);
        }
        if terminal::can_ask() && terminal::confirm(&care::edit_again(lang)) {
            return Ok(());
        }
        let hint = care::edit_faulty_hint(lang, &shown(&self.copy), &shown(&self.file));
        Err(Failure::new(care::edit_faulty(lang, faults.len())).hint(hint))
    }

    fn save(&self, text: &str) -> Done {
        let lang = self.face.lang;
        let file = shown(&self.file);
        match self.snapshot.replace(text).map_err(|error| self.unsaved(failure(lang, &error)))? {
            Replaced::Done => {
                self.discard();
                say(&care::edit_saved(lang, &file));
                Ok(())
            }
            Replaced::ChangedMeanwhile => Err(Failure::new(care::edit_meanwhile(lang, &file))
                .hint(care::edit_meanwhile_hint(lang, &shown(&self.copy)))),
        }
    }

    fn unsaved(&self, failure: Failure) -> Failure {
        let (message, _) = parts(failure);
        let hint = care::edit_faulty_hint(self.face.lang, &shown(&self.copy), &shown(&self.file));
        Failure::new(message).hint(hint)
    }

    fn discard(&self) {
        // It holds nothing that is not in the file; if it stays, the doctor names it.
        let _ = fs::remove_file(&self.copy);
    }
}

fn editor() -> String {
    let set = |name: &str| env::var(name).ok().filter(|value| !value.trim().is_empty());
    set("VISUAL").or_else(|| set("EDITOR")).unwrap_or_else(|| DEFAULT_EDITOR.to_owned())
}

fn takes_lines(editor: &str) -> bool {
    let program = editor.split_whitespace().next().unwrap_or_default();
    let name = Path::new(program).file_name().map(|name| name.to_string_lossy());
    name.is_some_and(|name| WITH_LINES.contains(&name.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_some_editors_begin_at_a_line() {
        for editor in ["vi", "/usr/bin/nvim -u NONE", "nano"] {
            assert!(takes_lines(editor), "{editor}");
        }
        for editor in ["code --wait", "ed", "", "vimrc-edit"] {
            assert!(!takes_lines(editor), "{editor}");
        }
    }
}
