//! Sends signed orders to another machine and waits for the answers.

use std::time::{Duration, Instant};

use async_nats::jetstream::message::PublishMessage;
use overtone_core::engine::text::printable;

use crate::claims::is_present;
use crate::error::{FleetError, Result};
use crate::link::Link;
use crate::machine::random_hex;
use crate::message::{Answer, Handover, Order, OrderCommand};
use crate::trust::Kind;

/// How long to wait for an answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Longer reasons are truncated.
const MAX_REASON_CHARS: usize = 300;

/// The result of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OrderOutcome {
    Done,
    /// The machine refused it, with this reason.
    Refused(String),
    /// The machine is offline; nothing was sent.
    Gone,
    /// The machine did not answer, and the order was deleted before the machine received it.
    Withdrawn,
    /// The machine did not answer, but may still execute the order.
    Unknown,
}

/// Sends an order and waits for the answer. `user` is the name of the user on this machine.
pub async fn send_order(
    link: &Link,
    machine: &str,
    session: &str,
    command: OrderCommand,
    user: &str,
) -> Result<OrderOutcome> {
    send_order_with_timeout(link, machine, session, command, user, ANSWER_TIMEOUT).await
}

pub async fn send_order_with_timeout(
    link: &Link,
    machine: &str,
    session: &str,
    command: OrderCommand,
    user: &str,
    timeout: Duration,
) -> Result<OrderOutcome> {
    let order = Order { session: session.to_owned(), command, user: user.to_owned() };
    send_and_wait(link, machine, &order, timeout).await.map(|(reply, _)| reply)
}

/// Asks a machine to hand a session over. The second value is the state that it handed over.
pub(crate) async fn request_handover(
    link: &Link,
    machine: &str,
    session: &str,
    user: &str,
) -> Result<(OrderOutcome, Option<Handover>)> {
    let order = Order { session: session.to_owned(), command: OrderCommand::HandOver, user: user.to_owned() };
    send_and_wait(link, machine, &order, ANSWER_TIMEOUT).await
}

async fn send_and_wait(
    link: &Link,
    machine: &str,
    order: &Order,
    timeout: Duration,
) -> Result<(OrderOutcome, Option<Handover>)> {
    if !is_present(link, machine).await? {
        return Ok((OrderOutcome::Gone, None));
    }
    let pending = PendingOrder { link, machine, id: random_hex(16)? };
    let payload = link.keyring.seal_order(machine, &pending.id, order);
    let message = PublishMessage::build().payload(payload).message_id(&pending.id);
    let failed = |error| FleetError::server("send the order", error);
    let ack = link.context.send_publish(link.names.orders_subject(machine), message).await.map_err(failed)?;
    let sequence = ack.await.map_err(failed)?.sequence;
    Ok(match pending.wait_for_answer(timeout).await {
        Some(answer) => outcome_of(answer),
        None => pending.withdraw(sequence).await,
    })
}

pub(crate) fn outcome_of(answer: Answer) -> (OrderOutcome, Option<Handover>) {
    if answer.ok {
        return (OrderOutcome::Done, answer.handover);
    }
    let reason = answer.reason.unwrap_or_default();
    (OrderOutcome::Refused(printable(&reason).chars().take(MAX_REASON_CHARS).collect()), None)
}

/// An order that was sent and has no answer yet.
struct PendingOrder<'a> {
    link: &'a Link,
    machine: &'a str,
    id: String,
}

impl PendingOrder<'_> {
    /// Waits for the answer. Only an answer signed by the receiving machine for this order counts.
    async fn wait_for_answer(&self, timeout: Duration) -> Option<Answer> {
        let subject = self.link.names.answer_subject(&self.id);
        let own = self.link.keyring.machine().id;
        let started = Instant::now();
        loop {
            if let Ok(message) = self.link.orders.get_last_raw_message_by_subject(&subject).await
                && let Ok(opened) = self.link.keyring.open::<Answer>(Kind::Answer, &own, &message.payload)
                && opened.from.id == self.machine
                && opened.id == self.id
            {
                return Some(opened.body);
            }
            if started.elapsed() >= timeout {
                return None;
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Deletes an unanswered order, so that it is not executed much later. The machine may have received it meanwhile.
    async fn withdraw(&self, sequence: u64) -> (OrderOutcome, Option<Handover>) {
        let is_deleted = self.link.orders.delete_message(sequence).await.unwrap_or(false);
        match self.wait_for_answer(Duration::ZERO).await {
            Some(answer) => outcome_of(answer),
            None if is_deleted => (OrderOutcome::Withdrawn, None),
            None => (OrderOutcome::Unknown, None),
        }
    }
}
