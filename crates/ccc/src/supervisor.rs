//! The supervisor: examines the work at every Stop, first with the project's own checks, then with a reviewer that is
//! forked from the session itself.
//!
//! There are three outcomes: the session may stop, it continues with feedback, or no review was possible. The last one
//! never loops: the session may stop, and the user is notified. All files are written to the state folder. The
//! decisions are pure functions ([`verdict`], [`repair`], [`stream`], [`answer`], [`breaker`]); files, checks and the
//! reviewer's process are in separate modules. Starting the client and editing its settings is done elsewhere.

mod answer;
mod breaker;
mod checks;
mod examination;
mod headless;
mod hook;
mod installed;
mod interrupt;
mod process;
mod progress;
mod prompt;
mod repair;
mod review;
mod reviewer;
mod round;
mod route;
mod secrets;
mod settings;
mod stream;
mod tree;
mod user_request;
mod verdict;
mod workflow_loop;

pub use headless::{ReviewOutcome, SessionReview, review_session};
pub use hook::{Caller, run_hook};
pub use progress::launch_notice;
pub use settings::hook_timeout_seconds;
pub use stream::{ResultLine, StreamLine, parse_line};
pub use verdict::Verdict;
