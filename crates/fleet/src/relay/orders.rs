//! Executes the orders of the team's machines. An order may be delivered several times, but is executed once, and every
//! order is answered. Messages that are not valid orders are recorded and skipped, so that they do not block later ones.

use std::convert::Infallible;
use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, pull};
use async_nats::jetstream::message::PublishMessage;
use futures_util::StreamExt as _;
use overtone_core::messages::fleet as words;
use overtone_store::{Session, clock};

use super::Worker;
use super::ledger::OrderStatus;
use super::refused::{RefusalReason, record_refused};
use crate::claims::{self, StoredClaim};
use crate::error::{FleetError, Result};
use crate::link::Link;
use crate::local::is_in_timeline;
use crate::message::{Answer, Claim, Handover, MessageError, Order, OrderCommand, is_order_id};
use crate::names::{encode_token, session_claim_key};
use crate::trust::{Kind, Member, VerifiedMessage};

/// The server delivers an order again if it is not acknowledged within this time.
const ACK_TIMEOUT: Duration = Duration::from_secs(30);

/// Longer user names are truncated in timelines.
const MAX_USER_CHARS: usize = 32;

/// The hand-over of an executed order, or the reason for refusing it.
type ExecutionResult = std::result::Result<Option<Handover>, String>;

impl Worker<'_> {
    pub(super) async fn process_orders(&self, link: &Link) -> Result<Infallible> {
        let failed = |error: &dyn std::fmt::Display| FleetError::server("listen to orders", error);
        let name = format!("relay-{}", encode_token(&self.machine.id));
        let config = pull::Config {
            durable_name: Some(name.clone()),
            filter_subject: link.names.orders_subject(&self.machine.id),
            ack_policy: AckPolicy::Explicit,
            ack_wait: ACK_TIMEOUT,
            // One at a time, so that orders are executed in sequence.
            max_ack_pending: 1,
            ..pull::Config::default()
        };
        let consumer =
            link.orders.get_or_create_consumer(&name, config).await.map_err(|error| failed(&error))?;
        let mut orders = consumer.messages().await.map_err(|error| failed(&error))?;
        while let Some(message) = orders.next().await {
            let message = message.map_err(|error| failed(&error))?;
            self.process_order(link, &message.payload).await?;
            message.ack().await.map_err(|error| failed(&error))?;
        }
        Err(failed(&"the server closed the stream"))
    }

    async fn process_order(&self, link: &Link, payload: &[u8]) -> Result<()> {
        let order = match self.open_order(link, payload).await? {
            Ok(order) => order,
            Err(error) => return self.record_refused(RefusalReason::from(&error), None, payload),
        };
        let VerifiedMessage { from, id, at, .. } = &order;
        if !is_order_id(id) {
            return self.record_refused(RefusalReason::BadId, Some(from), payload);
        }
        let answer = match self.ledger.begin(id, *at, clock::now().0)? {
            OrderStatus::Done(answer) => answer,
            OrderStatus::OutOfTime { minutes } => {
                self.record_refused(RefusalReason::OutOfTime, Some(from), payload)?;
                refusal(words::order_out_of_time(self.setup.lang, minutes))
            }
            OrderStatus::GivenUp => {
                self.record_refused(RefusalReason::GivenUp, Some(from), payload)?;
                refusal(words::order_given_up(self.setup.lang))
            }
            OrderStatus::Pending { attempts } => {
                let answer = match self.execute(link, &order, attempts > 0).await? {
                    Ok(handover) => Answer { ok: true, reason: None, handover },
                    Err(reason) => refusal(reason),
                };
                self.ledger.finish(id, &answer)?;
                answer
            }
        };
        self.answer(link, from, id, &answer).await
    }

    /// Verifies an order. If the sender is unknown, the team is read again, because it may just have joined.
    async fn open_order(
        &self,
        link: &Link,
        payload: &[u8],
    ) -> Result<std::result::Result<VerifiedMessage<Order>, MessageError>> {
        let open = || self.keyring.open::<Order>(Kind::Order, &self.machine.id, payload);
        match open() {
            Err(MessageError::Unknown { .. }) => {
                link.sync_team().await?;
                Ok(open())
            }
            opened => Ok(opened),
        }
    }

    fn record_refused(&self, reason: RefusalReason, from: Option<&Member>, payload: &[u8]) -> Result<()> {
        eprintln!("[overtone/fleet] an order was refused: {reason:?}\nhint: overtone fleet status");
        Ok(record_refused(&self.setup.home, reason, from.map(|from| from.name.as_str()), payload)?)
    }

    async fn execute(
        &self,
        link: &Link,
        order: &VerifiedMessage<Order>,
        is_retry: bool,
    ) -> Result<ExecutionResult> {
        let VerifiedMessage { body: Order { session, command, user }, from, id, .. } = order;
        if *command == OrderCommand::Ping {
            return Ok(Ok(None));
        }
        let Some(session) = self.session(session) else {
            return Ok(Err(words::no_such_session(self.setup.lang)));
        };
        panic_in_tests(&session);
        let key = session_claim_key(session.id().as_str());
        let Some(stored) = claims::find_claim(link, &key).await? else {
            return Ok(Err(words::no_such_session(self.setup.lang)));
        };
        if *command == OrderCommand::HandOver {
            return self.hand_over(link, &session, &stored, from).await;
        }
        if stored.claim.machine != self.machine.id {
            return Ok(Err(words::not_its_owner(self.setup.lang, &stored.claim.name)));
        }
        if is_retry && is_in_timeline(&session, id) {
            return Ok(Ok(None));
        }
        let by = format!("fleet {id} {}@{}", sanitize_user_name(user), from.name);
        Ok(self.controller().apply(&session, command, &by).map(|()| None))
    }

    /// Stops the session here, publishes the rest of it, and then transfers the claim. If this is interrupted, the
    /// order is delivered again.
    async fn hand_over(
        &self,
        link: &Link,
        session: &Session,
        stored: &StoredClaim,
        to: &Member,
    ) -> Result<ExecutionResult> {
        if stored.claim.machine == to.id {
            return Ok(Ok(None));
        }
        if stored.claim.machine != self.machine.id {
            return Ok(Err(words::not_its_owner(self.setup.lang, &stored.claim.name)));
        }
        if let Err(problem) = self.controller().hand_over(session, &to.name) {
            return Ok(Err(problem));
        }
        let handover = self.publish_remaining(link, session).await?;
        let theirs = Claim {
            machine: to.id.clone(),
            name: to.name.clone(),
            taken_from: Some(self.machine.id.clone()),
            epoch: stored.claim.next_epoch(0),
            ..Claim::new(&self.machine(), None)
        };
        let key = session_claim_key(session.id().as_str());
        if !claims::replace_claim(link, &key, &theirs, stored.revision).await? {
            return Ok(Err(words::not_its_owner(self.setup.lang, "")));
        }
        self.ledger.set_claim(&key, &theirs);
        Ok(Ok(Some(handover)))
    }

    /// Publishes all remaining events and the final state.
    async fn publish_remaining(&self, link: &Link, session: &Session) -> Result<Handover> {
        let mut progress = self.progress.take(session.id()).unwrap_or_default();
        let published = async {
            while self.publish_events(link, session, &mut progress).await? {}
            progress.state.at = None;
            while self.publish_state(link, session, &mut progress).await? {}
            Ok(())
        };
        let published = published.await;
        let handover = Handover {
            at: progress.state.sealed_at,
            generation: progress.position.generation,
            end: progress.position.end,
        };
        self.progress.put(session.id().clone(), progress);
        // The next sync finds out who owns it, also if another one is still at work.
        self.progress.recheck_owner(session.id());
        published.map(|()| handover)
    }

    async fn answer(&self, link: &Link, to: &Member, order: &str, answer: &Answer) -> Result<()> {
        let payload = self.keyring.seal(Kind::Answer, &to.id, order, answer);
        let message = PublishMessage::build().payload(payload).message_id(format!("answer:{order}"));
        let failed = |error| FleetError::server("answer an order", error);
        let sent =
            link.context.send_publish(link.names.answer_subject(order), message).await.map_err(failed)?;
        sent.await.map(|_| ()).map_err(failed)
    }
}

const fn refusal(reason: String) -> Answer {
    Answer { ok: false, reason: Some(reason), handover: None }
}

/// Reduces a user name to letters, digits and `-_.`. It appears in timelines, and is not verified.
fn sanitize_user_name(user: &str) -> String {
    let is_plain = |c: &char| c.is_alphanumeric() || "-_.".contains(*c);
    let user: String = user.chars().filter(is_plain).take(MAX_USER_CHARS).collect();
    if user.is_empty() { "user".to_owned() } else { user }
}

/// Panics in tests that set the variable. They check that a panic costs one order and not the relay.
fn panic_in_tests(session: &Session) {
    let named = std::env::var("OVERTONE_TEST_PANIC_AT").unwrap_or_default();
    assert!(!cfg!(debug_assertions) || named != session.id().as_str(), "asked to by OVERTONE_TEST_PANIC_AT");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_name_is_reduced_to_one_word() {
        assert_eq!(sanitize_user_name("ann"), "ann");
        assert_eq!(sanitize_user_name("a@b c\n\u{202e}d"), "abcd");
        assert_eq!(sanitize_user_name("\n"), "user");
        assert_eq!(sanitize_user_name(&"x".repeat(100)).len(), 32);
    }
}
