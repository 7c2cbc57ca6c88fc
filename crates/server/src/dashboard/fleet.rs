//! The interface between the dashboard and the fleet. The implementation is passed in by the program that starts the
//! server, so this crate does not depend on the fleet.

use std::fmt::Debug;
use std::io;
use std::pin::Pin;

use overtone_session::control::ControlCommand;
use overtone_store::clock;
use serde_json::Value;

use crate::dashboard::app::App;

/// The server does not keep running for an open session without activity for this long.
const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// Why another machine did not carry out a command.
#[derive(Debug)]
pub enum OrderError {
    /// The machine refused it; holds the reason for the user.
    Refused(String),
    /// Nobody carried it out.
    Unavailable { message: String, hint: Option<String> },
}

pub type OrderResult<'a> = Pin<Box<dyn Future<Output = Result<(), OrderError>> + Send + 'a>>;

/// A machine's own server relays its sessions to the fleet, if one is configured. A server for the whole fleet mirrors
/// the sessions of all machines and sends commands to them.
pub trait Fleet: Debug + Send + Sync + 'static {
    /// Whether the sessions shown are copies of those of all machines.
    fn shows_all_machines(&self) -> bool;
    /// Starts relaying or mirroring.
    fn start(&self) -> io::Result<()>;
    fn stop(&self);
    /// Whether this machine's sessions are relayed.
    fn is_relaying(&self) -> bool;
    /// The state of the connection, for the status of the server; `None` without a fleet.
    fn health(&self) -> Option<Value>;
    /// The machines and the features they work on; `None` if only one machine is shown.
    fn overview(&self) -> Option<Value>;
    /// Sends a command to the machine that the session belongs to.
    fn send<'a>(&'a self, session: &'a str, command: &'a ControlCommand) -> OrderResult<'a>;
}

/// No fleet: the sessions of this machine only.
#[derive(Debug)]
pub struct NoFleet;

impl Fleet for NoFleet {
    fn shows_all_machines(&self) -> bool {
        false
    }

    fn start(&self) -> io::Result<()> {
        Ok(())
    }

    fn stop(&self) {}

    fn is_relaying(&self) -> bool {
        false
    }

    fn health(&self) -> Option<Value> {
        None
    }

    fn overview(&self) -> Option<Value> {
        None
    }

    fn send<'a>(&'a self, _session: &'a str, _command: &'a ControlCommand) -> OrderResult<'a> {
        let error = OrderError::Unavailable { message: "no fleet".to_owned(), hint: None };
        Box::pin(async move { Err(error) })
    }
}

impl App {
    /// Whether the fleet may receive changes of an open session or send commands to it.
    pub(crate) fn is_needed_by_fleet(&self) -> bool {
        if !self.fleet.is_relaying() {
            return false;
        }
        let now = clock::now().0;
        let index = self.index();
        let mut summaries = index.entries().map(|entry| &entry.summary);
        summaries.any(|summary| summary.state.is_open() && now - summary.last_activity.0 < DAY_MS)
    }
}
