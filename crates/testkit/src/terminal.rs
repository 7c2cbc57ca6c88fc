//! The interactive client, used as a user does: type, read the screen, wait.
//!
//! Every wait is for something that happens (a text on the screen, a request, a state on disk). It ends with a panic
//! when its time is up, and then the screen, the requests and the session's state are printed.

use std::cell::Cell;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::process::Process;
use crate::run::summary_of;
use crate::sandbox::approved_key;
use crate::{Actor, Exit, Mock, Request, Requests, Run, Sandbox};

/// How often a condition is looked at. Nothing depends on the figure.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// How long an answer may take to have an effect before it is given again.
const PRESS_INTERVAL: Duration = Duration::from_secs(2);

/// What is on the screen while the client works.
const BUSY: &str = "esc to interrupt";

/// The answer that is preselected when the client asks what is to become of agents in the background.
const EXIT_QUESTION: &str = "❯ 1. Exit and stop tasks";

/// A running client in a pseudo-terminal. It is killed when it is dropped.
#[derive(Debug)]
pub struct Terminal<'a> {
    sandbox: &'a Sandbox,
    session: String,
    mock: Mock,
    process: Process,
    limit: Duration,
}

/// A key that is not a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    Enter,
    Escape,
    Up,
    Down,
    Tab,
    /// Changes the permission mode.
    ShiftTab,
    /// A letter with the control key.
    Control(char),
}

impl Key {
    fn bytes(self) -> Vec<u8> {
        match self {
            Self::Enter => b"\r".to_vec(),
            Self::Escape => b"\x1b".to_vec(),
            Self::Up => b"\x1b[A".to_vec(),
            Self::Down => b"\x1b[B".to_vec(),
            Self::Tab => b"\t".to_vec(),
            Self::ShiftTab => b"\x1b[Z".to_vec(),
            Self::Control(letter) => vec![letter.to_ascii_uppercase() as u8 & 0x1f],
        }
    }
}

impl<'a> Terminal<'a> {
    #[track_caller]
    pub(crate) fn start(
        sandbox: &'a Sandbox,
        session: String,
        mock: Mock,
        mut command: Command,
        limit: Duration,
    ) -> Self {
        sandbox.skip_first_start_dialogs();
        command.env("TERM", "xterm-256color");
        let process = Process::start(command)
            .unwrap_or_else(|cause| panic!("cannot start the client in a terminal: {cause}"));
        let terminal = Self { sandbox, session, mock, process, limit };
        terminal.wait_until("an input line", |t| t.process.screen().input().is_some());
        terminal
    }

    /// Types a line and sends it off. Waits until it is in the input line before it is sent, and until it has left it or is
    /// in the conversation: the client may show an earlier line in the input as a suggestion.
    #[track_caller]
    pub fn type_line(&self, line: &str) {
        let sent = format!("❯{}", without_blanks(line));
        let times_sent = |t: &Self| without_blanks(&t.process.screen().conversation()).matches(&sent).count();
        let before = times_sent(self);
        self.type_text(line);
        self.press(Key::Enter);
        self.wait_until("the line to be sent", |t| {
            !t.input().contains(&without_blanks(line)) || times_sent(t) > before
        });
    }

    /// Types a text and waits until nothing else is in the input line. It is not sent.
    ///
    /// On a busy machine the client may leave a line in the input that it has sent, and would send it again together with
    /// this text.
    #[track_caller]
    pub fn type_text(&self, text: &str) {
        let typed = without_blanks(text);
        let end = Instant::now() + self.limit;
        loop {
            self.clear_input();
            self.write(text.as_bytes());
            self.wait_until("the typed text", |t| t.input().contains(&typed));
            if self.input() == typed {
                return;
            }
            assert!(Instant::now() < end, "the input line is never {text:?} alone");
        }
    }

    /// Deletes what is in the input line. A line that the client only suggests cannot be deleted and goes when something is
    /// typed.
    fn clear_input(&self) {
        let old = self.input();
        if old.is_empty() {
            return;
        }
        self.press(Key::Control('u'));
        let pressed = Instant::now();
        while self.input() == old && pressed.elapsed() <= PRESS_INTERVAL {
            thread::sleep(POLL_INTERVAL);
        }
    }

    #[track_caller]
    pub fn press(&self, key: Key) {
        self.write(&key.bytes());
    }

    /// Takes the preselected answer of a question, of which `shown` is a part, once it is on the screen. The client ignores
    /// keys for a moment after it has asked, so the key is pressed until the question is gone.
    #[track_caller]
    pub fn accept(&self, shown: &str) {
        self.wait_for_screen(shown);
        let pressed = Cell::new(None::<Instant>);
        self.wait_until(&format!("end of the question {shown:?}"), |t| {
            if !t.screen().contains(shown) {
                return true;
            }
            if let Some(at) = pressed.get()
                && at.elapsed() <= PRESS_INTERVAL
            {
                return false;
            }
            pressed.set(Some(Instant::now()));
            t.press(Key::Enter);
            false
        });
    }

    /// The text on the screen now.
    pub fn screen(&self) -> String {
        self.process.screen().text()
    }

    /// Every line that was ever on the screen.
    pub fn history(&self) -> String {
        self.process.screen().history()
    }

    pub fn sandbox(&self) -> &'a Sandbox {
        self.sandbox
    }

    /// The requests of all actors so far.
    pub fn requests(&self) -> Vec<Request> {
        self.mock.requests()
    }

    /// How many requests an actor has made so far.
    #[track_caller]
    pub fn request_count(&self, actor: Actor) -> usize {
        Requests::by(actor, &self.requests()).len()
    }

    /// How often these words were new in an actor's requests so far.
    #[track_caller]
    pub fn times_received(&self, actor: Actor, words: &str) -> usize {
        Requests::by(actor, &self.requests()).times_received(words)
    }

    #[track_caller]
    pub fn wait_for_screen(&self, text: &str) {
        self.wait_until(&format!("{text:?} on the screen"), |t| t.screen().contains(text));
    }

    /// Waits until an actor has made this many requests.
    #[track_caller]
    pub fn wait_for_requests(&self, actor: Actor, count: usize) {
        self.wait_until(&format!("{count} requests by {actor:?}"), |t| t.request_count(actor) >= count);
    }

    /// Waits until the session's timeline has this many events of a type.
    #[track_caller]
    pub fn wait_for_events(&self, kind: &str, count: usize) {
        let happened = |t: &Self| t.sandbox.event_count(&t.session, kind) >= count;
        self.wait_until(&format!("{count} events {kind}"), happened);
    }

    /// Waits until the client has ended its turn, hooks included. Agents in the background may go on.
    #[track_caller]
    pub fn wait_until_idle(&self) {
        self.wait_until("end of the turn", |t| {
            t.process.screen().input().is_some() && !t.screen().contains(BUSY)
        });
    }

    /// Waits until the condition holds. `what` names it for the failure report.
    #[track_caller]
    pub fn wait_until(&self, what: &str, condition: impl Fn(&Self) -> bool) {
        let end = Instant::now() + self.limit;
        while !condition(self) {
            assert!(Instant::now() < end, "no {what} within {:?}", self.limit);
            thread::sleep(POLL_INTERVAL);
        }
    }

    /// Sends `/exit` and waits for the end of the client, with that of agents in the background.
    #[track_caller]
    pub fn exit(mut self) -> Run {
        self.type_text("/exit");
        self.press(Key::Enter);
        let exit = self.wait_for_end();
        self.into_run(exit)
    }

    /// Ends the client as a closed window would, without giving it a chance to say goodbye.
    #[track_caller]
    pub fn kill(mut self) -> Run {
        self.process.kill().expect("a child can be killed");
        let exit = self.wait_for_end();
        self.into_run(exit)
    }

    #[track_caller]
    fn wait_for_end(&mut self) -> Exit {
        let end = Instant::now() + self.limit;
        loop {
            if let Some(exit) = self.process.ended().expect("a child can be waited for") {
                return exit;
            }
            if self.screen().contains(EXIT_QUESTION) {
                self.accept(EXIT_QUESTION);
            }
            assert!(Instant::now() < end, "the client did not end within {:?}", self.limit);
            thread::sleep(POLL_INTERVAL);
        }
    }

    #[track_caller]
    fn into_run(self, exit: Exit) -> Run {
        let run = Run::from_terminal(self.session.clone(), exit, self.history(), self.mock.take_log());
        run.assert_no_panics();
        run
    }

    /// The input line without blanks: the client breaks long lines at them.
    fn input(&self) -> String {
        without_blanks(&self.process.screen().input().unwrap_or_default())
    }

    #[track_caller]
    fn write(&self, bytes: &[u8]) {
        self.process.write(bytes).expect("the client's terminal takes input");
    }

    /// What a developer needs to see when a test fails.
    fn summary(&self) -> String {
        let mut parts = vec![format!("terminal of session {}", self.session)];
        parts.extend(self.requests().iter().map(summary_of));
        parts.push(format!("--- workflow: {:#}", self.sandbox.workflow(&self.session)));
        let events = self.sandbox.timeline(&self.session);
        parts.extend(events.iter().map(|event| format!("--- event {event}")));
        parts.push(format!("--- screen:\n{}", self.screen()));
        parts.join("\n")
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            println!("{}", self.summary());
        }
    }
}

fn without_blanks(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

impl Sandbox {
    /// Answers what the client asks a user at its first start: theme, key, trust in the folder. Settings that it has
    /// written since stay as they are.
    fn skip_first_start_dialogs(&self) {
        let file = self.home().join(".claude.json");
        if file.exists() {
            return;
        }
        let settings = json!({
            "hasCompletedOnboarding": true,
            "lastOnboardingVersion": self.client().version(),
            "theme": "dark",
            "bypassPermissionsModeAccepted": true,
            "customApiKeyResponses": {"approved": [approved_key()], "rejected": []},
            "projects": {
                (self.project().to_string_lossy()): {
                    "hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true, "allowedTools": [],
                },
            },
        });
        self.write(&file, &settings.to_string());
    }
}
