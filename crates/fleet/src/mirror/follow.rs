//! Follows the changes on the server and applies them to the mirror's files.

use std::collections::HashSet;
use std::convert::Infallible;
use std::pin::pin;
use std::time::Duration;

use async_nats::jetstream::Message;
use futures_util::{Stream, StreamExt as _};
use overtone_store::{Session, SessionId};
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::fleet_state::SessionSource;
use super::listen::{self, BucketWatcher, PendingSessions, next_or_error};
use super::progress::{MirrorPosition, MirrorProgress};
use super::timeline::{self, BatchFit, READ_TIMEOUT};
use super::{MirrorWorker, copy, lock};
use crate::error::{FleetError, Result};
use crate::lines::file_length;
use crate::link::Link;
use crate::message::{Batch, MessageError, SessionState};
use crate::names::state_key;
use crate::snapshot::{open_batch, open_state_with_time};

/// How often to check whether streams were deleted and created again.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);
/// How often to look for sessions that have expired on the server. It sends no notification for them.
const EXPIRY_CHECK_INTERVAL: Duration = Duration::from_mins(10);

impl MirrorWorker {
    /// Reads the current state and follows changes until an error occurs.
    pub(super) async fn follow(&self, link: &Link, progress: &mut MirrorProgress) -> Result<Infallible> {
        let created = creation_times(link).await?;
        progress.reset_for_stream(&link.events_created_at(), link.events.cached_info().state.last_sequence);
        let mut pending = PendingSessions::default();
        let (fleet, mut watcher) = BucketWatcher::open(link, &mut pending).await?;
        *lock(&self.shared.fleet) = fleet;
        self.remove_unknown_sessions(progress)?;
        self.write_pending(link, progress, &mut pending).await?;
        let mut events = listen::events(link, progress.sequence()).await?;
        self.shared.update(|status| {
            status.is_connected = true;
            status.problem = None;
        });
        let mut check = interval(CHECK_INTERVAL);
        let mut expiry_check = interval(EXPIRY_CHECK_INTERVAL);
        check.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                change = watcher.next() => {
                    let change = change?;
                    if change.is_of_team() {
                        self.refresh_team(link).await?;
                    }
                    change.apply(&link.keyring, &mut lock(&self.shared.fleet), &mut pending);
                }
                message = events.next() => self.handle_event(link, progress, &next_or_error(message)?)?,
                _ = check.tick() => check_not_recreated(&created, &creation_times(link).await?)?,
                _ = expiry_check.tick() => self.drop_expired_sessions(link, &mut pending).await?,
            }
            self.write_pending(link, progress, &mut pending).await?;
            progress.save_if_due()?;
        }
    }

    /// Fails if the members of the team have changed. Then other messages are valid, and everything is read again.
    async fn refresh_team(&self, link: &Link) -> Result<()> {
        let before = link.keyring.members();
        link.sync_team().await?;
        if link.keyring.members() == before {
            return Ok(());
        }
        Err(FleetError::server("follow the fleet", "the team has changed"))
    }

    /// Removes the sessions that are not on the server.
    fn remove_unknown_sessions(&self, progress: &mut MirrorProgress) -> Result<()> {
        let known: HashSet<_> = lock(&self.shared.fleet).sessions().into_iter().collect();
        for session in self.home.sessions().unwrap_or_default() {
            if !known.contains(session.id().as_str()) {
                remove(progress, &session)?;
            }
        }
        Ok(())
    }

    /// Writes all sessions that have changed.
    async fn write_pending(
        &self,
        link: &Link,
        progress: &mut MirrorProgress,
        pending: &mut PendingSessions,
    ) -> Result<()> {
        for (session, received) in std::mem::take(&mut pending.0) {
            let Some(id) = SessionId::parse(&session) else { continue };
            let source = lock(&self.shared.fleet).source_of(&session);
            match source {
                SessionSource::Removed => remove(progress, &self.home.session(&id))?,
                SessionSource::Unchanged => {}
                SessionSource::Machine(machine) => {
                    let state = match received.into_iter().find(|state| state.machine == machine) {
                        Some(state) => Some(state),
                        None => fetch_state(link, &machine, &session).await?,
                    };
                    if let Some(state) = state {
                        self.write_session(link, progress, &id, &state).await?;
                    }
                }
            }
        }
        Ok(())
    }

    async fn write_session(
        &self,
        link: &Link,
        progress: &mut MirrorProgress,
        id: &SessionId,
        state: &SessionState,
    ) -> Result<()> {
        let session = self.home.session(id);
        copy::put_state(&session, state)?;
        copy::fetch_handoffs(link, &session, state).await?;
        let length = file_length(&session.timeline_file());
        let is_complete = match progress.position(id) {
            Some(position) => position.machine == state.machine && position.bytes <= length,
            None => false,
        };
        if !is_complete {
            self.reset_timeline(link, progress, &session, &state.machine).await?;
        }
        Ok(())
    }

    /// Replaces the timeline by the one of this machine. Before the first event was received, it only has to be removed,
    /// because all events are still to come.
    async fn reset_timeline(
        &self,
        link: &Link,
        progress: &mut MirrorProgress,
        session: &Session,
        machine: &str,
    ) -> Result<()> {
        let (position, events) = if progress.sequence() == 0 {
            timeline::remove(&session.timeline_file())?;
            (MirrorPosition { machine: machine.to_owned(), ..MirrorPosition::default() }, 0)
        } else {
            timeline::fetch(link, session, machine).await?
        };
        self.shared.update(|status| status.events += events);
        progress.set(session.id(), position);
        Ok(())
    }

    fn handle_event(&self, link: &Link, progress: &mut MirrorProgress, message: &Message) -> Result<()> {
        let failed = |error: &dyn std::fmt::Display| FleetError::server("listen to events", error);
        let sequence = message.info().map_err(|error| failed(&error))?.stream_sequence;
        match link.names.parse_events_subject(&message.subject) {
            Some((machine, session)) => match open_batch(link, &machine, &session, &message.payload) {
                Ok(batch) => self.apply_batch(progress, &machine, &session, &batch)?,
                Err(error) => self.count_unreadable(&error),
            },
            None => self.count_unreadable(&MessageError::Malformed(message.subject.to_string())),
        }
        progress.set_sequence(sequence);
        Ok(())
    }

    fn count_unreadable(&self, error: &MessageError) {
        self.shared.update(|status| {
            status.unreadable += 1;
            if let MessageError::Later(version) = error {
                status.newer_version = status.newer_version.max(Some(*version));
            }
        });
    }

    /// Appends lines to a timeline. Lines of a machine that does not own the session are skipped; if it becomes the
    /// owner, the timeline is fetched.
    fn apply_batch(
        &self,
        progress: &mut MirrorProgress,
        machine: &str,
        session: &str,
        batch: &Batch,
    ) -> Result<()> {
        let Some(id) = SessionId::parse(session) else {
            self.count_unreadable(&MessageError::Malformed(session.to_owned()));
            return Ok(());
        };
        let Some(position) = progress.position(&id) else { return Ok(()) };
        if position.machine != machine {
            return Ok(());
        }
        let fit = timeline::classify(position, batch);
        let session = self.home.session(&id);
        match fit {
            BatchFit::Duplicate => {}
            BatchFit::Overlap => {
                self.count_unreadable(&MessageError::Malformed("lines that are here in part".to_owned()));
            }
            // The folder was removed. It is written again with the next state.
            _ if !session.exists() => progress.forget(&id),
            BatchFit::Next | BatchFit::Restart => {
                let position = timeline::write(&session, position, batch, fit == BatchFit::Restart)?;
                progress.set(&id, position);
                self.shared.update(|status| status.events += batch.lines.len() as u64);
            }
        }
        Ok(())
    }

    /// Drops the states that have expired on the server.
    async fn drop_expired_sessions(&self, link: &Link, pending: &mut PendingSessions) -> Result<()> {
        let failed = |error: &dyn std::fmt::Display| FleetError::server("list the sessions", error);
        let keys = link.sessions.keys().await.map_err(|error| failed(&error))?;
        let keys = collect_with_timeout(keys, READ_TIMEOUT).await?;
        let on_server = keys.iter().filter_map(|key| listen::parse_state_key(key)).collect();
        let mut fleet = lock(&self.shared.fleet);
        for (machine, session) in fleet.states_missing_from(&on_server) {
            fleet.drop_state(&machine, &session);
            pending.0.entry(session).or_default();
        }
        Ok(())
    }
}

/// All items of a list. If the server dies meanwhile, the client would wait forever, so this fails if no item arrives
/// within the timeout.
async fn collect_with_timeout<T, E: std::fmt::Display>(
    list: impl Stream<Item = std::result::Result<T, E>>,
    idle_timeout: Duration,
) -> Result<Vec<T>> {
    let failed = |error: &dyn std::fmt::Display| FleetError::server("list the sessions", error);
    let mut list = pin!(list);
    let mut all = Vec::new();
    while let Some(next) = timeout(idle_timeout, list.next()).await.map_err(|error| failed(&error))? {
        all.push(next.map_err(|error| failed(&error))?);
    }
    Ok(all)
}

fn remove(progress: &mut MirrorProgress, session: &Session) -> Result<()> {
    progress.forget(session.id());
    Ok(copy::remove(session)?)
}

async fn fetch_state(link: &Link, machine: &str, session: &str) -> Result<Option<SessionState>> {
    let key = state_key(machine, session);
    let value = link.sessions.get(&key).await;
    let value = value.map_err(|error| FleetError::server("fetch a session", error))?;
    // Unreadable states were counted when their change was received.
    Ok(value.and_then(|bytes| open_state_with_time(&link.keyring, &key, &bytes).ok()).map(|(state, _)| state))
}

/// The creation times of all followed streams. A stream that is deleted and created again has another time.
async fn creation_times(link: &Link) -> Result<Vec<String>> {
    let failed = |error: &dyn std::fmt::Display| FleetError::server("read the streams", error);
    let events = link.events.get_info().await.map_err(|error| failed(&error))?;
    let mut all = vec![format!("{:?}", events.created)];
    for store in [&link.claims, &link.machines, &link.heartbeats, &link.sessions] {
        // The store's own status is cached since it was opened.
        let info = store.stream.get_info().await.map_err(|error| failed(&error))?;
        all.push(format!("{:?}", info.created));
    }
    Ok(all)
}

fn check_not_recreated(before: &[String], now: &[String]) -> Result<()> {
    if before == now {
        return Ok(());
    }
    Err(FleetError::server("follow the fleet", "its streams were deleted and created again"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::stream;

    #[tokio::test]
    async fn a_list_that_never_ends_times_out() {
        let begun = stream::iter([Ok::<_, String>("a"), Ok("b")]);
        let whole = collect_with_timeout(begun.clone(), READ_TIMEOUT).await.unwrap();
        assert_eq!(whole, ["a", "b"]);
        // No item ever arrives, so any timeout will do.
        let cut_off = collect_with_timeout(begun.chain(stream::pending()), Duration::from_millis(1)).await;
        assert!(cut_off.is_err());
    }
}
