//! The connection of a command to the fleet, with the settings and the identity of this machine.

use std::env;
use std::io;

use overtone_core::engine::text::printable;
use overtone_core::messages::fleet as words;
use overtone_fleet::{
    FleetError, FleetSnapshot, Keyring, Link, Machine, Membership, ServerErrors, SessionState, Settings,
    connect_recording_errors,
};
use overtone_store::MIN_PREFIX;
use tokio::runtime::{Builder, Runtime};

use crate::context::Context;
use crate::ui::error::{CommandError, CommandResult, warn};

/// How many candidates are listed when a session's name is ambiguous.
const CANDIDATES: usize = 8;

/// A runtime of one thread. Dropping it does not wait for pending DNS lookups.
#[derive(Debug)]
pub(super) struct BlockingRuntime(Option<Runtime>);

impl BlockingRuntime {
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

impl Drop for BlockingRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

#[derive(Debug)]
pub(super) struct FleetConnection<'a> {
    pub(super) context: &'a Context,
    pub(super) settings: Settings,
    pub(super) machine: Machine,
    pub(super) link: Link,
    runtime: BlockingRuntime,
    server_errors: ServerErrors,
}

impl<'a> FleetConnection<'a> {
    /// Connects to the configured fleet. Prints a warning if this machine is not part of the team.
    pub(super) fn open(context: &'a Context) -> CommandResult<Self> {
        let settings = settings(context)?;
        let keyring = keyring(context, &settings)?;
        let connection = Self::at(context, settings, &keyring)?;
        if let Some((what, hint)) = membership_problem(context, keyring.membership()) {
            warn(&format!("{what}; {hint}"));
        }
        Ok(connection)
    }

    /// Connects with settings that need not be configured yet.
    pub(super) fn at(context: &'a Context, settings: Settings, keyring: &Keyring) -> CommandResult<Self> {
        let runtime = BlockingRuntime::new().map_err(|error| CommandError::new(error.to_string()))?;
        let server_errors = ServerErrors::default();
        let opened = runtime.wait(Box::pin(async {
            let client = connect_recording_errors(&settings, &keyring.machine().name, &server_errors).await?;
            Box::pin(Link::with_client(client, &settings, keyring)).await
        }));
        let link = opened.map_err(|error| failed(context, &settings, &error, &server_errors.all()))?;
        let machine = keyring.machine();
        Ok(Self { context, settings, machine, link, runtime, server_errors })
    }

    /// As [`open`](Self::open), and fails if this machine is not part of the team.
    pub(super) fn open_as_member(context: &'a Context) -> CommandResult<Self> {
        let settings = settings(context)?;
        let keyring = keyring(context, &settings)?;
        let connection = Self::at(context, settings, &keyring)?;
        match membership_problem(context, keyring.membership()) {
            Some((what, hint)) => Err(CommandError::new(what).hint(hint)),
            None => Ok(connection),
        }
    }

    pub(super) fn wait<T>(&self, work: impl Future<Output = Result<T, FleetError>>) -> CommandResult<T> {
        self.runtime
            .wait(work)
            .map_err(|error| failed(self.context, &self.settings, &error, &self.server_errors.all()))
    }

    /// As [`wait`](Self::wait), for futures with another error type.
    pub(super) fn wait_for<T>(&self, work: impl Future<Output = T>) -> CommandResult<T> {
        self.wait(async { Ok(work.await) })
    }

    /// The message and the hint for an error.
    pub(super) fn describe_error(&self, error: &FleetError) -> (String, String) {
        describe_error(self.context, &self.settings, error, &self.server_errors.all())
    }

    pub(super) fn snapshot(&self) -> CommandResult<FleetSnapshot> {
        self.wait(Box::pin(FleetSnapshot::fetch(&self.link)))
    }

    /// The name of the user who sends an order. The receiver adds the machine's name.
    pub(super) fn user() -> String {
        for variable in ["USER", "LOGNAME"] {
            if let Ok(user) = env::var(variable)
                && !user.is_empty()
            {
                return user;
            }
        }
        "user".to_owned()
    }
}

/// The message and the hint for a machine that is not part of the team; `None` if it is.
pub(super) fn membership_problem(context: &Context, membership: Membership) -> Option<(String, String)> {
    let lang = context.lang;
    match membership {
        Membership::Member | Membership::Unknown => None,
        Membership::Waiting => Some((words::membership_waiting(lang), words::membership_waiting_hint(lang))),
        Membership::Removed => Some((words::membership_removed(lang), words::join_again_hint(lang))),
        Membership::Outsider => Some((words::membership_outsider(lang), words::join_again_hint(lang))),
    }
}

/// The settings of the fleet. Fails with a hint if none are configured.
pub(super) fn settings(context: &Context) -> CommandResult<Settings> {
    let lang = context.lang;
    let (settings, problems) = Settings::load(context.home()?);
    let texts: Vec<_> = problems.iter().map(|problem| problem.message(lang)).collect();
    match settings {
        Some(settings) => {
            for text in &texts {
                warn(text);
            }
            Ok(settings)
        }
        None if texts.is_empty() => {
            Err(CommandError::new(words::not_joined(lang)).hint(words::not_joined_hint(lang)))
        }
        None => Err(CommandError::new(texts.join("; ")).hint(words::mend_settings_hint(lang))),
    }
}

/// The keyring of this machine. Its key is generated if there is none.
pub(super) fn keyring(context: &Context, settings: &Settings) -> CommandResult<Keyring> {
    let home = context.home()?;
    Keyring::load_or_create(home, settings.machine_name.as_deref())
        .map_err(|error| CommandError::io(context.lang, &overtone_fleet::fleet_dir(home), &error))
}

fn failed(
    context: &Context,
    settings: &Settings,
    error: &FleetError,
    server_errors: &[String],
) -> CommandError {
    let (what, hint) = describe_error(context, settings, error, server_errors);
    CommandError::new(what).hint(hint)
}

/// The message and the hint for an error of a request to the server.
pub(super) fn describe_error(
    context: &Context,
    settings: &Settings,
    error: &FleetError,
    server_errors: &[String],
) -> (String, String) {
    let lang = context.lang;
    match error {
        FleetError::Unreachable(why) => (
            words::unreachable(lang, &settings.redacted_urls(), &printable(why)),
            words::unreachable_hint(lang),
        ),
        FleetError::Server { .. } if !server_errors.is_empty() => (
            words::not_permitted(lang, &printable(&server_errors.join("; "))),
            words::not_permitted_hint(lang),
        ),
        FleetError::Server { .. } => {
            (words::server_failed(lang, &printable(&error.to_string())), words::server_failed_hint(lang))
        }
        FleetError::Io(error) => (error.to_string(), words::server_failed_hint(lang)),
    }
}

/// The session whose id begins with this name. Fails if there is none, or more than one.
pub(super) fn find_session<'p>(
    context: &Context,
    snapshot: &'p FleetSnapshot,
    name: &str,
) -> CommandResult<&'p SessionState> {
    let lang = context.lang;
    let mut found = snapshot.find(name);
    // As for the sessions of this machine, a shorter name must be a complete id.
    found.retain(|state| name.len() >= MIN_PREFIX || state.session == name);
    match found.as_slice() {
        [session] => Ok(session),
        [] => {
            Err(CommandError::new(words::unknown_session(lang, name)).hint(words::unknown_session_hint(lang)))
        }
        several => {
            let candidate =
                |state: &&SessionState| format!("{} ({})", printable(&state.session), state.machine_name);
            let mut names: Vec<_> = several.iter().take(CANDIDATES).map(candidate).collect();
            if several.len() > CANDIDATES {
                names.push("…".to_owned());
            }
            let hint = words::several_sessions_hint(lang, &names.join(", "));
            Err(CommandError::new(words::several_sessions(lang, name)).hint(hint))
        }
    }
}
