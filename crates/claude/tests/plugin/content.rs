//! What every text of the plugin has to keep to, whoever writes the next one.

use std::collections::HashSet;

use overtone_claude::plugin::{RenderedFile, render};
use overtone_core::registry::{Agent, Workflow};

fn files(folder: &str) -> Vec<RenderedFile> {
    let found: Vec<_> = render().into_iter().filter(|file| file.path.starts_with(folder)).collect();
    assert!(!found.is_empty());
    found
}

fn file(path: &str) -> String {
    let found = render().into_iter().find(|file| file.path == path);
    found.unwrap_or_else(|| panic!("{path} is not rendered")).contents
}

#[test]
fn the_folder_is_complete() {
    assert_eq!(files("agents/").len(), 17);
    assert_eq!(files("skills/").len(), 3 + 1 + 18 + 5);
    assert_eq!(render().len(), 17 + 27 + 4);
    let paths: HashSet<_> = render().into_iter().map(|file| file.path).collect();
    assert_eq!(paths.len(), render().len(), "two files with one path");
}

#[test]
fn no_placeholder_is_left_and_every_file_ends_in_one_line_break() {
    for file in render() {
        for placeholder in [
            "{agent}",
            "{findings}",
            "{verdict}",
            "{name}",
            "{emphasis}",
            "{init}",
            "{feature}",
            "{stages}",
            "{rules}",
            "{done}",
            "{table}",
            "{failures}",
            "{rejections}",
            "{retros}",
        ] {
            assert!(!file.contents.contains(placeholder), "{} in {}", placeholder, file.path);
        }
        assert!(file.contents.ends_with('\n') && !file.contents.ends_with("\n\n"), "{}", file.path);
        assert!(!file.contents.contains("\n\n\n"), "{}", file.path);
    }
}

#[test]
fn agents_are_short_and_share_the_contract() {
    for agent in Agent::ALL {
        let text = file(&format!("agents/{}.md", agent.name()));
        let body = text.splitn(3, "---\n").nth(2).unwrap();
        let lines = body.lines().filter(|line| !line.trim().is_empty()).count();
        assert!((25..=50).contains(&lines), "{} has {lines} lines", agent.name());
        for part in [
            format!("## HANDOFF: {} → ", agent.name()),
            "### Context\n".to_owned(),
            "### Findings\n".to_owned(),
            "### Files\n".to_owned(),
            "### Open questions\n".to_owned(),
            "[Overtone Workflow Context]".to_owned(),
            "in the user's language".to_owned(),
            "## When to stop".to_owned(),
        ] {
            assert!(body.contains(&part), "{} lacks {part:?}", agent.name());
        }
        let last = body.lines().last().unwrap();
        assert!(last.contains("<!-- VERDICT: {\"result\":\"PASS\"} -->"), "{last}");
    }
}

#[test]
fn each_kind_of_agent_has_its_own_results() {
    let last = |name: &str| file(&format!("agents/{name}.md")).lines().last().unwrap().to_owned();
    assert!(last("developer").contains("{\"result\":\"FAIL\"}"));
    assert!(last("code-reviewer").contains("{\"result\":\"REJECT\"}"));
    assert!(last("qa").contains("{\"result\":\"FAIL\"}"));
    assert!(last("retrospective").contains("{\"result\":\"ISSUES\"}"));
    assert!(last("grader").contains("<!-- GRADE: {\"score\":85} -->"));
}

#[test]
fn front_matter_is_as_the_specification_writes_it() {
    let has = |path: &str, line: &str| assert!(file(path).contains(&format!("\n{line}\n")), "{path}: {line}");
    has("agents/code-reviewer.md", "disallowedTools: [Write, Edit, Task, NotebookEdit]");
    has("agents/code-reviewer.md", "skills: [ref-failure-handling, ref-wording-guide]");
    has("agents/qa.md", "disallowedTools: [Edit, Task, NotebookEdit]");
    has("agents/grader.md", "tools: [Read, Bash]");
    has("agents/planner.md", "model: opus");
    has("skills/ref-bdd-guide/SKILL.md", "disable-model-invocation: true");
    has("skills/ref-bdd-guide/SKILL.md", "user-invocable: false");
    has("skills/auto/SKILL.md", "allowed-tools: Bash(overtone status)");
    for agent in
        ["developer", "tester", "e2e-runner", "build-error-resolver", "refactor-cleaner", "doc-updater"]
    {
        let text = file(&format!("agents/{agent}.md"));
        assert!(!text.contains("\ntools:") && !text.contains("\ndisallowedTools:"), "{agent}");
    }
    for agent in ["architect", "planner", "security-reviewer", "debugger"] {
        assert!(!file(&format!("agents/{agent}.md")).contains("\nskills:"), "{agent}");
    }
}

/// The client runs each of these lines while it expands the skill, and lets the model run them for the rest of the
/// turn: they change nothing, and nothing else is granted.
#[test]
fn a_skill_grants_exactly_the_lines_that_it_contains() {
    const HARMLESS: [&str; 3] = ["overtone status", "overtone specs list", "overtone dashboard"];
    for file in files("skills/") {
        let (head, body) = file.contents.split_once("\n---\n").unwrap();
        let lines: Vec<_> = body.lines().filter(|line| line.contains("!`")).collect();
        let mut granted = Vec::new();
        for line in lines {
            let command = line.strip_prefix("!`").and_then(|rest| rest.strip_suffix('`')).unwrap_or_default();
            assert!(HARMLESS.contains(&command), "{}: {line}", file.path);
            granted.push(format!("Bash({command})"));
        }
        let declared = head.lines().find_map(|line| line.strip_prefix("allowed-tools: ")).unwrap_or_default();
        assert_eq!(declared, granted.join(", "), "{}", file.path);
    }
}

#[test]
fn auto_lists_every_workflow_and_the_grant_is_there() {
    let auto = file("skills/auto/SKILL.md");
    for workflow in Workflow::ALL {
        assert!(auto.contains(&format!("| `{}`", workflow.name())), "{}", workflow.name());
        let page = file(&format!("skills/{}/SKILL.md", workflow.name()));
        assert!(page.contains("\nallowed-tools: Bash(overtone status)\n"));
        assert!(page.contains("\n!`overtone status`\n"));
        assert!(page.contains("$ARGUMENTS"));
    }
}

/// Marker and verb agree, as the wording guide asks; fences and tables are examples.
#[test]
fn markers_agree_with_their_verbs() {
    for file in files("agents/").into_iter().chain(files("skills/")) {
        let mut fenced = false;
        for line in file.contents.lines() {
            fenced ^= line.starts_with("```");
            if !fenced && !line.starts_with('|') && !file.path.contains("ref-wording-guide") {
                assert_eq!(wording_fault(line), None, "{}: {line}", file.path);
            }
        }
    }
}

fn wording_fault(line: &str) -> Option<&'static str> {
    let words: Vec<_> = line.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase).collect();
    let any = |choices: &[&str]| words.iter().any(|word| choices.contains(&word.as_str()));
    let (binding, free) = (any(&["must", "never"]), any(&["should", "may", "could"]));
    if line.contains('⛔') && (!binding || free) {
        Some("⛔ goes with MUST or NEVER")
    } else if line.contains("📋") && (!any(&["must"]) || free) {
        Some("📋 goes with MUST")
    } else if line.contains("💡") && (binding || !free) {
        Some("💡 goes with should or may")
    } else {
        None
    }
}
