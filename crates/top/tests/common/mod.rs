//! Session files with fixed times, and a state that shows them.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "each test crate uses its own part, a test may panic, and it prepares its files without the store"
)]

use std::fs::{self, File};
use std::path::PathBuf;
use std::time::{Duration, UNIX_EPOCH};

use overtone_core::economy::PriceTable;
use overtone_core::engine::settings::Settings;
use overtone_core::engine::state::Millis;
use overtone_core::messages::Lang;
use overtone_core::registry::Workflow;
use overtone_store::Home;
use overtone_top::{DisplayOptions, Sessions, State, last_events};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::layout::Size;
use serde_json::{Map, Value, json};
use tempfile::TempDir;

/// 2026-02-23T15:00:00Z.
pub(crate) const NOW: u64 = 1_771_858_800;

pub(crate) struct TestHome {
    root: TempDir,
}

impl TestHome {
    /// One session of each kind.
    pub(crate) fn full() -> Self {
        let disk = Self { root: tempfile::tempdir().unwrap() };
        let agents = json!({ "developer": { "stage": "DEV", "startedAt": "2026-02-23T14:56:40Z" } });
        disk.put("0f3c-shop", "standard", 3, &["DEV"], &agents, "shop");
        disk.tasks("0f3c-shop", 3, 8);
        disk.file("0f3c-shop", "context.json", r#"{"usedPercentage":72,"costUsd":1.234}"#);
        disk.file("0f3c-shop", "loop.json", r#"{"iterations":4}"#);
        let agents = json!({
            "code-reviewer": { "stage": "REVIEW", "startedAt": "2026-02-23T14:59:48Z" },
            "tester": { "stage": "TEST", "startedAt": "2026-02-23T14:59:48Z" },
        });
        disk.put("1a2b-login", "quick", 1, &["REVIEW", "TEST"], &agents, "登入頁面專案");
        disk.events("1a2b-login");
        disk.put("3c4d-api", "full", 1, &[], &json!({}), "api");
        disk.file("3c4d-api", "loop.json", r#"{"iterations":100,"stopped":true,"stoppedBy":"limit"}"#);
        disk.put("5e6f-web", "secure", 0, &[], &json!({}), "web");
        disk.file("5e6f-web", "loop.json", r#"{"iterations":2,"stopped":true,"stoppedBy":"user"}"#);
        disk.put("7a8b-app", "single", 1, &[], &json!({}), "mobile-app-with-a-long-name");
        disk.edit("7a8b-app", "ending", &json!("completed"));
        disk.file("9c0d-docs", "session.json", r#"{"project":"/code/docs"}"#);
        disk.file("aa11-torn", "workflow.json", "{\"sess");
        disk.set_times();
        disk
    }

    /// A session whose every text would control a terminal or hide something.
    pub(crate) fn hostile() -> Self {
        let disk = Self { root: tempfile::tempdir().unwrap() };
        let evil = "e\u{1b}[2J\u{202e}v\u{200b}\u{e0041}il\u{2066}\u{9b}\r\n";
        let agents = json!({ evil: { "stage": "DEV", "startedAt": "2026-02-23T14:56:40Z" } });
        disk.put("ee01", "quick", 1, &[], &agents, evil);
        for field in ["workflowType", "featureName", "movedTo"] {
            disk.edit("ee01", field, &json!(evil));
        }
        let event = json!({ "ts": "2026-02-23T14:56:40Z", "type": evil, "stage": evil, evil: evil });
        disk.file("ee01", "timeline.jsonl", &format!("{event}\n"));
        disk.set_times();
        disk
    }

    /// This many running sessions.
    pub(crate) fn many(count: usize) -> Self {
        let disk = Self { root: tempfile::tempdir().unwrap() };
        for n in 0..count {
            disk.put(&format!("s{n:04}"), "quick", 1, &[], &json!({}), &format!("project-{n:04}"));
        }
        disk.set_times();
        disk
    }

    pub(crate) fn home(&self) -> Home {
        Home::at(self.root.path().to_owned())
    }

    fn session(&self, id: &str) -> PathBuf {
        self.root.path().join("sessions").join(id)
    }

    fn file(&self, id: &str, name: &str, content: &str) {
        fs::create_dir_all(self.session(id)).unwrap();
        fs::write(self.session(id).join(name), content).unwrap();
    }

    fn put(&self, id: &str, workflow: &str, done: usize, active: &[&str], agents: &Value, project: &str) {
        let keys = Workflow::from_name(workflow).unwrap().stage_keys().map(|key| key.to_string());
        let stages: Map<_, _> = keys
            .enumerate()
            .map(|(at, key)| {
                let status = match key.as_str() {
                    _ if at < done => "completed",
                    key if active.contains(&key) => "active",
                    _ => "pending",
                };
                (key, json!({ "status": status, "result": (at < done).then_some("pass") }))
            })
            .collect();
        let state = json!({
            "sessionId": id, "workflowType": workflow, "createdAt": "2026-02-23T14:00:00Z", "stages": stages,
            "activeAgents": agents, "failCount": 1, "featureName": "user-login",
        });
        self.file(id, "workflow.json", &state.to_string());
        self.file(id, "session.json", &json!({ "project": format!("/code/{project}") }).to_string());
    }

    fn edit(&self, id: &str, field: &str, value: &Value) {
        let path = self.session(id).join("workflow.json");
        let mut state: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        state[field] = value.clone();
        fs::write(path, state.to_string()).unwrap();
    }

    /// Creates a project for the session, with a feature that has this many tasks.
    fn tasks(&self, id: &str, checked: usize, total: usize) {
        let project = self.root.path().join("work/shop");
        let feature = project.join("specs/features/in-progress/user-login");
        fs::create_dir_all(&feature).unwrap();
        let tick = |n: usize| format!("- [{}] task {n}\n", if n < checked { "x" } else { " " });
        fs::write(feature.join("tasks.md"), (0..total).map(tick).collect::<String>()).unwrap();
        self.file(id, "session.json", &json!({ "project": project }).to_string());
    }

    fn events(&self, id: &str) {
        let lines = [
            r#"{"ts":"2026-02-23T14:00:00Z","type":"workflow:start","workflowType":"quick","stages":["DEV","REVIEW"]}"#,
            r#"{"ts":"2026-02-23T14:58:00Z","type":"stage:complete","stage":"DEV","agent":"developer","result":"pass"}"#,
            r#"{"ts":"2026-02-23T14:59:00Z","type":"tool:failure","tool":"Bash","error":"a\u001b[2J\nb 很長的訊息 很長的訊息 很長的訊息 很長的訊息 很長的訊息"}"#,
            r#"{"ts":"2026-02-23T14:59:48Z","type":"agent:delegate","stage":"REVIEW","agent":"code-reviewer"}"#,
            r#"{"ts":"2026-02-23T14:59:50Z","type":"from:the-future"}"#,
        ];
        self.file(id, "timeline.jsonl", &(lines.join("\n") + "\n{\"torn"));
    }

    /// Sets all modification times to half a minute before [`NOW`].
    fn set_times(&self) {
        let time = UNIX_EPOCH + Duration::from_secs(NOW - 30);
        for session in fs::read_dir(self.root.path().join("sessions")).unwrap() {
            let session = session.unwrap().path();
            let files = fs::read_dir(&session).unwrap().map(|file| file.unwrap().path());
            for path in files.chain([session.clone()]) {
                File::open(path).unwrap().set_modified(time).unwrap();
            }
        }
    }
}

pub(crate) fn state(disk: &TestHome, lang: Lang, columns: u16, rows: u16, colours: bool) -> State {
    let display =
        DisplayOptions { lang, settings: Settings::default(), prices: PriceTable::default(), colours };
    let mut sessions = Sessions::new(disk.home());
    sessions.scan().unwrap();
    let now = Millis(i64::try_from(NOW * 1000).unwrap());
    let mut state = State::new(display, Size::new(columns, rows), now);
    state.set_rows(sessions.rows());
    with_events(state)
}

/// Loads the events of the selected session, as the main loop does.
pub(crate) fn with_events(mut state: State) -> State {
    let events = state.selected().map(|row| last_events(&row.summary.session)).unwrap_or_default();
    state.set_events(events);
    state
}

pub(crate) fn terminal(state: &State, columns: u16, rows: u16) -> Terminal<TestBackend> {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    terminal.draw(|frame| overtone_top::draw(state, frame.area(), frame.buffer_mut())).unwrap();
    terminal
}

/// The screen as lines. The second cell of a wide character is skipped.
pub(crate) fn screen(state: &State, columns: u16, rows: u16) -> String {
    let terminal = terminal(state, columns, rows);
    let buffer = terminal.backend().buffer();
    let line = |y: u16| {
        let mut text = String::new();
        let mut x = 0;
        while x < columns {
            let symbol = buffer[(x, y)].symbol();
            text.push_str(symbol);
            x += u16::try_from(unicode_width::UnicodeWidthStr::width(symbol)).unwrap().max(1);
        }
        text.trim_end().to_owned() + "\n"
    };
    (0..rows).map(line).collect()
}
