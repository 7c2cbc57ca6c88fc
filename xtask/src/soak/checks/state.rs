//! Promises about `workflow.json` and `loop.json`.

use std::collections::BTreeSet;

use overtone_registry::{Agent, limits};

use super::{Held, Look, require};
use crate::soak::disk::{Flow, StageOnDisk, Status};
use crate::soak::event::Meaning;
use crate::soak::rules::{Door, without_agents};
use crate::soak::seat::agree;
use crate::soak::words::Verdict;

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

/// A stage that is active has everything in front of it resolved, its own group aside.
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

/// Every end of an agent counts what it said and nothing more; nothing else counts at all.
pub(super) fn verdict_is_counted(look: &Look) -> Held {
    let Some((before, after)) = look.same_flow() else { return Ok(()) };
    let Some(expected) = after_the_ends(look, before).filter(|_| !look.was_killed()) else { return Ok(()) };
    let counts = |flow: &Flow| (flow.failures, flow.rejections, flow.retros);
    require(counts(&expected) == counts(after), || {
        format!(
            "counted {:?} instead of {:?} (failures, rejections, retros)",
            counts(after),
            counts(&expected)
        )
    })?;
    let ended = look.played.iter().any(|one| matches!(one.event.meaning, Meaning::Ends { .. }));
    let results = |flow: &Flow| flow.stages.iter().map(|s| (s.status, s.result.clone())).collect::<Vec<_>>();
    require(!ended || results(&expected) == results(after), || {
        format!("stages are {:?}\n  instead of {:?}", results(after), results(&expected))
    })
}

/// What the workflow must have become. Of an agent without a record nobody can say which stage it worked on.
fn after_the_ends(look: &Look, before: &Flow) -> Option<Flow> {
    let mut flow = before.clone();
    for one in look.played {
        match &one.event.meaning {
            Meaning::Ends { agent, call, verdict } if before.is_open() => {
                end(&mut flow, *agent, call, *verdict)?;
            }
            Meaning::StrayEnds => return None,
            Meaning::Gone { call } if before.is_open() => {
                let agent = flow.agents.iter().find(|agent| agent.call.as_ref() == Some(call))?.agent;
                end(&mut flow, agent, call, None)?;
            }
            Meaning::SessionStart { compact: false } => flow = without_agents(&flow),
            Meaning::Stop { .. } if look.door != Some(Door::Silent) => flow = without_agents(&flow),
            _ => {}
        }
    }
    Some(flow)
}

/// The end of one agent. Of two on the same stage, the worse verdict counts when the second ends.
fn end(flow: &mut Flow, agent: Agent, call: &str, verdict: Option<Verdict>) -> Option<()> {
    // A report names no call, so the entry of a twin may have been taken for this one.
    let by_call = flow.agents.iter().position(|other| other.call.as_deref() == Some(call));
    let by_kind = || flow.agents.iter().position(|other| other.agent == agent);
    let key = flow.agents.remove(by_call.or_else(by_kind)?).stage;
    let twin = flow.agents.iter().any(|other| other.stage == key);
    let Some(stage) = flow.stages.iter_mut().find(|stage| Some(stage.key) == key) else { return Some(()) };
    let earlier = stage.result.as_deref().and_then(Verdict::from_key);
    let worst = verdict.into_iter().chain(earlier).max();
    stage.result = worst.map(|verdict| verdict.key().to_owned());
    stage.status = match worst {
        _ if twin => return Some(()),
        None => Status::Pending,
        Some(_) => Status::Completed,
    };
    flow.failures += u64::from(worst == Some(Verdict::Fail));
    flow.rejections += u64::from(worst == Some(Verdict::Reject));
    flow.retros += u64::from(worst == Some(Verdict::Issues));
    Some(())
}

pub(super) fn beside_is_beside(look: &Look) -> Held {
    let all_beside = look.played.iter().all(|one| matches!(one.event.meaning, Meaning::Beside));
    require(!all_beside || look.before.flow == look.after().flow, || "workflow.json changed".to_owned())?;
    require(!all_beside || look.before.looping == look.after().looping, || "loop.json changed".to_owned())
}

pub(super) fn handoffs_exist(look: &Look) -> Held {
    let folder = look.seat.sandbox.session(&look.seat.session);
    let stages = look.after().flow.iter().flat_map(|flow| &flow.stages);
    let missing = stages.filter_map(|stage| stage.handoff.as_ref()).find(|file| !folder.join(file).is_file());
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
