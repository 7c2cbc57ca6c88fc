//! `ccc review`: the verdict on a session as an exit code, for CI.

use std::env;
use std::path::Path;

use overtone_messages::supervisor as words;
use overtone_supervisor::{Outcome, review};

use super::args::ReviewArgs;
use super::face::Face;
use super::report::shown;
use super::supervise::{folder, session};
use crate::ui::error::{Done, Failure};
use crate::ui::out;

const NOT_COMPLETED: u8 = 1;
const NOT_REVIEWED: u8 = 2;

pub(super) fn run(face: &Face, args: &ReviewArgs) -> Done {
    let (session, folder) = (session(face, &args.session)?, folder(face)?);
    let project = match &args.project {
        Some(project) => checked(face, project)?,
        None => env::current_dir().map_err(|error| Failure::io(face.lang, Path::new("."), &error))?,
    };
    let reviewed = review(&folder, &session, &project, face.lang);
    if args.output.json {
        out::json(&reviewed.round)?;
    }
    match reviewed.outcome {
        Outcome::Completed => Ok(()),
        Outcome::NotCompleted => Err(Failure::Silent(NOT_COMPLETED)),
        Outcome::NotReviewed => Err(Failure::Silent(NOT_REVIEWED)),
    }
}

/// The reviewer is started there, so it has to be a whole path.
fn checked(face: &Face, project: &Path) -> Result<std::path::PathBuf, Failure> {
    let found = project.canonicalize().ok().filter(|path| path.is_dir());
    found.ok_or_else(|| {
        let message = words::not_a_folder(face.lang, &shown(project));
        Failure::new(message).hint(words::not_a_folder_hint(face.lang))
    })
}
