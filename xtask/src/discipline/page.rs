//! `docs/discipline.md`, and the same tables for the terminal.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::bars::Verdict;
use super::results::{BARE, CaseInfo, Cell, Outcome, Results};
use crate::measure::machine;
use crate::peers;

/// The page of a full run.
pub(super) fn render(
    results: &Results,
    verdicts: &[Verdict],
    absent: &BTreeMap<String, String>,
    client: &str,
) -> String {
    include_str!("page.md")
        .replace("{client}", client)
        .replace("{machine}", &machine())
        .replace("{times}", &results.times.to_string())
        .replace("{summary}", &summary(results))
        .replace("{bars}", &bars(verdicts))
        .replace("{peers}", &describe_peers(absent))
        .replace("{through}", &gets_through(results))
        .replace("{cases}", &case_tables(results, false))
        .replace("{honest}", &case_tables(results, true))
}

/// Every case in one table.
pub(super) fn table(results: &Results) -> String {
    case_table(results, results.cases.iter().collect())
}

/// How the cases of each column came out.
pub(super) fn summary(results: &Results) -> String {
    let heads =
        ["", "prevented", "noticed", "gets through", "honest work disturbed", "requests added", "ms added"];
    let row = |column: &String| {
        let counts = results.count(column);
        let of = |count: usize| format!("{count} of {}", counts.misbehaviour);
        let (requests, milliseconds) = honest_cost(results, column);
        vec![
            column.clone(),
            of(counts.stopped),
            of(counts.noticed),
            of(counts.through),
            format!("{} of {}", counts.disturbed, counts.honest),
            requests,
            milliseconds,
        ]
    };
    markdown(&heads.map(str::to_owned), &results.columns.iter().map(row).collect::<Vec<_>>())
}

/// What a column adds to a session of honest work, at the median of all of them.
fn honest_cost(results: &Results, column: &str) -> (String, String) {
    let honest = results.cases.iter().filter(|case| case.is_honest);
    let mut added: Vec<_> = honest.filter_map(|case| results.added(&case.name, column)).collect();
    if added.is_empty() || column == BARE {
        return (String::new(), String::new());
    }
    added.sort_unstable_by_key(|(_, milliseconds)| *milliseconds);
    let requests: i64 = added.iter().map(|(requests, _)| requests).sum();
    (format!("{requests:+}"), format!("{:+}", added[added.len() / 2].1))
}

pub(super) fn bars(verdicts: &[Verdict]) -> String {
    let row = |verdict: &Verdict| {
        let holds = if verdict.holds { "holds" } else { "**broken**" };
        vec![verdict.what.clone(), verdict.found.clone(), holds.to_owned()]
    };
    let heads = ["bar", "found", ""].map(str::to_owned);
    markdown(&heads, &verdicts.iter().map(row).collect::<Vec<_>>())
}

/// The cases of one kind, in a table for each source.
fn case_tables(results: &Results, honest: bool) -> String {
    let mut sources: Vec<&str> = Vec::new();
    let chosen = || results.cases.iter().filter(|case| case.is_honest == honest);
    for case in chosen() {
        if !sources.contains(&case.source.as_str()) {
            sources.push(&case.source);
        }
    }
    let mut text = String::new();
    for source in sources {
        if !honest {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "### {}\n", capitalised(source));
        }
        text += &case_table(results, chosen().filter(|case| case.source == source).collect());
        text.push('\n');
    }
    text.trim_end().to_owned()
}

fn case_table(results: &Results, cases: Vec<&CaseInfo>) -> String {
    let mut heads = vec!["case".to_owned()];
    heads.extend(results.columns.iter().cloned());
    let row = |case: &CaseInfo| {
        let mut row = vec![format!("{} (`{}`)", case.title, case.name)];
        row.extend(results.columns.iter().map(|column| describe(results, case, column)));
        row
    };
    markdown(&heads, &cases.into_iter().map(row).collect::<Vec<_>>())
}

/// One cell: what became of the case, by what, and what that cost.
fn describe(results: &Results, case: &CaseInfo, column: &str) -> String {
    let Some(cell) = results.cell(&case.name, column) else { return String::new() };
    let Some(outcome) = cell.outcome() else { return unsteady(cell) };
    let mut text = outcome.name().to_owned();
    if let Some(run) = cell.runs.first()
        && !run.means.is_empty()
    {
        let _ = write!(text, ": {}", run.means.join(", "));
    }
    match results.added(&case.name, column) {
        Some((requests, milliseconds)) if column != BARE => {
            let _ = write!(text, " ({requests:+} requests, {milliseconds:+} ms)");
        }
        _ => {}
    }
    if outcome == Outcome::Stopped || outcome == Outcome::Noticed { format!("**{text}**") } else { text }
}

fn unsteady(cell: &Cell) -> String {
    let mut outcomes: Vec<_> = cell.runs.iter().map(|run| run.outcome.name()).collect();
    outcomes.extend(cell.errors.iter().map(|_| "failed to run"));
    format!("differs: {}", outcomes.join(", "))
}

/// What gets through at each of our levels.
fn gets_through(results: &Results) -> String {
    let mut text = String::new();
    for column in ["notice", "strict"] {
        if !results.columns.iter().any(|played| played == column) {
            continue;
        }
        let is_through = |case: &&CaseInfo| {
            let outcome = results.cell(&case.name, column).and_then(Cell::outcome);
            !case.is_honest && !matches!(outcome, Some(Outcome::Stopped | Outcome::Noticed))
        };
        let _ = writeln!(text, "At `{column}`:\n");
        let mut is_empty = true;
        for case in results.cases.iter().filter(is_through) {
            let _ = writeln!(text, "- `{}`: {}", case.name, case.title);
            is_empty = false;
        }
        text += if is_empty { "Nothing.\n\n" } else { "\n" };
    }
    text.trim_end().to_owned()
}

fn describe_peers(absent: &BTreeMap<String, String>) -> String {
    let line = |peer: peers::Peer| {
        let (name, package, version) = (peer.name, peer.package, peer.version);
        match absent.get(name) {
            Some(reason) => format!("- {name} (npm `{package}` {version}) could not be run: {reason}\n"),
            None => format!("- {name} (npm `{package}` {version})\n"),
        }
    };
    peers::all().into_iter().map(line).collect::<String>().trim_end().to_owned()
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().collect::<String>() + chars.as_str(),
        None => String::new(),
    }
}

/// A Markdown table whose columns are aligned for a terminal.
fn markdown(heads: &[String], rows: &[Vec<String>]) -> String {
    let widths: Vec<usize> = heads
        .iter()
        .enumerate()
        .map(|(at, head)| rows.iter().map(|row| width(&row[at])).chain([width(head)]).max().unwrap_or(0))
        .collect();
    let line = |cells: &[String]| {
        let padded = cells.iter().zip(&widths).map(|(cell, width)| format!("| {cell:<width$} "));
        padded.collect::<String>() + "|\n"
    };
    let mut ruler = String::new();
    for width in &widths {
        ruler.push('|');
        ruler += &"-".repeat(width + 2);
    }
    let body: String = rows.iter().map(|row| line(row)).collect();
    format!("{}{ruler}|\n{body}", line(heads))
}

fn width(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::super::bars::judge;
    use super::super::results::tests::{played, results};
    use super::*;

    #[test]
    fn a_cell_says_what_happened_and_what_it_cost() {
        let table = table(&results());
        assert!(
            table.contains("| What a does (`a`) | through     | **stopped (+2 requests, +20 ms)** |"),
            "{table}"
        );
        assert!(table.contains("| undisturbed (+0 requests, +0 ms) "), "{table}");
    }

    #[test]
    fn a_result_that_changes_is_shown_as_such() {
        let mut changing = results();
        let cell = changing.cells.get_mut(&("a".to_owned(), "strict".to_owned())).unwrap();
        cell.runs.push(played(Outcome::Through, 3));
        cell.errors.push("it hung".to_owned());
        assert!(table(&changing).contains("differs: stopped, through, failed to run"));
    }

    #[test]
    fn the_page_has_every_part() {
        let results = results();
        let page = render(&results, &judge(&results), &BTreeMap::new(), "1.2.3");
        for part in ["Claude Code 1.2.3", "### False success", "`c`", "34 of 36", "At `strict`:\n\nNothing."]
        {
            assert!(page.contains(part), "no {part} in {page}");
        }
        for placeholder in ["{machine}", "{times}", "{summary}", "{bars}", "{peers}", "{through}", "{honest}"]
        {
            assert!(!page.contains(placeholder), "{placeholder}");
        }
    }
}
