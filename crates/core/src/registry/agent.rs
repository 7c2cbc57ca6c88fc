//! Agents: the specialised sub-agents that stages are delegated to.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization as _;

use crate::registry::RefSkill::{self, BddGuide, FailureHandling, WordingGuide};
use crate::registry::{Economy, PLUGIN_PREFIX, Stage, table};

/// Which tools the client gives to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolPolicy {
    /// All tools: the front matter has no field for them.
    All,
    /// `tools:` only these.
    Only(&'static [&'static str]),
    /// `disallowedTools:` everything but these.
    Except(&'static [&'static str]),
}

const READ_ONLY: ToolPolicy = ToolPolicy::Except(&["Write", "Edit", "Task", "NotebookEdit"]);
const NO_DELEGATION: ToolPolicy = ToolPolicy::Except(&["Task", "NotebookEdit"]);
const NO_EDITING: ToolPolicy = ToolPolicy::Except(&["Edit", "Task", "NotebookEdit"]);
const READ_AND_RUN: ToolPolicy = ToolPolicy::Only(&["Read", "Bash"]);

impl ToolPolicy {
    /// Whether the agent may use a tool. `MultiEdit` counts as `Edit`, and `Agent` is the newer name of `Task`.
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

table! {
    /// A sub-agent of the plugin.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Agent {
        ProductManager("product-manager", "emerald", "opus", NO_DELEGATION, &[], &["product manager", "pm"]),
        Planner("planner", "purple", "opus", NO_DELEGATION, &[], &["plan", "planning"]),
        Architect("architect", "cyan", "opus", NO_DELEGATION, &[], &["arch", "architecture"]),
        Designer("designer", "cyan", "sonnet", NO_DELEGATION, &[], &["ui designer", "ux designer"]),
        Developer("developer", "yellow", "sonnet", ToolPolicy::All, &[BddGuide, FailureHandling], &["dev"]),
        Debugger("debugger", "orange", "sonnet", READ_ONLY, &[], &["debug"]),
        CodeReviewer(
            "code-reviewer", "blue", "opus", READ_ONLY, &[FailureHandling, WordingGuide],
            &["code reviewer", "reviewer", "code review"],
        ),
        Tester(
            "tester", "pink", "sonnet", ToolPolicy::All, &[BddGuide, FailureHandling],
            &["test", "testing"],
        ),
        SecurityReviewer(
            "security-reviewer", "red", "opus", READ_ONLY, &[],
            &["security reviewer", "security review", "security"],
        ),
        DatabaseReviewer(
            "database-reviewer", "red", "sonnet", READ_ONLY, &[],
            &["database reviewer", "database review", "db-review"],
        ),
        Qa("qa", "yellow", "sonnet", NO_EDITING, &[BddGuide], &["quality assurance"]),
        E2eRunner("e2e-runner", "green", "sonnet", ToolPolicy::All, &[], &["e2e runner", "e2e"]),
        BuildErrorResolver(
            "build-error-resolver", "orange", "sonnet", ToolPolicy::All, &[],
            &["build error resolver", "build-fix", "build fix"],
        ),
        RefactorCleaner(
            "refactor-cleaner", "blue", "sonnet", ToolPolicy::All, &[],
            &["refactor cleaner", "refactor"],
        ),
        Retrospective("retrospective", "purple", "opus", READ_ONLY, &[], &["retro"]),
        DocUpdater(
            "doc-updater", "purple", "haiku", ToolPolicy::All, &[WordingGuide],
            &["doc updater", "docs"],
        ),
        Grader("grader", "gray", "haiku", READ_AND_RUN, &[], &[]),
    }

    struct AgentRow {
        /// The agent's name: its file name, and `ot:<name>` on the wire.
        pub name: &'static str,
        pub color: &'static str,
        pub model: &'static str,
        pub tools: ToolPolicy,
        /// The reference skills whose bodies this agent must have.
        pub skills: &'static [RefSkill],
        /// Other names that a task description may use for this agent.
        pub aliases: &'static [&'static str],
    }

    pub fn from_name(name) -> Option<Self>;
}

impl Agent {
    /// The agent behind a `subagent_type` or `agent_type` such as `ot:developer`, in every spelling that the client
    /// accepts. Comparing bytes would let `ot:Developer` bypass the gate.
    pub fn from_wire(wire: &str) -> Option<Self> {
        if let Some(agent) = wire.strip_prefix(PLUGIN_PREFIX).and_then(Self::from_name) {
            return Some(agent);
        }
        let folded = fold_name(wire);
        let name = folded.strip_prefix(PLUGIN_PREFIX)?;
        Self::ALL.into_iter().find(|agent| fold_name(agent.name()) == name)
    }

    /// The tools of this agent in an installation of this economy.
    pub const fn tools_in(self, economy: Economy) -> ToolPolicy {
        match economy {
            Economy::Standard => self.tools(),
            Economy::Lean => ToolPolicy::Only(self.needed_tools()),
        }
    }

    /// The tools that the agent's job needs: never more than [`Self::tools`] permits.
    const fn needed_tools(self) -> &'static [&'static str] {
        match self {
            Self::Debugger
            | Self::CodeReviewer
            | Self::SecurityReviewer
            | Self::DatabaseReviewer
            | Self::Retrospective
            | Self::Grader => &["Read", "Bash"],
            Self::Qa => &["Read", "Write", "Bash"],
            Self::ProductManager
            | Self::Planner
            | Self::Architect
            | Self::Designer
            | Self::Developer
            | Self::Tester
            | Self::E2eRunner
            | Self::BuildErrorResolver
            | Self::RefactorCleaner
            | Self::DocUpdater => &["Read", "Edit", "Write", "Bash"],
        }
    }

    /// The stage that this agent carries out. The grader has none.
    pub fn stage(self) -> Option<Stage> {
        Stage::ALL.into_iter().find(|stage| stage.agent() == self)
    }

    /// Whether the agent has a tool to change files with.
    pub fn may_change_files(self) -> bool {
        self.tools().permits("Write") || self.tools().permits("Edit")
    }

    /// Whether the agent's job is to change code. Earlier verdicts are then about code that no longer exists.
    pub const fn changes_code(self) -> bool {
        matches!(self, Self::Developer | Self::BuildErrorResolver | Self::RefactorCleaner)
    }
}

/// The form in which the client compares agent names, as found by experiment: compatibility forms such as full-width
/// letters are resolved, and case, blanks, underscores and dashes are ignored.
fn fold_name(name: &str) -> String {
    let plain: Cow<str> = if name.is_ascii() { name.into() } else { name.nfkc().collect::<String>().into() };
    let ignored = |c: char| c.is_whitespace() || c == '_' || is_dash(c);
    plain.chars().flat_map(char::to_lowercase).filter(|c| !ignored(*c)).collect()
}

/// Whether a character belongs to Unicode's dash category, as far as normalisation leaves it unchanged.
const fn is_dash(c: char) -> bool {
    matches!(
        c,
        '-' | '\u{58a}' | '\u{5be}' | '\u{1400}' | '\u{1806}' | '\u{2010}'
            ..='\u{2015}'
                | '\u{2e17}'
                | '\u{2e1a}'
                | '\u{2e3a}'
                | '\u{2e3b}'
                | '\u{2e40}'
                | '\u{2e5d}'
                | '\u{301c}'
                | '\u{3030}'
                | '\u{30a0}'
                | '\u{10d6e}'
                | '\u{10ead}'
    )
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
    fn every_spelling_that_the_client_accepts_is_the_same_agent() {
        for spelling in [
            "ot:code-reviewer",
            "ot:Code-Reviewer",
            "OT: Code_Reviewer",
            "ot :code reviewer",
            " ot:codereviewer ",
            "o-t:code--reviewer",
            "ot：code-reviewer",
            "ｏｔ:code-reviewer",
            "ot:ⓒode-reviewer",
            "ot:code\u{2011}reviewer",
            "ot:code\u{2013}reviewer",
            "ot:code\u{10d6e}reviewer",
            "ot:code\u{a0}reviewer",
            "ot:code\treviewer",
        ] {
            assert_eq!(Agent::from_wire(spelling), Some(Agent::CodeReviewer), "{spelling:?}");
        }
        for other in [
            "code-reviewer",
            "reviewer",
            "ot:code.reviewer",
            "ot/code-reviewer",
            "ot::code-reviewer",
            "ot:ot:code-reviewer",
            "ot_code-reviewer",
            "ot:code\u{200b}reviewer",
            "ot:çode-reviewer",
            "ot:code+reviewer",
        ] {
            assert_eq!(Agent::from_wire(other), None, "{other:?}");
        }
    }

    #[test]
    fn a_tool_policy_covers_the_variants_of_a_tool() {
        assert!(!Agent::Qa.tools().permits("MultiEdit"));
        assert!(Agent::Qa.tools().permits("Write"));
        assert!(!Agent::Architect.tools().permits("Agent"));
        assert!(!Agent::Grader.tools().permits("Write"));
    }

    #[test]
    fn a_lean_agent_has_no_tool_that_the_specification_denies() {
        for agent in Agent::ALL {
            let ToolPolicy::Only(tools) = agent.tools_in(Economy::Lean) else { panic!("{}", agent.name()) };
            for tool in tools {
                assert!(agent.tools().permits(tool), "{} has {tool}", agent.name());
            }
            assert_eq!(agent.tools_in(Economy::Standard), agent.tools());
            let edits = ["Write", "Edit"].iter().any(|tool| tools.contains(tool));
            assert_eq!(edits, agent.may_change_files(), "{}", agent.name());
        }
    }
}
