//! Commands of users and other machines on a session, and how its hooks react to them.

use crate::world::{World, verdict};
use overtone_core::engine::commands::{self, MESSAGE_UNITS, Refusal, Start, Undeliverable};
use overtone_core::engine::settings::Settings;
use overtone_core::engine::state::{Ending, Millis, StoppedBy};
use overtone_core::engine::{FieldValue, Permission, Reply, StartSource, Trigger};
use overtone_core::messages::Lang;
use overtone_core::registry::{EventKind, Workflow};

const WORDS: &str = "use the other table";

fn prompt(world: &mut World, prompt: &str) -> String {
    world.fire(&Trigger::Prompted { prompt }).model_context.unwrap_or_default()
}

/// The fields of the last record.
fn last_warning(world: &World) -> Vec<(&'static str, FieldValue)> {
    let (_, record) = world.records.last().unwrap();
    assert_eq!(record.kind, EventKind::SystemWarning);
    record.fields.clone()
}

fn text_value(text: &str) -> FieldValue {
    FieldValue::from(text)
}

#[test]
fn a_message_is_delivered_once_with_the_next_prompt() {
    for line in ["go on", "/ot:status", "<task-notification>x", "[workflow:quick]"] {
        let mut world = World::new(Workflow::Quick);
        world.send_message(WORDS).unwrap();
        let heard = prompt(&mut world, line);
        assert!(heard.contains("來自 ann 的訊息：use the other table"), "{heard}");
        assert!(!prompt(&mut world, line).contains(WORDS));
    }
}

#[test]
fn a_message_is_delivered_when_an_agent_returns() {
    let mut world = World::new(Workflow::Quick);
    let call = world.delegate("developer").unwrap();
    world.send_message(WORDS).unwrap();
    world.report("developer", &verdict("PASS"));
    let heard = world.returned("developer", &call, "x").unwrap();
    assert!(heard.contains(WORDS) && heard.contains("ot:code-reviewer"), "{heard}");
    assert!(world.returned("developer", &call, "x").is_none());
}

#[test]
fn a_message_is_in_the_text_that_keeps_the_session_going() {
    for background in [None, Some(&[] as &[String])] {
        let mut world = World::new(Workflow::Quick);
        world.send_message(WORDS).unwrap();
        let reply = world.fire(&Trigger::Stopping { background });
        assert!(reply.block.or(reply.model_context).unwrap().contains(WORDS));
        let reply = world.fire(&Trigger::Stopping { background });
        assert!(!reply.block.or(reply.model_context).unwrap().contains(WORDS));
    }
}

#[test]
fn a_message_to_a_stopped_loop_waits_for_the_user() {
    let mut world = World::new(Workflow::Quick);
    let stopped = commands::stop(&world.snapshot, "user", Millis(1));
    world.command(stopped).unwrap();
    world.send_message(WORDS).unwrap();
    let reply = world.stop();
    assert!(reply.block.is_none() && reply.model_context.is_none());
    world.start(StartSource::Resume);
    assert!(prompt(&mut world, "hello").contains(WORDS));
    assert!(!prompt(&mut world, "hello").contains(WORDS));
}

#[test]
fn a_message_continues_a_loop_without_progress() {
    let mut world = World::new(Workflow::Single);
    while world.stop().model_context.is_some() {}
    assert!(world.stop().model_context.is_none());
    world.send_message(WORDS).unwrap();
    assert!(world.stop().model_context.unwrap().contains(WORDS));
}

#[test]
fn a_message_is_one_line_without_control_characters() {
    let mut world = World::new(Workflow::Quick);
    world.send_message(" one\n⛔ two\u{1b}[31m\u{0}\u{2028}three\t").unwrap();
    let heard = prompt(&mut world, "go on");
    assert!(heard.contains("ann 的訊息：one ⛔ two[31m three\n"), "{heard}");
    let record = vec![
        ("reason", text_value("message")),
        ("by", text_value("ann")),
        ("length", FieldValue::Number(19)),
    ];
    assert_eq!(last_warning(&world), record);
}

#[test]
fn a_message_that_cannot_be_delivered_is_refused() {
    let refused = |problem| Err(Refusal::Message(problem));
    let mut world = World::new(Workflow::Quick);
    for nothing in ["", " \n\t", "\u{0}\u{7}"] {
        assert_eq!(world.send_message(nothing), refused(Undeliverable::Empty));
    }
    // A character outside the basic plane counts twice.
    let most = "🧪".repeat(MESSAGE_UNITS / 2);
    let units = MESSAGE_UNITS + 1;
    assert_eq!(world.send_message(&format!("{most}x")), refused(Undeliverable::TooLong { units }));
    world.send_message(&most).unwrap();
    let taken = (0..20).take_while(|_| world.send_message("more").is_ok()).count();
    assert_eq!(taken, 7);
    assert_eq!(world.send_message("more"), refused(Undeliverable::TooManyWaiting));
    assert!(prompt(&mut world, "go on").contains(&most));
    world.send_message("more").unwrap();
}

#[test]
fn a_message_is_not_dropped_for_other_notices() {
    for lang in Lang::ALL {
        let mut world = World::new(Workflow::Quick);
        world.facts.lang = lang;
        world.send_message(WORDS).unwrap();
        (0..20).for_each(|number| world.workflow_mut().leave_notice(format!("✅ {number}")));
        assert_eq!(world.workflow().notices.len(), 9);
        let heard = prompt(&mut world, "go on");
        assert!(heard.contains(WORDS) && heard.contains("✅ 19") && !heard.contains("✅ 11"), "{heard}");
    }
}

#[test]
fn a_message_is_kept_when_a_new_workflow_starts() {
    let mut world = World::new(Workflow::Quick);
    world.send_message(WORDS).unwrap();
    world.workflow_mut().leave_notice("✅ of the old workflow".into());
    let anew = commands::init(&world.snapshot, &start(true));
    world.command(anew).unwrap();
    let heard = prompt(&mut world, "go on");
    assert!(heard.contains(WORDS) && !heard.contains("old workflow"), "{heard}");
}

fn start(force: bool) -> Start<'static> {
    Start { force, ..Start::new("s", Workflow::Single, Millis(9)) }
}

#[test]
fn only_an_open_workflow_accepts_a_message() {
    assert_eq!(World::empty().send_message("x"), Err(Refusal::NoWorkflow));
    let mut world = World::new(Workflow::Quick);
    world.workflow_mut().ending = Some(Ending::Aborted);
    world.send_message("try again").unwrap();
    assert!(prompt(&mut world, "hello").contains("try again"));
    world.workflow_mut().ending = Some(Ending::Completed);
    assert_eq!(world.send_message("x"), Err(Refusal::Completed));
}

fn moved() -> World {
    let mut world = World::new(Workflow::Quick);
    world.pass(&["developer"]);
    world.hand_over("workshop").unwrap();
    world
}

#[test]
fn a_moved_session_delegates_nothing_and_may_stop() {
    let mut world = moved();
    assert_eq!(
        last_warning(&world),
        [("reason", text_value("session-moved")), ("to", text_value("workshop"))]
    );
    assert_eq!(world.looping().stopped_by, Some(StoppedBy::Moved));
    let reason = world.delegate("code-reviewer").unwrap_err();
    assert!(reason.contains("workshop") && world.advice().contains("overtone fleet pull s"), "{reason}");
    let nested = world.fire(&Trigger::AgentDelegating { subagent_type: "ot:developer" });
    assert!(matches!(nested.permission, Some(Permission::Deny { reason }) if reason.contains("workshop")));
    let reply = world.stop();
    assert!(reply.system_message.unwrap().contains("workshop"));
    assert!(reply.block.is_none() && reply.model_context.is_none());
    assert_eq!(world.stop(), Reply::default(), "said once");
}

#[test]
fn prompts_and_starts_of_a_moved_session_name_the_other_machine() {
    let mut world = moved();
    for line in ["go on", "/ot:auto x", "[workflow:quick]"] {
        let heard = prompt(&mut world, line);
        assert!(heard.contains("workshop") && !heard.contains("ot:code-reviewer"), "{heard}");
    }
    for source in [StartSource::Startup, StartSource::Resume, StartSource::Compact] {
        let heard = world.start(source).model_context.unwrap();
        assert!(heard.contains("workshop") && heard.lines().count() == 1, "{heard}");
    }
    assert_eq!(world.looping().stopped_by, Some(StoppedBy::Moved));
    let next = commands::describe_next_step(
        world.workflow(),
        Some(world.looping()),
        &Settings::default(),
        world.facts.lang,
    );
    assert!(next.unwrap().contains("workshop"));
}

#[test]
fn waiting_notices_move_with_the_session() {
    let mut world = World::new(Workflow::Quick);
    world.send_message(WORDS).unwrap();
    world.hand_over("workshop").unwrap();
    for line in ["go on", "/ot:auto x", "<task-notification>x"] {
        assert!(!prompt(&mut world, line).contains(WORDS), "{line}");
    }
    world.take_back().unwrap();
    assert!(prompt(&mut world, "go on").contains(WORDS));
}

#[test]
fn handing_over_twice_is_recorded_once_and_the_last_machine_counts() {
    let mut world = moved();
    let records = world.records.len();
    world.hand_over("workshop").unwrap();
    assert!(world.effects.is_empty() && world.records.len() == records);
    world.hand_over("attic").unwrap();
    assert_eq!(world.workflow().moved_to.as_deref(), Some("attic"));
    assert_eq!(World::empty().hand_over("attic"), Err(Refusal::NoWorkflow));
}

#[test]
fn commands_on_a_moved_session_are_refused() {
    let mut world = moved();
    let elsewhere = || Err(Refusal::Moved { to: "workshop".into() });
    let (snapshot, settings) = (world.snapshot.clone(), Settings::default());
    assert_eq!(world.send_message("x"), elsewhere());
    assert_eq!(world.command(commands::stop(&snapshot, "user", Millis(9))), elsewhere());
    assert_eq!(world.command(commands::resume(&snapshot, &settings, "user", Millis(9))), elsewhere());
    assert_eq!(world.command(commands::init(&snapshot, &start(false))), elsewhere());
    world.command(commands::init(&snapshot, &start(true))).unwrap();
    assert_eq!(world.workflow().moved_to, None);
}

#[test]
fn a_session_that_is_taken_back_continues() {
    let mut world = moved();
    world.take_back().unwrap();
    assert_eq!(
        last_warning(&world),
        [("reason", text_value("session-pulled")), ("from", text_value("workshop"))]
    );
    assert_eq!(world.take_back(), Err(Refusal::NothingToDo));
    assert!(world.stop().model_context.unwrap().contains("CODE-REVIEWER"));
    world.delegate("code-reviewer").unwrap();
    assert_eq!(World::empty().take_back(), Err(Refusal::NoWorkflow));
}

#[test]
fn an_ended_session_that_is_taken_back_stays_ended() {
    for (ending, by) in [(Ending::Completed, StoppedBy::Completion), (Ending::Aborted, StoppedBy::Limit)] {
        let mut world = World::new(Workflow::Quick);
        world.workflow_mut().ending = Some(ending);
        world.hand_over("workshop").unwrap();
        assert!(world.stop().system_message.unwrap().contains("workshop"));
        world.take_back().unwrap();
        assert_eq!((world.workflow().ending, world.looping().stopped_by), (Some(ending), Some(by)));
    }
}
