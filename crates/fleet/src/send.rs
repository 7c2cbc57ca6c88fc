//! Orders to another machine: sent, and answered or not.

use std::time::{Duration, Instant};

use async_nats::jetstream::message::PublishMessage;

use crate::claims::is_present;
use crate::error::{FleetError, Result};
use crate::link::Link;
use crate::machine::random_hex;
use crate::message::{Answer, Deed, Order, VERSION, read, write};

/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(20);
const ASK_EVERY: Duration = Duration::from_millis(50);

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

/// Gives an order and waits for the answer.
pub async fn send(link: &Link, machine: &str, session: &str, deed: Deed, by: &str) -> Result<Reply> {
    send_within(link, machine, session, deed, by, PATIENCE).await
}

pub async fn send_within(
    link: &Link,
    machine: &str,
    session: &str,
    deed: Deed,
    by: &str,
    patience: Duration,
) -> Result<Reply> {
    if !is_present(link, machine).await? {
        return Ok(Reply::Gone);
    }
    let order =
        Order { v: VERSION, id: random_hex(8)?, session: session.to_owned(), deed, by: by.to_owned() };
    let message = PublishMessage::build().payload(write(&order)).message_id(&order.id);
    let failed = |error| FleetError::server("give the order", error);
    let sent = link.context.send_publish(link.names.orders_for(machine), message).await.map_err(failed)?;
    let sequence = sent.await.map_err(failed)?.sequence;
    match answer(link, &order.id, patience).await {
        Some(answer) if answer.ok => Ok(Reply::Done),
        Some(answer) => Ok(Reply::Refused(answer.reason.unwrap_or_default())),
        None => Ok(withdraw(link, sequence, &order.id).await),
    }
}

async fn answer(link: &Link, order: &str, patience: Duration) -> Option<Answer> {
    let subject = link.names.answer_to(order);
    let begun = Instant::now();
    loop {
        if let Ok(message) = link.orders.get_last_raw_message_by_subject(&subject).await
            && let Ok(answer) = read::<Answer>(&message.payload)
        {
            return Some(answer);
        }
        if begun.elapsed() >= patience {
            return None;
        }
        tokio::time::sleep(ASK_EVERY).await;
    }
}

/// So that it does not surprise anybody tomorrow. It may have been taken a moment ago.
async fn withdraw(link: &Link, sequence: u64, order: &str) -> Reply {
    let is_taken_back = link.orders.delete_message(sequence).await.unwrap_or(false);
    match answer(link, order, Duration::ZERO).await {
        Some(answer) if answer.ok => Reply::Done,
        Some(answer) => Reply::Refused(answer.reason.unwrap_or_default()),
        None if is_taken_back => Reply::Withdrawn,
        None => Reply::Unknown,
    }
}
