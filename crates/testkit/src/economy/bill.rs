//! What a session has cost: its input, by who has sent it and where it comes from.

use std::collections::BTreeMap;

use overtone_core::registry::{Agent, Stage, StageKey};
use serde::Serialize;

use super::cache::{Cache, Cost};
use super::origin::{Origin, Reader, Segment};
use super::size::Size;
use crate::actor::AGENT_HEADER;
use crate::{Actor, Request};

/// The input of a session.
#[derive(Debug, Default, Serialize)]
pub struct Bill {
    /// The main agent first, then the stages in the order of the workflow.
    pub stages: Vec<StageBill>,
}

/// The requests of the main agent, or of one stage's agent.
#[derive(Debug, Serialize)]
pub struct StageBill {
    /// `main`, or the key of a stage.
    pub name: String,
    pub requests: u64,
    /// The input by its origin. An origin that has none is left out.
    pub origins: BTreeMap<Origin, Amount>,
    pub cost: Cost,
    #[serde(skip)]
    conversation: Conversation,
}

/// An amount of input.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Amount {
    pub bytes: u64,
    pub tokens: u64,
    #[serde(skip)]
    size: Size,
}

impl Amount {
    fn add(&mut self, size: Size) {
        self.size += size;
        (self.bytes, self.tokens) = (self.size.bytes, self.size.tokens());
    }
}

/// One conversation with the API. Its beginning is kept in the cache.
#[derive(Debug)]
struct Conversation {
    /// The id of a sub-agent, else empty.
    agent_id: String,
    actor: Actor,
    cache: Cache,
}

/// One piece of a request, as it is written out for a reader.
#[derive(Debug, Serialize)]
pub struct Piece<'a> {
    pub stage: &'a str,
    pub request: usize,
    pub origin: Origin,
    pub bytes: u64,
    pub text: &'a str,
}

impl Bill {
    /// Counts all requests. `order` has the names of the stages in their order; `look` is shown every piece of the requests.
    pub(super) fn new(
        requests: &[Request],
        order: &[String],
        reader: &Reader,
        mut look: impl FnMut(&Piece<'_>),
    ) -> Self {
        let mut bill = Self::default();
        for (number, request) in requests.iter().enumerate() {
            let segments = reader.segments(request);
            let stage = bill.stage_of(request);
            stage.add(request, &segments);
            for segment in &segments {
                let (origin, bytes) = (segment.origin, Size::of(&segment.text).bytes);
                look(&Piece { stage: &stage.name, request: number, origin, bytes, text: &segment.text });
            }
        }
        // Stages that run at the same time begin in any order.
        bill.stages.sort_by_key(|stage| order.iter().position(|name| *name == stage.name));
        bill
    }

    /// The entry for the conversation that the request belongs to.
    fn stage_of(&mut self, request: &Request) -> &mut StageBill {
        let id = request.header(AGENT_HEADER).unwrap_or_default();
        let actor = request.actor();
        let found = self.stages.iter().position(|stage| stage.conversation.is(actor, id));
        let at = found.unwrap_or_else(|| {
            let earlier = self.stages.iter().filter(|stage| stage.conversation.actor == actor).count();
            self.stages.push(StageBill::new(actor, id, earlier));
            self.stages.len() - 1
        });
        &mut self.stages[at]
    }
}

impl StageBill {
    fn new(actor: Actor, agent_id: &str, earlier: usize) -> Self {
        let conversation = Conversation { agent_id: agent_id.to_owned(), actor, cache: Cache::default() };
        let (requests, origins) = (0, BTreeMap::new());
        Self { name: name(actor, earlier), requests, origins, cost: Cost::default(), conversation }
    }

    fn add(&mut self, request: &Request, segments: &[Segment]) {
        self.requests += 1;
        for segment in segments {
            self.origins.entry(segment.origin).or_default().add(Size::of(&segment.text));
        }
        let model = request.body()["model"].as_str().unwrap_or_default();
        self.cost.add(self.conversation.cache.answer(segments, model));
    }
}

impl Conversation {
    fn is(&self, actor: Actor, agent_id: &str) -> bool {
        self.actor == actor && self.agent_id == agent_id
    }
}

/// The name of an actor's entry. An agent that has worked before is at the next occurrence of its stage.
fn name(actor: Actor, earlier: usize) -> String {
    match actor {
        Actor::Main => "main".to_owned(),
        Actor::Sub(agent) => match stage_of_agent(agent) {
            Some(stage) => {
                StageKey { stage, occurrence: u8::try_from(earlier + 1).unwrap_or(u8::MAX) }.to_string()
            }
            None => agent.to_owned(),
        },
        Actor::ForeignSub | Actor::Compaction | Actor::Reviewer | Actor::Side => "other".to_owned(),
    }
}

fn stage_of_agent(name: &str) -> Option<Stage> {
    let agent = Agent::from_name(name)?;
    Stage::ALL.into_iter().find(|stage| stage.agent() == agent)
}
