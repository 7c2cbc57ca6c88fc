//! What sub-agents are given, and what is kept of their work.

use overtone_core::registry::{Agent, RefSkill};
use overtone_testkit::{Actor, Client, Run, Sandbox, text, tool};
use serde_json::json;

use crate::delegate;
use crate::steps::{REVIEW_AND_TEST, begin, verdict};

#[test]
fn a_delegation_begins_with_the_workflow_context() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = begin(&sandbox, "single", &[]);
        let run = sandbox
            .script(|s| {
                s.main([delegate("ot:developer", "fix the door"), text("done")])
                    .sub("developer", [verdict("fixed it", "PASS")])
            })
            .session(&session)
            .run("build it");
        let texts = run.requests(Actor::Sub("developer")).first().user_texts();
        let prompt = texts.iter().find(|text| text.starts_with("[Overtone Workflow Context]"));
        assert!(prompt.is_some_and(|text| text.ends_with("\n\n---\n\nfix the door")), "{texts:?}");
        assert!(run.requests(Actor::Main).new_text().contains("fixed it"));
        assert_eq!(sandbox.workflow(&session)["stages"]["DEV"]["result"], "pass");
    }
}

#[test]
fn every_other_field_of_the_call_survives() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = begin(&sandbox, "single", &[]);
        let call = json!({
            "subagent_type": "ot:developer", "description": "hang the door", "prompt": "p", "model": "haiku",
        });
        let turns = [tool("Agent", call), text("done")];
        let run = sandbox.script(|s| s.main(turns)).session(&session).run("build it");
        let answers = run.hook_answers("PreToolUse");
        let input = &answers.first().unwrap()["hookSpecificOutput"]["updatedInput"];
        assert_eq!((&input["description"], &input["model"]), (&json!("hang the door"), &json!("haiku")));
        let model = run.requests(Actor::Sub("developer")).first().body()["model"].to_string();
        assert!(model.contains("haiku"), "{model}");
        let shown = run.events.iter().any(|event| event["description"] == "hang the door");
        assert!(shown, "the user sees what the job is");
    }
}

#[test]
fn a_skipped_stage_is_denied_with_the_reason() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = begin(&sandbox, "quick", &[]);
        let turns = [delegate("ot:tester", "test it"), text("done")];
        let run = sandbox.script(|s| s.main(turns)).session(&session).run("build it");
        let received = run.requests(Actor::Main).nth(1).new_text();
        let reason = "⛔ 不可跳過必要階段：DEV 尚未完成。下一步請委派 DEVELOPER（ot:developer）。";
        assert!(received.contains(reason), "{received}");
        assert!(run.requests(Actor::Sub("tester")).is_empty());
        assert_eq!(sandbox.event_count(&session, "agent:delegate"), 0);
        assert_eq!(sandbox.workflow(&session)["stages"]["TEST"]["status"], "pending");
    }
}

/// Ways to write an agent's name, and some that look like one.
const SPELLINGS: [&str; 30] = [
    "ot:code-reviewer",
    "OT:CODE-REVIEWER",
    "Ot:Code-Reviewer",
    " ot:code-reviewer ",
    "ot:code-reviewer\n",
    "ot: code-reviewer",
    "ot :code reviewer",
    "ot:code_reviewer",
    "ot:codereviewer",
    "ot:code--reviewer",
    "o-t:code-reviewer",
    "ot：code-reviewer",
    "ｏｔ：ｃｏｄｅ－ｒｅｖｉｅｗｅｒ",
    "ot:code\u{a0}reviewer",
    "ot:code\u{85}reviewer",
    "ot:code\u{2011}reviewer",
    "ot:code\u{2014}reviewer",
    "ot:code\u{10d6e}reviewer",
    "ot:code\u{2212}reviewer",
    "ot:code\u{ad}reviewer",
    "ot:code\u{200b}reviewer",
    "ot:code-reviewer\u{feff}",
    "ot:code-reviewer\0",
    "\0ot:code-reviewer",
    "ot:code.reviewer",
    "ot::code-reviewer",
    "ot:ot:code-reviewer",
    "ot/code-reviewer",
    "code-reviewer",
    "ot:ﬁle-reviewer",
];

/// Which of the spellings the client takes for the agent in this session.
fn taken(sandbox: &Sandbox, session: &str) -> Vec<&'static str> {
    let call = |(number, name): (usize, &&str)| {
        let input = json!({
            "subagent_type": name, "description": "the job", "prompt": format!("job {number}."),
            "run_in_background": false,
        });
        tool("Agent", input)
    };
    let turns = SPELLINGS.iter().enumerate().map(call).chain([text("done")]);
    let run = sandbox.script(|s| s.main(turns)).session(session).run("go");
    let jobs = run.requests(Actor::Sub("code-reviewer")).new_text();
    let started = SPELLINGS.into_iter().enumerate().filter(|(n, _)| jobs.contains(&format!("job {n}.")));
    started.map(|(_, name)| name).collect()
}

#[test]
fn an_agent_is_recognised_by_every_name_that_the_client_accepts() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let known: Vec<_> = SPELLINGS
            .into_iter()
            .filter(|name| Agent::from_wire(name) == Some(Agent::CodeReviewer))
            .collect();
        assert_eq!(taken(&sandbox, &sandbox.new_session()), known, "without a workflow");
        let session = begin(&sandbox, "quick", &[]);
        assert_eq!(taken(&sandbox, &session), [""; 0], "DEV comes first");
        assert_eq!(sandbox.event_count(&session, "agent:delegate"), 0);
    }
}

/// Asks every agent of the plugin once.
fn whole_team(client: &Client) -> Run {
    let call = |agent: Agent| {
        let name = format!("ot:{}", agent.name());
        let input = json!({
            "subagent_type": name, "description": "the job", "prompt": "the job", "run_in_background": false,
        });
        tool("Agent", input)
    };
    let turns = Agent::ALL.into_iter().map(call).chain([text("done")]);
    Sandbox::new(client).script(|s| s.main(turns)).run("go")
}

/// Which of the tools that change something an agent must not have.
fn withheld(agent: Agent) -> &'static [&'static str] {
    match agent.name() {
        "code-reviewer" | "debugger" | "security-reviewer" | "database-reviewer" | "retrospective"
        | "grader" => &["Write", "Edit", "NotebookEdit", "Agent", "Task"],
        "qa" => &["Edit", "NotebookEdit", "Agent", "Task"],
        "architect" | "planner" | "product-manager" | "designer" => &["NotebookEdit", "Agent", "Task"],
        _ => &[],
    }
}

#[test]
fn every_agent_has_its_tools_and_no_others() {
    for client in Client::all() {
        let run = whole_team(&client);
        let all = run.requests(Actor::Sub("developer")).first().tools();
        for agent in Agent::ALL {
            let tools = run.requests(Actor::Sub(agent.name())).first().tools();
            let expected = |tool: &&str| match agent {
                Agent::Grader => ["Read", "Bash"].contains(tool),
                _ => !withheld(agent).contains(tool),
            };
            let (mut tools, mut expected): (Vec<_>, Vec<_>) =
                (tools, all.iter().copied().filter(expected).collect());
            tools.sort_unstable();
            expected.sort_unstable();
            assert_eq!(tools, expected, "{agent:?}");
        }
        for tool in ["Read", "Bash", "Write", "Edit"] {
            assert!(all.contains(&tool), "{all:?}");
        }
    }
}

#[test]
fn a_read_only_agent_cannot_write() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = begin(&sandbox, "review-only", &[]);
        let write = tool("Write", json!({"file_path": "note.txt", "content": "x"}));
        let run = sandbox
            .script(|s| {
                s.main([delegate("ot:code-reviewer", "judge it"), text("done")])
                    .sub("code-reviewer", [write, verdict("good as it is", "PASS")])
            })
            .session(&session)
            .permission_mode("acceptEdits")
            .run("review it");
        assert_eq!(run.requests(Actor::Sub("code-reviewer")).len(), 2);
        assert!(!sandbox.project().join("note.txt").exists());
        assert_eq!(sandbox.workflow(&session)["stages"]["REVIEW"]["status"], "completed");
    }
}

#[test]
fn agents_receive_their_reference_skills() {
    for client in Client::all() {
        let run = whole_team(&client);
        for agent in Agent::ALL {
            let received = run.requests(Actor::Sub(agent.name())).first().text();
            for skill in RefSkill::ALL {
                let expected = usize::from(agent.skills().contains(&skill));
                assert_eq!(
                    received.matches(skill.body().trim_end()).count(),
                    expected,
                    "{agent:?} {skill:?}"
                );
            }
        }
        for name in ["tester", "developer", "code-reviewer", "qa", "doc-updater"] {
            assert!(!Agent::from_name(name).unwrap().skills().is_empty(), "{name}");
        }
    }
}

#[test]
fn an_agent_named_in_the_description_works_on_its_stage() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = begin(&sandbox, "single", &[]);
        let call =
            json!({"subagent_type": "general-purpose", "description": "developer: the door", "prompt": "p"});
        let run = sandbox
            .script(|s| {
                s.main([tool("Agent", call), text("done")])
                    .actor(Actor::ForeignSub, [verdict("fixed it", "PASS")])
            })
            .session(&session)
            .run("build it");
        assert_eq!(sandbox.workflow(&session)["stages"]["DEV"]["result"], "pass");
        assert_eq!(sandbox.event_count(&session, "agent:error"), 0);
        assert_eq!((run.requests(Actor::Main).len(), run.result_text()), (2, "done"));
    }
}

#[test]
fn only_the_main_agent_delegates_stages() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = begin(&sandbox, "quick", &[]);
        let run = sandbox
            .script(|s| {
                s.main([delegate("ot:developer", "build it"), text("done")])
                    .sub("developer", [delegate("ot:tester", "test it for me"), verdict("built", "PASS")])
                    .sub("tester", [verdict("12 passed", "PASS")])
            })
            .session(&session)
            .run("build it");
        assert_eq!(sandbox.workflow(&session)["stages"]["DEV"]["result"], "pass");
        assert_eq!(sandbox.workflow(&session)["stages"]["TEST"]["status"], "pending");
        assert!(run.requests(Actor::Main).nth(1).new_text().contains(REVIEW_AND_TEST));
    }
}
