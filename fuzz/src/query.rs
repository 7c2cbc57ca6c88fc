//! The dashboard's query strings, asked of a real server in this process: every answer is a good one or says that the
//! question was wrong, filters let through only what they say, and cursors neither repeat nor jump over anything.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread;

use crate::scratch;
use overtone_core::messages::Lang;
use overtone_server::dashboard::{NoFleet, Options, load_or_create_token, serve};
use overtone_store::Home;
use serde_json::{Map, Value, json};
use tempfile::TempDir;

const SESSIONS: usize = 7;
const EVENTS: usize = 40;
const KINDS: [&str; 4] = ["stage:start", "stage:complete", "agent:delegate", "tool:failure"];

thread_local! {
    /// One server for all inputs. Its folder is deleted with the thread.
    static SERVER: RefCell<Option<Server>> = const { RefCell::new(None) };
}

pub fn check(data: &[u8]) {
    SERVER.with_borrow_mut(|server| ask(server.get_or_insert_with(Server::start), data));
}

fn ask(server: &mut Server, data: &[u8]) {
    let (what, query) = split(data);
    match what {
        b"timeline" => timeline(server, &query),
        b"sessions" => sessions(server, &query),
        b"stats" => drop(server.ask("/api/stats", &query)),
        b"text" => drop(server.ask("/api/text", &query)),
        b"registry" => drop(server.ask("/api/registry", &query)),
        _ => {}
    }
}

/// `timeline?limit=3`: whom to ask, and what. Bytes that no address has are written as `%XX`.
fn split(data: &[u8]) -> (&[u8], String) {
    let at = data.iter().position(|byte| *byte == b'?').unwrap_or(data.len());
    let query = data[at..].iter().skip(1).map(|byte| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(*byte).to_string(),
        b'%' | b'&' | b'=' | b'+' | b'-' | b'_' | b'.' | b'~' | b':' | b',' | b'/' | b'?' => {
            char::from(*byte).to_string()
        }
        other => format!("%{other:02X}"),
    });
    (&data[..at], query.collect())
}

fn timeline(server: &mut Server, query: &str) {
    const PATH: &str = "/api/sessions/s0/timeline";
    let Some(page) = server.ask(PATH, query) else { return };
    let ids = server.events(&page);
    assert!(ids.is_sorted() && ids.len() <= 2_000);
    if let Some(older) = page["older"].as_u64() {
        assert!(page["newer"].as_u64().is_some_and(|newer| older <= newer));
        let before = server.ask(PATH, &format!("cursor={older}&limit=3")).expect("a cursor of its own");
        assert!(server.events(&before).iter().all(|id| *id < older), "nothing twice");
    }
    let newer = page["newer"].as_u64().expect("a place to go on");
    let after = server.ask(PATH, &format!("cursor={newer}&direction=newer")).expect("a cursor of its own");
    assert!(server.events(&after).iter().all(|id| *id >= newer && !ids.contains(id)), "nothing twice");
}

fn sessions(server: &mut Server, query: &str) {
    let Some(list) = server.ask("/api/sessions", query) else { return };
    let mut seen: HashSet<String> = HashSet::new();
    take(&mut seen, &list);
    assert!(
        list["total"].as_u64().is_some_and(|total| total <= SESSIONS as u64 && seen.len() as u64 <= total)
    );
    let mut next = list["next"].as_str().map(str::to_owned);
    while let Some(cursor) = next {
        let page =
            server.ask("/api/sessions", &format!("limit=2&cursor={cursor}")).expect("a cursor of its own");
        take(&mut seen, &page);
        next = page["next"].as_str().map(str::to_owned);
    }
}

fn take(seen: &mut HashSet<String>, page: &Value) {
    for session in page["sessions"].as_array().expect("a list") {
        let id = session["id"].as_str().expect("an id");
        assert!(seen.insert(id.to_owned()), "{id} is there twice");
    }
}

struct Server {
    _folder: TempDir,
    address: SocketAddr,
    token: String,
    connection: Option<BufReader<TcpStream>>,
    /// The events of the timeline that is asked for, by their place.
    events: BTreeMap<u64, Map<String, Value>>,
}

impl Server {
    fn start() -> Self {
        let folder = scratch();
        let root = folder.path();
        let home = Home::at(root.to_owned());
        for number in 0..SESSIONS {
            make_session(&root.join(format!("sessions/s{number}")), number);
        }
        let events = recorded(&root.join("sessions/s0/timeline.jsonl"));
        let token = load_or_create_token(&home).expect("a token");
        let (ready, address) = mpsc::channel();
        let options = Options {
            shown_home: home.clone(),
            home,
            fleet: Arc::new(NoFleet),
            version: "0",
            lang: Lang::En,
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: Some(0),
            host_names: Vec::new(),
            idle: None,
        };
        thread::spawn(move || {
            let ended = serve(options, |address| ready.send(address).expect("somebody who waits"));
            panic!("the server has ended: {ended:?}");
        });
        let address = address.recv().expect("an address");
        Self { _folder: folder, address, token, connection: None, events }
    }

    /// The answer; none for a question that is refused.
    fn ask(&mut self, path: &str, query: &str) -> Option<Value> {
        let (status, body) = self.exchange(&format!("{path}?{query}"));
        match status {
            200 => Some(serde_json::from_slice(&body).expect("JSON")),
            400 => None,
            other => panic!("{other} for {path}?{query}: {}", String::from_utf8_lossy(&body)),
        }
    }

    fn exchange(&mut self, target: &str) -> (u16, Vec<u8>) {
        let address = self.address;
        let connection = self.connection.get_or_insert_with(|| {
            let stream = TcpStream::connect(address).expect("a server that listens");
            stream.set_nodelay(true).expect("a socket");
            BufReader::new(stream)
        });
        let token = &self.token;
        let request =
            format!("GET {target} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\r\n");
        connection.get_mut().write_all(request.as_bytes()).expect("a server that reads");
        let (status, length) = head(connection);
        let mut body = vec![0; length];
        connection.read_exact(&mut body).expect("a whole answer");
        (status, body)
    }

    /// The places of a page's events, each of which is as it was recorded.
    fn events(&self, page: &Value) -> Vec<u64> {
        let events = page["events"].as_array().expect("a list");
        let place = |event: &Value| {
            let mut fields = event.as_object().expect("an event").clone();
            let place = fields.shift_remove("id").and_then(|id| id.as_u64()).expect("a place");
            assert_eq!(self.events.get(&place), Some(&fields), "an event of the timeline");
            place
        };
        events.iter().map(place).collect()
    }
}

fn head(connection: &mut BufReader<TcpStream>) -> (u16, usize) {
    let (mut status, mut length) = (0, 0);
    loop {
        let mut line = String::new();
        connection.read_line(&mut line).expect("a header");
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            assert_ne!(status, 0, "the server has hung up");
            return (status, length);
        }
        if let Some(rest) = line.strip_prefix("http/1.1 ") {
            status = rest[..3].parse().expect("a status");
        } else if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.parse().expect("a length");
        }
    }
}

fn make_session(folder: &Path, number: usize) {
    fs::create_dir_all(folder).expect("a folder for a session");
    let kind = if number.is_multiple_of(2) { "standard" } else { "quick" };
    let workflow = json!({
        "sessionId": format!("s{number}"), "workflowType": kind, "createdAt": "2026-02-23T14:00:00.000Z",
        "currentStage": "DEV", "stages": { "DEV": { "status": "active" } }, "featureName": format!("登入-{number}"),
    });
    fs::write(folder.join("workflow.json"), workflow.to_string()).expect("a workflow");
    let line = |n: usize| {
        let kind = KINDS[(n + number) % KINDS.len()];
        let event = json!({ "ts": format!("2026-02-23T14:00:{n:02}.000Z"), "type": kind, "n": n, "text": "錯誤 Error" });
        if n % 13 == 12 { "broken\n".to_owned() } else { format!("{event}\n") }
    };
    let lines: String = (0..EVENTS).map(line).collect();
    fs::write(folder.join("timeline.jsonl"), lines).expect("a timeline");
}

fn recorded(timeline: &Path) -> BTreeMap<u64, Map<String, Value>> {
    let text = fs::read_to_string(timeline).expect("a timeline");
    let mut place = 0;
    let mut events = BTreeMap::new();
    for line in text.split_inclusive('\n') {
        if let Ok(fields) = serde_json::from_str(line) {
            events.insert(place, fields);
        }
        place += line.len() as u64;
    }
    events
}
