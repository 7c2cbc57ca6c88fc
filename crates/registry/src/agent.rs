//! Agents: the specialised sub-agents that stages are delegated to.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization as _;

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

    /// The agent behind a `subagent_type` or `agent_type` such as `ot:developer`, in every spelling that the client
    /// takes for it: a gate that compares bytes would be walked around with `ot:Developer`.
    pub fn from_wire(wire: &str) -> Option<Self> {
        if let Some(agent) = wire.strip_prefix(PLUGIN_PREFIX).and_then(Self::from_name) {
            return Some(agent);
        }
        let folded = fold_name(wire);
        let name = folded.strip_prefix(PLUGIN_PREFIX)?;
        Self::ALL.into_iter().find(|agent| fold_name(agent.name()) == name)
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

    /// Whether the agent is there to change the code itself, so that what was judged before is about other code.
    pub const fn changes_code(self) -> bool {
        matches!(self, Self::Developer | Self::BuildErrorResolver | Self::RefactorCleaner)
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
            Self::Planner => ("planner", "purple", "opus", &["plan", "planning"]),
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

/// A name as the client compares it, found by experiment: compatibility forms are resolved (full-width letters), case
/// does not count, and neither do blanks, underscores and dashes.
fn fold_name(name: &str) -> String {
    let plain: Cow<str> = if name.is_ascii() { name.into() } else { name.nfkc().collect::<String>().into() };
    let ignored = |c: char| c.is_whitespace() || c == '_' || is_dash(c);
    plain.chars().flat_map(char::to_lowercase).filter(|c| !ignored(*c)).collect()
}

/// The characters of Unicode's category of dashes that are left after normalisation.
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
    fn every_spelling_that_the_client_takes_is_the_same_agent() {
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
    fn edit_rules_cover_the_variants_of_a_tool() {
        assert!(!Agent::Qa.tools().permits("MultiEdit"));
        assert!(Agent::Qa.tools().permits("Write"));
        assert!(!Agent::Architect.tools().permits("Agent"));
        assert!(!Agent::Grader.tools().permits("Write"));
    }
}
