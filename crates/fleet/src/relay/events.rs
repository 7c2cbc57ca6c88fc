//! Tells what happened: every line of a timeline once, in order.
//!
//! One message of a session is under way at a time, and each says after which one it comes. So neither a repetition
//! nor a second relay can put anything twice or in the wrong order: the server refuses it, and says what it has.

use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::LastRawMessageErrorKind;
use overtone_store::Session;

use super::Worker;
use super::track::Track;
use crate::cursors::Place;
use crate::error::{FleetError, Result};
use crate::lines;
use crate::link::Link;
use crate::message::Batch;
use crate::names::state_key;
use crate::trust::{Kind, Opened};

/// So many messages of one session, then it is the others' turn.
const IN_A_ROW: usize = 16;

impl Worker<'_> {
    /// Says whether there is more.
    pub(super) async fn tell_events(
        &self,
        link: &Link,
        session: &Session,
        track: &mut Track,
    ) -> Result<bool> {
        let path = session.timeline_file();
        let length = path.symlink_metadata().map_or(0, |about| about.len());
        if track.sequence.is_some() && track.place.end == length {
            return Ok(false);
        }
        let subject = link.names.events_of(&self.machine.id, session.id().as_str());
        if track.sequence.is_none() {
            self.recover(link, &subject, session, track).await?;
        }
        if length < track.place.end {
            // It is another timeline.
            track.place = Place { generation: track.place.generation + 1, end: 0 };
        }
        for _ in 0..IN_A_ROW {
            let Some(batch) = lines::next(&path, track.place, self.setup.settings.share)? else {
                return Ok(false);
            };
            if batch.lines.is_empty() {
                track.place.end = batch.end;
            } else {
                self.publish(link, &subject, session, &batch, track).await?;
            }
        }
        Ok(true)
    }

    async fn publish(
        &self,
        link: &Link,
        subject: &str,
        session: &Session,
        batch: &Batch,
        track: &mut Track,
    ) -> Result<()> {
        let payload = self.keyring.seal(Kind::Events, &self.place_of(session), "", batch);
        let message = PublishMessage::build()
            .payload(payload)
            .message_id(self.message_id(session, batch))
            .expected_last_subject_sequence(track.sequence.unwrap_or(0));
        let lost = |error| FleetError::server("publish an event", error);
        let sent = link.context.send_publish(subject.to_owned(), message).await.map_err(lost)?;
        match sent.await {
            Ok(ack) => {
                track.sequence = Some(ack.sequence);
                track.place.end = batch.end;
                let count = batch.lines.len() as u64;
                self.shared.update(|status| status.told += count);
                Ok(())
            }
            // It was there already, or somebody else has put something there. The server knows how far it is.
            Err(error) if error.kind() == PublishErrorKind::WrongLastSequence => {
                self.recover(link, subject, session, track).await
            }
            Err(error) => Err(lost(error)),
        }
    }

    fn message_id(&self, session: &Session, batch: &Batch) -> String {
        let anew = if batch.generation == 0 { String::new() } else { format!(":{}", batch.generation) };
        format!("{}:{}:{}:{}{anew}", self.keyring.team(), self.machine.id, session.id(), batch.offset)
    }

    /// Where its events belong.
    fn place_of(&self, session: &Session) -> String {
        state_key(&self.machine.id, session.id().as_str())
    }

    /// Asks how far the server is. What it has forgotten, this machine remembers.
    async fn recover(&self, link: &Link, subject: &str, session: &Session, track: &mut Track) -> Result<()> {
        match link.events.get_last_raw_message_by_subject(subject).await {
            Ok(last) => {
                track.sequence = Some(last.sequence);
                // A foreign message tells nothing, but counts.
                let opened = self.keyring.open::<Batch>(Kind::Events, &self.place_of(session), &last.payload);
                if let Ok(Opened { body: batch, .. }) = opened {
                    track.place = track.place.max(Place { generation: batch.generation, end: batch.end });
                }
                Ok(())
            }
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => {
                track.sequence = Some(0);
                Ok(())
            }
            Err(error) => Err(FleetError::server("ask how far the stream is", error)),
        }
    }
}
