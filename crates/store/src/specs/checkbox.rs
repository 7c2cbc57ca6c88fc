//! Finds the checkboxes of a document, each with its section, outside fenced code.
//!
//! Only list markers, headings of level 1 and 2, and fences are recognized.

use std::borrow::Cow;
use std::ops::Range;

use crate::front_matter::FrontMatter;
use crate::lines::{Line, lines_from, unindented};

/// The level-2 sections whose boxes count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    Tasks,
    Stages,
}

/// `- [ ] text`
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Checkbox<'a> {
    pub(super) section: Option<Section>,
    /// The byte range of the character between the brackets.
    pub(super) mark: Range<usize>,
    pub(super) done: bool,
    pub(super) text: Cow<'a, str>,
}

/// All checkboxes in order, and whether the document has a section for them.
#[derive(Debug, Default)]
pub(super) struct Scan<'a> {
    pub(super) boxes: Vec<Checkbox<'a>>,
    pub(super) has_section: bool,
}

pub(super) fn scan(bytes: &[u8]) -> Scan<'_> {
    let mut scan = Scan::default();
    let mut section = None;
    let mut fence = None;
    let body_start = match FrontMatter::parse(bytes) {
        Some(front_matter) => front_matter.body_start,
        None => 0,
    };
    for line in lines_from(bytes, body_start) {
        if in_fence(&mut fence, line.text) {
            continue;
        }
        if let Some(title) = major_heading(line.text) {
            section = section_of(title);
            scan.has_section |= section.is_some();
        } else if let Some(found) = checkbox(line) {
            scan.boxes.push(Checkbox { section, ..found });
        }
    }
    scan
}

/// The checkbox on a line. Like on GitHub, a box without a text does not count: a forgotten `- [ ]` must not keep a feature
/// open forever. Unlike there, a Chinese text may follow without a space.
pub(crate) fn checkbox(line: Line<'_>) -> Option<Checkbox<'_>> {
    let inner = after_marker(line.text)?.strip_prefix(b"[")?;
    let length = inner.iter().take(5).position(|b| *b == b']')?;
    let mark = std::str::from_utf8(&inner[..length]).ok()?;
    if mark.chars().count() != 1 {
        return None;
    }
    let rest = &inner[length + 1..];
    let first = rest.first()?;
    if first.is_ascii() && !matches!(first, b' ' | b'\t') {
        return None;
    }
    let text = trimmed(rest);
    if text.is_empty() {
        return None;
    }
    let start = line.range().end - inner.len();
    let done = mark.eq_ignore_ascii_case("x");
    Some(Checkbox { section: None, mark: start..start + length, done, text })
}

fn trimmed(bytes: &[u8]) -> Cow<'_, str> {
    match String::from_utf8_lossy(bytes) {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
        Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
    }
}

/// The text after a list marker (`-`, `*`, `+`, `1.`, `1)`) and its space, at any indentation.
fn after_marker(text: &[u8]) -> Option<&[u8]> {
    let text = unindented(text);
    let digits = text.iter().take_while(|b| b.is_ascii_digit()).count();
    let rest = match (digits, text.get(digits)?) {
        (0, b'-' | b'*' | b'+') | (1..=9, b'.' | b')') => &text[digits + 1..],
        _ => return None,
    };
    let item = unindented(rest);
    (item.len() < rest.len()).then_some(item)
}

/// The title of a `#` or `##` heading. Deeper headings do not end a section. The title of a level-1 heading is returned as
/// empty, since it never starts one of the sections.
fn major_heading(text: &[u8]) -> Option<&[u8]> {
    let heading = unindented(text);
    if text.len() - heading.len() > 3 {
        return None; // indented code
    }
    let level = heading.iter().take_while(|b| **b == b'#').count();
    let title = &heading[level..];
    let is_heading = matches!(title.first(), None | Some(b' ' | b'\t'));
    match level {
        1 if is_heading => Some(b""),
        2 if is_heading => Some(title),
        _ => None,
    }
}

/// The section behind a title such as `Tasks`, `TASKS（任務）` or `📋 Stages: all`.
fn section_of(title: &[u8]) -> Option<Section> {
    let title = String::from_utf8_lossy(title);
    let title = title.trim_start_matches(|c: char| !c.is_alphanumeric());
    let word = title.bytes().take_while(u8::is_ascii_alphanumeric).count();
    match &title[..word] {
        word if word.eq_ignore_ascii_case("tasks") => Some(Section::Tasks),
        word if word.eq_ignore_ascii_case("stages") => Some(Section::Stages),
        _ => None,
    }
}

/// The character and the length of the fence that opened a code block.
type Fence = (u8, usize);

/// Whether a line belongs to a fenced block, including its fences. A block that is not closed extends to the end.
fn in_fence(open: &mut Option<Fence>, text: &[u8]) -> bool {
    if let Some(fence) = *open {
        if closes(fence, text) {
            *open = None;
        }
        return true;
    }
    // A block may also start directly after a list marker.
    *open = fence(text).or_else(|| fence(after_marker(text)?));
    open.is_some()
}

fn fence(text: &[u8]) -> Option<Fence> {
    let text = unindented(text);
    let mark = *text.first().filter(|b| matches!(b, b'`' | b'~'))?;
    let length = text.iter().take_while(|b| **b == mark).count();
    // ```inline``` on one line is not a block.
    let inline = mark == b'`' && text[length..].contains(&b'`');
    (length >= 3 && !inline).then_some((mark, length))
}

fn closes((mark, length): Fence, text: &[u8]) -> bool {
    let text = text.trim_ascii();
    text.len() >= length && text.iter().all(|b| *b == mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(bool, String)> {
        let scan = scan(text.as_bytes());
        scan.boxes.into_iter().map(|b| (b.done, b.text.into_owned())).collect()
    }

    #[test]
    fn list_markers() {
        for marker in ["-", "*", "+", "1.", "12)", "  -", "\t*", "-  "] {
            let text = format!("{marker} [ ] a");
            assert_eq!(found(&text), [(false, "a".to_owned())], "{text:?}");
        }
        for line in ["[ ] a", "-[ ] a", "a. [ ] a", "1234567890. [ ] a", "> - [ ] a", "", "-", "1.", "- "] {
            assert_eq!(found(line), [], "{line:?}");
        }
    }

    #[test]
    fn marks() {
        for (mark, done) in
            [("x", true), ("X", true), (" ", false), ("-", false), ("?", false), ("　", false), ("✓", false)]
        {
            assert_eq!(found(&format!("- [{mark}] a")), [(done, "a".to_owned())], "{mark}");
        }
        for line in
            ["- [] a", "- [xx] a", "- [a](b)", "- [a]: b", "- [ ]", "- [ ]  ", "- [ a", "- [", "- [ ]a"]
        {
            assert_eq!(found(line), [], "{line:?}");
        }
        assert_eq!(
            found("- [x]　登入\r\n- [ ]測試\r\n"),
            [(true, "登入".to_owned()), (false, "測試".to_owned())]
        );
    }

    #[test]
    fn the_range_of_the_mark_is_exact() {
        let text = "\u{feff}---\na: b\n---\r\n  1. [?] a\r\n- [　] b";
        let marks: Vec<_> = scan(text.as_bytes()).boxes.into_iter().map(|b| &text[b.mark]).collect();
        assert_eq!(marks, ["?", "　"]);
    }

    #[test]
    fn headings() {
        let cases = [
            ("## Tasks", Some(Section::Tasks)),
            ("## tasks（任務）", Some(Section::Tasks)),
            ("##\tTasks任務 ##", Some(Section::Tasks)),
            ("## 📋 STAGES: all", Some(Section::Stages)),
            ("## Taskset", None),
            ("## My tasks", None),
            ("# Tasks", None),
            ("##", None),
        ];
        for (line, section) in cases {
            assert_eq!(major_heading(line.as_bytes()).and_then(section_of), section, "{line}");
        }
        for line in ["### Tasks", "##Tasks", "    ## Tasks", "#tag", "text"] {
            assert_eq!(major_heading(line.as_bytes()), None, "{line}");
        }
    }

    #[test]
    fn fences_hide_boxes() {
        let boxed = |open: &str, close: &str| found(&format!("{open}\n- [ ] in\n{close}\n- [ ] out"));
        let out = [(false, "out".to_owned())];
        for (open, close) in [
            ("```", "```"),
            ("~~~ md", "~~~~"),
            ("  ````", "```\n````"),
            ("- ```sh", "  ```"),
            ("```", "~~~\n```"),
        ] {
            assert_eq!(boxed(open, close), out, "{open}");
        }
        assert_eq!(boxed("```", "``"), []);
        assert_eq!(boxed("```a```", "").len(), 2);
        assert_eq!(boxed("~~gone~~", "").len(), 2);
    }

    #[test]
    fn an_invalid_byte_hides_nothing_else() {
        let scan = scan(b"- [ ] a\xFF\n- [\xFF] b\n- [x] c\n");
        let texts: Vec<_> = scan.boxes.iter().map(|b| b.text.as_ref()).collect();
        assert_eq!(texts, ["a\u{fffd}", "c"]);
    }
}
