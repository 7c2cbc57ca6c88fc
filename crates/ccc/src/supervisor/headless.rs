//! Reviews a session on request, without a hook: for a user or a CI job.

use std::env;
use std::path::{Path, PathBuf};

use crate::providers::{CccPaths, Config, find_pin};
use overtone_core::messages::Lang;
use overtone_store::SessionId;
use serde_json::Value;

use crate::supervisor::examination::Examination;
use crate::supervisor::round::{RoundInfo, append_to_trail, round_entry};
use crate::supervisor::secrets::Secrets;
use crate::supervisor::settings::Settings;
use crate::supervisor::{progress, tree};
use overtone_store::supervision::StateFolder;
use overtone_store::supervision::SupervisionRecord;

/// The outcome of a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewOutcome {
    Completed,
    NotCompleted,
    NotReviewed,
}

/// A review with its entry in the audit trail.
#[derive(Debug)]
pub struct SessionReview {
    pub outcome: ReviewOutcome,
    pub round: Value,
}

/// The provider that `ccc` would use for a session in this project; `None` if it has no providers.
fn default_provider(project: &Path) -> Option<String> {
    let paths = CccPaths::resolve(&|name| env::var_os(name)).ok()?;
    let config = Config::load(&paths.config_file()).ok()?;
    let home = env::var_os("HOME").map(PathBuf::from);
    match find_pin(project, home.as_deref()).ok()? {
        Some(pin) => Some(pin.provider),
        None => config.chosen().ok(),
    }
}

/// Reviews a session now. The review does not count as a round and changes nothing but the audit trail.
pub fn review_session(
    folder: &StateFolder,
    session: &SessionId,
    project: &Path,
    lang: Lang,
) -> SessionReview {
    let (mut settings, errors) = Settings::from_process();
    if settings.reviewer_provider().is_none() {
        settings.provider = default_provider(project);
    }
    progress::print_settings_errors(&errors, lang);
    let record = SupervisionRecord::load(folder, session).unwrap_or_default();
    let secrets = Secrets::from_process();
    let examination = Examination {
        session,
        folder,
        project: Some(project),
        settings: &settings,
        request: record.request(),
        changed: record.requested_at().and_then(|at| tree::changed_since(project, at)),
        spent: record.cost_usd(),
        secrets: &secrets,
        lang,
    };
    let result = examination.run();
    progress::print_outcome(&result.review, lang);
    let about = RoundInfo { number: None, settings: &settings, secrets: &secrets };
    let round = round_entry(&about, &result, lang);
    append_to_trail(folder, session, &round);
    let outcome = match &result.review {
        Ok(verdict) if verdict.allow_stop => ReviewOutcome::Completed,
        Ok(_) => ReviewOutcome::NotCompleted,
        Err(_) => ReviewOutcome::NotReviewed,
    };
    SessionReview { outcome, round }
}
