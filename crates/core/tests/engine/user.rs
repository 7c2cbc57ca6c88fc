//! Stops, interruptions and questions of the user, and the texts for them.

use crate::world::{World, verdict};
use overtone_core::engine::state::{Pause, Status, Turn};
use overtone_core::engine::{FeatureHolder, FieldValue, Reply, StartSource, Trigger, commands};
use overtone_core::messages::Lang;
use overtone_core::registry::Workflow;

fn stopped_by_user() -> World {
    let mut world = World::new(Workflow::Quick);
    world.pass(&["developer"]);
    let outcome = commands::stop(&world.snapshot, "user", world.facts.now);
    world.command(outcome).unwrap();
    world
}

/// Whether a text orders the main agent to continue.
fn orders(text: &str) -> bool {
    text.contains("⛔") || text.lines().any(|line| line.starts_with("下一步"))
}

#[test]
fn after_a_stop_by_the_user_no_text_orders_the_model_to_continue() {
    let mut world = stopped_by_user();
    for source in [StartSource::Compact, StartSource::Resume] {
        let text = world.start(source).model_context.unwrap_or_default();
        assert!(!orders(&text), "{text}");
    }
    let compaction = world.fire(&Trigger::Compacting { trigger: "manual" }).system_message.unwrap();
    assert!(!orders(&compaction), "{compaction}");
    let text = world.prompt("thanks").model_context.unwrap();
    assert!(!orders(&text), "{text}");
    assert!(world.stop().model_context.is_none());
    assert!(world.looping().stopped);
}

#[test]
fn a_report_after_the_stop_is_recorded_without_an_order() {
    let mut world = World::new(Workflow::Quick);
    world.delegate("developer").unwrap();
    world.started("developer", "d1");
    let outcome = commands::stop(&world.snapshot, "user", world.facts.now);
    world.command(outcome).unwrap();
    world.hand_back("developer", "d1", &verdict("PASS"));
    let text = world.prompt("<agent-message from=\"d1\">\nThe report follows:\n  x\n</agent-message>");
    let text = text.model_context.unwrap();
    assert!(text.contains("完成") && !orders(&text), "{text}");
    assert_eq!(world.status("DEV"), Status::Completed);
}

#[test]
fn an_interrupted_turn_pauses_the_loop_and_releases_its_agent() {
    let mut world = World::new(Workflow::Quick);
    world.prompt("build it");
    world.delegate("developer").unwrap();
    world.started("developer", "d1");
    // The client raises no event for Esc; the next prompt comes without a stop before it.
    let reply = world.prompt("wait, what is this about?");
    assert_eq!((world.status("DEV"), world.workflow().active_agents.len()), (Status::Pending, 0));
    assert_eq!(world.looping().paused, Some(Pause::Interrupted));
    let text = reply.model_context.unwrap();
    assert!(text.contains("已暫停") && !text.contains('⛔'), "{text}");
    let stop = world.stop();
    assert!(stop.model_context.is_none() && stop.system_message.is_some());
    // Going on with the work is what ends the pause.
    world.prompt("go on");
    world.run("developer", &verdict("PASS"));
    assert!(world.stop().model_context.is_some());
}

#[test]
fn a_pause_persists_after_the_end_of_the_session() {
    let mut world = World::new(Workflow::Quick);
    world.prompt("build it");
    world.prompt("wait, what is this about?");
    world.fire(&Trigger::SessionEnded { reason: "prompt_input_exit" });
    let text = world.start(StartSource::Resume).model_context.unwrap();
    assert!(text.contains("已暫停") && !orders(&text), "{text}");
    assert_eq!((world.looping().stopped, world.looping().paused), (false, Some(Pause::Interrupted)));
    world.prompt("what is left?");
    assert!(world.stop().model_context.is_none());
}

#[test]
fn a_stopped_background_agent_is_an_interruption_too() {
    let mut world = World::new(Workflow::Quick);
    world.prompt("build it");
    let call = world.delegate("developer").unwrap();
    world.fire(&Trigger::AgentReturned {
        tool_use_id: Some(&call),
        agent_id: Some("d1"),
        subagent_type: "ot:developer",
        finished: false,
        content: "",
        handback: "",
    });
    let listed = ["d1".to_owned()];
    world.fire(&Trigger::Stopping { background: Some(&listed) });
    assert_eq!(world.prompt("Background agent \"work\" was stopped by the user.").model_context, None);
    let stop = world.stop();
    assert!(stop.model_context.is_none(), "{stop:?}");
    assert_eq!((world.status("DEV"), world.workflow().active_agents.len()), (Status::Pending, 0));
}

#[test]
fn a_prompt_between_turns_is_no_interruption() {
    let mut world = World::new(Workflow::Quick);
    world.prompt("build it");
    world.delegate("developer").unwrap();
    world.started("developer", "d1");
    let listed = ["d1".to_owned()];
    world.fire(&Trigger::Stopping { background: Some(&listed) });
    world.prompt("how long will it take?");
    assert_eq!((world.looping().paused, world.status("DEV")), (None, Status::Active));
}

#[test]
fn commands_that_only_show_something_do_not_continue_the_loop() {
    let mut world = World::new(Workflow::Quick);
    world.start(StartSource::Resume);
    for command in ["/ot:status", "/ot:dashboard", "/ot:specs list"] {
        world.prompt(command);
        assert_eq!(world.stop(), Reply::default(), "{command}");
    }
    world.prompt("go on");
    assert!(world.stop().model_context.is_some());
}

#[test]
fn a_question_shows_the_user_no_message() {
    let mut world = World::empty();
    let reply = world.prompt("what is 2+2?");
    assert_eq!(reply.system_message, None);
    let text = reply.model_context.unwrap();
    assert!(text.contains("MUST") && text.contains("/ot:auto") && text.contains("若只是提問"), "{text}");
    for other in
        ["/compact", "/commit now", "<task-notification>x", "Background agent \"x\" was stopped by the user."]
    {
        assert_eq!(world.prompt(other), Reply::default(), "{other}");
    }
}

#[test]
fn workflow_names_are_case_insensitive() {
    let mut world = World::empty();
    for prompt in ["add a shop [workflow:STANDARD]", "[x] 加一個商店 [WorkFlow: Standard ]"] {
        let text = world.prompt(prompt).model_context.unwrap();
        assert!(text.contains("/ot:standard"), "{text}");
    }
}

#[test]
fn the_user_sees_one_line_when_a_session_starts() {
    let mut world = World::empty();
    world.facts.version = "1.2.3";
    for (source, words) in [(StartSource::Startup, "/ot:auto"), (StartSource::Fork, "/ot:auto")] {
        let line = world.start(source).system_message.unwrap();
        assert!(line.contains("1.2.3") && line.contains(words) && line.lines().count() == 1, "{line}");
    }
    let copy = world.start(StartSource::Fork).model_context.unwrap();
    assert!(copy.contains("副本"), "a copy does not go on with the other's workflow: {copy}");
    assert_eq!(world.start(StartSource::Compact).system_message, None);
    let mut running = World::new(Workflow::Quick);
    let line = running.start(StartSource::Resume).system_message.unwrap();
    assert!(line.contains("quick") && line.contains("0/5") && line.lines().count() == 1, "{line}");
    let line = stopped_by_user().start(StartSource::Resume).system_message.unwrap();
    assert!(line.contains("/ot:resume"), "{line}");
}

#[test]
fn a_feature_that_another_session_works_on_is_not_called_interrupted() {
    let mut world = World::empty();
    world.set_tasks(&["x"]);
    let left = world.start(StartSource::Startup);
    assert!(left.model_context.unwrap().contains("上次 session 中斷"));
    world.facts.feature_holder =
        Some(FeatureHolder { session_id: "0123456789".into(), last_active: world.facts.now });
    let held = world.start(StartSource::Startup);
    let (line, text) = (held.system_message.unwrap(), held.model_context.unwrap());
    for text in [&line, &text] {
        assert!(text.contains("01234567") && !text.contains("中斷"), "{text}");
    }
}

/// Every text for the user that the engine can make, in every language, is free of the words that steer the model.
#[test]
fn texts_for_users_have_no_words_that_steer_the_model() {
    for lang in Lang::ALL {
        let mut replies = Vec::new();
        let mut world = World::new(Workflow::Quick);
        world.facts.lang = lang;
        replies.push(world.start(StartSource::Startup));
        replies.push(world.prompt("build it"));
        replies.push(world.prompt("x [workflow:none-such]"));
        world.pass(&["developer"]);
        for _ in 0..6 {
            replies.push(world.stop());
        }
        for _ in 0..3 {
            world.pass(&["code-reviewer"]);
            world.run("tester", &verdict("FAIL"));
            if world.delegate("developer").is_ok() {
                world.report("developer", &verdict("PASS"));
            }
        }
        replies.push(world.stop());
        let mut stopped = stopped_by_user();
        stopped.facts.lang = lang;
        replies.push(stopped.stop());
        replies.push(stopped.start(StartSource::Resume));
        for text in replies.iter().filter_map(|reply| reply.system_message.as_ref()) {
            for word in ["⛔", "MUST", "NEVER", "必須", "禁止"] {
                assert!(!text.contains(word), "{word} in {text}");
            }
        }
    }
}

#[test]
fn stop_and_resume_as_slash_commands_are_recorded_for_the_user() {
    let mut world = World::new(Workflow::Quick);
    world.pass(&["developer"]);
    let reply = world.prompt("/ot:stop for today");
    assert!(world.looping().stopped && reply.system_message.is_some());
    let text = reply.model_context.unwrap();
    assert!(text.contains("quick") && text.contains("1/5") && !orders(&text), "{text}");
    assert!(world.stop().model_context.is_none());
    assert!(world.prompt("/ot:stop").system_message.is_some(), "said again, nothing changes");

    let reply = world.prompt("/ot:resume");
    assert!(!world.looping().stopped);
    assert_eq!(world.looping().turn, Some(Turn::Working));
    assert!(reply.model_context.unwrap().contains("ot:code-reviewer"));
    assert!(world.stop().model_context.unwrap().contains("CODE-REVIEWER"), "the loop runs again");
    let by: Vec<_> = world
        .records
        .iter()
        .filter_map(|(_, record)| record.fields.iter().find(|(name, _)| *name == "by"))
        .collect();
    assert_eq!(by, [&("by", FieldValue::from("user")), &("by", FieldValue::from("user"))]);
}

#[test]
fn a_resume_by_the_user_gives_new_attempts_after_the_limit() {
    let mut world = World::new(Workflow::Quick);
    for _ in 0..3 {
        world.run("developer", &verdict("FAIL"));
    }
    world.stop();
    assert!(world.delegate("developer").is_err());
    assert!(world.prompt("/ot:resume").model_context.unwrap().contains("ot:developer"));
    world.delegate("developer").unwrap();
}

#[test]
fn there_may_be_nothing_to_stop_or_resume() {
    for command in ["/ot:stop", "/ot:resume"] {
        let mut world = World::empty();
        let reply = world.prompt(command);
        assert!(reply.system_message.is_some() && reply.model_context.is_some(), "{command}");
        assert!(world.snapshot.looping.is_none(), "{command}");
    }
    let mut running = World::new(Workflow::Quick);
    running.prompt("build it");
    let before = running.looping().clone();
    running.prompt("/ot:resumenow");
    assert_eq!(running.looping().stopped, before.stopped, "only the exact name is the command");
}

#[test]
fn the_question_of_the_client_is_forgotten_when_the_turn_ends() {
    let asked = |world: &World| world.looping().asked.clone();
    let mut world = World::new(Workflow::Quick);
    world.facts.has_screen = true;
    let ask = Trigger::RunningCommand { command: "overtone resume" };
    world.fire(&ask);
    assert_eq!(asked(&world).as_deref(), Some("resume"));
    world.prompt("no, wait");
    assert_eq!(asked(&world), None);
    world.fire(&ask);
    world.stop();
    assert_eq!(asked(&world), None);
    let mut stopped = stopped_by_user();
    stopped.facts.has_screen = true;
    stopped.fire(&ask);
    assert_eq!(asked(&stopped).as_deref(), Some("resume"));
    stopped.prompt("no");
    assert_eq!(asked(&stopped), None, "also while the loop is stopped");
}
