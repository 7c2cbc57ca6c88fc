//! Agents: the specialised sub-agents that stages are delegated to.

use crate::{PLUGIN_PREFIX, RefSkill, Stage};

/// A sub-agent of the plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Agent {
    ProductManager,
    Planner,
    Architect,
    Designer,
    Developer,
    Debugger,
    CodeReviewer,
    Tester,
    SecurityReviewer,
    DatabaseReviewer,
    Qa,
    E2eRunner,
    BuildErrorResolver,
    RefactorCleaner,
    Retrospective,
    DocUpdater,
    Grader,
}

/// Which tools the platform gives to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolPolicy {
    /// Everything, no field in the front matter.
    All,
    /// `tools:` only these.
    Only(&'static [&'static str]),
    /// `disallowedTools:` everything but these.
    Except(&'static [&'static str]),
}

const READ_ONLY: ToolPolicy = ToolPolicy::Except(&["Write", "Edit", "Task", "NotebookEdit"]);
const NO_DELEGATION: ToolPolicy = ToolPolicy::Except(&["Task", "NotebookEdit"]);

impl ToolPolicy {
    /// Whether a file-changing tool may be used. `MultiEdit` is an `Edit`; `Agent` is the wire name of `Task`.
    pub fn permits(self, tool: &str) -> bool {
        let tool = match tool {
            "MultiEdit" => "Edit",
            "Agent" => "Task",
            other => other,
        };
        match self {
            Self::All => true,
            Self::Only(tools) => tools.contains(&tool),
            Self::Except(tools) => !tools.contains(&tool),
        }
    }
}

impl Agent {
    pub const ALL: [Self; 17] = [
        Self::ProductManager,
        Self::Planner,
        Self::Architect,
        Self::Designer,
        Self::Developer,
        Self::Debugger,
        Self::CodeReviewer,
        Self::Tester,
        Self::SecurityReviewer,
        Self::DatabaseReviewer,
        Self::Qa,
        Self::E2eRunner,
        Self::BuildErrorResolver,
        Self::RefactorCleaner,
        Self::Retrospective,
        Self::DocUpdater,
        Self::Grader,
    ];

    /// The agent's name: its file name, and `ot:<name>` on the wire.
    pub const fn name(self) -> &'static str {
        self.row().0
    }

    pub const fn color(self) -> &'static str {
        self.row().1
    }

    pub const fn model(self) -> &'static str {
        self.row().2
    }

    /// Other names that a task description may use for this agent.
    pub const fn aliases(self) -> &'static [&'static str] {
        self.row().3
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|agent| agent.name() == name)
    }

    /// The agent behind a `subagent_type` or `agent_type` such as `ot:developer`.
    pub fn from_wire(wire: &str) -> Option<Self> {
        Self::from_name(wire.strip_prefix(PLUGIN_PREFIX)?)
    }

    /// The stage that this agent carries out; the grader has none.
    pub fn stage(self) -> Option<Stage> {
        Stage::ALL.into_iter().find(|stage| stage.agent() == self)
    }

    pub const fn tools(self) -> ToolPolicy {
        match self {
            Self::CodeReviewer
            | Self::Debugger
            | Self::SecurityReviewer
            | Self::DatabaseReviewer
            | Self::Retrospective => READ_ONLY,
            Self::Architect | Self::Planner | Self::ProductManager | Self::Designer => NO_DELEGATION,
            Self::Qa => ToolPolicy::Except(&["Edit", "Task", "NotebookEdit"]),
            Self::Grader => ToolPolicy::Only(&["Read", "Bash"]),
            Self::Developer
            | Self::Tester
            | Self::E2eRunner
            | Self::BuildErrorResolver
            | Self::RefactorCleaner
            | Self::DocUpdater => ToolPolicy::All,
        }
    }

    /// The reference skills whose bodies this agent must have.
    pub const fn skills(self) -> &'static [RefSkill] {
        match self {
            Self::Tester | Self::Developer => &[RefSkill::BddGuide, RefSkill::FailureHandling],
            Self::CodeReviewer => &[RefSkill::FailureHandling, RefSkill::WordingGuide],
            Self::Qa => &[RefSkill::BddGuide],
            Self::DocUpdater => &[RefSkill::WordingGuide],
            _ => &[],
        }
    }

    const fn row(self) -> (&'static str, &'static str, &'static str, &'static [&'static str]) {
        match self {
            Self::ProductManager => ("product-manager", "emerald", "opus", &["product manager", "pm"]),
            Self::Planner => ("planner", "purple", "opusplan", &["plan", "planning"]),
            Self::Architect => ("architect", "cyan", "opus", &["arch", "architecture"]),
            Self::Designer => ("designer", "cyan", "sonnet", &["ui designer", "ux designer"]),
            Self::Developer => ("developer", "yellow", "sonnet", &["dev"]),
            Self::Debugger => ("debugger", "orange", "sonnet", &["debug"]),
            Self::CodeReviewer => {
                ("code-reviewer", "blue", "opus", &["code reviewer", "reviewer", "code review"])
            }
            Self::Tester => ("tester", "pink", "sonnet", &["test", "testing"]),
            Self::SecurityReviewer => {
                ("security-reviewer", "red", "opus", &["security reviewer", "security review", "security"])
            }
            Self::DatabaseReviewer => {
                ("database-reviewer", "red", "sonnet", &["database reviewer", "database review", "db-review"])
            }
            Self::Qa => ("qa", "yellow", "sonnet", &["quality assurance"]),
            Self::E2eRunner => ("e2e-runner", "green", "sonnet", &["e2e runner", "e2e"]),
            Self::BuildErrorResolver => (
                "build-error-resolver",
                "orange",
                "sonnet",
                &["build error resolver", "build-fix", "build fix"],
            ),
            Self::RefactorCleaner => {
                ("refactor-cleaner", "blue", "sonnet", &["refactor cleaner", "refactor"])
            }
            Self::Retrospective => ("retrospective", "purple", "opus", &["retro"]),
            Self::DocUpdater => ("doc-updater", "purple", "haiku", &["doc updater", "docs"]),
            Self::Grader => ("grader", "gray", "haiku", &[]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stage_has_its_own_agent_and_only_the_grader_has_no_stage() {
        let without_stage: Vec<_> = Agent::ALL.into_iter().filter(|agent| agent.stage().is_none()).collect();
        assert_eq!(without_stage, [Agent::Grader]);
        for stage in Stage::ALL {
            assert_eq!(stage.agent().stage(), Some(stage));
        }
    }

    #[test]
    fn wire_names_need_the_prefix() {
        assert_eq!(Agent::from_wire("ot:tester"), Some(Agent::Tester));
        assert_eq!(Agent::from_wire("tester"), None);
        assert_eq!(Agent::from_wire("ot:constructor"), None);
    }

    #[test]
    fn edit_rules_cover_the_variants_of_a_tool() {
        assert!(!Agent::Qa.tools().permits("MultiEdit"));
        assert!(Agent::Qa.tools().permits("Write"));
        assert!(!Agent::Architect.tools().permits("Agent"));
        assert!(!Agent::Grader.tools().permits("Write"));
    }
}
