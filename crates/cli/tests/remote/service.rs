//! A service on 127.0.0.1 that records every request and gives the configured answers.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Only there so that a test that waits in vain fails instead of hanging.
const WATCHDOG: Duration = Duration::from_mins(10);

#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
    pub(crate) at: Instant,
    /// The status that it was answered with.
    pub(crate) status: u16,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(own, _)| own.eq_ignore_ascii_case(name));
        found.map_or("", |(_, value)| value)
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn status(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: json!({ "ok": status == 200 }).to_string() }
    }
}

#[derive(Debug, Default)]
struct Inner {
    requests: Vec<Request>,
    /// Answers to what is sent, before the good ones begin.
    replies: VecDeque<Reply>,
    /// What Telegram has for those who ask.
    updates: Vec<Value>,
    /// Hands out every update, whatever was confirmed.
    repeats: bool,
    polls: usize,
    /// Takes what is sent but never answers.
    is_mute: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Service {
    address: SocketAddr,
    inner: Arc<(Mutex<Inner>, Condvar)>,
}

impl Service {
    pub(crate) fn start() -> Self {
        Self::start_at("127.0.0.1:0".parse().unwrap())
    }

    pub(crate) fn start_at(address: SocketAddr) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let service = Self { address: listener.local_addr().unwrap(), inner: Arc::default() };
        let own = service.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let service = own.clone();
                thread::spawn(move || service.serve(&stream));
            }
        });
        service
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    fn change<T>(&self, change: impl FnOnce(&mut Inner) -> T) -> T {
        let result = change(&mut self.inner.0.lock().unwrap());
        self.inner.1.notify_all();
        result
    }

    pub(crate) fn answer_next(&self, replies: impl IntoIterator<Item = Reply>) {
        self.change(|inner| inner.replies.extend(replies));
    }

    /// From now on everything is taken.
    pub(crate) fn forget_replies(&self) {
        self.change(|inner| inner.replies.clear());
    }

    pub(crate) fn be_mute(&self, is_mute: bool) {
        self.change(|inner| inner.is_mute = is_mute);
    }

    pub(crate) fn repeat_updates(&self) {
        self.change(|inner| inner.repeats = true);
    }

    /// A message to the bot.
    pub(crate) fn update(&self, number: i64, chat: i64, text: &str) {
        let message = json!({ "message_id": number, "date": 0, "chat": { "id": chat, "type": "private" }, "text": text });
        self.change(|inner| inner.updates.push(json!({ "update_id": number, "message": message })));
    }

    /// What was sent here, without the questions for commands.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.inner.0.lock().unwrap().requests.clone()
    }

    /// What was sent and taken.
    pub(crate) fn taken(&self) -> Vec<Request> {
        self.requests().into_iter().filter(|request| request.status == 200).collect()
    }

    fn wait(&self, what: &str, is_so: impl Fn(&Inner) -> bool) {
        let inner = self.inner.0.lock().unwrap();
        let waited = self.inner.1.wait_timeout_while(inner, WATCHDOG, |inner| !is_so(inner)).unwrap();
        assert!(!waited.1.timed_out(), "waited in vain for {what}: {:#?}", waited.0);
    }

    /// Waits for so many requests that were taken.
    pub(crate) fn wait_taken(&self, count: usize) -> Vec<Request> {
        let taken = |inner: &Inner| inner.requests.iter().filter(|request| request.status == 200).count();
        self.wait(&format!("{count} messages"), |inner| taken(inner) >= count);
        self.taken()
    }

    /// Waits for so many requests, however they were answered.
    pub(crate) fn wait_requests(&self, count: usize) -> Vec<Request> {
        self.wait(&format!("{count} requests"), |inner| inner.requests.len() >= count);
        self.requests()
    }

    /// Waits until commands were asked for so many times more.
    pub(crate) fn wait_polls(&self, more: usize) {
        let before = self.inner.0.lock().unwrap().polls;
        self.wait("questions for commands", |inner| inner.polls >= before + more);
    }

    fn serve(&self, stream: &TcpStream) {
        let mut reader = BufReader::new(stream);
        while let Some(request) = read(&mut reader) {
            let Some(reply) = self.reply(request) else {
                // Held open, without a word, until the other side goes.
                let _ = reader.read(&mut [0]);
                return;
            };
            if write(stream, &reply).is_err() {
                return;
            }
        }
    }

    fn reply(&self, mut request: Request) -> Option<Reply> {
        self.change(|inner| {
            if request.path.contains("/getUpdates") {
                inner.polls += 1;
                return Some(inner.updates_for(&request.path));
            }
            if request.path.ends_with("/getMe") {
                return Some(bot());
            }
            let reply = if inner.is_mute { None } else { Some(inner.replies.pop_front()) };
            let reply = reply.map(|reply| reply.unwrap_or_else(|| Reply::status(200)));
            request.status = reply.as_ref().map_or(0, |reply| reply.status);
            inner.requests.push(request);
            reply
        })
    }
}

impl Inner {
    fn updates_for(&mut self, path: &str) -> Reply {
        let offset = path.split("offset=").nth(1).and_then(|rest| rest.parse::<i64>().ok()).unwrap_or(0);
        let number = |update: &Value| update["update_id"].as_i64().unwrap();
        if !self.repeats {
            self.updates.retain(|update| number(update) >= offset);
        }
        let body = json!({ "ok": true, "result": self.updates }).to_string();
        Reply { status: 200, headers: Vec::new(), body }
    }
}

/// What Telegram says of the bot.
fn bot() -> Reply {
    let body = json!({ "ok": true, "result": { "id": 1, "is_bot": true, "username": "My_Bot" } }).to_string();
    Reply { status: 200, headers: Vec::new(), body }
}

fn read(reader: &mut impl BufRead) -> Option<Request> {
    let mut first = String::new();
    reader.read_line(&mut first).ok()?;
    let mut words = first.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_owned(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let mut body = vec![0; length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    // Telemetry is binary; the names in it are text.
    let body = String::from_utf8_lossy(&body).into_owned();
    Some(Request { method, path, headers, body, at: Instant::now(), status: 0 })
}

fn write(mut stream: &TcpStream, reply: &Reply) -> std::io::Result<()> {
    let mut text = format!("HTTP/1.1 {} x\r\ncontent-length: {}\r\n", reply.status, reply.body.len());
    for (name, value) in &reply.headers {
        text = format!("{text}{name}: {value}\r\n");
    }
    stream.write_all(format!("{text}\r\n{}", reply.body).as_bytes())
}
