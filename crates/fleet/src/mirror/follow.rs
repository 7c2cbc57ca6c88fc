//! Follows what the server says and makes the files say the same.

use std::collections::HashSet;
use std::convert::Infallible;
use std::pin::pin;
use std::time::Duration;

use async_nats::jetstream::Message;
use futures_util::{Stream, StreamExt as _};
use overtone_store::{Session, SessionId};
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::known::Shown;
use super::listen::{self, Dirty, News, there};
use super::notes::{Notes, Place};
use super::timeline::{self, Fit, SILENCE};
use super::{Keeper, copy, lock};
use crate::error::{FleetError, Result};
use crate::link::Link;
use crate::message::{Batch, Foreign, SessionState};
use crate::names::state_key;
use crate::picture::{open_batch, open_state_of};

/// How often it is looked whether everything is still the same on the server.
const CHECK_EVERY: Duration = Duration::from_secs(5);
/// How often it is looked which sessions the server has forgotten: it does not say so.
const SWEEP_EVERY: Duration = Duration::from_mins(10);

impl Keeper {
    pub(super) async fn follow(&self, link: &Link, notes: &mut Notes) -> Result<Infallible> {
        let made = made(link).await?;
        notes.belong_to(&link.events_made_at(), link.events.cached_info().state.last_sequence);
        let mut dirty = Dirty::default();
        let (known, mut news) = News::open(link, &mut dirty).await?;
        *lock(&self.shared.known) = known;
        self.remove_strangers(notes)?;
        self.settle(link, notes, &mut dirty).await?;
        let mut events = listen::events(link, notes.sequence()).await?;
        self.shared.update(|status| {
            status.is_connected = true;
            status.problem = None;
        });
        let mut check = interval(CHECK_EVERY);
        let mut sweep = interval(SWEEP_EVERY);
        check.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                heard = news.next() => {
                    let heard = heard?;
                    if heard.is_of_team() {
                        self.meet_team(link).await?;
                    }
                    heard.take_in(&link.keyring, &mut lock(&self.shared.known), &mut dirty);
                }
                message = events.next() => self.hear_event(link, notes, &there(message)?)?,
                _ = check.tick() => is_same(&made, &self::made(link).await?)?,
                _ = sweep.tick() => self.sweep(link, &mut dirty).await?,
            }
            self.settle(link, notes, &mut dirty).await?;
            notes.save_if_due()?;
        }
    }

    /// Whoever has joined or left changes what counts of all that was heard before, so all is read again.
    async fn meet_team(&self, link: &Link) -> Result<()> {
        let before = link.keyring.members();
        link.sync_team().await?;
        if link.keyring.members() == before {
            return Ok(());
        }
        Err(FleetError::server("follow the fleet", "the team has changed"))
    }

    /// What the server does not know is no longer shown.
    fn remove_strangers(&self, notes: &mut Notes) -> Result<()> {
        let known: HashSet<_> = lock(&self.shared.known).sessions().into_iter().collect();
        for session in self.home.sessions().unwrap_or_default() {
            if !known.contains(session.id().as_str()) {
                remove(notes, &session)?;
            }
        }
        Ok(())
    }

    /// Shows what has changed.
    async fn settle(&self, link: &Link, notes: &mut Notes, dirty: &mut Dirty) -> Result<()> {
        for (session, heard) in std::mem::take(&mut dirty.0) {
            let Some(id) = SessionId::parse(&session) else { continue };
            let shown = lock(&self.shared.known).shown(&session);
            match shown {
                Shown::Nothing => remove(notes, &self.home.session(&id))?,
                Shown::AsItWas => {}
                Shown::Of(machine) => {
                    let state = heard.into_iter().find(|state| state.machine == machine);
                    let state = match state {
                        Some(state) => Some(state),
                        None => fetch_state(link, &machine, &session).await?,
                    };
                    if let Some(state) = state {
                        self.show(link, notes, &id, &state).await?;
                    }
                }
            }
        }
        Ok(())
    }

    async fn show(&self, link: &Link, notes: &mut Notes, id: &SessionId, state: &SessionState) -> Result<()> {
        let session = self.home.session(id);
        copy::put_state(&session, state)?;
        copy::fetch_handoffs(link, &session, state).await?;
        let length = session.timeline_file().symlink_metadata().map_or(0, |about| about.len());
        let is_whole = |place: &Place| place.machine == state.machine && place.bytes <= length;
        if !notes.place(id).is_some_and(is_whole) {
            self.begin_timeline(link, notes, &session, &state.machine).await?;
        }
        Ok(())
    }

    /// The timeline of this machine takes the place of whatever is here. While nothing was heard yet, all is to come.
    async fn begin_timeline(
        &self,
        link: &Link,
        notes: &mut Notes,
        session: &Session,
        machine: &str,
    ) -> Result<()> {
        let (place, events) = if notes.sequence() == 0 {
            timeline::remove(&session.timeline_file())?;
            (Place { machine: machine.to_owned(), ..Place::default() }, 0)
        } else {
            timeline::fetch(link, session, machine).await?
        };
        self.shared.update(|status| status.events += events);
        notes.set(session.id(), place);
        Ok(())
    }

    fn hear_event(&self, link: &Link, notes: &mut Notes, message: &Message) -> Result<()> {
        let failed = |error: &dyn std::fmt::Display| FleetError::server("listen to events", error);
        let sequence = message.info().map_err(|error| failed(&error))?.stream_sequence;
        let origin = link.names.origin_of(&message.subject);
        match origin {
            Some((machine, session)) => match open_batch(link, &machine, &session, &message.payload) {
                Ok(batch) => self.take_in(notes, &machine, &session, &batch)?,
                Err(foreign) => self.count_foreign(&foreign),
            },
            None => self.count_foreign(&Foreign::Malformed(message.subject.to_string())),
        }
        notes.set_sequence(sequence);
        Ok(())
    }

    fn count_foreign(&self, foreign: &Foreign) {
        self.shared.update(|status| {
            status.foreign += 1;
            if let Foreign::Later(version) = foreign {
                status.later = status.later.max(Some(*version));
            }
        });
    }

    /// Lines of a machine that the session does not belong to are passed over: should it be theirs one day, they are
    /// fetched.
    fn take_in(&self, notes: &mut Notes, machine: &str, session: &str, batch: &Batch) -> Result<()> {
        let Some(id) = SessionId::parse(session) else {
            self.count_foreign(&Foreign::Malformed(session.to_owned()));
            return Ok(());
        };
        let Some(place) = notes.place(&id).filter(|place| place.machine == machine) else { return Ok(()) };
        let fit = timeline::fit(place, batch);
        let session = self.home.session(&id);
        match fit {
            Fit::Known => {}
            Fit::Strange => self.count_foreign(&Foreign::Malformed("lines that are here in part".to_owned())),
            // Somebody has removed it. It comes back with its next state.
            _ if !session.exists() => notes.forget(&id),
            Fit::Next | Fit::Anew => {
                let place = timeline::write(&session, place, batch, fit == Fit::Anew)?;
                notes.set(&id, place);
                self.shared.update(|status| status.events += batch.lines.len() as u64);
            }
        }
        Ok(())
    }

    /// States that the server has forgotten because of their age.
    async fn sweep(&self, link: &Link, dirty: &mut Dirty) -> Result<()> {
        let failed = |error: &dyn std::fmt::Display| FleetError::server("list the sessions", error);
        let keys = link.sessions.keys().await.map_err(|error| failed(&error))?;
        let keys = collect_within(keys, SILENCE).await?;
        let there = keys.iter().filter_map(|key| listen::origin_of(key)).collect();
        let mut known = lock(&self.shared.known);
        for (machine, session) in known.states_without(&there) {
            known.drop_state(&machine, &session);
            dirty.0.entry(session).or_default();
        }
        Ok(())
    }
}

/// Everything that a list has. A server that dies while it lists does not end the list, and the client waits for it to
/// come back, so the list is given up when nothing is heard for a while.
async fn collect_within<T, E: std::fmt::Display>(
    list: impl Stream<Item = std::result::Result<T, E>>,
    silence: Duration,
) -> Result<Vec<T>> {
    let failed = |error: &dyn std::fmt::Display| FleetError::server("list the sessions", error);
    let mut list = pin!(list);
    let mut all = Vec::new();
    while let Some(next) = timeout(silence, list.next()).await.map_err(|error| failed(&error))? {
        all.push(next.map_err(|error| failed(&error))?);
    }
    Ok(all)
}

fn remove(notes: &mut Notes, session: &Session) -> Result<()> {
    notes.forget(session.id());
    Ok(copy::remove(session)?)
}

async fn fetch_state(link: &Link, machine: &str, session: &str) -> Result<Option<SessionState>> {
    let key = state_key(machine, session);
    let value = link.sessions.get(&key).await;
    let value = value.map_err(|error| FleetError::server("fetch a session", error))?;
    // One that cannot be understood was counted when it was heard of.
    Ok(value.and_then(|bytes| open_state_of(&link.keyring, &key, &bytes).ok()).map(|(state, _)| state))
}

/// When everything that is listened to was made: what is deleted and made again has another time.
async fn made(link: &Link) -> Result<Vec<String>> {
    let failed = |error: &dyn std::fmt::Display| FleetError::server("look at the streams", error);
    let events = link.events.get_info().await.map_err(|error| failed(&error))?;
    let mut all = vec![format!("{:?}", events.created)];
    for store in [&link.claims, &link.machines, &link.pulse, &link.sessions] {
        // The bucket's own status is that of when it was opened.
        let info = store.stream.get_info().await.map_err(|error| failed(&error))?;
        all.push(format!("{:?}", info.created));
    }
    Ok(all)
}

fn is_same(before: &[String], now: &[String]) -> Result<()> {
    if before == now {
        return Ok(());
    }
    Err(FleetError::server("follow the fleet", "its streams were made anew"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::stream;

    #[tokio::test]
    async fn a_list_that_never_ends_is_given_up() {
        let begun = stream::iter([Ok::<_, String>("a"), Ok("b")]);
        let whole = collect_within(begun.clone(), SILENCE).await.unwrap();
        assert_eq!(whole, ["a", "b"]);
        // Nothing more ever comes, so any limit will do.
        let cut_off = collect_within(begun.chain(stream::pending()), Duration::from_millis(1)).await;
        assert!(cut_off.is_err());
    }
}
