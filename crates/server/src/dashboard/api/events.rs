//! Live updates as server-sent events.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Query as Parameters, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream::{self, Stream};
use overtone_core::messages::dashboard as messages;
use overtone_session::view::{Query, read_page};
use overtone_store::SessionId;
use serde::Deserialize;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use super::{AppState, run_blocking};
use crate::dashboard::app::App;
use crate::dashboard::error::{ApiError, ApiResult};
use crate::dashboard::hub::{Batch, Position, RESYNC};

/// Further clients are rejected and retry later.
const MAX_LISTENERS: usize = 512;
/// Lets both sides notice a lost connection.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(15);
/// How many events are read at a time for a client that reconnects.
const EVENTS_PER_READ: usize = 1_000;
/// A client that has missed more of a timeline than this is asked to reload it page by page.
const MAX_MISSED_BYTES: u64 = 8 * 1024 * 1024;

#[derive(Debug, Deserialize)]
pub(super) struct EventsQuery {
    session: Option<String>,
    /// An offset in the session's timeline, as in the pages of the timeline.
    from: Option<u64>,
}

/// A connected client.
struct Listener {
    /// Sent before further updates.
    missed: VecDeque<Bytes>,
    updates: Receiver<Arc<Batch>>,
    session: Option<String>,
}

pub(super) async fn events(
    State(app): AppState,
    headers: HeaderMap,
    Parameters(query): Parameters<EventsQuery>,
) -> ApiResult<Response> {
    if app.hub.listeners() >= MAX_LISTENERS {
        return Err(ApiError::new(StatusCode::SERVICE_UNAVAILABLE, messages::too_many(app.lang)));
    }
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok()).and_then(Position::parse);
    let listener = match query.session {
        Some(session) => {
            let from = last.map(|position| position.offset).or(query.from);
            listen_to_session(&app, session, from).await?
        }
        None => listen_to_all(&app, last.as_ref()),
    };
    let content_type = [(header::CONTENT_TYPE, "text/event-stream")];
    Ok((content_type, Body::from_stream(listener.stream())).into_response())
}

fn listen_to_all(app: &App, last: Option<&Position>) -> Listener {
    let subscription = app.hub.subscribe_from(last);
    let missed = match subscription.missed {
        Some(missed) => missed.into(),
        None => VecDeque::from([Bytes::from_static(RESYNC.as_bytes())]),
    };
    Listener { missed, updates: subscription.updates, session: None }
}

/// What the client missed is read from the timeline up to the published offset; what follows comes as updates.
async fn listen_to_session(app: &Arc<App>, session: String, from: Option<u64>) -> ApiResult<Listener> {
    let missing = || ApiError::new(StatusCode::NOT_FOUND, messages::no_such_session(app.lang));
    let id = SessionId::parse(&session).ok_or_else(missing)?;
    let (updates, published) = {
        let index = app.index();
        let published = index.get(&id).ok_or_else(missing)?.published_offset;
        (app.hub.subscribe(), published)
    };
    let shared = Arc::clone(app);
    let missed = match from {
        Some(from) if published.saturating_sub(from) > MAX_MISSED_BYTES => {
            VecDeque::from([Bytes::from_static(RESYNC.as_bytes())])
        }
        Some(from) if from < published => {
            run_blocking(move || read_missed(&shared, &id, from, published)).await?
        }
        _ => VecDeque::new(),
    };
    Ok(Listener { missed, updates, session: Some(session) })
}

fn read_missed(app: &App, id: &SessionId, from: u64, published: u64) -> VecDeque<Bytes> {
    let path = app.home.session(id).timeline_file();
    let mut offset = from;
    let mut texts = VecDeque::new();
    while offset < published {
        let Ok(page) = read_page(&path, &Query::starting_at(offset, EVENTS_PER_READ)) else { break };
        let missed = page.events.iter().filter(|event| event.end <= published);
        let text: String = missed.map(|event| app.hub.render_event(id.as_str(), event)).collect();
        texts.push_back(text.into());
        if page.newer == offset {
            break;
        }
        offset = page.newer;
    }
    texts
}

impl Listener {
    fn stream(self) -> impl Stream<Item = Result<Bytes, Infallible>> + Send {
        let hello = Bytes::from_static(b": overtone\n\n");
        let first = stream::once(async move { Ok(hello) });
        let rest = stream::unfold(self, |mut listener| async {
            let bytes = listener.next().await?;
            Some((Ok(bytes), listener))
        });
        futures_util::StreamExt::chain(first, rest)
    }

    /// The next part of the stream; `None` closes the connection, and the client reconnects with its position.
    async fn next(&mut self) -> Option<Bytes> {
        if let Some(text) = self.missed.pop_front() {
            return Some(text);
        }
        loop {
            match tokio::time::timeout(HEARTBEAT_INTERVAL, self.updates.recv()).await {
                Err(_) => return Some(Bytes::from_static(b": still here\n\n")),
                Ok(Ok(batch)) => {
                    if let Some(text) = batch.for_listener(self.session.as_deref()) {
                        return Some(text);
                    }
                }
                Ok(Err(RecvError::Lagged(_) | RecvError::Closed)) => return None,
            }
        }
    }
}
