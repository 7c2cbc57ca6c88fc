//! Who says what: a list of turns for each actor.

use std::collections::{HashMap, VecDeque};
use std::fmt;

use crate::{Actor, Request, Turn, text};

type Responder = Box<dyn FnMut(&Request) -> Turn + Send>;

/// The model's part of a scenario. An actor whose turns have run out, or that has none, says "ok";
/// a sub-agent of ours says it with the verdict PASS.
#[derive(Default)]
pub struct Script {
    parts: HashMap<Actor, Part>,
    others: Option<Responder>,
    reviewer_marker: Option<String>,
}

#[derive(Default)]
struct Part {
    turns: VecDeque<Turn>,
    responder: Option<Responder>,
}

impl Script {
    /// The turns of the main agent.
    #[must_use]
    pub fn main(self, turns: impl IntoIterator<Item = Turn>) -> Self {
        self.actor(Actor::Main, turns)
    }

    /// The turns of one of our sub-agents, by its name with or without `ot:`. Instances that run at the same
    /// time take the turns in the order in which they ask.
    #[must_use]
    pub fn sub(self, agent: &'static str, turns: impl IntoIterator<Item = Turn>) -> Self {
        self.actor(Actor::Sub(agent), turns)
    }

    /// What the summariser answers when the client compacts.
    #[must_use]
    pub fn compaction(self, turns: impl IntoIterator<Item = Turn>) -> Self {
        self.actor(Actor::Compaction, turns)
    }

    /// The turns of a forked reviewer, which has `marker` in its prompts.
    #[must_use]
    pub fn reviewer(mut self, marker: &str, turns: impl IntoIterator<Item = Turn>) -> Self {
        self.reviewer_marker = Some(marker.to_owned());
        self.actor(Actor::Reviewer, turns)
    }

    /// Adds turns for any actor.
    #[must_use]
    pub fn actor(mut self, actor: Actor, turns: impl IntoIterator<Item = Turn>) -> Self {
        self.parts.entry(actor.checked()).or_default().turns.extend(turns);
        self
    }

    /// Answers the main agent by a function, once its listed turns are used up.
    #[must_use]
    pub fn main_with(self, responder: impl FnMut(&Request) -> Turn + Send + 'static) -> Self {
        self.actor_with(Actor::Main, responder)
    }

    /// Answers any actor by a function, once its listed turns are used up.
    #[must_use]
    pub fn actor_with(
        mut self,
        actor: Actor,
        responder: impl FnMut(&Request) -> Turn + Send + 'static,
    ) -> Self {
        self.parts.entry(actor.checked()).or_default().responder = Some(Box::new(responder));
        self
    }

    /// Answers every actor that has no turns and no function of its own.
    #[must_use]
    pub fn others_with(mut self, responder: impl FnMut(&Request) -> Turn + Send + 'static) -> Self {
        self.others = Some(Box::new(responder));
        self
    }

    pub(crate) fn reviewer_marker(&self) -> Option<&str> {
        self.reviewer_marker.as_deref()
    }

    /// The next turn of the actor that asks.
    pub(crate) fn next(&mut self, request: &Request) -> Turn {
        let Some(part) = self.parts.get_mut(&request.actor()) else {
            return match &mut self.others {
                Some(responder) => responder(request),
                None => by_default(request.actor()),
            };
        };
        match (part.turns.pop_front(), &mut part.responder) {
            (Some(turn), _) => turn,
            (None, Some(responder)) => responder(request),
            (None, None) => by_default(request.actor()),
        }
    }
}

/// What an actor without a turn says. An agent of ours also gives the verdict that its report needs.
fn by_default(actor: Actor) -> Turn {
    match actor {
        Actor::Sub(_) => text("ok <!-- VERDICT: {\"result\":\"PASS\"} -->"),
        _ => text("ok"),
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let left = self.parts.iter().map(|(actor, part)| (actor, part.turns.len()));
        f.debug_map().entries(left).finish()
    }
}
