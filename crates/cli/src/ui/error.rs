//! How a command fails: a lowercase fragment with the path, then a hint, on stderr.

use std::error::Error;
use std::io;
use std::path::Path;
use std::process::{self, ExitCode};

use overtone_engine::text::printable_lines;
use overtone_messages::{Lang, cli as words};
use overtone_store::specs::SpecsError;
use overtone_store::{Problem, StoreError};

use super::out::complain;

/// What a command returns.
pub(crate) type Done = Result<(), Failure>;

/// Why a command did not do what it was asked for.
#[derive(Debug)]
pub(crate) enum Failure {
    Told {
        message: String,
        hint: Option<String>,
    },
    /// As `Told`, with an exit code that programs tell apart.
    Coded {
        code: u8,
        message: String,
        hint: String,
    },
    /// Our own output could not be written.
    Output(io::Error),
    /// Everything has been said; only the exit code is left.
    Silent(u8),
}

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self::Told { message: message.into(), hint: None }
    }

    pub(crate) fn hint(self, text: impl Into<String>) -> Self {
        match self {
            Self::Told { message, .. } => Self::Told { message, hint: Some(text.into()) },
            other => other,
        }
    }

    /// Prints the failure. A reader that has seen enough (`| head`) is no failure.
    pub(crate) fn report(self, lang: Lang) -> ExitCode {
        let (code, message, hint) = match self {
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => return ExitCode::SUCCESS,
            Self::Output(error) => (1, words::cannot_use(lang, "stdout", &error.to_string()), None),
            Self::Told { message, hint } => (1, message, hint),
            Self::Coded { code, message, hint } => (code, message, Some(hint)),
            Self::Silent(code) => return ExitCode::from(code),
        };
        let hint = hint.map(|hint| format!("hint: {hint}\n")).unwrap_or_default();
        complain(&format!("error: {message}\n{hint}"));
        ExitCode::from(code)
    }

    /// A path that could not be read or written.
    pub(crate) fn io(lang: Lang, path: &Path, error: &io::Error) -> Self {
        Self::new(words::cannot_use(lang, &path.display().to_string(), &error.to_string()))
            .hint(way_on(lang, path))
    }

    /// A file of the store that could not be used, with how to go on.
    pub(crate) fn store(lang: Lang, error: &StoreError) -> Self {
        let path = error.path.display().to_string();
        match &error.problem {
            Problem::Io(problem) => Self::io(lang, &error.path, problem),
            Problem::Broken(what) => {
                Self::new(words::broken_file(lang, &path, what)).hint(way_on(lang, &error.path))
            }
            Problem::Locked => Self::new(words::busy(lang, &path)).hint(words::busy_hint(lang)),
        }
    }

    pub(crate) fn specs(lang: Lang, error: &SpecsError) -> Self {
        match error {
            SpecsError::Name(name) => {
                // A pasted page instead of a name must not fill the terminal.
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
            // The texts of the others name the action and the path.
            SpecsError::IntoArchive { .. } | SpecsError::Date { .. } | SpecsError::Io(_) => {
                Self::new(error.to_string()).hint(words::real_folder_hint(lang))
            }
        }
    }

    /// What the driver could not do after everything was prepared: a file could not take the place of another.
    pub(crate) fn problems(lang: Lang, problems: &[String]) -> Self {
        Self::new(problems.join("; ")).hint(words::check_path_hint(lang))
    }

    /// What the driver of hooks and commands returned.
    pub(crate) fn driver(lang: Lang, error: &(dyn Error + 'static)) -> Self {
        match error.downcast_ref::<StoreError>() {
            Some(store) => Self::store(lang, store),
            None => Self::new(error.to_string()),
        }
    }
}

/// How to go on when a file of ours is in the way. It is never overwritten unasked.
fn way_on(lang: Lang, path: &Path) -> String {
    match path.file_name().and_then(|name| name.to_str()) {
        Some("workflow.json" | "loop.json") => words::broken_state_hint(lang),
        Some("config.json") => words::broken_config_hint(lang),
        _ => words::check_path_hint(lang),
    }
}

/// Something that is worth knowing but stopped nothing.
pub(crate) fn warn(text: &str) {
    complain(&format!("warning: {text}\n"));
}

/// Something that was done, for a person; stdout is for results.
pub(crate) fn say(text: &str) {
    complain(&format!("{text}\n"));
}

/// Ends the program with what the parser has to say: help, or a complaint that quotes the command line.
pub(crate) fn exit_with(error: &clap::Error) -> ! {
    let text = error.render().to_string();
    if printable_lines(&text) == text {
        error.exit();
    }
    complain(&text);
    process::exit(error.exit_code())
}
