//! A question is answered as if Overtone was not there.

use overtone_testkit::{Actor, Client, Sandbox, text};

use super::usual_mode;

#[test]
fn a_question_costs_one_request_and_shows_nothing_of_overtone() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = sandbox.new_session();
        let terminal = sandbox
            .script(|s| s.main([text("it is four")]))
            .session(&session)
            .permission_mode(usual_mode(&client))
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
