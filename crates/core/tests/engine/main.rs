//! Tests of the engine's decisions through its public interface.

#![allow(clippy::unwrap_used, reason = "a panic is the failure report of a test")]

mod budget;
mod by_rule;
mod commands;
mod context;
mod evidence;
mod flow;
mod guard;
mod integrity;
mod order;
mod repair_order;
mod reports;
mod shell;
mod user;
mod user_texts;
mod world;
