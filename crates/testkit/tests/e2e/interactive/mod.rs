//! The client in a terminal, as users run it: auto mode where it has one, agents in the background, Esc and `/`.

mod background;
mod blocked;
mod budget;
mod checks;
mod commands;
mod compaction;
mod continued;
mod copies;
mod cost;
mod guard;
mod interrupt;
mod kit;
mod plan;
mod question;
pub(crate) mod recordings;
mod repair;
mod resume;
mod rounds;
mod typed;
mod verdict;

use overtone_core::registry::Agent;
use overtone_testkit::{
    Actor, Client, Invocation, Key, Request, Run, Sandbox, Script, Terminal, Turn, report, text, tools,
};

use crate::delegate;

/// How Overtone asks the main agent for agents.
const NEXT_STEP: &str = "下一步請委派 ";

/// How the loop says who is next: the user reads it, too, so there is no order in it.
const NEXT_IN_LOOP: &str = "下一步：";

/// How Overtone begins when it keeps the main agent from stopping.
const LOOP: &str = "[Overtone Loop ";

/// The mode in which a terminal of this client starts by default.
fn usual_mode(client: &Client) -> &'static str {
    client.permission_modes()[0]
}

/// Every client with every mode in which stages run.
fn clients_and_modes() -> Vec<(Client, &'static str)> {
    let with_modes = |client: Client| {
        let modes = client.permission_modes().iter().filter(|mode| **mode != "plan");
        modes.map(move |mode| (client.clone(), *mode)).collect::<Vec<_>>()
    };
    Client::all().into_iter().flat_map(with_modes).collect()
}

/// Ends all agents in the background by the client's keys for it.
fn stop_agents(terminal: &Terminal<'_>) {
    let press = || {
        terminal.press(Key::Control('x'));
        terminal.press(Key::Control('k'));
    };
    press();
    terminal.wait_for_screen("again to stop background agents");
    press();
}

/// A sub-agent's report with a verdict.
fn verdict(words: &str, result: &str) -> Turn {
    report(format!("{words} <!-- VERDICT: {{\"result\":\"{result}\"}} -->"))
}

/// A main agent that starts the agents that it is asked for and otherwise ends its turn, and sub-agents that pass once
/// their own turns are used up.
fn following_steps(script: Script) -> Script {
    let script = script.main_with(follow_step);
    Agent::ALL.into_iter().fold(script, |script, agent| {
        script.actor_with(Actor::Sub(agent.name()), |_| verdict("done", "PASS"))
    })
}

fn follow_step(request: &Request) -> Turn {
    let received = request.new_text();
    let agents = agents_to_start(&received);
    if agents.is_empty() {
        text("I wait")
    } else {
        tools(agents.iter().map(|agent| delegate(agent, "the job")))
    }
}

/// The agents of the last request for some: those that are to be started now.
fn agents_to_start(received: &str) -> Vec<String> {
    let (by_step, by_loop) = (received.rfind(NEXT_STEP), received.rfind(NEXT_IN_LOOP));
    let Some(at) = by_step.max(by_loop) else { return Vec::new() };
    let request = received[at..].split(['。', '\n']).next().unwrap_or_default();
    if by_loop > by_step {
        let names = request[NEXT_IN_LOOP.len()..].split('，').next().unwrap_or_default().split('、');
        return names.map(|name| format!("ot:{}", name.to_lowercase())).collect();
    }
    let now = request.split("，再").next().unwrap_or_default();
    now.split('（').skip(1).filter_map(|part| part.split('）').next()).map(str::to_owned).collect()
}

/// How often the main agent was asked to start these agents, by a step or by the loop.
fn times_sent(run: &Run, agents: &[&str]) -> usize {
    let main = run.requests(Actor::Main);
    main.iter().filter(|request| agents_to_start(&request.new_text()) == agents).count()
}

/// Words that steer the model, and the names of agents as it has to spell them. The client's own lines name a
/// delegated agent, too, but never like this.
const NOT_FOR_USERS: [&str; 8] = ["⛔", "MUST", "NEVER", "禁止", "請委派", "（ot:", "(ot:", "VERDICT"];

/// Nothing that was ever on the screen is an order for the model.
#[track_caller]
fn assert_calm(shown: &str) {
    // After a compaction the client lists the skills that it has restored.
    for line in shown.lines().filter(|line| !line.contains("Skills restored")) {
        for words in NOT_FOR_USERS {
            assert!(!line.contains(words), "{words:?} in {line:?}\n{shown}");
        }
    }
}

/// A terminal whose main agent delegates to the developer first, and then follows the next steps.
fn developing<'a>(
    sandbox: &'a Sandbox,
    session: &str,
    write: impl FnOnce(Script) -> Script,
) -> Invocation<'a> {
    let script =
        |script: Script| following_steps(write(script.main([delegate("ot:developer", "build the lock")])));
    sandbox.script(script).session(session).permission_mode(usual_mode(sandbox.client()))
}

/// Waits until the workflow is completed and the client has said so.
fn wait_for_completion(terminal: &Terminal<'_>, session: &str) {
    let is_complete = |t: &Terminal<'_>| t.sandbox().workflow(session)["ending"] == "completed";
    terminal.wait_until("end of the workflow", is_complete);
    terminal.wait_until_idle();
}

#[test]
fn only_the_agents_of_the_next_step_are_started() {
    let received = "x\n下一步請委派 DEBUGGER（ot:debugger）找出原因，再委派 DEVELOPER（ot:developer）修復。（ot:tester）";
    assert_eq!(agents_to_start(received), ["ot:debugger"]);
    let both =
        "下一步請委派 CODE-REVIEWER（ot:code-reviewer）、TESTER（ot:tester），在同一則訊息中並行啟動。";
    assert_eq!(agents_to_start(both), ["ot:code-reviewer", "ot:tester"]);
    assert_eq!(
        agents_to_start("下一步請委派 X（ot:x）。\n下一步：CODE-REVIEWER、TESTER，並行進行。"),
        ["ot:code-reviewer", "ot:tester"]
    );
    assert_eq!(
        agents_to_start("下一步：DEBUGGER，找出原因；接著由 DEVELOPER 修復，然後重跑 TEST。"),
        ["ot:debugger"]
    );
    assert_eq!(agents_to_start("nothing"), [""; 0]);
}
