//! Notifications to phones and other services, and a few commands from there.
//!
//! This runs inside the dashboard's server, never in a hook. [`RemoteService::start`] spawns one thread that checks
//! changed sessions, one thread per channel that sends, and one that polls Telegram for commands. A message is written
//! to the [`outbox`] before it is sent and removed once the service has accepted it, so a restart neither loses nor
//! repeats it. Messages carry names, states, counts and amounts, never prompts, code or answers. The sessions
//! themselves come from a [`SessionBackend`].

mod channels;
mod command_handler;
mod config;
mod delivery;
mod event;
mod notification;
mod outbox;
mod service;
mod telegram_listener;
mod test_message;
mod watcher;

pub use config::{ConfigError, Settings};
pub use event::Event;
pub use outbox::{OutboxCounts, outbox_counts};
pub use service::{RemoteService, SessionBackend, Setup};
pub use test_message::{TestResult, describe_channels, send_test_messages};
