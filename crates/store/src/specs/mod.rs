//! Feature specs of a project: `specs/features/{in-progress,paused,backlog,archive}/<feature>/tasks.md`.
//!
//! Hooks look up the active feature, count its checkboxes, tick a stage and archive; the command line lists, creates and
//! moves features. The folder decides which shelf a feature is on. The front matter of `tasks.md` repeats it for readers.
//!
//! Nothing outside `{project}/specs/` is written, symbolic links below the project root are not followed, a document is a
//! regular file of at most 1 MB, and a name becomes part of a path only if it is one safe path component. The current time
//! is passed in as text.

mod change;
pub(crate) mod checkbox;
mod disk;
mod error;
mod feature;
mod lock;
mod lookup;
mod moves;
mod name;
mod shelf;
mod tasks;
mod template;

pub use error::SpecsError;
pub use feature::Feature;
pub use lookup::Specs;
pub use name::{FeatureName, FeatureNameError};
pub use shelf::Shelf;
pub use tasks::{Tasks, parse_tasks};
