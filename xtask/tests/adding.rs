//! Adds a stage and an event to a copy of the sources, as `docs/adding.md` says, and lets the compiler lead the way: it
//! must name exactly the files that the page marks with `(compiler)`, and accept the copy once these are changed.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a panic is the failure report of a test, and its files need no atomic writes"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The packages that an addition changes, and what they need.
const PACKAGES: [&str; 4] = ["core", "store", "claude", "jsonc-edit"];

/// Inserts `text` in front of the first `anchor` of a file. Without an anchor, the file is new.
struct Edit {
    file: &'static str,
    anchor: &'static str,
    text: &'static str,
}

const fn edit(file: &'static str, anchor: &'static str, text: &'static str) -> Edit {
    Edit { file, anchor, text }
}

const STAGE: &str = "crates/core/src/registry/stage.rs";
const AGENT: &str = "crates/core/src/registry/agent.rs";
const EVENT: &str = "crates/core/src/registry/event.rs";
const LABELS: &str = "crates/core/src/messages/labels.rs";
const CAUSE: &str = "crates/core/src/replay/cause.rs";
const PROMPT: &str = "crates/claude/content/agents/auditor.md";
const AGENT_FILES: &str = "crates/claude/src/plugin/agents.rs";
const WORKFLOW_FILES: &str = "crates/claude/src/plugin/workflows.rs";

const NEW_STAGE: [Edit; 9] = [
    edit(STAGE, "Docs(\"DOCS\"", "Audit(\"AUDIT\", \"稽核\", \"🧾\", Agent::Auditor),\n"),
    edit(AGENT, "Grader(\"grader\"", "Auditor(\"auditor\", \"gray\", \"haiku\", READ_ONLY, &[], &[]),\n"),
    edit(AGENT, "Self::Qa => &[", "Self::Auditor => &[\"Read\"],\n"),
    edit(LABELS, "Stage::Docs => ", "Stage::Audit => (\"审计\", \"Audit\"),\n"),
    edit(PROMPT, "", "# Auditor\n"),
    edit(AGENT_FILES, "Agent::Grader => Contract", "Agent::Auditor => Contract::Reviewer,\n"),
    edit(AGENT_FILES, "Agent::Grader => \"", "Agent::Auditor => \"AUDIT stage.\",\n"),
    edit(
        AGENT_FILES,
        "Agent::Grader => include_str!",
        "Agent::Auditor => include_str!(\"../../content/agents/auditor.md\"),\n",
    ),
    edit(WORKFLOW_FILES, "Stage::Docs => ", "Stage::Audit => \"a verdict\",\n"),
];

const NEW_EVENT: [Edit; 3] = [
    edit(EVENT, "StageRetry(", "StageSkip(\"stage:skip\", \"階段略過\"),\n"),
    edit(LABELS, "EventKind::StageRetry => ", "EventKind::StageSkip => (\"阶段略过\", \"stage skipped\"),\n"),
    edit(CAUSE, "EventKind::SpecsArchive => ", "EventKind::StageSkip => Cause::Nothing,\n"),
];

#[test]
fn the_compiler_leads_through_adding_a_stage_and_an_event() {
    let copy = SourceCopy::create();
    copy.add("A stage", &NEW_STAGE);
    copy.add("An event", &NEW_EVENT);
}

/// The sources of some packages in a folder of their own, built below the target folder.
struct SourceCopy {
    root: PathBuf,
    target: PathBuf,
    /// Keeps a second run of this test from changing the same folder.
    _lock: fs::File,
}

impl SourceCopy {
    fn create() -> Self {
        let work = Path::new(env!("CARGO_TARGET_TMPDIR")).join("adding");
        fs::create_dir_all(&work).unwrap();
        let lock = fs::File::create(work.join("lock")).unwrap();
        lock.lock().unwrap();
        let (root, target) = (work.join("sources"), work.join("target"));
        let _ = fs::remove_dir_all(&root);
        for package in PACKAGES {
            for part in ["Cargo.toml", "src", "content", "skills"] {
                copy(
                    &workspace().join("crates").join(package).join(part),
                    &root.join("crates").join(package).join(part),
                );
            }
        }
        let manifest = fs::read_to_string(workspace().join("Cargo.toml")).unwrap();
        let is_kept = |line: &&str| !line.starts_with("default-members") && !line.starts_with("members");
        let manifest: Vec<_> = manifest.lines().filter(is_kept).collect();
        let manifest =
            manifest.join("\n").replacen("[workspace]", "[workspace]\nmembers = [\"crates/*\"]", 1);
        fs::write(root.join("Cargo.toml"), manifest).unwrap();
        copy(&workspace().join("Cargo.lock"), &root.join("Cargo.lock"));
        Self { root, target, _lock: lock }
    }

    /// Makes the first edit, then those of the files that the compiler names, until it is content.
    fn add(&self, section: &str, edits: &[Edit]) {
        let marked = compiler_steps(section);
        assert!(marked.len() >= 2, "{section}: the page marks {marked:?}");
        let mut changed = BTreeSet::from([edits[0].file.to_owned()]);
        let mut found = BTreeSet::new();
        self.apply(&edits[..1]);
        loop {
            let errors = self.errors();
            if errors.is_empty() {
                break;
            }
            let named: BTreeSet<_> = errors.difference(&changed).cloned().collect();
            assert!(!named.is_empty(), "{section}: still errors in {errors:?}");
            for file in &named {
                assert!(marked.contains(file), "{section}: the page does not mark {file}");
                let of_file: Vec<_> = edits.iter().filter(|edit| edit.file == file).collect();
                assert!(!of_file.is_empty(), "{section}: this test does not know how to change {file}");
                self.apply(of_file);
            }
            changed.extend(named.clone());
            found.extend(named);
        }
        assert_eq!(found, marked, "{section}: files that the compiler names, and those that the page marks");
    }

    fn apply<'a>(&self, edits: impl IntoIterator<Item = &'a Edit>) {
        for Edit { file, anchor, text } in edits {
            let path = self.root.join(file);
            let old = if anchor.is_empty() { String::new() } else { fs::read_to_string(&path).unwrap() };
            let at = old.find(anchor).unwrap_or_else(|| panic!("{file} has no {anchor}"));
            fs::write(&path, format!("{}{text}{}", &old[..at], &old[at..])).unwrap();
        }
    }

    /// The files that errors of the compiler are about. None if it accepts the packages.
    fn errors(&self) -> BTreeSet<String> {
        let output = Command::new(env!("CARGO"))
            .current_dir(&self.root)
            .args(["check", "--offline", "--message-format=json", "--package", "overtone-claude"])
            .env("CARGO_TARGET_DIR", &self.target)
            .env_remove("RUSTFLAGS")
            .output()
            .unwrap();
        let mut files = BTreeSet::new();
        for line in String::from_utf8(output.stdout).unwrap().lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            if line["message"]["level"] == "error" {
                add_files(&line["message"], &mut files);
            }
        }
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.success(), files.is_empty(), "{stderr}");
        files
    }
}

/// Adds the files of a message, of its notes, and the file that `include_str!` did not find.
fn add_files(message: &Value, files: &mut BTreeSet<String>) {
    for span in message["spans"].as_array().unwrap() {
        // The tables are written with a macro. What matters is the table, not the definition of the macro.
        let mut span = span;
        while !span["expansion"].is_null() {
            span = &span["expansion"]["span"];
        }
        files.insert(span["file_name"].as_str().unwrap().to_owned());
    }
    let text = message["message"].as_str().unwrap();
    if let Some((_, rest)) = text.split_once("couldn't read `") {
        files.insert(without_parents(rest.split('`').next().unwrap()));
    }
    for child in message["children"].as_array().unwrap() {
        add_files(child, files);
    }
}

/// `a/b/../c` as `a/c`.
fn without_parents(path: &str) -> String {
    let mut plain = PathBuf::new();
    for part in Path::new(path).components() {
        if part == Component::ParentDir {
            plain.pop();
        } else {
            plain.push(part);
        }
    }
    plain.to_str().unwrap().to_owned()
}

/// The files of the steps with a mark: ``2. `crates/…` (compiler): …``.
fn compiler_steps(section: &str) -> BTreeSet<String> {
    let page = fs::read_to_string(workspace().join("docs/adding.md")).unwrap();
    let (_, rest) = page.split_once(&format!("## {section}\n")).unwrap();
    let steps = rest.split("\n## ").next().unwrap();
    let file = |line: &str| {
        let (path, after) = line.split_once(". `")?.1.split_once('`')?;
        after.starts_with(" (compiler)").then(|| path.replace("<agent>", "auditor"))
    };
    steps.lines().filter_map(file).collect()
}

fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// Copies a file or a folder, if it exists.
fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    } else if from.exists() {
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(from, to).unwrap();
    }
}
