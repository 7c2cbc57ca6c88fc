//! The error of a command: a lowercase message that names what it is about, then hints, on stderr.

use std::error::Error;
use std::io;
use std::path::Path;
use std::process::{self, ExitCode};

use overtone_core::engine::text::printable_lines;
use overtone_core::messages::{Lang, cli as words};
use overtone_store::specs::SpecsError;
use overtone_store::{StoreError, StoreErrorKind};

use super::out::write_stderr;

pub(crate) type CommandResult<T = ()> = Result<T, CommandError>;

/// Why a command failed. The kind decides the exit code and what is printed.
#[derive(Debug)]
pub(crate) struct CommandError {
    pub(crate) kind: ErrorKind,
    pub(crate) message: String,
    pub(crate) hints: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorKind {
    /// Prints message and hints; exit code 1.
    Failed,
    /// Prints message and hints; the exit code lets programs distinguish the cause.
    ExitCode(u8),
    /// The command's own output could not be written; the message is that of the system. Exit code 1.
    Output,
    /// The reader of the output has closed it (`| head`), which is not an error: prints nothing, exit code 0.
    OutputClosed,
    /// Prints nothing, since everything has been printed already.
    Silent(u8),
}

impl CommandError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { kind: ErrorKind::Failed, message: message.into(), hints: Vec::new() }
    }

    pub(crate) fn silent(exit_code: u8) -> Self {
        Self { kind: ErrorKind::Silent(exit_code), ..Self::new("") }
    }

    /// Standard output could not be written.
    pub(crate) fn output(error: &io::Error) -> Self {
        let kind = match error.kind() {
            io::ErrorKind::BrokenPipe => ErrorKind::OutputClosed,
            _ => ErrorKind::Output,
        };
        Self { kind, ..Self::new(error.to_string()) }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    pub(crate) const fn with_exit_code(mut self, code: u8) -> Self {
        self.kind = ErrorKind::ExitCode(code);
        self
    }

    pub(crate) const fn exit_code(&self) -> u8 {
        match self.kind {
            ErrorKind::Failed | ErrorKind::Output => 1,
            ErrorKind::ExitCode(code) | ErrorKind::Silent(code) => code,
            ErrorKind::OutputClosed => 0,
        }
    }

    /// Prints the error on stderr and returns the exit code of the process.
    pub(crate) fn report(&self, lang: Lang) -> ExitCode {
        let message = match self.kind {
            ErrorKind::Failed | ErrorKind::ExitCode(_) => Some(self.message.clone()),
            ErrorKind::Output => Some(words::cannot_use(lang, "stdout", &self.message)),
            ErrorKind::OutputClosed | ErrorKind::Silent(_) => None,
        };
        if let Some(message) = message {
            let mut text = format!("error: {message}\n");
            for hint in &self.hints {
                text.push_str("hint: ");
                text.push_str(hint);
                text.push('\n');
            }
            write_stderr(&text);
        }
        ExitCode::from(self.exit_code())
    }

    /// A path that could not be read or written.
    pub(crate) fn io(lang: Lang, path: &Path, error: &io::Error) -> Self {
        Self::new(words::cannot_use(lang, &path.display().to_string(), &error.to_string()))
            .hint(hint_for_file(lang, path))
    }

    /// A file of the store that could not be used.
    pub(crate) fn store(lang: Lang, error: &StoreError) -> Self {
        let path = error.path.display().to_string();
        match &error.kind {
            StoreErrorKind::Io(problem) => Self::io(lang, &error.path, problem),
            StoreErrorKind::Broken(what) => {
                Self::new(words::broken_file(lang, &path, what)).hint(hint_for_file(lang, &error.path))
            }
            StoreErrorKind::Locked => Self::new(words::busy(lang, &path)).hint(words::busy_hint(lang)),
            StoreErrorKind::Untrusted => {
                Self::new(words::untrusted_file(lang, &path)).hint(words::untrusted_file_hint(lang))
            }
        }
    }

    pub(crate) fn specs(lang: Lang, error: &SpecsError) -> Self {
        match error {
            SpecsError::Name(name) => {
                // A page pasted instead of a name must not fill the terminal.
                let shown: String = name.given().chars().take(80).collect();
                Self::new(words::bad_feature_name(lang, &format!("{shown:?}")))
                    .hint(words::bad_feature_name_hint(lang, &name.suggestion()))
            }
            SpecsError::Exists { path } => {
                Self::new(words::feature_exists(lang, &path.display().to_string()))
                    .hint(words::feature_exists_hint(lang))
            }
            SpecsError::NotFound { name, features } => {
                Self::new(words::no_feature(lang, name, &features.display().to_string()))
                    .hint(words::no_feature_hint(lang))
            }
            // The messages of the others name the action and the path.
            SpecsError::IntoArchive { .. } | SpecsError::Date { .. } | SpecsError::Io(_) => {
                Self::new(error.to_string()).hint(words::real_folder_hint(lang))
            }
        }
    }

    /// Files that could not be replaced after everything else was prepared.
    pub(crate) fn problems(lang: Lang, problems: &[String]) -> Self {
        Self::new(problems.join("; ")).hint(words::check_path_hint(lang))
    }

    /// The error of a state change, which is one of the store or of the change itself.
    pub(crate) fn driver(lang: Lang, error: &(dyn Error + 'static)) -> Self {
        match error.downcast_ref::<StoreError>() {
            Some(store) => Self::store(lang, store),
            None => Self::new(error.to_string()),
        }
    }
}

/// How to continue when a file of ours cannot be used. It is never overwritten without being asked for.
fn hint_for_file(lang: Lang, path: &Path) -> String {
    match path.file_name().and_then(|name| name.to_str()) {
        Some("workflow.json" | "loop.json") => words::broken_state_hint(lang),
        Some("config.json") => words::broken_config_hint(lang),
        _ => words::check_path_hint(lang),
    }
}

/// Prints a warning: the command continues.
pub(crate) fn warn(text: &str) {
    write_stderr(&format!("warning: {text}\n"));
}

/// Prints a note for the user on stderr, since stdout is for results.
pub(crate) fn note(text: &str) {
    write_stderr(&format!("{text}\n"));
}

/// Prints the help or the error of the argument parser, which may quote the command line, and ends the program.
pub(crate) fn exit_with(error: &clap::Error) -> ! {
    let text = error.render().to_string();
    if printable_lines(&text) == text {
        error.exit();
    }
    write_stderr(&text);
    process::exit(error.exit_code())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_decides_the_exit_code() {
        let closed = io::Error::from(io::ErrorKind::BrokenPipe);
        assert_eq!(CommandError::new("x").exit_code(), 1);
        assert_eq!(CommandError::new("x").with_exit_code(3).exit_code(), 3);
        assert_eq!(CommandError::silent(2).exit_code(), 2);
        assert_eq!(CommandError::output(&closed).exit_code(), 0);
        assert_eq!(CommandError::output(&io::Error::other("disk full")).exit_code(), 1);
    }
}
