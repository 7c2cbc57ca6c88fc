//! `overtone init … --feature`: the feature is claimed, unless another machine that is there has it. A server that
//! does not answer in time is in nobody's way.

use std::path::Path;
use std::time::Duration;

use overtone_engine::text::printable;
use overtone_fleet::{
    Claim, FleetError, Insist, Keyring, Link, Outcome, Settings, claim, feature_claim, look, release,
    repository_of,
};
use overtone_messages::fleet as words;
use overtone_store::{SessionId, clock};
use tokio::time::timeout;

use super::desk::Waiter;
use crate::context::Context;
use crate::ui::error::{Failure, say};
use crate::ui::quantity::age;

/// For everything together: a start must not be felt.
const LIMIT: Duration = Duration::from_millis(1500);

/// A claim that was made for a start, and is given up if the start fails.
#[derive(Debug)]
pub(in crate::commands) struct Held {
    waiter: Waiter,
    link: Link,
    key: String,
    ours: Claim,
}

impl Held {
    /// Nothing was started. If the server does not hear of it, this machine's relay or its absence will tell.
    pub(in crate::commands) fn give_back(&self) {
        let _ = self.waiter.wait(within(release(&self.link, &self.key, &self.ours)));
    }
}

/// `None` without a fleet, without an answer, or when there is nothing to give back.
pub(in crate::commands) fn ask(
    context: &Context,
    session: &SessionId,
    project: &Path,
    feature: &str,
    anyway: bool,
) -> Result<Option<Held>, Failure> {
    let (Some(settings), _) = Settings::load(context.home()?) else { return Ok(None) };
    let Some(repository) = repository_of(project) else { return Ok(None) };
    let question =
        Question { settings: &settings, key: feature_claim(&repository, feature), session, anyway };
    match question.put(context) {
        Ok((Outcome::Ours { .. }, held)) => Ok(held),
        Ok((Outcome::Theirs(other) | Outcome::Orphaned(other), _)) => {
            let what = words::feature_taken(context.lang, feature, &other.name, &age_of(&other));
            Err(Failure::new(what).hint(words::feature_taken_hint(context.lang)))
        }
        Err(error) => {
            say(&words::feature_not_asked(context.lang, &printable(&error.to_string())));
            Ok(None)
        }
    }
}

/// By the other machine's clock.
fn age_of(claim: &Claim) -> String {
    clock::from_iso(&claim.at).map_or_else(|| "?".to_owned(), |at| age(clock::now().since(at)))
}

struct Question<'a> {
    settings: &'a Settings,
    key: String,
    session: &'a SessionId,
    anyway: bool,
}

impl Question<'_> {
    fn put(self, context: &Context) -> Result<(Outcome, Option<Held>), FleetError> {
        let home = context.environment.home.as_ref().ok_or_else(|| std::io::Error::other("no home"))?;
        let keyring = Keyring::of(home, self.settings.machine_name.as_deref())?;
        let ours = Claim::by(&keyring.machine(), Some(self.session.as_str()));
        let waiter = Waiter::new()?;
        let asked = waiter.wait(within(Box::pin(self.claim(&keyring, &ours))));
        let (outcome, link) = asked?;
        let held = link.map(|link| Held { waiter, link, key: self.key, ours });
        Ok((outcome, held))
    }

    /// With the link if the claim is a new one.
    async fn claim(&self, keyring: &Keyring, ours: &Claim) -> Result<(Outcome, Option<Link>), FleetError> {
        let link = Link::open(self.settings, keyring).await?;
        let before = look(&link, &self.key).await?;
        let was_ours = before.is_some_and(|standing| standing.claim.session == ours.session);
        let insist = if self.anyway { Insist::Always } else { Insist::IfGone };
        let outcome = claim(&link, &self.key, ours.clone(), insist, 0).await?;
        let is_new = matches!(outcome, Outcome::Ours { .. }) && !was_ours;
        Ok((outcome, is_new.then_some(link)))
    }
}

async fn within<T>(work: impl Future<Output = Result<T, FleetError>>) -> Result<T, FleetError> {
    let late = |_| FleetError::Unreachable(format!("{} ms", LIMIT.as_millis()));
    timeout(LIMIT, work).await.map_err(late)?
}
