//! Reads complete lines of a timeline in batches.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use overtone_session::view::line_end;
use overtone_store::files;

use crate::config::Share;
use crate::cursors::TimelinePosition;
use crate::message::Batch;
use crate::share;

/// The size of a batch. Escaping as JSON makes it larger, and the server accepts messages up to one mebibyte.
const MAX_BATCH_BYTES: usize = 256 * 1024;
const MAX_BATCH_LINES: usize = 500;

/// Replaces a line that is too long for a message.
const LONG_LINE_MARKER: &str = r#"{"type":"system:warning","category":"system","reason":"line-too-long"}"#;

/// The next lines after a position; `None` if there is no complete line yet.
pub(crate) fn next_batch(path: &Path, from: TimelinePosition, share: Share) -> io::Result<Option<Batch>> {
    // Pipes, devices and links are not read.
    let Ok(Some(file)) = files::open_regular(path) else { return Ok(None) };
    let Some(bytes) = read_chunk(&file, from.end)? else { return Ok(None) };
    let Some((used, lines)) = complete_lines(&bytes) else {
        if bytes.len() < MAX_BATCH_BYTES {
            return Ok(None);
        }
        return skip_long_line(&file, from).map(Some);
    };
    let lines = lines.iter().map(|line| share::redact_line(share, line)).collect();
    Ok(Some(Batch { generation: from.generation, offset: from.end, end: from.end + used, lines }))
}

/// Replaces a line that is too long by a marker, up to the end of the line or of the file.
fn skip_long_line(file: &File, from: TimelinePosition) -> io::Result<Batch> {
    let end = line_end(file, from.end, file.metadata()?.len())?;
    let lines = vec![LONG_LINE_MARKER.to_owned()];
    Ok(Batch { generation: from.generation, offset: from.end, end, lines })
}

/// The length of a file; 0 if there is none. Links are not followed.
pub(crate) fn file_length(path: &Path) -> u64 {
    match path.symlink_metadata() {
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    }
}

fn read_chunk(file: &File, from: u64) -> io::Result<Option<Vec<u8>>> {
    let left = file.metadata()?.len().saturating_sub(from);
    let mut bytes = vec![0; usize::try_from(left).unwrap_or(MAX_BATCH_BYTES).min(MAX_BATCH_BYTES)];
    if bytes.is_empty() {
        return Ok(None);
    }
    file.read_exact_at(&mut bytes, from)?;
    Ok(Some(bytes))
}

/// The length of all complete lines in bytes, and those that are not empty. `None` without a complete line.
fn complete_lines(bytes: &[u8]) -> Option<(u64, Vec<String>)> {
    let mut used = 0;
    let mut lines = Vec::new();
    let complete = bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
    for line in complete.take(MAX_BATCH_LINES) {
        used += line.len() as u64;
        let text = String::from_utf8_lossy(line);
        let text = text.trim();
        if !text.is_empty() {
            lines.push(text.to_owned());
        }
    }
    if used == 0 { None } else { Some((used, lines)) }
}

#[cfg(test)]
mod tests {
    use overtone_store::files::append_lines;

    use super::*;

    fn read_all(path: &Path) -> (Vec<String>, u64) {
        let (mut position, mut lines) = (TimelinePosition::default(), Vec::new());
        while let Some(batch) = next_batch(path, position, Share::Full).unwrap() {
            assert_eq!(batch.offset, position.end);
            position.end = batch.end;
            lines.extend(batch.lines);
        }
        (lines, position.end)
    }

    #[test]
    fn lines_are_complete_and_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t");
        assert_eq!(read_all(&path), (Vec::new(), 0));
        let expected: Vec<_> = (0..1234).map(|n| format!("{{\"n\":{n}}}")).collect();
        append_lines(&path, &(expected.join("\n") + "\n\n")).unwrap();
        let length = path.metadata().unwrap().len();
        assert_eq!(read_all(&path), (expected.clone(), length));
        append_lines(&path, "{\"torn").unwrap();
        assert_eq!(read_all(&path), (expected, length));
    }

    #[test]
    fn a_line_that_is_too_long_is_replaced_by_a_marker() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t");
        append_lines(&path, &("x".repeat(MAX_BATCH_BYTES + 10) + "\n{}\n")).unwrap();
        let (lines, end) = read_all(&path);
        assert_eq!((lines.len(), end), (2, path.metadata().unwrap().len()));
        assert_eq!((lines[0].as_str(), lines[1].as_str()), (LONG_LINE_MARKER, "{}"));
        assert!(LONG_LINE_MARKER.contains(overtone_core::registry::WarningReason::LineTooLong.name()));
    }

    #[test]
    fn a_huge_file_without_a_line_break_is_one_long_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t");
        append_lines(&path, "{}\n").unwrap();
        File::options().write(true).open(&path).unwrap().set_len(20 << 30).unwrap();
        let (lines, end) = read_all(&path);
        assert_eq!((lines, end), (vec!["{}".to_owned(), LONG_LINE_MARKER.to_owned()], 20 << 30));
    }

    #[test]
    fn devices_and_folders_have_no_lines() {
        assert_eq!(read_all(Path::new("/dev/zero")), (Vec::new(), 0));
        assert_eq!(read_all(Path::new("/")), (Vec::new(), 0));
    }
}
