//! The loop around the pure parts. It sleeps until a key, a signal or a change on disk comes.

use std::collections::HashSet;
use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use overtone_engine::state::Millis;
use overtone_store::{Home, SessionId, StoreError, clock};
use overtone_view::supervised;
use overtone_watch::Watch;
use ratatui::crossterm::event::{self, Event};
use ratatui::layout::Size;
use serde_json::Value;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use crate::act::change;
use crate::draw::{draw, plain};
use crate::events::last_events;
use crate::keys::press;
use crate::screen::Screen;
use crate::sessions::Sessions;
use crate::state::{Effect, Look, State};
use crate::watch::{Change, watch};

/// What is heard within this time is shown together; the watch has gathered before.
const GATHER: Duration = Duration::from_millis(2);
/// Where the system does not tell of changes, they are looked for this often.
const POLL: Duration = Duration::from_millis(500);
/// What no watch reports is looked at this often: tasks, reviews, folders that came while a watch was set up.
const LOOK_AGAIN: Duration = Duration::from_secs(3);
/// Everything is looked at this often, should a report have been lost.
const SWEEP: Duration = Duration::from_secs(30);
/// How often times that run are shown anew.
const SECOND: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub struct Options {
    pub home: Home,
    pub look: Look,
}

/// Why it came to an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    ByPerson,
    /// Whoever sent it wants to see that it worked.
    BySignal(i32),
}

impl Ended {
    /// Does what the signal does by default; the terminal is already given back.
    pub fn obey(self) {
        if let Self::BySignal(signal) = self {
            // Without it, the exit code still says that it came to an end.
            let _ = emulate_default_handler(signal);
        }
    }
}

enum News {
    Terminal(io::Result<Event>),
    Disk(Change),
    Signal(i32),
}

/// Shows the sessions until a person has seen enough.
pub fn run(options: Options) -> io::Result<Ended> {
    let (sender, news) = mpsc::channel();
    listen_to_signals(&sender)?;
    let mut top = Top::new(options, sender.clone());
    let mut screen = Screen::take()?;
    top.state.resize(screen.terminal.size()?);
    listen_to_terminal(sender);
    loop {
        top.load_events();
        screen.terminal.draw(|frame| draw(&top.state, frame.area(), frame.buffer_mut()))?;
        if let Some(ended) = top.wait(&news)? {
            return Ok(ended);
        }
    }
}

fn listen_to_signals(sender: &Sender<News>) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let sender = sender.clone();
    thread::spawn(move || {
        for signal in signals.forever() {
            // Nobody listens any more when it is over.
            let _ = sender.send(News::Signal(signal));
        }
    });
    Ok(())
}

fn listen_to_terminal(sender: Sender<News>) {
    thread::spawn(move || {
        loop {
            let event = event::read();
            let is_last = event.is_err();
            if sender.send(News::Terminal(event)).is_err() || is_last {
                return;
            }
        }
    });
}

struct Top {
    sessions: Sessions,
    state: State,
    sender: Sender<News>,
    watcher: Option<Watch>,
    looked: Instant,
    /// When open sessions were last asked for what is kept elsewhere.
    asked: Instant,
    /// The first changes in a new folder may not have been reported.
    has_newcomers: bool,
    /// Anything may have changed.
    looks_anew: bool,
    /// Whose events are loaded, and how long the timeline was then.
    loaded: Option<(SessionId, u64)>,
}

impl Top {
    /// The watch begins before the first look, so that nothing falls in between.
    fn new(options: Options, sender: Sender<News>) -> Self {
        let state = State::new(options.look, Size::new(80, 24), clock::now());
        let sessions = Sessions::new(options.home);
        let now = Instant::now();
        let mut top = Self {
            sessions,
            state,
            sender,
            watcher: None,
            looked: now,
            asked: now,
            has_newcomers: false,
            looks_anew: false,
            loaded: None,
        };
        top.watch();
        top.look();
        top
    }

    fn watch(&mut self) {
        let sender = self.sender.clone();
        self.watcher = watch(self.sessions.home(), move |change| {
            // Nobody listens any more when it is over.
            let _ = sender.send(News::Disk(change));
        });
    }

    fn look(&mut self) {
        self.looked = Instant::now();
        (self.looks_anew, self.has_newcomers) = (false, false);
        if self.watcher.is_none() {
            self.watch();
        }
        if let Err(error) = self.sessions.look() {
            self.state.tell(Some(error.to_string()));
        }
        self.show();
    }

    fn show(&mut self) {
        self.state.set_now(clock::now());
        self.state.set_rows(self.sessions.rows());
    }

    fn load_events(&mut self) {
        let Some(row) = self.state.selected() else { return };
        let now = (row.id().clone(), row.summary.timeline_bytes);
        if self.loaded.as_ref() != Some(&now) {
            let events = last_events(&row.summary.session);
            self.state.set_events(events);
            self.loaded = Some(now);
        }
    }

    /// Until something is to be shown, or it is over.
    fn wait(&mut self, news: &Receiver<News>) -> io::Result<Option<Ended>> {
        let first = match news.recv_timeout(self.patience()) {
            Ok(first) => Some(first),
            Err(RecvTimeoutError::Timeout) => None,
            // We hold a sender ourselves.
            Err(RecvTimeoutError::Disconnected) => return Ok(Some(Ended::ByPerson)),
        };
        if matches!(first, Some(News::Disk(_))) {
            thread::sleep(GATHER);
        }
        let mut changes = HashSet::new();
        for one in first.into_iter().chain(news.try_iter()) {
            if let Some(ended) = self.hear(one, &mut changes)? {
                return Ok(Some(ended));
            }
        }
        self.catch_up(changes);
        Ok(None)
    }

    fn hear(&mut self, news: News, changes: &mut HashSet<SessionId>) -> io::Result<Option<Ended>> {
        match news {
            News::Signal(signal) => return Ok(Some(Ended::BySignal(signal))),
            News::Disk(Change::Anything) => self.looks_anew = true,
            News::Disk(Change::Session(id)) => {
                changes.insert(id);
            }
            News::Terminal(event) => return Ok(self.take(&event?).then_some(Ended::ByPerson)),
        }
        Ok(None)
    }

    fn patience(&self) -> Duration {
        match (&self.watcher, self.sessions.has_agents()) {
            (None, _) => POLL,
            (_, true) => SECOND,
            (_, false) => LOOK_AGAIN,
        }
    }

    fn look_every(&self) -> Duration {
        if self.watcher.is_some() { SWEEP } else { POLL }
    }

    fn catch_up(&mut self, changes: HashSet<SessionId>) {
        self.has_newcomers |= changes.iter().any(|id| !self.sessions.knows(id));
        self.sessions.refresh(changes);
        if self.asked.elapsed() >= LOOK_AGAIN {
            self.asked = Instant::now();
            self.sessions.refresh_open();
            self.looks_anew |= self.has_newcomers;
        }
        if self.looks_anew || self.looked.elapsed() >= self.look_every() {
            self.look();
        }
        self.show();
    }

    /// Whether it is over.
    fn take(&mut self, event: &Event) -> bool {
        match event {
            Event::Resize(columns, rows) => self.state.resize(Size::new(*columns, *rows)),
            Event::Key(key) => {
                let (state, effect) = press(self.state.clone(), *key);
                self.state = state;
                return self.carry_out(effect);
            }
            _ => {}
        }
        false
    }

    fn carry_out(&mut self, effect: Effect) -> bool {
        match effect {
            Effect::None => false,
            Effect::Quit => true,
            Effect::Change(action, id) => {
                let note = change(self.sessions.home(), &self.state.look, action, &id);
                self.state.tell(Some(note));
                self.sessions.refresh([id]);
                false
            }
        }
    }
}

/// One frame as plain text. Without a height it is as high as it must be.
pub fn once(options: Options, width: u16, height: Option<u16>, now: Millis) -> Result<String, StoreError> {
    let mut sessions = Sessions::new(options.home);
    sessions.look()?;
    let mut state = State::new(options.look, Size::new(width, 1), now);
    state.set_rows(sessions.rows());
    Ok(plain(state, height))
}

/// Every session for programs, as the dashboard gives them: the last active first.
pub fn summaries(options: Options) -> Result<Value, StoreError> {
    let mut sessions = Sessions::new(options.home);
    sessions.look()?;
    let mut rows = sessions.rows();
    rows.sort_by_cached_key(|row| (-row.summary.last_activity.0, row.summary.id().to_owned()));
    let settings = &options.look.settings;
    Ok(rows.iter().map(|row| supervised(&row.summary, row.supervision.as_ref(), settings)).collect())
}
