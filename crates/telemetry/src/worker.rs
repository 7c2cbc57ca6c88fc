//! The thread: reads on in a session, sends what has ended there, and notes how far it came.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceResponse;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceResponse;
use overtone_store::{Home, Log, Session, SessionId, clock};
use overtone_view::{AgentUsage, agent_usage};
use prost::Message;

use crate::encode::Origin;
use crate::exporter::Setup;
use crate::http::{Attempt, Client};
use crate::ids::{Ids, instance};
use crate::inbox::{Inbox, Work};
use crate::ledger::Ledger;
use crate::pace::Pace;
use crate::plain;
use crate::totals::{Count, Metric};
use crate::trail::{Attribute, Finished, Harvest, Trail};

/// What nobody reported is looked for this often, and the sums are said again.
const LOOK_EVERY: Duration = Duration::from_mins(1);
/// Spans in one message.
const MAX_BATCH: usize = 512;
const TRACES: &str = "/v1/traces";
const METRICS: &str = "/v1/metrics";

#[derive(Debug)]
pub(crate) struct Worker {
    home: Home,
    origin: Origin,
    client: Client,
    ledger: Ledger,
    log: Log,
    inbox: Arc<Inbox>,
    pace: Pace,
    /// What is open in the sessions that were looked at.
    trails: HashMap<SessionId, Trail>,
    /// How often the collector could not be reached, since it last was.
    tries: u32,
    /// The collector takes no metrics, and that was told.
    refuses_metrics: bool,
}

/// Whether the collector answered, be it with a no.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reached {
    Yes,
    No,
}

/// Whether a session is to be looked at again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    Nothing,
    Something,
}

impl Worker {
    pub(crate) fn new(setup: Setup, client: Client, ledger: Ledger, log: Log, inbox: Arc<Inbox>) -> Self {
        let instance = instance(&setup.machine_name, setup.home.root());
        Self {
            home: setup.home,
            origin: Origin { machine: setup.machine_name, version: setup.version, instance },
            client,
            ledger,
            log,
            inbox,
            pace: setup.pace,
            trails: HashMap::new(),
            tries: 0,
            refuses_metrics: false,
        }
    }

    /// Until it is stopped.
    pub(crate) fn run(mut self) {
        self.look_around();
        let mut look_at = Instant::now() + LOOK_EVERY;
        loop {
            match self.inbox.next(look_at) {
                Work::Session(session) => self.read_on(&session),
                Work::Metrics => self.send_metrics(),
                Work::LookAround => {
                    self.look_around();
                    look_at = Instant::now() + LOOK_EVERY;
                }
                Work::Stop => return,
            }
        }
    }

    /// Finds what nobody told of. Some that collect sums forget what is not said again and again.
    fn look_around(&mut self) {
        let Ok(sessions) = self.home.sessions() else { return };
        self.ledger.retain(&sessions);
        self.trails.retain(|id, _| sessions.iter().any(|session| session.id() == id));
        for session in sessions {
            let read = self.trails.get(session.id()).map(|trail| trail.place);
            let read = read.unwrap_or_else(|| self.ledger.cursor(session.id()).place);
            if length(&session).is_some_and(|length| length != read) {
                self.inbox.put(session.id().clone());
            }
        }
        if !self.ledger.totals().is_empty() {
            self.inbox.ask_for_metrics();
        }
    }

    fn read_on(&mut self, id: &SessionId) {
        let session = self.home.session(id);
        match self.step(&session) {
            Ok(Left::Something) => self.inbox.put(id.clone()),
            Ok(Left::Nothing) => {}
            Err(error) => self.log.say(&format!("cannot read the timeline of {id}: {error}")),
        }
    }

    /// One step in a session. What could not be sent is left, as if it had not been read.
    fn step(&mut self, session: &Session) -> io::Result<Left> {
        let Some(length) = length(session) else { return Ok(Left::Nothing) };
        let path = session.timeline_file();
        let mut trail = self.trail(session.id(), &path, length)?;
        let before = trail.place;
        let mut harvest = trail.step(&path)?;
        if trail.place == before {
            self.trails.insert(session.id().clone(), trail);
            return Ok(Left::Nothing);
        }
        add_usage(session, &mut harvest);
        if self.send_spans(session, &harvest.finished) == Reached::No {
            return Ok(Left::Something);
        }
        self.ledger.advance(session.id(), &trail.cursor(), &harvest.counts, !harvest.finished.is_empty());
        self.trails.insert(session.id().clone(), trail);
        if !harvest.counts.is_empty() {
            self.inbox.ask_for_metrics();
        }
        Ok(Left::Something)
    }

    /// Where this session was left. A timeline that has become shorter is another one.
    fn trail(&self, id: &SessionId, path: &Path, length: u64) -> io::Result<Trail> {
        let known = self.trails.get(id).filter(|trail| trail.place <= length);
        let cursor = Some(self.ledger.cursor(id)).filter(|cursor| cursor.place <= length);
        known.map_or_else(|| Trail::at(path, &cursor.unwrap_or_default()), |trail| Ok(trail.clone()))
    }

    fn send_spans(&mut self, session: &Session, finished: &[Finished]) -> Reached {
        let id = session.id();
        let ids = Ids::new(&self.origin.machine, id);
        let project = session.origin().project;
        let project = project.as_deref().and_then(Path::file_name).map(|name| name.to_string_lossy());
        for some in finished.chunks(MAX_BATCH) {
            let request = self.origin.traces(id.as_str(), project.as_deref(), &ids, some);
            let what = format!("{} spans of session {id}", some.len());
            match self.client.send(TRACES, &request) {
                Attempt::Taken(answer) => self.taken(&what, refused_spans(&answer)),
                Attempt::Refused(problem) => {
                    self.answered();
                    self.log.say(&format!("dropped {what}: {problem}"));
                }
                Attempt::Later { problem, after } => {
                    self.put_off(&what, &problem, after);
                    return Reached::No;
                }
            }
        }
        Reached::Yes
    }

    fn send_metrics(&mut self) {
        let request = self.origin.metrics(self.ledger.totals(), self.ledger.since(), clock::now());
        match self.client.send(METRICS, &request) {
            Attempt::Taken(answer) => {
                self.refuses_metrics = false;
                self.taken("the metrics", refused_points(&answer));
            }
            Attempt::Refused(problem) => {
                self.answered();
                // They are said again every minute; that they are not wanted is said once.
                if !std::mem::replace(&mut self.refuses_metrics, true) {
                    self.log.say(&format!("dropped the metrics: {problem}"));
                }
            }
            Attempt::Later { problem, after } => {
                self.inbox.ask_for_metrics();
                self.put_off("the metrics", &problem, after);
            }
        }
    }

    fn answered(&mut self) {
        if self.tries > 0 {
            self.tries = 0;
            self.inbox.is_back();
        }
    }

    fn taken(&mut self, what: &str, refused: Option<(i64, String)>) {
        self.answered();
        if let Some((count, reason)) = refused {
            self.log.say(&format!("the collector refused {count} of {what}: {}", self.client.words(&reason)));
        }
    }

    fn put_off(&mut self, what: &str, problem: &str, after: Option<Duration>) {
        self.tries = self.tries.saturating_add(1);
        self.inbox.pause(self.pace.after(self.tries, after));
        // The first failure says what is wrong; the others would only repeat it.
        if self.tries == 1 {
            self.log.say(&format!("cannot send {what} yet: {problem}"));
        }
    }
}

fn length(session: &Session) -> Option<u64> {
    session.timeline_file().symlink_metadata().ok().map(|about| about.len())
}

/// What the agents have used, from the conversations that the client keeps.
fn add_usage(session: &Session, harvest: &mut Harvest) {
    let Some(transcript) = session.origin().transcript else { return };
    for one in &mut harvest.finished {
        let Some(agent_id) = &one.agent_id else { continue };
        // A conversation that cannot be read says nothing.
        if let Ok(Some(usage)) = agent_usage(&transcript, agent_id) {
            harvest.counts.extend(spent(one, &usage));
            one.attributes.extend(used(&usage));
        }
    }
}

/// What of a batch was not taken, and why.
fn refused_spans(answer: &[u8]) -> Option<(i64, String)> {
    let refused = ExportTraceServiceResponse::decode(answer).ok()?.partial_success?;
    (refused.rejected_spans > 0).then_some((refused.rejected_spans, refused.error_message))
}

fn refused_points(answer: &[u8]) -> Option<(i64, String)> {
    let refused = ExportMetricsServiceResponse::decode(answer).ok()?.partial_success?;
    (refused.rejected_data_points > 0).then_some((refused.rejected_data_points, refused.error_message))
}

fn by_kind(usage: &AgentUsage) -> [(&'static str, &'static str, u64); 4] {
    let tokens = &usage.tokens;
    [
        ("input", "overtone.tokens.input", tokens.input),
        ("output", "overtone.tokens.output", tokens.output),
        ("cache_read", "overtone.tokens.cache_read", tokens.cache_read),
        ("cache_write", "overtone.tokens.cache_write", tokens.cache_write),
    ]
}

fn used(usage: &AgentUsage) -> Vec<(&'static str, Attribute)> {
    let whole = |count: u64| Attribute::Whole(i64::try_from(count).unwrap_or(i64::MAX));
    let mut all: Vec<_> = by_kind(usage).map(|(_, key, count)| (key, whole(count))).to_vec();
    let model = usage.model.as_deref().map(|model| Attribute::Text(plain::model(model).to_owned()));
    all.extend(model.map(|model| ("overtone.model", model)));
    // A model without a known price has cost something, but nobody knows what.
    if usage.tokens.cost_usd > 0.0 {
        all.push(("overtone.cost_usd", Attribute::Number(usage.tokens.cost_usd)));
    }
    all
}

#[allow(clippy::cast_precision_loss, reason = "counts of tokens are far below 2^52")]
fn spent(one: &Finished, usage: &AgentUsage) -> Vec<Count> {
    let stage = one.stage.as_deref().unwrap_or_default();
    let count = |metric, detail, amount| Count::new(metric, &one.workflow, stage, detail, amount);
    let tokens = by_kind(usage).map(|(kind, _, amount)| count(Metric::Tokens, kind, amount as f64));
    let cost = count(Metric::CostUsd, "", usage.tokens.cost_usd);
    tokens.into_iter().chain([cost]).filter(Count::is_something).collect()
}
