//! Tells phones and other services what happens in the sessions, and takes a few commands from there.
//!
//! It runs inside the dashboard's server, never in a hook: [`Remote::start`] begins a thread that looks at sessions
//! which have changed, one thread for each channel that sends, and one that asks Telegram for commands. What is to be
//! sent is written down before it is sent and crossed out when it was taken ([`ledger`]), so a restart neither loses
//! nor repeats it. Sent are names, states, counts and amounts; never prompts, code or answers. Not here: the sessions
//! themselves (the [`Host`] knows them) and texts for people.

mod answers;
mod backoff;
mod channels;
mod commands;
mod config;
mod deliver;
mod event;
mod http;
mod ledger;
mod notice;
mod probe;
mod remote;
mod secret;
mod watch;

pub use config::{Problem, Settings};
pub use event::Event;
pub use ledger::{Figures, figures};
pub use probe::{Probed, described, probe};
pub use remote::{Host, Remote, Setup};
