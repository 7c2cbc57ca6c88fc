//! One event as a line: time, label, details.

use overtone_core::engine::text::{duration, printable};
use overtone_core::messages::{Lang, event_label};
use overtone_core::registry::{EventKind, EventTone};
use overtone_hook::ansi::{Text, Tone};
use overtone_store::timeline::Entry;
use serde_json::Value;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::context::Context;
use crate::ui::quantity::timestamp;

/// Shown in columns of their own, or for programs only: `receipts` says the same as `checks`.
const HEAD: [&str; 5] = ["ts", "type", "category", "label", "checks"];
/// Fields whose value is shown without the name.
const UNNAMED: [&str; 5] = ["stage", "agent", "result", "workflowType", "group"];
/// A longer value, such as the output of a tool, is cut.
const VALUE_COLUMNS: usize = 100;

/// How many columns the widest label takes.
pub(in crate::commands) fn label_width(lang: Lang) -> usize {
    EventKind::ALL.map(|kind| event_label(lang, kind).width()).into_iter().max().unwrap_or(0)
}

pub(in crate::commands) fn render(context: &Context, entry: &Entry, label_width: usize) -> Text {
    let kind = entry.kind();
    let label = match kind {
        Some(kind) => event_label(context.lang, kind).to_owned(),
        // Written by another version.
        None => clean(entry.text("type")),
    };
    let time = match entry.at() {
        Some(at) => timestamp(at),
        None => clean(entry.text("ts")),
    };
    let mut line = context.palette.paint(Tone::Faint, &time) + "  ";
    line.push(context.palette.paint(kind.map(tone).unwrap_or_default(), &label));
    let details = details(entry);
    if !details.is_empty() {
        let padding = " ".repeat(label_width.saturating_sub(label.width()));
        line.push(format!("{padding}  {details}"));
    }
    line
}

fn tone(kind: EventKind) -> Tone {
    match kind.tone() {
        EventTone::Bad => Tone::Bad,
        EventTone::Warning => Tone::Warning,
        EventTone::Good => Tone::Good,
        EventTone::Plain => Tone::Plain,
    }
}

fn details(entry: &Entry) -> String {
    let fields =
        entry.fields.iter().filter(|(name, value)| !HEAD.contains(&name.as_str()) && !value.is_null());
    fields.map(|(name, value)| detail(name, value)).collect::<Vec<_>>().join(" · ")
}

fn detail(name: &str, value: &Value) -> String {
    if name == "durationMs"
        && let Some(millis) = value.as_i64()
    {
        return duration(millis);
    }
    let text = shorten(&clean(&value_text(value)));
    if UNNAMED.contains(&name) { text } else { format!("{}={text}", clean(name)) }
}

fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(value_text).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

/// Removes control characters: the output of a tool must not move the cursor or change colours.
fn clean(text: &str) -> String {
    printable(text).into_owned()
}

fn shorten(text: &str) -> String {
    if text.width() <= VALUE_COLUMNS {
        return text.to_owned();
    }
    let mut columns = 0;
    let fits = |c: &char| {
        columns += c.width().unwrap_or(0);
        columns < VALUE_COLUMNS
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str) -> String {
        details(&Entry::parse(line).unwrap())
    }

    #[test]
    fn details_are_short_and_in_order() {
        let line = r#"{"ts":"x","type":"stage:complete","stage":"DEV","agent":"developer","result":"pass","attempt":1,"durationMs":200000,"n":null}"#;
        assert_eq!(shown(line), "DEV · developer · pass · attempt=1 · 3m 20s");
        let line = r#"{"receipts":["test: passed"],"checks":[{"check":"test","result":"pass"}]}"#;
        assert_eq!(shown(line), "receipts=test: passed");
        assert_eq!(shown(r#"{"stages":["REVIEW","TEST"],"x":{"y":1}}"#), r#"stages=REVIEW,TEST · x={"y":1}"#);
    }

    #[test]
    fn foreign_text_is_harmless() {
        let shown = shown(&format!(r#"{{"error":"a\u001b[2J\n{}"}}"#, "長".repeat(200)));
        assert!(shown.starts_with("error=a[2J 長"));
        assert!(shown.width() <= VALUE_COLUMNS + "error=".len() && shown.ends_with('…'));
    }
}
