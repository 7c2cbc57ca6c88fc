//! The Claude Code plugin `ot` as data: every file of `plugins/overtone/`, made from the registry and from
//! the texts in `content/`.
//!
//! [`render`] is pure; [`write_to`] and [`validate`] are the only parts that touch a disk. The binary in
//! `bin/` is not made here: `overtone up` places it.

mod agents;
mod front_matter;
mod hooks;
mod manifest;
mod render;
mod skills;
mod validate;
mod workflows;
mod write;

pub use manifest::MARKETPLACE_NAME;
pub use render::{RenderedFile, render};
pub use validate::{Problem, validate};
pub use write::write_to;
