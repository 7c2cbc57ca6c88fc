//! A review without a hook: for a person or a CI job that names the session.

use std::env;
use std::path::{Path, PathBuf};

use overtone_messages::Lang;
use overtone_providers::{Config, Places, find_pin};
use overtone_store::SessionId;
use serde_json::Value;

use crate::examine::Case;
use crate::folder::StateFolder;
use crate::record::Record;
use crate::round::{Round, describe};
use crate::secrets::Secrets;
use crate::settings::Settings;
use crate::{narrate, tree};

/// What a review came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Completed,
    NotCompleted,
    NotReviewed,
}

/// The review and all that goes with it, as the audit trail has it.
#[derive(Debug)]
pub struct Reviewed {
    pub outcome: Outcome,
    pub round: Value,
}

/// The provider that `ccc` would start a session on in this project; none where `ccc` has no providers.
fn provider_here(project: &Path) -> Option<String> {
    let places = Places::resolve(&|name| env::var_os(name)).ok()?;
    let config = Config::load(&places.config_file()).ok()?;
    let home = env::var_os("HOME").map(PathBuf::from);
    match find_pin(project, home.as_deref()).ok()? {
        Some(pin) => Some(pin.provider),
        None => config.chosen().ok(),
    }
}

/// Reviews a session now. It counts as no round and changes nothing but the trail.
pub fn review(folder: &StateFolder, session: &SessionId, project: &Path, lang: Lang) -> Reviewed {
    let (mut settings, problems) = Settings::from_process();
    if settings.reviewer().is_none() {
        settings.provider = provider_here(project);
    }
    narrate::problems(&problems, lang);
    let record = Record::load(folder, session).unwrap_or_default();
    let secrets = Secrets::from_process();
    let case = Case {
        session,
        folder,
        project: Some(project),
        settings: &settings,
        request: record.request(),
        changed: record.requested_at().and_then(|at| tree::changed_since(project, at)),
        spent: record.spent(),
        secrets: &secrets,
        lang,
    };
    let examined = case.examine();
    narrate::end(&examined.review, lang);
    let round = describe(&Round { number: None, settings: &settings, secrets: &secrets }, &examined, lang);
    crate::round::keep(folder, session, &round);
    let outcome = match &examined.review {
        Ok(verdict) if verdict.allow_stop => Outcome::Completed,
        Ok(_) => Outcome::NotCompleted,
        Err(_) => Outcome::NotReviewed,
    };
    Reviewed { outcome, round }
}
