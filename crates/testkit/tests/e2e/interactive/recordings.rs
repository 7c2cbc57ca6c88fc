//! Terminal sessions whose hook payloads are kept in `tests/golden`. None has a workflow, so that what the client
//! writes does not depend on what the engine decides.

use std::process::Command;

use overtone_testkit::{
    Actor, Client, Gate, Key, Recorded, Request, Sandbox, Turn, report, text, tool, tools,
};
use serde_json::json;

use super::usual_mode;
use crate::delegate;

/// Tools that say something about a workflow, watched by the plugin or not.
const TOOLS: &str = "SubagentHandback|SendMessage|EnterWorktree|AskUserQuestion|ExitPlanMode";

/// Everything that the client writes to hooks in terminals and not, or differently, without one.
pub(crate) fn perform(client: &Client) -> Vec<Recorded> {
    let everywhere: [fn(&Sandbox); 5] = [work, interruption, plan, commands, question];
    let newer: [fn(&Sandbox); 5] = [message, worktrees, foreground, textual, stopped];
    let mut all = Vec::new();
    for session in everywhere.iter().chain(newer.iter().filter(|_| client.has_auto_mode())) {
        let sandbox = Sandbox::new(client);
        sandbox.record_hooks();
        sandbox.record_tools(TOOLS);
        session(&sandbox);
        all.extend(sandbox.recorded());
    }
    all
}

/// Answers each of these words with its turn, once, and anything else with a text.
fn on_words<const N: usize>(answers: [(&'static str, Turn); N]) -> impl FnMut(&Request) -> Turn + use<N> {
    let mut left = Vec::from(answers);
    move |request| {
        let received = request.new_text();
        match left.iter().position(|(words, _)| received.contains(words)) {
            Some(at) => left.remove(at).1,
            None => text("I wait"),
        }
    }
}

/// One agent, then two at once, of which one report is flagged.
fn work(sandbox: &Sandbox) {
    let both = tools([delegate("ot:code-reviewer", "look"), delegate("ot:tester", "try")]);
    let terminal = sandbox
        .script(|s| {
            s.main_with(on_words([("do it", delegate("ot:developer", "build")), ("it is built", both)]))
                .sub("developer", [tool("Bash", json!({"command": "true"})), report("it is built")])
                .sub("code-reviewer", [report("it looks good").flagged("it looks odd")])
                .sub("tester", [report("it works")])
        })
        .permission_mode(usual_mode(sandbox.client()))
        .allow(["Agent", "Bash"])
        .terminal();
    terminal.type_line("do it");
    for words in ["it looks good", "it works"] {
        terminal.wait_until(words, |t| t.times_received(Actor::Main, words) > 0);
    }
    terminal.wait_until_idle();
    terminal.exit();
}

/// Esc while an agent runs. In the foreground the agent ends with the turn, in the background only the turn ends.
fn interruption(sandbox: &Sandbox) {
    let (gate, in_background) = (Gate::closed(), sandbox.client().has_auto_mode());
    let held = in_background.then(|| text("never said").behind(&gate));
    let terminal = sandbox
        .script(|s| {
            s.main([delegate("ot:developer", "build")])
                .main(held)
                .main([text("the second answer")])
                .sub("developer", [report("never reported").behind(&gate)])
        })
        .permission_mode(usual_mode(sandbox.client()))
        .terminal();
    terminal.type_line("do it");
    terminal.wait_for_requests(Actor::Sub("developer"), 1);
    terminal.wait_for_requests(Actor::Main, if in_background { 2 } else { 1 });
    terminal.press(Key::Escape);
    terminal.wait_for_screen("Interrupted");
    terminal.type_line("something else");
    terminal.wait_for_screen("the second answer");
    terminal.wait_until_idle();
    terminal.exit();
}

fn plan(sandbox: &Sandbox) {
    let terminal = sandbox
        .script(|s| {
            s.main_with(on_words([
                ("plan it", delegate("ot:planner", "plan")),
                ("the plan is made", tool("ExitPlanMode", json!({"plan": "build it"}))),
                ("approved", text("the plan stands")),
            ]))
            .sub("planner", [report("the plan is made")])
        })
        .permission_mode("plan")
        .terminal();
    terminal.type_line("plan it");
    terminal.accept("1. Yes");
    terminal.wait_until_idle();
    terminal.exit();
}

/// Commands that users type, then the session again and a fork of it.
fn commands(sandbox: &Sandbox) {
    let (session, mode) = (sandbox.new_session(), usual_mode(sandbox.client()));
    let summary = text("<summary>what was said</summary>");
    let terminal = sandbox
        .script(|s| s.main([text("the first answer"), text("the status")]).compaction([summary]))
        .session(&session)
        .permission_mode(mode)
        .terminal();
    terminal.type_line("one");
    terminal.wait_for_screen("the first answer");
    terminal.wait_until_idle();
    terminal.type_line("/ot:status");
    terminal.wait_for_screen("the status");
    terminal.wait_until_idle();
    terminal.type_line("/compact");
    terminal.wait_for_screen("Compacted");
    terminal.exit();

    let again =
        sandbox.script(|s| s.main([text("the answer")])).resume(&session).permission_mode(mode).terminal();
    again.type_line("two");
    again.wait_for_screen("the answer");
    again.wait_until_idle();
    again.exit();
    let fork = sandbox.script(|s| s.main([text("the answer")])).resume(&session).arg("--fork-session");
    let fork = fork.permission_mode(mode).terminal();
    fork.type_line("three");
    fork.wait_for_screen("the answer");
    fork.wait_until_idle();
    fork.type_line("/clear");
    fork.wait_until("empty screen", |t| !t.screen().contains("the answer"));
    fork.exit();
}

fn question(sandbox: &Sandbox) {
    let options = json!([{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]);
    let asked =
        json!({"question": "Which colour?", "header": "Colour", "multiSelect": false, "options": options});
    let terminal = sandbox
        .script(|s| s.main([tool("AskUserQuestion", json!({"questions": [asked]})), text("it is red")]))
        .permission_mode(usual_mode(sandbox.client()))
        .terminal();
    terminal.type_line("paint it");
    terminal.accept("1. Red");
    terminal.wait_for_screen("it is red");
    terminal.wait_until_idle();
    terminal.exit();
}

/// The id that the client tells the main agent for the agent that it has started.
fn agent_id(request: &Request) -> String {
    let text = request.text();
    let (_, rest) = text.rsplit_once("agentId: ").unwrap();
    rest.split_whitespace().next().unwrap().to_owned()
}

/// An agent that has reported is sent another message, and reports again.
fn message(sandbox: &Sandbox) {
    for mode in ["auto", "default"] {
        let answer = |request: &Request| {
            let received = request.new_text();
            if received.contains("do it") {
                return delegate("ot:tester", "try");
            }
            if received.contains("the first report") {
                let to = agent_id(request);
                return tool(
                    "SendMessage",
                    json!({"to": to, "summary": "once more", "message": "try again"}),
                );
            }
            text("I wait")
        };
        let terminal = sandbox
            .script(|s| {
                s.main_with(answer).sub("tester", [report("the first report"), report("the last report")])
            })
            .permission_mode(mode)
            .terminal();
        terminal.type_line("do it");
        terminal.wait_until("the last report", |t| t.times_received(Actor::Main, "the last report") > 0);
        terminal.wait_until_idle();
        terminal.exit();
    }
}

/// An agent in a worktree of its own, then the whole session in one.
fn worktrees(sandbox: &Sandbox) {
    make_repository(sandbox);
    let apart = json!({
        "subagent_type": "ot:tester", "description": "the job", "prompt": "try", "isolation": "worktree",
    });
    let terminal = sandbox
        .script(|s| {
            s.main_with(on_words([
                ("do it", tool("Agent", apart)),
                ("it works", tool("EnterWorktree", json!({"name": "apart"}))),
                ("Created worktree", delegate("ot:developer", "build")),
            ]))
            .sub("tester", [tool("Bash", json!({"command": "true"})), report("it works")])
            .sub("developer", [tool("Bash", json!({"command": "true"})), report("it is built")])
        })
        .permission_mode("auto")
        .terminal();
    terminal.type_line("do it");
    terminal.wait_until("it is built", |t| t.times_received(Actor::Main, "it is built") > 0);
    terminal.wait_until_idle();
    terminal.kill();
}

/// Makes the project a repository with one commit.
pub(crate) fn make_repository(sandbox: &Sandbox) {
    let identity = ["-c", "user.name=Overtone", "-c", "user.email=overtone@example.com"];
    for arguments in [&["init", "--quiet"][..], &["commit", "--quiet", "--allow-empty", "--message=begin"]] {
        let mut git = Command::new("git");
        git.current_dir(sandbox.project()).args(identity).args(arguments);
        assert!(git.status().unwrap().success(), "git {arguments:?}");
    }
}

/// Agents that are waited for in auto mode, with a report that passes the check and one that does not.
fn foreground(sandbox: &Sandbox) {
    let again = delegate("ot:code-reviewer", "look");
    let terminal = sandbox
        .script(|s| {
            s.main_with(on_words([("do it", delegate("ot:tester", "try")), ("it works", again)]))
                .sub("tester", [report("it works")])
                .sub("code-reviewer", [report("it looks good").flagged("it looks odd")])
        })
        .permission_mode("auto")
        .env("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "1")
        .terminal();
    terminal.type_line("do it");
    terminal.wait_until("it looks good", |t| t.times_received(Actor::Main, "it looks good") > 0);
    terminal.wait_until_idle();
    terminal.exit();
}

/// An agent that ends with a text in auto mode, however often the client asks for a hand-back; then one in `default`.
fn textual(sandbox: &Sandbox) {
    for mode in ["auto", "default"] {
        let terminal = sandbox
            .script(|s| {
                s.main_with(on_words([("do it", delegate("ot:tester", "try"))]))
                    .actor_with(Actor::Sub("tester"), |_| text("it works"))
            })
            .permission_mode(mode)
            .terminal();
        terminal.type_line("do it");
        terminal.wait_until("notification", |t| t.times_received(Actor::Main, "<task-notification>") > 0);
        terminal.wait_until_idle();
        terminal.exit();
    }
}

/// The keys that end all agents in the background.
fn stopped(sandbox: &Sandbox) {
    let gate = Gate::closed();
    let terminal = sandbox
        .script(|s| {
            s.main_with(on_words([("do it", delegate("ot:tester", "try"))]))
                .sub("tester", [report("too late").behind(&gate)])
        })
        .permission_mode("auto")
        .terminal();
    terminal.type_line("do it");
    terminal.wait_for_requests(Actor::Main, 2);
    terminal.wait_for_requests(Actor::Sub("tester"), 1);
    terminal.wait_until_idle();
    super::stop_agents(&terminal);
    terminal.wait_until("news", |t| t.times_received(Actor::Main, "was stopped by the user") > 0);
    terminal.wait_until_idle();
    terminal.exit();
}
