//! Starts the client in place of this process: same process id, terminal, signals and exit code.
//!
//! The provider is in the environment of that process. Nothing that another session reads is on it.

use std::env;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::{self, Command};

use overtone_install::Client;
use overtone_messages::ccc as words;
use overtone_providers::{
    Config, Given, Mode, Pin, Plan, ProvidersError, Sources, StartRequest, Started, dropped, forget_start,
    masked, note_start, plan, prepare, preview_start, private_settings, redact, used,
};

use super::change::show_changes;
use super::face::Face;
use super::line::{Start, take_settings};
use super::report::{self, failure, shown};
use super::supervisor;
use crate::ui::error::{Done, Failure, say, warn};

/// Which provider, and how.
#[derive(Debug)]
struct Choice {
    name: String,
    isolated: bool,
    pin: Option<Pin>,
}

/// Why there is no plan.
pub(super) enum Refused {
    /// Settings files would send the client to another provider.
    Overruled(Failure),
    Other(Failure),
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Overruled(failure) | Refused::Other(failure) => failure,
        }
    }
}

/// A start that only has to be carried out.
struct Launch<'a> {
    face: &'a Face,
    choice: Choice,
    client: Client,
    plan: Plan,
    /// The client's arguments as they were given, and without the user's own `--settings`, which are in the plan.
    arguments: Vec<OsString>,
    without_settings: Vec<OsString>,
    /// The user's own `--settings`.
    given: Option<Given>,
    /// Inherited variables that the client does not get.
    dropped: Vec<String>,
    supervised: bool,
}

/// Everything that can fail is tried before anything is changed.
pub(super) fn run(face: &Face, start: &Start) -> Done {
    let config = face.config()?;
    let launch = understand(face, &config, start)?;
    for conflict in &launch.plan.conflicts {
        warn(&report::conflict(face.lang, conflict));
    }
    if start.dry_run { launch.rehearse() } else { launch.carry_out(&config) }
}

fn understand<'a>(face: &'a Face, config: &Config, start: &Start) -> Result<Launch<'a>, Failure> {
    let report = |error| failure(face.lang, &error);
    let choice = choose(face, config, start)?;
    let always = config.claude_args().map_err(report)?;
    let keep = config.keep_env().map_err(report)?;
    let client = client(face)?;
    let mut arguments: Vec<OsString> = always.into_iter().map(OsString::from).collect();
    arguments.extend(start.arguments.iter().cloned());
    let (without_settings, own) = take_settings(&arguments);
    let here = env::current_dir().unwrap_or_default();
    let given = own.map(|argument| Given::read(&argument, &here)).transpose().map_err(report)?;
    let plan = plan_here(face, config, &choice.name, choice.isolated, given.as_ref())?;
    let dropped = left_behind(&plan, &keep);
    let supervised = supervisor::is_on(config);
    Ok(Launch { face, choice, client, plan, arguments, without_settings, given, dropped, supervised })
}

/// What a start in this folder and with this environment consists of.
pub(super) fn plan_here(
    face: &Face,
    config: &Config,
    name: &str,
    isolated: bool,
    given: Option<&Given>,
) -> Result<Plan, Refused> {
    let mode = match (isolated, supervisor::is_on(config)) {
        (true, _) => Mode::Isolated,
        (false, true) => Mode::Supervised,
        (false, false) => Mode::Plain,
    };
    let planned = plan(&StartRequest {
        places: &face.places,
        config,
        provider: name,
        lookup: &|variable| env::var(variable).ok(),
        sources: Sources { project: env::current_dir().ok(), given },
        hook: supervisor::settings(config),
        mode,
    });
    planned.map_err(|error| refusal(face, &error))
}

fn refusal(face: &Face, error: &ProvidersError) -> Refused {
    let ProvidersError::Overruled { provider, conflicts } = error else {
        return Refused::Other(failure(face.lang, error));
    };
    let (used, settings) = (used(&face.places).ok().flatten(), face.places.settings());
    Refused::Overruled(report::overruled(face.lang, provider, conflicts, used.as_deref(), &settings))
}

/// The client with exactly these arguments; the settings stay as they are.
pub(super) fn through(face: &Face, arguments: &[OsString]) -> Done {
    let client = client(face)?;
    let mut command = Command::new(client.program());
    command.args(arguments);
    Err(exec(face, &client, command))
}

/// The named provider, else the project's, else the current one. Being in a project changes nothing outside of
/// this start.
fn choose(face: &Face, config: &Config, start: &Start) -> Result<Choice, Failure> {
    let report = |error| failure(face.lang, &error);
    if let Some(name) = &start.provider {
        config.check(name, None).map_err(report)?;
        return Ok(Choice { name: name.clone(), isolated: start.isolated, pin: None });
    }
    if let Some(pin) = face.pin()? {
        config.check(&pin.provider, Some(pin.place.clone())).map_err(report)?;
        return Ok(Choice { name: pin.provider.clone(), isolated: true, pin: Some(pin) });
    }
    Ok(Choice { name: config.chosen().map_err(report)?, isolated: start.isolated, pin: None })
}

/// The names of inherited variables that are not for this provider.
fn left_behind(plan: &Plan, keep: &[String]) -> Vec<String> {
    let text = |value: OsString| value.to_string_lossy().into_owned();
    let inherited: Vec<_> = env::vars_os().map(|(name, value)| (text(name), text(value))).collect();
    dropped(&plan.env, keep, inherited.iter().map(|(name, value)| (name.as_str(), value.as_str())))
}

impl Launch<'_> {
    /// The start is noted before anything is written: whoever changes the shared settings from then on knows of it.
    fn carry_out(mut self, config: &Config) -> Done {
        self.note()?;
        let done = self.become_client(config);
        forget_start(&self.face.places);
        done
    }

    fn note(&self) -> Done {
        let started = Started {
            provider: self.choice.name.clone(),
            supervised: self.supervised,
            private: self.plan.private.is_some(),
        };
        note_start(&self.face.places, &started).map_err(|error| failure(self.face.lang, &error))
    }

    /// Comes back only if it did not work.
    fn become_client(&mut self, config: &Config) -> Done {
        let face = self.face;
        let leftovers = self.write_shared()?;
        self.look_again(config)?;
        let arguments = self.write_private()?;
        self.announce(&leftovers);
        if let Some(notice) = supervisor::notice(config, face.lang) {
            say(&notice);
        }
        let mut command = Command::new(self.client.program());
        command.args(arguments);
        for name in self.dropped.iter().map(String::as_str).chain(supervisor::OF_A_START) {
            command.env_remove(name);
        }
        let variables = supervisor::variables(config, &self.choice.name, self.choice.isolated);
        command.envs(self.variables()).envs(variables);
        Err(exec(face, &self.client, command))
    }

    /// Another terminal may have put a provider into the shared settings since they were looked at.
    fn look_again(&mut self, config: &Config) -> Done {
        let now = plan_here(self.face, config, &self.choice.name, self.choice.isolated, self.given.as_ref())?;
        for conflict in now.conflicts.iter().filter(|conflict| !self.plan.conflicts.contains(conflict)) {
            warn(&report::conflict(self.face.lang, conflict));
        }
        let is_private = now.private.is_some();
        let was_private = self.plan.private.is_some();
        self.plan = now;
        if is_private == was_private { Ok(()) } else { self.note() }
    }

    fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        let variables = self.plan.env.iter();
        variables.map(|(name, value)| (name.as_str(), value.as_str().unwrap_or_default()))
    }

    /// Puts what all sessions share into the shared settings, and returns what an earlier version had left there.
    fn write_shared(&self) -> Result<Vec<String>, Failure> {
        let Some(shared) = &self.plan.shared else { return Ok(Vec::new()) };
        let done = prepare(&self.face.places, &self.choice.name, shared);
        Ok(done.map_err(|error| failure(self.face.lang, &error))?.leftovers)
    }

    /// Puts into a private file what only this client is to have, and names it in its arguments.
    fn write_private(&self) -> Result<Vec<OsString>, Failure> {
        let Some(content) = &self.plan.private else { return Ok(self.arguments.clone()) };
        let file = private_settings(&self.face.places, content, process::id());
        let file = file.map_err(|error| failure(self.face.lang, &error))?;
        let ours = [OsString::from("--settings"), file.into()];
        Ok(ours.into_iter().chain(self.without_settings.iter().cloned()).collect())
    }

    fn announce(&self, leftovers: &[String]) {
        let (lang, choice) = (self.face.lang, &self.choice);
        say(&match &choice.pin {
            Some(pin) => words::on_pinned(lang, &choice.name, &pin.place.to_string()),
            None if choice.isolated => words::on_isolated(lang, &choice.name),
            None => words::on(lang, &choice.name),
        });
        self.print_dropped();
        if !leftovers.is_empty() {
            say(&words::leftovers_gone(lang, &shown(&self.face.places.settings()), &leftovers.join(", ")));
        }
    }

    fn print_dropped(&self) {
        let is_set = |name: &&String| env::var_os(name).is_some_and(|value| !value.is_empty());
        let names: Vec<_> = self.dropped.iter().filter(is_set).map(String::as_str).collect();
        if !names.is_empty() {
            say(&words::not_passed_on(self.face.lang, &names.join(", ")));
        }
    }

    fn rehearse(&self) -> Done {
        let (face, lang) = (self.face, self.face.lang);
        if let Some(shared) = &self.plan.shared {
            let changes = preview_start(&face.places, shared).map_err(|error| failure(lang, &error))?;
            show_changes(face, &changes);
        }
        say(&words::would_set(lang));
        for (name, value) in self.variables() {
            say(&format!("  + {name} = {}", masked(name, value).replace(char::is_control, " ")));
        }
        self.print_dropped();
        if self.plan.private.is_some() {
            say(&words::would_write_private(lang));
        }
        let line: Vec<_> =
            self.arguments.iter().map(|argument| redact(&argument.to_string_lossy())).collect();
        let command = format!("{} {}", shown(self.client.program()), line.join(" "));
        say(&words::would_start(lang, command.trim_end()));
        Ok(())
    }
}

fn client(face: &Face) -> Result<Client, Failure> {
    let missing = || Failure::new(words::no_client(face.lang)).hint(words::no_client_hint(face.lang));
    Client::find(env::var_os("PATH").as_deref()).ok_or_else(missing)
}

/// Comes back only if it did not work.
fn exec(face: &Face, client: &Client, mut command: Command) -> Failure {
    let error = command.exec();
    let message = words::cannot_start(face.lang, &shown(client.program()), &error.to_string());
    Failure::new(message).hint(words::cannot_start_hint(face.lang))
}
