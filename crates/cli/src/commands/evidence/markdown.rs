//! The evidence as Markdown, for a pull request.

use overtone_core::engine::describe_result;
use overtone_core::engine::text::{duration, printable};
use overtone_core::evidence::Receipt;
use overtone_core::messages::{Lang, checks as words};
use overtone_session::view::StageEvidence;

use super::{Report, stage_findings};

/// How much of a fingerprint is shown.
const TREE_LENGTH: usize = 12;

/// Sections with an empty line between them.
pub(super) fn render(lang: Lang, report: &Report) -> String {
    let mut sections =
        vec![format!("## {}\n", words::evidence_title(lang)), escaped(&report.headline(lang)) + "\n"];
    sections.push(stage_table(lang, report));
    sections.push(format!("### {}\n", words::evidence_receipts(lang)));
    sections.push(receipt_table(lang, report));
    let notes: Vec<_> = report.notes().map(|note| format!("- {}\n", escaped(note))).collect();
    if !notes.is_empty() {
        sections.push(format!("### {}\n", words::evidence_notes(lang)));
        sections.push(notes.concat());
    }
    sections.join("\n")
}

fn stage_table(lang: Lang, report: &Report) -> String {
    let head = [
        words::evidence_stages(lang),
        words::head_verdict(lang),
        words::head_attempts(lang),
        words::head_evidence(lang),
    ];
    table(&head, report.evidence.stages.iter().map(|stage| stage_row(lang, report, stage)))
}

fn receipt_table(lang: Lang, report: &Report) -> String {
    if report.evidence.receipts.is_empty() {
        return words::no_receipts(lang) + "\n";
    }
    let head = [
        words::head_check(lang),
        words::head_command(lang),
        words::head_stages(lang),
        words::head_result(lang),
        words::head_time(lang),
        words::head_tree(lang),
    ];
    table(&head, report.evidence.receipts.iter().map(|receipt| receipt_row(lang, receipt)))
}

/// The verdict of a stage with the last receipt of each of its checks.
fn stage_row(lang: Lang, report: &Report, stage: &StageEvidence) -> Vec<String> {
    let mut evidence: Vec<_> = stage_findings(lang, stage).iter().map(|finding| escaped(finding)).collect();
    let own: Vec<&Receipt> =
        report.evidence.receipts.iter().filter(|receipt| receipt.stage == Some(stage.key)).collect();
    for (at, receipt) in own.iter().enumerate() {
        let is_last = !own[at + 1..].iter().any(|later| later.check == receipt.check);
        if is_last {
            evidence.push(format!("{}: {}", code(&receipt.check), describe_result(receipt, lang)));
        }
    }
    let result = stage.result.clone().unwrap_or_else(|| "–".to_owned());
    vec![stage.key.to_string(), escaped(&result), stage.attempts.to_string(), evidence.join("<br>")]
}

fn receipt_row(lang: Lang, receipt: &Receipt) -> Vec<String> {
    let stage = receipt.stage.map_or_else(|| "–".to_owned(), |key| key.to_string());
    let tree: String = receipt.tree.chars().take(TREE_LENGTH).collect();
    vec![
        code(&receipt.check),
        code(&receipt.command),
        stage,
        describe_result(receipt, lang),
        duration(receipt.duration_ms),
        code(&tree),
    ]
}

fn table(head: &[String], rows: impl Iterator<Item = Vec<String>>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let rule = vec!["---".to_owned(); head.len()];
    let rows: Vec<_> = rows.map(|row| line(&row)).collect();
    format!("{}{}{}", line(head), line(&rule), rows.concat())
}

/// Text of agents and files as plain text: it begins no cell, no markup and no link.
fn escaped(text: &str) -> String {
    let mut plain = String::new();
    for c in printable(text).chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '!' | '&' | '~') {
            plain.push('\\');
        }
        plain.push(c);
    }
    plain
}

/// Text as code, which in a table must not contain its delimiters.
fn code(text: &str) -> String {
    format!("`{}`", printable(text).replace('`', "'").replace('|', "\\|"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_is_no_markup() {
        assert_eq!(escaped("a|b [x](y) <img>\n"), "a\\|b \\[x\\](y) \\<img\\> ");
        assert_eq!(code("make `x` | tee"), "`make 'x' \\| tee`");
        let row = vec!["a".to_owned(), "b".to_owned()];
        assert_eq!(
            table(&["A".to_owned(), "B".to_owned()], [row].into_iter()),
            "| A | B |\n| --- | --- |\n| a | b |\n"
        );
    }
}
