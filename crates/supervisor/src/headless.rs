//! A review without a hook: for a person or a CI job that names the session.

use std::path::Path;

use overtone_messages::Lang;
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

/// Reviews a session now. It counts as no round and changes nothing but the trail.
pub fn review(folder: &StateFolder, session: &SessionId, project: &Path, lang: Lang) -> Reviewed {
    let (settings, problems) = Settings::from_process();
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
