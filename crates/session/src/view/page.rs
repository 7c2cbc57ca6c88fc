//! Reads a timeline in pages. An event is identified by the offset of its line in the file, which never changes.

use std::io;
use std::path::Path;

use overtone_store::{files, timeline};
use serde_json::{Map, Value};

use crate::view::ReverseLines;
use crate::view::lines::Lines;

/// How many bytes one request reads at most. The next request continues there.
const MAX_SCANNED_BYTES: u64 = 32 * 1024 * 1024;
/// A page is full when its lines have this many bytes: parsed, they take many times as much memory.
const MAX_PAGE_BYTES: usize = 4 * 1024 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Older,
    Newer,
}

/// Which events of a timeline to read.
#[derive(Debug, Clone)]
pub struct Query {
    /// Older: events before this offset (by default the end). Newer: events from this offset on.
    pub cursor: Option<u64>,
    pub direction: Direction,
    pub limit: usize,
    /// Events of any of these types. If empty, events of all types.
    pub types: Vec<String>,
    pub category: Option<String>,
    /// A text that the line contains. Case is ignored.
    pub text: Option<String>,
}

/// An event and its position in the timeline.
#[derive(Debug, Clone, PartialEq)]
pub struct TimelineEvent {
    /// The offset of its line.
    pub offset: u64,
    /// The offset of the next line.
    pub end: u64,
    pub fields: Map<String, Value>,
}

#[derive(Debug, Default)]
pub struct Page {
    /// The oldest first.
    pub events: Vec<TimelineEvent>,
    /// The cursor of the page before this one; `None` at the beginning of the timeline.
    pub older: Option<u64>,
    /// The cursor of the page after this one.
    pub newer: u64,
    /// How many bytes were read.
    pub scanned: u64,
    /// Lines that are not valid events.
    pub skipped: usize,
    /// The length of the lines of `events`.
    event_bytes: usize,
}

/// Reads a page. A missing timeline has no events.
pub fn read_page(path: &Path, query: &Query) -> io::Result<Page> {
    match query.direction {
        Direction::Older => read_older(path, query),
        Direction::Newer => read_newer(path, query),
    }
}

fn read_older(path: &Path, query: &Query) -> io::Result<Page> {
    let Some(lines) = ReverseLines::open_before(path, query.cursor)? else { return Ok(Page::default()) };
    let end = lines.end();
    let mut page = Page { newer: end, ..Page::default() };
    let mut offset = end;
    for line in lines {
        let line = line?;
        offset = line.start;
        page.scanned = end - offset;
        page.add_line(query, line.bytes.as_deref(), line.start, line.end);
        if page.is_full(query) {
            break;
        }
    }
    page.events.reverse();
    page.older = cursor_before(offset);
    Ok(page)
}

fn read_newer(path: &Path, query: &Query) -> io::Result<Page> {
    let from = query.cursor.unwrap_or(0);
    let mut page = Page { newer: from, older: cursor_before(from), ..Page::default() };
    let Some(file) = files::open_regular(path)? else { return Ok(page) };
    let mut lines = Lines::new(file, from)?;
    while !page.is_full(query) {
        let Some(line) = lines.next_line()? else { break };
        page.newer = line.end;
        page.scanned = line.end - from;
        page.add_line(query, line.bytes, line.start, line.end);
    }
    Ok(page)
}

fn cursor_before(offset: u64) -> Option<u64> {
    if offset > 0 { Some(offset) } else { None }
}

impl Page {
    fn is_full(&self, query: &Query) -> bool {
        self.events.len() >= query.limit
            || self.scanned >= MAX_SCANNED_BYTES
            || self.event_bytes >= MAX_PAGE_BYTES
    }

    /// Adds the event of a line if it matches. `line` is `None` for a line that is too long.
    fn add_line(&mut self, query: &Query, line: Option<&[u8]>, offset: u64, end: u64) {
        let Some(line) = line else {
            self.skipped += 1;
            return;
        };
        let line = line.trim_ascii();
        if line.is_empty() || !query.may_match(line) {
            return;
        }
        match serde_json::from_slice::<Map<String, Value>>(line) {
            Ok(fields) if query.matches(&fields) => {
                self.event_bytes += line.len();
                self.events.push(TimelineEvent { offset, end, fields });
            }
            Ok(_) => {}
            Err(_) => self.skipped += 1,
        }
    }
}

impl Query {
    /// The last events of a timeline.
    pub const fn last(limit: usize) -> Self {
        Self {
            cursor: None,
            direction: Direction::Older,
            limit,
            types: Vec::new(),
            category: None,
            text: None,
        }
    }

    /// The events from an offset on.
    pub const fn starting_at(offset: u64, limit: usize) -> Self {
        Self {
            cursor: Some(offset),
            direction: Direction::Newer,
            limit,
            types: Vec::new(),
            category: None,
            text: None,
        }
    }

    /// A cheap test that avoids parsing most lines that do not match.
    fn may_match(&self, line: &[u8]) -> bool {
        if self.types.is_empty() && self.category.is_none() {
            return self.contains_text(line);
        }
        let Some(name) = timeline::type_of(line) else { return true };
        let name = String::from_utf8_lossy(&name);
        let of_type = self.types.is_empty() || self.types.iter().any(|requested| *requested == name);
        let category = name.split(':').next().unwrap_or_default();
        let of_category = match self.category.as_deref() {
            Some(requested) => requested == category,
            None => true,
        };
        of_type && of_category && self.contains_text(line)
    }

    fn contains_text(&self, line: &[u8]) -> bool {
        match self.text.as_deref() {
            None | Some("") => true,
            Some(text) => String::from_utf8_lossy(line).to_lowercase().contains(&text.to_lowercase()),
        }
    }

    /// The final test, for lines whose type [`may_match`](Self::may_match) could not find.
    fn matches(&self, fields: &Map<String, Value>) -> bool {
        let name = fields.get("type").and_then(Value::as_str).unwrap_or_default();
        !name.is_empty() && (self.types.is_empty() || self.types.iter().any(|requested| requested == name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(direction: Direction, cursor: Option<u64>, limit: usize) -> Query {
        Query { cursor, direction, limit, types: Vec::new(), category: None, text: None }
    }

    fn numbers(page: &Page) -> Vec<u64> {
        page.events.iter().map(|event| event.fields["n"].as_u64().unwrap()).collect()
    }

    fn timeline(lines: &str) -> (tempfile::TempDir, std::path::PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("timeline.jsonl");
        overtone_store::files::append_lines(&path, lines).unwrap();
        (dir, path)
    }

    fn numbered(count: u64) -> String {
        let line = |n: u64| {
            let kind = if n.is_multiple_of(2) { "stage:start" } else { "agent:delegate" };
            format!("{{\"type\":\"{kind}\",\"n\":{n}}}\n")
        };
        (0..count).fold(String::new(), |text, n| text + &line(n))
    }

    #[test]
    fn pages_join_without_gap_or_repetition() {
        let (_dir, path) = timeline(&numbered(25));
        let mut all = Vec::new();
        let mut cursor = None;
        loop {
            let page = read_page(&path, &query(Direction::Older, cursor, 10)).unwrap();
            all.splice(0..0, numbers(&page));
            cursor = page.older;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(all, (0..25).collect::<Vec<_>>());
        let first = read_page(&path, &query(Direction::Newer, None, 20)).unwrap();
        let rest = read_page(&path, &query(Direction::Newer, Some(first.newer), 20)).unwrap();
        assert_eq!([numbers(&first), numbers(&rest)].concat(), (0..25).collect::<Vec<_>>());
        assert_eq!(rest.events[4].end, rest.newer);
        assert!(read_page(&path, &query(Direction::Newer, Some(rest.newer), 20)).unwrap().events.is_empty());
    }

    #[test]
    fn an_unfinished_line_is_not_read() {
        let (_dir, path) = timeline("{\"type\":\"a:b\",\"n\":1}\nbroken\n{\"type\":\"a:b\",");
        let older = read_page(&path, &query(Direction::Older, None, 10)).unwrap();
        let newer = read_page(&path, &query(Direction::Newer, None, 10)).unwrap();
        assert_eq!((numbers(&older), older.skipped), (vec![1], 1));
        assert_eq!((numbers(&newer), newer.newer), (vec![1], older.newer));
    }

    #[test]
    fn only_requested_events_are_returned() {
        let (_dir, path) = timeline(&numbered(10));
        let read = |types: &[&str], category: Option<&str>, text: Option<&str>| {
            let types = types.iter().map(|name| (*name).to_owned()).collect();
            let query = Query {
                types,
                category: category.map(str::to_owned),
                text: text.map(str::to_owned),
                ..query(Direction::Older, None, 100)
            };
            numbers(&read_page(&path, &query).unwrap())
        };
        assert_eq!(read(&["stage:start"], None, None), [0, 2, 4, 6, 8]);
        assert_eq!(read(&[], Some("agent"), None), [1, 3, 5, 7, 9]);
        assert_eq!(read(&["stage:start"], Some("agent"), None), [0; 0]);
        assert_eq!(read(&[], None, Some("\"N\":7")), [7]);
    }

    #[test]
    fn a_missing_timeline_has_no_events_and_a_folder_is_an_error() {
        let page = read_page(Path::new("/nonexistent"), &query(Direction::Older, None, 9)).unwrap();
        assert!(page.events.is_empty() && page.older.is_none());
        assert!(read_page(Path::new("/"), &query(Direction::Newer, None, 9)).is_err());
    }
}
