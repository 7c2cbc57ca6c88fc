//! The evidence as text for the terminal.

use overtone_core::engine::describe_result;
use overtone_core::engine::text::duration;
use overtone_core::evidence::Receipt;
use overtone_core::messages::checks as words;
use overtone_hook::ansi::{Text, Tone};
use overtone_session::view::StageEvidence;

use super::{Report, stage_findings};
use crate::context::Context;
use crate::ui::quantity::{or_dash, timestamp};
use crate::ui::table::{Cell, Table};

/// How much of a fingerprint is shown. It only has to tell two trees apart.
const TREE_LENGTH: usize = 12;

pub(super) fn render(context: &Context, report: &Report) -> Text {
    let lang = context.lang;
    let mut text = context.palette.paint(Tone::Strong, &report.headline(lang)) + "\n\n";
    text.push(stages(context, report));
    text.push("\n");
    if report.evidence.receipts.is_empty() {
        text.push(words::no_receipts(lang) + "\n");
    } else {
        text.push(receipts(context, &report.evidence.receipts));
    }
    let notes: Vec<_> = report.notes().map(|note| format!("- {note}\n")).collect();
    if !notes.is_empty() {
        text.push(format!("\n{}\n", words::evidence_notes(lang)));
        text.push(notes.concat());
    }
    text
}

fn stages(context: &Context, report: &Report) -> Text {
    let lang = context.lang;
    let mut table = Table::with_head([
        words::evidence_stages(lang),
        words::head_verdict(lang),
        words::head_attempts(lang),
        words::head_evidence(lang),
    ]);
    for stage in &report.evidence.stages {
        table.row([
            Cell::new(stage.key.to_string()).tone(Tone::Strong),
            or_dash(stage.result.clone()).into(),
            Cell::new(stage.attempts.to_string()).right(),
            findings(context, stage).into(),
        ]);
    }
    table.render(context.palette)
}

fn findings(context: &Context, stage: &StageEvidence) -> String {
    let findings = stage_findings(context.lang, stage);
    or_dash(if findings.is_empty() { None } else { Some(findings.join(" · ")) })
}

fn receipts(context: &Context, receipts: &[Receipt]) -> Text {
    let lang = context.lang;
    let mut table = Table::with_head([
        words::evidence_receipts(lang),
        words::head_stages(lang),
        words::head_result(lang),
        words::head_time(lang),
        words::head_tree(lang),
        String::new(),
    ]);
    for receipt in receipts {
        let tone = if receipt.failure().is_none() { Tone::Good } else { Tone::Bad };
        table.row([
            Cell::new(&receipt.check).tone(Tone::Strong),
            or_dash(receipt.stage.map(|key| key.to_string())).into(),
            Cell::new(describe_result(receipt, lang)).tone(tone),
            Cell::new(duration(receipt.duration_ms)).right(),
            receipt.tree.chars().take(TREE_LENGTH).collect::<String>().into(),
            timestamp(receipt.started_at).into(),
        ]);
    }
    table.render(context.palette)
}
