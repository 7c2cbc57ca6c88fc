//! The checks of a project, as its file defines them, and what the user has allowed.

use std::path::{Path, PathBuf};

use overtone_core::engine::text::printable;
use overtone_core::evidence::Check;
use overtone_core::messages::{Lang, budget, checks as words, cli};
use overtone_core::registry::{GuardLevel, Stage};
use overtone_store::Trust;
use overtone_store::project_file::{
    FileProblem, InvalidProjectFile, ProjectFile, ProjectFileError, ValueType,
};

use crate::context::Context;
use crate::ui::error::{CommandError, CommandResult, warn};

/// Whether the user allows the checks of a project as they are now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TrustState {
    Trusted,
    /// They are not the ones that the user has allowed.
    Changed,
    Never,
}

impl TrustState {
    /// The word in a table.
    pub(crate) fn label(self, lang: Lang) -> String {
        match self {
            Self::Trusted => words::yes(lang),
            Self::Changed => words::changed(lang),
            Self::Never => words::no(lang),
        }
    }
}

#[derive(Debug)]
pub(crate) struct ProjectChecks {
    pub(crate) project: PathBuf,
    pub(crate) file: ProjectFile,
    pub(crate) trust: Option<Trust>,
}

impl ProjectChecks {
    /// Reads the file and the record of trust. A project without a file has no checks; one with a broken file is an error.
    pub(crate) fn load(context: &Context, project: PathBuf) -> CommandResult<Self> {
        let file = ProjectFile::read(&project).map_err(|error| file_error(context.lang, &error))?;
        let file = file.unwrap_or_default();
        let trust = Trust::for_project(context.home()?, &project);
        Ok(Self { project, file, trust })
    }

    pub(crate) fn checks(&self) -> &[Check] {
        &self.file.checks
    }

    pub(crate) fn trust_state(&self) -> TrustState {
        match &self.trust {
            Some(trust) if trust.covers(self.checks()) => TrustState::Trusted,
            // A record of a file that had only a guard level allows no check.
            Some(trust) if !trust.checks.is_empty() => TrustState::Changed,
            _ => TrustState::Never,
        }
    }

    /// The strictest of the user's own level, that of the file, and that of the file when the user trusted it.
    pub(crate) fn guard_level(
        own: GuardLevel,
        file: Option<GuardLevel>,
        trust: Option<&Trust>,
    ) -> GuardLevel {
        let trusted = trust.and_then(|trust| trust.guard);
        [file, trusted].into_iter().flatten().fold(own, GuardLevel::max)
    }

    /// Names the keys of the file that this version does not know, on stderr.
    pub(crate) fn warn_about_unknown_keys(&self, lang: Lang) {
        let path = self.path_text();
        for key in &self.file.unknown_keys {
            warn(&words::unknown_key(lang, &path, key.line, &key.name));
        }
    }

    pub(crate) fn path_text(&self) -> String {
        ProjectFile::path_in(&self.project).display().to_string()
    }
}

/// The commands as lines for the user, exactly as they would run: a character that a terminal does not show is escaped.
pub(crate) fn command_lines(run: &str) -> Vec<String> {
    let shown = |line: &str| {
        if printable(line) == line { line.to_owned() } else { line.escape_debug().to_string() }
    };
    run.lines().map(shown).collect()
}

/// `DEV, TEST`.
pub(crate) fn stage_list(stages: &[Stage]) -> String {
    stages.iter().map(|stage| stage.key()).collect::<Vec<_>>().join(", ")
}

pub(crate) fn file_error(lang: Lang, error: &ProjectFileError) -> CommandError {
    match error {
        ProjectFileError::Store(error) => CommandError::store(lang, error),
        ProjectFileError::Invalid(invalid) => invalid_file_error(lang, invalid),
    }
}

fn invalid_file_error(lang: Lang, invalid: &InvalidProjectFile) -> CommandError {
    let (problem, hint) = describe_problem(lang, &invalid.problem);
    let path = shown_path(&invalid.path);
    CommandError::new(words::invalid_file(lang, &path, invalid.line, &problem)).hint(hint)
}

fn shown_path(path: &Path) -> String {
    path.display().to_string()
}

/// What is wrong, and how to put it right.
fn describe_problem(lang: Lang, problem: &FileProblem) -> (String, String) {
    match problem {
        FileProblem::Syntax(error) => (words::not_toml(lang, error), words::not_toml_hint(lang)),
        FileProblem::WrongType { key, expected } => {
            let expected = match expected {
                ValueType::Table => words::type_table(lang, key),
                ValueType::Text => words::type_text(lang),
                ValueType::TextList => words::type_list(lang),
            };
            (words::wrong_type(lang, key, &expected), words::not_toml_hint(lang))
        }
        FileProblem::CheckName(name) => (words::bad_check_name(lang, name), words::bad_check_name_hint(lang)),
        FileProblem::NoCommand(name) => (words::no_command(lang, name), words::no_command_hint(lang)),
        FileProblem::Duration { key, given } => {
            (words::bad_timeout(lang, key, given), words::bad_timeout_hint(lang))
        }
        FileProblem::Stage { key, given } => {
            let all = Stage::ALL.map(Stage::key).join(", ");
            (words::unknown_stage(lang, key, given), cli::one_of(lang, &all))
        }
        FileProblem::GuardLevel(given) => {
            let all = GuardLevel::ALL.map(GuardLevel::name).join(", ");
            (words::unknown_level(lang, given), cli::one_of(lang, &all))
        }
        FileProblem::Amount { key } => (budget::not_an_amount(lang, key), words::not_toml_hint(lang)),
        FileProblem::Choice { key, given, choices } => {
            (words::bad_choice(lang, key, given), cli::one_of(lang, &choices.join(", ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_hide_is_shown() {
        assert_eq!(command_lines("make test\nmake lint"), ["make test", "make lint"]);
        let hidden = command_lines("make test\u{202e} # rm -rf\u{1b}[2K");
        assert_eq!(hidden, ["make test\\u{202e} # rm -rf\\u{1b}[2K"]);
    }

    #[test]
    fn the_strictest_level_counts() {
        let (notice, strict) = (GuardLevel::Notice, GuardLevel::Strict);
        let trust = |guard| Trust { guard, ..Trust::default() };
        let level = ProjectChecks::guard_level;
        assert_eq!(level(notice, None, None), notice);
        assert_eq!(level(notice, Some(strict), None), strict);
        assert_eq!(level(strict, Some(notice), None), strict);
        assert_eq!(level(notice, Some(notice), Some(&trust(Some(strict)))), strict);
        assert_eq!(level(notice, None, Some(&trust(None))), notice);
    }
}
