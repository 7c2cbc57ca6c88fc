//! `ccc supervisor-hook`: read the Stop, see whether a review is due, run it, print one answer.

use std::env;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::panic::{self, AssertUnwindSafe};

use overtone_hooks::Environment;
use overtone_install::Client;
use overtone_messages::{Lang, supervisor as words};
use overtone_store::config::{Config, Key};
use overtone_store::{Home, SessionId};
use overtone_wire::HookInput;

use crate::answer::{self, GUARD, NOTHING};
use crate::folder::StateFolder;
use crate::review::{self, NoReview};
use crate::reviewer::Reviewer;
use crate::settings::Settings;
use crate::verdict::Verdict;
use crate::{looping, narrate, prompt, record};

/// Whatever happens, there is one answer; without a verdict it lets go.
pub fn run_hook(environment: &Environment) {
    if env::var_os("CCC_SUPERVISOR_HOOK").as_deref() == Some(OsStr::new("1")) {
        return print(GUARD);
    }
    // The guard reports a panic itself, in one line.
    panic::set_hook(Box::new(|info| complain(&info.to_string().replace('\n', " "))));
    let answer = panic::catch_unwind(AssertUnwindSafe(|| stop(environment)));
    match answer.unwrap_or_else(|_| NOTHING.to_owned()) {
        // The round limit's answer is no output at all.
        answer if answer.is_empty() => {}
        answer => print(&format!("{answer}\n")),
    }
}

/// The answer to one Stop.
fn stop(environment: &Environment) -> String {
    let settings = Settings::from_process();
    let Some(bytes) = overtone_hooks::read_stdin().filter(|_| settings.enabled) else {
        return NOTHING.to_owned();
    };
    let input = match HookInput::parse(&bytes) {
        Ok(input) => input,
        Err(error) => return refuse(&error.to_string()),
    };
    let Some(session) = SessionId::parse(&input.session_id()) else { return refuse("no usable session_id") };
    let Some(folder) = StateFolder::from_process() else { return refuse("no state folder: HOME is not set") };
    // Running agents wake the session when they finish.
    if input.background_agents() == Some(true) || looping::holds(environment.home.as_ref(), &session) {
        return NOTHING.to_owned();
    }
    let scene = Scene { session, folder, settings, lang: language(environment) };
    scene.answer(&input, environment)
}

/// Everything that a round needs to know.
struct Scene {
    session: SessionId,
    folder: StateFolder,
    settings: Settings,
    lang: Lang,
}

impl Scene {
    fn answer(&self, input: &HookInput, environment: &Environment) -> String {
        let limit = self.settings.max_iterations;
        let review = match record::count_round(&self.folder, &self.session, limit) {
            Ok(Some(round)) => self.review(round, input, environment),
            Ok(None) => {
                self.log("supervisor-hook iteration limit reached", &format!("iteration={limit}"));
                narrate::say(&words::limit_reached(self.lang, limit));
                return String::new();
            }
            Err(error) => Err(NoReview::CannotCount(error)),
        };
        narrate::end(&review, self.lang);
        answer::render(&review, input.background_agents().is_some(), self.lang)
    }

    fn review(&self, round: u32, input: &HookInput, environment: &Environment) -> Result<Verdict, NoReview> {
        self.log("supervisor-hook invoked", &format!("iteration={round}"));
        narrate::begin(&self.session, round, self.settings.max_iterations, self.lang);
        let review = self.ask(input, environment);
        let summary = match &review {
            Ok(verdict) => {
                format!("completed={} feedback_bytes={}", verdict.allow_stop, verdict.feedback.len())
            }
            Err(reason) => format!("not_reviewed={}", reason.kind()),
        };
        self.log("supervisor review result", &format!("iteration={round} {summary}"));
        review
    }

    fn ask(&self, input: &HookInput, environment: &Environment) -> Result<Verdict, NoReview> {
        let client = Client::find(env::var_os("PATH").as_deref()).ok_or(NoReview::NoClaude)?;
        let reviewer = Reviewer {
            session: &self.session,
            prompt: prompt::prompt(&self.folder.prompt_file(), self.lang),
            project: environment.project(input),
            output: self.folder.output_file(self.session.as_str()),
            timeout: self.settings.timeout,
        };
        narrate::reviewing(self.lang);
        review::judge(&reviewer.run(&client)?, self.lang)
    }

    fn log(&self, event: &str, details: &str) {
        if let Err(error) = self.folder.log(event, &self.session, details) {
            complain(&format!("cannot write {}: {error}", self.folder.log_file().display()));
        }
    }
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
