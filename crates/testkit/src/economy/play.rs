//! Plays one measured session in the real client.

use std::collections::VecDeque;

use overtone_core::registry::Workflow;
use serde_json::json;

use super::bill::{Bill, Piece};
use super::cast::Cast;
use super::job::{self, FILES};
use super::origin::Reader;
use super::steady::Steady;
use super::step::{Folders, Step};
use super::subject::{Profile, Subject};
use super::words::Language;
use crate::{Client, Invocation, Request, Sandbox, Turn, text, tool};

/// The user has allowed everything that the job needs, so that nobody is asked.
const ALLOWED: [&str; 5] = ["Agent", "Bash", "Edit", "Read", "Write"];

/// A session that can be measured, or why it cannot.
#[derive(Debug)]
pub enum Played {
    Bill(Box<Bill>),
    /// The program refuses a command of the profile, with this text.
    NotSupported(String),
}

/// Plays the session and counts what the client has sent. `look` is shown every piece of it. Panics if a call fails, an agent is
/// sent back, or the job is not done.
#[track_caller]
pub fn play(
    subject: Subject,
    profile: Profile,
    language: Language,
    client: &Client,
    look: impl FnMut(&Piece<'_>),
) -> Played {
    let sandbox = Sandbox::new(client);
    sandbox.put_repository(FILES);
    if subject.is_overtone()
        && let Err(reason) = install(&sandbox, profile, language)
    {
        return Played::NotSupported(reason);
    }
    let session = Session { sandbox: &sandbox, subject, language };
    let requests = match subject {
        Subject::PlainChat | Subject::ChatAuto | Subject::Chat => session.chat(),
        Subject::Workflow(workflow) => session.run_workflow(workflow),
        Subject::Plain | Subject::Peer(_) => session.run_alone(),
    };
    ensure_nothing_failed(&requests);
    let reader = Reader::new(Steady::new(&sandbox), agents(&sandbox));
    Played::Bill(Box::new(Bill::new(&requests, &stage_names(subject), &reader, look)))
}

/// Panics if a call of an agent failed or was refused: the script would be wrong, and the counts with it.
fn ensure_nothing_failed(requests: &[Request]) {
    for request in requests {
        let failed = request.failed_calls();
        assert!(failed.is_empty(), "a call of {:?} failed: {failed:?}", request.actor());
    }
}

/// The stages of the run's workflow, in their order.
fn stage_names(subject: Subject) -> Vec<String> {
    match subject {
        Subject::Workflow(workflow) => workflow.stage_keys().map(|key| key.to_string()).collect(),
        _ => Vec::new(),
    }
}

/// The instructions of the agents of the installed plugin.
fn agents(sandbox: &Sandbox) -> Vec<String> {
    let files = std::fs::read_dir(sandbox.state().join("plugin/agents")).into_iter().flatten().flatten();
    let texts = files.filter_map(|file| std::fs::read_to_string(file.path()).ok());
    texts.filter_map(|text| Some(text.splitn(3, "---\n").nth(2)?.trim().to_owned())).collect()
}

/// Installs the plugin as a user does, and sets up the profile. The error is what the program said.
fn install(sandbox: &Sandbox, profile: Profile, language: Language) -> Result<(), String> {
    let shell = sandbox.user_shell().env("OVERTONE_LANG", language.tag());
    // The client loads the plugin by its folder, so nothing has to be registered.
    let install = format!("overtone up --files-only --lang {}", language.tag());
    shell.run(&install);
    for line in profile.commands() {
        let (succeeded, printed) = shell.try_run(line);
        if !succeeded {
            return Err(printed.lines().next().unwrap_or_default().to_owned());
        }
    }
    if !profile.commands().is_empty() {
        // The agents of a profile are installed at the latest now.
        shell.run(&install);
    }
    Ok(())
}

/// A session that is about to be played.
struct Session<'a> {
    sandbox: &'a Sandbox,
    subject: Subject,
    language: Language,
}

impl<'a> Session<'a> {
    /// The job by the main agent alone.
    fn run_alone(&self) -> Vec<Request> {
        let session = self.sandbox.new_session();
        let folders = self.folders(&session);
        let (mut steps, done) = (VecDeque::from(job::PLAIN), self.language.job_done());
        let run = self
            .invocation(move |request| match steps.pop_front() {
                Some(Step::Calls(calls)) => {
                    folders.turn(calls, &request.text()).unwrap_or_else(|| text(done))
                }
                Some(Step::Report) | None => text(done),
            })
            .session(&session)
            .run(self.language.job());
        self.ensure_done();
        run.all_requests().to_vec()
    }

    fn run_workflow(&self, workflow: Workflow) -> Vec<Request> {
        let session = self.sandbox.new_session();
        let state = self.sandbox.state().join("sessions").join(&session);
        let cast = Cast::new(workflow, self.language, self.folders(&session), &state);
        let run =
            self.invocation(move |request| cast.answer(request)).session(&session).run(self.language.job());
        let document = self.sandbox.workflow(&session);
        assert_eq!(document["ending"], "completed", "{} was not completed: {document}", workflow.name());
        self.ensure_done();
        run.all_requests().to_vec()
    }

    /// Three questions in one session.
    fn chat(&self) -> Vec<Request> {
        let session = self.sandbox.new_session();
        let obeys = self.subject == Subject::ChatAuto;
        let mut requests = Vec::new();
        for (number, (question, answer)) in self.language.questions().into_iter().enumerate() {
            let mut obeys = obeys;
            let invocation = self.invocation(move |request| {
                // Once for each question: the page itself may name the command again.
                if std::mem::take(&mut obeys) && request.text_since_answer().contains("/ot:auto") {
                    return tool("Skill", json!({"skill": "ot:auto", "args": question}));
                }
                text(answer)
            });
            let invocation =
                if number == 0 { invocation.session(&session) } else { invocation.resume(&session) };
            requests.extend_from_slice(invocation.run(question).all_requests());
        }
        requests
    }

    fn invocation(&self, answer: impl FnMut(&Request) -> Turn + Send + 'static) -> Invocation<'a> {
        let plugin = match self.subject {
            Subject::Plain | Subject::PlainChat => None,
            Subject::Peer(peer) => Some(peer.plugin()),
            Subject::Workflow(_) | Subject::ChatAuto | Subject::Chat => {
                Some(self.sandbox.state().join("plugin"))
            }
        };
        self.sandbox
            .script(|script| script.others_with(answer))
            .plugin(plugin)
            .allow(ALLOWED)
            .permission_mode("acceptEdits")
            .env("OVERTONE_LANG", self.language.tag())
    }

    fn folders(&self, session: &str) -> Folders {
        let handoffs = self.sandbox.state().join("sessions").join(session).join("handoffs");
        Folders { project: self.sandbox.project(), handoffs }
    }

    /// Panics unless the program does what was asked for and its tests pass.
    fn ensure_done(&self) {
        let shell = self.sandbox.user_shell();
        assert_eq!(shell.run("python3 greet.py --version"), "greet 1.0.0\n");
        shell.run("python3 -m unittest");
    }
}
