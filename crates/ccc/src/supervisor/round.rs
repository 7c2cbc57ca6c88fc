//! Entries of the audit trail.

use overtone_core::messages::{Lang, supervisor as messages};
use overtone_store::{SessionId, clock};
use serde::Serialize;
use serde_json::{Value, json};

use crate::supervisor::checks::{Evidence, EvidenceEntry};
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

/// A line of the audit trail.
#[derive(Serialize)]
struct RoundEntry<'a> {
    time: String,
    round: Option<u32>,
    outcome: &'static str,
    /// Why there was no review.
    reason: Option<&'static str>,
    feedback: String,
    evidence: Vec<EvidenceEntry<'a>>,
    provider: Option<&'a str>,
    model: Option<&'a str>,
    cost_usd: f64,
    seconds: f64,
}

pub(crate) fn round_entry(round: &RoundInfo<'_>, result: &ExaminationResult, lang: Lang) -> Value {
    let (outcome, reason, feedback) = match &result.review {
        Ok(verdict) if verdict.allow_stop => ("allow", None, verdict.feedback.clone()),
        Ok(verdict) => ("block", None, verdict.feedback.clone()),
        Err(reason) => ("not-reviewed", Some(reason.kind()), reason.reason(lang)),
    };
    json!(RoundEntry {
        time: clock::to_iso(clock::now()),
        round: round.number,
        outcome,
        reason,
        feedback: round.secrets.redact_strictly(&feedback),
        evidence: result.evidence.iter().map(Evidence::entry).collect(),
        provider: round.settings.reviewer_provider(),
        model: round.settings.model.as_deref(),
        cost_usd: result.cost_usd,
        seconds: result.duration.as_secs_f64(),
    })
}

/// The entry of a stop that was not examined because there were `limit` rounds already.
pub(crate) fn limit_entry(settings: &Settings, limit: u32, lang: Lang) -> Value {
    json!(RoundEntry {
        time: clock::to_iso(clock::now()),
        round: Some(limit),
        outcome: "not-reviewed",
        reason: Some("limit"),
        feedback: messages::limit_reached(lang, limit),
        evidence: Vec::new(),
        provider: settings.reviewer_provider(),
        model: settings.model.as_deref(),
        cost_usd: 0.0,
        seconds: 0.0,
    })
}

/// Whether the last round found unfinished work.
pub(crate) fn was_last_round_blocked(folder: &StateFolder, session: &SessionId) -> bool {
    let Ok(Some(rounds)) = read_rounds(folder, session) else { return false };
    matches!(rounds.last(), Some(round) if round["outcome"] == "block")
}

/// Appends an entry to the audit trail. A failure is reported and has no other effect.
pub(crate) fn append_to_trail(folder: &StateFolder, session: &SessionId, round: &Value) {
    let written = folder.create().and_then(|()| append_round(folder, session, round));
    if let Err(error) = written {
        let path = folder.audit_file(session);
        progress::print(&format!("[overtone/supervisor] cannot write {}: {error}", path.display()));
    }
}
