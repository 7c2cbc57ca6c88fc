use overtone_core::economy::Tokens;
use overtone_store::timeline::Entry;

use super::*;
use crate::view::history::tests::{entry, history};
use crate::view::usage::UsageSource;

const MILLION: u64 = 1_000_000;

fn agent_event(agent: &str, stage: &str, id: &str, changed: Option<u64>) -> Entry {
    let mut event = entry("agent:complete", stage, 5);
    event.fields.insert("agent".into(), agent.into());
    event.fields.insert("agentId".into(), id.into());
    if let Some(changed) = changed {
        event.fields.insert("changedFiles".into(), changed.into());
    }
    event
}

/// A repaired workflow: development changed nothing at first, the test failed, and the second attempts passed.
fn repaired() -> History {
    let mut start = entry("workflow:start", "", 0);
    start.fields.insert("workflowType".into(), "quick".into());
    history(&[
        start,
        agent_event("developer", "DEV", "d1", Some(0)),
        entry("stage:complete", "DEV", 10),
        entry("stage:complete", "REVIEW", 11),
        entry("stage:retry", "TEST", 12),
        entry("stage:complete", "DEV", 20),
        entry("stage:complete", "TEST", 22),
        entry("workflow:complete", "", 30),
    ])
}

/// An agent's use of output tokens, in millions: opus costs 25 dollars for one.
fn used(agent: &str, id: &str, stage: &str, attempt: u32, millions: u64) -> UsageEntry {
    let mut usage = TokenUsage::default();
    usage.add("claude-opus-5", 1, Tokens { output: millions * MILLION, ..Tokens::default() });
    let text = |text: &str| if text.is_empty() { None } else { Some(text.to_owned()) };
    UsageEntry {
        at: Millis(15_000),
        scope: if agent.is_empty() { UsageScope::Main } else { UsageScope::Agent },
        agent: text(agent),
        agent_id: text(id),
        stage: text(stage),
        attempt: if stage.is_empty() { None } else { Some(attempt) },
        workflow: Some(Millis(0)),
        file: format!("agent-{id}.jsonl"),
        from: 0,
        to: 1,
        usage,
        last: None,
    }
}

fn usage() -> SessionUsage {
    let outside = UsageEntry { workflow: None, at: Millis(90_000_000), ..used("", "", "", 0, 7) };
    let entries = vec![
        used("", "", "", 0, 1),
        used("developer", "d1", "DEV", 1, 2),
        used("code-reviewer", "r1", "REVIEW", 1, 3),
        used("tester", "t1", "TEST", 1, 4),
        used("debugger", "x1", "", 0, 5),
        used("developer", "d2", "DEV", 2, 6),
        outside,
    ];
    SessionUsage { source: UsageSource::Ledger, entries }
}

fn report(group: CostGroup, since: Option<Millis>) -> CostReport {
    let (history, usage) = (repaired(), usage());
    let session = SessionCosts { project: Some("/p"), history: &history, usage: &usage };
    cost_report(&[session], group, since, &PriceTable::default())
}

/// The rows with their output tokens, in millions.
fn rows(group: CostGroup) -> Vec<(String, u64)> {
    let name = |key: CostKey| match key {
        CostKey::Named(name) => name,
        CostKey::MainAgent => "(main)".to_owned(),
        CostKey::Outside => "(outside)".to_owned(),
    };
    let rows = report(group, None).rows;
    rows.into_iter().map(|row| (name(row.key), row.spending.tokens.output / MILLION)).collect()
}

fn named(list: &[(&str, u64)]) -> Vec<(String, u64)> {
    list.iter().map(|(name, amount)| ((*name).to_owned(), *amount)).collect()
}

#[test]
fn costs_are_grouped_as_asked() {
    let stages = [("DEV", 8), ("REVIEW", 3), ("TEST", 4), ("debugger", 5), ("(main)", 1), ("(outside)", 7)];
    assert_eq!(rows(CostGroup::Stage), named(&stages));
    let agents = [("developer", 8), ("(main)", 8), ("debugger", 5), ("tester", 4), ("code-reviewer", 3)];
    assert_eq!(rows(CostGroup::Agent), named(&agents));
    assert_eq!(rows(CostGroup::Workflow), named(&[("quick", 21), ("(outside)", 7)]));
    assert_eq!(rows(CostGroup::Project), named(&[("/p", 28)]));
    assert_eq!(rows(CostGroup::Day), named(&[("1970-01-01", 21), ("1970-01-02", 7)]));
    assert_eq!(rows(CostGroup::Model), named(&[("claude-opus-5", 28)]));
}

#[test]
fn the_attempts_of_a_stage_are_told_apart() {
    let report = report(CostGroup::Stage, None);
    let attempts: Vec<_> = report.rows[0]
        .attempts
        .iter()
        .map(|(number, spent)| (*number, spent.tokens.output / MILLION))
        .collect();
    assert_eq!(attempts, [(1, 2), (2, 6)]);
    assert!((report.total.cost.usd - 28.0 * 25.0).abs() < 1e-6, "{:?}", report.total);
}

#[test]
fn what_was_spent_on_repairs_and_without_effect_is_known() {
    let report = report(CostGroup::Stage, None);
    let millions = |spent: Spending| spent.tokens.output / MILLION;
    let Purposes { coordination, repairs, clean_reviews, unchanged } = report.purposes;
    assert_eq!([coordination, repairs, clean_reviews, unchanged].map(millions), [1, 11, 3, 2]);
    assert_eq!((report.finished, millions(report.finished_spending)), (1, 21));
}

#[test]
fn earlier_costs_are_left_out() {
    let report = report(CostGroup::Day, Some(Millis(80_000_000)));
    assert_eq!((report.rows.len(), report.total.tokens.output / MILLION, report.finished), (1, 7, 0));
}
