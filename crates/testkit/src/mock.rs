//! The Messages API on loopback: HTTP in and out, nothing of the script's meaning.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

use crate::player::{Log, Player};
use crate::secrets::Secrets;
use crate::turn::Content;
use crate::{Request, Script, Turn, reply};

/// Between the first half of an answer and the end of its connection, so that the half arrives.
const CUT_DELAY: Duration = Duration::from_millis(200);

/// A running server, in a thread of its own until it is dropped.
#[derive(Debug)]
pub struct Mock {
    address: SocketAddr,
    player: Arc<Player>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Mock {
    /// Starts the server on a free port of 127.0.0.1.
    pub fn start(script: Script) -> Self {
        let player = Arc::new(Player::new(script));
        let (runtime, listener) = listen().expect("a port on loopback");
        let address = listener.local_addr().expect("a bound socket has an address");
        let (stop, stopped) = oneshot::channel();
        let router = router(Arc::clone(&player));
        let thread = thread::spawn(move || serve(&runtime, listener, router, stopped));
        Self { address, player, stop: Some(stop), thread: Some(thread) }
    }

    /// The value of `ANTHROPIC_BASE_URL`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// All requests since the last time they were taken. Panics when a responder has panicked.
    pub fn take(&self) -> Vec<Request> {
        let log = self.take_log();
        assert!(log.panics.is_empty(), "{}", log.panics.join("\n"));
        log.requests
    }

    /// All requests since they were last taken. They are not taken by this.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.player.requests()
    }

    pub(crate) fn take_log(&self) -> Log {
        self.player.take_log()
    }

    /// Ends the server and returns every request in its order. Panics when a responder has panicked.
    pub fn finish(self) -> Vec<Request> {
        let log = self.finish_log();
        assert!(log.panics.is_empty(), "{}", log.panics.join("\n"));
        log.requests
    }

    pub(crate) fn finish_log(mut self) -> Log {
        self.shut_down();
        self.player.take_log()
    }

    /// Closes open connections: their clients have ended or were killed.
    fn shut_down(&mut self) {
        // Both fail only when the server has ended already.
        let _ = self.stop.take().map(|stop| stop.send(()));
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        self.shut_down();
    }
}

fn listen() -> io::Result<(Runtime, TcpListener)> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))?;
    Ok((runtime, listener))
}

fn serve(runtime: &Runtime, listener: TcpListener, router: Router, stopped: oneshot::Receiver<()>) {
    runtime.block_on(async move {
        let server = tokio::spawn(async move { axum::serve(listener, router).await });
        // An error means that the owner is gone, which is a reason to stop too.
        let _ = stopped.await;
        server.abort();
    });
}

fn router(player: Arc<Player>) -> Router {
    Router::new()
        .route("/v1/messages", post(messages))
        .route("/v1/messages/count_tokens", post(count_tokens))
        .fallback(other)
        .layer(DefaultBodyLimit::disable())
        .with_state(player)
}

async fn messages(State(player): State<Arc<Player>>, headers: HeaderMap, body: Bytes) -> Response {
    let Ok(body) = serde_json::from_slice::<Value>(&body) else {
        let refusal = reply::error("invalid_request_error", "the body is not JSON");
        return json_response(StatusCode::BAD_REQUEST, &refusal);
    };
    let format = ResponseFormat::from_request(&body);
    let (headers, secrets) = Secrets::part(&headers);
    let mut turn = player.answer(body, headers, secrets);
    tokio::time::sleep(turn.delay).await;
    if let Some(gate) = &mut turn.gate {
        // An error means that the gate was dropped, so nobody will open it any more.
        let _ = gate.wait_for(|is_open| *is_open).await;
    }
    respond(&turn, &format)
}

/// How a request wants to be answered.
struct ResponseFormat {
    model: Value,
    streams: bool,
    /// In auto mode the answer carries the verdicts of the safety check on its tool calls.
    needs_safety_check: bool,
}

impl ResponseFormat {
    fn from_request(body: &Value) -> Self {
        let needs_safety_check = match &body["safeguards"] {
            Value::Array(list) => !list.is_empty(),
            _ => false,
        };
        Self { model: body["model"].clone(), streams: body["stream"] == true, needs_safety_check }
    }
}

fn respond(turn: &Turn, format: &ResponseFormat) -> Response {
    match &turn.content {
        Content::Report(_) => unreachable!("the player has made a call or a text of it"),
        Content::Error { status, kind, message, retryable } => {
            let status = StatusCode::from_u16(*status).expect("a script names a valid HTTP status");
            let refusal = json_response(status, &reply::error(kind, message));
            if *retryable { refusal } else { ([("x-should-retry", "false")], refusal).into_response() }
        }
        Content::Blocks(blocks) => {
            let mut message = reply::message(blocks, &format.model, turn.usage);
            if format.needs_safety_check {
                reply::add_safety_check(&mut message, turn.flagged.as_deref());
            }
            let whole =
                if format.streams { sse_response(&message) } else { json_response(StatusCode::OK, &message) };
            if turn.is_cut { cut(whole, &reply::stream(&message)) } else { whole }
        }
    }
}

/// Roughly what a tokeniser would say; no scenario depends on the figure.
async fn count_tokens(body: Bytes) -> Response {
    json_response(StatusCode::OK, &json!({"input_tokens": body.len() / 4}))
}

/// Answers everything else that the client requests; it works without any of it.
async fn other(State(player): State<Arc<Player>>, method: Method, uri: Uri) -> Response {
    player.note(format!("{method} {}", uri.path()));
    if method == Method::HEAD {
        return StatusCode::OK.into_response();
    }
    json_response(StatusCode::NOT_FOUND, &reply::error("not_found_error", "not part of the mock"))
}

fn json_response(status: StatusCode, body: &Value) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}

fn sse_response(message: &Value) -> Response {
    ([(header::CONTENT_TYPE, "text/event-stream")], reply::stream(message)).into_response()
}

/// The same answer, of which only the first half arrives.
fn cut(whole: Response, text: &str) -> Response {
    let half = Bytes::copy_from_slice(&text.as_bytes()[..text.len() / 2]);
    let broken = || io::Error::new(io::ErrorKind::ConnectionReset, "cut off by the script");
    let parts = stream::iter([Ok(half), Err(broken())]).then(|part| async {
        if part.is_err() {
            tokio::time::sleep(CUT_DELAY).await;
        }
        part
    });
    let (head, _) = whole.into_parts();
    Response::from_parts(head, Body::from_stream(parts))
}
