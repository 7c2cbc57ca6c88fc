//! The timeline of a session in the mirror: the lines of its owner, each once and in order.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use async_nats::jetstream::consumer::pull;
use async_nats::jetstream::stream::LastRawMessageErrorKind;
use futures_util::StreamExt as _;
use overtone_store::{Session, clock, files};
use serde_json::Value;
use tokio::time::timeout;

use super::progress::MirrorPosition;
use crate::error::{FleetError, Result};
use crate::link::Link;
use crate::message::Batch;
use crate::snapshot::open_batch;

/// How long to wait for the next message that the server is known to have.
pub(super) const READ_TIMEOUT: Duration = Duration::from_secs(20);

/// For younger events, the time of writing is used as the modification time.
const RECENT: Duration = Duration::from_secs(30);

/// How a received batch relates to the timeline in the mirror.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BatchFit {
    /// Its lines come next.
    Next,
    /// It begins a timeline that replaces the current one.
    Restart,
    /// Its lines are already written, or belong to an earlier timeline.
    Duplicate,
    /// Some of its lines are already written, which a relay never sends.
    Overlap,
}

pub(crate) fn classify(position: &MirrorPosition, batch: &Batch) -> BatchFit {
    if position.is_stale || batch.generation > position.generation {
        return BatchFit::Restart;
    }
    if batch.generation < position.generation || batch.end <= position.end {
        return BatchFit::Duplicate;
    }
    if batch.offset < position.end { BatchFit::Overlap } else { BatchFit::Next }
}

/// Writes a batch that fits, and returns the new position.
pub(crate) fn write(
    session: &Session,
    position: &MirrorPosition,
    batch: &Batch,
    is_restart: bool,
) -> io::Result<MirrorPosition> {
    let path = session.timeline_file();
    let text = render_lines(batch);
    if is_restart {
        files::write_atomic(&path, text.as_bytes(), files::PRIVATE)?;
    } else {
        files::append_lines(&path, &text)?;
    }
    set_modified_time(&path, batch);
    let before = if is_restart { 0 } else { position.bytes };
    Ok(advance(position, batch, before + text.len() as u64))
}

fn advance(position: &MirrorPosition, batch: &Batch, bytes: u64) -> MirrorPosition {
    let machine = position.machine.clone();
    MirrorPosition { machine, generation: batch.generation, end: batch.end, bytes, is_stale: false }
}

/// The lines as text. Line breaks within a line are replaced, so that it stays one line.
fn render_lines(batch: &Batch) -> String {
    batch.lines.iter().map(|line| line.replace(['\n', '\r'], " ") + "\n").collect()
}

/// Sets the modification time to the time of the last event, because lists are sorted by it.
fn set_modified_time(path: &Path, batch: &Batch) {
    let Some(at) = time_of_last_event(batch) else { return };
    if matches!(at.elapsed(), Ok(age) if age > RECENT) {
        // The time is only used for sorting, so a failure is ignored.
        let _ = File::options().write(true).open(path).and_then(|file| file.set_modified(at));
    }
}

fn time_of_last_event(batch: &Batch) -> Option<SystemTime> {
    let event: Value = serde_json::from_str(batch.lines.last()?).ok()?;
    let at = clock::from_iso(event["ts"].as_str()?)?;
    Some(SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(at.0).ok()?))
}

/// Replaces the timeline by the complete one that a machine has published. Returns the position and the number of
/// events.
pub(super) async fn fetch(link: &Link, session: &Session, machine: &str) -> Result<(MirrorPosition, u64)> {
    let start = MirrorPosition { machine: machine.to_owned(), ..MirrorPosition::default() };
    let subject = link.names.events_subject(machine, session.id().as_str());
    let path = session.timeline_file();
    let Some(last) = last_sequence(link, &subject).await? else {
        remove(&path)?;
        return Ok((start, 0));
    };
    let mut download = TimelineDownload::begin(&path, start)?;
    let failed = |error: &dyn std::fmt::Display| FleetError::server("read a timeline", error);
    let config = pull::OrderedConfig { filter_subject: subject, ..pull::OrderedConfig::default() };
    let consumer = link.events.create_consumer(config).await.map_err(|error| failed(&error))?;
    let mut messages = consumer.messages().await.map_err(|error| failed(&error))?;
    loop {
        let message = timeout(READ_TIMEOUT, messages.next()).await.map_err(|error| failed(&error))?;
        let message = message.ok_or_else(|| failed(&"the server closed the stream"))?;
        let message = message.map_err(|error| failed(&error))?;
        // Unreadable messages are counted by `handle_event`.
        if let Ok(batch) = open_batch(link, machine, session.id().as_str(), &message.payload) {
            download.add(&batch)?;
        }
        if message.info().map_err(|error| failed(&error))?.stream_sequence >= last {
            return Ok(download.finish()?);
        }
    }
}

async fn last_sequence(link: &Link, subject: &str) -> Result<Option<u64>> {
    match link.events.get_last_raw_message_by_subject(subject).await {
        Ok(last) => Ok(Some(last.sequence)),
        Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(None),
        Err(error) => Err(FleetError::server("read the end of a timeline", error)),
    }
}

/// A timeline that is assembled in a temporary file.
struct TimelineDownload {
    path: PathBuf,
    temp: PathBuf,
    position: MirrorPosition,
    events: u64,
    last: Option<Batch>,
}

impl TimelineDownload {
    fn begin(path: &Path, position: MirrorPosition) -> io::Result<Self> {
        let temp = files::temp_path(path);
        files::write_new(&temp, b"", files::PRIVATE)?;
        Ok(Self { path: path.to_owned(), temp, position, events: 0, last: None })
    }

    fn add(&mut self, batch: &Batch) -> io::Result<()> {
        match classify(&self.position, batch) {
            BatchFit::Duplicate | BatchFit::Overlap => return Ok(()),
            BatchFit::Restart => {
                files::write_new(&self.temp, b"", files::PRIVATE)?;
                self.position.bytes = 0;
            }
            BatchFit::Next => {}
        }
        let text = render_lines(batch);
        files::append_lines(&self.temp, &text)?;
        self.position = advance(&self.position, batch, self.position.bytes + text.len() as u64);
        self.events += batch.lines.len() as u64;
        self.last = Some(Batch { lines: batch.lines.last().cloned().into_iter().collect(), ..batch.clone() });
        Ok(())
    }

    fn finish(self) -> io::Result<(MirrorPosition, u64)> {
        if let Some(last) = &self.last {
            set_modified_time(&self.temp, last);
        }
        files::put_in_place(&self.temp, &self.path).map(drop)?;
        Ok((self.position, self.events))
    }
}

pub(super) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_classified_by_its_position() {
        let batch = |generation, offset, end| Batch { generation, offset, end, lines: Vec::new() };
        let position = MirrorPosition { generation: 1, end: 10, ..MirrorPosition::default() };
        for (batch, expected) in [
            (batch(1, 10, 20), BatchFit::Next),
            // Empty lines are not published.
            (batch(1, 11, 20), BatchFit::Next),
            (batch(1, 0, 10), BatchFit::Duplicate),
            (batch(0, 10, 20), BatchFit::Duplicate),
            (batch(1, 5, 20), BatchFit::Overlap),
            (batch(2, 0, 5), BatchFit::Restart),
        ] {
            assert_eq!(classify(&position, &batch), expected, "{batch:?}");
        }
        assert_eq!(
            classify(&MirrorPosition { is_stale: true, ..position }, &batch(0, 0, 5)),
            BatchFit::Restart
        );
    }

    #[test]
    fn line_breaks_within_a_line_are_replaced() {
        let lines = vec!["{\n}".to_owned(), "{}".to_owned()];
        assert_eq!(render_lines(&Batch { generation: 0, offset: 0, end: 9, lines }), "{ }\n{}\n");
    }
}
