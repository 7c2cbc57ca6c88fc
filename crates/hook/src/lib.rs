//! Answers the calls that Claude Code makes many times a minute: hooks, status lines and the supervisor's gate.
//!
//! `overtone-hook` does nothing else and stays small, so that a start takes about a millisecond. `overtone` answers the
//! same calls through [`Call`], before it parses any other arguments.

pub mod ansi;
mod call;
mod statusline;

use std::ffi::OsString;
use std::process::ExitCode;

use overtone_claude::Environment;

pub use call::Call;

/// What `overtone-hook --version` prints. The build id in it is the same for an `overtone` of the same sources.
pub const VERSION: &str =
    concat!("overtone-hook ", env!("CARGO_PKG_VERSION"), " (", env!("OVERTONE_BUILD"), ")");

/// The whole hook program: it answers the client and has no commands. `overtone` does the same when it is started under
/// the hook program's name, so that its commands cannot be reached by a name that the permission hook does not watch.
pub fn run(arguments: &[OsString], environment: &Environment) -> ExitCode {
    if let Some(first) = arguments.first()
        && first == "--version"
    {
        println!("{VERSION}");
        return ExitCode::SUCCESS;
    }
    if let Some(call) = Call::from_arguments(arguments) {
        call.answer(environment);
        return ExitCode::SUCCESS;
    }
    // A client that passes no arguments has put the event on stdin.
    if arguments.is_empty() && overtone_session::hooks::run_event(environment) {
        return ExitCode::SUCCESS;
    }
    eprintln!("overtone-hook is started by Claude Code\nhint: overtone help");
    ExitCode::from(2)
}
