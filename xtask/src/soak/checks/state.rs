//! Promises about `workflow.json` and `loop.json`.

use std::collections::BTreeSet;

use overtone_core::registry::limits;

use super::{Held, Look, require};
use crate::soak::disk::{Flow, StageOnDisk, Status};
use crate::soak::event::Meaning;
use crate::soak::model;
use crate::soak::seat::agree;

pub(super) fn no_litter(look: &Look) -> Held {
    let litter = &look.after().litter;
    require(litter.is_empty(), || format!("{litter:?}"))
}

pub(super) fn counters_never_fall(look: &Look) -> Held {
    let Some((before, after)) = look.same_flow() else { return Ok(()) };
    let counters = |flow: &Flow| {
        let named = [
            ("failCount", flow.failures),
            ("rejectCount", flow.rejections),
            ("retroCount", flow.retros),
            ("handoffCount", flow.handoffs),
            ("completedStages", flow.completed_stages),
        ];
        let attempts = flow.stages.iter().map(|stage| (format!("attempts of {}", stage.key), stage.attempts));
        named.map(|(name, count)| (name.to_owned(), count)).into_iter().chain(attempts).collect::<Vec<_>>()
    };
    let rounds = (look.before.looping.iterations, look.after().looping.iterations);
    require(rounds.0 <= rounds.1, || format!("iterations fell from {} to {}", rounds.0, rounds.1))?;
    for ((name, was), (_, is)) in counters(before).into_iter().zip(counters(after)) {
        require(was <= is, || format!("{name} fell from {was} to {is}"))?;
    }
    Ok(())
}

pub(super) fn completed_was_started(look: &Look) -> Held {
    let stages = look.after().flow.iter().flat_map(|flow| &flow.stages);
    let unstarted = stages.into_iter().find(|stage| stage.status == Status::Completed && stage.attempts == 0);
    require(unstarted.is_none(), || format!("{unstarted:?}"))
}

/// A stage that is active has a good verdict on everything in front of it, its own group aside.
pub(super) fn in_order(look: &Look) -> Held {
    let Some(flow) = &look.after().flow else { return Ok(()) };
    for (at, stage) in flow.stages.iter().enumerate() {
        let group = flow.group(stage.key);
        let in_front = || flow.stages[..at].iter().filter(|other| !group.contains(&other.key));
        if stage.status == Status::Active {
            let open = in_front().find(|other| !other.is_resolved());
            require(open.is_none(), || format!("{} is active before {open:?}", stage.key))?;
        }
        if stage.attempts > 0 {
            let skipped = in_front().find(|other| other.attempts == 0);
            require(skipped.is_none(), || format!("{} was started before {skipped:?}", stage.key))?;
        }
    }
    Ok(())
}

/// The members of a group that runs when the limit is reached still end, so it may be passed by these.
pub(super) fn within_limits(look: &Look) -> Held {
    let Some(flow) = &look.after().flow else { return Ok(()) };
    let beside = flow.workflow.groups().iter().map(|group| group.members.len() - 1).max().unwrap_or(0) as u64;
    let counted = [
        ("failures", flow.failures - flow.forgiven_failures, limits::MAX_FAILURES),
        ("rejections", flow.rejections - flow.forgiven_rejections, limits::MAX_REJECTIONS),
    ];
    for (name, count, limit) in counted {
        require(count <= u64::from(limit) + beside, || format!("{count} {name} with a limit of {limit}"))?;
    }
    Ok(())
}

pub(super) fn agents_agree(look: &Look) -> Held {
    let agents = look.after().flow.as_ref().map(|flow| &flow.agents);
    require(agree(&look.seat.running, look.after()), || {
        format!("sent: {:?}\n  on disk: {agents:?}", look.seat.running)
    })
}

pub(super) fn no_agent_twice(look: &Look) -> Held {
    let Some(flow) = &look.after().flow else { return Ok(()) };
    let mut seen = BTreeSet::new();
    let names = flow.agents.iter().flat_map(|agent| [&agent.call, &agent.id]).flatten();
    match names.into_iter().find(|name| !seen.insert(*name)) {
        Some(name) => Err(format!("{name} is in {:?}", flow.agents)),
        None => Ok(()),
    }
}

pub(super) fn active_has_agent(look: &Look) -> Held {
    let Some(flow) = look.after().flow.as_ref().filter(|flow| flow.is_open()) else { return Ok(()) };
    let works_on = |stage: &StageOnDisk| flow.agents.iter().any(|agent| agent.stage == Some(stage.key));
    for stage in &flow.stages {
        let active = stage.status == Status::Active;
        require(active == works_on(stage), || {
            format!("{} is {:?} with the agents {:?}", stage.key, stage.status, flow.agents)
        })?;
    }
    Ok(())
}

/// Every event makes of the workflow what the rules say, and nothing more. A killed hook has done all of it or
/// nothing.
pub(super) fn changes_as_asked(look: &Look) -> Held {
    let Some((before, after)) = look.same_flow() else { return Ok(()) };
    let Some(expected) = model::flow_after(look.before, &look.events(), look.door.as_ref()) else {
        return Ok(());
    };
    let counts = |flow: &Flow| (flow.failures, flow.rejections, flow.retros, flow.user_wrote);
    let stages = |flow: &Flow| {
        let all = flow.stages.iter().map(|s| (s.key.to_string(), s.status, s.result.clone(), s.attempts));
        all.collect::<Vec<_>>()
    };
    let is_like = |flow: &Flow| counts(flow) == counts(after) && stages(flow) == stages(after);
    require(is_like(&expected) || (look.was_killed() && is_like(before)), || {
        format!(
            "it is {:?} (failures, rejections, retros, userWrote) with {:?}\n  instead of {:?} with {:?}",
            counts(after),
            stages(after),
            counts(&expected),
            stages(&expected)
        )
    })
}

pub(super) fn loop_follows_the_user(look: &Look) -> Held {
    let (before, after) = (model::loop_state(&look.before.looping), model::loop_state(&look.after().looping));
    let expected = model::loop_after(look.before, &look.events(), look.door.as_ref());
    require(after == expected || (look.was_killed() && after == before), || {
        format!("pause and turn are {after:?} instead of {expected:?}, before {before:?}")
    })
}

pub(super) fn beside_is_beside(look: &Look) -> Held {
    let all_beside = look.played.iter().all(|one| matches!(one.event.meaning, Meaning::Beside));
    require(!all_beside || look.before.flow == look.after().flow, || "workflow.json changed".to_owned())?;
    require(!all_beside || look.before.looping == look.after().looping, || "loop.json changed".to_owned())
}

pub(super) fn handoffs_exist(look: &Look) -> Held {
    let folder = look.seat.sandbox.session(&look.seat.session);
    let flow = look.after().flow.iter();
    let of_stages = flow.clone().flat_map(|flow| &flow.stages).filter_map(|stage| stage.handoff.as_ref());
    let sent_back = flow.flat_map(|flow| &flow.agents).filter_map(|agent| agent.handoff.as_ref());
    let missing = of_stages.chain(sent_back).find(|file| !folder.join(file).is_file());
    require(missing.is_none(), || format!("{missing:?}"))
}

pub(super) fn complete_is_complete(look: &Look) -> Held {
    let Some(flow) = look.after().flow.as_ref().filter(|flow| flow.ending.as_deref() == Some("completed"))
    else {
        return Ok(());
    };
    let open = flow.stages.iter().find(|stage| !stage.is_resolved());
    require(open.is_none(), || format!("{open:?} is not resolved"))?;
    // A killed hook may leave the feature where it was; the next Stop puts it away.
    let stopped = look.door.is_some() && !look.was_killed();
    require(look.after().tasks.is_none() || !stopped, || {
        format!("the feature {:?} is still in progress", flow.feature)
    })
}
