//! `overtone top`: shows all sessions live in the terminal, and lets the user stop and resume them.
//!
//! It reads the session files itself and needs no server. Drawing ([`draw`]) and handling keys ([`handle_key`]) are pure
//! functions of [`State`]. Files, signals and the terminal are in [`run`] and the modules that it uses. The texts are in
//! `overtone_core::messages`.

mod control;
mod draw;
mod events;
mod keys;
mod run;
mod screen;
mod sessions;
mod state;
mod watch;

pub use draw::{draw, render_plain};
pub use events::last_events;
pub use keys::handle_key;
pub use run::{ExitReason, Options, render_once, run, sessions_json};
pub use screen::Screen;
pub use sessions::{Row, Sessions};
pub use state::{Action, DisplayOptions, Effect, Filter, Prompt, State};
