//! `overtone fleet machines`, `invite`, `accept` and `remove`: the members of the team.

use overtone_core::messages::{Lang, fleet as words};
use overtone_fleet::{FleetSnapshot, Invited, Member, TeamError, UnknownMachine};
use serde_json::{Value, json};

use super::connection::FleetConnection;
use super::list::last_seen;
use crate::args::{AcceptArgs, OutputArgs, RemoveArgs};
use crate::context::Context;
use crate::ui::error::{CommandError, CommandResult, note};
use crate::ui::out;
use crate::ui::table::{Cell, Table};
use crate::ui::terminal;
use overtone_hook::ansi::Text;
use overtone_hook::ansi::Tone;

pub(super) fn list(context: &Context, output: &OutputArgs) -> CommandResult {
    let connection = FleetConnection::open(context)?;
    let snapshot = connection.snapshot()?;
    if output.json {
        let members: Vec<_> =
            snapshot.members.iter().map(|member| member_object(&snapshot, member)).collect();
        let unknown: Vec<_> = snapshot.unknown_machines.iter().map(unknown_object).collect();
        return out::json(&json!({ "machines": members, "unknown": unknown }));
    }
    out::print(&members_table(context, &snapshot).render(context.palette))?;
    if snapshot.unknown_machines.is_empty() {
        return Ok(());
    }
    out::print(&Text::join(["\n".into(), unknown_rows(context, &snapshot.unknown_machines)], ""))
}

fn member_object(snapshot: &FleetSnapshot, member: &Member) -> Value {
    let view = snapshot.machines.iter().find(|view| view.info.machine == member.id);
    json!({
        "id": member.id, "name": member.name, "fingerprint": member.key.fingerprint(),
        "present": view.is_some_and(|view| view.is_present), "version": view.map(|view| &view.info.version),
        "lastSeen": view.map(|view| &view.info.at),
    })
}

pub(super) fn unknown_object(machine: &UnknownMachine) -> Value {
    json!({
        "id": machine.id, "callsItself": machine.shown_name(), "version": machine.version, "lastSeen": machine.at,
        "fingerprint": machine.key.as_ref().map(overtone_fleet::PublicKey::fingerprint),
        "invited": machine.invited == Invited::ByUs,
    })
}

fn members_table(context: &Context, snapshot: &FleetSnapshot) -> Table {
    let lang = context.lang;
    let mut table = Table::with_head([
        words::head_machine(lang),
        String::new(),
        words::head_fingerprint(lang),
        words::head_version(lang),
        words::head_last_seen(lang),
    ]);
    for member in &snapshot.members {
        let view = snapshot.machines.iter().find(|view| view.info.machine == member.id);
        let is_present = view.is_some_and(|view| view.is_present);
        let presence = if is_present { words::present(lang) } else { words::gone(lang) };
        table.row([
            Cell::new(&member.name).tone(Tone::Strong),
            Cell::new(presence).tone(if is_present { Tone::Good } else { Tone::Faint }),
            member.key.fingerprint().into(),
            view.map_or_else(|| "–".to_owned(), |view| view.info.version.clone()).into(),
            view.map_or_else(|| words::never_seen(lang), |view| last_seen(context, &view.info.at)).into(),
        ]);
    }
    table
}

/// The machines outside of the team, never with the name of a member.
pub(super) fn unknown_rows(context: &Context, unknown: &[UnknownMachine]) -> Text {
    let lang = context.lang;
    let mut table = Table::default();
    for machine in unknown {
        let key = machine.key.as_ref().map_or_else(|| "–".to_owned(), overtone_fleet::PublicKey::fingerprint);
        let name = machine.shown_name().map(|name| words::unknown_claims(lang, name)).unwrap_or_default();
        let why = if machine.key.is_some() { words::unknown_waits(lang) } else { words::unknown_old(lang) };
        table.row([
            Cell::new(words::unknown_machine(lang, &machine.id)).tone(Tone::Warning),
            name.into(),
            key.into(),
            why.into(),
        ]);
    }
    table.render(context.palette)
}

pub(super) fn invite(context: &Context, output: &OutputArgs) -> CommandResult {
    let (connection, lang) = (FleetConnection::open_as_member(context)?, context.lang);
    let home = context.home()?;
    let made = connection.link.keyring.invite(&connection.settings);
    let made = made.map_err(|error| CommandError::io(lang, home.root(), &error))?;
    let invitation = made.ok_or_else(|| not_a_member(lang))?;
    if output.json {
        return out::json(&json!({ "invitation": invitation.encode() }));
    }
    note(&words::invitation_first(lang));
    out::print(&format!("\n{}\n\n", invitation.encode()))?;
    if connection.settings.credentials.is_some() || connection.settings.identity.is_some() {
        note(&words::invitation_needs_credentials(lang));
    }
    note(&words::invitation_then(lang));
    Ok(())
}

fn not_a_member(lang: Lang) -> CommandError {
    CommandError::new(words::not_a_member(lang)).hint(words::join_again_hint(lang))
}

pub(super) fn accept(context: &Context, args: &AcceptArgs) -> CommandResult {
    let (connection, lang) = (FleetConnection::open_as_member(context)?, context.lang);
    let snapshot = connection.snapshot()?;
    let waiting: Vec<_> = snapshot.unknown_machines.iter().filter(|machine| machine.key.is_some()).collect();
    let chosen = if args.machines.is_empty() {
        choose_machines(context, &waiting, args.invited)?
    } else {
        let find = |name: &String| find_waiting(lang, &snapshot.unknown_machines, name);
        args.machines.iter().map(find).collect::<Result<Vec<_>, _>>()?
    };
    let mut accepted = Vec::new();
    for machine in chosen {
        let member = connection.wait_for(Box::pin(connection.link.admit(machine)))?;
        let member = member.map_err(|reason| team_failure(context, &connection, &machine.id, reason))?;
        if !args.output.json {
            out::print(&words::accepted(lang, &member.name))?;
        }
        accepted
            .push(json!({ "id": member.id, "name": member.name, "fingerprint": member.key.fingerprint() }));
    }
    if args.output.json { out::json(&json!({ "accepted": accepted })) } else { Ok(()) }
}

/// The machines that the user confirms, or with `--invited` those that have used an invitation of this machine.
fn choose_machines<'a>(
    context: &Context,
    waiting: &[&'a UnknownMachine],
    invited: bool,
) -> CommandResult<Vec<&'a UnknownMachine>> {
    let lang = context.lang;
    if invited {
        let is_invited = |machine: &&&UnknownMachine| machine.invited == Invited::ByUs;
        return Ok(waiting.iter().filter(is_invited).copied().collect());
    }
    let Some(first) = waiting.first() else {
        return Err(CommandError::new(words::nobody_waits(lang)).hint(words::nobody_waits_hint(lang)));
    };
    for machine in waiting {
        note(&description(lang, machine));
    }
    if !terminal::can_ask() {
        let hint = words::accept_needs_answer_hint(lang, &fingerprint(first));
        return Err(CommandError::new(words::accept_needs_answer(lang)).hint(hint));
    }
    let is_wanted =
        |machine: &&&UnknownMachine| terminal::confirm(&words::accept_question(lang, &label(machine)));
    Ok(waiting.iter().filter(is_wanted).copied().collect())
}

fn description(lang: Lang, machine: &UnknownMachine) -> String {
    let invited = match machine.invited {
        Invited::ByUs => words::waits_by_invitation(lang),
        Invited::NotByUs => words::waits_without_invitation(lang),
    };
    format!("{}\n  {invited}", words::waiting_machine(lang, &label(machine), &fingerprint(machine)))
}

fn label(machine: &UnknownMachine) -> String {
    machine.shown_name().unwrap_or(&machine.id).to_owned()
}

fn fingerprint(machine: &UnknownMachine) -> String {
    machine.key.as_ref().map(overtone_fleet::PublicKey::fingerprint).unwrap_or_default()
}

/// Finds a waiting machine by its complete fingerprint. Names are not accepted, because any machine can use any name.
fn find_waiting<'a>(
    lang: Lang,
    unknown: &'a [UnknownMachine],
    name: &str,
) -> CommandResult<&'a UnknownMachine> {
    if let Some(found) = unknown.iter().find(|machine| machine.key.is_some() && fingerprint(machine) == name)
    {
        return Ok(found);
    }
    if unknown.iter().any(|machine| machine.key.is_none() && machine.id == name) {
        return Err(CommandError::new(words::without_a_key(lang)).hint(words::unknown_old(lang)));
    }
    Err(CommandError::new(words::no_such_machine(lang, name)).hint(words::no_such_machine_hint(lang)))
}

pub(super) fn remove(context: &Context, args: &RemoveArgs) -> CommandResult {
    let (connection, lang) = (FleetConnection::open_as_member(context)?, context.lang);
    let member = find_member(lang, &connection.link.keyring.members(), &args.machine)?;
    if !args.yes {
        if !terminal::can_ask() {
            return Err(CommandError::new(words::remove_needs_yes(lang)).hint("--yes"));
        }
        if !terminal::confirm(&words::remove_question(lang, &member.name, &member.key.fingerprint())) {
            return Ok(());
        }
    }
    let removed = connection.wait_for(Box::pin(connection.link.remove_member(&member.id)))?;
    removed.map_err(|reason| team_failure(context, &connection, &member.name, reason))?;
    if args.output.json {
        return out::json(&json!({ "removed": { "id": member.id, "name": member.name } }));
    }
    out::print(&words::removed(lang, &member.name))?;
    note(&words::remove_login_hint(lang));
    Ok(())
}

/// Finds a member by its name, id or fingerprint.
fn find_member(lang: Lang, members: &[Member], name: &str) -> CommandResult<Member> {
    let is_it =
        |member: &&Member| member.name == name || member.id == name || member.key.fingerprint() == name;
    let found = members.iter().find(is_it).cloned();
    let missing =
        || CommandError::new(words::no_such_machine(lang, name)).hint(words::no_such_machine_hint(lang));
    found.ok_or_else(missing)
}

fn team_failure(
    context: &Context,
    connection: &FleetConnection,
    name: &str,
    reason: TeamError,
) -> CommandError {
    let lang = context.lang;
    match reason {
        TeamError::NotAMember => not_a_member(lang),
        TeamError::NoSuchMachine => {
            CommandError::new(words::no_such_machine(lang, name)).hint(words::no_such_machine_hint(lang))
        }
        TeamError::NumberTaken { name } => {
            CommandError::new(words::number_taken(lang, &name)).hint(words::number_taken_hint(lang, &name))
        }
        TeamError::LastMember => {
            CommandError::new(words::last_member(lang)).hint(words::last_member_hint(lang))
        }
        TeamError::Fleet(error) => {
            let (what, hint) = connection.describe_error(&error);
            CommandError::new(what).hint(hint)
        }
    }
}
