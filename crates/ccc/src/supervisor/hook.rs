//! `ccc supervisor-hook`: reads the Stop event, decides whether a review is due, runs it and prints one answer.

use std::env;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;

use overtone_claude::wire::HookInput;
use overtone_claude::{Environment, stdin};
use overtone_core::messages::{Lang, supervisor as messages};
use overtone_store::config::{Config, keys};
use overtone_store::{Home, SessionId};

use crate::supervisor::answer::{self, ALLOW_STOP, RECURSION_GUARD};
use crate::supervisor::breaker;
use crate::supervisor::examination::{Examination, ExaminationResult};
use crate::supervisor::review::NoReview;
use crate::supervisor::round::{
    RoundInfo, append_to_trail, limit_entry, round_entry, was_last_round_blocked,
};
use crate::supervisor::secrets::Secrets;
use crate::supervisor::settings::Settings;
use crate::supervisor::verdict::Verdict;
use crate::supervisor::{installed, progress, tree, user_request, workflow_loop};
use overtone_store::supervision::StateFolder;
use overtone_store::supervision::{RecordError, SupervisionRecord};

/// Which hook called the supervisor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller {
    /// The hook that a supervised start writes to the client's settings.
    Settings,
    /// The plugin's hook. It is always installed and reviews only sessions that the user has switched on.
    Plugin,
}

/// Handles one Stop and prints at most one answer. Without a verdict, the stop is allowed, even after a panic.
pub fn run_hook(environment: &Environment, caller: Caller) {
    if env::var_os("CCC_SUPERVISOR_HOOK").as_deref() == Some(OsStr::new("1")) {
        // The specification defines this answer for the hook in the settings only.
        return print(if caller == Caller::Settings { RECURSION_GUARD } else { "" });
    }
    // A panic is reported in one line.
    panic::set_hook(Box::new(|info| report_error(&info.to_string().replace('\n', " "))));
    let answer = panic::catch_unwind(AssertUnwindSafe(|| answer_stop(environment, caller)));
    match answer.unwrap_or_else(|_| ALLOW_STOP.to_owned()) {
        // The plugin does not act, or the round limit is reached: no output.
        answer if answer.is_empty() => {}
        answer => print(&format!("{answer}\n")),
    }
}

/// The answer to one Stop.
fn answer_stop(environment: &Environment, caller: Caller) -> String {
    let Ok(bytes) = stdin::read(stdin::TIMEOUT) else { return ALLOW_STOP.to_owned() };
    let input = match HookInput::parse(&bytes) {
        Ok(input) => input,
        Err(error) => return allow_with_error(&error.to_string()),
    };
    let Some(session) = SessionId::parse(&input.session_id()) else {
        return allow_with_error("no usable session_id");
    };
    let Some(folder) = StateFolder::from_process() else {
        return allow_with_error("no state folder: HOME is not set");
    };
    let switched = SupervisionRecord::load(&folder, &session).ok().and_then(|record| record.enabled());
    // The session is not switched on, or the hook in the settings reviews it.
    if caller == Caller::Plugin && (switched != Some(true) || installed::is_hook_installed()) {
        return String::new();
    }
    let (settings, errors) = Settings::from_process();
    // All sessions share the settings with the hook, so a session that is not supervised may stop. If the hook is called
    // manually, it reviews.
    let is_manual_call = env::var_os("CLAUDE_PROJECT_DIR").is_none();
    if !switched.or(settings.enabled).unwrap_or(is_manual_call) {
        return ALLOW_STOP.to_owned();
    }
    // Running agents wake the session when they finish.
    let (home, running) = (environment.home.as_ref(), input.background_agents().unwrap_or_default());
    if workflow_loop::waits_for_agents(home, &session, &running)
        || workflow_loop::holds_session(home, &session)
    {
        return ALLOW_STOP.to_owned();
    }
    let lang = language(environment);
    progress::print_settings_errors(&errors, lang);
    let project = environment.project(&input);
    let transcript = PathBuf::from(&*input.transcript_path());
    let context = StopContext {
        session,
        folder,
        settings,
        project,
        transcript,
        secrets: Secrets::from_process(),
        lang,
    };
    context.answer(&input)
}

/// The input of a round.
struct StopContext {
    session: SessionId,
    folder: StateFolder,
    settings: Settings,
    project: Option<PathBuf>,
    transcript: PathBuf,
    secrets: Secrets,
    lang: Lang,
}

/// How a round starts.
enum RoundStart {
    /// The user switched the supervisor on in this turn, which is not reviewed.
    Skipped,
    LimitReached,
    Round(u32, SupervisionRecord),
}

impl StopContext {
    fn answer(&self, input: &HookInput) -> String {
        let limit = self.settings.max_iterations;
        let review = match self.start_round(!input.is_stop_hook_active()) {
            Ok(RoundStart::Skipped) => return ALLOW_STOP.to_owned(),
            Ok(RoundStart::Round(round, record)) => self.run_round(round, &record),
            Ok(RoundStart::LimitReached) => {
                self.log("supervisor-hook iteration limit reached", &format!("iteration={limit}"));
                progress::print(&messages::limit_reached(self.lang, limit));
                self.record_limit(limit);
                return String::new();
            }
            Err(error) => Err(NoReview::CannotCount(error)),
        };
        progress::print_outcome(&review, self.lang);
        answer::render(&review, input.background_agents().is_some(), self.lang)
    }

    /// Records in the audit trail that blocked work is not reviewed any more: once, and not after an approval.
    fn record_limit(&self, limit: u32) {
        if was_last_round_blocked(&self.folder, &self.session) {
            append_to_trail(&self.folder, &self.session, &limit_entry(&self.settings, limit, self.lang));
        }
    }

    /// Counts the round and pins the user's request if none is pinned yet.
    fn start_round(&self, is_new_turn: bool) -> Result<RoundStart, RecordError> {
        SupervisionRecord::change(&self.folder, &self.session, |record| {
            if record.take_skip_turn() {
                return RoundStart::Skipped;
            }
            let Some(round) = record.count_round(self.settings.max_iterations, is_new_turn) else {
                return RoundStart::LimitReached;
            };
            if record.request().is_none() {
                record.pin_request(user_request::find(
                    &self.transcript,
                    record.request_from(),
                    &self.secrets,
                ));
            }
            RoundStart::Round(round, record.clone())
        })
    }

    fn run_round(&self, round: u32, record: &SupervisionRecord) -> Result<Verdict, NoReview> {
        self.log("supervisor-hook invoked", &format!("iteration={round}"));
        progress::print_round_start(&self.session, round, self.settings.max_iterations, self.lang);
        let tree = self.project.as_deref().and_then(tree::fingerprint);
        let mut examined = self.examination(record, tree.as_deref()).run();
        if let Err(error) = self.record_outcome(&mut examined, tree) {
            // A block that is not recorded could be repeated forever.
            examined.review = Err(NoReview::CannotCount(error));
        }
        let about = RoundInfo { number: Some(round), settings: &self.settings, secrets: &self.secrets };
        append_to_trail(&self.folder, &self.session, &round_entry(&about, &examined, self.lang));
        self.log("supervisor review result", &summary(round, &examined));
        examined.review
    }

    fn examination<'a>(&'a self, record: &'a SupervisionRecord, tree: Option<&str>) -> Examination<'a> {
        Examination {
            session: &self.session,
            folder: &self.folder,
            project: self.project.as_deref(),
            settings: &self.settings,
            request: record.request(),
            changed: self.has_tree_changed(record, tree),
            spent: record.cost_usd(),
            secrets: &self.secrets,
            lang: self.lang,
        }
    }

    /// Whether the tree has changed since the request: compared with the tree at the last approval, else by time.
    fn has_tree_changed(&self, record: &SupervisionRecord, tree: Option<&str>) -> Option<bool> {
        match record.tree_at_request() {
            Some(before) => tree.map(|tree| tree != before),
            None => tree::changed_since(self.project.as_deref()?, record.requested_at()?),
        }
    }

    /// Records the outcome of the round. After too many blocks without progress, the user is asked instead of the agent.
    fn record_outcome(
        &self,
        examined: &mut ExaminationResult,
        tree: Option<String>,
    ) -> Result<(), RecordError> {
        let transcript_end = user_request::transcript_length(&self.transcript);
        SupervisionRecord::change(&self.folder, &self.session, |record| {
            record.add_cost(examined.cost_usd);
            match &examined.review {
                Ok(verdict) if verdict.allow_stop => record.record_approval(transcript_end, tree.as_deref()),
                Ok(verdict) => {
                    let trace = breaker::next_trace(record.last_block().as_ref(), &verdict.feedback, tree);
                    record.record_block(&trace);
                    if breaker::is_stuck(&trace) {
                        examined.review = Err(NoReview::Stuck(verdict.feedback.clone()));
                    }
                }
                Err(_) => {}
            }
        })
    }

    fn log(&self, event: &str, details: &str) {
        if let Err(error) = self.folder.log(event, &self.session, details) {
            report_error(&format!("cannot write {}: {error}", self.folder.log_file().display()));
        }
    }
}

fn summary(round: u32, examined: &ExaminationResult) -> String {
    let result = match &examined.review {
        Ok(verdict) => format!("completed={} feedback_bytes={}", verdict.allow_stop, verdict.feedback.len()),
        Err(reason) => format!("not_reviewed={}", reason.kind()),
    };
    format!("iteration={round} {result}")
}

/// The language that the user has chosen, else the default of the specification.
fn language(environment: &Environment) -> Lang {
    let configured = |home: &Home| Config::load_or_default(home).get_explicit(keys::LANGUAGE);
    environment.lang().or_else(|| configured(environment.home.as_ref()?)).unwrap_or(Lang::ZhCn)
}

/// Reports why there was no review and allows the stop.
fn allow_with_error(error: &str) -> String {
    report_error(error);
    ALLOW_STOP.to_owned()
}

fn report_error(message: &str) {
    progress::print(&format!("[overtone/supervisor-hook] {message}"));
}

fn print(answer: &str) {
    let mut stdout = io::stdout().lock();
    // A closed stdout cannot be reported anywhere.
    let _ = stdout.write_all(answer.as_bytes()).and_then(|()| stdout.flush());
}
