//! A fake collector on this machine, which records requests and sends scripted responses.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point;
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, Span};
use prost::Message;

#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) at: Instant,
    pub(crate) path: String,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
    pub(crate) is_accepted: bool,
}

/// A status, extra headers and a body.
pub(crate) type Response = (u16, &'static str, Vec<u8>);

#[derive(Debug, Default)]
struct Inner {
    requests: Vec<Request>,
    /// For the next requests with spans; all others are accepted.
    responses: VecDeque<Response>,
}

#[derive(Debug, Clone)]
pub(crate) struct Collector {
    address: SocketAddr,
    inner: Arc<Mutex<Inner>>,
}

impl Collector {
    pub(crate) fn start() -> Self {
        Self::serve(TcpListener::bind("127.0.0.1:0").unwrap())
    }

    /// An address where no collector listens yet.
    pub(crate) fn unused_address() -> SocketAddr {
        TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
    }

    pub(crate) fn start_at(address: SocketAddr) -> Self {
        Self::serve(TcpListener::bind(address).unwrap())
    }

    fn serve(listener: TcpListener) -> Self {
        let collector = Self { address: listener.local_addr().unwrap(), inner: Arc::default() };
        let inner = Arc::clone(&collector.inner);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                respond(stream, &inner);
            }
        });
        collector
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn will_respond(&self, response: Response) {
        self.inner.lock().unwrap().responses.push_back(response);
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.inner.lock().unwrap().requests.clone()
    }

    /// The accepted spans, batch by batch, each with its resource.
    pub(crate) fn batches(&self) -> Vec<(Resource, Vec<Span>)> {
        let requests = self.requests();
        let accepted = requests.iter().filter(|request| request.path == "/v1/traces" && request.is_accepted);
        accepted.flat_map(|request| batches_in(&request.body)).collect()
    }

    pub(crate) fn spans(&self) -> Vec<Span> {
        self.batches().into_iter().flat_map(|(_, spans)| spans).collect()
    }

    pub(crate) fn span_names(&self) -> Vec<String> {
        self.spans().into_iter().map(|span| span.name).collect()
    }

    /// The last value of a sum with these attributes.
    pub(crate) fn sum(&self, metric: &str, attributes: &[(&str, &str)]) -> Option<f64> {
        let requests = self.requests();
        let last = requests.iter().rev().find(|request| request.path == "/v1/metrics")?;
        let message = ExportMetricsServiceRequest::decode(&*last.body).unwrap();
        let scopes = message.resource_metrics.into_iter().flat_map(|all| all.scope_metrics);
        let found = scopes.flat_map(|scope| scope.metrics).find(|found| found.name == metric)?;
        let Some(Data::Sum(sum)) = found.data else { panic!("{metric} is not a sum") };
        assert!(sum.is_monotonic && sum.aggregation_temporality == 2, "{metric}");
        let attributes: Vec<_> =
            attributes.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let point =
            sum.data_points.into_iter().find(|point| text_attributes(&point.attributes) == attributes)?;
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
    let batch = |batch: ResourceSpans| {
        let spans = batch.scope_spans.into_iter().flat_map(|scope| scope.spans);
        (batch.resource.unwrap(), spans.collect())
    };
    message.resource_spans.into_iter().map(batch).collect()
}

/// The attributes whose values are texts.
pub(crate) fn text_attributes(attributes: &[KeyValue]) -> Vec<(String, String)> {
    let text = |pair: &KeyValue| match pair.value.as_ref()?.value.as_ref()? {
        Value::StringValue(text) => Some((pair.key.clone(), text.clone())),
        _ => None,
    };
    attributes.iter().filter_map(text).collect()
}

pub(crate) fn value(attributes: &[KeyValue], key: &str) -> Option<Value> {
    attributes.iter().find(|pair| pair.key == key)?.value.clone()?.value
}

fn respond(mut stream: TcpStream, inner: &Mutex<Inner>) {
    let Some(mut request) = read_request(&stream) else { return };
    let mut inner = inner.lock().unwrap();
    let scripted = if request.path == "/v1/traces" { inner.responses.pop_front() } else { None };
    let (status, head, body) = scripted.unwrap_or((200, "", Vec::new()));
    request.is_accepted = status == 200;
    inner.requests.push(request);
    drop(inner);
    let length = body.len();
    let text = format!("HTTP/1.1 {status} X\r\n{head}content-length: {length}\r\nconnection: close\r\n\r\n");
    let _ = stream.write_all(&[text.as_bytes(), &body].concat());
}

fn read_request(stream: &TcpStream) -> Option<Request> {
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
    Some(Request { at: Instant::now(), path, head: lower, body, is_accepted: false })
}
