//! Promises about what the client is told.

use overtone_core::registry::{Agent, Hook, Stage};
use serde_json::Value;

use super::{Held, Look, require};
use crate::soak::disk::{Flow, Looping};
use crate::soak::event::{Channel, Event, Input, Meaning};
use crate::soak::rules::{self, Door, Next, Reception, Ruling};
use crate::soak::seat::Played;
use crate::soak::words::{Orders, offers, orders, pushes};

/// What reaches the model.
pub(crate) fn model_text(answer: &Value) -> &str {
    let specific = &answer["hookSpecificOutput"];
    let texts = [&specific["additionalContext"], &specific["permissionDecisionReason"], &answer["reason"]];
    texts.into_iter().find_map(Value::as_str).unwrap_or_default()
}

pub(crate) fn is_denied(answer: &Value) -> bool {
    answer["hookSpecificOutput"]["permissionDecision"] == "deny"
}

/// Whether an agent that wants to end is asked to go on.
pub(crate) fn is_sent_back(answer: &Value) -> bool {
    answer["decision"] == "block" || is_denied(answer)
}

pub(super) fn gate(look: &Look) -> Held {
    let Some(flow) = &look.before.flow else { return Ok(()) };
    for Played { event, answer } in look.played {
        let Some(answer) = answer else { continue };
        let due = match &event.meaning {
            // Asked again about a call that is recorded, the answer is the same.
            Meaning::Delegate { call, .. }
                if flow.is_open() && flow.agents.iter().any(|a| a.call.as_ref() == Some(call)) =>
            {
                Ruling::Allow
            }
            Meaning::Delegate { agent, .. } => rules::gate(look.before, *agent),
            // Without an objection the message is left to the client.
            Meaning::Continue { id } => match rules::gate_of_continued(look.before, id) {
                Ruling::Deny => Ruling::Deny,
                Ruling::Allow | Ruling::NoOpinion => Ruling::NoOpinion,
            },
            _ => continue,
        };
        let ruling = match answer["hookSpecificOutput"]["permissionDecision"].as_str() {
            Some("allow") => Ruling::Allow,
            Some("deny") => Ruling::Deny,
            _ => Ruling::NoOpinion,
        };
        require(ruling == due, || format!("{:?} is answered {ruling:?}, due is {due:?}", event.meaning))?;
        require(ruling != Ruling::Allow || keeps_input(event, answer), || {
            "the input is not whole".to_owned()
        })?;
    }
    Ok(())
}

/// How long the reason of a refusal may be, which the client shows to the user: one sentence with the names of all
/// stages of the longest workflow.
const SHORT_REASON: usize = 80;

/// The user reads one short line without the words that steer a model; the model gets its advice apart.
pub(super) fn refusals(look: &Look) -> Held {
    for Played { event, answer } in look.played {
        let Some(answer) = answer.as_ref().filter(|answer| is_denied(answer)) else { continue };
        // What is sent back is for the agent that reads it.
        if matches!(event.meaning, Meaning::Report { .. } | Meaning::StrayEnds) {
            continue;
        }
        let specific = &answer["hookSpecificOutput"];
        let reason = specific["permissionDecisionReason"].as_str().unwrap_or_default();
        let is_short = reason.starts_with("Overtone") && reason.chars().count() <= SHORT_REASON;
        let is_calm = !reason.contains('\n') && !reason.contains('⛔');
        require(is_short && is_calm, || format!("the reason is {reason:?}"))?;
        let advice = specific["additionalContext"].as_str().unwrap_or_default();
        require(!advice.is_empty(), || "there is no advice".to_owned())?;
    }
    Ok(())
}

pub(super) fn user_is_left_alone(look: &Look) -> Held {
    for Played { event, answer } in look.played {
        let Some(answer) = answer else { continue };
        let seen = answer["systemMessage"].as_str();
        let fits = match event.hook {
            Hook::OnStart if matches!(event.meaning, Meaning::SessionStart { compact: false }) => {
                seen.is_some_and(|line| !line.is_empty() && !line.contains('\n'))
            }
            // What the user's own command has done.
            Hook::OnSubmit if matches!(event.meaning, Meaning::Prompt(Input::Stop)) => {
                seen.is_none_or(|line| !line.contains('\n') && !line.contains('⛔'))
            }
            Hook::OnStart | Hook::OnSubmit | Hook::PreTask | Hook::OnAgentStop | Hook::OnHandback => {
                seen.is_none()
            }
            // The recovery text is for the model, whatever the field is called.
            Hook::PreCompact => true,
            _ => seen.is_none_or(|text| !text.contains('⛔')),
        };
        require(fits, || format!("{} shows {seen:?}", event.hook.name()))?;
    }
    Ok(())
}

/// Exactly what has to be sent back is: once for a missing verdict, once for open tasks, and never otherwise.
pub(super) fn sent_back(look: &Look) -> Held {
    let mut due = 0;
    for Played { event, answer } in look.played {
        let Meaning::Report { reporter, channel, content } = &event.meaning else { continue };
        let reception = rules::reception(look.before, reporter, *channel, *content);
        let expected = matches!(reception, Reception::SentBack(_));
        due += usize::from(expected);
        let Some(answer) = answer else { continue };
        require(is_sent_back(answer) == expected, || {
            format!("due is {reception:?} for {content:?} by {channel:?}")
        })?;
        require(!expected || answer["reason"].is_string() || is_denied(answer), || {
            "without words".to_owned()
        })?;
    }
    let new = look.after().timeline.get(look.before.timeline.len()..).unwrap_or_default();
    let lines = new.lines().filter(|line| line.contains("\"report-sent-back\"")).count();
    require(lines == due || look.was_killed(), || format!("{lines} lines for {due} reports sent back"))
}

/// An approval replaces the whole input, so all of it must be there, with the prompt at its end.
fn keeps_input(event: &Event, answer: &Value) -> bool {
    let updated = &answer["hookSpecificOutput"]["updatedInput"];
    let given = event.fields["tool_input"].as_object().into_iter().flatten();
    given.into_iter().all(|(name, value)| match (name.as_str(), value.as_str(), updated[name].as_str()) {
        ("prompt", Some(prompt), Some(longer)) => longer.len() > prompt.len() && longer.ends_with(prompt),
        _ => updated[name] == *value,
    })
}

/// How a Stop was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answered {
    GoOn,
    LetGo { with_words: bool },
}

fn answered(answer: &Value) -> Answered {
    if answer["decision"] == "block" || !model_text(answer).is_empty() {
        return Answered::GoOn;
    }
    Answered::LetGo { with_words: answer["systemMessage"].is_string() }
}

pub(super) fn door(look: &Look) -> Held {
    let ([Played { answer: Some(answer), .. }], Some(door)) = (look.played, &look.door) else {
        return Ok(());
    };
    let after = look.after();
    let ending = after.flow.as_ref().and_then(|flow| flow.ending.as_deref());
    let was = answered(answer);
    let stopped_by = look.before.looping.stopped_by.as_deref();
    let with_words = Answered::LetGo { with_words: true };
    let without_words = Answered::LetGo { with_words: false };
    let fits = match door {
        Door::Silent => {
            // Only the turn has ended.
            let looping = Looping { turn: look.before.looping.turn.clone(), ..after.looping.clone() };
            let untouched = after.flow == look.before.flow && looping == look.before.looping;
            was == without_words && untouched
        }
        Door::Stopped | Door::Paused => {
            let is_news = !look.before.looping.announced && stopped_by != Some("limit");
            was == Answered::LetGo { with_words: is_news } && after.looping.announced && ending.is_none()
        }
        Door::Looked => was == without_words && ending.is_none(),
        Door::Blocked => was == with_words && ending.is_none() && !after.looping.stopped,
        Door::GoOn(_) => was == Answered::GoOn && ending.is_none(),
        Door::Complete => was == with_words && ending == Some("completed"),
        Door::Abort(_) => was == with_words && ending == Some("aborted"),
        Door::Tired => was == with_words && after.looping.stopped_by.as_deref() == Some("limit"),
        Door::Stuck => {
            was == with_words && !after.looping.stopped && after.looping.announced && ending.is_none()
        }
    };
    require(fits, || {
        format!("due is {door:?}, it was {was:?} and the workflow is {ending:?}, {:?}", after.looping)
    })
}

/// What the main agent has to do now.
fn due(look: &Look, flow: &Flow) -> Option<Orders> {
    match rules::next(flow) {
        Next::Send(agents) => Some(Orders::Send(agents)),
        Next::Ask(agent) => Some(Orders::Ask(vec![agent])),
        Next::Done if look.after().tasks.as_ref().is_some_and(|tasks| !tasks.open.is_empty()) => {
            Some(Orders::Send(vec![Agent::Developer]))
        }
        Next::Done | Next::Wait | Next::User(_) => None,
    }
}

/// Whatever the main agent is asked to do is what the state asks for; and so is what it may offer to the user.
pub(super) fn orders_fit(look: &Look) -> Held {
    let Some(flow) = look.after().flow.as_ref().filter(|flow| flow.is_open()) else { return Ok(()) };
    if look.was_killed() {
        return Ok(());
    }
    let texts = look.played.iter().filter(|one| gives_orders(&one.event));
    let texts: Vec<_> = texts.filter_map(|one| one.answer.as_ref()).map(model_text).collect();
    // Of hooks that run at the same time, the last to have got the lock knows best, and who that was is not known.
    let given: Vec<_> = texts.iter().filter_map(|text| orders(text)).collect();
    let offered: Vec<_> = texts.iter().filter_map(|text| offers(text)).collect();
    let due = due(look, flow);
    let stop = matches!(look.door, Some(Door::GoOn(_)));
    // An offer names who would be the first to go on.
    let is_due = |offer: &Orders| due.as_ref().is_some_and(|due| due.agents().starts_with(offer.agents()));
    let is_silent = given.is_empty() && offered.is_empty();
    let fits =
        is_silent || given.iter().any(|orders| Some(orders) == due.as_ref()) || offered.iter().any(is_due);
    require(fits && (!stop || due.is_none() || !given.is_empty()), || {
        format!("the orders are {given:?}, offered is {offered:?}, due is {due:?}")
    })
}

/// A failed launch is answered with the client's words, which name the agent and order nothing.
fn gives_orders(event: &Event) -> bool {
    match event.meaning {
        Meaning::Gone { .. } => event.hook == Hook::OnSubmit,
        Meaning::Report { channel, .. } => {
            !matches!(channel, Channel::Stop | Channel::StopBeforeHandback | Channel::Handback)
        }
        Meaning::Stop { .. }
        | Meaning::Delivery
        | Meaning::Prompt(_)
        | Meaning::AgentStoppedByUser
        | Meaning::Delegate { .. }
        | Meaning::Continue { .. } => true,
        _ => false,
    }
}

/// A loop that the user has stopped or interrupted, or that waits for them, pushes nobody. Whoever delegates all the
/// same is answered as always.
pub(super) fn halted_is_quiet(look: &Look) -> Held {
    let looping = &look.after().looping;
    if !looping.stopped && looping.paused.is_none() {
        return Ok(());
    }
    for Played { event, answer } in look.played {
        let Some(answer) = answer else { continue };
        let is_report = matches!(event.meaning, Meaning::Report { .. });
        let text = match event.hook {
            Hook::PreCompact => answer["systemMessage"].as_str().unwrap_or_default(),
            Hook::OnStart | Hook::OnSubmit | Hook::PostUse => model_text(answer),
            Hook::PostUseFailure if is_report => model_text(answer),
            Hook::OnStop => {
                require(answered(answer) != Answered::GoOn, || "it was sent back to work".to_owned())?;
                continue;
            }
            _ => continue,
        };
        require(!pushes(text), || format!("{text:?}"))?;
    }
    Ok(())
}

pub(super) fn recovery_names_the_place(look: &Look) -> Held {
    let Some(flow) = look.after().flow.as_ref().filter(|flow| flow.is_open()) else { return Ok(()) };
    for Played { event, answer } in look.played {
        let Some(answer) = answer else { continue };
        let text = match event.meaning {
            Meaning::SessionStart { .. } => model_text(answer),
            Meaning::Compacting => answer["systemMessage"].as_str().unwrap_or_default(),
            _ => continue,
        };
        let agents = match rules::next(flow) {
            Next::Send(agents) => agents,
            Next::Ask(agent) => vec![agent],
            _ => Vec::new(),
        };
        let agents = agents.iter().map(|agent| format!("ot:{}", agent.name()));
        let stage = flow.current.map(|key| key.stage).map(Stage::label).unwrap_or_default().to_owned();
        let wanted = [flow.workflow.name().to_owned(), stage].into_iter().chain(agents);
        for word in wanted {
            require(text.contains(&word), || format!("{word:?} is not in {text:?}"))?;
        }
    }
    Ok(())
}

/// A text that waits for the main agent has reached it when the main agent is spoken to.
pub(super) fn texts_are_delivered(look: &Look) -> Held {
    let Some(flow) = &look.after().flow else { return Ok(()) };
    let spoken = look.played.iter().all(|one| match one.event.meaning {
        Meaning::Prompt(_) | Meaning::Delivery => true,
        Meaning::Report { channel, .. } => {
            matches!(channel, Channel::Result | Channel::Notification | Channel::Message)
        }
        Meaning::Stop { .. } => matches!(look.door, Some(Door::GoOn(_))),
        _ => false,
    });
    require(!spoken || look.was_killed() || flow.waiting_texts == 0, || {
        format!("{} texts still wait", flow.waiting_texts)
    })
}
