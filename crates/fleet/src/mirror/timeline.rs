//! A session's timeline in the mirror: the lines of its owner, each once and in order.

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

use super::notes::Place;
use crate::error::{FleetError, Result};
use crate::link::Link;
use crate::message::Batch;
use crate::picture::open_batch;

/// A server that has something to say says it sooner.
pub(super) const SILENCE: Duration = Duration::from_secs(20);

/// What is written a moment after it happened needs no other date.
const RECENT: Duration = Duration::from_secs(30);

/// What becomes of lines that were heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    /// They come next.
    Next,
    /// They are the first of a timeline that takes the place of the one that is here.
    Anew,
    /// They are here already, or of a timeline before this one.
    Known,
    /// They are partly here: somebody has told them otherwise before.
    Strange,
}

pub(super) fn fit(place: &Place, batch: &Batch) -> Fit {
    if place.is_stale || batch.generation > place.generation {
        return Fit::Anew;
    }
    if batch.generation < place.generation || batch.end <= place.end {
        return Fit::Known;
    }
    if batch.offset < place.end { Fit::Strange } else { Fit::Next }
}

/// Writes lines that fit, and returns where the timeline is then.
pub(super) fn write(session: &Session, place: &Place, batch: &Batch, is_anew: bool) -> io::Result<Place> {
    let path = session.timeline_file();
    let text = text(batch);
    if is_anew {
        files::write_atomic(&path, text.as_bytes(), files::PRIVATE)?;
    } else {
        files::append_lines(&path, &text)?;
    }
    date(&path, batch);
    let before = if is_anew { 0 } else { place.bytes };
    Ok(after(place, batch, before + text.len() as u64))
}

fn after(place: &Place, batch: &Batch, bytes: u64) -> Place {
    let machine = place.machine.clone();
    Place { machine, generation: batch.generation, end: batch.end, bytes, is_stale: false }
}

/// Each line is one here as well, whatever somebody has put into it.
fn text(batch: &Batch) -> String {
    batch.lines.iter().map(|line| line.replace(['\n', '\r'], " ") + "\n").collect()
}

/// When something last happened is what lists are sorted by; with what is fetched later it was not just now.
fn date(path: &Path, batch: &Batch) {
    let last = batch.lines.last().and_then(|line| serde_json::from_str::<Value>(line).ok());
    let at = last.and_then(|last| clock::from_iso(last["ts"].as_str()?));
    let at = at.and_then(|at| u64::try_from(at.0).ok()).map(Duration::from_millis);
    let Some(at) = at.map(|at| SystemTime::UNIX_EPOCH + at) else { return };
    if at.elapsed().is_ok_and(|age| age > RECENT) {
        // It is only a date.
        let _ = File::options().write(true).open(path).and_then(|file| file.set_modified(at));
    }
}

/// The whole timeline as a machine has told it up to now, in place of what is here.
pub(super) async fn fetch(link: &Link, session: &Session, machine: &str) -> Result<(Place, u64)> {
    let begun = Place { machine: machine.to_owned(), ..Place::default() };
    let subject = link.names.events_of(machine, session.id().as_str());
    let path = session.timeline_file();
    let Some(last) = last_of(link, &subject).await? else {
        remove(&path)?;
        return Ok((begun, 0));
    };
    let mut fetching = Fetching::begin(&path, begun)?;
    let failed = |error: &dyn std::fmt::Display| FleetError::server("read a timeline", error);
    let config = pull::OrderedConfig { filter_subject: subject, ..pull::OrderedConfig::default() };
    let consumer = link.events.create_consumer(config).await.map_err(|error| failed(&error))?;
    let mut messages = consumer.messages().await.map_err(|error| failed(&error))?;
    loop {
        let message = timeout(SILENCE, messages.next()).await.map_err(|error| failed(&error))?;
        let message = message.ok_or_else(|| failed(&"the server has ended it"))?;
        let message = message.map_err(|error| failed(&error))?;
        // What is foreign is counted where all events are heard.
        if let Ok(batch) = open_batch(link, machine, session.id().as_str(), &message.payload) {
            fetching.take(&batch)?;
        }
        if message.info().map_err(|error| failed(&error))?.stream_sequence >= last {
            return Ok(fetching.finish()?);
        }
    }
}

async fn last_of(link: &Link, subject: &str) -> Result<Option<u64>> {
    match link.events.get_last_raw_message_by_subject(subject).await {
        Ok(last) => Ok(Some(last.sequence)),
        Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(None),
        Err(error) => Err(FleetError::server("ask how far a timeline is", error)),
    }
}

/// A timeline that is put together beside the one that is shown.
struct Fetching {
    path: PathBuf,
    temp: PathBuf,
    place: Place,
    events: u64,
    last: Option<Batch>,
}

impl Fetching {
    fn begin(path: &Path, place: Place) -> io::Result<Self> {
        let temp = files::temp_path(path);
        files::write_new(&temp, b"", files::PRIVATE)?;
        Ok(Self { path: path.to_owned(), temp, place, events: 0, last: None })
    }

    fn take(&mut self, batch: &Batch) -> io::Result<()> {
        let fit = fit(&self.place, batch);
        match fit {
            Fit::Known | Fit::Strange => return Ok(()),
            Fit::Anew => {
                files::write_new(&self.temp, b"", files::PRIVATE)?;
                self.place.bytes = 0;
            }
            Fit::Next => {}
        }
        let text = text(batch);
        files::append_lines(&self.temp, &text)?;
        self.place = after(&self.place, batch, self.place.bytes + text.len() as u64);
        self.events += batch.lines.len() as u64;
        self.last = Some(Batch { lines: batch.lines.last().cloned().into_iter().collect(), ..batch.clone() });
        Ok(())
    }

    fn finish(self) -> io::Result<(Place, u64)> {
        if let Some(last) = &self.last {
            date(&self.temp, last);
        }
        files::put_in_place(&self.temp, &self.path).map(drop)?;
        Ok((self.place, self.events))
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
    fn lines_fit_by_their_place() {
        let batch = |generation, offset, end| Batch { generation, offset, end, lines: Vec::new() };
        let place = Place { generation: 1, end: 10, ..Place::default() };
        for (batch, wanted) in [
            (batch(1, 10, 20), Fit::Next),
            // Empty lines are not told.
            (batch(1, 11, 20), Fit::Next),
            (batch(1, 0, 10), Fit::Known),
            (batch(0, 10, 20), Fit::Known),
            (batch(1, 5, 20), Fit::Strange),
            (batch(2, 0, 5), Fit::Anew),
        ] {
            assert_eq!(fit(&place, &batch), wanted, "{batch:?}");
        }
        assert_eq!(fit(&Place { is_stale: true, ..place }, &batch(0, 0, 5)), Fit::Anew);
    }

    #[test]
    fn a_line_stays_one() {
        let lines = vec!["{\n}".to_owned(), "{}".to_owned()];
        assert_eq!(text(&Batch { generation: 0, offset: 0, end: 9, lines }), "{ }\n{}\n");
    }
}
