//! Sends the requests of a probe, within a time limit.

use std::io::{self, Read};
use std::time::{Duration, Instant};

use overtone_net::Network;
use rustls::Error as TlsError;
use serde::Serialize;
use ureq::http::request::Builder;
use ureq::http::{Request, Uri};
use ureq::tls::TlsConfig;
use ureq::{Agent, AsSendBody, Error};

use crate::probe::response::{self, Response};
use crate::probe::server_message::{error_message, sanitize};
use crate::probe::{Account, ProbeOutcome, ProbeResult, TlsFault};

/// Longer answers are cut.
const MAX_BODY: u64 = 64 * 1024;
const VERSION_HEADER: (&str, &str) = ("anthropic-version", "2023-06-01");

/// Probes a provider. All requests together take no longer than `timeout`.
pub fn probe(account: &Account, network: &Network, timeout: Duration) -> ProbeResult {
    let started = Instant::now();
    let answer = ProbeClient::new(account, network, started + timeout).and_then(|client| client.probe());
    let (outcome, message) = answer.unwrap_or_else(|outcome| (outcome, None));
    let sanitized = |text: String| Some(sanitize(&text, &account.secrets())).filter(|text| !text.is_empty());
    let outcome = match outcome {
        ProbeOutcome::Redirected { to } => ProbeOutcome::Redirected { to: to.and_then(sanitized) },
        outcome => outcome,
    };
    ProbeResult { outcome, server_message: message.and_then(sanitized), duration: started.elapsed() }
}

/// Whether a request contains credentials.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Credentials {
    Included,
    /// The custom headers are omitted as well, since one of them may be the token.
    Omitted,
}

/// The smallest request to the Messages API.
#[derive(Serialize)]
struct MessageRequest<'a> {
    model: &'a str,
    max_tokens: u32,
    messages: [Message; 1],
}

#[derive(Serialize)]
struct Message {
    role: &'static str,
    content: &'static str,
}

struct ProbeClient<'a> {
    account: &'a Account,
    agent: Agent,
    deadline: Instant,
}

/// An outcome with the server's message, or an outcome without an answer of the server.
type Answer = Result<(ProbeOutcome, Option<String>), ProbeOutcome>;

impl<'a> ProbeClient<'a> {
    fn new(account: &'a Account, network: &Network, deadline: Instant) -> Result<Self, ProbeOutcome> {
        let base: Uri = account.base_url.parse().map_err(|_| ProbeOutcome::BadAddress)?;
        let is_web = matches!(base.scheme_str(), Some("http" | "https"));
        if !is_web || matches!(base.host(), None | Some("")) {
            return Err(ProbeOutcome::BadAddress);
        }
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(network.proxy(&base)?)
            .tls_config(if base.scheme_str() == Some("https") {
                network.tls()?
            } else {
                TlsConfig::default()
            });
        Ok(Self { account, agent: config.build().new_agent(), deadline })
    }

    fn probe(&self) -> Answer {
        let listed = self.list_models(Credentials::Included)?;
        match response::models_outcome(&listed) {
            Some(ProbeOutcome::Works) if self.is_list_public() => {}
            Some(outcome) => return Ok((outcome, error_message(&listed.body))),
            None => {}
        }
        let answered = self.send_message()?;
        Ok((response::message_outcome(self.account, &answered), error_message(&answered.body)))
    }

    /// Whether the list of models is available without a token, so that it does not prove that the token is valid.
    fn is_list_public(&self) -> bool {
        match self.list_models(Credentials::Omitted) {
            Ok(listed) => response::models_outcome(&listed) == Some(ProbeOutcome::Works),
            Err(_) => false,
        }
    }

    fn list_models(&self, credentials: Credentials) -> Result<Response, ProbeOutcome> {
        let request = self.request("GET", "models", credentials);
        self.send(request.body(()).map_err(|_| ProbeOutcome::BadHeader)?)
    }

    fn send_message(&self) -> Result<Response, ProbeOutcome> {
        let message = Message { role: "user", content: "hi" };
        let body = MessageRequest { model: &self.account.model, max_tokens: 1, messages: [message] };
        let body = serde_json::to_string(&body).unwrap_or_default();
        let request = self.request("POST", "messages", Credentials::Included);
        let request = request.header("content-type", "application/json").body(body);
        self.send(request.map_err(|_| ProbeOutcome::BadHeader)?)
    }

    fn request(&self, method: &str, resource: &str, credentials: Credentials) -> Builder {
        let address = format!("{}/v1/{resource}", self.account.base_url);
        let mut request =
            Request::builder().method(method).uri(address).header(VERSION_HEADER.0, VERSION_HEADER.1);
        if credentials == Credentials::Included {
            for (name, value) in self.account.credentials.iter().chain(&self.account.headers) {
                request = request.header(name, value);
            }
        }
        request
    }

    fn send(&self, request: Request<impl AsSendBody>) -> Result<Response, ProbeOutcome> {
        let remaining = self.deadline.saturating_duration_since(Instant::now());
        if remaining.is_zero() {
            return Err(ProbeOutcome::TimedOut);
        }
        let request = self.agent.configure_request(request).timeout_global(Some(remaining)).build();
        let mut response = self.agent.run(request).map_err(|error| outcome_of_error(&error))?;
        let mut body = Vec::new();
        let read = response.body_mut().as_reader().take(MAX_BODY).read_to_end(&mut body);
        read.map_err(|error| outcome_of_error(&Error::from(error)))?;
        let location = response.headers().get("location").and_then(|value| value.to_str().ok());
        Ok(Response { status: response.status().as_u16(), location: location.map(str::to_owned), body })
    }
}

fn outcome_of_error(error: &Error) -> ProbeOutcome {
    match error {
        Error::Timeout(_) => ProbeOutcome::TimedOut,
        Error::HostNotFound => ProbeOutcome::UnknownHost,
        Error::Rustls(error) => ProbeOutcome::Tls { fault: tls_fault(error) },
        Error::Tls(_) => ProbeOutcome::Tls { fault: TlsFault::Handshake },
        Error::Http(_) => ProbeOutcome::BadHeader,
        Error::BadUri(_) => ProbeOutcome::BadAddress,
        Error::Protocol(_) => ProbeOutcome::NotTheApi,
        Error::InvalidProxyUrl | Error::ConnectProxyFailed(_) => ProbeOutcome::ProxyFailed,
        Error::Io(error) => outcome_of_io_error(error),
        _ => ProbeOutcome::Unreachable,
    }
}

fn outcome_of_io_error(error: &io::Error) -> ProbeOutcome {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<TlsError>());
    match (inner, error.kind()) {
        (Some(error), _) => ProbeOutcome::Tls { fault: tls_fault(error) },
        (None, io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock) => ProbeOutcome::TimedOut,
        (None, io::ErrorKind::ConnectionRefused) => ProbeOutcome::ConnectionRefused,
        // The standard library has no error kind for it, only this message.
        _ if error.to_string().starts_with("failed to lookup address") => ProbeOutcome::UnknownHost,
        _ => ProbeOutcome::Unreachable,
    }
}

fn tls_fault(error: &TlsError) -> TlsFault {
    match error {
        TlsError::InvalidCertificate(_) | TlsError::NoCertificatesPresented => TlsFault::Certificate,
        _ => TlsFault::Handshake,
    }
}
