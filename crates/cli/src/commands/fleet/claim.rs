//! `overtone init … --feature`: claims the feature, unless a machine that is online has claimed it. If the server does
//! not answer in time, the command continues without a claim.

use std::path::Path;
use std::time::Duration;

use overtone_core::engine::text::printable;
use overtone_core::messages::fleet as words;
use overtone_fleet::{
    Claim, ClaimOutcome, FleetError, Keyring, Link, Settings, TakeOver, claim, feature_claim_key, find_claim,
    release, repository_name,
};
use overtone_store::{SessionId, clock};
use tokio::time::timeout;

use super::connection::BlockingRuntime;
use crate::context::Context;
use crate::ui::error::{CommandError, CommandResult, note};
use crate::ui::quantity::age;

/// The limit for all requests together, so that the start is not delayed noticeably.
const TIMEOUT: Duration = Duration::from_millis(1500);

/// A claim that was made for a start, and is released if the start fails.
#[derive(Debug)]
pub(in crate::commands) struct FeatureClaim {
    runtime: BlockingRuntime,
    link: Link,
    key: String,
    ours: Claim,
}

impl FeatureClaim {
    /// Releases the claim. A failure is ignored: this machine's relay releases it later, or the machine counts as gone.
    pub(in crate::commands) fn release(&self) {
        let _ = self.runtime.wait(with_timeout(release(&self.link, &self.key, &self.ours)));
    }
}

/// Claims a feature. `None` without a fleet, without an answer, or if the session had the claim already.
pub(in crate::commands) fn claim_feature(
    context: &Context,
    session: &SessionId,
    project: &Path,
    feature: &str,
    anyway: bool,
) -> CommandResult<Option<FeatureClaim>> {
    let (Some(settings), _) = Settings::load(context.home()?) else { return Ok(None) };
    let Some(repository) = repository_name(project) else { return Ok(None) };
    let request =
        ClaimRequest { settings: &settings, key: feature_claim_key(&repository, feature), session, anyway };
    match request.send(context) {
        Ok((ClaimOutcome::Ours { .. }, held)) => Ok(held),
        Ok((ClaimOutcome::Theirs(other) | ClaimOutcome::Orphaned(other), _)) => {
            let what = words::feature_taken(context.lang, feature, &other.name, &age_of(&other));
            Err(CommandError::new(what).hint(words::feature_taken_hint(context.lang)))
        }
        Err(error) => {
            note(&words::feature_not_asked(context.lang, &printable(&error.to_string())));
            Ok(None)
        }
    }
}

/// The age of a claim, by the other machine's clock.
fn age_of(claim: &Claim) -> String {
    match clock::from_iso(&claim.at) {
        Some(at) => age(clock::now().since(at)),
        None => "?".to_owned(),
    }
}

struct ClaimRequest<'a> {
    settings: &'a Settings,
    key: String,
    session: &'a SessionId,
    anyway: bool,
}

impl ClaimRequest<'_> {
    fn send(self, context: &Context) -> Result<(ClaimOutcome, Option<FeatureClaim>), FleetError> {
        let home = context.environment.home.as_ref().ok_or_else(|| std::io::Error::other("no home"))?;
        let keyring = Keyring::load_or_create(home, self.settings.machine_name.as_deref())?;
        let ours = Claim::new(&keyring.machine(), Some(self.session.as_str()));
        let runtime = BlockingRuntime::new()?;
        let asked = runtime.wait(with_timeout(Box::pin(self.claim(&keyring, &ours))));
        let (outcome, link) = asked?;
        let held = link.map(|link| FeatureClaim { runtime, link, key: self.key, ours });
        Ok((outcome, held))
    }

    /// Returns the link as well if the claim is new.
    async fn claim(
        &self,
        keyring: &Keyring,
        ours: &Claim,
    ) -> Result<(ClaimOutcome, Option<Link>), FleetError> {
        let link = Link::open(self.settings, keyring).await?;
        let was_ours = match find_claim(&link, &self.key).await? {
            Some(stored) => stored.claim.session == ours.session,
            None => false,
        };
        let take_over = if self.anyway { TakeOver::Always } else { TakeOver::IfOwnerGone };
        let outcome = claim(&link, &self.key, ours.clone(), take_over, 0).await?;
        let is_new = matches!(outcome, ClaimOutcome::Ours { .. }) && !was_ours;
        Ok((outcome, if is_new { Some(link) } else { None }))
    }
}

async fn with_timeout<T>(work: impl Future<Output = Result<T, FleetError>>) -> Result<T, FleetError> {
    let late = |_| FleetError::Unreachable(format!("{} ms", TIMEOUT.as_millis()));
    timeout(TIMEOUT, work).await.map_err(late)?
}
