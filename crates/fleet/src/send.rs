//! Orders to another machine: signed, sent, and answered or not.

use std::time::{Duration, Instant};

use async_nats::jetstream::message::PublishMessage;
use overtone_engine::text::printable;

use crate::claims::is_present;
use crate::error::{FleetError, Result};
use crate::link::Link;
use crate::machine::random_hex;
use crate::message::{Answer, Deed, Handed, Order};
use crate::trust::Kind;

/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(20);
const ASK_EVERY: Duration = Duration::from_millis(50);

/// How much of a reason is shown, in characters.
const REASON_LENGTH: usize = 300;

/// What has become of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    Done,
    /// The machine says why not.
    Refused(String),
    /// The machine is gone; nothing was sent.
    Gone,
    /// The machine has not answered; the order was taken back before it took it.
    Withdrawn,
    /// It has not answered, and may still do it.
    Unknown,
}

/// Gives an order and waits for the answer. `user` is who gives it on this machine.
pub async fn send(link: &Link, machine: &str, session: &str, deed: Deed, user: &str) -> Result<Reply> {
    send_within(link, machine, session, deed, user, PATIENCE).await
}

pub async fn send_within(
    link: &Link,
    machine: &str,
    session: &str,
    deed: Deed,
    user: &str,
    patience: Duration,
) -> Result<Reply> {
    let order = Order { session: session.to_owned(), deed, user: user.to_owned() };
    give(link, machine, &order, patience).await.map(|(reply, _)| reply)
}

/// Asks a machine to hand a session over, and returns what it says it has handed over.
pub(crate) async fn ask_for(
    link: &Link,
    machine: &str,
    session: &str,
    user: &str,
) -> Result<(Reply, Option<Handed>)> {
    let order = Order { session: session.to_owned(), deed: Deed::HandOver, user: user.to_owned() };
    give(link, machine, &order, PATIENCE).await
}

async fn give(
    link: &Link,
    machine: &str,
    order: &Order,
    patience: Duration,
) -> Result<(Reply, Option<Handed>)> {
    if !is_present(link, machine).await? {
        return Ok((Reply::Gone, None));
    }
    let sent = Sent { link, machine, id: random_hex(16)? };
    let payload = link.keyring.seal_order(machine, &sent.id, order);
    let message = PublishMessage::build().payload(payload).message_id(&sent.id);
    let failed = |error| FleetError::server("give the order", error);
    let ack = link.context.send_publish(link.names.orders_for(machine), message).await.map_err(failed)?;
    let sequence = ack.await.map_err(failed)?.sequence;
    Ok(match sent.answer(patience).await {
        Some(answer) => read(answer),
        None => sent.withdraw(sequence).await,
    })
}

fn read(answer: Answer) -> (Reply, Option<Handed>) {
    if answer.ok {
        return (Reply::Done, answer.handed);
    }
    let reason = answer.reason.unwrap_or_default();
    (Reply::Refused(printable(&reason).chars().take(REASON_LENGTH).collect()), None)
}

/// An order that is under way.
struct Sent<'a> {
    link: &'a Link,
    machine: &'a str,
    id: String,
}

impl Sent<'_> {
    /// What the machine says. What anybody else says in its place does not count.
    async fn answer(&self, patience: Duration) -> Option<Answer> {
        let subject = self.link.names.answer_to(&self.id);
        let own = self.link.keyring.machine().id;
        let begun = Instant::now();
        loop {
            if let Ok(message) = self.link.orders.get_last_raw_message_by_subject(&subject).await
                && let Ok(opened) = self.link.keyring.open::<Answer>(Kind::Answer, &own, &message.payload)
                && opened.from.id == self.machine
                && opened.id == self.id
            {
                return Some(opened.body);
            }
            if begun.elapsed() >= patience {
                return None;
            }
            tokio::time::sleep(ASK_EVERY).await;
        }
    }

    /// So that it does not surprise anybody tomorrow. It may have been taken a moment ago.
    async fn withdraw(&self, sequence: u64) -> (Reply, Option<Handed>) {
        let is_taken_back = self.link.orders.delete_message(sequence).await.unwrap_or(false);
        match self.answer(Duration::ZERO).await {
            Some(answer) => read(answer),
            None if is_taken_back => (Reply::Withdrawn, None),
            None => (Reply::Unknown, None),
        }
    }
}
