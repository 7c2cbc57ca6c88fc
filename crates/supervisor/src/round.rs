//! A round as it is written into the audit trail.

use overtone_messages::{Lang, supervisor as words};
use overtone_store::{SessionId, clock};
use serde_json::{Value, json};

use crate::checks::Evidence;
use crate::examine::Examined;
use crate::folder::StateFolder;
use crate::secrets::Secrets;
use crate::settings::Settings;
use crate::{audit, narrate};

/// What is known of a round beside its result.
#[derive(Debug)]
pub(crate) struct Round<'a> {
    /// None for a review that a person asked for.
    pub(crate) number: Option<u32>,
    pub(crate) settings: &'a Settings,
    pub(crate) secrets: &'a Secrets,
}

pub(crate) fn describe(round: &Round<'_>, examined: &Examined, lang: Lang) -> Value {
    let (outcome, reason, feedback) = match &examined.review {
        Ok(verdict) if verdict.allow_stop => ("allow", None, verdict.feedback.clone()),
        Ok(verdict) => ("block", None, verdict.feedback.clone()),
        Err(reason) => ("not-reviewed", Some(reason.kind()), reason.reason(lang)),
    };
    json!({
        "time": clock::to_iso(clock::now()),
        "round": round.number,
        "outcome": outcome,
        "reason": reason,
        "feedback": round.secrets.clean(&feedback),
        "evidence": examined.evidence.iter().map(Evidence::to_json).collect::<Vec<_>>(),
        "provider": round.settings.reviewer(),
        "model": round.settings.model,
        "cost_usd": examined.cost_usd,
        "seconds": examined.took.as_secs_f64(),
    })
}

/// A stop that was not looked at, since there were `limit` rounds already.
pub(crate) fn beyond_limit(settings: &Settings, limit: u32, lang: Lang) -> Value {
    json!({
        "time": clock::to_iso(clock::now()),
        "round": limit,
        "outcome": "not-reviewed",
        "reason": "limit",
        "feedback": words::limit_reached(lang, limit),
        "evidence": [],
        "provider": settings.reviewer(),
        "model": settings.model,
        "cost_usd": 0.0,
        "seconds": 0.0,
    })
}

/// Whether the last round found work left to do.
pub(crate) fn was_blocked(folder: &StateFolder, session: &SessionId) -> bool {
    let rounds = audit::audit(folder, session).ok().flatten().unwrap_or_default();
    rounds.last().is_some_and(|round| round["outcome"] == "block")
}

/// Writes it down. A trail that cannot be written is told and changes nothing else.
pub(crate) fn keep(folder: &StateFolder, session: &SessionId, round: &Value) {
    let written = folder.make().and_then(|()| audit::write(folder, session, round));
    if let Err(error) = written {
        let path = folder.audit_file(session);
        narrate::say(&format!("[overtone/supervisor] cannot write {}: {error}", path.display()));
    }
}
