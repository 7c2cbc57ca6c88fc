//! What came out of one start of the client.

use serde_json::Value;

use crate::child::Ended;
use crate::player::Log;
use crate::{Actor, Exit, Request, Requests};

/// A finished run: what the client printed and what it asked for.
#[derive(Debug)]
pub struct Run {
    pub session_id: String,
    /// The lines of its stream-json output.
    pub events: Vec<Value>,
    pub exit: Exit,
    pub stdout: String,
    pub stderr: String,
    log: Log,
}

impl Run {
    pub(crate) fn new(ended: Ended, log: Log) -> Self {
        let events: Vec<Value> =
            ended.stdout.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        // The last line: a fork's first hooks still report the session that it came from.
        let session_id =
            events.iter().rev().find_map(|event| event["session_id"].as_str()).unwrap_or_default();
        Self {
            session_id: session_id.to_owned(),
            exit: ended.exit,
            stdout: ended.stdout,
            stderr: ended.stderr,
            log,
            events,
        }
    }

    /// The run of a terminal: `stdout` is every line that was ever on the screen, and there are no events.
    pub(crate) fn from_terminal(session_id: String, exit: Exit, shown: String, log: Log) -> Self {
        Self { session_id, events: Vec::new(), exit, stdout: shown, stderr: String::new(), log }
    }

    /// A run that printed this and made one request of the main agent.
    #[cfg(test)]
    pub(crate) fn for_tests(stdout: &str, body: Value) -> Self {
        let ended = Ended { exit: Exit::Code(0), stdout: stdout.to_owned(), stderr: String::new() };
        let request = Request::new(Actor::Main, body, std::collections::BTreeMap::new(), &[]);
        Self::new(ended, Log { requests: vec![request], ..Log::default() })
    }

    /// The requests of one actor, oldest first.
    #[track_caller]
    pub fn requests(&self, actor: Actor) -> Requests<'_> {
        Requests::by(actor, &self.log.requests)
    }

    /// The requests of all actors in the order of their arrival.
    pub fn all_requests(&self) -> &[Request] {
        &self.log.requests
    }

    /// Method and path of everything that was asked of the API beside messages and token counts.
    pub fn other_traffic(&self) -> &[String] {
        &self.log.others
    }

    /// The line with which the client introduces itself; null when it never came that far.
    pub fn init(&self) -> &Value {
        self.system("init").next().unwrap_or(&Value::Null)
    }

    /// What the client complained of when it loaded plugins.
    pub fn plugin_errors(&self) -> &[Value] {
        match &self.init()["plugin_errors"] {
            Value::Array(errors) => errors,
            _ => &[],
        }
    }

    /// The answer of every hook that the client reports, in order. It keeps silent about `PreCompact` and
    /// `SessionEnd`.
    pub fn hook_events(&self) -> Vec<&Value> {
        self.system("hook_response").collect()
    }

    /// What the hooks of one event answered, in order; null for what is not JSON. Those that said nothing are left out.
    pub fn hook_answers(&self, event: &str) -> Vec<Value> {
        let answers = self.hook_events().into_iter().filter(|hook| hook["hook_event"] == event);
        let stdout = answers.map(|hook| hook["stdout"].as_str().unwrap_or_default());
        let spoken = stdout.filter(|text| !text.trim().is_empty());
        spoken.map(|text| serde_json::from_str(text).unwrap_or_default()).collect()
    }

    /// The last line of the run: its `result` as text.
    pub fn result_text(&self) -> &str {
        let result = self.events.iter().rev().find(|event| event["type"] == "result");
        result.and_then(|event| event["result"].as_str()).unwrap_or_default()
    }

    fn system<'a>(&'a self, subtype: &'a str) -> impl Iterator<Item = &'a Value> {
        self.events.iter().filter(move |event| event["type"] == "system" && event["subtype"] == subtype)
    }

    #[track_caller]
    pub(crate) fn assert_no_panics(&self) {
        assert!(self.log.panics.is_empty(), "{}", self.log.panics.join("\n"));
    }

    /// What a developer needs to see when a test fails.
    fn summary(&self) -> String {
        let requests = self.log.requests.iter().map(summary_of);
        let hooks = self.hook_events().into_iter().map(|hook| {
            format!(
                "--- hook {} {}: {}",
                hook["hook_name"],
                hook["outcome"],
                excerpt(&hook["stdout"].to_string())
            )
        });
        let first = format!("run of session {}: {:?}", self.session_id, self.exit);
        let last = format!("--- result: {}\n--- stderr: {}", self.result_text(), excerpt(&self.stderr));
        std::iter::once(first).chain(requests).chain(hooks).chain([last]).collect::<Vec<_>>().join("\n")
    }
}

/// One request as failed tests print it.
pub(crate) fn summary_of(request: &Request) -> String {
    let received = excerpt(&request.new_text());
    format!("--- request {} by {:?}, new: {received}", request.order(), request.actor())
}

/// Both ends of a long text: what the client adds to prompts is long, and always the same.
fn excerpt(text: &str) -> String {
    const KEPT: usize = 400;
    let count = text.chars().count();
    if count <= 2 * KEPT {
        return text.to_owned();
    }
    let start: String = text.chars().take(KEPT).collect();
    let end: String = text.chars().skip(count - KEPT).collect();
    format!("{start}\n[… {} characters …]\n{end}", count - 2 * KEPT)
}

impl Drop for Run {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("{}", self.summary());
        }
    }
}
