//! Real servers on the loopback, each answering as one kind of provider does.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread;

/// A request as it came in, its headers with names in lower case.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) line: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn is_anonymous(&self) -> bool {
        self.header("authorization").is_none() && self.header("x-api-key").is_none()
    }
}

/// Status line and headers, and the body.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    head: String,
    body: String,
}

impl Reply {
    pub(crate) fn new(status: u16, body: &str) -> Self {
        Self { head: format!("HTTP/1.1 {status} X"), body: body.to_owned() }
    }

    pub(crate) fn header(mut self, line: &str) -> Self {
        self.head += "\r\n";
        self.head += line;
        self
    }

    pub(crate) fn models() -> Self {
        Self::new(200, r#"{"data":[{"id":"m"}]}"#)
    }

    fn bytes(&self) -> String {
        let Self { head, body } = self;
        format!("{head}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
    }
}

#[derive(Debug)]
pub(crate) struct Server {
    port: u16,
    seen: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// Answers each request with what `answer` makes of it.
    pub(crate) fn new(answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (log, answer) = (Arc::clone(&seen), Arc::new(answer));
        let port = listen(move |stream| {
            let Some(request) = read(&stream) else { return };
            log.lock().unwrap().push(request.clone());
            let _ = (&stream).write_all(answer(&request).bytes().as_bytes());
        });
        Self { port, seen }
    }

    /// The same answer to every authenticated request, and a refusal to others.
    pub(crate) fn always(reply: Reply) -> Self {
        Self::new(move |request| if request.is_anonymous() { Reply::new(401, "{}") } else { reply.clone() })
    }

    pub(crate) fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(crate) fn seen(&self) -> Vec<Request> {
        self.seen.lock().unwrap().clone()
    }
}

/// Gives every connection to `serve`, each in a thread of its own, and returns the port.
pub(crate) fn listen(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let serve = Arc::new(serve);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let serve = Arc::clone(&serve);
            thread::spawn(move || serve(stream));
        }
    });
    port
}

/// Takes connections and never answers, until the sender is dropped.
pub(crate) fn silent() -> (u16, Sender<()>) {
    let (alive, ended): (_, Receiver<()>) = mpsc::channel();
    let ended = Mutex::new(ended);
    let port = listen(move |_stream| {
        let _ = ended.lock().unwrap().recv();
    });
    (port, alive)
}

fn read(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let line = next_line(&mut reader)?;
    let mut headers = Vec::new();
    while let Some(header) = next_line(&mut reader).filter(|header| !header.is_empty()) {
        let (name, value) = header.split_once(':')?;
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![0; length.map_or(0, |(_, value)| value.parse().unwrap())];
    reader.read_exact(&mut body).ok()?;
    Some(Request { line, headers, body: String::from_utf8(body).ok()? })
}

fn next_line(reader: &mut impl BufRead) -> Option<String> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|count| *count > 0)?;
    Some(line.trim_end().to_owned())
}
