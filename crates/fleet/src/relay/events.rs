//! Publishes the lines of timelines, each once and in order.
//!
//! A session has one message in flight, and each message names the sequence of its predecessor. The server rejects
//! repetitions and messages of a second relay, so nothing is stored twice or in the wrong order.

use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::LastRawMessageErrorKind;
use overtone_store::Session;

use super::Worker;
use super::progress::SessionProgress;
use crate::cursors::TimelinePosition;
use crate::error::{FleetError, Result};
use crate::lines;
use crate::link::Link;
use crate::message::Batch;
use crate::names::state_key;
use crate::trust::{Kind, VerifiedMessage};

/// After this many messages of one session, others get their turn.
const MAX_BATCHES_PER_TURN: usize = 16;

impl Worker<'_> {
    /// Publishes new events. Returns whether there are more.
    pub(super) async fn publish_events(
        &self,
        link: &Link,
        session: &Session,
        progress: &mut SessionProgress,
    ) -> Result<bool> {
        let path = session.timeline_file();
        let length = lines::file_length(&path);
        if progress.sequence.is_some() && progress.position.end == length {
            return Ok(false);
        }
        let subject = link.names.events_subject(&self.machine.id, session.id().as_str());
        if progress.sequence.is_none() {
            self.read_server_position(link, &subject, session, progress).await?;
        }
        if length < progress.position.end {
            // A shorter file is a new timeline.
            progress.position = TimelinePosition { generation: progress.position.generation + 1, end: 0 };
        }
        for _ in 0..MAX_BATCHES_PER_TURN {
            let Some(batch) = lines::next_batch(&path, progress.position, self.setup.settings.share)? else {
                return Ok(false);
            };
            if batch.lines.is_empty() {
                progress.position.end = batch.end;
            } else {
                self.publish_batch(link, &subject, session, &batch, progress).await?;
            }
        }
        Ok(true)
    }

    async fn publish_batch(
        &self,
        link: &Link,
        subject: &str,
        session: &Session,
        batch: &Batch,
        progress: &mut SessionProgress,
    ) -> Result<()> {
        let payload = self.keyring.seal(Kind::Events, &self.events_key(session), "", batch);
        let message = PublishMessage::build()
            .payload(payload)
            .message_id(self.message_id(session, batch))
            .expected_last_subject_sequence(progress.sequence.unwrap_or(0));
        let failed = |error| FleetError::server("publish an event", error);
        let sent = link.context.send_publish(subject.to_owned(), message).await.map_err(failed)?;
        match sent.await {
            Ok(ack) => {
                progress.sequence = Some(ack.sequence);
                progress.position.end = batch.end;
                let count = batch.lines.len() as u64;
                self.shared.update(|status| status.published += count);
                Ok(())
            }
            // The message was stored already, or another client has published something. Ask for the position.
            Err(error) if error.kind() == PublishErrorKind::WrongLastSequence => {
                self.read_server_position(link, subject, session, progress).await
            }
            Err(error) => Err(failed(error)),
        }
    }

    fn message_id(&self, session: &Session, batch: &Batch) -> String {
        let generation = if batch.generation == 0 { String::new() } else { format!(":{}", batch.generation) };
        format!("{}:{}:{}:{}{generation}", self.keyring.team(), self.machine.id, session.id(), batch.offset)
    }

    /// The destination under which the events of a session are signed.
    fn events_key(&self, session: &Session) -> String {
        state_key(&self.machine.id, session.id().as_str())
    }

    /// Reads the last published position from the server. If the server has dropped it, the local one is kept.
    async fn read_server_position(
        &self,
        link: &Link,
        subject: &str,
        session: &Session,
        progress: &mut SessionProgress,
    ) -> Result<()> {
        match link.events.get_last_raw_message_by_subject(subject).await {
            Ok(last) => {
                progress.sequence = Some(last.sequence);
                // A message that cannot be verified has no position, but its sequence counts.
                let opened =
                    self.keyring.open::<Batch>(Kind::Events, &self.events_key(session), &last.payload);
                if let Ok(VerifiedMessage { body: batch, .. }) = opened {
                    progress.position = progress
                        .position
                        .max(TimelinePosition { generation: batch.generation, end: batch.end });
                }
                Ok(())
            }
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => {
                progress.sequence = Some(0);
                Ok(())
            }
            Err(error) => Err(FleetError::server("read the end of the timeline", error)),
        }
    }
}
