//! An HTTP client that also sends malformed requests.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// Nothing here takes so long; a server that hangs must not hang the tests.
const WATCHDOG: Duration = Duration::from_mins(10);

#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Response {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    #[track_caller]
    pub(crate) fn ok(self) -> Value {
        assert_eq!(self.status, 200, "{self:?}");
        self.json()
    }

    #[track_caller]
    pub(crate) fn refused(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{self:?}");
        let answer = self.json();
        assert!(answer["error"].is_string(), "{answer}");
        answer
    }
}

/// Sends a request as it is and reads the answer to its end.
pub(crate) fn raw(address: &str, request: &str) -> Response {
    let mut stream = connect(address);
    stream.write_all(request.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    parse(&String::from_utf8_lossy(&bytes))
}

pub(crate) fn connect(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(WATCHDOG)).unwrap();
    stream
}

fn parse(text: &str) -> Response {
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
    Response { status, head: head.to_owned(), body: body.to_owned() }
}

/// A request with the given headers.
pub(crate) fn request(
    address: &str,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Response {
    let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        let _ = write!(text, "Host: {address}\r\n");
    }
    for (name, value) in headers {
        let _ = write!(text, "{name}: {value}\r\n");
    }
    if !body.is_empty() {
        let _ = write!(text, "Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
    }
    raw(address, &format!("{text}\r\n{body}"))
}

/// A listener of events.
pub(crate) struct Listener {
    lines: BufReader<TcpStream>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    pub(crate) kind: String,
    pub(crate) id: String,
    pub(crate) data: Value,
}

impl Listener {
    /// Returns when the server has taken it in.
    pub(crate) fn join(address: &str, token: &str, query: &str, last: Option<&str>) -> Self {
        let mut stream = connect(address);
        let last = last.map(|id| format!("Last-Event-ID: {id}\r\n")).unwrap_or_default();
        let token = format!("Authorization: Bearer {token}\r\n");
        let text = format!("GET /api/events{query} HTTP/1.1\r\nHost: {address}\r\n{token}{last}\r\n");
        stream.write_all(text.as_bytes()).unwrap();
        let mut listener = Self { lines: BufReader::new(stream) };
        while !listener.line().contains(": overtone") {}
        listener
    }

    /// The next line; the sizes of chunks between them are left out.
    fn line(&mut self) -> String {
        let mut line = String::new();
        assert!(self.lines.read_line(&mut line).unwrap() > 0, "the server has hung up");
        line.trim_end().to_owned()
    }

    pub(crate) fn next(&mut self) -> Event {
        let (mut kind, mut id) = (String::new(), String::new());
        loop {
            let line = self.line();
            if let Some(text) = line.strip_prefix("event: ") {
                text.clone_into(&mut kind);
            } else if let Some(text) = line.strip_prefix("id: ") {
                text.clone_into(&mut id);
            } else if let Some(text) = line.strip_prefix("data: ") {
                return Event { kind, id, data: serde_json::from_str(text).unwrap() };
            }
        }
    }

    /// The next one of a kind.
    pub(crate) fn next_of(&mut self, kind: &str) -> Event {
        loop {
            let event = self.next();
            if event.kind == kind {
                return event;
            }
        }
    }
}
