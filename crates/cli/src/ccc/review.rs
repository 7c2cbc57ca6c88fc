//! `ccc review`: reviews a session and returns the verdict as an exit code, for CI.

use std::env;
use std::path::{Path, PathBuf};

use overtone_ccc::supervisor::{ReviewOutcome, review_session};
use overtone_core::messages::supervisor as messages;

use super::args::ReviewArgs;
use super::context::CccContext;
use super::report::display_path;
use super::supervise::{parse_session, state_folder};
use crate::ui::error::{CommandError, CommandResult};
use crate::ui::out;

/// Exit codes.
const NOT_COMPLETED: u8 = 1;
const NOT_REVIEWED: u8 = 2;

pub(super) fn run(context: &CccContext, args: &ReviewArgs) -> CommandResult {
    let (session, folder) = (parse_session(context, &args.session)?, state_folder(context)?);
    let project = match &args.project {
        Some(project) => absolute_folder(context, project)?,
        None => env::current_dir().map_err(|error| CommandError::io(context.lang, Path::new("."), &error))?,
    };
    let review = review_session(&folder, &session, &project, context.lang);
    if args.output.json {
        out::json(&review.round)?;
    }
    match review.outcome {
        ReviewOutcome::Completed => Ok(()),
        ReviewOutcome::NotCompleted => Err(CommandError::silent(NOT_COMPLETED)),
        ReviewOutcome::NotReviewed => Err(CommandError::silent(NOT_REVIEWED)),
    }
}

/// The absolute path of an existing folder: the reviewer is started there.
fn absolute_folder(context: &CccContext, project: &Path) -> CommandResult<PathBuf> {
    match project.canonicalize() {
        Ok(path) if path.is_dir() => Ok(path),
        _ => {
            let message = messages::not_a_folder(context.lang, &display_path(project));
            Err(CommandError::new(message).hint(messages::not_a_folder_hint(context.lang)))
        }
    }
}
