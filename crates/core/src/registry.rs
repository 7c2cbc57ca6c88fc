//! The one place where stages, agents, workflows, timeline events, hooks and limits are defined.
//!
//! Everything else (plugin files, help, gate, texts, checks) is generated from these tables or tested
//! against them. There is no I/O here and no logic beyond look-ups.

mod agent;
mod economy;
mod event;
mod guard;
mod hook;
pub mod limits;
mod skill;
mod stage;
mod table;
mod workflow;

pub use agent::{Agent, ToolPolicy};
pub use economy::{BudgetKind, DocsRule, Economy, RetroRule, StageRules};
pub use event::{EventKind, EventTone, UnknownEvent, WarningReason};
pub use guard::{GuardLevel, Violation};
pub use hook::{Hook, HookBinding};
pub use skill::{RefSkill, Skill};
pub use stage::{Stage, StageKey, TestMode};
pub(crate) use table::table;
pub use workflow::{ParallelGroup, SpecsDocs, Workflow};

/// The plugin's name in Claude Code: `/ot:auto`, `ot:developer`.
pub const PLUGIN_NAME: &str = "ot";

/// How the plugin calls the supervisor on `Stop`, for sessions in which the user enabled it with `/supervisor`.
pub const SUPERVISOR_HOOK: [&str; 3] = ["ccc", "supervisor-hook", "--plugin"];

/// The program with all commands, in the plugin's `bin` folder.
pub const PROGRAM: &str = "overtone";

/// The small program that the client starts: hooks and status lines. It lies beside [`PROGRAM`].
pub const HOOK_PROGRAM: &str = "overtone-hook";

/// The prefix of this plugin's agents and skills on the wire.
pub const PLUGIN_PREFIX: &str = "ot:";
