//! Starts the client in place of this process: same process id, terminal, signals and exit code.

use std::env;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{self, Command};

use overtone_install::Client;
use overtone_messages::ccc as words;
use overtone_providers::{
    Config, Conflict, ConflictKind, Fragment, Pin, Source, Sources, conflicts, private_settings, switch,
};

use super::change::{fragment, show_preview};
use super::face::Face;
use super::line::Start;
use super::report::{self, failure, shown};
use super::supervisor;
use crate::ui::error::{Done, Failure, say, warn};

pub(super) const MANAGED_SETTINGS: &str = "/etc/claude-code/managed-settings.json";

/// Which provider, and how.
#[derive(Debug)]
struct Choice {
    name: String,
    isolated: bool,
    pin: Option<Pin>,
}

/// Everything that can fail is tried before anything is changed.
pub(super) fn run(face: &Face, start: &Start) -> Done {
    let config = face.config()?;
    let choice = choose(face, &config, start)?;
    let wanted = fragment(face, &config, &choice.name)?;
    let always = config.claude_args().map_err(|error| failure(face.lang, &error))?;
    let client = client(face)?;
    warn_of_conflicts(face, &wanted, choice.isolated)?;
    let mut arguments: Vec<OsString> = always.into_iter().map(OsString::from).collect();
    arguments.extend(start.arguments.iter().cloned());
    if start.dry_run {
        return rehearse(face, &choice, &wanted, &client, &arguments);
    }
    let variables = supervisor::variables(&config, &choice.name, choice.isolated);
    let arguments = prepare(face, &choice, &wanted, arguments)?;
    if let Some(notice) = supervisor::notice(&config, face.lang) {
        say(&notice);
    }
    exec(face, &client, &arguments, variables)
}

/// The client with exactly these arguments; the settings stay as they are.
pub(super) fn through(face: &Face, arguments: &[OsString]) -> Done {
    exec(face, &client(face)?, arguments, Vec::new())
}

/// The named provider, else the project's, else the current one. Being in a project changes nothing outside of
/// this start.
fn choose(face: &Face, config: &Config, start: &Start) -> Result<Choice, Failure> {
    let told = |error| failure(face.lang, &error);
    if let Some(name) = &start.provider {
        config.check(name, None).map_err(told)?;
        return Ok(Choice { name: name.clone(), isolated: start.isolated, pin: None });
    }
    if let Some(pin) = face.pin()? {
        config.check(&pin.provider, Some(pin.place.clone())).map_err(told)?;
        return Ok(Choice { name: pin.provider.clone(), isolated: true, pin: Some(pin) });
    }
    Ok(Choice { name: config.chosen().map_err(told)?, isolated: start.isolated, pin: None })
}

fn warn_of_conflicts(face: &Face, wanted: &Fragment, isolated: bool) -> Done {
    for conflict in conflicts_here(face, wanted, isolated)? {
        warn(&report::conflict(face.lang, &conflict, Path::new(MANAGED_SETTINGS)));
    }
    Ok(())
}

/// What would get in the way of a start in this folder and with this environment.
pub(super) fn conflicts_here(
    face: &Face,
    wanted: &Fragment,
    isolated: bool,
) -> Result<Vec<Conflict>, Failure> {
    let sources = Sources {
        project: env::current_dir().ok(),
        managed: PathBuf::from(MANAGED_SETTINGS),
        environment: environment(),
        isolated,
    };
    let mut found = conflicts(&face.places, &sources, wanted).map_err(|error| failure(face.lang, &error))?;
    // A private file wins over everything but the administrator's.
    found.retain(|conflict| {
        let is_managed = matches!(&conflict.source, Source::File(place) if place.path == sources.managed);
        !isolated || conflict.kind == ConflictKind::StaysInForce || is_managed
    });
    Ok(found)
}

fn environment() -> Vec<(String, String)> {
    let texts =
        |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    env::vars_os().filter_map(texts).collect()
}

/// Puts the provider into the settings, or into a private file that the arguments name.
fn prepare(
    face: &Face,
    choice: &Choice,
    wanted: &Fragment,
    arguments: Vec<OsString>,
) -> Result<Vec<OsString>, Failure> {
    let told = |error| failure(face.lang, &error);
    let name = &choice.name;
    if !choice.isolated {
        switch(&face.places, name, wanted).map_err(told)?;
        say(&words::on(face.lang, name));
        return Ok(arguments);
    }
    let file = private_settings(&face.places, wanted, process::id()).map_err(told)?;
    say(&match &choice.pin {
        Some(pin) => words::on_pinned(face.lang, name, &pin.place.to_string()),
        None => words::on_isolated(face.lang, name),
    });
    Ok([OsString::from("--settings"), file.into()].into_iter().chain(arguments).collect())
}

fn rehearse(
    face: &Face,
    choice: &Choice,
    wanted: &Fragment,
    client: &Client,
    arguments: &[OsString],
) -> Done {
    if choice.isolated {
        say(&words::would_write_private(face.lang));
    } else {
        show_preview(face, wanted)?;
    }
    let line: Vec<_> = arguments.iter().map(|argument| argument.to_string_lossy()).collect();
    let command = format!("{} {}", shown(client.program()), line.join(" "));
    say(&words::would_start(face.lang, command.trim_end()));
    Ok(())
}

fn client(face: &Face) -> Result<Client, Failure> {
    let missing = || Failure::new(words::no_client(face.lang)).hint(words::no_client_hint(face.lang));
    Client::find(env::var_os("PATH").as_deref()).ok_or_else(missing)
}

/// Comes back only if it did not work.
fn exec(
    face: &Face,
    client: &Client,
    arguments: &[OsString],
    variables: Vec<(&'static str, String)>,
) -> Done {
    let error = Command::new(client.program()).args(arguments).envs(variables).exec();
    let message = words::cannot_start(face.lang, &shown(client.program()), &error.to_string());
    Err(Failure::new(message).hint(words::cannot_start_hint(face.lang)))
}
