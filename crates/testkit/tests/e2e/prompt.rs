//! What the main agent is told when a person types something.

use overtone_testkit::{Actor, Client, Sandbox};

#[test]
fn the_first_request_points_to_auto() {
    for client in Client::all() {
        let run = Sandbox::new(&client).run("build a shop");
        let told = run.requests(Actor::Main).first().new_text();
        let pointer = told.lines().find(|line| line.contains("UserPromptSubmit hook"));
        assert!(pointer.is_some_and(|line| line.contains("/ot:auto")), "{pointer:?}");
        assert!(told.contains("build a shop"));
        assert_eq!(run.result_text(), "ok");
    }
}
