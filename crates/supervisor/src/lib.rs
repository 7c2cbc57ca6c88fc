//! The supervisor: on every Stop it looks at the work, first with the project's own checks, then with a reviewer
//! that is forked from the session itself.
//!
//! There are three outcomes: the session may stop, it goes on with feedback, or there could be no review. The last
//! one never loops: the session may stop and the person is told. Everything is written below one folder, the
//! state folder. What is decided is pure ([`verdict`], [`repair`], [`stream`], [`answer`], [`breaker`]); files,
//! checks and the reviewer's process are in rooms of their own. Launching claude and editing its settings is not
//! done here.

mod answer;
mod audit;
mod breaker;
mod checks;
mod examine;
mod folder;
mod headless;
mod hook;
mod installed;
mod interrupt;
mod looping;
mod narrate;
mod process;
mod prompt;
mod record;
mod repair;
mod request;
mod review;
mod reviewer;
mod round;
mod route;
mod secrets;
mod settings;
mod stream;
mod toggle;
mod tree;
mod verdict;

pub use audit::{Audited, audit, audits, trails};
pub use folder::StateFolder;
pub use headless::{Outcome, Reviewed, review};
pub use hook::{Caller, run_hook};
pub use narrate::launch_notice;
pub use settings::hook_seconds;
pub use stream::{Line, ResultLine, read_line};
pub use toggle::{switch_session, switched};
pub use verdict::Verdict;
