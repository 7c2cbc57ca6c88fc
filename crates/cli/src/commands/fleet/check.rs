//! The fleet for `overtone doctor`: the settings, the way there and back, and the relay.

use std::time::Duration;

use overtone_engine::text::printable;
use overtone_fleet::{
    Complaints, Deed, FleetError, Keyring, Link, Membership, Reply, Settings, connect_listening, is_running,
    last_status, send_within,
};
use overtone_messages::fleet as words;
use overtone_store::Home;

use super::desk::{Waiter, membership_problem, told};
use crate::context::Context;

/// How long the own relay may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Something that is wrong, and the fix.
#[derive(Debug)]
pub(in crate::commands) struct Finding {
    pub(in crate::commands) name: &'static str,
    pub(in crate::commands) is_serious: bool,
    pub(in crate::commands) what: String,
    pub(in crate::commands) fix: String,
}

/// Nothing without a fleet. A server that is away is not serious: the work goes on, and is told of later.
pub(in crate::commands) fn examine(context: &Context, home: &Home) -> Vec<Finding> {
    let (settings, problems) = Settings::load(home);
    let mut findings: Vec<_> = problems
        .iter()
        .map(|problem| Finding {
            name: "fleet-settings",
            is_serious: !problem.is_note(),
            what: problem.text(context.lang),
            fix: words::mend_settings_hint(context.lang),
        })
        .collect();
    if let Some(settings) = settings {
        findings.extend(relay(context, home));
        findings.extend(way(context, home, &settings));
    }
    findings
}

fn relay(context: &Context, home: &Home) -> Option<Finding> {
    let lang = context.lang;
    if !is_running(home) {
        let (what, fix) = (words::no_relay(lang), words::start_relay(lang));
        return Some(Finding { name: "fleet-relay", is_serious: false, what, fix });
    }
    let problem = last_status(home)?["problem"].as_str().map(|problem| printable(problem).into_owned())?;
    let (what, fix) = (words::relay_problem(lang, &problem), words::server_failed_hint(lang));
    Some(Finding { name: "fleet-relay", is_serious: false, what, fix })
}

fn way(context: &Context, home: &Home, settings: &Settings) -> Option<Finding> {
    let complaints = Complaints::default();
    let tried = Waiter::new()
        .map_err(FleetError::from)
        .and_then(|waiter| waiter.wait(Box::pin(there_and_back(home, settings, &complaints))));
    let said = complaints.all();
    match tried {
        Err(error) => {
            let (what, fix) = told(context, settings, &error, &said);
            let is_serious = !matches!(error, FleetError::Unreachable(_));
            let name = if said.is_empty() { "fleet-server" } else { "fleet-permission" };
            Some(Finding { name, is_serious, what, fix })
        }
        Ok(_) if !said.is_empty() => Some(Finding {
            name: "fleet-permission",
            is_serious: true,
            what: words::not_permitted(context.lang, &printable(&said.join("; "))),
            fix: words::not_permitted_hint(context.lang),
        }),
        Ok((membership, _)) if membership != Membership::Member => {
            let (what, fix) = membership_problem(context, membership)?;
            Some(Finding { name: "fleet-team", is_serious: true, what, fix })
        }
        Ok((_, None | Some(Reply::Done))) => None,
        Ok((_, Some(_))) => Some(Finding {
            name: "fleet-relay",
            is_serious: true,
            what: words::relay_silent(context.lang),
            fix: words::relay_silent_hint(context.lang),
        }),
    }
}

/// What this machine is to the team, and what its own relay answers, if one runs here.
async fn there_and_back(
    home: &Home,
    settings: &Settings,
    complaints: &Complaints,
) -> Result<(Membership, Option<Reply>), FleetError> {
    let keyring = Keyring::of(home, settings.machine_name.as_deref())?;
    let machine = keyring.machine();
    let client = connect_listening(settings, &machine.name, complaints).await?;
    let link = Box::pin(Link::with(client, settings, &keyring)).await?;
    link.try_out(&machine.id).await?;
    if !is_running(home) {
        return Ok((keyring.membership(), None));
    }
    let reply = send_within(&link, &machine.id, "", Deed::Ping, "doctor", PATIENCE).await?;
    Ok((keyring.membership(), Some(reply)))
}
