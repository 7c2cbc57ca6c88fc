use std::path::PathBuf;

use overtone_core::engine::state::{ActiveAgent, Ending};
use overtone_core::registry::Workflow;
use overtone_store::{Home, SessionId, clock, parse_usage_entry};

use super::*;

const START: Millis = Millis(1_771_855_200_000);

struct Fixture {
    dir: tempfile::TempDir,
    session: Session,
    workflow: WorkflowState,
    /// Seconds since the start of the workflow.
    now: i64,
}

impl Fixture {
    /// A session with an agent `a1` that works on DEV for the second time.
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().join("home"));
        let session = home.session(&SessionId::parse("s").unwrap());
        session.create().unwrap();
        std::fs::create_dir_all(dir.path().join("s/subagents")).unwrap();
        let mut workflow = WorkflowState::new("s", Workflow::Quick, None, START);
        workflow.stages[0].attempts = 2;
        workflow.active_agents.push(ActiveAgent {
            slot: "developer".to_owned(),
            stage: Some(workflow.stages[0].key),
            agent_id: Some("a1".to_owned()),
            ..ActiveAgent::default()
        });
        Self { dir, session, workflow, now: 10 }
    }

    fn transcript(&self) -> PathBuf {
        self.dir.path().join("s.jsonl")
    }

    fn conversation(&self, id: &str) -> PathBuf {
        agent_conversation(&self.transcript(), id).unwrap()
    }

    fn context(&self) -> RecordContext<'_> {
        let now = Millis(START.0 + self.now * 1000);
        RecordContext { session: &self.session, workflow: &self.workflow, now }
    }

    fn agent_stops(&self, id: &str) {
        record_agent(&self.context(), &self.conversation(id), id, "ot:developer").unwrap();
    }

    /// The output tokens of the workflow after a Stop.
    fn stop(&self) -> u64 {
        record_session(&self.context(), &self.transcript()).unwrap().total.tokens().output
    }

    fn entries(&self) -> Vec<UsageEntry> {
        let Ok(text) = std::fs::read(self.session.usage_file()) else { return Vec::new() };
        text.split(|byte| *byte == b'\n').filter_map(parse_usage_entry).collect()
    }

    /// Agent, stage, attempt and output tokens of every entry, and whether it belongs to the workflow.
    fn summary(&self) -> Vec<String> {
        let line = |entry: UsageEntry| {
            let name = entry.agent.unwrap_or_else(|| "main".to_owned());
            let stage = entry.stage.unwrap_or_default();
            let attempt = entry.attempt.unwrap_or(0);
            let owner = if entry.workflow == Some(START) { "workflow" } else { "outside" };
            format!("{name} {stage} {attempt} {} {owner}", entry.usage.tokens().output)
        };
        self.entries().into_iter().map(line).collect()
    }
}

/// A message that was written so many seconds after the start of the workflow.
fn message(id: &str, second: i64, output: u64) -> String {
    let at = clock::to_iso(Millis(START.0 + second * 1000));
    format!(
        "{{\"type\":\"assistant\",\"timestamp\":\"{at}\",\"message\":{{\"id\":\"{id}\",\"model\":\"claude-opus-5\",\
         \"usage\":{{\"input_tokens\":1,\"output_tokens\":{output}}}}}}}\n"
    )
}

fn append(path: &Path, text: &str) {
    files::append_lines(path, text).unwrap();
}

#[test]
fn the_main_agent_and_its_agents_are_counted_apart() {
    let fixture = Fixture::new();
    append(&fixture.transcript(), &(message("m1", -5, 100) + &message("m2", 5, 3)));
    append(&fixture.conversation("a1"), &message("b1", 6, 40));
    fixture.agent_stops("a1");
    assert_eq!(fixture.stop(), 43);
    assert_eq!(
        fixture.summary(),
        ["developer DEV 2 40 workflow", "main  0 100 outside", "main  0 3 workflow"]
    );
    assert_eq!(fixture.session.spent_since(Some(START)).total.tokens().output, 43);
}

#[test]
fn only_what_is_new_is_read() {
    let mut fixture = Fixture::new();
    append(&fixture.transcript(), &message("m1", 5, 3));
    append(&fixture.conversation("a1"), &message("b1", 6, 40));
    fixture.agent_stops("a1");
    fixture.workflow.active_agents.clear();
    for _ in 0..3 {
        assert_eq!(fixture.stop(), 43);
    }
    assert_eq!(fixture.entries().len(), 2);
    append(&fixture.transcript(), &message("m2", 9, 5));
    assert_eq!(fixture.stop(), 48);
    assert_eq!(fixture.entries().len(), 3);
}

#[test]
fn a_message_that_the_client_writes_late_belongs_to_the_same_attempt() {
    let mut fixture = Fixture::new();
    append(&fixture.transcript(), &message("m1", 5, 3));
    append(&fixture.conversation("a1"), &message("b1", 6, 40));
    fixture.agent_stops("a1");
    fixture.workflow.active_agents.clear();
    fixture.workflow.stages[0].attempts = 3;
    append(&fixture.conversation("a1"), &(message("b1", 6, 42) + &message("b2", 7, 8)));
    assert_eq!(fixture.stop(), 53);
    assert_eq!(fixture.summary()[2], "developer DEV 2 10 workflow");
}

#[test]
fn an_agent_of_which_nothing_was_written_yet_belongs_to_its_own_attempt() {
    let mut fixture = Fixture::new();
    append(&fixture.transcript(), &message("m1", 5, 3));
    fixture.agent_stops("a1");
    fixture.workflow.active_agents.clear();
    fixture.workflow.stages[0].attempts = 3;
    append(&fixture.conversation("a1"), &message("b1", 6, 40));
    assert_eq!(fixture.stop(), 43);
    assert_eq!(fixture.summary()[1], "developer DEV 2 40 workflow");
}

#[test]
fn an_agent_whose_end_was_not_reported_is_read_at_the_stop() {
    let fixture = Fixture::new();
    append(&fixture.transcript(), &message("m1", 5, 3));
    append(&fixture.conversation("a1"), &message("b1", 6, 40));
    append(&fixture.conversation("x9"), &message("c1", 6, 7));
    let meta = fixture.conversation("x9").with_extension("meta.json");
    files::write_atomic(&meta, br#"{"agentType":"general-purpose"}"#, files::PRIVATE).unwrap();
    assert_eq!(fixture.stop(), 50);
    let mut summary = fixture.summary();
    summary.sort();
    assert_eq!(
        summary,
        ["developer DEV 2 40 workflow", "general-purpose  0 7 workflow", "main  0 3 workflow"]
    );
}

#[test]
fn an_agent_that_is_continued_is_counted_again() {
    let mut fixture = Fixture::new();
    append(&fixture.transcript(), &message("m1", 5, 3));
    append(&fixture.conversation("a1"), &message("b1", 6, 40));
    fixture.agent_stops("a1");
    let active = std::mem::take(&mut fixture.workflow.active_agents);
    let name = conversation_name(&fixture.conversation("a1"));
    let is_closed = |fixture: &Fixture| fixture.session.usage_ledger().unwrap().is_closed(&name);
    fixture.stop();
    assert!(!is_closed(&fixture), "its last message may come");
    fixture.now = 100;
    fixture.stop();
    assert!(is_closed(&fixture));
    fixture.workflow.active_agents = active;
    fixture.workflow.stages[0].attempts = 3;
    append(&fixture.conversation("a1"), &message("b2", 60, 5));
    fixture.agent_stops("a1");
    assert_eq!(fixture.stop(), 48);
    assert_eq!(fixture.summary().last().unwrap(), "developer DEV 3 5 workflow");
}

#[test]
fn after_its_end_nothing_counts_for_the_workflow() {
    let mut fixture = Fixture::new();
    append(&fixture.transcript(), &message("m1", 5, 3));
    fixture.stop();
    fixture.workflow.ending = Some(Ending::Completed);
    // The client writes the last message of the workflow after the Stop that completes it.
    append(&fixture.transcript(), &(message("m2", 9, 4) + &message("m3", 20, 100)));
    assert_eq!(fixture.stop(), 7);
    assert_eq!(fixture.summary(), ["main  0 3 workflow", "main  0 4 workflow", "main  0 100 outside"]);
}

#[test]
fn a_conversation_that_was_written_anew_is_not_counted_again() {
    let fixture = Fixture::new();
    append(&fixture.transcript(), &(message("m1", 5, 3) + &message("m2", 6, 3)));
    fixture.stop();
    files::write_atomic(&fixture.transcript(), message("m1", 5, 3).as_bytes(), files::PRIVATE).unwrap();
    assert_eq!(fixture.stop(), 6);
    append(&fixture.transcript(), &message("m3", 7, 4));
    assert_eq!(fixture.stop(), 10);
}

#[test]
fn a_session_without_conversations_gets_no_ledger() {
    let fixture = Fixture::new();
    assert_eq!(fixture.stop(), 0);
    record_agent(&fixture.context(), Path::new("relative.jsonl"), "a1", "ot:developer").unwrap();
    assert!(!fixture.session.usage_file().exists());
}
