//! A collector on this machine: takes what is sent, answers as it is told to.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point;
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;

const WATCHDOG: Duration = Duration::from_mins(10);

#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) at: Instant,
    pub(crate) path: String,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
    pub(crate) is_taken: bool,
}

/// A status with a head and a body.
pub(crate) type Answer = (u16, &'static str, Vec<u8>);

#[derive(Debug, Default)]
struct Inner {
    requests: Vec<Request>,
    /// For the next requests for spans; all others are taken.
    answers: VecDeque<Answer>,
}

#[derive(Debug, Clone)]
pub(crate) struct Collector {
    address: SocketAddr,
    inner: Arc<Mutex<Inner>>,
}

impl Collector {
    pub(crate) fn start() -> Self {
        Self::on(TcpListener::bind("127.0.0.1:0").unwrap())
    }

    /// An address where nobody listens yet.
    pub(crate) fn nowhere() -> SocketAddr {
        TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
    }

    pub(crate) fn start_at(address: SocketAddr) -> Self {
        Self::on(TcpListener::bind(address).unwrap())
    }

    fn on(listener: TcpListener) -> Self {
        let collector = Self { address: listener.local_addr().unwrap(), inner: Arc::default() };
        let inner = Arc::clone(&collector.inner);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                answer(stream, &inner);
            }
        });
        collector
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn will_answer(&self, answer: Answer) {
        self.inner.lock().unwrap().answers.push_back(answer);
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.inner.lock().unwrap().requests.clone()
    }

    /// The spans that were taken, batch by batch, each with the resource it came with.
    pub(crate) fn batches(&self) -> Vec<(Resource, Vec<Span>)> {
        let requests = self.requests();
        let taken = requests.iter().filter(|request| request.path == "/v1/traces" && request.is_taken);
        taken.flat_map(|request| batches_in(&request.body)).collect()
    }

    pub(crate) fn spans(&self) -> Vec<Span> {
        self.batches().into_iter().flat_map(|(_, spans)| spans).collect()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.spans().into_iter().map(|span| span.name).collect()
    }

    /// The last value of a sum with these attributes.
    pub(crate) fn sum(&self, metric: &str, wanted: &[(&str, &str)]) -> Option<f64> {
        let requests = self.requests();
        let last = requests.iter().rev().find(|request| request.path == "/v1/metrics")?;
        let message = ExportMetricsServiceRequest::decode(&*last.body).unwrap();
        let scopes = message.resource_metrics.into_iter().flat_map(|all| all.scope_metrics);
        let found = scopes.flat_map(|scope| scope.metrics).find(|found| found.name == metric)?;
        let Some(Data::Sum(sum)) = found.data else { panic!("{metric} is no sum") };
        assert!(sum.is_monotonic && sum.aggregation_temporality == 2, "{metric}");
        let wanted: Vec<_> =
            wanted.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let point = sum.data_points.into_iter().find(|point| texts(&point.attributes) == wanted)?;
        assert!(point.start_time_unix_nano > 0 && point.time_unix_nano >= point.start_time_unix_nano);
        match point.value? {
            number_data_point::Value::AsDouble(number) => Some(number),
            #[allow(clippy::cast_precision_loss, reason = "small numbers")]
            number_data_point::Value::AsInt(number) => Some(number as f64),
        }
    }
}

fn batches_in(body: &[u8]) -> Vec<(Resource, Vec<Span>)> {
    let message = ExportTraceServiceRequest::decode(body).unwrap();
    let of_resource = message.resource_spans.into_iter().map(|all| {
        let spans = all.scope_spans.into_iter().flat_map(|scope| scope.spans);
        (all.resource.unwrap(), spans.collect())
    });
    of_resource.collect()
}

/// The texts among some attributes.
pub(crate) fn texts(attributes: &[KeyValue]) -> Vec<(String, String)> {
    let text = |pair: &KeyValue| match pair.value.as_ref()?.value.as_ref()? {
        Value::StringValue(text) => Some((pair.key.clone(), text.clone())),
        _ => None,
    };
    attributes.iter().filter_map(text).collect()
}

pub(crate) fn value(attributes: &[KeyValue], key: &str) -> Option<Value> {
    attributes.iter().find(|pair| pair.key == key)?.value.clone()?.value
}

fn answer(mut stream: TcpStream, inner: &Mutex<Inner>) {
    let Some(mut request) = read(&stream) else { return };
    let mut inner = inner.lock().unwrap();
    let scripted = if request.path == "/v1/traces" { inner.answers.pop_front() } else { None };
    let (status, head, body) = scripted.unwrap_or((200, "", Vec::new()));
    request.is_taken = status == 200;
    inner.requests.push(request);
    drop(inner);
    let length = body.len();
    let text = format!("HTTP/1.1 {status} X\r\n{head}content-length: {length}\r\nconnection: close\r\n\r\n");
    let _ = stream.write_all(&[text.as_bytes(), &body].concat());
}

fn read(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let lower = head.to_lowercase();
    let length = lower.split("content-length: ").nth(1)?.lines().next()?.parse().ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let path = head.split(' ').nth(1)?.to_owned();
    Some(Request { at: Instant::now(), path, head: lower, body, is_taken: false })
}

pub(crate) fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < WATCHDOG, "waited in vain for {what}");
        thread::sleep(Duration::from_millis(5));
    }
}
