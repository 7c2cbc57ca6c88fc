//! The Claude Code plugin `ot`: every file of `plugins/overtone/`, rendered from the registry and the texts in `content/`.
//!
//! [`render`] is pure; only [`write_to`], [`write_for`] and [`validate`] access the disk. The programs in `bin/` are installed by
//! `overtone up`.

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
pub use render::{RenderedFile, render, render_for};
pub use validate::{Problem, validate};
pub use workflows::guide as workflow_guide;
pub use write::{write_for, write_to};
