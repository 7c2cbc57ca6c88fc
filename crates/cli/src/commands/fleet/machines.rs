//! `overtone fleet machines`, `invite`, `accept` and `remove`: the members of the team.

use overtone_core::messages::{Lang, fleet as words};
use overtone_fleet::{FleetSnapshot, Invited, MachineView, Member, PublicKey, TeamError, UnknownMachine};
use serde::Serialize;

use super::connection::FleetConnection;
use super::list::last_seen;
use crate::args::{AcceptArgs, OutputArgs, RemoveArgs};
use crate::context::Context;
use crate::ui::error::{CommandError, CommandResult, note};
use crate::ui::out;
use crate::ui::quantity::or_dash;
use crate::ui::table::{Cell, Table};
use crate::ui::terminal;
use overtone_hook::ansi::Text;
use overtone_hook::ansi::Tone;

pub(super) fn list(context: &Context, output: &OutputArgs) -> CommandResult {
    let connection = FleetConnection::open(context)?;
    let snapshot = connection.snapshot()?;
    if output.json {
        return out::json(&MachinesJson {
            machines: snapshot.members.iter().map(|member| MemberJson::new(&snapshot, member)).collect(),
            unknown: snapshot.unknown_machines.iter().map(UnknownJson::new).collect(),
        });
    }
    out::print(&members_table(context, &snapshot).render(context.palette))?;
    if snapshot.unknown_machines.is_empty() {
        return Ok(());
    }
    out::print(&Text::join(["\n".into(), unknown_rows(context, &snapshot.unknown_machines)], ""))
}

/// The output of `overtone fleet machines --json`.
#[derive(Serialize)]
struct MachinesJson<'a> {
    machines: Vec<MemberJson<'a>>,
    unknown: Vec<UnknownJson<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MemberJson<'a> {
    id: &'a str,
    name: &'a str,
    fingerprint: String,
    present: bool,
    version: Option<&'a str>,
    last_seen: Option<&'a str>,
}

/// A machine outside of the team in the JSON output.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct UnknownJson<'a> {
    id: &'a str,
    calls_itself: Option<&'a str>,
    version: &'a str,
    last_seen: &'a str,
    fingerprint: Option<String>,
    invited: bool,
}

impl<'a> MemberJson<'a> {
    fn new(snapshot: &'a FleetSnapshot, member: &'a Member) -> Self {
        let view = machine_view(snapshot, member);
        Self {
            id: &member.id,
            name: &member.name,
            fingerprint: member.key.fingerprint(),
            present: snapshot.is_present(&member.id),
            version: view.map(|view| view.info.version.as_str()),
            last_seen: view.map(|view| view.info.at.as_str()),
        }
    }
}

impl<'a> UnknownJson<'a> {
    pub(super) fn new(machine: &'a UnknownMachine) -> Self {
        Self {
            id: &machine.id,
            calls_itself: machine.shown_name(),
            version: &machine.version,
            last_seen: &machine.at,
            fingerprint: machine.key.as_ref().map(PublicKey::fingerprint),
            invited: machine.invited == Invited::ByUs,
        }
    }
}

/// What a member has last published about itself.
fn machine_view<'a>(snapshot: &'a FleetSnapshot, member: &Member) -> Option<&'a MachineView> {
    snapshot.machines.iter().find(|view| view.info.machine == member.id)
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
        let view = machine_view(snapshot, member);
        let is_present = snapshot.is_present(&member.id);
        let last_seen = match view {
            Some(view) => last_seen(context, &view.info.at),
            None => words::never_seen(lang),
        };
        let presence = if is_present { words::present(lang) } else { words::gone(lang) };
        table.row([
            Cell::new(&member.name).tone(Tone::Strong),
            Cell::new(presence).tone(if is_present { Tone::Good } else { Tone::Faint }),
            member.key.fingerprint().into(),
            or_dash(view.map(|view| view.info.version.clone())).into(),
            last_seen.into(),
        ]);
    }
    table
}

/// The machines outside of the team, never with the name of a member.
pub(super) fn unknown_rows(context: &Context, unknown: &[UnknownMachine]) -> Text {
    let lang = context.lang;
    let mut table = Table::default();
    for machine in unknown {
        let key = or_dash(machine.key.as_ref().map(PublicKey::fingerprint));
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

/// The output of `overtone fleet invite --json`.
#[derive(Serialize)]
struct InvitationJson {
    invitation: String,
}

pub(super) fn invite(context: &Context, output: &OutputArgs) -> CommandResult {
    let (connection, lang) = (FleetConnection::open_as_member(context)?, context.lang);
    let home = context.home()?;
    let made = connection.link.keyring.invite(&connection.settings);
    let made = made.map_err(|error| CommandError::io(lang, home.root(), &error))?;
    let invitation = made.ok_or_else(|| not_a_member(lang))?;
    if output.json {
        return out::json(&InvitationJson { invitation: invitation.encode() });
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
        accepted.push(AcceptedMember {
            fingerprint: member.key.fingerprint(),
            id: member.id,
            name: member.name,
        });
    }
    if args.output.json { out::json(&AcceptedJson { accepted }) } else { Ok(()) }
}

/// The output of `overtone fleet accept --json`.
#[derive(Serialize)]
struct AcceptedJson {
    accepted: Vec<AcceptedMember>,
}

#[derive(Serialize)]
struct AcceptedMember {
    id: String,
    name: String,
    fingerprint: String,
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
    let is_confirmed =
        |machine: &&&UnknownMachine| terminal::confirm(&words::accept_question(lang, &label(machine)));
    Ok(waiting.iter().filter(is_confirmed).copied().collect())
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
    machine.key.as_ref().map(PublicKey::fingerprint).unwrap_or_default()
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

/// The output of `overtone fleet remove --json`.
#[derive(Serialize)]
struct RemovedJson<'a> {
    removed: RemovedMember<'a>,
}

#[derive(Serialize)]
struct RemovedMember<'a> {
    id: &'a str,
    name: &'a str,
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
        let removed = RemovedMember { id: &member.id, name: &member.name };
        return out::json(&RemovedJson { removed });
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
        TeamError::IdTaken { name } => {
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
