//! Carries out what machines of the team order: each order at least once on the way, once in effect, and answered.
//! Whatever cannot be an order is put aside, so that the ones behind it have their turn.

use std::convert::Infallible;
use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, pull};
use async_nats::jetstream::message::PublishMessage;
use futures_util::StreamExt as _;
use overtone_messages::fleet as words;
use overtone_store::{Session, clock};

use super::Worker;
use super::record::Before;
use super::refused::{Reason, put_aside};
use crate::claims::{self, Standing};
use crate::error::{FleetError, Result};
use crate::link::Link;
use crate::local::is_traced;
use crate::message::{Answer, Claim, Deed, Foreign, Handed, Order, is_order_id};
use crate::names::{session_claim, token};
use crate::trust::{Kind, Member, Opened};

/// Whoever does not answer within this time has ended; the order comes again.
const PATIENCE: Duration = Duration::from_secs(30);

/// How much of the name of a user is written into timelines.
const USER_LENGTH: usize = 32;

/// What has become of an order: done, or why not.
type Outcome = std::result::Result<Option<Handed>, String>;

impl Worker<'_> {
    pub(super) async fn obey(&self, link: &Link) -> Result<Infallible> {
        let failed = |error: &dyn std::fmt::Display| FleetError::server("listen to orders", error);
        let name = format!("relay-{}", token(&self.machine.id));
        let config = pull::Config {
            durable_name: Some(name.clone()),
            filter_subject: link.names.orders_for(&self.machine.id),
            ack_policy: AckPolicy::Explicit,
            ack_wait: PATIENCE,
            // In the order in which they were given.
            max_ack_pending: 1,
            ..pull::Config::default()
        };
        let consumer =
            link.orders.get_or_create_consumer(&name, config).await.map_err(|error| failed(&error))?;
        let mut orders = consumer.messages().await.map_err(|error| failed(&error))?;
        while let Some(message) = orders.next().await {
            let message = message.map_err(|error| failed(&error))?;
            self.hear(link, &message.payload).await?;
            message.ack().await.map_err(|error| failed(&error))?;
        }
        Err(failed(&"the server has ended it"))
    }

    async fn hear(&self, link: &Link, payload: &[u8]) -> Result<()> {
        let order = match self.open_order(link, payload).await? {
            Ok(order) => order,
            Err(foreign) => return self.put_aside(Reason::from(&foreign), None, payload),
        };
        let Opened { from, id, at, .. } = &order;
        if !is_order_id(id) {
            return self.put_aside(Reason::BadId, Some(from), payload);
        }
        let answer = match self.record.begin(id, *at, clock::now().0)? {
            Before::Done(answer) => answer,
            Before::OutOfTime { minutes } => {
                self.put_aside(Reason::OutOfTime, Some(from), payload)?;
                refusal(words::order_out_of_time(self.setup.lang, minutes))
            }
            Before::GivenUp => {
                self.put_aside(Reason::GivenUp, Some(from), payload)?;
                refusal(words::order_given_up(self.setup.lang))
            }
            Before::Begin { attempts } => {
                let answer = match self.carry_out(link, &order, attempts > 0).await? {
                    Ok(handed) => Answer { ok: true, reason: None, handed },
                    Err(reason) => refusal(reason),
                };
                self.record.finish(id, &answer)?;
                answer
            }
        };
        self.answer(link, from, id, &answer).await
    }

    /// Reads an order for this machine. A sender that is unknown may have joined a moment ago.
    async fn open_order(
        &self,
        link: &Link,
        payload: &[u8],
    ) -> Result<std::result::Result<Opened<Order>, Foreign>> {
        let open = || self.keyring.open::<Order>(Kind::Order, &self.machine.id, payload);
        match open() {
            Err(Foreign::Unknown { .. }) => {
                link.sync_team().await?;
                Ok(open())
            }
            opened => Ok(opened),
        }
    }

    fn put_aside(&self, reason: Reason, from: Option<&Member>, payload: &[u8]) -> Result<()> {
        eprintln!("[overtone/fleet] an order was put aside: {reason:?}\nhint: overtone fleet status");
        Ok(put_aside(&self.setup.home, reason, from.map(|from| from.name.as_str()), payload)?)
    }

    async fn carry_out(&self, link: &Link, order: &Opened<Order>, is_again: bool) -> Result<Outcome> {
        let Opened { body: Order { session, deed, user }, from, id, .. } = order;
        if *deed == Deed::Ping {
            return Ok(Ok(None));
        }
        let Some(session) = self.session(session) else {
            return Ok(Err(words::no_such_session(self.setup.lang)));
        };
        panic_in_tests(&session);
        let key = session_claim(session.id().as_str());
        let Some(standing) = claims::look(link, &key).await? else {
            return Ok(Err(words::no_such_session(self.setup.lang)));
        };
        if *deed == Deed::HandOver {
            return self.hand_over(link, &session, &standing, from).await;
        }
        if standing.claim.machine != self.machine.id {
            return Ok(Err(words::not_its_owner(self.setup.lang, &standing.claim.name)));
        }
        if is_again && is_traced(&session, id) {
            return Ok(Ok(None));
        }
        let by = format!("fleet {id} {}@{}", plain_user(user), from.name);
        Ok(self.here().apply(&session, deed, &by).map(|()| None))
    }

    /// First it lets go, then everything is told, and only then it belongs to the machine that asks for it. If this
    /// ends half-way, the order comes again.
    async fn hand_over(
        &self,
        link: &Link,
        session: &Session,
        standing: &Standing,
        to: &Member,
    ) -> Result<Outcome> {
        if standing.claim.machine == to.id {
            return Ok(Ok(None));
        }
        if standing.claim.machine != self.machine.id {
            return Ok(Err(words::not_its_owner(self.setup.lang, &standing.claim.name)));
        }
        if let Err(problem) = self.here().step_aside(session, &to.name) {
            return Ok(Err(problem));
        }
        let handed = self.tell_everything(link, session).await?;
        let theirs = Claim {
            machine: to.id.clone(),
            name: to.name.clone(),
            taken_from: Some(self.machine.id.clone()),
            epoch: standing.claim.epoch + 1,
            ..Claim::by(&self.machine(), None)
        };
        let key = session_claim(session.id().as_str());
        if !claims::change(link, &key, &theirs, standing.revision).await? {
            return Ok(Err(words::not_its_owner(self.setup.lang, "")));
        }
        self.record.set_claim(&key, &theirs);
        Ok(Ok(Some(handed)))
    }

    /// To the last line, now.
    async fn tell_everything(&self, link: &Link, session: &Session) -> Result<Handed> {
        let mut track = self.tracks.take(session.id()).unwrap_or_default();
        let told = async {
            while self.tell_events(link, session, &mut track).await? {}
            track.state.at = None;
            while self.tell_state(link, session, &mut track).await? {}
            Ok(())
        };
        let told = told.await;
        // Whose it is afterwards is for the next visit to find out.
        track.is_ours = false;
        let handed =
            Handed { at: track.state.sealed_at, generation: track.place.generation, end: track.place.end };
        self.tracks.put(session.id().clone(), track);
        told.map(|()| handed)
    }

    async fn answer(&self, link: &Link, to: &Member, order: &str, answer: &Answer) -> Result<()> {
        let payload = self.keyring.seal(Kind::Answer, &to.id, order, answer);
        let message = PublishMessage::build().payload(payload).message_id(format!("answer:{order}"));
        let failed = |error| FleetError::server("answer an order", error);
        let sent = link.context.send_publish(link.names.answer_to(order), message).await.map_err(failed)?;
        sent.await.map(|_| ()).map_err(failed)
    }
}

const fn refusal(reason: String) -> Answer {
    Answer { ok: false, reason: Some(reason), handed: None }
}

/// The user's name as a word: it stands in timelines, and only the machine's name beside it is sure.
fn plain_user(user: &str) -> String {
    let is_plain = |c: &char| c.is_alphanumeric() || "-_.".contains(*c);
    let user: String = user.chars().filter(is_plain).take(USER_LENGTH).collect();
    if user.is_empty() { "user".to_owned() } else { user }
}

/// Stands for a fault that nobody knows of yet: tests see that it costs one order and not the relay.
fn panic_in_tests(session: &Session) {
    let named = std::env::var("OVERTONE_TEST_PANIC_AT").unwrap_or_default();
    assert!(!cfg!(debug_assertions) || named != session.id().as_str(), "asked to by OVERTONE_TEST_PANIC_AT");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_user_is_one_word() {
        assert_eq!(plain_user("ann"), "ann");
        assert_eq!(plain_user("a@b c\n\u{202e}d"), "abcd");
        assert_eq!(plain_user("\n"), "user");
        assert_eq!(plain_user(&"x".repeat(100)).len(), 32);
    }
}
