//! Work that is not done by the agent of a stage: noticed by default, denied at the strict level.

use overtone_core::engine::state::{Ending, Pause, Status};
use overtone_core::engine::{Folders, Permission, Reply, ToolCaller, Trigger};
use overtone_core::evidence::{Activity, Evidence, TreeChange};
use overtone_core::registry::{Agent, EventKind, GuardLevel, Violation, WarningReason, Workflow};

use crate::world::{World, verdict};

const OWN: &str = "/home/ann/.overtone";

fn world(level: GuardLevel) -> World {
    let mut world = World::new(Workflow::Quick);
    world.workflow_mut().guard = level;
    world.facts.folders = Folders {
        project: "/p".to_owned(),
        current: "/p".to_owned(),
        own: vec![OWN.to_owned()],
        user_home: "/home/ann".to_owned(),
    };
    world
}

/// An edit of a file, from the permission to the end of the call.
fn edit(world: &mut World, path: &str, text: &str, caller: ToolCaller) -> Reply {
    let asked = world.fire(&Trigger::ChangingFile { agent_type: "", caller, tool: "Edit", path, text });
    if asked.permission.is_some() || asked.model_context.is_some() {
        return asked;
    }
    world.fire(&Trigger::FileWritten { path, text: "", caller })
}

/// A shell command, from the permission to the end of the call.
fn bash(world: &mut World, command: &str, caller: ToolCaller) -> Reply {
    let asked = world.fire(&Trigger::StartingCommand { command, caller });
    if asked.permission.is_some() || asked.model_context.is_some() {
        return asked;
    }
    world.fire(&Trigger::BashRan { command, error: None, caller })
}

fn is_denied(reply: &Reply) -> bool {
    matches!(reply.permission, Some(Permission::Deny { .. }))
}

/// The violations in the timeline.
fn violations(world: &World) -> Vec<String> {
    let warnings = world.records.iter().filter(|(_, record)| record.kind == EventKind::SystemWarning);
    let field = |name: &str, record: &overtone_core::engine::Record| {
        record.fields.iter().find(|(field, _)| *field == name).map(|(_, value)| format!("{value:?}"))
    };
    warnings.filter_map(|(_, record)| field("violation", record)).collect()
}

const OTHERS: [ToolCaller; 3] =
    [ToolCaller::Main, ToolCaller::Other("general-purpose"), ToolCaller::Stage(Agent::CodeReviewer)];

#[test]
fn a_change_outside_a_stage_is_noticed_once_and_reaches_the_reviewer() {
    for caller in OTHERS {
        let mut world = world(GuardLevel::Notice);
        for command in ["sed -i s/a/b/ src/a.py", "echo x > src/a.py"] {
            let reply = bash(&mut world, command, caller);
            assert!(!is_denied(&reply), "{caller:?}");
        }
        assert_eq!(violations(&world).len(), 1, "{caller:?}");
        let told = world.model_texts.iter().filter(|text| text.contains("src/a.py")).count();
        assert_eq!(told, 1, "{caller:?}");
        world.pass(&["developer"]);
        assert!(world.context_of("code-reviewer").contains("src/a.py"), "{caller:?}");
    }
}

#[test]
fn a_change_outside_a_stage_is_denied_at_the_strict_level() {
    for caller in OTHERS {
        let mut world = world(GuardLevel::Strict);
        for command in ["sed -i s/a/b/ src/a.py", "cd src && rm a.py", "bash -c 'echo x > a.py'"] {
            assert!(is_denied(&bash(&mut world, command, caller)), "{caller:?}: {command}");
        }
    }
    for caller in [ToolCaller::Main, ToolCaller::Other("general-purpose")] {
        let mut world = world(GuardLevel::Strict);
        let reply = edit(&mut world, "/p/src/a.py", "", caller);
        assert!(is_denied(&reply), "{caller:?}");
        assert!(reply.model_context.unwrap().contains("DEVELOPER"), "the next step is named");
        assert_eq!(violations(&world).len(), 1, "{caller:?}");
    }
}

#[test]
fn looking_testing_and_specs_are_free_at_both_levels() {
    for level in GuardLevel::ALL {
        for caller in OTHERS {
            let mut world = world(level);
            for command in [
                "cat src/a.py | grep x",
                "python3 -m unittest",
                "npm test > /tmp/log.txt 2>&1",
                "cd /tmp && touch x",
                "echo '- [x] a' >> specs/features/in-progress/x/tasks.md",
                "git add -A && git commit -m x",
            ] {
                let reply = bash(&mut world, command, caller);
                assert_eq!(reply.permission, None, "{level:?} {caller:?} {command}");
                assert_eq!(reply.model_context, None, "{level:?} {caller:?} {command}");
            }
            for path in ["/p/specs/features/in-progress/x/tasks.md", "/tmp/notes.txt", "/home/ann/x"] {
                assert_eq!(edit(&mut world, path, "", caller), Reply::default(), "{caller:?} {path}");
            }
            assert_eq!(violations(&world), Vec::<String>::new(), "{caller:?}");
        }
    }
}

#[test]
fn the_agent_of_a_stage_works_undisturbed() {
    for level in GuardLevel::ALL {
        let mut world = world(level);
        let developer = ToolCaller::Stage(Agent::Developer);
        for command in ["sed -i s/a/b/ src/a.py", "python3 fix.py", "git stash"] {
            assert_eq!(bash(&mut world, command, developer).model_context, None, "{command}");
        }
        assert_eq!(edit(&mut world, "/p/src/a.py", "", developer), Reply::default());
        assert!(violations(&world).is_empty() && !world.workflow().outside.may_be_more);
    }
}

#[test]
fn what_keeps_the_gate_from_working_is_noticed_or_denied_for_everybody() {
    let commands = [
        ("git commit --no-verify -m x", Violation::GitHooksSkipped),
        ("git push --force", Violation::ForcedPush),
        ("rm -rf ~/.overtone", Violation::OwnFilesChanged),
        ("rm -rf \"$OVERTONE_HOME/sessions\"", Violation::OwnFilesChanged),
        ("echo '{}' > /home/ann/.overtone/sessions/s/workflow.json", Violation::OwnFilesChanged),
        ("echo '{\"disableAllHooks\":true}' > .claude/settings.json", Violation::HooksDisabled),
        ("claude plugin disable ot", Violation::HooksDisabled),
    ];
    for caller in [ToolCaller::Main, ToolCaller::Stage(Agent::Developer)] {
        for (command, violation) in commands {
            let mut strict = world(GuardLevel::Strict);
            assert!(is_denied(&bash(&mut strict, command, caller)), "{command}");
            let mut lenient = world(GuardLevel::Notice);
            let reply = bash(&mut lenient, command, caller);
            assert!(reply.permission.is_none() && reply.system_message.is_some(), "{command}: {reply:?}");
            assert!(violations(&lenient)[0].contains(violation.name()), "{command}");
            lenient.pass(&["developer"]);
            assert!(
                lenient.context_of("code-reviewer").contains("- "),
                "the reviewer is informed: {command}"
            );
        }
        let mut strict = world(GuardLevel::Strict);
        let settings = "{\"disableAllHooks\": true}";
        assert!(is_denied(&edit(&mut strict, "/p/.claude/settings.json", settings, caller)));
        assert!(is_denied(&edit(&mut strict, "/home/ann/.overtone/config.json", "{}", caller)));
    }
}

#[test]
fn the_clients_own_workflow_tool_is_noticed_or_denied() {
    let mut lenient = world(GuardLevel::Notice);
    let reply = lenient.fire(&Trigger::StartingNativeWorkflow);
    assert!(reply.permission.is_none() && reply.model_context.is_some());
    assert!(is_denied(&world(GuardLevel::Strict).fire(&Trigger::StartingNativeWorkflow)));
}

#[test]
fn code_that_changes_after_its_verdict_is_judged_again() {
    let mut world = world(GuardLevel::Notice);
    world.pass(&["developer", "code-reviewer", "tester"]);
    edit(&mut world, "/p/README.md", "", ToolCaller::Main);
    assert_eq!(world.status("REVIEW"), Status::Completed, "a document changes no verdict");
    let reply = edit(&mut world, "/p/src/a.py", "", ToolCaller::Main);
    assert_eq!((world.status("REVIEW"), world.status("TEST")), (Status::Pending, Status::Pending));
    assert!(reply.model_context.unwrap().contains("CODE-REVIEWER"));
    assert!(world.delegate("retrospective").is_err());
    world.pass(&["code-reviewer"]);
    assert!(world.workflow().outside.files.is_empty(), "the reviewer has seen it");
}

#[test]
fn a_script_of_the_main_agent_is_noticed_when_the_tree_is_compared() {
    let mut world = world(GuardLevel::Notice);
    world.pass(&["developer", "code-reviewer", "tester"]);
    bash(&mut world, "python3 fix.py", ToolCaller::Main);
    assert!(world.workflow().outside.may_be_more);
    world.facts.changed_since_stage = Some(vec!["src/a.py".to_owned()]);
    assert!(world.delegate("retrospective").is_err(), "the code has to be judged first");
    assert_eq!(violations(&world).len(), 1);
    assert!(!world.workflow().outside.may_be_more);
    world.facts.changed_since_stage = None;
    world.pass(&["code-reviewer", "tester", "retrospective"]);
    // A script that changes nothing is of no interest.
    bash(&mut world, "make", ToolCaller::Main);
    world.facts.changed_since_stage = Some(Vec::new());
    world.pass(&["doc-updater"]);
    assert_eq!(violations(&world).len(), 1);
    // At the end of a turn, too.
    bash(&mut world, "make", ToolCaller::Main);
    world.facts.changed_since_stage = Some(vec!["src/a.py".to_owned()]);
    assert!(world.stop().model_context.is_some());
    assert_eq!(world.count(EventKind::WorkflowComplete), 0);
}

#[test]
fn at_strict_a_script_of_the_main_agent_opens_development_again() {
    for (level, opened) in [(GuardLevel::Notice, false), (GuardLevel::Strict, true)] {
        let mut world = world(level);
        world.pass(&["developer"]);
        bash(&mut world, "python3 fix.py", ToolCaller::Main);
        world.facts.changed_since_stage = Some(vec!["src/a.py".to_owned()]);
        assert_eq!(world.delegate("code-reviewer").is_err(), opened, "{level:?}");
        assert_eq!(world.status("DEV") == Status::Pending, opened, "{level:?}");
        world.facts.changed_since_stage = None;
        if opened {
            world.pass(&["developer", "code-reviewer"]);
        }
    }
}

/// REVIEW and TEST are delegated in one message, so two hooks compare the work tree at the same moment.
#[test]
fn a_change_that_two_calls_have_found_at_once_is_handled_once() {
    let mut world = world(GuardLevel::Notice);
    world.pass(&["developer"]);
    edit(&mut world, "/p/src/a.py", "", ToolCaller::Main);
    world.facts.changed_since_stage = Some(vec!["src/a.py".to_owned()]);
    let calls = ["code-reviewer", "tester"].map(|agent| (agent, world.delegate(agent).unwrap()));
    world.facts.changed_since_stage = None;
    for (agent, call) in calls {
        world.returned(agent, &call, &verdict("PASS"));
    }
    assert!(world.delegate("retrospective").is_ok(), "both have judged the changed code");
    assert_eq!(violations(&world).len(), 1);
}

#[test]
fn nothing_is_guarded_while_the_user_has_taken_over() {
    let mut stopped = world(GuardLevel::Strict);
    stopped.stop_by_user();
    let mut interrupted = world(GuardLevel::Strict);
    interrupted.snapshot.looping.as_mut().unwrap().pause(Pause::Interrupted);
    let mut idle = world(GuardLevel::Strict);
    idle.snapshot.looping.as_mut().unwrap().pause(Pause::NoProgress);
    for (world, denied) in [(&mut stopped, false), (&mut interrupted, false), (&mut idle, true)] {
        assert_eq!(is_denied(&edit(world, "/p/src/a.py", "", ToolCaller::Main)), denied);
    }
    let mut ended = World::new(Workflow::Single);
    ended.facts.folders = world(GuardLevel::Strict).facts.folders;
    ended.pass(&["developer"]);
    ended.stop();
    assert_eq!(edit(&mut ended, "/p/src/a.py", "", ToolCaller::Main), Reply::default());
}

#[test]
fn a_reviewer_that_changes_files_by_a_script_is_noticed_when_it_reports() {
    let mut world = world(GuardLevel::Notice);
    world.pass(&["developer", "tester"]);
    let call = world.delegate("code-reviewer").unwrap();
    bash(&mut world, "python3 fix.py", ToolCaller::Stage(Agent::CodeReviewer));
    let files = vec!["src/a.py".to_owned()];
    let looked = Activity { looks: 1, ..Activity::default() };
    world.facts.evidence = Evidence {
        change: Some(TreeChange { files, ..TreeChange::default() }),
        activity: Some(looked),
        ..Evidence::default()
    };
    world.returned("code-reviewer", &call, &verdict("PASS"));
    assert_eq!(violations(&world).len(), 1);
    assert_eq!((world.status("REVIEW"), world.status("TEST")), (Status::Pending, Status::Pending));
}

#[test]
fn only_so_many_agents_of_other_kinds_may_be_started() {
    for level in GuardLevel::ALL {
        let mut world = world(level);
        let start = Trigger::Delegating {
            subagent_type: "general-purpose",
            description: "look around",
            prompt: "look around",
            tool_use_id: Some("t1"),
        };
        let nested = Trigger::AgentDelegating { subagent_type: "general-purpose" };
        world.facts.helpers = world.facts.settings.max_helpers;
        assert!(!is_denied(&world.fire(&start)) && !is_denied(&world.fire(&nested)));
        for _ in 0..3 {
            world.facts.helpers += 1;
            assert!(is_denied(&world.fire(&start)) && is_denied(&world.fire(&nested)));
        }
        let recorded = world
            .records
            .iter()
            .filter(|(_, record)| record.fields.contains(&("reason", WarningReason::HelperLimit.into())));
        assert_eq!(recorded.count(), 2, "once for each of the two calls at the limit");
        world.workflow_mut().ending = Some(Ending::Completed);
        assert!(!is_denied(&world.fire(&start)), "without a running workflow there is no limit");
    }
}
