//! The dashboard: one local web server for all sessions of an Overtone home.
//!
//! It reads the same files as everybody else and watches them; hooks never wait for it and need it for nothing.
//! Reading is free on this machine, changing needs a token that no response ever contains. Layers, from the outside
//! in: [`server`] takes connections within limits, [`guard`] refuses strangers, [`api`] answers, [`index`] knows the
//! sessions, [`follow`] sees what changes and [`hub`] tells those who listen. With a [`fleet`] it also tells other machines,
//! or shows the sessions of all of them.

mod actions;
mod api;
mod app;
mod assets;
mod error;
mod fleet;
mod follow;
mod guard;
mod hub;
mod index;
mod instance;
mod remote;
mod server;
mod telemetry;

pub use fleet::{fleet_home, fleet_problems};
pub use instance::{Running, is_claimed, running, token};
pub use server::{Options, ServeError, serve};
