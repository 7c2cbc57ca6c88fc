//! The promises, one by one. Each is looked at after every event, from the files on disk and the answers alone.

pub(crate) mod answers;
mod state;
mod timeline;

use super::disk::{Disk, Flow};
use super::event::Event;
use super::rules::Door;
use super::seat::{Played, Seat};

/// What has happened since the last look.
#[derive(Debug)]
pub(crate) struct Look<'a> {
    /// With the disk and the model as they are now.
    pub(crate) seat: &'a Seat<'a>,
    pub(crate) before: &'a Disk,
    pub(crate) played: &'a [Played],
    /// What a Stop must come to.
    pub(crate) door: Option<Door>,
}

type Held = Result<(), String>;

struct Promise {
    name: &'static str,
    holds: fn(&Look) -> Held,
}

const PROMISES: [Promise; 28] = [
    Promise { name: "no file is left lying about", holds: state::no_litter },
    Promise { name: "counters never fall", holds: state::counters_never_fall },
    Promise { name: "nothing is completed that was not started", holds: state::completed_was_started },
    Promise { name: "stages in front have a good verdict before one is active", holds: state::in_order },
    Promise { name: "failures and rejections stay within the limit", holds: state::within_limits },
    Promise { name: "the workflow waits for exactly the agents that were sent", holds: state::agents_agree },
    Promise { name: "no agent is there twice", holds: state::no_agent_twice },
    Promise { name: "active stages and working agents belong together", holds: state::active_has_agent },
    Promise {
        name: "stages and counters change as the event asks, and once",
        holds: state::changes_as_asked,
    },
    Promise { name: "the loop pauses and goes on as the user asks", holds: state::loop_follows_the_user },
    Promise { name: "what does not concern the workflow does not change it", holds: state::beside_is_beside },
    Promise { name: "a handoff that is named is there", holds: state::handoffs_exist },
    Promise {
        name: "completed means: every stage resolved, every task ticked",
        holds: state::complete_is_complete,
    },
    Promise { name: "the gate lets through what is due and nothing else", holds: answers::gate },
    Promise {
        name: "a session is kept going while work remains, and let go otherwise",
        holds: answers::door,
    },
    Promise { name: "orders are what the state asks for", holds: answers::orders_fit },
    Promise {
        name: "after a stop or an interruption nothing orders the model on",
        holds: answers::halted_is_quiet,
    },
    Promise { name: "a report is sent back once for what is missing", holds: answers::sent_back },
    Promise { name: "refusals are short, with advice for the model", holds: answers::refusals },
    Promise {
        name: "the user sees one line at a start, and none with a prompt",
        holds: answers::user_is_left_alone,
    },
    Promise { name: "recovery texts name where the work stands", holds: answers::recovery_names_the_place },
    Promise { name: "texts are delivered once", holds: answers::texts_are_delivered },
    Promise {
        name: "the timeline only grows, in whole lines of known types",
        holds: timeline::grows_in_whole_lines,
    },
    Promise { name: "a workflow's events come after its start", holds: timeline::begins_with_the_start },
    Promise { name: "whoever ends was delegated before", holds: timeline::ends_were_delegated },
    Promise { name: "a report without a verdict never passes", holds: timeline::unclear_never_passes },
    Promise { name: "a stage's change of state is in the timeline", holds: timeline::tells_what_changed },
    Promise { name: "an end is told once, with its reason", holds: timeline::ending_is_told },
];

/// The first promise that does not hold, and why.
pub(crate) fn first_broken(look: &Look) -> Option<(&'static str, String)> {
    PROMISES.iter().find_map(|promise| (promise.holds)(look).err().map(|what| (promise.name, what)))
}

impl Look<'_> {
    pub(crate) fn after(&self) -> &Disk {
        &self.seat.disk
    }

    /// The workflow before and after, if it is the same one.
    fn same_flow(&self) -> Option<(&Flow, &Flow)> {
        let (before, after) = (self.before.flow.as_ref()?, self.after().flow.as_ref()?);
        (before.created_at == after.created_at).then_some((before, after))
    }

    fn events(&self) -> Vec<&Event> {
        self.played.iter().map(|one| &one.event).collect()
    }

    fn was_killed(&self) -> bool {
        self.played.iter().any(|one| one.answer.is_none())
    }
}

fn require(holds: bool, otherwise: impl FnOnce() -> String) -> Held {
    if holds { Ok(()) } else { Err(otherwise()) }
}
