//! Texts made from a workflow's definition: its skill, and its row in the table of `/ot:auto`.

use std::fmt::Write as _;

use overtone_core::registry::{
    PLUGIN_PREFIX, ParallelGroup, SpecsDocs, Stage, StageKey, TestMode, Workflow, limits,
};

const PAGE: &str = include_str!("../../content/shared/workflow.md");
const RULES: &str = include_str!("../../content/shared/rules.md");
const REPAIR: &str = include_str!("../../content/shared/repair.md");
const REPORT: &str = include_str!("../../content/shared/report.md");
const AGAIN: &str = include_str!("../../content/shared/again.md");
const RETRO: &str = include_str!("../../content/shared/retro.md");

/// The body of the workflow's skill.
pub(crate) fn page(workflow: Workflow) -> String {
    PAGE.replace("{name}", workflow.name())
        .replace("{emphasis}", emphasis(workflow).trim_end())
        .replace("{init}", &init_command(workflow))
        .replace("{feature}", feature_note(workflow))
        .replace("{stages}", stage_list(workflow).trim_end())
        .replace("{rules}", rules(workflow).trim_end())
        .replace("{done}", &done(workflow))
}

/// What the main agent has to know about a workflow that it has started, if it knows the rules of every workflow from the
/// page of `/ot:auto`.
pub fn guide(workflow: Workflow) -> String {
    let (stages, after) = (stage_list(workflow), after_stages(workflow));
    let parts =
        [emphasis(workflow), "## Stages, in this order", &stages, after.as_str(), "## Done", &done(workflow)];
    parts.map(str::trim_end).join("\n\n")
}

/// One row for each workflow: name, stages, when to use it.
pub(crate) fn table() -> String {
    let mut table = String::from("| workflow | stages | when to use |\n|---|---|---|\n");
    for workflow in Workflow::ALL {
        let star = if keeps_documents(workflow) { " ★" } else { "" };
        let (name, when) = (workflow.name(), when_to_use(workflow));
        // Writing to a String cannot fail.
        let _ = writeln!(table, "| `{name}`{star} | {} | {when} |", stage_chain(workflow));
    }
    table.truncate(table.trim_end().len());
    table
}

/// The rules of every workflow. What follows a failure depends on the workflow, and [`guide`] says it.
pub(crate) const fn common_rules() -> &'static str {
    RULES
}

/// The situation that a workflow is for, as a fragment.
pub(crate) const fn when_to_use(workflow: Workflow) -> &'static str {
    match workflow {
        Workflow::Single => "a small change in one file, outcome clear",
        Workflow::Quick => "a change in a few files whose design is clear",
        Workflow::Standard => "a feature, or a change across modules",
        Workflow::Full => "a feature with a user interface",
        Workflow::Secure => {
            "login, permissions, secrets, payment, personal data or outside input are touched"
        }
        Workflow::Tdd => "logic that tests can specify exactly beforehand",
        Workflow::Debug => "a bug to find and fix, cause unknown",
        Workflow::Refactor => "structure changes, behaviour stays",
        Workflow::ReviewOnly => "a review of existing code or a diff",
        Workflow::SecurityOnly => "a security review of existing code",
        Workflow::BuildFix => "the build, type check or CI is broken",
        Workflow::E2eOnly => "end-to-end tests to run or write for existing paths",
        Workflow::Diagnose => "the cause of a problem, without a fix",
        Workflow::Clean => "dead code and duplicates to remove",
        Workflow::DbReview => "a review of schema, migrations or queries",
        Workflow::Product => "a vague request or business goal, to be built",
        Workflow::ProductFull => "a new product area with an interface, from idea to end-to-end checks",
        Workflow::Discovery => "options and a recommendation, nothing built",
    }
}

fn keeps_documents(workflow: Workflow) -> bool {
    workflow.specs_docs() != SpecsDocs::None
}

fn init_command(workflow: Workflow) -> String {
    let feature = if keeps_documents(workflow) { " --feature <kebab-name>" } else { "" };
    // The page has said what `init` would print.
    format!("overtone init {} --brief{feature}", workflow.name())
}

fn feature_note(workflow: Workflow) -> &'static str {
    match workflow.specs_docs() {
        SpecsDocs::None => "",
        SpecsDocs::Tasks => {
            " The name is two to four English words for the feature; it creates \
             `specs/features/in-progress/<kebab-name>/` with `tasks.md`."
        }
        SpecsDocs::TasksAndBdd => {
            " The name is two to four English words for the feature; it creates \
             `specs/features/in-progress/<kebab-name>/` with `tasks.md` and `bdd.md`."
        }
    }
}

/// A step of a workflow: one stage, or a parallel group with all its stages.
struct Step {
    group: Option<ParallelGroup>,
    keys: Vec<StageKey>,
}

fn steps(workflow: Workflow) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for key in workflow.stage_keys() {
        if let Some(last) = steps.last()
            && last.keys.contains(&key)
        {
            continue;
        }
        steps.push(match workflow.group_of(key) {
            Some((group, keys)) => Step { group: Some(group), keys },
            None => Step { group: None, keys: vec![key] },
        });
    }
    steps
}

fn stage_chain(workflow: Workflow) -> String {
    let step = |step: &Step| {
        let names: Vec<_> = step.keys.iter().map(|key| key.stage.key()).collect();
        match step.group {
            Some(_) => format!("({})", names.join(" + ")),
            None => names.concat(),
        }
    };
    steps(workflow).iter().map(step).collect::<Vec<_>>().join(" → ")
}

fn stage_list(workflow: Workflow) -> String {
    let mut list = String::new();
    for (number, step) in (1..).zip(steps(workflow)) {
        match step.group {
            Some(group) => {
                let _ = writeln!(list, "{number}. in parallel (group `{}`), all in one message:", group.name);
                for key in step.keys {
                    let _ = writeln!(list, "   - {}", stage_line(workflow, key));
                }
            }
            None => {
                for key in step.keys {
                    let _ = writeln!(list, "{number}. {}", stage_line(workflow, key));
                }
            }
        }
    }
    list
}

fn stage_line(workflow: Workflow, key: StageKey) -> String {
    let mode = workflow.test_mode(key);
    let mode_note = match mode {
        Some(mode) => format!(" (mode `{}`)", mode.key()),
        None => String::new(),
    };
    format!(
        "{key}{mode_note} → `{PLUGIN_PREFIX}{}`: {}",
        key.stage.agent().name(),
        deliverable(workflow, key.stage, mode)
    )
}

/// What a stage has to hand over.
fn deliverable(workflow: Workflow, stage: Stage, mode: Option<TestMode>) -> &'static str {
    match stage {
        Stage::Pm if keeps_documents(workflow) => {
            "`brief.md` with options, recommendation, scope and success measures"
        }
        Stage::Pm => "options, recommendation, scope and success measures, as handoff",
        Stage::Plan => "`proposal.md` with acceptance criteria, and `tasks.md` with open tasks",
        Stage::Arch => "`design.md` with interfaces and failure handling, and refined `tasks.md`",
        Stage::Design => "`ux.md` with flow, all states and texts",
        Stage::Dev if keeps_documents(workflow) => {
            "every task implemented and ticked with evidence, checks green"
        }
        Stage::Dev => "the change, with the checks around it green",
        Stage::Debug => "the proven cause with file:line, reproduction and proposed fix",
        Stage::Review => "a verdict on the change, blocking findings with file:line",
        Stage::Test if workflow == Workflow::Refactor && mode == Some(TestMode::Spec) => {
            "`bdd.md` and tests that pin down current behaviour, green"
        }
        Stage::Test if mode == Some(TestMode::Spec) => {
            "`bdd.md` scenarios and tests that fail for the right reason"
        }
        Stage::Test => "everything run, with command, exit code and counts",
        Stage::Security => "a verdict, each finding with the path from outside input to damage",
        Stage::DbReview => "a verdict on schema, migrations and queries",
        Stage::Qa => "`qa-handoff.md` with each criterion tried on the running product",
        Stage::E2e => "the main paths run from end to end, with traces of failures",
        Stage::BuildFix => "the failing command green again, cause of each error named",
        Stage::Refactor => "what was removed with its proof, tests green",
        Stage::Retro => "what is worth fixing now, or two lines",
        Stage::Docs => "documents that match what was built",
    }
}

fn rules(workflow: Workflow) -> String {
    format!("{RULES}{}", after_stages(workflow))
}

/// What follows a stage that did not pass.
fn after_stages(workflow: Workflow) -> String {
    let stages = workflow.stages();
    let judged = stages.iter().any(|stage| stage.is_judge());
    let on_failure = match (judged, stages.contains(&Stage::Dev)) {
        (true, true) => REPAIR,
        (true, false) => REPORT,
        (false, _) => AGAIN,
    };
    let on_issues = if stages.contains(&Stage::Retro) { RETRO } else { "" };
    with_limits(&format!("{on_failure}{on_issues}"))
}

fn with_limits(text: &str) -> String {
    text.replace("{failures}", &limits::MAX_FAILURES.to_string())
        .replace("{rejections}", &limits::MAX_REJECTIONS.to_string())
        .replace("{retros}", &limits::MAX_RETROS.to_string())
}

fn done(workflow: Workflow) -> String {
    let condition = if keeps_documents(workflow) {
        "Every stage has passed and every box in `tasks.md` is ticked; Overtone then archives the feature."
    } else {
        "Every stage has passed."
    };
    format!(
        "{condition} Until then continue without asking, except where a rule above says so. At the end \
         tell the user in a few lines, in their language: the result, how it was verified, what \
         remains open."
    )
}

/// What matters in this workflow, for the head of its page.
const fn emphasis(workflow: Workflow) -> &'static str {
    match workflow {
        Workflow::Single => include_str!("../../content/skills/single.md"),
        Workflow::Quick => include_str!("../../content/skills/quick.md"),
        Workflow::Standard => include_str!("../../content/skills/standard.md"),
        Workflow::Full => include_str!("../../content/skills/full.md"),
        Workflow::Secure => include_str!("../../content/skills/secure.md"),
        Workflow::Tdd => include_str!("../../content/skills/tdd.md"),
        Workflow::Debug => include_str!("../../content/skills/debug.md"),
        Workflow::Refactor => include_str!("../../content/skills/refactor.md"),
        Workflow::ReviewOnly => include_str!("../../content/skills/review-only.md"),
        Workflow::SecurityOnly => include_str!("../../content/skills/security-only.md"),
        Workflow::BuildFix => include_str!("../../content/skills/build-fix.md"),
        Workflow::E2eOnly => include_str!("../../content/skills/e2e-only.md"),
        Workflow::Diagnose => include_str!("../../content/skills/diagnose.md"),
        Workflow::Clean => include_str!("../../content/skills/clean.md"),
        Workflow::DbReview => include_str!("../../content/skills/db-review.md"),
        Workflow::Product => include_str!("../../content/skills/product.md"),
        Workflow::ProductFull => include_str!("../../content/skills/product-full.md"),
        Workflow::Discovery => include_str!("../../content/skills/discovery.md"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chain_shows_groups_and_keeps_the_early_test_apart() {
        assert_eq!(
            stage_chain(Workflow::Full),
            "PLAN → ARCH → DESIGN → TEST → DEV → (REVIEW + TEST) → (QA + E2E) → RETRO → DOCS"
        );
        assert_eq!(stage_chain(Workflow::Tdd), "TEST → DEV → TEST");
    }

    #[test]
    fn the_list_names_agent_mode_and_group_of_each_stage() {
        let list = stage_list(Workflow::Standard);
        assert!(list.contains("3. TEST (mode `spec`) → `ot:tester`: `bdd.md`"), "{list}");
        assert!(list.contains("5. in parallel (group `quality`)"), "{list}");
        assert!(list.contains("   - TEST:2 (mode `verify`) → `ot:tester`: everything run"), "{list}");
        assert!(list.contains("7. DOCS → `ot:doc-updater`"), "{list}");
    }

    #[test]
    fn every_stage_of_every_workflow_is_listed_once() {
        for workflow in Workflow::ALL {
            let page = page(workflow);
            for key in workflow.stage_keys() {
                let lines =
                    page.lines().map(|line| line.trim_start_matches(|c: char| " -.0123456789".contains(c)));
                let found = lines.filter(|line| line.starts_with(&format!("{key} "))).count();
                assert_eq!(found, 1, "{} {key}", workflow.name());
            }
        }
    }

    #[test]
    fn a_failure_is_repaired_only_where_somebody_builds() {
        assert!(page(Workflow::Standard).contains("`ot:debugger`, then `ot:developer`"));
        assert!(page(Workflow::ReviewOnly).contains("You NEVER repair on your own here"));
        assert!(page(Workflow::Diagnose).contains("delegate the same agent again"));
        assert!(page(Workflow::Quick).contains("`ISSUES`"));
        assert!(!page(Workflow::Tdd).contains("`ISSUES`"));
    }

    #[test]
    fn the_guide_and_the_common_rules_together_are_what_the_page_says() {
        for workflow in Workflow::ALL {
            let (page, guide) = (page(workflow), guide(workflow));
            for line in guide.lines().chain(common_rules().lines()) {
                assert!(page.contains(line), "{}: {line}", workflow.name());
            }
            let repeated = |line: &&str| !line.is_empty() && guide.contains(*line);
            assert_eq!(common_rules().lines().find(repeated), None, "{}", workflow.name());
        }
    }

    #[test]
    fn a_feature_is_named_where_documents_are_kept() {
        assert!(page(Workflow::Debug).contains("`overtone init debug --brief --feature <kebab-name>`"));
        assert!(page(Workflow::Single).contains("`overtone init single --brief` with"));
        assert!(table().contains("| `debug` ★ | DEBUG → DEV → TEST |"));
    }
}
