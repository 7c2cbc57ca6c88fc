//! The guard: what counts as going past the gate while a workflow runs, and what happens then.

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

table! {
    /// A way past the gate: work outside the stages, or a step that keeps the gate from working.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Violation {
        /// Somebody other than the agent of a stage changed files of the project.
        ChangedOutsideStage("changed-outside-stage"),
        /// The client's own `Workflow` tool starts agents that belong to no stage.
        NativeWorkflow("native-workflow"),
        /// The hooks of git were skipped.
        GitHooksSkipped("git-hooks-skipped"),
        /// A push that overwrites history.
        ForcedPush("forced-push"),
        /// The client's hooks or the plugin were switched off.
        HooksDisabled("hooks-disabled"),
        /// Files of Overtone itself were changed.
        OwnFilesChanged("own-files-changed"),
    }

    struct ViolationRow {
        /// The value of the `violation` field in a record.
        pub name: &'static str,
    }

    pub fn from_name(name) -> Option<Self>;
}
