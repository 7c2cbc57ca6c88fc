//! What is checked for every message from the network, with arbitrary bytes and with arbitrary contents that a machine of
//! the team has signed. Part of this package because most of what reads messages is private.

#![allow(clippy::expect_used, reason = "a panic is how a check reports that something does not hold")]

use std::sync::LazyLock;

use async_nats::datetime::DateTime;
use async_nats::jetstream::kv::{Entry, Operation};
use overtone_core::engine::text::printable;
use overtone_store::{Home, Session, SessionId, clock};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::claims::{open_claim, open_heartbeat};
use crate::machine::MAX_NAME;
use crate::message::{Answer, Batch, Handoff, Order};
use crate::mirror::copy::put_state;
use crate::mirror::fleet_state::FleetState;
use crate::mirror::listen::{BucketChange, PendingSessions};
use crate::mirror::progress::MirrorPosition;
use crate::mirror::timeline::{self, BatchFit};
use crate::names::{decode_token, encode_token};
use crate::relay::ledger::{Ledger, ORDER_LIFETIME, OrderStatus};
use crate::send::outcome_of;
use crate::snapshot::{open_machine, open_state, open_unknown_machine};
use crate::trust::sample::SampleTeam;
use crate::trust::{CLOCK_SKEW, Invitation, Kind, claimed_machine};

const KINDS: [Kind; 9] = [
    Kind::Order,
    Kind::Answer,
    Kind::Claim,
    Kind::Heartbeat,
    Kind::Machine,
    Kind::State,
    Kind::Events,
    Kind::Handoff,
    Kind::Roster,
];

static TEAM: LazyLock<SampleTeam> = LazyLock::new(|| SampleTeam::create().expect("a team of two machines"));

/// Checks bytes as they come from the server, and as a signed message: `kind destination time` in the first line, the
/// content as JSON in the rest.
pub fn check(data: &[u8]) {
    unsigned_bytes_are_rejected(data);
    if let Ok(text) = std::str::from_utf8(data) {
        names_and_invitations_are_read_back(text);
        if let Some(message) = SignedMessage::parse(text) {
            message.check(text);
        }
    }
}

/// Nothing that an input contains is signed with the team's keys.
fn unsigned_bytes_are_rejected(data: &[u8]) {
    for kind in KINDS {
        assert!(TEAM.keyring.open::<Value>(kind, &TEAM.sender.id, data).is_err(), "{kind:?}");
    }
    TEAM.append_list(data);
    let machine = claimed_machine(data);
    assert!(machine.is_none() || SampleTeam::is_envelope(data));
    let entry = entry("2222222222222222", data);
    assert!(open_claim(&TEAM.keyring, &entry).is_err() && open_state(&TEAM.keyring, &entry).is_err());
    if let Some(unknown) = open_unknown_machine(&TEAM.keyring, Kind::Machine, &entry) {
        for (text, limit) in [
            (&unknown.id, 16),
            (&unknown.version, 32),
            (&unknown.at, 32),
            (&unknown.requested_name().to_owned(), MAX_NAME),
        ] {
            assert!(printable(text) == text.as_str() && text.chars().count() <= limit, "{text:?}");
        }
    }
}

fn names_and_invitations_are_read_back(text: &str) {
    if let Some(decoded) = decode_token(text) {
        assert_eq!(encode_token(&decoded), text);
    }
    assert_eq!(decode_token(&encode_token(text)).as_deref(), Some(text));
    if let Ok(invitation) = Invitation::decode(text) {
        assert_eq!(Invitation::decode(&invitation.encode()), Ok(invitation));
    }
}

/// A message that the other machine of the team has signed.
struct SignedMessage {
    kind: Kind,
    to: String,
    at: i64,
    bytes: Vec<u8>,
}

const ORDER_ID: &str = "0123456789abcdef";

impl SignedMessage {
    fn parse(text: &str) -> Option<Self> {
        let (head, body) = text.split_once('\n')?;
        let mut words = head.split(' ');
        let kind = serde_json::from_value(Value::from(words.next()?)).ok()?;
        let to = words.next()?.to_owned();
        // A small time counts from now, because only recent messages are accepted.
        let at: i64 = words.next()?.parse().ok()?;
        let at = if at.unsigned_abs() < ORDER_LIFETIME.unsigned_abs() * 2 { clock::now().0 + at } else { at };
        let body = RawValue::from_string(body.to_owned()).ok()?;
        let bytes = TEAM.sign(kind, &to, ORDER_ID, at, &body);
        Some(Self { kind, to, at, bytes })
    }

    fn check(&self, text: &str) {
        let Self { kind, to, at, bytes } = self;
        self.one_changed_byte_is_noticed(text);
        for other in KINDS {
            let is_read = TEAM.keyring.open::<Value>(other, to, bytes).is_ok();
            assert_eq!(is_read, other == *kind, "a message is of one kind");
        }
        assert!(TEAM.keyring.open::<Value>(*kind, &format!("{to}x"), bytes).is_err(), "for one destination");
        let entry = entry(to, bytes);
        match kind {
            Kind::Order => check_order(to, *at, bytes),
            Kind::Answer => check_answer(to, bytes),
            Kind::Claim => check_claim(&entry),
            Kind::Heartbeat => check_heartbeat(&entry, *at),
            Kind::Machine => check_machine(&entry),
            Kind::State => check_state(&entry),
            Kind::Events => check_events(to, bytes),
            Kind::Handoff => drop(TEAM.keyring.open::<Handoff>(Kind::Handoff, to, bytes)),
            Kind::Roster => TEAM.append_list(bytes),
        }
    }

    /// A changed message is rejected, unless the change is another spelling of the same JSON, such as `\u001D` for
    /// `\u001d`.
    fn one_changed_byte_is_noticed(&self, text: &str) {
        let seed: usize = text.bytes().map(usize::from).sum();
        let mut bytes = self.bytes.clone();
        let at = seed % bytes.len();
        bytes[at] ^= 1 << (seed % 7);
        if TEAM.keyring.open::<Value>(self.kind, &self.to, &bytes).is_ok() {
            let parse = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).expect("JSON");
            assert_eq!(parse(&bytes), parse(&self.bytes), "byte {at} was changed");
        }
    }
}

fn entry(key: &str, value: &[u8]) -> Entry {
    Entry {
        bucket: "bucket".to_owned(),
        key: key.to_owned(),
        value: value.to_vec().into(),
        revision: 1,
        delta: 0,
        created: DateTime::UNIX_EPOCH,
        operation: Operation::Put,
        seen_current: true,
    }
}

fn scratch() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("overtone-fuzz-").tempdir().expect("a folder to work in")
}

fn check_order(to: &str, at: i64, bytes: &[u8]) {
    let Ok(order) = TEAM.keyring.open::<Order>(Kind::Order, to, bytes) else { return };
    let Order { session, command, .. } = &order.body;
    let _ = (SessionId::parse(session), command.to_control(&order.from.id));
    let folder = scratch();
    let home = Home::at(folder.path().to_owned());
    overtone_store::create_private_dir(&crate::machine::fleet_dir(&home)).expect("a folder for the ledger");
    let (ledger, now) = (Ledger::load(&home), clock::now().0);
    let begun = ledger.begin(&order.id, order.at, now).expect("a ledger");
    let age = i128::from(now) - i128::from(at);
    let is_in_time = age < ORDER_LIFETIME.into() && age >= -i128::from(CLOCK_SKEW);
    assert_eq!(begun == OrderStatus::Pending { attempts: 0 }, is_in_time, "{begun:?}");
}

fn check_answer(to: &str, bytes: &[u8]) {
    let Ok(answer) = TEAM.keyring.open::<Answer>(Kind::Answer, to, bytes) else { return };
    let (outcome, _) = outcome_of(answer.body);
    if let crate::OrderOutcome::Refused(reason) = outcome {
        assert!(printable(&reason) == reason && reason.chars().count() <= 300, "{reason:?}");
    }
}

fn check_claim(entry: &Entry) {
    apply(&BucketChange::Claim(entry.clone()));
    let Ok(stored) = open_claim(&TEAM.keyring, entry) else { return };
    let owner = TEAM.keyring.trusted_machine(&stored.claim.machine).expect("a machine of the team");
    assert_eq!(stored.claim.name, owner.name, "the name is the one in the team's list");
    assert!(stored.claim.next_epoch(0) >= stored.claim.epoch, "a later claim is never older");
}

fn check_heartbeat(entry: &Entry, at: i64) {
    apply(&BucketChange::Heartbeat(entry.clone()));
    let Ok(info) = open_heartbeat(&TEAM.keyring, entry) else { return };
    let age = i128::from(clock::now().0) - i128::from(at);
    assert!(age.abs() <= i128::from(CLOCK_SKEW) + 60_000, "a heartbeat is recent");
    assert_eq!((&info.machine, &info.name), (&TEAM.sender.id, &TEAM.sender.name));
}

fn check_machine(entry: &Entry) {
    apply(&BucketChange::Machine(entry.clone()));
    let Ok(info) = open_machine(&TEAM.keyring, Kind::Machine, entry) else { return };
    assert_eq!((&info.machine, &info.name), (&TEAM.sender.id, &TEAM.sender.name));
    assert_eq!(printable(&info.version), info.version);
}

fn check_state(entry: &Entry) {
    apply(&BucketChange::State(entry.clone()));
    let Ok(state) = open_state(&TEAM.keyring, entry) else { return };
    assert_eq!((&state.machine, &state.machine_name), (&TEAM.sender.id, &TEAM.sender.name));
    let Some(id) = SessionId::parse(&state.session) else { return };
    let folder = scratch();
    let session = Home::at(folder.path().to_owned()).session(&id);
    put_state(&session, &state).expect("a session that is written");
    let sessions = folder.path().join("sessions");
    let outside = |parent: &std::path::Path, own: &str| {
        let names =
            std::fs::read_dir(parent).expect("a folder").map(|found| found.expect("an entry").file_name());
        names.filter(|name| name != own).count()
    };
    assert_eq!((outside(folder.path(), "sessions"), outside(&sessions, id.as_str())), (0, 0));
}

fn apply(change: &BucketChange) {
    let (mut fleet, mut pending) = (FleetState::default(), PendingSessions::default());
    change.apply(&TEAM.keyring, &mut fleet, &mut pending);
    change.apply(&TEAM.keyring, &mut fleet, &mut pending);
    for session in fleet.sessions() {
        let _ = (fleet.source_of(&session), fleet.owner(&session));
    }
    let _ = fleet.features();
}

fn check_events(to: &str, bytes: &[u8]) {
    let Ok(opened) = TEAM.keyring.open::<Batch>(Kind::Events, to, bytes) else { return };
    let batch = opened.body;
    let folder = scratch();
    let id = SessionId::parse("s").expect("a session id");
    let session: Session = Home::at(folder.path().to_owned()).session(&id);
    session.create().expect("a session");
    let begin = MirrorPosition::default();
    let fit = timeline::classify(&begin, &batch);
    if !matches!(fit, BatchFit::Next | BatchFit::Restart) {
        return;
    }
    let position = timeline::write(&session, &begin, &batch, fit == BatchFit::Restart).expect("a timeline");
    let written = std::fs::read_to_string(session.timeline_file()).unwrap_or_default();
    assert_eq!(written.split_terminator('\n').count(), batch.lines.len(), "one line for each");
    assert_eq!((position.end, position.bytes), (batch.end, written.len() as u64));
    assert_eq!(timeline::classify(&position, &batch), BatchFit::Duplicate, "nothing twice");
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    #[test]
    fn every_seed_passes() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/fleet");
        let mut seeds: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        seeds.sort();
        assert!(seeds.len() >= 8, "{}", seeds.len());
        for seed in seeds {
            println!("{}", seed.display());
            super::check(&fs::read(&seed).unwrap());
        }
    }
}
