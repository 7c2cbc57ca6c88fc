//! A timeline in pages. An event is known by the place of its line in the file, which never changes.

use std::io;
use std::path::Path;

use overtone_store::{files, timeline};
use serde_json::{Map, Value};

use crate::Backwards;
use crate::lines::Lines;

/// A request looks at no more than this; the next one goes on.
const MAX_SCANNED: u64 = 32 * 1024 * 1024;
/// The events of a page are no longer than this together, and one line: parsed, they take many times as much.
const MAX_TAKEN: usize = 4 * 1024 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Older,
    Newer,
}

/// What is asked for.
#[derive(Debug, Clone)]
pub struct Query {
    /// Older: events before this place (the end if there is none). Newer: events from this place on.
    pub cursor: Option<u64>,
    pub direction: Direction,
    pub limit: usize,
    /// Any of these; none means all.
    pub types: Vec<String>,
    pub category: Option<String>,
    /// Words that the line holds, in any case.
    pub words: Option<String>,
}

/// An event and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    pub place: u64,
    /// Where the next one begins.
    pub end: u64,
    pub fields: Map<String, Value>,
}

#[derive(Debug, Default)]
pub struct Page {
    /// The oldest first.
    pub events: Vec<Seen>,
    /// Where to go on towards the beginning; `None` when it is reached.
    pub older: Option<u64>,
    /// Where to go on towards the end.
    pub newer: u64,
    /// Bytes that were looked at.
    pub scanned: u64,
    /// Lines that are no events.
    pub skipped: usize,
    /// The length of all lines that became events.
    taken: usize,
}

/// Reads a page. A missing timeline has no events.
pub fn read_page(path: &Path, query: &Query) -> io::Result<Page> {
    match query.direction {
        Direction::Older => older(path, query),
        Direction::Newer => newer(path, query),
    }
}

fn older(path: &Path, query: &Query) -> io::Result<Page> {
    let Some(lines) = Backwards::open_at(path, query.cursor)? else { return Ok(Page::default()) };
    let end = lines.end();
    let mut page = Page { newer: end, ..Page::default() };
    let mut place = end;
    for line in lines {
        let line = line?;
        place = line.start;
        page.scanned = end - place;
        page.take(query, line.bytes.as_deref(), line.start, line.end);
        if page.is_full(query) {
            break;
        }
    }
    page.events.reverse();
    page.older = (place > 0).then_some(place);
    Ok(page)
}

fn newer(path: &Path, query: &Query) -> io::Result<Page> {
    let from = query.cursor.unwrap_or(0);
    let mut page = Page { newer: from, older: (from > 0).then_some(from), ..Page::default() };
    let Some(file) = files::open_regular(path)? else { return Ok(page) };
    let mut lines = Lines::new(file, from)?;
    while !page.is_full(query) {
        let Some(line) = lines.next_line()? else { break };
        page.newer = line.end;
        page.scanned = line.end - from;
        page.take(query, line.bytes, line.start, line.end);
    }
    Ok(page)
}

impl Page {
    fn is_full(&self, query: &Query) -> bool {
        self.events.len() >= query.limit || self.scanned >= MAX_SCANNED || self.taken >= MAX_TAKEN
    }

    /// `None` is a line that is too long.
    fn take(&mut self, query: &Query, line: Option<&[u8]>, place: u64, end: u64) {
        let Some(line) = line else {
            self.skipped += 1;
            return;
        };
        let line = line.trim_ascii();
        if line.is_empty() || !query.may_pass(line) {
            return;
        }
        match serde_json::from_slice::<Map<String, Value>>(line) {
            Ok(fields) if query.passes(&fields) => {
                self.taken += line.len();
                self.events.push(Seen { place, end, fields });
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
            words: None,
        }
    }

    /// The events from a place on.
    pub const fn from(place: u64, limit: usize) -> Self {
        Self {
            cursor: Some(place),
            direction: Direction::Newer,
            limit,
            types: Vec::new(),
            category: None,
            words: None,
        }
    }

    /// Spares parsing most lines that do not pass.
    fn may_pass(&self, line: &[u8]) -> bool {
        if self.types.is_empty() && self.category.is_none() {
            return self.has_words(line);
        }
        let Some(name) = timeline::type_of(line) else { return true };
        let name = String::from_utf8_lossy(&name);
        let of_type = self.types.is_empty() || self.types.iter().any(|wanted| *wanted == name);
        let category = name.split(':').next().unwrap_or_default();
        let of_category = self.category.as_deref().is_none_or(|wanted| wanted == category);
        of_type && of_category && self.has_words(line)
    }

    fn has_words(&self, line: &[u8]) -> bool {
        let Some(words) = self.words.as_deref().filter(|words| !words.is_empty()) else { return true };
        String::from_utf8_lossy(line).to_lowercase().contains(&words.to_lowercase())
    }

    /// For lines whose type could not be seen at first sight.
    fn passes(&self, fields: &Map<String, Value>) -> bool {
        let text = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default();
        let name = text("type");
        !name.is_empty() && (self.types.is_empty() || self.types.iter().any(|wanted| wanted == name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(direction: Direction, cursor: Option<u64>, limit: usize) -> Query {
        Query { cursor, direction, limit, types: Vec::new(), category: None, words: None }
    }

    fn names(page: &Page) -> Vec<u64> {
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
            all.splice(0..0, names(&page));
            cursor = page.older;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(all, (0..25).collect::<Vec<_>>());
        let first = read_page(&path, &query(Direction::Newer, None, 20)).unwrap();
        let rest = read_page(&path, &query(Direction::Newer, Some(first.newer), 20)).unwrap();
        assert_eq!([names(&first), names(&rest)].concat(), (0..25).collect::<Vec<_>>());
        assert_eq!(rest.events[4].end, rest.newer);
        assert!(read_page(&path, &query(Direction::Newer, Some(rest.newer), 20)).unwrap().events.is_empty());
    }

    #[test]
    fn an_unfinished_line_is_left_for_later() {
        let (_dir, path) = timeline("{\"type\":\"a:b\",\"n\":1}\nbroken\n{\"type\":\"a:b\",");
        let older = read_page(&path, &query(Direction::Older, None, 10)).unwrap();
        let newer = read_page(&path, &query(Direction::Newer, None, 10)).unwrap();
        assert_eq!((names(&older), older.skipped), (vec![1], 1));
        assert_eq!((names(&newer), newer.newer), (vec![1], older.newer));
    }

    #[test]
    fn only_what_is_asked_for_passes() {
        let (_dir, path) = timeline(&numbered(10));
        let ask = |types: &[&str], category: Option<&str>, words: Option<&str>| {
            let types = types.iter().map(|name| (*name).to_owned()).collect();
            let query = Query {
                types,
                category: category.map(str::to_owned),
                words: words.map(str::to_owned),
                ..query(Direction::Older, None, 100)
            };
            names(&read_page(&path, &query).unwrap())
        };
        assert_eq!(ask(&["stage:start"], None, None), [0, 2, 4, 6, 8]);
        assert_eq!(ask(&[], Some("agent"), None), [1, 3, 5, 7, 9]);
        assert_eq!(ask(&["stage:start"], Some("agent"), None), [0; 0]);
        assert_eq!(ask(&[], None, Some("\"N\":7")), [7]);
    }

    #[test]
    fn there_may_be_no_timeline() {
        let page = read_page(Path::new("/nonexistent"), &query(Direction::Older, None, 9)).unwrap();
        assert!(page.events.is_empty() && page.older.is_none());
        assert!(read_page(Path::new("/"), &query(Direction::Newer, None, 9)).is_err());
    }
}
