//! The sessions, as they were when last looked at.

use std::collections::HashMap;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use overtone_engine::settings::Settings;
use overtone_store::{Home, Session, SessionId, clock, files};
use overtone_view::{Query, Skipped, Summary, Supervision, copied, read_page, supervised};
use serde_json::{Value, json};

use crate::hub::News;

/// How many events are read at once; more are read in further steps.
const STEP: usize = 2_000;
/// Who listens is not told more than this of one session at once: they fetch it anew.
const MAX_NEWS: u64 = 8 * 1024 * 1024;

/// A session, and how far its timeline has been told.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) summary: Summary,
    pub(crate) json: Arc<Value>,
    pub(crate) told: u64,
}

impl Entry {
    /// Only its timeline is longer: lists say so, too, without reading the state again.
    fn grow(&mut self, told: u64) {
        self.told = told;
        self.summary.timeline_bytes = told;
        self.summary.last_activity = clock::now();
        let json = Arc::make_mut(&mut self.json);
        json["bytes"] = json!(told);
        json["lastActivity"] = json!(clock::to_iso(self.summary.last_activity));
    }
}

#[derive(Debug)]
pub(crate) struct Index {
    sessions: HashMap<SessionId, Entry>,
    settings: Settings,
    kind: Kind,
}

/// Whose sessions they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Own,
    /// Of other machines: what they name is not here.
    Copies,
}

impl Kind {
    pub(crate) fn load(self, session: &Session) -> Summary {
        match self {
            Self::Own => Summary::load(session),
            Self::Copies => Summary::load_copy(session),
        }
    }

    fn to_json(self, summary: &Summary, settings: &Settings) -> Value {
        match self {
            Self::Own => supervised(summary, Supervision::load(summary).as_ref(), settings),
            Self::Copies => copied(summary, settings),
        }
    }
}

/// What has changed in a session's folder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Changed {
    pub(crate) timeline: bool,
    pub(crate) state: bool,
}

impl Changed {
    pub(crate) const ALL: Self = Self { timeline: true, state: true };

    pub(crate) fn join(self, other: Self) -> Self {
        Self { timeline: self.timeline || other.timeline, state: self.state || other.state }
    }
}

impl Index {
    /// Looks at every session. What happened before now is in the timelines and is not told.
    pub(crate) fn load(home: &Home, settings: Settings, kind: Kind) -> Self {
        let mut index = Self { sessions: HashMap::new(), settings, kind };
        for session in home.sessions().unwrap_or_default() {
            let summary = kind.load(&session);
            let told = end_of(&summary);
            index.put(summary, told);
        }
        index
    }

    fn put(&mut self, summary: Summary, told: u64) -> Arc<Value> {
        let json = Arc::new(self.kind.to_json(&summary, &self.settings));
        let entry = Entry { json: Arc::clone(&json), told, summary };
        self.sessions.insert(entry.summary.session.id().clone(), entry);
        json
    }

    pub(crate) const fn kind(&self) -> Kind {
        self.kind
    }

    pub(crate) fn len(&self) -> usize {
        self.sessions.len()
    }

    pub(crate) fn get(&self, id: &SessionId) -> Option<&Entry> {
        self.sessions.get(id)
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.sessions.values()
    }

    pub(crate) fn skipped(&self) -> Vec<Skipped> {
        self.entries().flat_map(|entry| entry.summary.skipped.iter().cloned()).collect()
    }

    /// Looks at a session again and returns what is new.
    pub(crate) fn refresh(&mut self, home: &Home, id: &SessionId, changed: Changed) -> Vec<News> {
        let session = home.session(id);
        if !session.exists() {
            let gone = self.sessions.remove(id).is_some();
            return if gone { vec![News::Removed { session: id.to_string() }] } else { Vec::new() };
        }
        let known = self.sessions.get(id).map(|entry| entry.told);
        let mut news = Vec::new();
        let mut told = known.unwrap_or(0);
        if changed.timeline || known.is_none() {
            (news, told) = events(home, id, told);
        }
        if changed.state || known.is_none() {
            let summary = self.kind.load(&session);
            let json = self.put(summary, told);
            news.push(News::Session { session: id.to_string(), summary: json });
        } else if let Some(entry) = self.sessions.get_mut(id) {
            entry.grow(told);
        }
        news
    }

    /// Features' tasks and supervisors' rounds are in folders of their own; sessions at work are looked at again.
    pub(crate) fn refresh_open(&mut self, home: &Home) -> Vec<News> {
        let open = self.entries().filter(|entry| entry.summary.state.is_open());
        let ids: Vec<_> = open.map(|entry| entry.summary.session.id().clone()).collect();
        ids.iter().filter_map(|id| self.refresh_if_other(home, id)).collect()
    }

    fn refresh_if_other(&mut self, home: &Home, id: &SessionId) -> Option<News> {
        let before = self.sessions.get(id).map(|entry| (Arc::clone(&entry.json), entry.told))?;
        let session = home.session(id);
        if !session.exists() {
            return None;
        }
        let json = self.put(self.kind.load(&session), before.1);
        let same = without_activity(&json) == without_activity(&before.0);
        (!same).then(|| News::Session { session: id.to_string(), summary: json })
    }
}

fn without_activity(json: &Value) -> Value {
    let mut json = json.clone();
    if let Some(fields) = json.as_object_mut() {
        fields.remove("lastActivity");
        fields.remove("bytes");
    }
    json
}

/// Where the whole lines of a timeline end now. Mostly one byte tells.
fn end_of(summary: &Summary) -> u64 {
    let path = summary.session.timeline_file();
    if ends_a_line(&path, summary.timeline_bytes) {
        return summary.timeline_bytes;
    }
    end_of_lines(&path)
}

fn end_of_lines(path: &Path) -> u64 {
    let lines = overtone_view::Backwards::open(path);
    lines.ok().flatten().map_or(0, |lines| lines.end())
}

fn ends_a_line(path: &Path, at: u64) -> bool {
    let Ok(Some(file)) = files::open_regular(path) else { return false };
    let mut byte = [0];
    at > 0 && file.read_exact_at(&mut byte, at - 1).is_ok() && byte == *b"\n"
}

/// All events from a place on. A timeline that has become shorter is another one and is told from its beginning.
fn events(home: &Home, id: &SessionId, from: u64) -> (Vec<News>, u64) {
    let path = home.session(id).timeline_file();
    let length = path.symlink_metadata().map_or(0, |about| about.len());
    let from = if length < from { 0 } else { from };
    let (mut at, mut news) = (from, Vec::new());
    let session = id.to_string();
    loop {
        let Ok(page) = read_page(&path, &Query::from(at, STEP)) else { return (news, at) };
        news.extend(page.events.into_iter().map(|seen| News::Event { session: session.clone(), seen }));
        if page.newer == at {
            return (news, at);
        }
        at = page.newer;
        if at - from > MAX_NEWS {
            return (vec![News::Resync { session }], at.max(end_of_lines(&path)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn very_much_at_once_is_not_told_one_by_one() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        let mut index = Index::load(&home, Settings::default(), Kind::Own);
        let id = SessionId::parse("s").unwrap();
        let session = home.session(&id);
        session.create().unwrap();
        let line = "{\"type\":\"tool:failure\"}\n";
        files::append_lines(&session.timeline_file(), &line.repeat(400_000)).unwrap();
        let news = index.refresh(&home, &id, Changed::ALL);
        assert!(matches!(&news[..], [News::Resync { .. }, News::Session { .. }]), "{}", news.len());
        files::append_lines(&session.timeline_file(), line).unwrap();
        let news = index.refresh(&home, &id, Changed { timeline: true, state: false });
        assert!(matches!(&news[..], [News::Event { .. }]), "{}", news.len());
    }
}
