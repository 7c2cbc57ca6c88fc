//! Asking, within a time.

use std::io::{self, Read};
use std::time::{Duration, Instant};

use rustls::Error as TlsError;
use serde_json::json;
use ureq::http::request::Builder;
use ureq::http::{Request, Uri};
use ureq::tls::TlsConfig;
use ureq::{Agent, AsSendBody, Error};

use crate::judge::{self, Response};
use crate::said::{complaint, shown};
use crate::{Account, Answer, Outcome, TlsFault, Way};

/// More of an answer is not read.
const MAX_BODY: u64 = 64 * 1024;
const VERSION: (&str, &str) = ("anthropic-version", "2023-06-01");

/// Asks until something is certain, and for no longer than `patience` in all.
pub fn ask(account: &Account, way: &Way, patience: Duration) -> Answer {
    let started = Instant::now();
    let asked = Asker::new(account, way, started + patience).and_then(|asker| asker.ask());
    let (outcome, said) = asked.unwrap_or_else(|outcome| (outcome, None));
    let fit = |words: String| Some(shown(&words, &account.secrets())).filter(|words| !words.is_empty());
    let outcome = match outcome {
        Outcome::Redirected { to } => Outcome::Redirected { to: to.and_then(fit) },
        outcome => outcome,
    };
    Answer { outcome, said: said.and_then(fit), took: started.elapsed() }
}

/// Whether a request says who asks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum As {
    User,
    /// Without the user's own headers, too: one of them may be the token.
    Nobody,
}

struct Asker<'a> {
    account: &'a Account,
    agent: Agent,
    until: Instant,
}

/// An outcome and the server's words for it.
type Asked = Result<(Outcome, Option<String>), Outcome>;

impl<'a> Asker<'a> {
    fn new(account: &'a Account, way: &Way, until: Instant) -> Result<Self, Outcome> {
        let base: Uri = account.base.parse().map_err(|_| Outcome::BadAddress)?;
        let is_web = matches!(base.scheme_str(), Some("http" | "https"));
        if !is_web || base.host().is_none_or(str::is_empty) {
            return Err(Outcome::BadAddress);
        }
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(way.proxy(&base)?)
            .tls_config(if base.scheme_str() == Some("https") { way.tls()? } else { TlsConfig::default() });
        Ok(Self { account, agent: config.build().new_agent(), until })
    }

    fn ask(&self) -> Asked {
        let listed = self.models(As::User)?;
        match judge::models(&listed) {
            Some(Outcome::Works) if self.is_public() => {}
            Some(outcome) => return Ok((outcome, complaint(&listed.body))),
            None => {}
        }
        let answered = self.message()?;
        Ok((judge::message(self.account, &answered), complaint(&answered.body)))
    }

    /// A list that is shown to everyone says nothing about the token.
    fn is_public(&self) -> bool {
        self.models(As::Nobody).is_ok_and(|listed| judge::models(&listed) == Some(Outcome::Works))
    }

    fn models(&self, who: As) -> Result<Response, Outcome> {
        let request = self.request("GET", "models", who);
        self.send(request.body(()).map_err(|_| Outcome::BadHeader)?)
    }

    fn message(&self) -> Result<Response, Outcome> {
        let message = json!({ "role": "user", "content": "hi" });
        let body = json!({ "model": self.account.model, "max_tokens": 1, "messages": [message] });
        let request = self.request("POST", "messages", As::User);
        let request = request.header("content-type", "application/json").body(body.to_string());
        self.send(request.map_err(|_| Outcome::BadHeader)?)
    }

    fn request(&self, method: &str, what: &str, who: As) -> Builder {
        let address = format!("{}/v1/{what}", self.account.base);
        let request = Request::builder().method(method).uri(address).header(VERSION.0, VERSION.1);
        let headers = self.account.identity.iter().chain(&self.account.headers);
        let headers = headers.filter(|_| who == As::User);
        headers.fold(request, |request, (name, value)| request.header(name, value))
    }

    fn send(&self, request: Request<impl AsSendBody>) -> Result<Response, Outcome> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Outcome::TooLate);
        }
        let request = self.agent.configure_request(request).timeout_global(Some(left)).build();
        let mut response = self.agent.run(request).map_err(|error| failed(&error))?;
        let mut body = Vec::new();
        let read = response.body_mut().as_reader().take(MAX_BODY).read_to_end(&mut body);
        read.map_err(|error| failed(&Error::from(error)))?;
        let location = response.headers().get("location").and_then(|value| value.to_str().ok());
        Ok(Response { status: response.status().as_u16(), location: location.map(str::to_owned), body })
    }
}

fn failed(error: &Error) -> Outcome {
    match error {
        Error::Timeout(_) => Outcome::TooLate,
        Error::HostNotFound => Outcome::UnknownHost,
        Error::Rustls(error) => Outcome::Tls { fault: fault(error) },
        Error::Tls(_) => Outcome::Tls { fault: TlsFault::Handshake },
        Error::Http(_) => Outcome::BadHeader,
        Error::BadUri(_) => Outcome::BadAddress,
        Error::Protocol(_) => Outcome::NotTheApi,
        Error::InvalidProxyUrl | Error::ConnectProxyFailed(_) => Outcome::ProxyFailed,
        Error::Io(error) => by_kind(error),
        _ => Outcome::Unreachable,
    }
}

fn by_kind(error: &io::Error) -> Outcome {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<TlsError>());
    match (inner, error.kind()) {
        (Some(error), _) => Outcome::Tls { fault: fault(error) },
        (None, io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock) => Outcome::TooLate,
        (None, io::ErrorKind::ConnectionRefused) => Outcome::ConnectionRefused,
        // The standard library has no kind for it, only these words.
        _ if error.to_string().starts_with("failed to lookup address") => Outcome::UnknownHost,
        _ => Outcome::Unreachable,
    }
}

fn fault(error: &TlsError) -> TlsFault {
    match error {
        TlsError::InvalidCertificate(_) | TlsError::NoCertificatesPresented => TlsFault::Certificate,
        _ => TlsFault::Handshake,
    }
}
