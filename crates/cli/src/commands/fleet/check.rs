//! The fleet checks of `overtone doctor`: the settings, the server and the relay.

use std::time::Duration;

use overtone_core::engine::text::printable;
use overtone_core::messages::fleet as words;
use overtone_fleet::{
    FleetError, Keyring, Link, Membership, OrderCommand, OrderOutcome, ServerErrors, Settings,
    connect_recording_errors, is_relay_running, last_relay_status, send_order_with_timeout,
};
use overtone_store::Home;

use super::connection::{BlockingRuntime, describe_error, membership_problem};
use crate::context::Context;

/// How long this machine's relay may take to answer.
const RELAY_TIMEOUT: Duration = Duration::from_secs(5);

/// A problem and its fix.
#[derive(Debug)]
pub(in crate::commands) struct Finding {
    pub(in crate::commands) name: &'static str,
    pub(in crate::commands) is_serious: bool,
    pub(in crate::commands) what: String,
    pub(in crate::commands) fix: String,
}

/// Checks the fleet, if one is configured. An unreachable server is not serious: work continues and is published later.
pub(in crate::commands) fn examine(context: &Context, home: &Home) -> Vec<Finding> {
    let (settings, problems) = Settings::load(home);
    let mut findings: Vec<_> = problems
        .iter()
        .map(|problem| Finding {
            name: "fleet-settings",
            is_serious: !problem.is_warning(),
            what: problem.message(context.lang),
            fix: words::mend_settings_hint(context.lang),
        })
        .collect();
    if let Some(settings) = settings {
        findings.extend(check_relay(context, home));
        findings.extend(check_server(context, home, &settings));
    }
    findings
}

fn check_relay(context: &Context, home: &Home) -> Option<Finding> {
    let lang = context.lang;
    if !is_relay_running(home) {
        let (what, fix) = (words::no_relay(lang), words::start_relay(lang));
        return Some(Finding { name: "fleet-relay", is_serious: false, what, fix });
    }
    let problem =
        last_relay_status(home)?["problem"].as_str().map(|problem| printable(problem).into_owned())?;
    let (what, fix) = (words::relay_problem(lang, &problem), words::server_failed_hint(lang));
    Some(Finding { name: "fleet-relay", is_serious: false, what, fix })
}

fn check_server(context: &Context, home: &Home, settings: &Settings) -> Option<Finding> {
    let server_errors = ServerErrors::default();
    let tried = BlockingRuntime::new()
        .map_err(FleetError::from)
        .and_then(|runtime| runtime.wait(Box::pin(round_trip(home, settings, &server_errors))));
    let reported = server_errors.all();
    match tried {
        Err(error) => {
            let (what, fix) = describe_error(context, settings, &error, &reported);
            let is_serious = !matches!(error, FleetError::Unreachable(_));
            let name = if reported.is_empty() { "fleet-server" } else { "fleet-permission" };
            Some(Finding { name, is_serious, what, fix })
        }
        Ok(_) if !reported.is_empty() => Some(Finding {
            name: "fleet-permission",
            is_serious: true,
            what: words::not_permitted(context.lang, &printable(&reported.join("; "))),
            fix: words::not_permitted_hint(context.lang),
        }),
        Ok((membership, _)) if membership != Membership::Member => {
            let (what, fix) = membership_problem(context, membership)?;
            Some(Finding { name: "fleet-team", is_serious: true, what, fix })
        }
        Ok((_, None | Some(OrderOutcome::Done))) => None,
        Ok((_, Some(_))) => Some(Finding {
            name: "fleet-relay",
            is_serious: true,
            what: words::relay_silent(context.lang),
            fix: words::relay_silent_hint(context.lang),
        }),
    }
}

/// This machine's membership, and the answer of its own relay, if one is running.
async fn round_trip(
    home: &Home,
    settings: &Settings,
    server_errors: &ServerErrors,
) -> Result<(Membership, Option<OrderOutcome>), FleetError> {
    let keyring = Keyring::load_or_create(home, settings.machine_name.as_deref())?;
    let machine = keyring.machine();
    let client = connect_recording_errors(settings, &machine.name, server_errors).await?;
    let link = Box::pin(Link::with_client(client, settings, &keyring)).await?;
    link.check_read_write(&machine.id).await?;
    if !is_relay_running(home) {
        return Ok((keyring.membership(), None));
    }
    let reply =
        send_order_with_timeout(&link, &machine.id, "", OrderCommand::Ping, "doctor", RELAY_TIMEOUT).await?;
    Ok((keyring.membership(), Some(reply)))
}
