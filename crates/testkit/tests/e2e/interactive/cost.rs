//! Costs in a terminal, where agents hand their reports back and may run in the background.

use overtone_testkit::{Actor, Client, Sandbox};

use super::{developing, verdict, wait_for_completion};
use crate::cost::{cost, counts};
use crate::steps::begin;

#[test]
fn every_message_of_every_stage_counts_once() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = begin(&sandbox, "quick", &[]);
        let terminal = developing(&sandbox, &session, |s| {
            s.sub("code-reviewer", [verdict("a key is in the log", "REJECT")])
        })
        .terminal();
        terminal.type_line("build a lock");
        wait_for_completion(&terminal, &session);
        let run = terminal.exit();
        let costs = cost(&sandbox, &session);
        // The scripted API reports 10 output tokens for each answer.
        let stages =
            [("DEV", "developer"), ("REVIEW", "code-reviewer"), ("TEST", "tester"), ("DOCS", "doc-updater")];
        for (stage, agent) in stages {
            let answers = run.requests(Actor::Sub(agent)).len() as u64;
            let [messages, _, output, ..] = counts(&costs, stage);
            assert_eq!((messages, output), (answers, 10 * answers), "{stage} in {costs}");
        }
        // A terminal also makes requests that are no part of the conversation, such as for a suggestion.
        let answers = run.requests(Actor::Main).len() as u64;
        let counted = counts(&costs, "main")[0];
        assert!(counted + 1 >= answers && counted <= answers, "{counted} of {answers} in {costs}");
        let dev = costs["rows"].as_array().unwrap().iter().find(|row| row["key"] == "DEV").unwrap();
        assert_eq!(dev["attempts"].as_array().unwrap().len(), 2, "{costs}");
        assert!(costs["purposes"]["repairs"]["outputTokens"].as_u64().unwrap() > 0, "{costs}");
    }
}
