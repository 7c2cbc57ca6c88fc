//! Live updates as Server-Sent Events.

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
use overtone_messages::dashboard as words;
use overtone_store::SessionId;
use overtone_view::{Query, read_page};
use serde::Deserialize;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use super::{Shared, aside};
use crate::app::App;
use crate::error::{Answer, ApiError};
use crate::hub::{Batch, Position, RESYNC};

/// More are sent away, to come back later.
const MAX_LISTENERS: usize = 512;
/// So that both sides notice when the other is gone.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// What is read of a timeline at once for somebody who comes back.
const STEP: usize = 1_000;
/// Who has missed more of a session than this is told to fetch it anew, page by page.
const MAX_MISSED: u64 = 8 * 1024 * 1024;

#[derive(Debug, Deserialize)]
pub(super) struct Wanted {
    session: Option<String>,
    /// A place in the session's timeline, as its pages tell it.
    from: Option<u64>,
}

/// Somebody who listens.
struct Listener {
    /// To be sent first.
    waiting: VecDeque<Bytes>,
    news: Receiver<Arc<Batch>>,
    session: Option<String>,
}

pub(super) async fn events(
    State(app): Shared,
    headers: HeaderMap,
    Parameters(wanted): Parameters<Wanted>,
) -> Answer<Response> {
    if app.hub.listeners() >= MAX_LISTENERS {
        return Err(ApiError::new(StatusCode::SERVICE_UNAVAILABLE, words::too_many(app.lang)));
    }
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok()).and_then(Position::parse);
    let listener = match wanted.session {
        Some(session) => of_session(&app, session, last.map(|at| at.place).or(wanted.from)).await?,
        None => of_all(&app, last.as_ref()),
    };
    let kind = [(header::CONTENT_TYPE, "text/event-stream")];
    Ok((kind, Body::from_stream(listener.stream())).into_response())
}

fn of_all(app: &App, last: Option<&Position>) -> Listener {
    let joined = app.hub.join(last);
    let waiting = match joined.missed {
        Some(missed) => missed.into(),
        None => VecDeque::from([Bytes::from_static(RESYNC.as_bytes())]),
    };
    Listener { waiting, news: joined.news, session: None }
}

/// What was missed is in the timeline, up to where this server has told it; what comes after that is news.
async fn of_session(app: &Arc<App>, session: String, from: Option<u64>) -> Answer<Listener> {
    let missing = || ApiError::new(StatusCode::NOT_FOUND, words::no_such_session(app.lang));
    let id = SessionId::parse(&session).ok_or_else(missing)?;
    let (news, told) = {
        let index = app.index();
        let told = index.get(&id).ok_or_else(missing)?.told;
        (app.hub.subscribe(), told)
    };
    let shared = Arc::clone(app);
    let waiting = match from {
        Some(from) if told.saturating_sub(from) > MAX_MISSED => {
            VecDeque::from([Bytes::from_static(RESYNC.as_bytes())])
        }
        Some(from) if from < told => aside(move || missed(&shared, &id, from, told)).await?,
        _ => VecDeque::new(),
    };
    Ok(Listener { waiting, news, session: Some(session) })
}

fn missed(app: &App, id: &SessionId, from: u64, told: u64) -> VecDeque<Bytes> {
    let path = app.home.session(id).timeline_file();
    let (mut at, mut texts) = (from, VecDeque::new());
    while at < told {
        let Ok(page) = read_page(&path, &Query::from(at, STEP)) else { break };
        let before = page.events.iter().filter(|seen| seen.end <= told);
        let text: String = before.map(|seen| app.hub.event_text(id.as_str(), seen)).collect();
        texts.push_back(text.into());
        if page.newer == at {
            break;
        }
        at = page.newer;
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

    /// The next piece; `None` ends the connection, and the client comes back with its position.
    async fn next(&mut self) -> Option<Bytes> {
        if let Some(text) = self.waiting.pop_front() {
            return Some(text);
        }
        loop {
            match tokio::time::timeout(HEARTBEAT, self.news.recv()).await {
                Err(_) => return Some(Bytes::from_static(b": still here\n\n")),
                Ok(Ok(batch)) => {
                    if let Some(text) = batch.text(self.session.as_deref()) {
                        return Some(text);
                    }
                }
                Ok(Err(RecvError::Lagged(_) | RecvError::Closed)) => return None,
            }
        }
    }
}
