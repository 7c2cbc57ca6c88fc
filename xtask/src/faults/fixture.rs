//! What a program under test finds: a session, a project and a user's settings, as `files.txt` lists them.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use overtone_core::registry::{EventKind, Hook};
use serde_json::{Value, json};

use super::subject::Subject;
use crate::error::{Error, Result};
use crate::sandbox::Sandbox;
use crate::sealed::seal_workflow;
use crate::shell::{self, write_file};

pub(super) const SESSION: &str = "5f0c7a52-3f0e-4b5e-9a51-2f6d1c0e7b11";

const FILES: &str = include_str!("files.txt");

#[derive(Debug)]
pub(super) struct Fixture {
    pub root: PathBuf,
    pub sandbox: Sandbox,
    /// The id of a lesson that was learned in the project.
    lesson: String,
}

impl Fixture {
    pub(super) fn create(root: &Path, binary: &Path, situation: &str) -> Result<Self> {
        let sandbox = Sandbox::create(root.to_owned(), binary)?;
        let mut fixture = Self { root: root.to_owned(), sandbox, lesson: String::new() };
        for section in FILES.split("\n== ").skip(1) {
            let (header, content) = section.split_once('\n').unwrap_or((section, ""));
            let (path, situations) = header.split_once(' ').unwrap_or((header, situation));
            if situations.split(',').any(|other| other == situation) {
                fixture.write(path, content.trim_end())?;
            }
        }
        seal_workflow(&fixture.sandbox.overtone_home(), SESSION)?;
        fixture.learn()?;
        if situation == "installed" {
            let mut command = fixture.sandbox.command(&["up"]);
            shell::run(fixture.add_environment(&mut command))?;
        }
        Ok(fixture)
    }

    fn write(&self, path: &str, content: &str) -> Result<()> {
        let path = self.root.join(self.fill(path));
        let end = if path.ends_with(".current-session-id") { "" } else { "\n" };
        write_file(&path, (self.fill(content) + end).as_bytes())?;
        let mode = if path.ends_with("bin/claude") { 0o755 } else { 0o600 };
        let failed = |e: std::io::Error| Error::io("cannot set mode", &path, &e);
        fs::set_permissions(&path, Permissions::from_mode(mode)).map_err(failed)
    }

    /// Replaces the placeholders of a file, an argument or an input.
    pub(super) fn fill(&self, template: &str) -> String {
        // An agent that began long ago would be given up by the hooks.
        let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string();
        let mut text = template.to_owned();
        for (placeholder, value) in [
            ("{timeline}", timeline as fn() -> String),
            // Longer than a page, so that it is not written at once.
            ("{report}", || "What was done, and why. ".repeat(250)),
        ] {
            if text.contains(placeholder) {
                text = text.replace(placeholder, &value());
            }
        }
        text.replace("{root}", &self.root.to_string_lossy())
            .replace("{session}", SESSION)
            .replace("{lesson}", &self.lesson)
            .replace("{now}", &now)
    }

    /// The client is on the path, and texts are English, so that a failure can be read.
    pub(super) fn add_environment<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", self.root.join("bin").display());
        let variables = [("PATH", path.as_str()), ("OVERTONE_LANG", "en"), ("EDITOR", "true")];
        command.envs(variables).env("CLAUDE_ENV_FILE", self.root.join("project/env.sh"))
    }

    /// The lesson's folder depends on the project's path, so the program itself makes it.
    fn learn(&mut self) -> Result<()> {
        let lesson = Subject::all().into_iter().find(|subject| subject.name == "post-use.lesson/none");
        let input = lesson.and_then(|subject| subject.input).unwrap_or_default();
        let input: Value = serde_json::from_str(&self.fill(&input)).unwrap_or_default();
        for _ in 0..3 {
            self.sandbox.hook(Hook::PostUse, &input)?;
        }
        let list = self.sandbox.succeed(&["instinct", "list", "--json"])?;
        let list: Value = serde_json::from_str(&list).unwrap_or_default();
        let id = list["lessons"][0]["id"].as_str();
        id.ok_or_else(|| Error::new("no lesson was learned"))?.clone_into(&mut self.lesson);
        Ok(())
    }
}

/// Longer than every other file, so that a limit on file sizes can stop within its next line.
fn timeline() -> String {
    let kinds = [EventKind::SessionStart, EventKind::WorkflowStart, EventKind::SessionCompact];
    let lines = kinds.into_iter().chain([EventKind::ToolFailure; 100]).map(|kind| {
        let (name, category, label) = (kind.name(), kind.category(), kind.label());
        json!({ "ts": "{now}", "type": name, "category": category, "label": label, "stage": "DEV" })
            .to_string()
    });
    lines.collect::<Vec<_>>().join("\n")
}
