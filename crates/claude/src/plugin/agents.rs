//! Agent files: front matter from the registry, the role's own instructions, and the parts that all agents
//! share (what to read first, how to finish).

use overtone_core::registry::{Agent, Economy, RefSkill, ToolPolicy};

use crate::plugin::front_matter::FrontMatterBuilder;

const START: &str = include_str!("../../content/shared/agent-start.md");
const END: &str = include_str!("../../content/shared/agent-end.md");

pub(crate) fn path(agent: Agent) -> String {
    format!("agents/{}.md", agent.name())
}

/// The role comes first and the contract last: models follow the end of a prompt best.
pub(crate) fn render(agent: Agent, economy: Economy) -> String {
    let (role, rest) = split_role(body(agent));
    let contract = contract(agent);
    let end = END
        .replace("{agent}", agent.name())
        .replace("{findings}", contract.findings())
        .replace("{verdict}", &contract.verdict());
    format!("{}\n{role}\n\n{START}\n{rest}\n{end}", front_matter(agent, economy))
}

pub(crate) fn front_matter(agent: Agent, economy: Economy) -> FrontMatterBuilder {
    let fields = FrontMatterBuilder::default()
        .text("name", agent.name())
        .text("description", description(agent))
        .text("model", agent.model())
        .text("color", agent.color());
    let fields = match agent.tools_in(economy) {
        ToolPolicy::All => fields,
        ToolPolicy::Only(tools) => fields.list("tools", tools.iter().copied()),
        ToolPolicy::Except(tools) => fields.list("disallowedTools", tools.iter().copied()),
    };
    match agent.skills() {
        [] => fields,
        skills => fields.list("skills", skills.iter().copied().map(RefSkill::name)),
    }
}

/// Which results an agent may give, and therefore how its report has to end.
enum Contract {
    Maker,
    Reviewer,
    Tester,
    Retrospective,
    Grader,
}

const fn contract(agent: Agent) -> Contract {
    match agent {
        Agent::ProductManager
        | Agent::Planner
        | Agent::Architect
        | Agent::Designer
        | Agent::Developer
        | Agent::Debugger
        | Agent::RefactorCleaner
        | Agent::DocUpdater => Contract::Maker,
        Agent::CodeReviewer | Agent::SecurityReviewer | Agent::DatabaseReviewer => Contract::Reviewer,
        Agent::Tester | Agent::Qa | Agent::E2eRunner | Agent::BuildErrorResolver => Contract::Tester,
        Agent::Retrospective => Contract::Retrospective,
        Agent::Grader => Contract::Grader,
    }
}

impl Contract {
    /// What the agent writes under the heading Findings.
    const fn findings(&self) -> &'static str {
        match self {
            Self::Maker => "what you decided or found, and the command and output that prove it",
            Self::Reviewer => "blocking first, each with file:line; then the others",
            Self::Tester => "command, exit code, counts; each failure with expected, actual, file:line",
            Self::Retrospective => "the issues, then the lessons",
            Self::Grader => "the five parts with their reasons, and the best improvement",
        }
    }

    /// The result that is not `PASS`, and when to give which.
    const fn results(&self) -> (&'static str, &'static str) {
        match self {
            Self::Maker => (
                "FAIL",
                "`PASS` when it is done and checked, `FAIL` when you could not finish: say what is missing.",
            ),
            Self::Reviewer => {
                ("REJECT", "`PASS` when nothing blocks, `REJECT` with at least one blocking finding.")
            }
            Self::Tester => ("FAIL", "An unclear result is `FAIL`."),
            Self::Retrospective => (
                "ISSUES",
                "If there is nothing to report, skip the form: one sentence and the marker, two lines in all.",
            ),
            Self::Grader => (
                "FAIL",
                "`PASS` when you could grade, whatever the score; `FAIL` when there was nothing to grade. \
                 The line before it is the score: `<!-- GRADE: {\"score\":85} -->`, your number from 0 to 100.",
            ),
        }
    }

    fn verdict(&self) -> String {
        let (other, rule) = self.results();
        let marker = |result| format!("`<!-- VERDICT: {{\"result\":\"{result}\"}} -->`");
        format!(
            "The last line is the verdict, alone and exactly in this form: {}, {} or {}. {rule} `BLOCKED` when it needs \
             the user or cannot be run here (no browser, no database, no key): say what is needed. A report without \
             this line is sent back, and then counts as a failure.",
            marker("PASS"),
            marker(other),
            marker("BLOCKED"),
        )
    }
}

/// A body's heading and opening paragraph, and everything from its first section on.
fn split_role(body: &'static str) -> (&'static str, &'static str) {
    match body.find("\n## ") {
        Some(at) => (body[..at].trim_end(), &body[at + 1..]),
        None => (body.trim_end(), ""),
    }
}

/// When to delegate to it; the main agent chooses by this line.
const fn description(agent: Agent) -> &'static str {
    match agent {
        Agent::ProductManager => {
            "PM stage. Delegate when a request is vague or a business goal: finds the problem, compares \
             options, fixes scope and success measures."
        }
        Agent::Planner => {
            "PLAN stage. Delegate to break a clear request into acceptance criteria and ordered, checkable \
             tasks (proposal.md, tasks.md)."
        }
        Agent::Architect => {
            "ARCH stage. Delegate to decide how a planned change fits the system: components, \
             interfaces, data, failure handling (design.md)."
        }
        Agent::Designer => {
            "DESIGN stage. Delegate when users will see the change: flow, views with all their states, \
             texts, accessibility (ux.md)."
        }
        Agent::Developer => {
            "DEV stage. Delegate every implementation and every repair after a failed test or a \
             rejected review."
        }
        Agent::Debugger => {
            "DEBUG stage. Delegate to find and prove the cause of a bug or a failed stage; read-only, \
             fixes nothing."
        }
        Agent::CodeReviewer => {
            "REVIEW stage. Delegate after DEV to judge the change against criteria and design; \
             read-only, PASS or REJECT with file:line."
        }
        Agent::Tester => {
            "TEST stage. Delegate before DEV in mode spec (scenarios and failing tests) and after DEV \
             in mode verify (run everything)."
        }
        Agent::SecurityReviewer => {
            "SECURITY stage. Delegate when outside input, permissions, secrets or personal data are \
             touched; read-only, PASS or REJECT."
        }
        Agent::DatabaseReviewer => {
            "DB-REVIEW stage. Delegate to judge schema, migrations and queries; read-only, PASS or REJECT."
        }
        Agent::Qa => "QA stage. Delegate to check the running product against every acceptance criterion.",
        Agent::E2eRunner => {
            "E2E stage. Delegate to write and run end-to-end tests of the main paths through the \
             outermost interface."
        }
        Agent::BuildErrorResolver => {
            "BUILD-FIX stage. Delegate when a build, type check or CI step is broken, to fix it \
             with the smallest change."
        }
        Agent::RefactorCleaner => {
            "REFACTOR stage. Delegate to remove dead code, duplicates and needless layers without \
             changing behaviour."
        }
        Agent::Retrospective => {
            "RETRO stage. Delegate once near the end to find what is worth fixing before the workflow \
             closes; read-only, often nothing."
        }
        Agent::DocUpdater => {
            "DOCS stage. Delegate after the checks to update the documentation to match what was built."
        }
        Agent::Grader => "No stage. Delegate only to score the quality of a stage's handoff from 0 to 100.",
    }
}

const fn body(agent: Agent) -> &'static str {
    match agent {
        Agent::ProductManager => include_str!("../../content/agents/product-manager.md"),
        Agent::Planner => include_str!("../../content/agents/planner.md"),
        Agent::Architect => include_str!("../../content/agents/architect.md"),
        Agent::Designer => include_str!("../../content/agents/designer.md"),
        Agent::Developer => include_str!("../../content/agents/developer.md"),
        Agent::Debugger => include_str!("../../content/agents/debugger.md"),
        Agent::CodeReviewer => include_str!("../../content/agents/code-reviewer.md"),
        Agent::Tester => include_str!("../../content/agents/tester.md"),
        Agent::SecurityReviewer => include_str!("../../content/agents/security-reviewer.md"),
        Agent::DatabaseReviewer => include_str!("../../content/agents/database-reviewer.md"),
        Agent::Qa => include_str!("../../content/agents/qa.md"),
        Agent::E2eRunner => include_str!("../../content/agents/e2e-runner.md"),
        Agent::BuildErrorResolver => include_str!("../../content/agents/build-error-resolver.md"),
        Agent::RefactorCleaner => include_str!("../../content/agents/refactor-cleaner.md"),
        Agent::Retrospective => include_str!("../../content/agents/retrospective.md"),
        Agent::DocUpdater => include_str!("../../content/agents/doc-updater.md"),
        Agent::Grader => include_str!("../../content/agents/grader.md"),
    }
}
