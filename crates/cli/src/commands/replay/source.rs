//! The lines of a timeline, from a file, a session or standard input, one at a time.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use overtone_core::messages::replay as words;
use overtone_core::replay::{Line, SkippedLine, parse, redact};
use overtone_store::{Session, files};

use crate::context::Context;
use crate::ui::error::{CommandError, CommandResult};
use crate::ui::out::JsonLines;

/// Events are shorter; a longer line is not ours.
const MAX_LINE: u64 = 1024 * 1024;
/// How far to search for the end of such a line.
const MAX_SKIPPED: u64 = 64 * 1024 * 1024;

pub(super) struct TimelineSource {
    /// As shown to the user.
    pub(super) name: String,
    /// `None` for standard input.
    pub(super) path: Option<PathBuf>,
    /// Set if the timeline was found by its session.
    pub(super) session: Option<Session>,
    reader: Box<dyn BufRead>,
    /// Lines and bytes that were read.
    number: u64,
    pub(super) bytes: u64,
    problem: Option<io::Error>,
}

impl TimelineSource {
    /// `announce`: whether to print on stderr which session was found.
    pub(super) fn open(context: &Context, named: Option<&str>, announce: bool) -> CommandResult<Self> {
        if named == Some("-") {
            return Ok(Self::reading("-".to_owned(), None, Box::new(BufReader::new(stdin()))));
        }
        let TimelineLocation { path, session } = find(context, named, announce)?;
        let name = path.display().to_string();
        let missing = || {
            CommandError::new(words::no_timeline(context.lang, &name))
                .hint(words::no_timeline_hint(context.lang))
        };
        let opened = if session.is_some() { files::open_regular(&path) } else { open_named(&path) };
        let file =
            opened.map_err(|error| CommandError::io(context.lang, &path, &error))?.ok_or_else(missing)?;
        let reader = Box::new(BufReader::with_capacity(64 * 1024, file));
        Ok(Self { session, ..Self::reading(name, Some(path), reader) })
    }

    fn reading(name: String, path: Option<PathBuf>, reader: Box<dyn BufRead>) -> Self {
        Self { name, path, session: None, reader, number: 0, bytes: 0, problem: None }
    }

    pub(super) fn lines(&mut self) -> TimelineLines<'_> {
        TimelineLines { source: self, bytes: Vec::new() }
    }

    /// Returns the read error, if there was one.
    pub(super) fn check(&mut self, context: &Context) -> CommandResult {
        let path = self.path.as_deref().unwrap_or(Path::new(&self.name));
        match self.problem.take() {
            Some(error) => Err(CommandError::io(context.lang, path, &error)),
            None => Ok(()),
        }
    }

    /// Reads the next line, with its end unless it is the last; of one that is too long, the beginning.
    fn read(&mut self, line: &mut Vec<u8>) -> io::Result<usize> {
        line.clear();
        let mut count = self.reader.by_ref().take(MAX_LINE).read_until(b'\n', line)?;
        if line.len() as u64 == MAX_LINE && line.last() != Some(&b'\n') {
            count += self.skip_line()?;
            line.push(b'\n');
        }
        self.bytes += count as u64;
        self.number += u64::from(count > 0);
        Ok(count)
    }

    /// Passes over what is left of a line, within bounds: a file without line breaks may have any length.
    fn skip_line(&mut self) -> io::Result<usize> {
        let mut limited = self.reader.by_ref().take(MAX_SKIPPED);
        let count = limited.skip_until(b'\n')?;
        if limited.limit() == 0 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "no line break in 64 MB: not a timeline"));
        }
        Ok(count)
    }

    /// Prints the copy without free text. A torn last line stays without its end.
    pub(super) fn redact(&mut self, context: &Context) -> CommandResult {
        let mut lines = JsonLines::new();
        let mut line = Vec::new();
        loop {
            match self.read(&mut line) {
                Ok(0) => break,
                Ok(_) => {}
                Err(error) => {
                    self.problem = Some(error);
                    break;
                }
            }
            let end = if line.last() == Some(&b'\n') { "\n" } else { "" };
            lines.write(&(redact(&line) + end))?;
        }
        lines.finish()?;
        self.check(context)
    }
}

/// The lines that are not blank.
pub(super) struct TimelineLines<'a> {
    source: &'a mut TimelineSource,
    bytes: Vec<u8>,
}

impl Iterator for TimelineLines<'_> {
    type Item = Result<Line, SkippedLine>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.source.read(&mut self.bytes) {
                Ok(0) => return None,
                Ok(_) => {}
                Err(error) => {
                    self.source.problem = Some(error);
                    return None;
                }
            }
            if let Some(line) = parse(self.source.number, &self.bytes) {
                return Some(line);
            }
        }
    }
}

/// A file that the user named may be a link, or a pipe of the shell.
fn open_named(path: &Path) -> io::Result<Option<File>> {
    match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        file => file.map(Some),
    }
}

#[allow(clippy::disallowed_methods, reason = "the user pipes a whole file in; its end is the end")]
fn stdin() -> io::Stdin {
    io::stdin()
}

/// Where a timeline is, with the session if it was found by one.
struct TimelineLocation {
    path: PathBuf,
    session: Option<Session>,
}

impl From<PathBuf> for TimelineLocation {
    fn from(path: PathBuf) -> Self {
        Self { path, session: None }
    }
}

/// A file or the folder of a session by its path, else a session by its id.
fn find(context: &Context, named: Option<&str>, announce: bool) -> CommandResult<TimelineLocation> {
    if let Some(path) = named.and_then(as_path) {
        return Ok(path.into());
    }
    let selected = context.required_session_to_read(named)?;
    if announce {
        selected.announce(context);
    }
    Ok(TimelineLocation { path: selected.session.timeline_file(), session: Some(selected.session) })
}

/// Treats a name that looks like a path as one, so that a missing file is not reported as a bad id.
fn as_path(name: &str) -> Option<PathBuf> {
    let path = Path::new(name);
    if path.is_dir() {
        return Some(path.join("timeline.jsonl"));
    }
    let is_path = path.exists() || name.contains('/') || path.extension().is_some_and(|end| end == "jsonl");
    is_path.then(|| path.to_owned())
}
