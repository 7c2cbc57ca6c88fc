//! Whole lines of a timeline, some at a time.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use overtone_store::files;
use overtone_view::line_end;

use crate::config::Share;
use crate::cursors::Place;
use crate::message::Batch;
use crate::share;

/// So much is read at once. As JSON within JSON it grows, and a server takes a mebibyte.
const MAX_BYTES: usize = 256 * 1024;
const MAX_LINES: usize = 500;

/// Stands for a line that is too long for any message.
const TOO_LONG: &str = r#"{"type":"system:warning","category":"system","reason":"line-too-long"}"#;

/// The next lines from a place on; `None` when there is no whole one yet.
pub(crate) fn next(path: &Path, from: Place, share: Share) -> io::Result<Option<Batch>> {
    // Something else in its place has no lines: a pipe, a device, a link.
    let Ok(Some(file)) = files::open_regular(path) else { return Ok(None) };
    let Some(bytes) = read(&file, from.end)? else { return Ok(None) };
    let Some((used, lines)) = whole_lines(&bytes) else {
        return if bytes.len() == MAX_BYTES { skip(&file, from).map(Some) } else { Ok(None) };
    };
    let lines = lines.iter().map(|line| share::line(share, line)).collect();
    Ok(Some(Batch { generation: from.generation, offset: from.end, end: from.end + used, lines }))
}

/// Passes over a line that is too long, to its end as far as that is found.
fn skip(file: &File, from: Place) -> io::Result<Batch> {
    let end = line_end(file, from.end, file.metadata()?.len())?;
    let lines = vec![TOO_LONG.to_owned()];
    Ok(Batch { generation: from.generation, offset: from.end, end, lines })
}

fn read(file: &File, from: u64) -> io::Result<Option<Vec<u8>>> {
    let left = file.metadata()?.len().saturating_sub(from);
    let mut bytes = vec![0; usize::try_from(left).unwrap_or(MAX_BYTES).min(MAX_BYTES)];
    if bytes.is_empty() {
        return Ok(None);
    }
    file.read_exact_at(&mut bytes, from)?;
    Ok(Some(bytes))
}

/// How many bytes the whole lines take, and those that say something.
fn whole_lines(bytes: &[u8]) -> Option<(u64, Vec<String>)> {
    let mut used = 0;
    let mut lines = Vec::new();
    for line in
        bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")).take(MAX_LINES)
    {
        used += line.len() as u64;
        let text = String::from_utf8_lossy(line);
        let text = text.trim();
        if !text.is_empty() {
            lines.push(text.to_owned());
        }
    }
    (used > 0).then_some((used, lines))
}

#[cfg(test)]
mod tests {
    use overtone_store::files::append_lines;

    use super::*;

    fn all(path: &Path) -> (Vec<String>, u64) {
        let (mut place, mut lines) = (Place::default(), Vec::new());
        while let Some(batch) = next(path, place, Share::Full).unwrap() {
            assert_eq!(batch.offset, place.end);
            place.end = batch.end;
            lines.extend(batch.lines);
        }
        (lines, place.end)
    }

    #[test]
    fn lines_come_whole_and_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t");
        assert_eq!(all(&path), (Vec::new(), 0));
        let wanted: Vec<_> = (0..1234).map(|n| format!("{{\"n\":{n}}}")).collect();
        append_lines(&path, &(wanted.join("\n") + "\n\n")).unwrap();
        let length = path.metadata().unwrap().len();
        assert_eq!(all(&path), (wanted.clone(), length));
        append_lines(&path, "{\"torn").unwrap();
        assert_eq!(all(&path), (wanted, length));
    }

    #[test]
    fn a_line_without_end_is_passed_over() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t");
        append_lines(&path, &("x".repeat(MAX_BYTES + 10) + "\n{}\n")).unwrap();
        let (lines, end) = all(&path);
        assert_eq!((lines.len(), end), (2, path.metadata().unwrap().len()));
        assert_eq!((lines[0].as_str(), lines[1].as_str()), (TOO_LONG, "{}"));
    }

    #[test]
    fn a_huge_file_without_a_line_break_is_one_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t");
        append_lines(&path, "{}\n").unwrap();
        File::options().write(true).open(&path).unwrap().set_len(20 << 30).unwrap();
        let (lines, end) = all(&path);
        assert_eq!((lines, end), (vec!["{}".to_owned(), TOO_LONG.to_owned()], 20 << 30));
    }

    #[test]
    fn something_else_has_no_lines() {
        assert_eq!(all(Path::new("/dev/zero")), (Vec::new(), 0));
        assert_eq!(all(Path::new("/")), (Vec::new(), 0));
    }
}
