//! Development only: the real Claude Code client in a box, talking to a Messages API that follows a script.
//!
//! A scenario is a [`Script`] (who says what), a [`Sandbox`] (a private home, project and plugin folder) and the
//! [`Run`] that comes out of it: every request the client made, every line it printed. Nothing leaves
//! 127.0.0.1, and no key but a dummy one is ever used.
//!
//! ```no_run
//! use overtone_testkit::{Actor, Client, Sandbox, text, tool};
//! use serde_json::json;
//!
//! for client in Client::all() {
//!     let sandbox = Sandbox::new(&client);
//!     let session = sandbox.new_session();
//!     sandbox.put_workflow(&session, "single");
//!     let call = json!({"subagent_type": "ot:developer", "description": "d", "prompt": "p"});
//!     let run = sandbox
//!         .script(|s| s.main([tool("Agent", call), text("done")]).sub("developer", [text("ok")]))
//!         .session(&session)
//!         .run("build it");
//!     assert!(run.requests(Actor::Sub("developer")).first().text().contains("[Overtone Workflow Context]"));
//! }
//! ```
//!
//! [`Invocation::run`] is `claude -p`; [`Invocation::terminal`] is the interactive client in a pseudo-terminal, where
//! a test types, waits for what it wants to see, and reads the same requests and files.
//!
//! Not here: any knowledge of what Overtone decides.

#![allow(
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "a panic is how a test kit reports that a test cannot go on"
)]

mod actor;
mod child;
mod client;
pub mod discipline;
pub mod economy;
mod flatten;
mod invocation;
mod launch;
mod mock;
pub mod nats;
mod player;
mod process;
mod recorder;
mod reply;
mod request;
mod run;
mod sandbox;
mod screen;
mod script;
mod secrets;
mod state;
mod terminal;
mod turn;
mod user;
mod wait;

pub use actor::Actor;
pub use child::Exit;
pub use client::Client;
pub use invocation::Invocation;
pub use launch::Launch;
pub use mock::Mock;
pub use recorder::{ROOT, Recorded};
pub use request::{Request, Requests};
pub use run::Run;
pub use sandbox::Sandbox;
pub use script::Script;
pub use terminal::{Key, Terminal};
pub use turn::{Gate, Turn, Usage, error, report, text, tool, tools};
pub use user::UserShell;
pub use wait::{wait_for, wait_until};
