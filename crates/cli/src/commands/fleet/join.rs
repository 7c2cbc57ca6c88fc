//! `overtone fleet join` and `leave`: the way there is tried, then `config.json` has the section `fleet`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use overtone_fleet::{
    BadInvitation, Invitation, Keyring, MachineInfo, Membership, Settings, Share, folder, is_running,
    split_login,
};
use overtone_messages::fleet as words;
use overtone_store::config::Config;
use overtone_store::{Home, create_private_dir, files};
use serde_json::{Map, Value, json};

use super::desk::{Desk, keyring, membership_problem};
use crate::args::{JoinArgs, OutputArgs};
use crate::context::Context;
use crate::ui::error::{Done, Failure, say};
use crate::ui::out;
use crate::ui::style::Tone;
use crate::ui::table::{Cell, Fields};
use crate::ui::terminal;

/// What stays of an older section: it says nothing about one server.
const KEPT: [&str; 2] = ["retention", "name"];

pub(super) fn run(context: &Context, args: &JoinArgs) -> Done {
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

/// From the terminal or from whatever is on stdin: it has a password in it, which is no argument.
fn read_invitation(context: &Context) -> Result<Invitation, Failure> {
    let lang = context.lang;
    let text = terminal::read_line(&words::paste_invitation(lang));
    let text = text.map_err(|error| Failure::io(lang, Path::new("stdin"), &error))?;
    Invitation::decode(&text).map_err(|bad| {
        let what = match bad {
            BadInvitation::NotOne => words::bad_invitation(lang),
            BadInvitation::Later => words::later_invitation(lang),
        };
        Failure::new(what).hint(words::bad_invitation_hint(lang))
    })
}

/// Private files that a new way to a server needs. They are removed if the way does not work.
struct Secrets {
    folder: PathBuf,
    written: Vec<PathBuf>,
}

impl Secrets {
    fn new(home: &Home) -> Self {
        Self { folder: folder(home), written: Vec::new() }
    }

    /// Writes one, under a name that no other has. The path is relative to the home, as the settings have it.
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
            // They are private, and the next attempt writes others.
            let _ = fs::remove_file(path);
        }
    }
}

/// Tries the way there, and writes the section. A server without a team gets one.
pub(super) fn join(
    context: &Context,
    section: Value,
    offline: bool,
    invitation: Option<&Invitation>,
) -> Result<(Settings, Keyring), Failure> {
    let home = context.home()?;
    let settings = read(context, &section)?;
    let keyring = keyring(context, &settings)?;
    if let Some(invitation) = invitation {
        keyring.follow(invitation).map_err(|error| Failure::io(context.lang, &folder(home), &error))?;
    }
    if !offline {
        let desk = Desk::at(context, settings.clone(), &keyring)?;
        desk.wait(desk.link.try_out(&desk.machine.id))?;
        if keyring.membership() == Membership::Outsider {
            let lang = context.lang;
            return Err(Failure::new(words::membership_outsider(lang)).hint(words::join_again_hint(lang)));
        }
        let info = MachineInfo::new(&desk.machine, context.environment.version, "");
        desk.wait(desk.link.take_name())?;
        desk.wait(desk.link.introduce(&info))?;
    }
    Config::set_section(home, "fleet", Some(section))
        .map_err(|error| Failure::store(context.lang, &error))?;
    Ok((settings, keyring))
}

fn read(context: &Context, section: &Value) -> Result<Settings, Failure> {
    let (settings, problems) = Settings::read(context.home()?, section);
    let texts: Vec<_> = problems.iter().map(|problem| problem.text(context.lang)).collect();
    settings.ok_or_else(|| Failure::new(texts.join("; ")).hint(words::join_hint(context.lang)))
}

/// The section that is there now.
pub(super) fn known(context: &Context) -> Result<Map<String, Value>, Failure> {
    let config = Config::load(context.home()?).map_err(|error| Failure::store(context.lang, &error))?;
    Ok(config.section("fleet").and_then(Value::as_object).cloned().unwrap_or_default())
}

fn section(
    context: &Context,
    args: &JoinArgs,
    invitation: Option<&Invitation>,
    secrets: &mut Secrets,
) -> Result<Value, Failure> {
    let mut section = known(context)?;
    section.retain(|name, _| KEPT.contains(&name.as_str()));
    let (url, mut login) = split_login(args.url.as_deref().unwrap_or_default());
    section.insert("url".to_owned(), json!(url));
    if let Some(invitation) = invitation {
        section.insert("url".to_owned(), json!(invitation.url));
        section.insert("prefix".to_owned(), json!(invitation.prefix));
        login.clone_from(&invitation.login);
    }
    let ca = invitation.and_then(|invitation| invitation.ca.clone());
    for (name, text) in [("login", login), ("ca", ca)] {
        if let Some(text) = text {
            let written = secrets.write(name, &text);
            let path = written.map_err(|error| Failure::io(context.lang, &secrets.folder, &error))?;
            section.insert(name.to_owned(), json!(path));
        }
    }
    add_files(context, args, &mut section)?;
    for (name, text) in [("prefix", &args.prefix), ("name", &args.name), ("share", &args.share)] {
        section.extend(text.iter().map(|text| (name.to_owned(), json!(text))));
    }
    section.extend(args.replicas.map(|count| ("replicas".to_owned(), json!(count))));
    Ok(Value::Object(section))
}

fn add_files(context: &Context, args: &JoinArgs, section: &mut Map<String, Value>) -> Done {
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

/// The file must be there, wherever a relay is started later.
fn absolute(context: &Context, file: &Path) -> Result<PathBuf, Failure> {
    file.canonicalize().map_err(|error| Failure::io(context.lang, file, &error))
}

fn report(
    context: &Context,
    settings: &Settings,
    keyring: &Keyring,
    offline: bool,
    output: &OutputArgs,
) -> Done {
    let (home, machine) = (context.home()?, keyring.machine());
    let (membership, fingerprint) = (keyring.membership(), keyring.fingerprint());
    let is_full = settings.share == Share::Full;
    if output.json {
        return out::json(&json!({
            "joined": settings.shown_urls(), "prefix": settings.names.prefix(), "machine": machine.id,
            "name": machine.name, "share": if is_full { "full" } else { "state" }, "checked": !offline,
            "relayRunning": is_running(home), "membership": membership.name(), "fingerprint": fingerprint,
        }));
    }
    let lang = context.lang;
    let mut fields = Fields::default();
    let place = format!("{} · {}", settings.shown_urls(), settings.names.prefix());
    fields.add(words::label_joined(lang), Cell::new(place).tone(Tone::Strong));
    fields.add(words::label_as(lang), format!("{} ({})", machine.name, machine.id));
    fields.add(words::label_fingerprint(lang), fingerprint);
    fields.add(
        words::label_shared(lang),
        if is_full { words::shared_full(lang) } else { words::shared_state(lang) },
    );
    if !is_full {
        fields.add(words::label_not_shared(lang), words::not_shared(lang));
    }
    let next = if is_running(home) { words::relay_is_old(lang) } else { words::start_relay(lang) };
    out::print(&(fields.render(context.palette) + &format!("→ {next}\n")))?;
    match membership_problem(context, membership) {
        Some((what, hint)) => out::print(&format!("→ {what}: {hint}\n")),
        None => Ok(()),
    }
}

pub(super) fn leave(context: &Context, output: &OutputArgs) -> Done {
    let (home, lang) = (context.home()?, context.lang);
    let was_there = Config::set_section(home, "fleet", None).map_err(|error| Failure::store(lang, &error))?;
    Keyring::leave(home).map_err(|error| Failure::io(lang, &folder(home), &error))?;
    let runs = is_running(home);
    if output.json {
        return out::json(&json!({ "left": was_there, "relayRunning": runs }));
    }
    if !was_there {
        return out::print(&words::was_not_joined(lang));
    }
    if runs {
        say(&words::relay_is_old(lang));
    }
    out::print(&words::left(lang))
}
