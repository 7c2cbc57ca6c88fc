//! `overtone fleet join` and `leave`: checks the connection, and writes the `fleet` section of `config.json`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use overtone_core::messages::fleet as words;
use overtone_fleet::{
    Invitation, InvitationError, Keyring, MachineInfo, Membership, Settings, Share, fleet_dir,
    is_relay_running, split_login,
};
use overtone_store::config::{Config, Section};
use overtone_store::{Home, create_private_dir, files};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::connection::{FleetConnection, keyring, membership_problem};
use crate::args::{JoinArgs, OutputArgs};
use crate::context::Context;
use crate::ui::error::{CommandError, CommandResult, note};
use crate::ui::out;
use crate::ui::table::{Cell, Fields};
use crate::ui::terminal;
use overtone_hook::ansi::Tone;

/// The keys of an older section that are kept, because they do not depend on the server.
const KEPT: [&str; 2] = ["retention", "name"];

pub(super) fn run(context: &Context, args: &JoinArgs) -> CommandResult {
    let invitation = match &args.url {
        Some(_) => None,
        None => Some(read_invitation(context)?),
    };
    let mut secrets = Secrets::new(context.home()?);
    let joined = section(context, args, invitation.as_ref(), &mut secrets)
        .and_then(|section| join(context, section, args.offline, invitation.as_ref()));
    let (settings, keyring) = joined.inspect_err(|_| secrets.remove())?;
    report(context, &settings, &keyring, args.offline, &args.output)
}

/// Reads the invitation from stdin. It contains a password, so it is not passed as an argument.
fn read_invitation(context: &Context) -> CommandResult<Invitation> {
    let lang = context.lang;
    let text = terminal::read_line(&words::paste_invitation(lang));
    let text = text.map_err(|error| CommandError::io(lang, Path::new("stdin"), &error))?;
    Invitation::decode(&text).map_err(|bad| {
        let what = match bad {
            InvitationError::Invalid => words::bad_invitation(lang),
            InvitationError::NewerVersion => words::later_invitation(lang),
        };
        CommandError::new(what).hint(words::bad_invitation_hint(lang))
    })
}

/// Private files for a new connection. They are removed if joining fails.
struct Secrets {
    folder: PathBuf,
    written: Vec<PathBuf>,
}

impl Secrets {
    fn new(home: &Home) -> Self {
        Self { folder: fleet_dir(home), written: Vec::new() }
    }

    /// Writes a file under a new name. The returned path is relative to the home, as in the settings.
    fn write(&mut self, kind: &str, text: &str) -> io::Result<String> {
        create_private_dir(&self.folder)?;
        let mut names = (1_u32..).map(|number| format!("{kind}-{number}"));
        let name = names.find(|name| !self.folder.join(name).exists()).unwrap_or_else(|| kind.to_owned());
        let path = self.folder.join(&name);
        files::write_atomic(&path, format!("{}\n", text.trim_end()).as_bytes(), files::PRIVATE)?;
        self.written.push(path);
        Ok(format!("fleet/{name}"))
    }

    fn remove(&self) {
        for path in &self.written {
            // A leftover file is private, and the next attempt writes another one.
            let _ = fs::remove_file(path);
        }
    }
}

/// Checks the connection, and writes the section. If the server has no team, one is created.
pub(super) fn join(
    context: &Context,
    section: Value,
    offline: bool,
    invitation: Option<&Invitation>,
) -> CommandResult<(Settings, Keyring)> {
    let home = context.home()?;
    let settings = read(context, &section)?;
    let keyring = keyring(context, &settings)?;
    if let Some(invitation) = invitation {
        keyring
            .accept_invitation(invitation)
            .map_err(|error| CommandError::io(context.lang, &fleet_dir(home), &error))?;
    }
    if !offline {
        let connection = FleetConnection::at(context, settings.clone(), &keyring)?;
        connection.wait(connection.link.check_read_write(&connection.machine.id))?;
        if keyring.membership() == Membership::Outsider {
            let lang = context.lang;
            return Err(
                CommandError::new(words::membership_outsider(lang)).hint(words::join_again_hint(lang))
            );
        }
        let info = MachineInfo::new(&connection.machine, context.environment.version, "");
        connection.wait(connection.link.update_name())?;
        connection.wait(connection.link.publish_machine_info(&info))?;
    }
    Config::set_section(home, Section::Fleet, Some(section))
        .map_err(|error| CommandError::store(context.lang, &error))?;
    Ok((settings, keyring))
}

fn read(context: &Context, section: &Value) -> CommandResult<Settings> {
    let (settings, problems) = Settings::read(context.home()?, section);
    let texts: Vec<_> = problems.iter().map(|problem| problem.message(context.lang)).collect();
    settings.ok_or_else(|| CommandError::new(texts.join("; ")).hint(words::join_hint(context.lang)))
}

/// The current section.
pub(super) fn current_section(context: &Context) -> CommandResult<Map<String, Value>> {
    let config = Config::load(context.home()?).map_err(|error| CommandError::store(context.lang, &error))?;
    Ok(config.section(Section::Fleet).and_then(Value::as_object).cloned().unwrap_or_default())
}

fn section(
    context: &Context,
    args: &JoinArgs,
    invitation: Option<&Invitation>,
    secrets: &mut Secrets,
) -> CommandResult<Value> {
    let mut section = current_section(context)?;
    section.retain(|name, _| KEPT.contains(&name.as_str()));
    let (url, mut login) = split_login(args.url.as_deref().unwrap_or_default());
    section.insert("url".to_owned(), url.into());
    if let Some(invitation) = invitation {
        section.insert("url".to_owned(), invitation.url.as_str().into());
        section.insert("prefix".to_owned(), invitation.prefix.as_str().into());
        login.clone_from(&invitation.login);
    }
    let ca = invitation.and_then(|invitation| invitation.ca.clone());
    for (name, text) in [("login", login), ("ca", ca)] {
        if let Some(text) = text {
            let written = secrets.write(name, &text);
            let path = written.map_err(|error| CommandError::io(context.lang, &secrets.folder, &error))?;
            section.insert(name.to_owned(), path.into());
        }
    }
    add_files(context, args, &mut section)?;
    for (name, text) in [("prefix", &args.prefix), ("name", &args.name), ("share", &args.share)] {
        section.extend(text.iter().map(|text| (name.to_owned(), text.as_str().into())));
    }
    section.extend(args.replicas.map(|count| ("replicas".to_owned(), count.into())));
    Ok(Value::Object(section))
}

fn add_files(context: &Context, args: &JoinArgs, section: &mut Map<String, Value>) -> CommandResult {
    let files = [
        ("login", &args.login),
        ("credentials", &args.credentials),
        ("ca", &args.ca),
        ("certificate", &args.certificate),
        ("key", &args.key),
    ];
    for (name, file) in files {
        if let Some(file) = file {
            section.insert(name.to_owned(), json!(absolute(context, file)?));
        }
    }
    Ok(())
}

/// The absolute path of an existing file, because a relay may be started in another folder.
fn absolute(context: &Context, file: &Path) -> CommandResult<PathBuf> {
    file.canonicalize().map_err(|error| CommandError::io(context.lang, file, &error))
}

/// The output of `overtone fleet join --json`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct JoinedJson<'a> {
    joined: String,
    prefix: &'a str,
    machine: &'a str,
    name: &'a str,
    share: &'static str,
    checked: bool,
    relay_running: bool,
    membership: &'static str,
    fingerprint: String,
}

/// The output of `overtone fleet leave --json`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LeftJson {
    left: bool,
    relay_running: bool,
}

fn report(
    context: &Context,
    settings: &Settings,
    keyring: &Keyring,
    offline: bool,
    output: &OutputArgs,
) -> CommandResult {
    let (home, machine) = (context.home()?, keyring.machine());
    let (membership, fingerprint) = (keyring.membership(), keyring.fingerprint());
    let is_full = settings.share == Share::Full;
    if output.json {
        return out::json(&JoinedJson {
            joined: settings.redacted_urls(),
            prefix: settings.names.prefix(),
            machine: &machine.id,
            name: &machine.name,
            share: if is_full { "full" } else { "state" },
            checked: !offline,
            relay_running: is_relay_running(home),
            membership: membership.name(),
            fingerprint,
        });
    }
    let lang = context.lang;
    let mut fields = Fields::default();
    let server = format!("{} · {}", settings.redacted_urls(), settings.names.prefix());
    fields.add(words::label_joined(lang), Cell::new(server).tone(Tone::Strong));
    fields.add(words::label_as(lang), format!("{} ({})", machine.name, machine.id));
    fields.add(words::label_fingerprint(lang), fingerprint);
    fields.add(
        words::label_shared(lang),
        if is_full { words::shared_full(lang) } else { words::shared_state(lang) },
    );
    if !is_full {
        fields.add(words::label_not_shared(lang), words::not_shared(lang));
    }
    let next = if is_relay_running(home) { words::relay_is_old(lang) } else { words::start_relay(lang) };
    out::print(&(fields.render(context.palette) + &format!("→ {next}\n")))?;
    match membership_problem(context, membership) {
        Some((what, hint)) => out::print(&format!("→ {what}: {hint}\n")),
        None => Ok(()),
    }
}

pub(super) fn leave(context: &Context, output: &OutputArgs) -> CommandResult {
    let (home, lang) = (context.home()?, context.lang);
    let was_there =
        Config::set_section(home, Section::Fleet, None).map_err(|error| CommandError::store(lang, &error))?;
    Keyring::leave(home).map_err(|error| CommandError::io(lang, &fleet_dir(home), &error))?;
    let runs = is_relay_running(home);
    if output.json {
        return out::json(&LeftJson { left: was_there, relay_running: runs });
    }
    if !was_there {
        return out::print(&words::was_not_joined(lang));
    }
    if runs {
        note(&words::relay_is_old(lang));
    }
    out::print(&words::left(lang))
}
