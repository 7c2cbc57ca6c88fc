//! Guard levels: what happens when somebody other than the stage's agent changes the project while a workflow runs.

use crate::registry::table;

table! {
    /// How strictly the gate is kept, ordered from lenient to strict.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum GuardLevel {
        /// A violation is recorded, and the model and the reviewer are informed.
        #[default]
        Notice("notice"),
        /// A violation is denied.
        Strict("strict"),
    }

    struct GuardLevelRow {
        /// The name in `overtone.toml` and `config.json`.
        pub name: &'static str,
    }

    pub fn from_name(name) -> Option<Self>;
}
