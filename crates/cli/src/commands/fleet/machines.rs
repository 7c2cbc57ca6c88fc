//! `overtone fleet machines`, `invite`, `accept` and `remove`: who is part of the team.

use overtone_fleet::{Invited, Member, NotChanged, Picture, Stranger};
use overtone_messages::{Lang, fleet as words};
use serde_json::{Value, json};

use super::desk::Desk;
use super::list::seen;
use crate::args::{AcceptArgs, OutputArgs, RemoveArgs};
use crate::context::Context;
use crate::ui::error::{Done, Failure, say};
use crate::ui::out;
use crate::ui::style::Tone;
use crate::ui::table::{Cell, Table};
use crate::ui::terminal;
use crate::ui::text::Text;

pub(super) fn list(context: &Context, output: &OutputArgs) -> Done {
    let desk = Desk::open(context)?;
    let picture = desk.picture()?;
    if output.json {
        let members: Vec<_> = picture.members.iter().map(|member| member_object(&picture, member)).collect();
        let unknown: Vec<_> = picture.unknown.iter().map(unknown_object).collect();
        return out::json(&json!({ "machines": members, "unknown": unknown }));
    }
    out::print(&members_table(context, &picture).render(context.palette))?;
    if picture.unknown.is_empty() {
        return Ok(());
    }
    out::print(&Text::join(["\n".into(), unknown_rows(context, &picture.unknown)], ""))
}

fn member_object(picture: &Picture, member: &Member) -> Value {
    let view = picture.machines.iter().find(|view| view.info.machine == member.id);
    json!({
        "id": member.id, "name": member.name, "fingerprint": member.key.fingerprint(),
        "present": view.is_some_and(|view| view.is_present), "version": view.map(|view| &view.info.version),
        "lastSeen": view.map(|view| &view.info.at),
    })
}

pub(super) fn unknown_object(stranger: &Stranger) -> Value {
    json!({
        "id": stranger.id, "callsItself": stranger.shown_name(), "version": stranger.version, "lastSeen": stranger.at,
        "fingerprint": stranger.key.as_ref().map(overtone_fleet::PublicKey::fingerprint),
        "invited": stranger.invited == Invited::ByUs,
    })
}

fn members_table(context: &Context, picture: &Picture) -> Table {
    let lang = context.lang;
    let mut table = Table::with_head([
        words::head_machine(lang),
        String::new(),
        words::head_fingerprint(lang),
        words::head_version(lang),
        words::head_last_seen(lang),
    ]);
    for member in &picture.members {
        let view = picture.machines.iter().find(|view| view.info.machine == member.id);
        let is_present = view.is_some_and(|view| view.is_present);
        let presence = if is_present { words::present(lang) } else { words::gone(lang) };
        table.row([
            Cell::new(&member.name).tone(Tone::Strong),
            Cell::new(presence).tone(if is_present { Tone::Good } else { Tone::Faint }),
            member.key.fingerprint().into(),
            view.map_or_else(|| "–".to_owned(), |view| view.info.version.clone()).into(),
            view.map_or_else(|| words::never_seen(lang), |view| seen(context, &view.info.at)).into(),
        ]);
    }
    table
}

/// Machines outside of the team, never under a name that the team knows.
pub(super) fn unknown_rows(context: &Context, unknown: &[Stranger]) -> Text {
    let lang = context.lang;
    let mut table = Table::default();
    for stranger in unknown {
        let key =
            stranger.key.as_ref().map_or_else(|| "–".to_owned(), overtone_fleet::PublicKey::fingerprint);
        let name = stranger.shown_name().map(|name| words::unknown_claims(lang, name)).unwrap_or_default();
        let why = if stranger.key.is_some() { words::unknown_waits(lang) } else { words::unknown_old(lang) };
        table.row([
            Cell::new(words::unknown_machine(lang, &stranger.id)).tone(Tone::Warning),
            name.into(),
            key.into(),
            why.into(),
        ]);
    }
    table.render(context.palette)
}

pub(super) fn invite(context: &Context, output: &OutputArgs) -> Done {
    let (desk, lang) = (Desk::open_as_member(context)?, context.lang);
    let home = context.home()?;
    let made = desk.link.keyring.invite(&desk.settings);
    let made = made.map_err(|error| Failure::io(lang, home.root(), &error))?;
    let invitation = made.ok_or_else(|| not_a_member(lang))?;
    if output.json {
        return out::json(&json!({ "invitation": invitation.encode() }));
    }
    say(&words::invitation_first(lang));
    out::print(&format!("\n{}\n\n", invitation.encode()))?;
    if desk.settings.credentials.is_some() || desk.settings.identity.is_some() {
        say(&words::invitation_needs_credentials(lang));
    }
    say(&words::invitation_then(lang));
    Ok(())
}

fn not_a_member(lang: Lang) -> Failure {
    Failure::new(words::not_a_member(lang)).hint(words::join_again_hint(lang))
}

pub(super) fn accept(context: &Context, args: &AcceptArgs) -> Done {
    let (desk, lang) = (Desk::open_as_member(context)?, context.lang);
    let picture = desk.picture()?;
    let waiting: Vec<_> = picture.unknown.iter().filter(|stranger| stranger.key.is_some()).collect();
    let chosen = if args.machines.is_empty() {
        undecided(context, &waiting, args.invited)?
    } else {
        let find = |name: &String| find_waiting(lang, &picture.unknown, name);
        args.machines.iter().map(find).collect::<Result<Vec<_>, _>>()?
    };
    let mut accepted = Vec::new();
    for stranger in chosen {
        let member = desk.wait_for(Box::pin(desk.link.admit(stranger)))?;
        let member = member.map_err(|reason| not_changed(context, &desk, &stranger.id, reason))?;
        if !args.output.json {
            out::print(&words::accepted(lang, &member.name))?;
        }
        accepted
            .push(json!({ "id": member.id, "name": member.name, "fingerprint": member.key.fingerprint() }));
    }
    if args.output.json { out::json(&json!({ "accepted": accepted })) } else { Ok(()) }
}

/// Those that a person says yes to, or with `--invited` those that have used an invitation of this machine.
fn undecided<'a>(
    context: &Context,
    waiting: &[&'a Stranger],
    invited: bool,
) -> Result<Vec<&'a Stranger>, Failure> {
    let lang = context.lang;
    if invited {
        let is_invited = |stranger: &&&Stranger| stranger.invited == Invited::ByUs;
        return Ok(waiting.iter().filter(is_invited).copied().collect());
    }
    let Some(first) = waiting.first() else {
        return Err(Failure::new(words::nobody_waits(lang)).hint(words::nobody_waits_hint(lang)));
    };
    for stranger in waiting {
        say(&description(lang, stranger));
    }
    if !terminal::can_ask() {
        let hint = words::accept_needs_answer_hint(lang, &fingerprint(first));
        return Err(Failure::new(words::accept_needs_answer(lang)).hint(hint));
    }
    let is_wanted =
        |stranger: &&&Stranger| terminal::confirm(&words::accept_question(lang, &label(stranger)));
    Ok(waiting.iter().filter(is_wanted).copied().collect())
}

fn description(lang: Lang, stranger: &Stranger) -> String {
    let invited = match stranger.invited {
        Invited::ByUs => words::waits_by_invitation(lang),
        Invited::NotByUs => words::waits_without_invitation(lang),
    };
    format!("{}\n  {invited}", words::waiting_machine(lang, &label(stranger), &fingerprint(stranger)))
}

fn label(stranger: &Stranger) -> String {
    stranger.shown_name().unwrap_or(&stranger.id).to_owned()
}

fn fingerprint(stranger: &Stranger) -> String {
    stranger.key.as_ref().map(overtone_fleet::PublicKey::fingerprint).unwrap_or_default()
}

/// By its whole fingerprint: whoever types it has compared it. A name could be anybody's.
fn find_waiting<'a>(lang: Lang, unknown: &'a [Stranger], name: &str) -> Result<&'a Stranger, Failure> {
    if let Some(found) =
        unknown.iter().find(|stranger| stranger.key.is_some() && fingerprint(stranger) == name)
    {
        return Ok(found);
    }
    if unknown.iter().any(|stranger| stranger.key.is_none() && stranger.id == name) {
        return Err(Failure::new(words::without_a_key(lang)).hint(words::unknown_old(lang)));
    }
    Err(Failure::new(words::no_such_machine(lang, name)).hint(words::no_such_machine_hint(lang)))
}

pub(super) fn remove(context: &Context, args: &RemoveArgs) -> Done {
    let (desk, lang) = (Desk::open_as_member(context)?, context.lang);
    let member = find_member(lang, &desk.link.keyring.members(), &args.machine)?;
    if !args.yes {
        if !terminal::can_ask() {
            return Err(Failure::new(words::remove_needs_yes(lang)).hint("--yes"));
        }
        if !terminal::confirm(&words::remove_question(lang, &member.name, &member.key.fingerprint())) {
            return Ok(());
        }
    }
    let removed = desk.wait_for(Box::pin(desk.link.expel(&member.id)))?;
    removed.map_err(|reason| not_changed(context, &desk, &member.name, reason))?;
    if args.output.json {
        return out::json(&json!({ "removed": { "id": member.id, "name": member.name } }));
    }
    out::print(&words::removed(lang, &member.name))?;
    say(&words::remove_login_hint(lang));
    Ok(())
}

/// By its name, its number or its fingerprint.
fn find_member(lang: Lang, members: &[Member], name: &str) -> Result<Member, Failure> {
    let is_it =
        |member: &&Member| member.name == name || member.id == name || member.key.fingerprint() == name;
    let found = members.iter().find(is_it).cloned();
    let missing = || Failure::new(words::no_such_machine(lang, name)).hint(words::no_such_machine_hint(lang));
    found.ok_or_else(missing)
}

fn not_changed(context: &Context, desk: &Desk, name: &str, reason: NotChanged) -> Failure {
    let lang = context.lang;
    match reason {
        NotChanged::NotAMember => not_a_member(lang),
        NotChanged::NoSuchMachine => {
            Failure::new(words::no_such_machine(lang, name)).hint(words::no_such_machine_hint(lang))
        }
        NotChanged::NumberTaken { name } => {
            Failure::new(words::number_taken(lang, &name)).hint(words::number_taken_hint(lang, &name))
        }
        NotChanged::LastMember => Failure::new(words::last_member(lang)).hint(words::last_member_hint(lang)),
        NotChanged::Fleet(error) => {
            let (what, hint) = desk.told(&error);
            Failure::new(what).hint(hint)
        }
    }
}
