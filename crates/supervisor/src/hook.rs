//! `ccc supervisor-hook`: read the Stop, see whether a review is due, run it, print one answer.

use std::env;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;

use overtone_hooks::Environment;
use overtone_messages::{Lang, supervisor as words};
use overtone_store::config::{Config, Key};
use overtone_store::{Home, SessionId};
use overtone_wire::HookInput;

use crate::answer::{self, GUARD, NOTHING};
use crate::breaker;
use crate::examine::{Case, Examined};
use crate::folder::StateFolder;
use crate::record::{Record, RecordError};
use crate::review::NoReview;
use crate::round::{Round, beyond_limit, describe, keep, was_blocked};
use crate::secrets::Secrets;
use crate::settings::Settings;
use crate::{installed, looping, narrate, request, tree};

/// Who has called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller {
    /// The hook that a supervised start puts into the client's settings.
    Settings,
    /// The plugin's: it is always there, and acts for sessions that a person has switched on.
    Plugin,
}

/// Whatever happens, there is one answer; without a verdict it lets go.
pub fn run_hook(environment: &Environment, caller: Caller) {
    if env::var_os("CCC_SUPERVISOR_HOOK").as_deref() == Some(OsStr::new("1")) {
        // Only the call that the specification knows has its odd answer.
        return print(if caller == Caller::Settings { GUARD } else { "" });
    }
    // The guard reports a panic itself, in one line.
    panic::set_hook(Box::new(|info| complain(&info.to_string().replace('\n', " "))));
    let answer = panic::catch_unwind(AssertUnwindSafe(|| stop(environment, caller)));
    match answer.unwrap_or_else(|_| NOTHING.to_owned()) {
        // Nothing to say, or the round limit's answer: no output at all.
        answer if answer.is_empty() => {}
        answer => print(&format!("{answer}\n")),
    }
}

/// The answer to one Stop.
fn stop(environment: &Environment, caller: Caller) -> String {
    let Some(bytes) = overtone_hooks::read_stdin() else { return NOTHING.to_owned() };
    let input = match HookInput::parse(&bytes) {
        Ok(input) => input,
        Err(error) => return refuse(&error.to_string()),
    };
    let Some(session) = SessionId::parse(&input.session_id()) else { return refuse("no usable session_id") };
    let Some(folder) = StateFolder::from_process() else { return refuse("no state folder: HOME is not set") };
    let switched = Record::load(&folder, &session).ok().and_then(|record| record.switched());
    // The loop has answered already, or somebody else does.
    if caller == Caller::Plugin && (switched != Some(true) || installed::in_settings()) {
        return String::new();
    }
    let (settings, problems) = Settings::from_process();
    // The hook is in settings that all sessions share: one that nobody wants to be supervised is let go. Called by hand
    // it reviews.
    let is_asked_by_hand = env::var_os("CLAUDE_PROJECT_DIR").is_none();
    if !switched.or(settings.enabled).unwrap_or(is_asked_by_hand) {
        return NOTHING.to_owned();
    }
    // Running agents wake the session when they finish.
    let (home, running) = (environment.home.as_ref(), input.background_agents().unwrap_or_default());
    if looping::waits_for_agents(home, &session, &running) || looping::holds(home, &session) {
        return NOTHING.to_owned();
    }
    let lang = language(environment);
    narrate::problems(&problems, lang);
    let project = environment.project(&input);
    let transcript = PathBuf::from(&*input.transcript_path());
    let scene =
        Scene { session, folder, settings, project, transcript, secrets: Secrets::from_process(), lang };
    scene.answer(&input)
}

/// Everything that a round needs to know.
struct Scene {
    session: SessionId,
    folder: StateFolder,
    settings: Settings,
    project: Option<PathBuf>,
    transcript: PathBuf,
    secrets: Secrets,
    lang: Lang,
}

/// How a stop begins.
enum Opening {
    /// In this turn somebody switched the supervisor on.
    Skipped,
    LimitReached,
    Round(u32, Record),
}

impl Scene {
    fn answer(&self, input: &HookInput) -> String {
        let limit = self.settings.max_iterations;
        let review = match self.open(!input.is_stop_hook_active()) {
            Ok(Opening::Skipped) => return NOTHING.to_owned(),
            Ok(Opening::Round(round, record)) => self.round(round, &record),
            Ok(Opening::LimitReached) => {
                self.log("supervisor-hook iteration limit reached", &format!("iteration={limit}"));
                narrate::say(&words::limit_reached(self.lang, limit));
                self.keep_limit(limit);
                return String::new();
            }
            Err(error) => Err(NoReview::CannotCount(error)),
        };
        narrate::end(&review, self.lang);
        answer::render(&review, input.background_agents().is_some(), self.lang)
    }

    /// Work that was sent back and goes unreviewed now is in the trail, too: once, and not after an approval.
    fn keep_limit(&self, limit: u32) {
        if was_blocked(&self.folder, &self.session) {
            keep(&self.folder, &self.session, &beyond_limit(&self.settings, limit, self.lang));
        }
    }

    /// Counts the round and pins the request, if there is one to pin.
    fn open(&self, is_new_turn: bool) -> Result<Opening, RecordError> {
        Record::change(&self.folder, &self.session, |record| {
            if record.skips_turn() {
                return Opening::Skipped;
            }
            let Some(round) = record.count_round(self.settings.max_iterations, is_new_turn) else {
                return Opening::LimitReached;
            };
            if record.request().is_none() {
                record.pin(request::find(&self.transcript, record.request_from(), &self.secrets));
            }
            Opening::Round(round, record.clone())
        })
    }

    fn round(&self, round: u32, record: &Record) -> Result<crate::verdict::Verdict, NoReview> {
        self.log("supervisor-hook invoked", &format!("iteration={round}"));
        narrate::begin(&self.session, round, self.settings.max_iterations, self.lang);
        let tree = self.project.as_deref().and_then(tree::fingerprint);
        let mut examined = self.case(record, tree.as_deref()).examine();
        if let Err(error) = self.close(&mut examined, tree) {
            // A block that is not remembered could be sent for ever.
            examined.review = Err(NoReview::CannotCount(error));
        }
        let about = Round { number: Some(round), settings: &self.settings, secrets: &self.secrets };
        keep(&self.folder, &self.session, &describe(&about, &examined, self.lang));
        self.log("supervisor review result", &summary(round, &examined));
        examined.review
    }

    fn case<'a>(&'a self, record: &'a Record, tree: Option<&str>) -> Case<'a> {
        Case {
            session: &self.session,
            folder: &self.folder,
            project: self.project.as_deref(),
            settings: &self.settings,
            request: record.request(),
            changed: self.changed(record, tree),
            spent: record.spent(),
            secrets: &self.secrets,
            lang: self.lang,
        }
    }

    /// Compared with the tree at the last approval, else by time.
    fn changed(&self, record: &Record, tree: Option<&str>) -> Option<bool> {
        match record.tree_at_request() {
            Some(before) => tree.map(|tree| tree != before),
            None => tree::changed_since(self.project.as_deref()?, record.requested_at()?),
        }
    }

    /// Remembers how the round ended. A block that brings nothing new once too often becomes the person's.
    fn close(&self, examined: &mut Examined, tree: Option<String>) -> Result<(), RecordError> {
        let transcript_end = request::end_of(&self.transcript);
        Record::change(&self.folder, &self.session, |record| {
            record.add_cost(examined.cost_usd);
            match &examined.review {
                Ok(verdict) if verdict.allow_stop => record.approved(transcript_end, tree.as_deref()),
                Ok(verdict) => {
                    let trace = breaker::trace(record.last_block().as_ref(), &verdict.feedback, tree);
                    record.blocked(&trace);
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
            complain(&format!("cannot write {}: {error}", self.folder.log_file().display()));
        }
    }
}

fn summary(round: u32, examined: &Examined) -> String {
    let result = match &examined.review {
        Ok(verdict) => format!("completed={} feedback_bytes={}", verdict.allow_stop, verdict.feedback.len()),
        Err(reason) => format!("not_reviewed={}", reason.kind()),
    };
    format!("iteration={round} {result}")
}

/// The language that the person chose, else the one of the specification.
fn language(environment: &Environment) -> Lang {
    let configured = |home: &Home| {
        let config = Config::load_or_default(home);
        Lang::from_tag(config.own_value(Key::find("language")?)?.as_str()?)
    };
    environment.lang().or_else(|| configured(environment.home.as_ref()?)).unwrap_or(Lang::ZhCn)
}

fn refuse(why: &str) -> String {
    complain(why);
    NOTHING.to_owned()
}

fn complain(what: &str) {
    narrate::say(&format!("[overtone/supervisor-hook] {what}"));
}

fn print(answer: &str) {
    let mut stdout = io::stdout().lock();
    // A client that does not listen cannot be helped.
    let _ = stdout.write_all(answer.as_bytes()).and_then(|()| stdout.flush());
}
