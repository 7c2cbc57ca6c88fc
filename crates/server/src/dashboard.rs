//! The dashboard: one local web server for all sessions of an Overtone home.
//!
//! It reads and watches the same files as every other part; hooks never wait for it and do not need it. Other users of
//! the machine reach the same port, so reading and changing require a token that no response contains, or a page that
//! was opened with a one-time link. Layers, from the outside in: [`server`] accepts connections within limits,
//! [`guard`] rejects unauthorized requests by [`access`], [`api`] responds, [`index`] holds the sessions,
//! [`change_listener`] detects changes and [`hub`] publishes them. With a [`fleet`] it also relays its sessions to other
//! machines, or shows the sessions of all of them.

mod access;
mod actions;
mod api;
mod app;
mod assets;
mod change_listener;
mod error;
mod fleet;
mod guard;
mod histories;
mod hub;
mod index;
mod instance;
mod links;
mod process;
mod random;
mod server;
mod services;
mod telemetry;
mod usages;

pub use fleet::{Fleet, NoFleet, OrderError, OrderResult};
pub use instance::{
    RunningServer, TokenError, is_claimed, load_or_create_token, running_server, stop_server,
};
pub use links::{OpenLink, make_link};
pub use server::{Options, ServeError, serve};
