//! `overtone top`: every session in the terminal, live, and the two things a person does about one: stop and resume.
//!
//! It reads the session files itself; no server is asked or started. What is shown is a pure function of [`State`]
//! ([`draw`]), and so is what a key does ([`press`]); files, signals and the terminal are in [`run`] and the rooms
//! it uses. Texts are in overtone-messages.

mod act;
mod draw;
mod events;
mod keys;
mod run;
mod screen;
mod sessions;
mod state;
mod watch;

pub use draw::{draw, plain};
pub use events::last_events;
pub use keys::press;
pub use run::{Ended, Options, once, run, summaries};
pub use screen::Screen;
pub use sessions::{Row, Sessions};
pub use state::{Action, Effect, Filter, Look, Prompt, State};
