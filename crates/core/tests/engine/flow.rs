//! What happens in a workflow, from its first stage to its end.

use crate::world::{World, verdict};
use overtone_core::engine::state::{Ending, Millis, Status, StoppedBy};
use overtone_core::engine::{Effect, FeatureHolder, FieldValue, StartSource, ToolCaller, Trigger};
use overtone_core::registry::{Agent, EventKind, Workflow};

#[test]
fn a_delegation_that_skips_a_stage_is_denied_and_names_it() {
    let mut world = World::new(Workflow::Standard);
    let reason = world.delegate("developer").unwrap_err();
    assert_eq!(reason, "Overtone：PLAN、ARCH、TEST 必須先完成");
    for key in ["⛔ 不可跳過必要階段", "PLAN", "ARCH", "TEST", "ot:planner"] {
        assert!(world.advice().contains(key), "{}", world.advice());
    }
    assert_eq!(world.status("DEV"), Status::Pending);
    assert!(world.events.is_empty());
}

#[test]
fn the_first_stage_becomes_active_and_gets_its_context() {
    let mut world = World::new(Workflow::Standard);
    world.delegate("planner").unwrap();
    assert_eq!(world.status("PLAN"), Status::Active);
    assert_eq!(world.workflow().active_agents[0].slot, "planner");
    assert_eq!(world.events, [EventKind::StageStart, EventKind::AgentDelegate]);
}

#[test]
fn a_standard_workflow_runs_to_completion() {
    let mut world = World::new(Workflow::Standard);
    world.pass(&[
        "planner",
        "architect",
        "tester",
        "developer",
        "code-reviewer",
        "tester",
        "retrospective",
        "doc-updater",
    ]);
    let summary = world.stop().system_message.unwrap();
    assert!(summary.contains("standard"), "{summary}");
    assert_eq!(world.workflow().ending, Some(Ending::Completed));
    assert_eq!(world.looping().stopped_by, Some(StoppedBy::Completion));
    assert_eq!(world.count(EventKind::WorkflowComplete), 1);
    assert_eq!(world.count(EventKind::StageComplete), 8);
    assert!(world.stop().system_message.is_none(), "the end is announced once");
}

#[test]
fn parallel_stages_start_in_either_order_and_converge_once() {
    for order in [["code-reviewer", "tester"], ["tester", "code-reviewer"]] {
        let mut world = World::new(Workflow::Quick);
        world.pass(&["developer"]);
        world.delegate(order[0]).unwrap();
        world.delegate(order[1]).unwrap();
        assert_eq!(world.count(EventKind::ParallelStart), 1);
        let waits = world.report(order[1], &verdict("PASS"));
        assert!(waits.contains("等待") && !waits.contains("並行"), "a lone stage is not parallel: {waits}");
        assert_eq!(world.count(EventKind::ParallelConverge), 0);
        assert!(world.report(order[0], &verdict("PASS")).contains("ot:retrospective"));
        assert_eq!(world.count(EventKind::ParallelConverge), 1);
    }
}

#[test]
fn the_next_step_of_a_group_names_all_its_stages() {
    let mut world = World::new(Workflow::Secure);
    world.pass(&["planner", "architect", "tester"]);
    let notice = world.run("developer", &verdict("PASS")).unwrap();
    for agent in ["ot:code-reviewer", "ot:tester", "ot:security-reviewer"] {
        assert!(notice.contains(agent), "{notice}");
    }
}

#[test]
fn a_failed_test_is_repaired_and_run_again() {
    let mut world = World::new(Workflow::Quick);
    world.pass(&["developer", "code-reviewer"]);
    let notice = world.run("tester", "10 failed").unwrap();
    assert!(notice.contains("ot:debugger") && notice.contains("ot:developer"), "{notice}");
    assert_eq!(
        (world.status("TEST"), world.result("TEST"), world.workflow().fail_count),
        (Status::Completed, Some("fail"), 1)
    );
    assert!(world.delegate("retrospective").is_err(), "a failed stage is not passed over");

    world.run("debugger", "found the cause");
    assert_eq!((world.status("DEV"), world.status("TEST")), (Status::Pending, Status::Pending));
    assert!(world.delegate("tester").is_err(), "the repair comes first");
    world.pass(&["developer"]);
    // The failed stage is opened with its whole group: the repair must be reviewed too.
    assert_eq!(world.status("REVIEW"), Status::Pending);
    world.pass(&["code-reviewer", "tester", "retrospective", "doc-updater"]);
    assert_eq!(world.workflow().stage(crate::world::stage("TEST")).unwrap().attempts, 2);
    world.stop();
    assert_eq!(world.workflow().ending, Some(Ending::Completed));
    assert_eq!((world.workflow().fail_count, world.count(EventKind::StageRetry)), (1, 1));
}

#[test]
fn a_rejected_review_goes_back_to_the_developer() {
    let mut world = World::new(Workflow::Quick);
    world.pass(&["developer"]);
    let notice = world.run("code-reviewer", "REQUEST CHANGES: see file.rs:3").unwrap();
    assert!(notice.contains("ot:developer") && !notice.contains("ot:debugger"), "{notice}");
    assert_eq!((world.workflow().reject_count, world.workflow().fail_count), (1, 0));
}

#[test]
fn at_the_limit_the_user_is_asked_and_delegation_is_denied() {
    let mut world = World::new(Workflow::Quick);
    world.pass(&["developer"]);
    for round in 1..=3 {
        world.pass(&["code-reviewer"]);
        let notice = world.run("tester", &verdict("FAIL")).unwrap();
        if round < 3 {
            world.pass(&["developer"]);
        } else {
            assert!(notice.contains("使用者"), "{notice}");
        }
    }
    assert_eq!(world.count(EventKind::ErrorFatal), 1);
    assert!(world.delegate("developer").is_err());
    let reply = world.stop();
    assert!(reply.system_message.is_some() && reply.model_context.is_none() && reply.block.is_none());
    assert_eq!(world.workflow().ending, Some(Ending::Aborted));
    assert_eq!(world.count(EventKind::WorkflowAbort), 1);
}

#[test]
fn findings_of_a_review_only_workflow_go_to_the_user() {
    let mut world = World::new(Workflow::ReviewOnly);
    world.run("code-reviewer", &verdict("REJECT"));
    let reply = world.stop();
    assert!(reply.model_context.is_none(), "nobody is sent round in circles");
    assert!(reply.system_message.is_some());
    assert_eq!(world.workflow().ending, Some(Ending::Aborted));
}

#[test]
fn a_specification_that_fails_is_written_again() {
    let mut world = World::new(Workflow::Tdd);
    let notice = world.run("tester", &verdict("FAIL")).unwrap();
    assert!(notice.contains("ot:tester"), "{notice}");
    world.pass(&["tester", "developer", "tester"]);
    world.stop();
    assert_eq!(world.workflow().ending, Some(Ending::Completed));
}

#[test]
fn an_api_error_is_neither_a_pass_nor_a_failure() {
    let mut world = World::new(Workflow::Single);
    let notice = world.run("developer", "API Error: 529 overloaded").unwrap();
    assert!(notice.contains("API"), "{notice}");
    assert_eq!((world.status("DEV"), world.workflow().fail_count), (Status::Pending, 0));
    assert_eq!(world.count(EventKind::AgentError), 1);
    assert_eq!(world.count(EventKind::StageComplete), 0);
}

#[test]
fn a_second_report_of_the_same_agent_changes_nothing() {
    let mut world = World::new(Workflow::Quick);
    world.delegate("developer").unwrap();
    world.fire(&Trigger::AgentStarted { agent_type: "ot:developer", agent_id: "a1" });
    world.report_as("developer", "a1", &verdict("PASS"));
    let before = world.workflow().clone();
    assert_eq!(world.report_as("developer", "a1", &verdict("FAIL")), "");
    assert_eq!(*world.workflow(), before);
}

#[test]
fn twins_share_a_stage_and_the_worst_verdict_counts() {
    let mut world = World::new(Workflow::Quick);
    world.pass(&["developer"]);
    world.delegate("tester").unwrap();
    world.delegate("tester").unwrap();
    let slots: Vec<_> = world.workflow().active_agents.iter().map(|a| a.slot.as_str()).collect();
    assert_eq!(slots, ["tester", "tester#2"]);
    world.fire(&Trigger::AgentStarted { agent_type: "ot:tester", agent_id: "t1" });
    world.fire(&Trigger::AgentStarted { agent_type: "ot:tester", agent_id: "t2" });
    world.report_as("tester", "t2", &verdict("FAIL"));
    assert_eq!(world.status("TEST"), Status::Active);
    world.report_as("tester", "t1", &verdict("PASS"));
    assert_eq!((world.status("TEST"), world.result("TEST")), (Status::Completed, Some("fail")));
}

/// Starts two testers in `quick`, in the other order than their calls, and returns the calls.
fn twin_testers(world: &mut World) -> [String; 2] {
    world.pass(&["developer"]);
    let calls = [world.delegate("tester").unwrap(), world.delegate("tester").unwrap()];
    world.fire(&Trigger::AgentStarted { agent_type: "ot:tester", agent_id: "t2" });
    world.fire(&Trigger::AgentStarted { agent_type: "ot:tester", agent_id: "t1" });
    calls
}

#[test]
fn a_lost_twin_settles_the_stage_with_the_verdict_of_the_other() {
    for (word, event) in [("PASS", EventKind::StageComplete), ("FAIL", EventKind::StageRetry)] {
        let mut world = World::new(Workflow::Quick).with_feature(&["x"]);
        twin_testers(&mut world);
        world.report_as("tester", "t1", &verdict(word));
        let before = (world.count(event), world.workflow().completed_stages);
        let text = world.stop().model_context.unwrap();
        assert_eq!(world.status("TEST"), Status::Completed);
        assert_eq!(world.count(event), before.0 + 1, "{word}");
        let passed = word == "PASS";
        assert_eq!(world.workflow().completed_stages, before.1.map(|count| count + u32::from(passed)));
        assert_eq!(world.workflow().fail_count, u32::from(!passed));
        assert_eq!(world.effects.iter().any(|e| matches!(e, Effect::TickStage { .. })), passed);
        assert!(!text.contains("重新開放"), "{text}");
    }
}

#[test]
fn a_twin_lost_with_its_session_settles_the_stage_too() {
    let mut world = World::new(Workflow::Quick);
    twin_testers(&mut world);
    world.report_as("tester", "t1", &verdict("FAIL"));
    world.start(StartSource::Resume);
    assert_eq!((world.status("TEST"), world.workflow().fail_count), (Status::Completed, 1));
    assert_eq!(world.count(EventKind::StageRetry), 1);
}

#[test]
fn an_api_error_of_one_twin_keeps_the_verdict_of_the_other() {
    let mut world = World::new(Workflow::Quick);
    twin_testers(&mut world);
    world.report_as("tester", "t1", "API Error: 529");
    assert_eq!(world.status("TEST"), Status::Active, "the other is still at work");
    world.report_as("tester", "t2", &verdict("FAIL"));
    assert_eq!((world.result("TEST"), world.workflow().fail_count), (Some("fail"), 1));

    let mut world = World::new(Workflow::Quick);
    twin_testers(&mut world);
    world.report_as("tester", "t1", &verdict("FAIL"));
    world.report_as("tester", "t2", "API Error: 529");
    assert_eq!((world.result("TEST"), world.workflow().fail_count), (Some("fail"), 1));
}

fn first_tester_returns(world: &mut World, call: &str) {
    let trigger = Trigger::AgentReturned {
        tool_use_id: Some(call),
        agent_id: Some("t1"),
        subagent_type: "ot:tester",
        finished: true,
        content: &verdict("PASS"),
        handback: "",
    };
    world.fire(&trigger);
}

fn call_fails(world: &mut World, call: &str, error: &str) {
    call_for(world, Agent::Tester, call, error);
}

fn call_for(world: &mut World, agent: Agent, call: &str, error: &str) {
    let failure = Trigger::ToolFailed {
        tool: "Agent",
        error,
        command: "",
        interrupted: false,
        tool_use_id: Some(call),
        agent: Some(agent),
        caller: ToolCaller::Main,
    };
    world.fire(&failure);
}

#[test]
fn a_twin_whose_call_was_guessed_is_given_up_when_its_real_call_fails() {
    for error in ["API Error: 529 overloaded", "Agent type 'ot:tester' not found"] {
        let mut world = World::new(Workflow::Quick);
        let [first, second] = twin_testers(&mut world);
        // Its own word comes first, and takes the entry that has the other's call.
        world.report_as("tester", "t1", &verdict("PASS"));
        first_tester_returns(&mut world, &first);
        assert_eq!(world.status("TEST"), Status::Active, "the other is still at work");
        call_fails(&mut world, &second, error);
        assert!(world.workflow().active_agents.is_empty(), "{error}");
        assert_eq!((world.status("TEST"), world.result("TEST")), (Status::Completed, Some("pass")));
    }
}

#[test]
fn a_twin_whose_call_is_unknown_is_kept_when_the_call_of_another_agent_fails() {
    for error in ["API Error: 529 overloaded", "Agent type 'ot:planner' not found"] {
        let mut world = World::new(Workflow::Quick);
        let [first, _] = twin_testers(&mut world);
        world.report_as("tester", "t1", &verdict("PASS"));
        first_tester_returns(&mut world, &first);
        let before = world.workflow().active_agents.clone();
        call_for(&mut world, Agent::Planner, "elsewhere", error);
        assert_eq!(world.workflow().active_agents, before, "{error}");
        assert_eq!(world.status("TEST"), Status::Active);
    }
}

#[test]
fn neither_of_two_twins_with_unknown_calls_is_given_up_for_a_failed_call() {
    let mut world = World::new(Workflow::Quick);
    twin_testers(&mut world);
    for agent in &mut world.workflow_mut().active_agents {
        agent.tool_use_id = None;
    }
    call_fails(&mut world, "one of them", "Agent type 'ot:tester' not found");
    assert_eq!(world.workflow().active_agents.len(), 2);
}

#[test]
fn a_returned_call_does_not_affect_an_agent_with_another_call() {
    let mut world = World::new(Workflow::Quick);
    let [first, second] = twin_testers(&mut world);
    world.report_as("tester", "t1", &verdict("PASS"));
    first_tester_returns(&mut world, &first);
    let before = world.workflow().active_agents.clone();
    first_tester_returns(&mut world, &first);
    assert_eq!(world.workflow().active_agents, before);
    world.report_as("tester", "t2", &verdict("PASS"));
    call_fails(&mut world, &second, "API Error: 529 overloaded");
    assert_eq!((world.status("TEST"), world.result("TEST")), (Status::Completed, Some("pass")));
}

#[test]
fn a_call_and_an_id_named_together_correct_a_wrong_guess() {
    let mut world = World::new(Workflow::Quick);
    let [first, second] = twin_testers(&mut world);
    first_tester_returns(&mut world, &first);
    let left = &world.workflow().active_agents[0];
    assert_eq!((left.tool_use_id.as_deref(), left.agent_id.as_deref()), (Some(&*second), Some("t2")));
    call_fails(&mut world, &second, "API Error: 529 overloaded");
    assert!(world.workflow().active_agents.is_empty());
    assert_eq!((world.status("TEST"), world.result("TEST")), (Status::Completed, Some("pass")));
}

#[test]
fn the_same_call_asked_about_twice_starts_one_agent() {
    let mut world = World::new(Workflow::Single);
    let call = Trigger::Delegating {
        subagent_type: "ot:developer",
        description: "",
        prompt: "p",
        tool_use_id: Some("t1"),
    };
    let first = world.fire(&call);
    let before = world.workflow().clone();
    assert_eq!(world.fire(&call), first);
    assert_eq!(*world.workflow(), before);
    assert_eq!(world.count(EventKind::AgentDelegate), 1);
}

#[test]
fn a_feature_that_another_session_works_on_is_not_taken() {
    for (taken, name) in [(true, None), (false, Some("f"))] {
        let mut world = World::new(Workflow::Quick);
        world.set_tasks(&["x"]);
        world.facts.feature_holder =
            taken.then(|| FeatureHolder { session_id: "other".into(), last_active: Millis(0) });
        world.start(StartSource::Resume);
        assert_eq!(world.workflow().feature_name.as_deref(), name);
    }
}

#[test]
fn the_result_of_the_agent_tool_replaces_a_missing_report() {
    let mut world = World::new(Workflow::Single);
    let call = world.delegate("developer").unwrap();
    let notice = world.returned("developer", &call, &verdict("PASS")).unwrap();
    assert!(notice.contains("完成"), "{notice}");
    assert_eq!(world.status("DEV"), Status::Completed);
}

#[test]
fn a_notice_is_delivered_exactly_once() {
    let mut world = World::new(Workflow::Quick);
    let call = world.delegate("developer").unwrap();
    world.report("developer", &verdict("PASS"));
    assert!(world.returned("developer", &call, "x").is_some());
    assert!(world.returned("developer", &call, "x").is_none());

    world.delegate("code-reviewer").unwrap();
    world.report("code-reviewer", &verdict("PASS"));
    let reply = world.fire(&Trigger::Prompted { prompt: "<task-notification>x" });
    assert!(reply.model_context.unwrap().contains("完成"));
    assert!(world.fire(&Trigger::Prompted { prompt: "<task-notification>x" }).model_context.is_none());
}

#[test]
fn an_agent_that_never_reports_does_not_block_its_stage_forever() {
    let mut world = World::new(Workflow::Single);
    world.delegate("developer").unwrap();
    let reply = world.stop();
    assert_eq!(world.status("DEV"), Status::Pending);
    assert!(world.workflow().active_agents.is_empty());
    assert!(reply.model_context.unwrap().contains("developer"));
}

#[test]
fn a_stop_waits_for_background_agents_without_a_message() {
    let mut world = World::new(Workflow::Single);
    let call = world.delegate("developer").unwrap();
    world.fire(&Trigger::AgentReturned {
        tool_use_id: Some(&call),
        agent_id: Some("a"),
        subagent_type: "ot:developer",
        finished: false,
        content: "",
        handback: "",
    });
    let running = ["a".to_owned()];
    for background in [Some(&running[..]), None] {
        let reply = world.fire(&Trigger::Stopping { background });
        assert_eq!(reply, overtone_core::engine::Reply::default());
    }
    assert_eq!(world.status("DEV"), Status::Active);
}

#[test]
fn the_loop_continues_in_the_form_that_the_client_shows_best() {
    let mut world = World::new(Workflow::Single);
    let reply = world.stop();
    assert!(reply.model_context.unwrap().contains("DEVELOPER"));
    let reply = world.fire(&Trigger::Stopping { background: None });
    assert!(reply.block.unwrap().contains("DEVELOPER"));
    assert_eq!(world.looping().iterations, 2);
}

#[test]
fn without_progress_the_loop_pauses_until_an_agent_is_delegated() {
    let mut world = World::new(Workflow::Single);
    for _ in 0..3 {
        assert!(world.stop().model_context.is_some());
    }
    let reply = world.stop();
    assert!(reply.model_context.is_none() && reply.system_message.is_some());
    assert!(!world.looping().stopped);
    for prompt in ["/ot:status", "what is in the way?"] {
        world.prompt(prompt);
        assert!(world.stop().model_context.is_none(), "{prompt} is no reason to go on");
    }
    world.prompt("use the other table");
    world.run("developer", &verdict("FAIL"));
    assert!(world.stop().model_context.is_some());
}

#[test]
fn progress_between_stops_keeps_the_loop_going() {
    let mut world = World::new(Workflow::Standard);
    for agent in ["planner", "architect", "tester", "developer", "code-reviewer", "tester", "retrospective"] {
        assert!(world.stop().model_context.is_some());
        world.pass(&[agent]);
    }
    assert_eq!(world.looping().consecutive_errors, 0);
}

#[test]
fn the_iteration_limit_stops_the_loop() {
    let mut world = World::new(Workflow::Standard);
    world.facts.settings.max_iterations = 2;
    for agent in ["planner", "architect"] {
        assert!(world.stop().model_context.is_some());
        world.pass(&[agent]);
    }
    let reply = world.stop();
    assert!(reply.model_context.is_none() && reply.system_message.is_some());
    assert_eq!(world.looping().stopped_by, Some(StoppedBy::Limit));
}

#[test]
fn a_stopped_loop_notifies_the_user_once_and_stays_stopped() {
    let mut world = World::new(Workflow::Single);
    let outcome = overtone_core::engine::commands::stop(&world.snapshot, "user", world.facts.now).unwrap();
    for effect in outcome.effects {
        if let Effect::PutLoop(looping) = effect {
            world.snapshot.looping = Some(looping);
        }
    }
    assert!(world.stop().system_message.is_some());
    assert_eq!(world.stop(), overtone_core::engine::Reply::default());
}

#[test]
fn unticked_tasks_keep_the_loop_going_and_the_feature_is_archived_at_the_end() {
    let mut world = World::new(Workflow::Single).with_feature(&["write the migration"]);
    world.pass(&["developer"]);
    assert!(world.stop().model_context.unwrap().contains("write the migration"));
    assert_eq!(world.count(EventKind::WorkflowComplete), 0);
    world.set_tasks(&[]);
    world.stop();
    assert!(world.effects.contains(&Effect::ArchiveFeature { feature: "f".into() }));
    assert_eq!(world.workflow().ending, Some(Ending::Completed));
}

#[test]
fn a_feature_that_a_killed_hook_left_behind_is_archived_by_the_next_stop() {
    let mut world = World::new(Workflow::Single).with_feature(&[]);
    world.pass(&["developer"]);
    let archives =
        |world: &World| world.effects.iter().filter(|e| matches!(e, Effect::ArchiveFeature { .. })).count();
    world.stop();
    assert_eq!((world.workflow().ending, archives(&world)), (Some(Ending::Completed), 1));
    world.stop();
    assert_eq!((world.effects.len(), archives(&world)), (1, 1), "it is still there");
    world.set_tasks(&["new"]);
    world.stop();
    assert!(world.effects.is_empty(), "somebody works on it again");
}

#[test]
fn a_waiting_notice_is_delivered_with_the_current_next_step() {
    let mut world = World::new(Workflow::Quick);
    let call = world.delegate("developer").unwrap();
    world.report("developer", &verdict("PASS"));
    // The main agent knew it from elsewhere and has gone on.
    world.delegate("code-reviewer").unwrap();
    world.delegate("tester").unwrap();
    let text = world.returned("developer", &call, "x").unwrap();
    assert!(text.contains("開發 完成") && !text.contains("ot:tester"), "{text}");
}

#[test]
fn another_feature_does_not_delay_the_completion() {
    let mut world = World::new(Workflow::Single).with_feature(&["foreign task"]);
    world.workflow_mut().feature_name = Some("other".into());
    world.pass(&["developer"]);
    world.stop();
    assert_eq!(world.workflow().ending, Some(Ending::Completed));
    assert!(!world.effects.iter().any(|effect| matches!(effect, Effect::ArchiveFeature { .. })));
}

#[test]
fn the_stop_that_settles_the_last_stage_ticks_it_and_completes() {
    let mut world = World::new(Workflow::Single).with_feature(&["DEV"]);
    let call = world.delegate("developer").unwrap();
    world.delegate("developer").unwrap();
    world.returned("developer", &call, &verdict("PASS"));
    // Its twin is lost, so the stage is done with the verdict that there is.
    let stop = world.stop();
    assert!(stop.model_context.is_none(), "{stop:?}");
    assert_eq!(world.workflow().ending, Some(Ending::Completed));
    let ticked = world.effects.iter().position(|effect| matches!(effect, Effect::TickStage { .. }));
    let archived = world.effects.iter().position(|effect| matches!(effect, Effect::ArchiveFeature { .. }));
    assert!(ticked.is_some() && ticked < archived);
}

#[test]
fn a_passed_stage_is_ticked_and_its_message_kept() {
    let mut world = World::new(Workflow::Single).with_feature(&[]);
    world.delegate("developer").unwrap();
    world.report("developer", &verdict("PASS"));
    assert!(
        world.effects.contains(&Effect::TickStage { feature: "f".into(), key: crate::world::stage("DEV") })
    );
    let handoff = world.effects.iter().find_map(|effect| match effect {
        Effect::SaveHandoff(handoff) => Some(handoff.clone()),
        _ => None,
    });
    assert_eq!(handoff.unwrap().file, "handoffs/01-DEV-developer.md");
}

#[test]
fn a_repair_gets_the_paths_of_the_reports_about_the_failure() {
    let mut world = World::new(Workflow::Quick);
    world.pass(&["developer", "code-reviewer"]);
    world.run("tester", "2 failed: login.spec");
    world.run("debugger", "the session expires too early");
    let call = Trigger::Delegating {
        subagent_type: "ot:developer",
        description: "",
        prompt: "repair it",
        tool_use_id: None,
    };
    let Some(overtone_core::engine::Permission::Allow { patch: Some(patch), .. }) =
        world.fire(&call).permission
    else {
        panic!("refused")
    };
    for part in ["/s/handoffs/", "03-TEST-tester.md", "04-DEBUG-debugger.md", "repair it"] {
        assert!(patch.prompt.contains(part), "{part} is not in {}", patch.prompt);
    }
}

#[test]
fn recovery_after_compaction_and_resume_names_the_handoffs() {
    let mut world = World::new(Workflow::Standard);
    world.pass(&["planner"]);
    for (source, header) in [(StartSource::Compact, "compact 後"), (StartSource::Resume, "續接")] {
        let text = world.start(source).model_context.unwrap();
        assert!(
            text.contains(header) && text.contains("/s/handoffs/") && text.contains("01-PLAN-planner.md"),
            "{text}"
        );
        assert!(text.contains("ot:architect") && text.contains("⛔"), "{text}");
    }
}

#[test]
fn a_resumed_session_gives_up_earlier_agents_and_loops_again() {
    let mut world = World::new(Workflow::Single);
    world.delegate("developer").unwrap();
    world.fire(&Trigger::SessionEnded { reason: "logout" });
    assert_eq!(world.looping().stopped_by, Some(StoppedBy::SessionEnd));
    world.start(StartSource::Resume);
    assert!(!world.looping().stopped);
    assert_eq!(world.status("DEV"), Status::Pending);
    assert!(world.stop().model_context.is_some());
}

#[test]
fn agents_outside_the_workflow_are_not_gated() {
    let mut world = World::new(Workflow::Standard);
    world.delegate("security-reviewer").unwrap();
    let result = world.report("security-reviewer", "nothing found");
    assert!(result.contains("ot:planner"), "{result}");
    assert_eq!(world.workflow().resolved_count(), 0);
}

#[test]
fn prompts_point_to_the_workflow_or_to_auto() {
    let mut world = World::new(Workflow::Standard);
    let text = |world: &mut World, prompt: &str| {
        world.fire(&Trigger::Prompted { prompt }).model_context.unwrap_or_default()
    };
    assert!(text(&mut world, "hello").contains("ot:planner"));
    assert!(text(&mut world, "fix it [workflow:quick]").contains("/ot:quick"));
    let unknown = text(&mut world, "fix it [workflow:constructor]");
    assert!(unknown.contains("constructor") && unknown.contains("standard"), "{unknown}");
    assert_eq!(text(&mut world, "/ot:status"), "");
    world.workflow_mut().ending = Some(Ending::Completed);
    assert!(text(&mut world, "hello").contains("/ot:auto"));
    world.snapshot.workflow = None;
    assert!(text(&mut world, "hello").contains("/ot:auto"));
}

#[test]
fn a_failed_launch_opens_its_stage_again() {
    let mut world = World::new(Workflow::Single);
    let call = world.delegate("developer").unwrap();
    world.fire(&Trigger::ToolFailed {
        tool: "Agent",
        error: "agent not found",
        command: "",
        interrupted: false,
        tool_use_id: Some(&call),
        agent: None,
        caller: ToolCaller::Main,
    });
    assert_eq!(world.status("DEV"), Status::Pending);
    assert!(world.workflow().active_agents.is_empty());
}

#[test]
fn an_agent_ended_by_an_api_error_is_distinguished_from_a_failed_launch() {
    let mut world = World::new(Workflow::Single);
    let call = world.delegate("developer").unwrap();
    world.fire(&Trigger::AgentStarted { agent_type: "ot:developer", agent_id: "a1" });
    let reply = world.fire(&Trigger::ToolFailed {
        tool: "Agent",
        error: "Agent terminated early due to an API error: API Error: 500 boom",
        command: "",
        interrupted: false,
        tool_use_id: Some(&call),
        agent: None,
        caller: ToolCaller::Main,
    });
    let notice = reply.model_context.unwrap();
    assert!(notice.contains("API") && notice.contains("ot:developer"), "{notice}");
    assert_eq!((world.status("DEV"), world.workflow().fail_count), (Status::Pending, 0));
    assert_eq!((world.count(EventKind::AgentError), world.workflow().notices.len()), (1, 0));
}

/// A replay needs these fields and cannot infer them from other lines.
#[test]
fn records_have_the_agent_and_the_limits_in_force() {
    let mut world = World::new(Workflow::Quick).with_feature(&["x"]);
    world.facts.settings.max_iterations = 2;
    world.run("developer", &verdict("PASS"));
    world.delegate("tester").unwrap();
    let call = world.delegate("tester").unwrap();
    world.fire(&Trigger::ToolFailed {
        tool: "Agent",
        error: "x",
        command: "",
        interrupted: false,
        tool_use_id: Some(&call),
        agent: None,
        caller: ToolCaller::Main,
    });
    for _ in 0..3 {
        world.stop();
    }
    let recorded = |kind: EventKind, name: &str| -> Vec<_> {
        let own = world.records.iter().filter(|(_, record)| record.kind == kind);
        let fields = own.flat_map(|(_, record)| record.fields.iter().filter(|(field, _)| *field == name));
        fields.map(|(_, value)| value.clone()).collect()
    };
    let text = |text: &str| FieldValue::from(text);
    assert_eq!(recorded(EventKind::AgentComplete, "slot"), [text("developer")]);
    assert_eq!(recorded(EventKind::AgentComplete, "handoff"), [FieldValue::Number(1)]);
    assert_eq!(recorded(EventKind::ToolFailure, "slots"), [FieldValue::List(vec!["tester#2".into()])]);
    assert_eq!(recorded(EventKind::AgentError, "slot"), [text("tester")]);
    assert_eq!(recorded(EventKind::LoopAdvance, "tasks"), [FieldValue::Number(1), FieldValue::Number(1)]);
    assert_eq!(recorded(EventKind::LoopAdvance, "idle"), [FieldValue::Number(1)]);
    assert_eq!(recorded(EventKind::LoopAdvance, "limits"), [text("3/3/2/3/2"), text("3/3/2/3/2")]);
    assert_eq!(recorded(EventKind::SystemWarning, "reason"), [text("report-sent-back"), text("loop-limit")]);
    assert_eq!(recorded(EventKind::SystemWarning, "missing"), [text("open-tasks")]);
}

/// The result of the Agent tool comes first and without an id, then the report of the agent.
#[test]
fn a_report_that_comes_after_the_result_is_not_counted_again() {
    let mut world = World::new(Workflow::Tdd);
    let call = world.delegate("tester").unwrap();
    world.fire(&Trigger::AgentStarted { agent_type: "ot:tester", agent_id: "t1" });
    world.returned("tester", &call, &verdict("PASS"));
    world.pass(&["developer"]);
    world.report_as("tester", "t1", &verdict("PASS"));
    assert_eq!((world.status("TEST"), world.status("TEST:2")), (Status::Completed, Status::Pending));
}

#[test]
fn without_a_workflow_only_the_session_and_its_tools_are_recorded() {
    let mut world = World::empty();
    world.start(StartSource::Startup);
    world.prompt("build a shop");
    world.started("developer", "d1");
    world.report_as("developer", "d1", &verdict("PASS"));
    world.returned("developer", "call-1", &verdict("PASS"));
    world.fire(&Trigger::ContinuingAgent { agent_id: "d1" });
    world.fire(&Trigger::UserAnswered);
    world.fire(&Trigger::ToolFailed {
        tool: "Agent",
        error: "API Error: 529",
        command: "",
        interrupted: false,
        tool_use_id: Some("call-1"),
        agent: Some(Agent::Developer),
        caller: ToolCaller::Main,
    });
    world.stop();
    world.fire(&Trigger::Compacting { trigger: "auto" });
    world.fire(&Trigger::SessionEnded { reason: "other" });
    assert!(world.snapshot.workflow.is_none() && world.snapshot.looping.is_none());
    assert_eq!(world.events, [EventKind::SessionStart, EventKind::ToolFailure, EventKind::SessionEnd]);
}
