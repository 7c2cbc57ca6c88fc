//! Stages that are completed by a rule instead of an agent.

use crate::world::{World, stage, verdict};
use overtone_core::engine::{Effect, FieldValue, Folders, Record, ToolCaller, Trigger};
use overtone_core::evidence::WorkflowChange;
use overtone_core::messages::Lang;
use overtone_core::registry::{DocsRule, EventKind, RetroRule, StageRules, Workflow};

const DOCUMENTED: &str = r#"done <!-- VERDICT: {"result":"PASS","visible":true,"documented":true} -->"#;
const INVISIBLE: &str = r#"done <!-- VERDICT: {"result":"PASS","visible":false} -->"#;

/// A `quick` workflow with both rules, in which these files have changed.
fn lean(files: &[&str]) -> World {
    let mut world = World::new(Workflow::Quick);
    world.facts.lang = Lang::En;
    world.workflow_mut().rules = StageRules { retro: RetroRule::OnTrouble, docs: DocsRule::OnChange };
    change(&mut world, files);
    world
}

fn change(world: &mut World, files: &[&str]) {
    let files = files.iter().map(|file| (*file).to_owned()).collect();
    world.facts.workflow_change = Some(WorkflowChange { base: "abc".into(), files });
}

/// What was recorded about stages that were completed by a rule: stage and reason.
fn skipped(world: &World) -> Vec<(String, String)> {
    let text = |record: &Record, name: &str| match record.fields.iter().find(|(field, _)| *field == name) {
        Some((_, FieldValue::Text(text))) => text.clone(),
        _ => String::new(),
    };
    let records = world.records.iter().map(|(_, record)| record);
    let by_rule =
        records.filter(|record| record.kind == EventKind::StageComplete && text(record, "by") == "rule");
    by_rule.map(|record| (text(record, "stage"), text(record, "reason"))).collect()
}

#[test]
fn without_trouble_and_visible_change_the_last_stages_need_no_agent() {
    let mut world = lean(&["src/lock.rs"]).with_feature(&[]);
    world.workflow_mut().rules.docs = DocsRule::OnChange;
    world.run("developer", INVISIBLE);
    world.pass(&["code-reviewer"]);
    let told = world.run("tester", &verdict("PASS")).unwrap();
    for words in [
        "⏩ 🔁 Retrospective skipped by rule: nothing failed",
        "⏩ 📝 Docs skipped by rule: no document",
        "Every stage is complete",
    ] {
        assert!(told.contains(words), "{words} in {told}");
    }
    assert_eq!((world.result("RETRO"), world.result("DOCS")), (Some("skipped"), Some("skipped")));
    let expected = [("RETRO", "no-trouble"), ("DOCS", "nothing-visible")];
    assert_eq!(skipped(&world), expected.map(|(stage, reason)| (stage.to_owned(), reason.to_owned())));
    let summary = world.stop().system_message.unwrap();
    assert!(summary.contains("⏩🔁Retrospective → ⏩📝Docs"), "{summary}");
    assert!(!world.workflow().is_open());
    assert!(world.effects.iter().any(|effect| matches!(effect, Effect::ArchiveFeature { .. })));
}

#[test]
fn the_boxes_of_skipped_stages_are_ticked() {
    let mut world = lean(&["src/lock.rs"]).with_feature(&[]);
    world.run("developer", INVISIBLE);
    world.pass(&["code-reviewer"]);
    world.delegate("tester").unwrap();
    world.report("tester", &verdict("PASS"));
    let ticked = world.effects.iter().filter_map(|effect| match effect {
        Effect::TickStage { key, .. } => Some(key.to_string()),
        _ => None,
    });
    assert_eq!(ticked.collect::<Vec<_>>(), ["TEST", "RETRO", "DOCS"]);
}

#[test]
fn every_kind_of_trouble_needs_a_retrospective() {
    for (agent, word) in [("tester", "FAIL"), ("code-reviewer", "REJECT"), ("tester", "BLOCKED")] {
        let mut world = lean(&["src/lock.rs"]);
        world.run("developer", INVISIBLE);
        let other = if agent == "tester" { "code-reviewer" } else { "tester" };
        world.pass(&[other]);
        world.run(agent, &verdict(word));
        world.workflow_mut().user_wrote = true;
        if word == "BLOCKED" {
            world.pass(&["tester"]);
        } else {
            world.run("developer", INVISIBLE);
            world.pass(&["code-reviewer", "tester"]);
        }
        assert_eq!(world.result("RETRO"), None, "{word}");
        world.delegate("retrospective").unwrap();
    }
}

#[test]
fn documentation_is_needed_unless_it_is_known_that_nobody_sees_a_change() {
    let visible = r#"<!-- VERDICT: {"result":"PASS","visible":true} -->"#;
    let unsaid = verdict("PASS");
    for (report, files) in [
        (visible, Some(vec!["src/lock.rs"])),
        (unsaid.as_str(), Some(vec!["src/lock.rs"])),
        (INVISIBLE, Some(vec!["src/lock.rs", "docs/lock.md"])),
        (INVISIBLE, None),
    ] {
        let mut world = lean(&files.clone().unwrap_or_default());
        if files.is_none() {
            world.facts.workflow_change = None;
        }
        world.run("developer", report);
        world.pass(&["code-reviewer", "tester"]);
        assert_eq!(
            (world.result("RETRO"), world.result("DOCS")),
            (Some("skipped"), None),
            "{report} {files:?}"
        );
        world.delegate("doc-updater").unwrap();
    }
}

#[test]
fn one_visible_change_is_enough() {
    let mut world = lean(&["src/lock.rs"]);
    world.run("developer", r#"<!-- VERDICT: {"result":"PASS","visible":true} -->"#);
    world.pass(&["tester"]);
    world.run("code-reviewer", &verdict("REJECT"));
    world.run("developer", INVISIBLE);
    world.pass(&["code-reviewer", "tester", "retrospective"]);
    assert_eq!(world.result("DOCS"), None);
}

#[test]
fn by_default_every_stage_has_its_agent() {
    let mut world = World::new(Workflow::Quick);
    change(&mut world, &[]);
    world.run("developer", INVISIBLE);
    world.pass(&["code-reviewer", "tester"]);
    assert_eq!(world.result("RETRO"), None);
    assert_eq!(world.workflow().visible_change, None);
    assert!(!world.context_of("retrospective").contains("visible"));
}

#[test]
fn a_skipped_stage_is_judged_again_after_more_development() {
    let mut world = lean(&["src/lock.rs"]);
    world.run("developer", INVISIBLE);
    world.pass(&["code-reviewer", "tester"]);
    assert_eq!(world.result("DOCS"), Some("skipped"));
    world.prompt("one more thing");
    world.run("developer", &verdict("PASS"));
    assert_eq!(world.result("RETRO"), None);
    world.pass(&["code-reviewer", "tester"]);
    assert_eq!((world.result("RETRO"), world.result("DOCS")), (Some("skipped"), None));
}

#[test]
fn the_end_of_a_turn_completes_what_no_report_did() {
    let mut world = lean(&["src/lock.rs"]);
    world.facts.workflow_change = None;
    world.run("developer", INVISIBLE);
    world.pass(&["code-reviewer", "tester"]);
    assert_eq!(world.result("DOCS"), None);
    change(&mut world, &["src/lock.rs"]);
    let reply = world.stop();
    assert_eq!((world.result("DOCS"), reply.model_context), (Some("skipped"), None));
    assert!(reply.system_message.unwrap().contains("complete"));
}

#[test]
fn a_developer_is_asked_whether_users_see_a_difference() {
    let mut world = lean(&[]);
    let prompt = world.context_of("developer");
    assert!(prompt.contains("\"visible\":false") && prompt.contains("\"documented\":true"), "{prompt}");
    let mut by_default = World::new(Workflow::Quick);
    assert!(!by_default.context_of("developer").contains("visible"));
    assert_eq!(by_default.workflow().stage(stage("DOCS")).unwrap().result, None);
}

#[test]
fn a_visible_change_that_its_developer_has_documented_needs_no_further_documentation() {
    let mut world = lean(&["src/lock.rs", "README.md"]);
    world.run("developer", DOCUMENTED);
    world.pass(&["code-reviewer"]);
    let told = world.run("tester", &verdict("PASS")).unwrap();
    assert!(told.contains("⏩ 📝 Docs skipped by rule: the developer has documented"), "{told}");
    assert_eq!(skipped(&world)[1], ("DOCS".to_owned(), "documented".to_owned()));
    assert!(world.stop().system_message.unwrap().contains("⏩📝Docs"));
}

/// A claim does not count without a document that has changed, and every visible change has to be documented.
#[test]
fn documentation_is_needed_unless_all_visible_changes_are_known_to_be_documented() {
    let visible = r#"<!-- VERDICT: {"result":"PASS","visible":true} -->"#;
    let unsaid = r#"<!-- VERDICT: {"result":"PASS","documented":true} -->"#;
    let changed: &[&str] = &["src/lock.rs", "README.md"];
    for (first, second, files, is_skipped) in [
        (DOCUMENTED, DOCUMENTED, changed, true),
        (DOCUMENTED, INVISIBLE, changed, true),
        (INVISIBLE, DOCUMENTED, changed, true),
        (unsaid, INVISIBLE, changed, true),
        (DOCUMENTED, DOCUMENTED, &["src/lock.rs"], false),
        (DOCUMENTED, visible, changed, false),
        (visible, DOCUMENTED, changed, false),
        (INVISIBLE, INVISIBLE, changed, false),
    ] {
        let mut world = lean(files);
        world.run("developer", first);
        world.pass(&["tester"]);
        world.run("code-reviewer", &verdict("REJECT"));
        world.run("developer", second);
        world.pass(&["code-reviewer", "tester", "retrospective"]);
        assert_eq!(world.result("DOCS"), is_skipped.then_some("skipped"), "{first} {second} {files:?}");
    }
}

/// Nobody has said what users see of it.
#[test]
fn a_change_outside_of_a_stage_is_not_documented() {
    let mut world = lean(&["src/lock.rs", "README.md"]);
    world.run("developer", DOCUMENTED);
    world.facts.folders = Folders { project: "/p".into(), current: "/p".into(), ..Folders::default() };
    world.fire(&Trigger::FileWritten { path: "/p/src/lock.rs", text: "", caller: ToolCaller::Main });
    world.pass(&["code-reviewer", "tester"]);
    let state = world.workflow();
    assert_eq!((state.visible_change, state.documented_change), (Some(true), Some(false)));
    assert_eq!(world.result("DOCS"), None);
}
