//! Interprets the checkboxes in `tasks.md`: the progress, and which box belongs to which stage.

use overtone_core::registry::{Stage, StageKey};

use super::checkbox::{Checkbox, Section, scan};

/// The progress of a feature.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tasks {
    pub checked: usize,
    pub total: usize,
    /// The texts of the unchecked boxes, in order.
    pub pending: Vec<String>,
    /// The pending boxes without those in `## Stages`, which the workflow ticks itself.
    pub open_work: Vec<String>,
    /// How many boxes are checked, without those in `## Stages`.
    pub checked_work: usize,
}

impl Tasks {
    /// Whether there are tasks and all of them are done.
    pub fn all_checked(&self) -> bool {
        self.total > 0 && self.checked == self.total
    }
}

/// Counts the boxes in the sections `## Tasks` and `## Stages`, or all boxes if there is neither section, so that a plain
/// hand-written list works. Boxes in fenced code never count.
pub fn parse_tasks(text: &str) -> Tasks {
    parse_bytes(text.as_bytes())
}

pub(super) fn parse_bytes(bytes: &[u8]) -> Tasks {
    let scan = scan(bytes);
    let mut tasks = Tasks::default();
    for item in scan.boxes {
        if scan.has_section && item.section.is_none() {
            continue;
        }
        tasks.total += 1;
        let is_work = item.section != Some(Section::Stages);
        if item.done {
            tasks.checked += 1;
            tasks.checked_work += usize::from(is_work);
        } else {
            let text = item.text.into_owned();
            if is_work {
                tasks.open_work.push(text.clone());
            }
            tasks.pending.push(text);
        }
    }
    tasks
}

/// The document with the box of a stage ticked; `None` if there is no such box or it is ticked already.
pub(super) fn ticked(bytes: &[u8], key: StageKey) -> Option<Vec<u8>> {
    let boxes = scan(bytes).boxes;
    let found = stage_box(&boxes, key).filter(|found| !found.done)?;
    Some([&bytes[..found.mark.start], b"x", &bytes[found.mark.end..]].concat())
}

/// Finds the box of `TEST` or `TEST:2` by its number, or by its order if the boxes have no numbers.
fn stage_box<'a, 'b>(boxes: &'b [Checkbox<'a>], key: StageKey) -> Option<&'b Checkbox<'a>> {
    let of_stage: Vec<_> = boxes
        .iter()
        .filter(|item| item.section == Some(Section::Stages))
        .filter_map(|item| Some((item, stage_label(&item.text, key.stage)?)))
        .collect();
    let written: Vec<u8> = of_stage.iter().filter_map(|(_, label)| label.number).collect();
    // A box without a number gets the lowest number that no other box has.
    let mut free = (1..=u8::MAX).filter(|n| !written.contains(n));
    of_stage
        .iter()
        .find(|(_, label)| label.number.or_else(|| free.next()) == Some(key.occurrence))
        .map(|(item, _)| *item)
}

/// The text of a box that names a stage.
#[derive(Debug, PartialEq, Eq)]
struct Label {
    /// The number written behind the stage, as in `TEST:2`.
    number: Option<u8>,
}

/// Reads `TEST`, `TEST:2`, `TEST: unit tests`, `TEST（測試）`; but not `TESTING` or `TEST-PLAN`.
fn stage_label(text: &str, stage: Stage) -> Option<Label> {
    let rest = text.strip_prefix(stage.key()).filter(|rest| ends_word(rest))?;
    let number = rest.strip_prefix([':', '：']).and_then(leading_number);
    Some(Label { number })
}

fn leading_number(text: &str) -> Option<u8> {
    let length = text.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, rest) = text.split_at(length);
    digits.parse().ok().filter(|n| *n > 0 && ends_word(rest))
}

/// Whether a word may end before this text: at its end, a space, a colon or full-width punctuation.
fn ends_word(rest: &str) -> bool {
    let Some(next) = rest.chars().next() else { return true };
    let is_full_width_sign = !next.is_ascii() && !next.is_alphanumeric();
    next == ':' || next.is_whitespace() || is_full_width_sign
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(text: &str) -> StageKey {
        text.parse().unwrap()
    }

    fn tick(text: &str, stage: &str) -> Option<String> {
        ticked(text.as_bytes(), key(stage)).map(|bytes| String::from_utf8(bytes).unwrap())
    }

    fn counts(text: &str) -> (usize, usize) {
        let tasks = parse_tasks(text);
        assert_eq!(tasks.pending.len(), tasks.total - tasks.checked);
        (tasks.checked, tasks.total)
    }

    #[test]
    fn a_plain_list_counts() {
        let tasks = parse_tasks("# my-feature\n\n- [x] a\n- [ ] b \n## More\n* [X] c\n  - [-] d\n1. [ ] e\n");
        assert_eq!((tasks.checked, tasks.total), (2, 5));
        assert_eq!(tasks.pending, ["b", "d", "e"]);
        assert!(!tasks.all_checked());
        assert!(parse_tasks("- [x] a").all_checked());
        assert!(!parse_tasks("no boxes").all_checked());
    }

    #[test]
    fn only_the_sections_count_when_there_are_any() {
        let text = "- [ ] before\n## Stages\n- [x] PLAN\n### sub\n- [ ] ARCH\n## Notes\n- [ ] note\n\
                    ## tasks（任務）📋\n- [ ] real\n```\n- [ ] code\n```\n# Other\n- [ ] after\n";
        assert_eq!(counts(text), (1, 3));
        assert_eq!(parse_tasks(text).checked_work, 0, "the box of a stage is no work");
        assert_eq!(parse_tasks("## Stages\n- [x] PLAN\n## Tasks\n- [x] a\n- [x] b\n").checked_work, 2);
        assert_eq!(counts("## Tasks\n\nnothing yet\n## Notes\n- [ ] note\n"), (0, 0));
    }

    #[test]
    fn front_matter_is_no_list_and_a_rule_is_no_front_matter() {
        assert_eq!(counts("---\nfeature: a\n---\n- [ ] a\n"), (0, 1));
        assert_eq!(counts("---\n## Tasks\n- [ ] a\n---\n"), (0, 1));
    }

    #[test]
    fn ticks_the_box_of_the_stage() {
        let text = "- [ ] PLAN\n## Stages\n- [ ] PLANNING\n- [ ] PLAN-B\n- [?] PLAN（規劃）\n- [ ] DEV: code\n## Tasks\n- [ ] DEV\n";
        assert_eq!(tick(text, "PLAN"), Some(text.replace("[?] PLAN（", "[x] PLAN（")));
        assert_eq!(tick(text, "DEV"), Some(text.replace("[ ] DEV: code", "[x] DEV: code")));
        assert_eq!(tick(text, "ARCH"), None);
        assert_eq!(tick("- [ ] DEV\n", "DEV"), None, "no section");
        assert_eq!(tick("## Stages\n- [x] DEV\n- [ ] DOCS", "DEV"), None, "already ticked");
        assert_eq!(tick("## Stages\n```\n- [ ] DEV\n```\n", "DEV"), None, "code");
    }

    #[test]
    fn repeated_stages_are_told_apart() {
        let lists = [
            ["- [ ] TEST", "- [ ] TEST:2"],
            ["- [ ] TEST", "- [ ] TEST"],
            ["- [ ] TEST spec", "- [ ] TEST: verify 2 things"],
            ["- [ ] TEST:1", "- [ ] TEST"],
            ["- [ ] TEST：spec", "- [ ] TEST：2（verify）"],
        ];
        for [first, second] in lists {
            let text = format!("## Stages\n{first}\n- [ ] DEV\n{second}\n");
            let ticked_first = format!("## Stages\n{}\n- [ ] DEV\n{second}\n", first.replace("[ ]", "[x]"));
            let ticked_second = format!("## Stages\n{first}\n- [ ] DEV\n{}\n", second.replace("[ ]", "[x]"));
            assert_eq!(tick(&text, "TEST"), Some(ticked_first.clone()), "{text}");
            assert_eq!(tick(&text, "TEST:2"), Some(ticked_second), "{text}");
            assert_eq!(tick(&ticked_first, "TEST"), None, "{text}");
            assert_eq!(tick(&text, "TEST:3"), None, "{text}");
        }
        let turned = "## Stages\n- [ ] TEST:2\n- [ ] TEST\n";
        assert_eq!(tick(turned, "TEST"), Some("## Stages\n- [ ] TEST:2\n- [x] TEST\n".to_owned()));
    }

    #[test]
    fn everything_else_stays_byte_for_byte() {
        let text = b"\xEF\xBB\xBF## Stages\r\n- [ ] DEV \xFF\t\r\n\r\n- [ ] DOCS";
        let done = b"\xEF\xBB\xBF## Stages\r\n- [ ] DEV \xFF\t\r\n\r\n- [x] DOCS";
        assert_eq!(ticked(text, key("DOCS")).unwrap(), done);
    }

    /// Documents made of the pieces that matter, in any order.
    fn documents() -> impl Strategy<Value = String> {
        let lines = prop::sample::select(vec![
            "---",
            "## Stages",
            "## Tasks（任務）",
            "# x",
            "### y",
            "```",
            "~~~~",
            "- [ ] DEV",
            "- [x] DEV",
            "* [?] TEST:2",
            "  1. [ ] TEST: a",
            "- [X] TEST",
            "- [ ]",
            "+ [ ] 登入",
            "feature: a",
            "",
            "\u{feff}",
        ]);
        let ends = prop::sample::select(vec!["\n", "\r\n", "\r", ""]);
        prop::collection::vec((lines, ends), 0..24)
            .prop_map(|pieces| pieces.into_iter().flat_map(|(line, end)| [line, end]).collect())
    }

    fn keys() -> impl Strategy<Value = StageKey> {
        prop::sample::select(vec!["DEV", "TEST", "TEST:2", "DOCS"]).prop_map(key)
    }

    proptest! {
        #[test]
        fn no_document_panics(bytes in prop::collection::vec(any::<u8>(), 0..200), text in ".{0,200}", key in keys()) {
            parse_bytes(&bytes);
            parse_tasks(&text);
            ticked(&bytes, key);
        }

        #[test]
        fn a_tick_changes_one_byte_and_one_count(text in documents(), key in keys()) {
            let before = parse_tasks(&text);
            prop_assert_eq!(before.pending.len() + before.checked, before.total);
            if let Some(new) = ticked(text.as_bytes(), key) {
                let changed = new.iter().zip(text.as_bytes()).filter(|(a, b)| a != b).count();
                prop_assert_eq!((new.len(), changed), (text.len(), 1));
                prop_assert_eq!(parse_bytes(&new).checked, before.checked + 1);
                prop_assert_eq!(parse_bytes(&new).total, before.total);
                prop_assert_eq!(ticked(&new, key), None);
            }
        }

        #[test]
        fn what_was_written_is_read(items in prop::collection::vec((any::<bool>(), "[a-z登入 ]{0,9}[a-z登入]"), 0..30)) {
            let lines = items.iter().map(|(done, item)| {
                let mark = if *done { 'x' } else { ' ' };
                format!("- [{mark}] {item}")
            });
            let text = format!("## Tasks\n\n{}", lines.collect::<Vec<_>>().join("\n"));
            let pending: Vec<_> = items.iter().filter(|(done, _)| !done).map(|(_, item)| item.trim().to_owned()).collect();
            let tasks = parse_tasks(&text);
            prop_assert_eq!(tasks.total, items.len());
            prop_assert_eq!(tasks.pending, pending);
        }
    }
}
