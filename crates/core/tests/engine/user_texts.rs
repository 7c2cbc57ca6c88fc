//! What the user sees of a workflow, and what the model gets while the user decides.

use crate::world::{World, verdict};
use overtone_core::engine::instinct::{Learned, ObservationKind};
use overtone_core::engine::state::{Pause, Status, Turn};
use overtone_core::engine::{Effect, Reply, StartSource, ToolCaller, Trigger, commands};
use overtone_core::messages::Lang;
use overtone_core::registry::{Agent, Workflow};

/// Words that steer the model, and names that only the client's tools know.
const NOT_FOR_USERS: [&str; 6] = ["⛔", "MUST", "NEVER", "必須", "禁止", "ot:"];

#[track_caller]
fn assert_calm(text: &str) {
    // Commands that the user may type are no names in prose.
    let prose = text.replace("/ot:", "");
    for word in NOT_FOR_USERS {
        assert!(!prose.contains(word), "{word} in {text}");
    }
}

fn in_every_language() -> impl Iterator<Item = World> {
    Lang::ALL.into_iter().map(|lang| {
        let mut world = World::new(Workflow::Quick);
        world.facts.lang = lang;
        world
    })
}

/// A workflow whose tester needs the user.
fn blocked(mut world: World) -> World {
    world.pass(&["developer", "code-reviewer"]);
    world.run("tester", &verdict("BLOCKED"));
    assert!(world.stop().system_message.unwrap().contains('✋'));
    world
}

/// A prompt that is typed while a turn runs has the id of that turn.
#[test]
fn a_prompt_that_is_typed_while_a_turn_runs_interrupts_nothing() {
    let mut world = World::new(Workflow::Quick);
    world.facts.prompt_id = Some("p1".into());
    world.prompt("build it");
    world.delegate("developer").unwrap();
    world.started("developer", "d1");
    let text = world.prompt("use blue, please").model_context.unwrap();
    assert!(!text.contains("已暫停"), "{text}");
    assert_eq!((world.looping().paused, world.status("DEV")), (None, Status::Active));
    // A look that waits for the end of the turn does not turn the work into a look.
    world.prompt("/ot:status");
    assert_eq!(world.looping().turn, Some(Turn::Working));

    world.facts.prompt_id = Some("p2".into());
    world.prompt("wait, what is this about?");
    assert_eq!(
        (world.looping().paused, world.status("DEV")),
        (Some(Pause::Interrupted), Status::Pending),
        "a prompt of its own while a turn is open comes after Esc"
    );
}

/// The client shows the reply to a compaction to the user. The orders come with the start after it.
#[test]
fn the_reply_to_a_compaction_has_no_orders_if_the_client_shows_it() {
    for mut world in in_every_language() {
        world.set_tasks(&["x"]);
        world.pass(&["developer"]);
        world.facts.has_screen = true;
        let shown = world.fire(&Trigger::Compacting { trigger: "manual" }).system_message.unwrap();
        assert_calm(&shown);
        assert!(shown.contains("quick") && shown.contains("1/5"), "{shown}");
        let for_model = world.start(StartSource::Compact).model_context.unwrap();
        assert!(for_model.contains("⛔") && for_model.contains("ot:code-reviewer"), "{for_model}");
    }
}

/// The text of the loop is the only one that both user and model read.
#[test]
fn the_text_of_the_loop_has_no_orders() {
    for mut world in in_every_language() {
        let sent_on = |world: &mut World| world.stop().model_context.unwrap();
        let check = |text: &str, names: &[&str]| {
            assert_calm(text);
            for name in names.iter().chain(&["AskUserQuestion", "overtone stop"]) {
                assert!(text.contains(name), "no {name} in {text}");
            }
        };
        check(&sent_on(&mut world), &["DEVELOPER"]);
        world.pass(&["developer"]);
        check(&sent_on(&mut world), &["CODE-REVIEWER", "TESTER"]);
        world.run("code-reviewer", &verdict("REJECT"));
        world.run("tester", &verdict("FAIL"));
        check(&sent_on(&mut world), &["DEBUGGER", "DEVELOPER", "REVIEW", "TEST"]);
        world.pass(&["debugger", "developer", "code-reviewer"]);
        world.run("tester", &verdict("FAIL"));
        check(&sent_on(&mut world), &["DEBUGGER", "DEVELOPER", "TEST"]);
        world.pass(&["debugger", "developer", "tester"]);
        world.run("code-reviewer", &verdict("REJECT"));
        check(&sent_on(&mut world), &["DEVELOPER", "REVIEW"]);
        world.pass(&["developer", "code-reviewer", "tester"]);
        world.delegate("retrospective").unwrap();
        world.report("retrospective", &verdict("ISSUES"));
        check(&sent_on(&mut world), &["DOC-UPDATER"]);
    }
}

/// At the limit of retrospectives, the text of the loop contains a waiting notice.
#[test]
fn the_notice_about_the_limit_of_retrospectives_has_no_orders() {
    for mut world in in_every_language() {
        world.facts.settings.max_retros = 1;
        world.pass(&["developer", "code-reviewer", "tester"]);
        world.delegate("retrospective").unwrap();
        world.report("retrospective", &verdict("ISSUES"));
        assert_calm(&world.stop().model_context.unwrap());
    }
}

#[test]
fn the_greeting_distinguishes_stopped_paused_and_waiting() {
    let line = |mut world: World| {
        world.fire(&Trigger::SessionEnded { reason: "prompt_input_exit" });
        world.start(StartSource::Resume).system_message.unwrap()
    };
    for lang in Lang::ALL {
        let quick = || {
            let mut world = World::new(Workflow::Quick);
            world.facts.lang = lang;
            world
        };
        let running = line(quick());
        let mut stopped = quick();
        let outcome = commands::stop(&stopped.snapshot, "user", stopped.facts.now);
        stopped.command(outcome).unwrap();
        let mut interrupted = quick();
        interrupted.prompt("build it");
        interrupted.prompt("wait");
        let lines = [running, line(stopped), line(interrupted), line(blocked(quick()))];
        for (at, line) in lines.iter().enumerate() {
            assert_calm(line);
            assert!(line.contains("quick") && line.lines().count() == 1, "{line}");
            assert!(!lines[..at].contains(line), "{line}");
        }
    }
}

/// A stage that needs the user is asked about once; after that every prompt may be the answer, or something else.
#[test]
fn a_question_while_a_stage_needs_the_user_is_just_answered() {
    let mut world = blocked(World::new(Workflow::Quick));
    let text = world.prompt("what is 2+2?").model_context.unwrap();
    assert!(text.contains("ot:tester") && text.contains("直接回應即可") && !text.contains('⛔'), "{text}");
    for source in [StartSource::Resume, StartSource::Compact] {
        let text = world.start(source).model_context.unwrap();
        assert!(text.contains("AskUserQuestion"), "{text}");
        assert!(!text.contains("禁止詢問使用者"), "the user has to be asked: {text}");
    }
}

#[test]
fn the_error_guard_leaves_the_main_agent_alone_after_a_stop() {
    let mut world = World::new(Workflow::Quick);
    world.pass(&["developer"]);
    let error = "error[E0382]: borrow of moved value: `lock`";
    let ran = Trigger::BashRan { command: "cargo test", error: Some(error), caller: ToolCaller::Main };
    let failed = Trigger::ToolFailed {
        tool: "Bash",
        error,
        command: "cargo test",
        interrupted: false,
        tool_use_id: None,
        agent: None,
        caller: ToolCaller::Main,
    };
    for trigger in [&ran, &failed] {
        assert!(world.fire(trigger).model_context.unwrap().contains("錯誤守衛"));
    }
    let outcome = commands::stop(&world.snapshot, "user", world.facts.now);
    world.command(outcome).unwrap();
    for trigger in [&ran, &failed] {
        assert_eq!(world.fire(trigger).model_context, None);
    }
}

#[test]
fn user_and_model_get_different_texts_about_a_failed_tool() {
    for mut world in in_every_language() {
        for (tool, agent) in [("Agent", Some(Agent::Developer)), ("Write", None)] {
            let Reply { system_message, model_context, .. } = world.fire(&Trigger::ToolFailed {
                tool,
                error: "no such thing. Available: ot:tester, ot:qa",
                command: "",
                interrupted: false,
                tool_use_id: None,
                agent,
                caller: ToolCaller::Main,
            });
            let (for_user, for_model) = (system_message.unwrap(), model_context.unwrap());
            assert_calm(&for_user);
            assert!(
                for_user.contains("no such thing") && for_model.contains("no such thing"),
                "{for_user} / {for_model}"
            );
            assert_ne!(for_user, for_model);
        }
    }
}

#[test]
fn a_single_stage_is_singular() {
    let mut world = World::new(Workflow::Single);
    world.facts.lang = Lang::En;
    world.pass(&["developer"]);
    let shown = world.stop().system_message.unwrap();
    assert!(shown.contains("1 stage in"), "{shown}");
}

/// The clients offer neither Grep nor Glob, so lessons about them are neither learned nor used.
#[test]
fn no_lesson_advises_a_tool_that_the_client_does_not_offer() {
    for lang in Lang::ALL {
        let mut world = World::empty();
        world.facts.lang = lang;
        for command in ["grep -rn lock src", "rg lock", "find . -name lock", "ls src"] {
            world.fire(&Trigger::BashRan { command, error: None, caller: ToolCaller::Main });
            for effect in &world.effects {
                let Effect::Observe(seen) = effect else { continue };
                assert_ne!(seen.kind, ObservationKind::ToolPreferences, "{command}");
            }
        }
        let learned =
            |command: &str| Learned { kind: ObservationKind::ToolPreferences, trigger: command.to_owned() };
        world.facts.lessons = vec![learned("grep"), learned("find")];
        assert_eq!(world.start(StartSource::Startup).model_context, None);
        world.facts.lessons.push(learned("cat"));
        let for_model = world.start(StartSource::Startup).model_context.unwrap();
        assert!(
            for_model.contains("cat") && !for_model.contains("Grep") && !for_model.contains("Glob"),
            "{for_model}"
        );
    }
}
