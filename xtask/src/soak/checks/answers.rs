//! Promises about what the client is told.

use overtone_registry::{Hook, Stage};
use serde_json::Value;

use super::{Held, Look, require};
use crate::soak::event::{Event, Meaning};
use crate::soak::rules::{self, Door, Next, Ruling};
use crate::soak::seat::Played;
use crate::soak::words::{Orders, orders};

/// What reaches the model.
pub(crate) fn told(answer: &Value) -> &str {
    let specific = &answer["hookSpecificOutput"];
    let texts = [&specific["additionalContext"], &specific["permissionDecisionReason"], &answer["reason"]];
    texts.into_iter().find_map(Value::as_str).unwrap_or_default()
}

pub(super) fn gate(look: &Look) -> Held {
    let Some(flow) = &look.before.flow else { return Ok(()) };
    for Played { event, answer } in look.played {
        let (Meaning::Delegate { agent, .. }, Some(answer)) = (&event.meaning, answer) else { continue };
        let ruling = match answer["hookSpecificOutput"]["permissionDecision"].as_str() {
            Some("allow") => Ruling::Allow,
            Some("deny") => Ruling::Deny,
            _ => Ruling::NoOpinion,
        };
        let due = rules::gate(flow, *agent);
        require(ruling == due, || format!("{} is answered {ruling:?}, due is {due:?}", agent.name()))?;
        require(ruling != Ruling::Allow || keeps_input(event, answer), || {
            "the input is not whole".to_owned()
        })?;
    }
    Ok(())
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
    if answer["decision"] == "block" || !told(answer).is_empty() {
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
    let with_words = Answered::LetGo { with_words: true };
    let fits = match door {
        Door::Silent => {
            let untouched = after.flow == look.before.flow && after.looping == look.before.looping;
            was == Answered::LetGo { with_words: false } && untouched
        }
        Door::Stopped => was != Answered::GoOn && after.looping.announced && ending.is_none(),
        Door::GoOn(_) => was == Answered::GoOn && ending.is_none(),
        Door::Complete => was == with_words && ending == Some("completed"),
        Door::Abort(_) => was == with_words && ending == Some("aborted"),
        Door::Tired => was == with_words && after.looping.stopped_by.as_deref() == Some("limit"),
        Door::Stuck => was == with_words && !after.looping.stopped && ending.is_none(),
    };
    require(fits, || {
        format!("due is {door:?}, it was {was:?} and the workflow is {ending:?}, {:?}", after.looping)
    })
}

/// Whatever the main agent is told to do is what the state asks for.
pub(super) fn orders_fit(look: &Look) -> Held {
    let Some(flow) = look.after().flow.as_ref().filter(|flow| flow.is_open()) else { return Ok(()) };
    if look.was_killed() || look.after().looping.stopped {
        return Ok(());
    }
    let texts = look.played.iter().filter(|one| gives_orders(&one.event));
    let texts: Vec<_> = texts.filter_map(|one| one.answer.as_ref()).map(told).collect();
    // Of hooks that run at the same time, the last to have got the lock knows best, and who that was is not known.
    let given: Vec<_> = texts.into_iter().filter_map(orders).collect();
    let due = match rules::next(flow) {
        Next::Send(agents) => Some(Orders::Send(agents)),
        Next::Done if look.after().tasks.as_ref().is_some_and(|tasks| !tasks.open.is_empty()) => {
            Some(Orders::Tick)
        }
        _ => None,
    };
    let stop = matches!(look.door, Some(Door::GoOn(_)));
    let fits = given.is_empty() || given.iter().any(|orders| Some(orders) == due.as_ref());
    require(fits && (!stop || due.is_none() || !given.is_empty()), || {
        format!("told {given:?}, due is {due:?}")
    })
}

/// A failed launch is told with the client's words, which name the agent and order nothing.
fn gives_orders(event: &Event) -> bool {
    match event.meaning {
        Meaning::Gone { .. } => event.hook == Hook::OnSubmit,
        Meaning::Stop { .. } | Meaning::Delivery | Meaning::Ends { .. } | Meaning::Prompt => true,
        _ => false,
    }
}

pub(super) fn recovery_names_the_place(look: &Look) -> Held {
    let Some(flow) = look.after().flow.as_ref().filter(|flow| flow.is_open()) else { return Ok(()) };
    for Played { event, answer } in look.played {
        let Some(answer) = answer else { continue };
        let text = match event.meaning {
            Meaning::SessionStart { .. } => told(answer),
            Meaning::Compacting => answer["systemMessage"].as_str().unwrap_or_default(),
            _ => continue,
        };
        let agents = match rules::next(flow) {
            Next::Send(agents) => agents.iter().map(|agent| format!("ot:{}", agent.name())).collect(),
            _ => Vec::new(),
        };
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
        Meaning::Prompt | Meaning::Delivery => true,
        Meaning::Stop { .. } => matches!(look.door, Some(Door::GoOn(_))),
        _ => false,
    });
    require(!spoken || look.was_killed() || flow.waiting_texts == 0, || {
        format!("{} texts still wait", flow.waiting_texts)
    })
}
