//! Overtone restores the state that a compaction in a terminal drops.

use overtone_testkit::{Actor, Client, Sandbox, text};

use super::{
    LOOP, NEXT_STEP, assert_calm, clients_and_modes, following_steps, usual_mode, wait_for_completion,
};
use crate::delegate;
use crate::steps::begin;

const HEADER: &str = "[Overtone 狀態恢復（compact 後）]";

#[test]
fn the_workflow_continues_after_a_compaction() {
    for (client, mode) in clients_and_modes() {
        println!("mode {mode}");
        let sandbox = Sandbox::new(&client);
        let session = begin(&sandbox, "quick", &["DEV", "REVIEW", "TEST", "RETRO"]);
        // Idle until the loop pauses; after the compaction, the user asks to go on.
        let turns =
            std::iter::repeat_n(text("I do nothing"), 4).chain([delegate("ot:doc-updater", "the job")]);
        let summary = text("<summary>a lock is being built</summary>");
        let terminal = sandbox
            .script(|s| following_steps(s.main(turns).compaction([summary])))
            .session(&session)
            .permission_mode(mode)
            .terminal();
        terminal.type_line("go on");
        terminal.wait_for_screen("I do nothing");
        terminal.wait_until_idle();
        terminal.type_line("/compact");
        terminal.wait_for_events("session:compact", 1);
        terminal.wait_for_screen("Compacted");
        terminal.type_line("go on with the workflow");
        wait_for_completion(&terminal, &session);
        // What the summariser is given is also on the screen.
        let run = terminal.exit();
        assert_calm(&run.stdout);
        assert!(run.stdout.contains("工作流：quick"), "{}", run.stdout);
        let summariser = run.requests(Actor::Compaction).first();
        assert!(summariser.new_text().contains(HEADER));
        let next = run.requests(Actor::Main).into_iter().find(|request| request.order() > summariser.order());
        let received = next.unwrap().text();
        for part in ["a lock is being built", HEADER, "ot:doc-updater"] {
            assert!(received.contains(part), "no {part:?} in {received}");
        }
    }
}

#[test]
fn a_compaction_after_a_stop_sends_no_next_step() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = begin(&sandbox, "quick", &["DEV"]);
        let summary = text("<summary>a lock is being built</summary>");
        let terminal = sandbox
            .script(|s| {
                following_steps(s.main([text("hello to you"), text("it is stopped"), text("good morning")]))
                    .compaction([summary])
            })
            .session(&session)
            .permission_mode(usual_mode(&client))
            .terminal();
        terminal.type_line("/ot:status");
        terminal.wait_for_screen("hello to you");
        terminal.wait_until_idle();
        terminal.type_line("/ot:stop");
        terminal.wait_for_screen("it is stopped");
        terminal.wait_until_idle();
        terminal.type_line("/compact");
        terminal.wait_for_screen("Compacted");
        terminal.type_line("hello");
        terminal.wait_for_screen("good morning");
        terminal.wait_until_idle();
        let run = terminal.exit();
        assert_calm(&run.stdout);
        let main = run.requests(Actor::Main);
        assert_eq!(main.len(), 3, "nobody was sent on");
        let received = main.last().text_since_answer();
        assert!(received.contains(HEADER), "the state is known: {received}");
        for words in [LOOP, NEXT_STEP, "禁止詢問使用者"] {
            assert!(!received.contains(words), "{words} in {received}");
        }
    }
}
