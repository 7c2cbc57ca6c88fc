//! Document 3, feature 1b: reference skills that some agents always have.
//!
//! The client does not preload a skill that the model may not invoke. Settled: the front matter is as specified,
//! and the hook on `SubagentStart` delivers the bodies; so both are tested.

use overtone_core::registry::{Agent, RefSkill};
use serde_json::json;

use crate::plugin_files::{Document, path};
use crate::support::{Answer, Session, units};

const WITH_SKILLS: [&str; 5] = ["tester", "developer", "code-reviewer", "qa", "doc-updater"];

/// The context that a sub-agent gets when it starts.
fn start_context(agent: &str) -> String {
    let fields = json!({ "agent_id": "agent-1", "agent_type": format!("ot:{agent}") });
    let output = Session::new().workflow("standard").hook("on-agent-start", fields);
    let context = output.model_context();
    if !context.is_empty() {
        assert_eq!(output.answer()["hookSpecificOutput"]["hookEventName"], "SubagentStart");
    }
    context
}

#[track_caller]
fn assert_not_triggerable(name: &str) {
    let skill = Document::skill(name);
    assert_eq!(skill.value("disable-model-invocation"), Some("true"));
    assert_eq!(skill.value("user-invocable"), Some("false"));
    assert_eq!(skill.value("name"), Some(name));
}

#[track_caller]
fn assert_preloads(agent: &str, skills: &[RefSkill]) {
    let document = Document::agent(agent);
    let names: Vec<_> = skills.iter().map(|skill| skill.name()).collect();
    assert_eq!(document.list("skills"), Some(names), "{agent}");
    let context_text = start_context(agent);
    for skill in RefSkill::ALL {
        let is_expected = skills.contains(&skill);
        assert_eq!(context_text.contains(skill.body().trim()), is_expected, "{agent} {}", skill.name());
    }
}

#[test]
fn s3_1b_1_bdd_guide_cannot_be_triggered() {
    assert_not_triggerable("ref-bdd-guide");
}

#[test]
fn s3_1b_2_bdd_guide_is_not_in_the_menu() {
    // The menu is the client's; what it goes by is the field, and a command of that name would put it there.
    assert_eq!(Document::skill("ref-bdd-guide").value("user-invocable"), Some("false"));
    assert!(!path("commands/ref-bdd-guide.md").exists());
}

#[test]
fn s3_1b_3_failure_handling_cannot_be_triggered() {
    assert_not_triggerable("ref-failure-handling");
}

#[test]
fn s3_1b_4_wording_guide_cannot_be_triggered() {
    assert_not_triggerable("ref-wording-guide");
}

#[test]
fn s3_1b_5_tester_has_bdd_guide_and_failure_handling() {
    assert_preloads("tester", &[RefSkill::BddGuide, RefSkill::FailureHandling]);
}

#[test]
fn s3_1b_6_developer_has_bdd_guide_and_failure_handling() {
    assert_preloads("developer", &[RefSkill::BddGuide, RefSkill::FailureHandling]);
}

#[test]
fn s3_1b_7_code_reviewer_has_failure_handling_and_wording_guide() {
    assert_preloads("code-reviewer", &[RefSkill::FailureHandling, RefSkill::WordingGuide]);
}

#[test]
fn s3_1b_8_qa_and_doc_updater_have_one_each() {
    assert_preloads("qa", &[RefSkill::BddGuide]);
    assert_preloads("doc-updater", &[RefSkill::WordingGuide]);
}

#[test]
fn s3_1b_9_reference_skills_are_short() {
    for skill in RefSkill::ALL {
        let body = Document::skill(skill.name()).body;
        let length = units(body.trim());
        assert!((1..=1200).contains(&length), "{} has {length} characters", skill.name());
        assert_eq!(body.trim(), skill.body().trim(), "the plugin and the hook disagree");
    }
}

#[test]
fn s3_1b_10_other_agents_have_no_skills() {
    let others: Vec<_> =
        Agent::ALL.iter().map(|a| a.name()).filter(|name| !WITH_SKILLS.contains(name)).collect();
    assert_eq!(others.len(), 12);
    for agent in others {
        assert_eq!(Document::agent(agent).list("skills"), None, "{agent}");
        let context_text = start_context(agent);
        assert!(RefSkill::ALL.iter().all(|skill| !context_text.contains(skill.body().trim())), "{agent}");
    }
}
