//! What an event must make of a session: the state before and the rules give the state after.

use overtone_core::registry::{Agent, Hook, StageKey};

use super::disk::{AgentOnDisk, Disk, Flow, Looping, StageOnDisk, Status};
use super::event::{Channel, Event, Input, Meaning, Reporter};
use super::rules::{self, Door, Reception, Ruling};
use super::words::{Content, Verdict};

/// Whether a user's prompt interrupts a turn: it has begun and has not ended by itself.
fn interrupts(before: &Disk, meaning: &Meaning) -> bool {
    if !is_looping(before) {
        return false;
    }
    match meaning {
        Meaning::Prompt(_) => before.looping.turn.is_some(),
        Meaning::AgentStoppedByUser => true,
        _ => false,
    }
}

/// Whether the client's own prompt is about an agent that the workflow knows: it brings the work forward.
fn tells_of_agent(before: &Disk, event: &Event) -> bool {
    if event.hook != Hook::OnSubmit || !is_looping(before) {
        return false;
    }
    let prompt = event.fields["prompt"].as_str().unwrap_or_default();
    let message = prompt.strip_prefix("<agent-message from=\"").and_then(|rest| rest.split('"').next());
    let task = || prompt.strip_prefix("<task-notification>")?.split("<task-id>").nth(1)?.split('<').next();
    let (Some(id), Some(flow)) = (message.or_else(task), &before.flow) else { return false };
    flow.finished.iter().any(|(known, _)| known == id)
        || flow.agents.iter().any(|agent| agent.id.as_deref() == Some(id))
}

fn is_ended_session(disk: &Disk) -> bool {
    disk.flow.as_ref().is_some_and(Flow::is_open) && disk.looping.stopped_by.as_deref() == Some("session-end")
}

fn is_looping(disk: &Disk) -> bool {
    disk.flow.as_ref().is_some_and(Flow::is_open) && !disk.looping.stopped
}

/// The agents that are given up by an event.
pub(crate) fn is_lost(before: &Disk, meaning: &Meaning, door: Option<&Door>, agent: &AgentOnDisk) -> bool {
    match meaning {
        Meaning::SessionStart { compact: false } => true,
        Meaning::Stop { .. } => door != Some(&Door::Silent),
        Meaning::Gone { reporter, channel: Channel::Notification } => {
            agent.call.as_deref() == Some(&reporter.call) || agent.id.as_deref() == Some(&reporter.id)
        }
        Meaning::Gone { reporter, .. } | Meaning::Interrupted(reporter) => {
            is_sent_with(before, reporter, agent)
        }
        _ if interrupts(before, meaning) => !agent.background,
        _ => false,
    }
}

/// Whether an agent is recorded as one that works from now on.
pub(crate) fn is_admitted(before: &Disk, meaning: &Meaning) -> bool {
    match meaning {
        Meaning::Delegate { agent, call } => {
            let is_known =
                before.flow.iter().flat_map(|flow| &flow.agents).any(|a| a.call.as_ref() == Some(call));
            !is_known && rules::gate(before, *agent) == Ruling::Allow
        }
        Meaning::Continue { id } => rules::gate_of_continued(before, id) == Ruling::Allow,
        // Whomever the user writes to starts again, whether its stage may or not.
        Meaning::AgentStart { id, .. } => {
            before.flow.as_ref().is_some_and(|flow| flow.is_open() && flow.has_finished(id))
        }
        _ => false,
    }
}

/// The workflow after these events; `None` when an agent without a record ends, because its stage is then a guess.
pub(crate) fn flow_after(before: &Disk, events: &[&Event], door: Option<&Door>) -> Option<Flow> {
    let mut now = before.clone();
    for event in events {
        now.flow = Some(step(&now, &event.meaning, door)?);
    }
    now.flow
}

fn step(now: &Disk, meaning: &Meaning, door: Option<&Door>) -> Option<Flow> {
    let mut flow = now.flow.clone()?;
    if !flow.is_open() {
        return Some(flow);
    }
    flow = rules::release(&flow, |agent| is_lost(now, meaning, door, agent));
    let begun = flow.stages.iter().any(|stage| stage.attempts > 0);
    match meaning {
        Meaning::StrayEnds => return None,
        Meaning::Prompt(Input::Text) | Meaning::UserAnswer => flow.user_wrote |= begun,
        Meaning::Delegate { agent, call } if is_admitted(now, meaning) => {
            start(&mut flow, *agent, true, Some(call.clone()), None);
        }
        Meaning::Continue { id } if is_admitted(now, meaning) => {
            let agent = flow.finished.iter().find(|(finished, _)| finished == id)?.1?;
            start(&mut flow, agent, true, None, Some(id.clone()));
        }
        Meaning::AgentStart { agent: Some(agent), id } if is_admitted(now, meaning) => {
            // The user wrote to it.
            let mut asked = now.clone();
            asked.flow.iter_mut().for_each(|flow| flow.user_wrote = true);
            let may_start = rules::gate(&asked, *agent) == Ruling::Allow;
            flow.user_wrote |= may_start;
            start(&mut flow, *agent, may_start, None, Some(id.clone()));
        }
        Meaning::Report { reporter, channel, content } => {
            report(&mut flow, now, reporter, *channel, *content);
        }
        _ => {}
    }
    Some(flow)
}

/// Sends an agent: a repair opens what it is for, and after a change of the code everything behind it runs again.
fn start(flow: &mut Flow, agent: Agent, may_start: bool, call: Option<String>, id: Option<String>) {
    let target = rules::target(flow, agent).map(|stage| stage.key).filter(|_| may_start);
    if may_start {
        let opened = rules::opened_by(flow, agent);
        flow.stages.iter_mut().filter(|stage| opened.contains(&stage.key)).for_each(StageOnDisk::reopen);
    }
    if let Some(key) = target.filter(|_| agent == Agent::Developer) {
        let behind = flow.stages.iter_mut().skip_while(|stage| stage.key != key).skip(1);
        behind.filter(|stage| stage.status == Status::Completed).for_each(StageOnDisk::reopen);
    }
    if may_start && target.is_none() && rules::changes_code(agent) {
        let judged = rules::judged_before(flow);
        flow.stages.iter_mut().filter(|stage| judged.contains(&stage.key)).for_each(StageOnDisk::reopen);
    }
    if let Some(stage) = flow.stages.iter_mut().find(|stage| Some(stage.key) == target) {
        stage.attempts += 1;
        if stage.status != Status::Active {
            stage.reopen();
            stage.status = Status::Active;
        }
    }
    // One answer may be about several blocked stages.
    flow.user_wrote &= flow.stages.iter().any(StageOnDisk::is_blocked);
    flow.finished.retain(|(finished, _)| id.as_ref() != Some(finished));
    let stage = if may_start { target.or_else(|| agent.stage().map(StageKey::first)) } else { None };
    let (background, awaits_start) = (id.is_some(), id.is_some());
    flow.agents.push(AgentOnDisk {
        agent,
        stage,
        call,
        id,
        background,
        awaits_start,
        sent_back_for: Vec::new(),
        handoff: None,
    });
}

/// Of two agents on the same stage, the worse verdict counts when the second one is done.
fn report(flow: &mut Flow, now: &Disk, reporter: &Reporter, channel: Channel, content: Content) {
    let Some(at) = rules::entry(flow, reporter, channel) else { return };
    match rules::reception(now, reporter, channel, content) {
        Reception::Ignored => {}
        Reception::SentBack(missing) => flow.agents[at].sent_back_for.push(missing.to_owned()),
        Reception::Ends(verdict) => {
            let ended = flow.agents.remove(at);
            flow.finished.push((reporter.id.clone(), Some(reporter.agent)));
            let Some(stage) = flow.stages.iter_mut().find(|stage| Some(stage.key) == ended.stage) else {
                return;
            };
            let earlier = stage.result.as_deref().and_then(Verdict::from_key);
            stage.result = verdict.into_iter().chain(earlier).max().map(|worst| worst.key().to_owned());
            let key = stage.key;
            rules::settle(flow, key);
        }
    }
}

/// The pause and the turn of a loop.
pub(crate) type LoopState = (Option<String>, Option<String>);

pub(crate) fn loop_state(looping: &Looping) -> LoopState {
    (looping.paused.clone(), looping.turn.clone())
}

/// The loop after these events: it pauses when the user interrupts it or nothing moves, and goes on when somebody is
/// sent to work.
pub(crate) fn loop_after(before: &Disk, events: &[&Event], door: Option<&Door>) -> LoopState {
    let (mut paused, mut turn) = loop_state(&before.looping);
    let working = || Some("working".to_owned());
    for event in events {
        let Event { hook, meaning, .. } = event;
        if tells_of_agent(before, event) && paused.as_deref() == Some("interrupted") {
            paused = None;
        }
        if interrupts(before, meaning) {
            paused = Some("interrupted".to_owned());
        }
        match meaning {
            Meaning::Prompt(Input::Look) if is_looping(before) => turn = Some("looking".to_owned()),
            // Prompts that the client makes itself begin a turn, too.
            _ if *hook == Hook::OnSubmit && is_looping(before) => turn = working(),
            Meaning::Interrupted(gone) if is_recorded(before, gone) => {
                paused = Some("interrupted".to_owned());
            }
            Meaning::SessionStart { compact: false } => {
                turn = None;
                // A loop that got nowhere tries again in a new process.
                if is_ended_session(before) && paused.as_deref() == Some("no-progress") {
                    paused = None;
                }
            }
            Meaning::Stop { .. } if before.flow.as_ref().is_some_and(Flow::is_open) => match door {
                Some(Door::GoOn(_)) => {}
                Some(Door::Stuck) => (paused, turn) = (Some("no-progress".to_owned()), None),
                _ => turn = None,
            },
            _ if is_admitted(before, meaning) => (paused, turn) = (None, working()),
            _ => {}
        }
    }
    (paused, turn)
}

fn is_sent_with(disk: &Disk, reporter: &Reporter, agent: &AgentOnDisk) -> bool {
    let Some(flow) = &disk.flow else { return false };
    rules::sent_with(flow, reporter).is_some_and(|at| flow.agents[at] == *agent)
}

fn is_recorded(disk: &Disk, reporter: &Reporter) -> bool {
    disk.flow.as_ref().is_some_and(|flow| rules::sent_with(flow, reporter).is_some())
}
