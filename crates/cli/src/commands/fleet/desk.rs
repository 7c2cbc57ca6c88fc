//! Where a command meets the fleet: the settings, this machine, the connection, and something to wait on it with.

use std::env;
use std::io;

use overtone_engine::text::printable;
use overtone_fleet::{
    Complaints, FleetError, Keyring, Link, Machine, Membership, Picture, SessionState, Settings,
    connect_listening,
};
use overtone_messages::fleet as words;
use overtone_store::MIN_PREFIX;
use tokio::runtime::{Builder, Runtime};

use crate::context::Context;
use crate::ui::error::{Failure, warn};

/// How many candidates are named when a session's name fits several.
const CANDIDATES: usize = 8;

/// One thread that waits. It does not wait for look-ups of names that nobody needs any more.
#[derive(Debug)]
pub(super) struct Waiter(Option<Runtime>);

impl Waiter {
    pub(super) fn new() -> io::Result<Self> {
        Builder::new_current_thread().enable_all().max_blocking_threads(2).build().map(|r| Self(Some(r)))
    }

    pub(super) fn wait<T>(&self, work: impl Future<Output = Result<T, FleetError>>) -> Result<T, FleetError> {
        match &self.0 {
            Some(runtime) => runtime.block_on(work),
            None => Err(io::Error::other("the runtime has ended").into()),
        }
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

#[derive(Debug)]
pub(super) struct Desk<'a> {
    pub(super) context: &'a Context,
    pub(super) settings: Settings,
    pub(super) machine: Machine,
    pub(super) link: Link,
    waiter: Waiter,
    complaints: Complaints,
}

impl<'a> Desk<'a> {
    /// Of the fleet that is configured. Whoever is not part of its team is told so.
    pub(super) fn open(context: &'a Context) -> Result<Self, Failure> {
        let settings = settings(context)?;
        let keyring = keyring(context, &settings)?;
        let desk = Self::at(context, settings, &keyring)?;
        if let Some((what, hint)) = membership_problem(context, keyring.membership()) {
            warn(&format!("{what}; {hint}"));
        }
        Ok(desk)
    }

    /// Of a fleet that may not be configured yet.
    pub(super) fn at(context: &'a Context, settings: Settings, keyring: &Keyring) -> Result<Self, Failure> {
        let waiter = Waiter::new().map_err(|error| Failure::new(error.to_string()))?;
        let complaints = Complaints::default();
        let opened = waiter.wait(Box::pin(async {
            let client = connect_listening(&settings, &keyring.machine().name, &complaints).await?;
            Box::pin(Link::with(client, &settings, keyring)).await
        }));
        let link = opened.map_err(|error| failed(context, &settings, &error, &complaints.all()))?;
        let machine = keyring.machine();
        Ok(Self { context, settings, machine, link, waiter, complaints })
    }

    /// As [`open`](Self::open), for what only a machine of the team is heard with.
    pub(super) fn open_as_member(context: &'a Context) -> Result<Self, Failure> {
        let settings = settings(context)?;
        let keyring = keyring(context, &settings)?;
        let desk = Self::at(context, settings, &keyring)?;
        match membership_problem(context, keyring.membership()) {
            Some((what, hint)) => Err(Failure::new(what).hint(hint)),
            None => Ok(desk),
        }
    }

    pub(super) fn wait<T>(&self, work: impl Future<Output = Result<T, FleetError>>) -> Result<T, Failure> {
        self.waiter
            .wait(work)
            .map_err(|error| failed(self.context, &self.settings, &error, &self.complaints.all()))
    }

    /// As [`wait`](Self::wait), for what has other ways to go wrong.
    pub(super) fn wait_for<T>(&self, work: impl Future<Output = T>) -> Result<T, Failure> {
        self.wait(async { Ok(work.await) })
    }

    /// What went wrong, and what to do about it.
    pub(super) fn told(&self, error: &FleetError) -> (String, String) {
        told(self.context, &self.settings, error, &self.complaints.all())
    }

    pub(super) fn picture(&self) -> Result<Picture, Failure> {
        self.wait(Box::pin(Picture::take(&self.link)))
    }

    /// Who gives an order. The machine's name is added by whoever receives it.
    pub(super) fn user() -> String {
        let user = ["USER", "LOGNAME"].iter().find_map(|name| env::var(name).ok().filter(|v| !v.is_empty()));
        user.unwrap_or_else(|| "user".to_owned())
    }
}

/// Why this machine is not heard, and what to do about it; `None` if it is.
pub(super) fn membership_problem(context: &Context, membership: Membership) -> Option<(String, String)> {
    let lang = context.lang;
    match membership {
        Membership::Member | Membership::Unknown => None,
        Membership::Waiting => Some((words::membership_waiting(lang), words::membership_waiting_hint(lang))),
        Membership::Removed => Some((words::membership_removed(lang), words::join_again_hint(lang))),
        Membership::Outsider => Some((words::membership_outsider(lang), words::join_again_hint(lang))),
    }
}

/// The settings, or how to get some.
pub(super) fn settings(context: &Context) -> Result<Settings, Failure> {
    let lang = context.lang;
    let (settings, problems) = Settings::load(context.home()?);
    let texts: Vec<_> = problems.iter().map(|problem| problem.text(lang)).collect();
    match settings {
        Some(settings) => {
            for text in &texts {
                warn(text);
            }
            Ok(settings)
        }
        None if texts.is_empty() => {
            Err(Failure::new(words::not_joined(lang)).hint(words::not_joined_hint(lang)))
        }
        None => Err(Failure::new(texts.join("; ")).hint(words::mend_settings_hint(lang))),
    }
}

/// This machine's key and the team that it knows. The key is made if there is none.
pub(super) fn keyring(context: &Context, settings: &Settings) -> Result<Keyring, Failure> {
    let home = context.home()?;
    Keyring::of(home, settings.machine_name.as_deref())
        .map_err(|error| Failure::io(context.lang, &overtone_fleet::folder(home), &error))
}

fn failed(context: &Context, settings: &Settings, error: &FleetError, complaints: &[String]) -> Failure {
    let (what, hint) = told(context, settings, error, complaints);
    Failure::new(what).hint(hint)
}

/// What went wrong on the way to the server, and what to do about it.
pub(super) fn told(
    context: &Context,
    settings: &Settings,
    error: &FleetError,
    complaints: &[String],
) -> (String, String) {
    let lang = context.lang;
    match error {
        FleetError::Unreachable(why) => {
            (words::unreachable(lang, &settings.shown_urls(), &printable(why)), words::unreachable_hint(lang))
        }
        FleetError::Server { .. } if !complaints.is_empty() => {
            (words::not_permitted(lang, &printable(&complaints.join("; "))), words::not_permitted_hint(lang))
        }
        FleetError::Server { .. } => {
            (words::server_failed(lang, &printable(&error.to_string())), words::server_failed_hint(lang))
        }
        FleetError::Io(error) => (error.to_string(), words::server_failed_hint(lang)),
    }
}

/// The one session whose id begins so.
pub(super) fn one<'p>(
    context: &Context,
    picture: &'p Picture,
    name: &str,
) -> Result<&'p SessionState, Failure> {
    let lang = context.lang;
    let mut found = picture.find(name);
    // As for the sessions of this machine, fewer characters must be a whole id.
    found.retain(|state| name.len() >= MIN_PREFIX || state.session == name);
    match found.as_slice() {
        [session] => Ok(session),
        [] => Err(Failure::new(words::unknown_session(lang, name)).hint(words::unknown_session_hint(lang))),
        several => {
            let candidate =
                |state: &&SessionState| format!("{} ({})", printable(&state.session), state.machine_name);
            let mut names: Vec<_> = several.iter().take(CANDIDATES).map(candidate).collect();
            if several.len() > CANDIDATES {
                names.push("…".to_owned());
            }
            let hint = words::several_sessions_hint(lang, &names.join(", "));
            Err(Failure::new(words::several_sessions(lang, name)).hint(hint))
        }
    }
}
