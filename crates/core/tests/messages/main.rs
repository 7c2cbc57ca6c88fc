//! Every message in every language, as a person would read it.

use overtone_core::messages::{Lang, event_label, samples, stage_name, workflow_purpose};
use overtone_core::registry::{EventKind, Stage, Workflow};

fn page(lang: Lang) -> String {
    let messages = samples(lang).into_iter().map(|s| format!("{}\n    {}", s.name, s.text));
    let stages = Stage::ALL.into_iter().map(|s| format!("{} = {}", s.key(), stage_name(lang, s)));
    let events = EventKind::ALL.into_iter().map(|e| format!("{} = {}", e.name(), event_label(lang, e)));
    let workflows =
        Workflow::ALL.into_iter().map(|w| format!("{} = {}", w.name(), workflow_purpose(lang, w)));
    messages.chain(stages).chain(events).chain(workflows).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_message_in_zh_tw() {
    insta::assert_snapshot!(page(Lang::ZhTw));
}

#[test]
fn every_message_in_zh_cn() {
    insta::assert_snapshot!(page(Lang::ZhCn));
}

#[test]
fn every_message_in_en() {
    insta::assert_snapshot!(page(Lang::En));
}

#[test]
fn english_has_no_chinese_and_no_message_is_empty() {
    for sample in samples(Lang::En) {
        let chinese = sample.text.chars().find(|c| ('\u{3400}'..='\u{9fff}').contains(c));
        assert_eq!(chinese, None, "{}: {}", sample.name, sample.text);
    }
    for lang in Lang::ALL {
        assert!(samples(lang).iter().all(|s| !s.text.trim().is_empty()));
    }
}
