//! Each way to break a plugin folder is found, at its place and only there.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use overtone_claude::plugin::{Problem, validate, write_to};

/// Breaks one file of a fresh plugin folder and returns what is found wrong.
fn broken(path: &str, breakage: impl FnOnce(String) -> String) -> Vec<Problem> {
    let dir = tempfile::tempdir().unwrap();
    write_to(dir.path()).unwrap();
    let contents = fs::read_to_string(dir.path().join(path)).unwrap();
    let changed = breakage(contents.clone());
    assert_ne!(changed, contents, "{path} was not broken");
    put(&dir.path().join(path), &changed);
    let problems = validate(dir.path());
    assert!(problems.iter().all(|problem| problem.path == path), "{problems:#?}");
    assert!(problems.iter().all(|problem| !problem.hint.is_empty()));
    problems
}

fn replaced(path: &str, old: &str, new: &str) -> Vec<String> {
    let problems = broken(path, |text| text.replacen(old, new, 1));
    problems.into_iter().map(|problem| problem.what).collect()
}

fn put(path: &Path, contents: &str) {
    File::create(path).unwrap().write_all(contents.as_bytes()).unwrap();
}

#[test]
fn a_fresh_folder_has_no_problems_and_an_empty_one_names_every_file() {
    let dir = tempfile::tempdir().unwrap();
    let missing = validate(dir.path());
    assert_eq!(missing.len(), 17 + 27 + 3);
    assert!(missing.iter().all(|problem| problem.what == "is missing"));
    write_to(dir.path()).unwrap();
    assert_eq!(validate(dir.path()), []);
}

#[test]
fn an_agent_with_other_rights_is_found() {
    assert_eq!(
        replaced("agents/code-reviewer.md", "[Write, Edit, Task, NotebookEdit]", "[Task]"),
        ["disallowedTools is [Task], expected [Write, Edit, Task, NotebookEdit]"]
    );
    assert_eq!(
        replaced("agents/developer.md", "color: yellow", "color: yellow\ntools: [Read]"),
        ["tools is [Read], expected no such field"]
    );
    assert_eq!(
        replaced("agents/debugger.md", "color: orange", "color: orange\nmemory: project"),
        ["memory is project, expected no such field"]
    );
    assert_eq!(
        replaced("agents/tester.md", "skills: [ref-bdd-guide, ref-failure-handling]\n", ""),
        ["skills is missing, expected [ref-bdd-guide, ref-failure-handling]"]
    );
    assert_eq!(
        replaced("agents/planner.md", "model: opus", "model: haiku"),
        ["model is haiku, expected opus"]
    );
    assert_eq!(
        replaced("agents/qa.md", "color: yellow", "color: green"),
        ["color is green, expected yellow"]
    );
}

#[test]
fn a_different_spelling_of_the_same_is_accepted() {
    let path = "agents/grader.md";
    assert!(replaced(path, "[Read, Bash]", "Bash, Read").is_empty());
    assert!(replaced(path, "[Read, Bash]", "\n  - Read\n  - 'Bash'").is_empty());
    assert!(broken(path, |text| text.replace('\n', "\r\n")).is_empty());
}

#[test]
fn a_file_without_front_matter_or_body_is_found() {
    let only = |problems: Vec<Problem>| problems.into_iter().map(|problem| problem.what).collect::<Vec<_>>();
    assert_eq!(
        only(broken("agents/qa.md", |_| "hello\n".to_owned())),
        ["has no front matter between two --- lines"]
    );
    assert_eq!(
        only(broken("skills/stop/SKILL.md", |_| "---\nname: stop\n---\n\n".to_owned())),
        ["has no body"]
    );
}

#[test]
fn a_skill_that_is_open_to_the_wrong_caller_is_found() {
    assert_eq!(
        replaced("skills/ref-bdd-guide/SKILL.md", "user-invocable: false\n", ""),
        ["user-invocable is missing, expected false"]
    );
    assert_eq!(
        replaced("skills/auto/SKILL.md", "name: auto\n", "name: auto\ndisable-model-invocation: true\n"),
        ["disable-model-invocation is true, expected no such field"]
    );
    assert_eq!(
        replaced("skills/quick/SKILL.md", "Bash(overtone status)", "Bash(overtone *)"),
        ["allowed-tools is Bash(overtone *), expected Bash(overtone status)"]
    );
    assert_eq!(replaced("skills/status/SKILL.md", "description: ", "summary: "), ["description is missing"]);
}

#[test]
fn a_reference_body_that_grew_is_found() {
    let problems = broken("skills/ref-wording-guide/SKILL.md", |text| text + &"字".repeat(1200));
    assert_eq!(problems.len(), 1);
    assert!(problems[0].what.contains("at most 1200"), "{}", problems[0].what);
}

#[test]
fn a_hooks_file_in_another_form_is_found() {
    let path = "hooks/hooks.json";
    let only = |contents: &str| {
        let problems = broken(path, |_| contents.to_owned());
        assert_eq!(problems.len(), 1, "{problems:#?}");
        problems[0].what.clone()
    };
    assert!(only("{broken").starts_with("is not valid JSON"));
    assert!(only("[]").contains("flat array"));
    assert!(only(r#"{"hooks":[{"event":"Stop","type":"command"}]}"#).contains("flat array"));
    assert_eq!(only("{}"), "has no object \"hooks\"");
    assert_eq!(only("3"), "has no object \"hooks\"");
}

#[test]
fn a_wrong_type_in_the_hooks_file_is_found() {
    let path = "hooks/hooks.json";
    assert_eq!(
        replaced(path, "\"timeout\": 10", "\"timeout\": \"10\""),
        ["SessionStart[0].hooks[0].timeout is \"10\", expected a number of seconds"]
    );
    assert_eq!(
        replaced(path, "\"type\": \"command\"", "\"type\": \"shell\""),
        ["SessionStart[0].hooks[0].type is not \"command\""]
    );
    assert_eq!(
        replaced(path, "\"matcher\": \"Skill\"", "\"matcher\": 3"),
        ["PreToolUse[1].matcher is not a string", "no binding of PreToolUse to allow-own with matcher Skill"]
    );
}

#[test]
fn a_missing_or_foreign_binding_is_found() {
    let path = "hooks/hooks.json";
    assert_eq!(replaced(path, "\"on-stop\"", "\"on-halt\""), ["no binding of Stop to on-stop"]);
    assert_eq!(
        replaced(path, "\"SubagentStart\"", "\"SubagentBegin\""),
        ["unknown event SubagentBegin", "no binding of SubagentStart to on-agent-start"]
    );
    assert_eq!(
        replaced(path, "\"if\": \"Bash(overtone *)\"", "\"if\": \"Bash(*)\""),
        ["no binding of PreToolUse to allow-own with matcher Bash"]
    );
    assert_eq!(replaced(path, "bin/overtone-hook", "bin/other"), ["no binding of SessionStart to on-start"]);
}

#[test]
fn a_foreign_manifest_is_found() {
    let path = ".claude-plugin/plugin.json";
    assert_eq!(replaced(path, "\"ot\"", "\"overtone\""), ["name is \"overtone\", expected \"ot\""]);
    assert_eq!(replaced(path, "{", "{\"hooks\": \"./hooks/hooks.json\","), ["has a key \"hooks\""]);
    assert_eq!(
        replaced(".claude-plugin/marketplace.json", "\"./\"", "\"../\""),
        ["lists no plugin \"ot\" with source \"./\""]
    );
}
