//! The main loop. It sleeps until there is a key, a signal or a change on disk.

use std::collections::HashSet;
use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use overtone_core::engine::state::Millis;
use overtone_session::view::session_json;
use overtone_session::watch::SessionWatcher;
use overtone_store::{Home, SessionId, StoreError, clock};
use ratatui::crossterm::event::{self, Event};
use ratatui::layout::Size;
use serde_json::Value;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use crate::control::run_action;
use crate::draw::{draw, render_plain};
use crate::events::last_events;
use crate::keys::handle_key;
use crate::screen::Screen;
use crate::sessions::Sessions;
use crate::state::{DisplayOptions, Effect, State};
use crate::watch::{Change, watch};

/// How long changes are collected before they are shown. The watcher has collected most of them already.
const BATCH_DELAY: Duration = Duration::from_millis(2);
/// How often the folders are scanned if the system does not report changes.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// How often files are read that the watcher does not report: tasks, reviews, and folders that appeared while a watch was
/// set up.
const REFRESH_INTERVAL: Duration = Duration::from_secs(3);
/// How often all folders are scanned, in case an event was lost.
const SCAN_INTERVAL: Duration = Duration::from_secs(30);
/// How often the screen is drawn again while it shows running times.
const CLOCK_INTERVAL: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub struct Options {
    pub home: Home,
    pub display: DisplayOptions,
}

/// Why the main loop ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitReason {
    User,
    /// The sender of the signal expects that the process dies of it.
    Signal(i32),
}

impl ExitReason {
    /// Ends the process by the signal, if that was the reason. Call it after the terminal is restored.
    pub fn raise_signal(self) {
        if let Self::Signal(signal) = self {
            // If this fails, the process exits normally.
            let _ = emulate_default_handler(signal);
        }
    }
}

enum Message {
    Terminal(io::Result<Event>),
    Disk(Change),
    Signal(i32),
}

/// Shows the sessions until the user quits or a signal arrives.
pub fn run(options: Options) -> io::Result<ExitReason> {
    let (sender, messages) = mpsc::channel();
    listen_to_signals(&sender)?;
    let mut top = Top::new(options, sender.clone());
    let mut screen = Screen::enter()?;
    top.state.resize(screen.terminal.size()?);
    listen_to_terminal(sender);
    loop {
        top.load_events();
        screen.terminal.draw(|frame| draw(&top.state, frame.area(), frame.buffer_mut()))?;
        if let Some(reason) = top.wait(&messages)? {
            return Ok(reason);
        }
    }
}

fn listen_to_signals(sender: &Sender<Message>) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let sender = sender.clone();
    thread::spawn(move || {
        for signal in signals.forever() {
            // This fails only after the main loop has ended.
            let _ = sender.send(Message::Signal(signal));
        }
    });
    Ok(())
}

fn listen_to_terminal(sender: Sender<Message>) {
    thread::spawn(move || {
        loop {
            let event = event::read();
            let is_last = event.is_err();
            if sender.send(Message::Terminal(event)).is_err() || is_last {
                return;
            }
        }
    });
}

struct Top {
    sessions: Sessions,
    state: State,
    sender: Sender<Message>,
    watcher: Option<SessionWatcher>,
    last_scan: Instant,
    /// When files outside the sessions' folders were last read.
    last_refresh: Instant,
    /// There are new folders, whose first changes may not have been reported.
    has_new_sessions: bool,
    /// All folders have to be scanned again.
    needs_scan: bool,
    /// The session whose events are loaded, and the length of its timeline at that time.
    loaded_events: Option<(SessionId, u64)>,
}

impl Top {
    /// The watcher starts before the first scan, so that no change in between is missed.
    fn new(options: Options, sender: Sender<Message>) -> Self {
        let state = State::new(options.display, Size::new(80, 24), clock::now());
        let sessions = Sessions::new(options.home);
        let now = Instant::now();
        let mut top = Self {
            sessions,
            state,
            sender,
            watcher: None,
            last_scan: now,
            last_refresh: now,
            has_new_sessions: false,
            needs_scan: false,
            loaded_events: None,
        };
        top.start_watcher();
        top.scan();
        top
    }

    fn start_watcher(&mut self) {
        let sender = self.sender.clone();
        self.watcher = watch(self.sessions.home(), move |change| {
            // This fails only after the main loop has ended.
            let _ = sender.send(Message::Disk(change));
        });
    }

    fn scan(&mut self) {
        self.last_scan = Instant::now();
        (self.needs_scan, self.has_new_sessions) = (false, false);
        if self.watcher.is_none() {
            self.start_watcher();
        }
        if let Err(error) = self.sessions.scan() {
            self.state.set_note(Some(error.to_string()));
        }
        self.update_rows();
    }

    fn update_rows(&mut self) {
        self.state.set_now(clock::now());
        self.state.set_rows(self.sessions.rows());
    }

    fn load_events(&mut self) {
        let Some(row) = self.state.selected() else { return };
        let current = (row.id().clone(), row.summary.timeline_bytes);
        if self.loaded_events.as_ref() != Some(&current) {
            let events = last_events(&row.summary.session);
            self.state.set_events(events);
            self.loaded_events = Some(current);
        }
    }

    /// Waits for messages or until the screen has to be drawn again. Returns the reason if the loop has to end.
    fn wait(&mut self, messages: &Receiver<Message>) -> io::Result<Option<ExitReason>> {
        let first = match messages.recv_timeout(self.wait_timeout()) {
            Ok(first) => Some(first),
            Err(RecvTimeoutError::Timeout) => None,
            // This cannot happen, because `self` has a sender.
            Err(RecvTimeoutError::Disconnected) => return Ok(Some(ExitReason::User)),
        };
        if matches!(first, Some(Message::Disk(_))) {
            thread::sleep(BATCH_DELAY);
        }
        let mut changes = HashSet::new();
        for message in first.into_iter().chain(messages.try_iter()) {
            if let Some(reason) = self.handle_message(message, &mut changes)? {
                return Ok(Some(reason));
            }
        }
        self.apply_changes(changes);
        Ok(None)
    }

    fn handle_message(
        &mut self,
        message: Message,
        changes: &mut HashSet<SessionId>,
    ) -> io::Result<Option<ExitReason>> {
        match message {
            Message::Signal(signal) => return Ok(Some(ExitReason::Signal(signal))),
            Message::Disk(Change::All) => self.needs_scan = true,
            Message::Disk(Change::Session(id)) => {
                changes.insert(id);
            }
            Message::Terminal(event) => {
                if self.handle_terminal_event(&event?) == Flow::Quit {
                    return Ok(Some(ExitReason::User));
                }
            }
        }
        Ok(None)
    }

    fn wait_timeout(&self) -> Duration {
        match (&self.watcher, self.sessions.has_agents()) {
            (None, _) => POLL_INTERVAL,
            (_, true) => CLOCK_INTERVAL,
            (_, false) => REFRESH_INTERVAL,
        }
    }

    fn scan_interval(&self) -> Duration {
        if self.watcher.is_some() { SCAN_INTERVAL } else { POLL_INTERVAL }
    }

    fn apply_changes(&mut self, changes: HashSet<SessionId>) {
        self.has_new_sessions |= changes.iter().any(|id| !self.sessions.contains(id));
        self.sessions.refresh(changes);
        if self.last_refresh.elapsed() >= REFRESH_INTERVAL {
            self.last_refresh = Instant::now();
            self.sessions.refresh_open();
            self.needs_scan |= self.has_new_sessions;
        }
        if self.needs_scan || self.last_scan.elapsed() >= self.scan_interval() {
            self.scan();
        }
        self.update_rows();
    }

    fn handle_terminal_event(&mut self, event: &Event) -> Flow {
        match event {
            Event::Resize(columns, rows) => self.state.resize(Size::new(*columns, *rows)),
            Event::Key(key) => {
                let (state, effect) = handle_key(self.state.clone(), *key);
                self.state = state;
                return self.run_effect(effect);
            }
            _ => {}
        }
        Flow::Continue
    }

    fn run_effect(&mut self, effect: Effect) -> Flow {
        match effect {
            Effect::None => Flow::Continue,
            Effect::Quit => Flow::Quit,
            Effect::Change(action, id) => {
                let note = run_action(self.sessions.home(), &self.state.display, action, &id);
                self.state.set_note(Some(note));
                self.sessions.refresh([id]);
                Flow::Continue
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    Continue,
    Quit,
}

/// Renders the list once as plain text. Without a height, all sessions are included.
pub fn render_once(
    options: Options,
    width: u16,
    height: Option<u16>,
    now: Millis,
) -> Result<String, StoreError> {
    let mut sessions = Sessions::new(options.home);
    sessions.scan()?;
    let mut state = State::new(options.display, Size::new(width, 1), now);
    state.set_rows(sessions.rows());
    Ok(render_plain(state, height))
}

/// All sessions as JSON in the format of the dashboard's API, the last active first.
pub fn sessions_json(options: Options) -> Result<Value, StoreError> {
    let mut sessions = Sessions::new(options.home);
    sessions.scan()?;
    let mut rows = sessions.rows();
    rows.sort_by_cached_key(|row| (-row.summary.last_activity.0, row.summary.id().to_owned()));
    let settings = &options.display.settings;
    Ok(rows.iter().map(|row| session_json(&row.summary, row.supervision.as_ref(), settings)).collect())
}
