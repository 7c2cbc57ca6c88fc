//! A question is answered as if Overtone was not there.

use overtone_testkit::{Actor, Client, Sandbox, text};

use super::{LOOP, usual_mode};
use crate::steps::begin;

#[test]
fn a_question_takes_one_request_and_shows_nothing_of_overtone() {
    let everywhere = Client::all().into_iter();
    let everywhere =
        everywhere.flat_map(|client| client.permission_modes().iter().map(move |m| (client.clone(), *m)));
    for (client, mode) in everywhere {
        println!("mode {mode}");
        let sandbox = Sandbox::new(&client);
        let session = sandbox.new_session();
        let terminal = sandbox
            .script(|s| s.main([text("it is four")]))
            .session(&session)
            .permission_mode(mode)
            .terminal();
        terminal.wait_for_screen("/ot:auto");
        terminal.type_line("what is 2+2?");
        terminal.wait_for_screen("it is four");
        terminal.wait_until_idle();
        // Taken before the end: the menu that opens for `/exit` lists the plugin's commands.
        let shown = terminal.history().replace(&*sandbox.project().to_string_lossy(), "").to_lowercase();
        let run = terminal.exit();
        assert_eq!(run.requests(Actor::Main).len(), 1);
        // One line when the session starts says that Overtone is there and what to type; the question adds none.
        let (start, rest) = shown.split_once("2+2").unwrap();
        assert!(start.contains("/ot:auto"), "{start}");
        for words in ["overtone", "says:", "hook error", "/ot:"] {
            assert!(!rest.contains(words), "{words:?} in {rest}");
        }
    }
}

/// A loop that has paused starts again when the user asks for work, not when they ask something.
#[test]
fn a_question_does_not_restart_a_paused_loop() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = begin(&sandbox, "quick", &["DEV"]);
        let terminal = sandbox
            .script(|s| s.main_with(|_| text("I do nothing")))
            .session(&session)
            .permission_mode(usual_mode(&client))
            .terminal();
        terminal.type_line("go on");
        terminal.wait_until("pause", |t| t.sandbox().loop_state(&session)["paused"] == "no-progress");
        terminal.wait_until_idle();
        let (requests, pushes) =
            (terminal.request_count(Actor::Main), terminal.times_received(Actor::Main, LOOP));
        terminal.type_line("what is 2+2?");
        terminal.wait_for_requests(Actor::Main, requests + 1);
        terminal.wait_until_idle();
        assert_eq!(sandbox.loop_state(&session)["paused"], "no-progress");
        let run = terminal.exit();
        let main = run.requests(Actor::Main);
        assert_eq!((main.len(), main.times_received(LOOP)), (requests + 1, pushes));
        assert!(main.last().new_text().contains("不要繼續工作流"), "{}", main.last().new_text());
    }
}
