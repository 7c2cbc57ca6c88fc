//! The dashboard: one local web server for all sessions of an Overtone home.
//!
//! It reads the same files as everybody else and watches them; hooks never wait for it and need it for nothing.
//! Reading and changing need a token that no response ever contains, or a page that was opened by a one-time link: other
//! users of the machine reach the same port. Layers, from the outside in: [`server`] takes connections within limits,
//! [`guard`] refuses strangers by [`access`], [`api`] answers, [`index`] knows the sessions, [`follow`] sees what changes
//! and [`hub`] tells those who listen. With a [`fleet`] it also tells other machines, or shows the sessions of all of them.

mod access;
mod actions;
mod api;
mod app;
mod assets;
mod error;
mod fleet;
mod follow;
mod guard;
mod histories;
mod hub;
mod index;
mod instance;
mod links;
mod process;
mod random;
mod remote;
mod server;
mod telemetry;

pub use fleet::{fleet_home, fleet_problems};
pub use instance::{Running, TokenError, end, is_claimed, running, token};
pub use links::{OpenLink, make_link};
pub use server::{Options, ServeError, serve};
