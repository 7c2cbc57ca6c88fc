//! Entries of the audit trail.

use overtone_core::messages::{Lang, supervisor as messages};
use overtone_store::{SessionId, clock};
use serde_json::{Value, json};

use crate::supervisor::checks::Evidence;
use crate::supervisor::examination::ExaminationResult;
use crate::supervisor::progress;
use crate::supervisor::secrets::Secrets;
use crate::supervisor::settings::Settings;
use overtone_store::supervision::{StateFolder, append_round, read_rounds};

/// What an entry contains besides the result of the examination.
#[derive(Debug)]
pub(crate) struct RoundInfo<'a> {
    /// `None` for a review that the user requested.
    pub(crate) number: Option<u32>,
    pub(crate) settings: &'a Settings,
    pub(crate) secrets: &'a Secrets,
}

pub(crate) fn round_entry(round: &RoundInfo<'_>, result: &ExaminationResult, lang: Lang) -> Value {
    let (outcome, reason, feedback) = match &result.review {
        Ok(verdict) if verdict.allow_stop => ("allow", None, verdict.feedback.clone()),
        Ok(verdict) => ("block", None, verdict.feedback.clone()),
        Err(reason) => ("not-reviewed", Some(reason.kind()), reason.reason(lang)),
    };
    json!({
        "time": clock::to_iso(clock::now()),
        "round": round.number,
        "outcome": outcome,
        "reason": reason,
        "feedback": round.secrets.redact_strictly(&feedback),
        "evidence": result.evidence.iter().map(Evidence::to_json).collect::<Vec<_>>(),
        "provider": round.settings.reviewer_provider(),
        "model": round.settings.model,
        "cost_usd": result.cost_usd,
        "seconds": result.duration.as_secs_f64(),
    })
}

/// The entry of a stop that was not examined because there were `limit` rounds already.
pub(crate) fn limit_entry(settings: &Settings, limit: u32, lang: Lang) -> Value {
    json!({
        "time": clock::to_iso(clock::now()),
        "round": limit,
        "outcome": "not-reviewed",
        "reason": "limit",
        "feedback": messages::limit_reached(lang, limit),
        "evidence": [],
        "provider": settings.reviewer_provider(),
        "model": settings.model,
        "cost_usd": 0.0,
        "seconds": 0.0,
    })
}

/// Whether the last round found unfinished work.
pub(crate) fn was_last_round_blocked(folder: &StateFolder, session: &SessionId) -> bool {
    let rounds = read_rounds(folder, session).ok().flatten().unwrap_or_default();
    rounds.last().is_some_and(|round| round["outcome"] == "block")
}

/// Appends an entry to the audit trail. A failure is reported and has no other effect.
pub(crate) fn append_to_trail(folder: &StateFolder, session: &SessionId, round: &Value) {
    let written = folder.create().and_then(|()| append_round(folder, session, round));
    if let Err(error) = written {
        let path = folder.audit_file(session);
        progress::print(&format!("[overtone/supervisor] cannot write {}: {error}", path.display()));
    }
}
