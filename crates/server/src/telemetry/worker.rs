//! The export thread: reads a session's timeline, sends what has ended, and records the progress.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceResponse;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceResponse;
use overtone_net::Backoff;
use overtone_session::view::read_ledger_from;
use overtone_store::{Home, Log, Session, SessionId, clock};
use prost::Message;

use crate::telemetry::encode::Sender;
use crate::telemetry::exporter::Setup;
use crate::telemetry::http::{Client, SendOutcome};
use crate::telemetry::ids::{Ids, instance};
use crate::telemetry::progress::{Cursor, ExportProgress};
use crate::telemetry::tracker::{FinishedSpan, TimelineTracker};
use crate::telemetry::usage;
use crate::telemetry::work_queue::{Work, WorkQueue};

/// How often all sessions are checked for changes that were not reported, and the sums are sent again.
const SCAN_INTERVAL: Duration = Duration::from_mins(1);
/// The number of spans in one message.
const MAX_SPANS_PER_MESSAGE: usize = 512;
const TRACES_PATH: &str = "/v1/traces";
const METRICS_PATH: &str = "/v1/metrics";

#[derive(Debug)]
pub(crate) struct Worker {
    home: Home,
    sender: Sender,
    client: Client,
    progress: ExportProgress,
    log: Log,
    queue: Arc<WorkQueue>,
    backoff: Backoff,
    trackers: HashMap<SessionId, TimelineTracker>,
    /// How often in a row the collector could not be reached.
    failures: u32,
    /// The collector rejects metrics, and that was logged.
    rejects_metrics: bool,
}

/// Whether the collector answered, with an acceptance or a rejection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Collector {
    Answered,
    Unreachable,
}

/// Whether a session has to be checked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Remaining {
    Nothing,
    More,
}

impl Worker {
    pub(crate) fn new(
        setup: Setup,
        client: Client,
        progress: ExportProgress,
        log: Log,
        queue: Arc<WorkQueue>,
    ) -> Self {
        let instance = instance(&setup.machine_name, setup.home.root());
        Self {
            home: setup.home,
            sender: Sender { machine: setup.machine_name, version: setup.version, instance },
            client,
            progress,
            log,
            queue,
            backoff: setup.backoff,
            trackers: HashMap::new(),
            failures: 0,
            rejects_metrics: false,
        }
    }

    /// Runs until the export is stopped.
    pub(crate) fn run(mut self) {
        self.scan_sessions();
        let mut scan_at = Instant::now() + SCAN_INTERVAL;
        loop {
            match self.queue.next(scan_at) {
                Work::Session(session) => self.export_session(&session),
                Work::Metrics => self.send_metrics(),
                Work::Scan => {
                    self.scan_sessions();
                    scan_at = Instant::now() + SCAN_INTERVAL;
                }
                Work::Stop => return,
            }
        }
    }

    /// Queues sessions whose change was not reported. The sums are sent again, too: some backends drop a series that is
    /// not repeated.
    fn scan_sessions(&mut self) {
        let Ok(sessions) = self.home.sessions() else { return };
        self.progress.retain(&sessions);
        self.trackers.retain(|id, _| sessions.iter().any(|session| session.id() == id));
        for session in sessions {
            let offset = match self.trackers.get(session.id()) {
                Some(tracker) => tracker.offset,
                None => self.progress.cursor(session.id()).offset,
            };
            match timeline_length(&session) {
                Some(length) if length != offset => self.queue.push(session.id().clone()),
                _ => {}
            }
        }
        if !self.progress.totals().is_empty() {
            self.queue.request_metrics();
        }
    }

    fn export_session(&mut self, id: &SessionId) {
        let session = self.home.session(id);
        match self.export_next(&session) {
            Ok(Remaining::More) => self.queue.push(id.clone()),
            Ok(Remaining::Nothing) => {}
            Err(error) => self.log.write_line(&format!("cannot read the timeline of {id}: {error}")),
        }
    }

    /// Exports the next part of a session. If it cannot be sent, the progress stays as it was.
    fn export_next(&mut self, session: &Session) -> io::Result<Remaining> {
        let Some(length) = timeline_length(session) else { return Ok(Remaining::Nothing) };
        let path = session.timeline_file();
        let mut tracker = self.tracker(session.id(), &path, length)?;
        let before = tracker.offset;
        let mut batch = tracker.read_next(&path)?;
        let counted = self.progress.cursor(session.id()).usage_offset;
        let (entries, usage_offset) = read_ledger_from(session, counted)?;
        if tracker.offset == before && entries.is_empty() {
            self.trackers.insert(session.id().clone(), tracker);
            return Ok(Remaining::Nothing);
        }
        usage::add_to_spans(&self.home, session, &mut batch)?;
        batch.counts.extend(usage::count_entries(&self.home, session, &entries));
        if self.send_spans(session, &batch.finished) == Collector::Unreachable {
            return Ok(Remaining::More);
        }
        let cursor = Cursor { usage_offset, ..tracker.cursor() };
        self.progress.advance(session.id(), &cursor, &batch.counts, !batch.finished.is_empty());
        self.trackers.insert(session.id().clone(), tracker);
        if !batch.counts.is_empty() {
            self.queue.request_metrics();
        }
        Ok(Remaining::More)
    }

    /// The tracker at the last exported offset. A timeline that has become shorter is a new file and is read from its
    /// beginning.
    fn tracker(&self, id: &SessionId, path: &Path, length: u64) -> io::Result<TimelineTracker> {
        if let Some(tracker) = self.trackers.get(id)
            && tracker.offset <= length
        {
            return Ok(tracker.clone());
        }
        let cursor = self.progress.cursor(id);
        let cursor = if cursor.offset <= length { cursor } else { Cursor::default() };
        TimelineTracker::at_cursor(path, &cursor)
    }

    fn send_spans(&mut self, session: &Session, finished: &[FinishedSpan]) -> Collector {
        let id = session.id();
        let ids = Ids::new(&self.sender.machine, id);
        let project = session.origin().project;
        let project = project.as_deref().and_then(Path::file_name).map(|name| name.to_string_lossy());
        for spans in finished.chunks(MAX_SPANS_PER_MESSAGE) {
            let request = self.sender.traces(id.as_str(), project.as_deref(), &ids, spans);
            let what = format!("{} spans of session {id}", spans.len());
            match self.client.send(TRACES_PATH, &request) {
                SendOutcome::Accepted(response) => self.accepted(&what, rejected_spans(&response)),
                SendOutcome::Rejected(error) => {
                    self.mark_reachable();
                    self.log.write_line(&format!("dropped {what}: {error}"));
                }
                SendOutcome::Retry { error, after } => {
                    self.schedule_retry(&what, &error, after);
                    return Collector::Unreachable;
                }
            }
        }
        Collector::Answered
    }

    fn send_metrics(&mut self) {
        let request = self.sender.metrics(self.progress.totals(), self.progress.since(), clock::now());
        match self.client.send(METRICS_PATH, &request) {
            SendOutcome::Accepted(response) => {
                self.rejects_metrics = false;
                self.accepted("the metrics", rejected_points(&response));
            }
            SendOutcome::Rejected(error) => {
                self.mark_reachable();
                // Metrics are sent again every minute; the rejection is logged once.
                if !self.rejects_metrics {
                    self.rejects_metrics = true;
                    self.log.write_line(&format!("dropped the metrics: {error}"));
                }
            }
            SendOutcome::Retry { error, after } => {
                self.queue.request_metrics();
                self.schedule_retry("the metrics", &error, after);
            }
        }
    }

    fn mark_reachable(&mut self) {
        if self.failures > 0 {
            self.failures = 0;
            self.queue.mark_reachable();
        }
    }

    /// Logs the part of an accepted message that the collector rejected.
    fn accepted(&mut self, what: &str, rejected: Option<PartialRejection>) {
        self.mark_reachable();
        if let Some(PartialRejection { count, reason }) = rejected {
            self.log.write_line(&format!(
                "the collector refused {count} of {what}: {}",
                self.client.redact(&reason)
            ));
        }
    }

    fn schedule_retry(&mut self, what: &str, error: &str, after: Option<Duration>) {
        self.failures = self.failures.saturating_add(1);
        self.queue.pause(self.backoff.delay(self.failures, after));
        // Only the first failure is logged; the others would repeat it.
        if self.failures == 1 {
            self.log.write_line(&format!("cannot send {what} yet: {error}"));
        }
    }
}

fn timeline_length(session: &Session) -> Option<u64> {
    session.timeline_file().symlink_metadata().ok().map(|metadata| metadata.len())
}

/// How many items of a message the collector rejected, and why.
struct PartialRejection {
    count: i64,
    reason: String,
}

fn rejected_spans(response: &[u8]) -> Option<PartialRejection> {
    let partial = ExportTraceServiceResponse::decode(response).ok()?.partial_success?;
    partial_rejection(partial.rejected_spans, partial.error_message)
}

fn rejected_points(response: &[u8]) -> Option<PartialRejection> {
    let partial = ExportMetricsServiceResponse::decode(response).ok()?.partial_success?;
    partial_rejection(partial.rejected_data_points, partial.error_message)
}

fn partial_rejection(count: i64, reason: String) -> Option<PartialRejection> {
    if count > 0 { Some(PartialRejection { count, reason }) } else { None }
}
