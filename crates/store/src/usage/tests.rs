use std::fs;

use overtone_core::economy::Tokens;

use super::*;
use crate::{Home, SessionId};

fn session(dir: &tempfile::TempDir) -> Session {
    let session = Home::at(dir.path().to_owned()).session(&SessionId::parse("s").unwrap());
    session.create().unwrap();
    session
}

const WORKFLOW: Option<Millis> = Some(Millis(1_771_855_200_000));

fn entry(from: u64, to: u64, output: u64) -> UsageEntry {
    let tokens = Tokens { input: 1, output, cache_read: 3, cache_write: 4, cache_write_1h: 2 };
    let mut usage = TokenUsage::default();
    usage.add("claude-opus-5", 1, tokens);
    UsageEntry {
        at: Millis(1_771_855_201_000),
        scope: UsageScope::Agent,
        agent: Some("developer".to_owned()),
        agent_id: Some("a1".to_owned()),
        stage: Some("DEV".to_owned()),
        attempt: Some(2),
        workflow: WORKFLOW,
        file: "agent-a1.jsonl".to_owned(),
        from,
        to,
        usage,
        last: Some(CountedMessage::new("m1", "claude-opus-5", tokens)),
    }
}

fn add(session: &Session, entries: &[UsageEntry]) {
    let mut ledger = session.usage_ledger().unwrap();
    for entry in entries {
        ledger.add(entry).unwrap();
    }
    ledger.commit().unwrap();
}

fn put_offsets(session: &Session, bytes: &[u8]) {
    files::write_atomic(&session.usage_offsets_file(), bytes, PRIVATE).unwrap();
}

fn outputs(session: &Session) -> u64 {
    session.spent_since(WORKFLOW).total.tokens().output
}

fn lines(session: &Session) -> Vec<UsageEntry> {
    let text = fs::read(session.usage_file()).unwrap();
    text.split(|byte| *byte == b'\n').filter_map(parse_usage_entry).collect()
}

#[test]
fn an_entry_is_read_as_it_was_written() {
    let dir = tempfile::tempdir().unwrap();
    let session = session(&dir);
    let main = UsageEntry {
        scope: UsageScope::Main,
        agent: None,
        agent_id: None,
        stage: None,
        attempt: None,
        workflow: None,
        last: None,
        ..entry(5, 9, 1)
    };
    add(&session, &[entry(0, 5, 7), main.clone()]);
    assert_eq!(lines(&session), [entry(0, 5, 7), main]);
    let line = fs::read_to_string(session.usage_file()).unwrap();
    let expected = "{\"ts\":\"2026-02-23T14:00:01.000Z\",\"scope\":\"agent\",\"agent\":\"developer\",\"agentId\":\"a1\",\
                    \"stage\":\"DEV\",\"attempt\":2,\"workflow\":\"2026-02-23T14:00:00.000Z\",\
                    \"file\":\"agent-a1.jsonl\",\"from\":0,\"to\":5,\"models\":[{\"model\":\"claude-opus-5\",\
                    \"messages\":1,\"input\":1,\"output\":7,\"cacheRead\":3,\"cacheWrite\":4,\"cacheWrite1h\":2}],\
                    \"last\":{\"id\":\"m1\",\"model\":\"claude-opus-5\",\"input\":1,\"output\":7,\"cacheRead\":3,\
                    \"cacheWrite\":4,\"cacheWrite1h\":2}}";
    assert_eq!(line.lines().next(), Some(expected));
}

#[test]
fn what_a_workflow_has_spent_is_known_without_the_ledger() {
    let dir = tempfile::tempdir().unwrap();
    let session = session(&dir);
    assert_eq!(outputs(&session), 0);
    add(&session, &[entry(0, 5, 7)]);
    add(&session, &[entry(5, 9, 8), UsageEntry { workflow: None, ..entry(9, 12, 100) }]);
    assert_eq!(outputs(&session), 15);
    let next = Some(Millis(1_771_855_300_000));
    add(&session, &[UsageEntry { workflow: next, ..entry(12, 15, 30) }]);
    // A late line of the workflow before belongs to it, and not to the one that runs now.
    add(&session, &[entry(15, 16, 1)]);
    assert_eq!((outputs(&session), session.spent_since(next).total.tokens().output), (0, 30));
    assert!(session.spent_since(None).total.is_empty());
}

#[test]
fn a_line_whose_offsets_were_not_written_counts_once() {
    let dir = tempfile::tempdir().unwrap();
    let session = session(&dir);
    add(&session, &[entry(0, 5, 7)]);
    let before = fs::read(session.usage_offsets_file()).unwrap();
    add(&session, &[entry(5, 9, 8)]);
    // The process is killed between the two files.
    put_offsets(&session, &before);
    let ledger = session.usage_ledger().unwrap();
    assert_eq!(ledger.offset("agent-a1.jsonl"), 9);
    assert_eq!(ledger.last_part("agent-a1.jsonl").unwrap().attempt, Some(2));
    ledger.commit().unwrap();
    assert_eq!((outputs(&session), lines(&session).len()), (15, 2));
}

#[test]
fn offsets_that_are_lost_or_broken_are_worked_out_again() {
    let dir = tempfile::tempdir().unwrap();
    let session = session(&dir);
    add(&session, &[entry(0, 5, 7)]);
    let mut ledger = session.usage_ledger().unwrap();
    ledger.skip_to("agent-a1.jsonl", 50);
    ledger.commit().unwrap();
    add(&session, &[entry(50, 60, 8)]);
    for broken in [None, Some("{torn"), Some("[]"), Some("{\"ledger\":\"x\"}")] {
        match broken {
            Some(text) => put_offsets(&session, text.as_bytes()),
            None => fs::remove_file(session.usage_offsets_file()).unwrap(),
        }
        let ledger = session.usage_ledger().unwrap();
        assert_eq!(ledger.offset("agent-a1.jsonl"), 60, "{broken:?}");
        ledger.commit().unwrap();
        assert_eq!(outputs(&session), 15, "{broken:?}");
    }
}

#[test]
fn a_torn_line_is_read_again_and_does_not_swallow_the_next() {
    let dir = tempfile::tempdir().unwrap();
    let session = session(&dir);
    add(&session, &[entry(0, 5, 7)]);
    files::append_lines(&session.usage_file(), "{\"ts\":\"2026-02-23T14").unwrap();
    assert_eq!(session.usage_ledger().unwrap().offset("agent-a1.jsonl"), 5);
    add(&session, &[entry(5, 9, 8)]);
    assert_eq!((outputs(&session), lines(&session).len()), (15, 2));
}

#[test]
fn a_ledger_that_was_removed_is_filled_again() {
    let dir = tempfile::tempdir().unwrap();
    let session = session(&dir);
    add(&session, &[entry(0, 5, 7)]);
    fs::remove_file(session.usage_file()).unwrap();
    assert_eq!(session.usage_ledger().unwrap().offset("agent-a1.jsonl"), 0);
    add(&session, &[entry(0, 5, 7)]);
    assert_eq!(outputs(&session), 7);
}

#[test]
fn fields_of_other_versions_survive_and_nothing_new_writes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let session = session(&dir);
    put_offsets(&session, b"{\"future\":[1]}");
    session.usage_ledger().unwrap().commit().unwrap();
    assert_eq!(fs::read_to_string(session.usage_offsets_file()).unwrap(), "{\"future\":[1]}");
    add(&session, &[entry(0, 5, 7)]);
    assert!(fs::read_to_string(session.usage_offsets_file()).unwrap().contains("\"future\":[1]"));
}

#[test]
fn a_closed_conversation_stays_closed_until_it_grows() {
    let dir = tempfile::tempdir().unwrap();
    let session = session(&dir);
    add(&session, &[entry(0, 5, 7)]);
    let mut ledger = session.usage_ledger().unwrap();
    assert!(!ledger.is_closed("agent-a1.jsonl") && !ledger.is_closed("agent-a2.jsonl"));
    ledger.close("agent-a1.jsonl");
    ledger.commit().unwrap();
    assert!(session.usage_ledger().unwrap().is_closed("agent-a1.jsonl"));
    add(&session, &[entry(5, 9, 8)]);
    assert!(!session.usage_ledger().unwrap().is_closed("agent-a1.jsonl"));
}

#[test]
fn a_link_in_place_of_the_folder_is_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    let session = session(&dir);
    let elsewhere = dir.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::remove_dir(session.dir()).unwrap();
    std::os::unix::fs::symlink(&elsewhere, session.dir()).unwrap();
    assert!(session.usage_ledger().is_err());
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
}
