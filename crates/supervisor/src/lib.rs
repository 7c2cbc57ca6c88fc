//! The supervisor: on every Stop it asks a reviewer, forked from the session itself, whether the work is done.
//!
//! There are three outcomes: the session may stop, it goes on with feedback, or there could be no review. The last
//! one never loops: the session may stop and the person is told. Everything is written below one folder, the
//! state folder. What is decided is pure ([`verdict`], [`repair`], [`stream`], [`answer`]); files and the
//! reviewer's process are in rooms of their own. Launching claude and editing its settings is not done here.

mod answer;
mod folder;
mod hook;
mod looping;
mod narrate;
mod prompt;
mod record;
mod repair;
mod review;
mod reviewer;
mod settings;
mod stream;
mod verdict;

pub use folder::StateFolder;
pub use hook::run_hook;
pub use narrate::launch_notice;
