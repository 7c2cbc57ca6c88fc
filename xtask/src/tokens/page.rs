//! `docs/benchmarks/tokens.md`, and the same tables for the terminal.

use std::collections::BTreeMap;

use super::bars::Verdict;
use super::results::{Bill, ORIGINS, Results, Session, ratio};
use crate::markdown::{number, table};
use crate::peers;

/// The language of the tables that show only one.
pub(super) const SHOWN: &str = "en";

/// The page of a full run.
pub(super) fn render(
    results: &Results,
    verdicts: &[Verdict],
    absent: &BTreeMap<String, String>,
    client: &str,
) -> String {
    include_str!("page.md")
        .replace("{client}", client)
        .replace("{figures}", figures(results).trim_end())
        .replace("{bars}", bars(verdicts).trim_end())
        .replace("{profiles}", &profiles(results))
        .replace("{kinds}", &kinds())
        .replace("{origins}", origins(results).trim_end())
        .replace("{stages}", stages(results).trim_end())
        .replace("{peers}", &describe_peers(results, absent))
}

/// Requests, input and cost of every session.
pub(super) fn figures(results: &Results) -> String {
    let heads = [
        "run",
        "profile",
        "language",
        "requests",
        "input",
        "× plain",
        "cache reads",
        "cache writes",
        "cost $",
        "cost × plain",
    ];
    table(heads, 3, results.bills().map(|(session, bill)| figures_of(results, session, bill)))
}

fn figures_of(results: &Results, session: &Session, bill: &Bill) -> [String; 10] {
    let (cost, mut compared) = (bill.cost(), [String::new(), String::new()]);
    if let Some(plain) = results.baseline(session) {
        compared = [ratio(bill.tokens(), plain.tokens()), cost.dollars / plain.cost().dollars]
            .map(|times| format!("{times:.2}"));
    }
    let [input, price] = compared;
    [
        session.run.clone(),
        session.profile.clone(),
        session.language.clone(),
        bill.requests().to_string(),
        count(bill.tokens()),
        input,
        count(cost.read),
        count(cost.written + cost.uncached),
        format!("{:.3}", cost.dollars),
        price,
    ]
}

/// Where the input of every session comes from, in tokens.
pub(super) fn origins(results: &Results) -> String {
    let mut heads = ["run", "profile", "language", "", "", "", "", "", ""];
    for (head, (origin, _)) in heads[3..].iter_mut().zip(ORIGINS) {
        *head = origin;
    }
    let line = |(session, bill): (&Session, &Bill)| {
        let mut line = [const { String::new() }; 9];
        line[0].clone_from(&session.run);
        line[1].clone_from(&session.profile);
        line[2].clone_from(&session.language);
        for (cell, (origin, _)) in line[3..].iter_mut().zip(ORIGINS) {
            *cell = count(bill.origin(origin).tokens);
        }
        line
    };
    table(heads, 3, results.bills().map(line))
}

/// Requests and input of the main agent and of each stage, in one language.
fn stages(results: &Results) -> String {
    let heads = ["run", "profile", "stage", "requests", "input", "per request"];
    let mut lines = Vec::new();
    for (session, bill) in results.bills() {
        if session.language != SHOWN || bill.stages.len() < 2 {
            continue;
        }
        for stage in &bill.stages {
            lines.push([
                session.run.clone(),
                session.profile.clone(),
                stage.name.clone(),
                stage.requests.to_string(),
                count(stage.tokens()),
                count(stage.tokens() / stage.requests.max(1)),
            ]);
        }
    }
    table(heads, 3, lines.into_iter())
}

/// The bars with what was found.
pub(super) fn bars(verdicts: &[Verdict]) -> String {
    let line = |verdict: &Verdict| {
        let holds = if verdict.holds() { "holds" } else { "**missed**" };
        [
            verdict.what.clone(),
            format!("≤ {:.2}", verdict.limit),
            format!("{:.2}", verdict.found),
            holds.to_owned(),
        ]
    };
    table(["run", "bar", "found", "verdict"], 4, verdicts.iter().map(line))
}

/// What the origins are.
fn kinds() -> String {
    let line = |(origin, what): &(&str, &str)| format!("- **{origin}**: {what}\n");
    ORIGINS.iter().map(line).collect::<String>().trim_end().to_owned()
}

/// The profiles that could not be measured, if there are any.
fn profiles(results: &Results) -> String {
    let refused = results.not_supported();
    if refused.is_empty() {
        return String::new();
    }
    let names: Vec<_> = refused.keys().map(|name| format!("`{name}`")).collect();
    format!(
        "This build does not support {}, so these profiles have no figures and their bars are not judged.\n",
        names.join(" and ")
    )
}

fn describe_peers(results: &Results, absent: &BTreeMap<String, String>) -> String {
    let line = |peer: peers::Peer| {
        let (name, package, version) = (peer.name, peer.package, peer.version);
        if let Some(reason) = absent.get(name) {
            return format!("- {name} (npm `{package}` {version}) could not be run: {reason}\n");
        }
        let added = match (results.find(name, "default", SHOWN), results.find("plain", "default", SHOWN)) {
            (Some(bill), Some(plain)) => {
                let added = bill.tokens().saturating_sub(plain.tokens()) / bill.requests().max(1);
                format!(": {} tokens more in each request", count(added))
            }
            _ => String::new(),
        };
        format!("- {name} (npm `{package}` {version}){added}\n")
    };
    peers::all().into_iter().map(line).collect::<String>().trim_end().to_owned()
}

/// Counts here are far below 2^52, where floats stop being exact.
#[expect(clippy::cast_precision_loss, reason = "see above")]
fn count(value: u64) -> String {
    number(value as f64)
}

#[cfg(test)]
mod tests {
    use super::super::bars::judge;
    use super::super::results::tests::results;
    use super::*;

    #[test]
    fn a_session_is_compared_with_the_one_without_overtone() {
        let table = figures(&results());
        let line = table.lines().find(|line| line.starts_with("| single")).unwrap();
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        assert_eq!(
            cells[1..11],
            ["single", "default", "en", "2", "1,350", "1.35", "0", "1,350", "0.500", "1.00"]
        );
        assert!(!table.contains("lean"), "what could not be played has no line");
    }

    #[test]
    fn the_page_has_every_part() {
        let results = results();
        let page = render(&results, &judge(&results), &BTreeMap::new(), "1.2.3");
        for part in
            ["Claude Code 1.2.3", "≤ 3.20 | 3.50  | **missed**", "does not support `lean`", "**always-on**"]
        {
            assert!(page.contains(part), "no {part} in {page}");
        }
        assert!(!page.contains("{figures}") && !page.contains("{peers}") && !page.contains("{client}"));
    }
}
