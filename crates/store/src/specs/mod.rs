//! Feature specs of a project: `specs/features/{in-progress,paused,backlog,archive}/<feature>/tasks.md`.
//!
//! Two kinds of users: hooks, which look up the active feature, count its checkboxes, tick a stage and archive
//! (cheap: no regex, no listing when the feature is known), and the command line, which lists, creates and moves.
//! Folders are the truth; the front matter of `tasks.md` only repeats it for readers.
//!
//! Rules that hold everywhere below: nothing outside `{project}/specs/` is written, symlinks below the project
//! root are not followed, a document is a regular file of at most 1 MB, and a name that is not one plain path
//! component never becomes part of a path. Absent here: clocks (times come in as text) and texts for users.

mod change;
mod checkbox;
mod disk;
mod error;
mod feature;
mod front_matter;
mod lines;
mod lock;
mod lookup;
mod moves;
mod name;
mod shelf;
mod tasks;
mod template;
mod timestamp;

pub use error::SpecsError;
pub use feature::Feature;
pub use lookup::Specs;
pub use name::{FeatureName, FeatureNameError};
pub use shelf::Shelf;
pub use tasks::{Tasks, parse_tasks};
