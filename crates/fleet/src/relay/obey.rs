//! Does what others order: each order at least once on the way, once in effect, and answered.

use std::convert::Infallible;
use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, pull};
use async_nats::jetstream::message::PublishMessage;
use futures_util::StreamExt as _;
use overtone_messages::fleet as words;
use overtone_store::Session;

use super::Worker;
use crate::claims::{self, Standing};
use crate::error::{FleetError, Result};
use crate::link::Link;
use crate::local::is_traced;
use crate::message::{Answer, Claim, Deed, Foreign, Order, VERSION, read, write};
use crate::names::{session_claim, token};

/// Whoever does not answer within this time has ended; the order comes again.
const PATIENCE: Duration = Duration::from_secs(30);

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

    /// What is no order of ours is passed over; one of a later version is refused, if it says who it is.
    async fn hear(&self, link: &Link, payload: &[u8]) -> Result<()> {
        let (id, outcome) = match read::<Order>(payload) {
            Ok(order) => (order.id.clone(), self.carry_out(link, &order).await?),
            Err(Foreign::Later(_)) => {
                let id = serde_json::from_slice::<serde_json::Value>(payload).ok();
                let Some(id) = id.and_then(|order| order["id"].as_str().map(str::to_owned)) else {
                    return Ok(());
                };
                (id, Err(words::order_too_new(self.setup.lang)))
            }
            Err(Foreign::Malformed(why)) => {
                eprintln!("[overtone/fleet] an order that is none: {why}");
                return Ok(());
            }
        };
        let answer = Answer { v: VERSION, id, ok: outcome.is_ok(), reason: outcome.err() };
        self.answer(link, &answer).await
    }

    async fn carry_out(&self, link: &Link, order: &Order) -> Result<std::result::Result<(), String>> {
        if order.deed == Deed::Ping {
            return Ok(Ok(()));
        }
        let Some(session) = self.session(&order.session) else {
            return Ok(Err(words::no_such_session(self.setup.lang)));
        };
        let Some(standing) = self.own_claim(link, &session).await? else {
            return Ok(Err(words::no_such_session(self.setup.lang)));
        };
        if let Deed::HandOver { to, to_name } = &order.deed {
            return self.hand_over(link, &session, &standing, to, to_name).await;
        }
        if standing.claim.machine != self.machine.id {
            return Ok(Err(words::not_its_owner(self.setup.lang, &standing.claim.name)));
        }
        if is_traced(&session, &order.id) {
            return Ok(Ok(()));
        }
        let by = format!("fleet {} {}", order.id, order.by);
        Ok(self.here().apply(&session, &order.deed, &by))
    }

    async fn own_claim(&self, link: &Link, session: &Session) -> Result<Option<Standing>> {
        claims::look(&link.claims, &session_claim(session.id().as_str())).await
    }

    /// First it lets go, then everything is told, and only then it belongs to the other. If this ends half-way, the
    /// order comes again.
    async fn hand_over(
        &self,
        link: &Link,
        session: &Session,
        standing: &Standing,
        to: &str,
        to_name: &str,
    ) -> Result<std::result::Result<(), String>> {
        if standing.claim.machine == to {
            return Ok(Ok(()));
        }
        if standing.claim.machine != self.machine.id {
            return Ok(Err(words::not_its_owner(self.setup.lang, &standing.claim.name)));
        }
        if let Err(problem) = self.here().step_aside(session, to_name) {
            return Ok(Err(problem));
        }
        self.tell_everything(link, session).await?;
        let theirs = Claim {
            machine: to.to_owned(),
            name: to_name.to_owned(),
            taken_from: Some(self.machine.id.clone()),
            ..Claim::by(&self.machine, None)
        };
        let key = session_claim(session.id().as_str());
        let is_done = claims::change(&link.claims, &key, &theirs, standing.revision).await?;
        Ok(if is_done { Ok(()) } else { Err(words::not_its_owner(self.setup.lang, "")) })
    }

    /// To the last line, now.
    async fn tell_everything(&self, link: &Link, session: &Session) -> Result<()> {
        let mut track = self.tracks.take(session.id()).unwrap_or_default();
        let told = async {
            while self.tell_events(link, session, &mut track).await? {}
            track.state.at = None;
            while self.tell_state(link, session, &mut track).await? {}
            Ok(())
        };
        let told = told.await;
        self.tracks.put(session.id().clone(), track);
        told
    }

    async fn answer(&self, link: &Link, answer: &Answer) -> Result<()> {
        let message =
            PublishMessage::build().payload(write(answer)).message_id(format!("answer:{}", answer.id));
        let failed = |error| FleetError::server("answer an order", error);
        let sent =
            link.context.send_publish(link.names.answer_to(&answer.id), message).await.map_err(failed)?;
        sent.await.map(|_| ()).map_err(failed)
    }
}
