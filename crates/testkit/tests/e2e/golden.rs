//! What the clients write to our hooks still has the shapes that `tests/golden` keeps.
//!
//! The files there are replayed by a test that needs no client. When a client is added or changes its words:
//! `OVERTONE_GOLDEN=write cargo xtask e2e golden`, then read what has changed.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::Path;

use overtone_testkit::{Actor, Client, Recorded, Sandbox, Turn, error, text, tool, tools};
use serde_json::{Value, json};

use crate::delegate;
use crate::interactive::recordings;
use crate::steps::{allow_background, begin, in_background, verdict};

const WRITE: &str = "OVERTONE_GOLDEN";

#[test]
fn the_clients_write_what_was_recorded() {
    for client in Client::all() {
        assert_known(client.version(), perform(&client));
    }
}

#[test]
fn the_clients_write_in_terminals_what_was_recorded() {
    for client in Client::all() {
        assert_known(&format!("{}-interactive", client.version()), recordings::perform(&client));
    }
}

/// Every shape is in the folder of this name, which is written first when that is asked for.
fn assert_known(name: &str, recorded: Vec<Recorded>) {
    let fresh = distinct(recorded);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden").join(name);
    if env::var(WRITE).is_ok_and(|how| how == "write") {
        keep(&folder, &fresh);
    }
    let known: BTreeSet<String> = kept(&folder).iter().flat_map(fields_of).collect();
    for recorded in &fresh {
        let strange: Vec<_> =
            fields_of(recorded).into_iter().filter(|field| !known.contains(field)).collect();
        assert!(strange.is_empty(), "not in {}: {strange:#?} of {recorded:#?}", folder.display());
    }
}

/// Sessions in which every hook is called in every way that a client without a terminal has.
fn perform(client: &Client) -> Vec<Recorded> {
    let mut all = Vec::new();
    for session in [work, compactions, background, misfortune] {
        let sandbox = Sandbox::new(client);
        sandbox.record_hooks();
        session(&sandbox);
        all.extend(sandbox.recorded());
    }
    all
}

/// Tools of all kinds, by the main agent and by a sub-agent, then two agents at once.
fn work(sandbox: &Sandbox) {
    sandbox.put_file("src/door.txt", "it creaks");
    let session = begin(sandbox, "quick", &[]);
    let both = tools([delegate("ot:code-reviewer", "look"), delegate("ot:tester", "try")]);
    let mut main = vec![tool("Skill", json!({"skill": "ot:quick"}))];
    main.extend(handiwork(sandbox));
    main.extend([delegate("ot:developer", "the job"), both, text("that will do")]);
    let mut developer = Vec::from(handiwork(sandbox));
    developer.push(verdict("fixed it", "PASS"));
    sandbox
        .script(|s| {
            s.main(main)
                .sub("developer", developer)
                .sub("code-reviewer", [verdict("no", "REJECT")])
                .sub("tester", [verdict("2 failed", "FAIL")])
        })
        .session(&session)
        .permission_mode("acceptEdits")
        .allow(["Agent", "Bash", "Skill", "Grep", "Glob"])
        .run("fix the door");
}

fn handiwork(sandbox: &Sandbox) -> [Turn; 5] {
    let door = sandbox.project().join("src/door.txt");
    [
        tools([
            tool("Read", json!({"file_path": door})),
            tool("Grep", json!({"pattern": "creaks", "path": sandbox.project()})),
            tool("Glob", json!({"pattern": "**/*.txt"})),
        ]),
        tool("Edit", json!({"file_path": door, "old_string": "it", "new_string": "it"})),
        tool("Write", json!({"file_path": sandbox.project().join("oil.txt"), "content": "fine oil\n"})),
        tools([
            tool("Bash", json!({"command": "overtone status", "description": "Look"})),
            tool("Bash", json!({"command": "grep -rn creaks src"})),
            tool("Bash", json!({"command": "echo bad >&2; exit 3"})),
        ]),
        tool("Bash", json!({"command": "overtone status; echo $((6 * 7))"})),
    ]
}

fn compactions(sandbox: &Sandbox) {
    let session = begin(sandbox, "single", &["DEV"]);
    let summary = || text("<summary>what was said</summary>");
    sandbox.script(|s| s.main([text("one")])).session(&session).run("one");
    sandbox.script(|s| s.main([text("two")])).resume(&session).run("two");
    sandbox.script(|s| s.compaction([summary()])).resume(&session).run("/compact keep the door");
    let full = tool("Bash", json!({"command": "echo hi"})).usage(195_000);
    sandbox
        .script(|s| s.main([full, text("done")]).compaction([summary()]))
        .resume(&session)
        .env("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "200000")
        .run("three");
    sandbox.script(|s| s).resume(&session).run("/clear");
}

fn background(sandbox: &Sandbox) {
    allow_background(sandbox);
    let session = begin(sandbox, "single", &[]);
    let shell = tool("Bash", json!({"command": "sleep 2", "run_in_background": true}));
    sandbox
        .script(|s| {
            s.main([shell, in_background("ot:developer"), text("I wait"), text("done")])
                .sub("developer", [verdict("fixed it", "PASS").delay(3000)])
        })
        .session(&session)
        .allow(["Agent", "Bash"])
        .run("go");
}

/// Unknown agents, agents that fail, and agents of other plugins.
fn misfortune(sandbox: &Sandbox) {
    let session = begin(sandbox, "single", &[]);
    let turns = [
        delegate("ot:nobody", "the job"),
        delegate("ot:planner", "not its turn"),
        delegate("general-purpose", "look around"),
        delegate("ot:developer", "the job"),
        tool("Read", json!({"file_path": "/nonexistent/file"})),
        text("done"),
    ];
    sandbox
        .script(|s| {
            s.main(turns)
                .actor(Actor::ForeignSub, [tool("Bash", json!({"command": "true"})), text("looked")])
                .sub("developer", [error(500, "api_error", "boom")])
        })
        .session(&session)
        .allow(["Agent", "Bash", "Read"])
        .run("go");
}

/// The first of each shape.
fn distinct(all: Vec<Recorded>) -> Vec<Recorded> {
    let mut seen = BTreeSet::new();
    all.into_iter().filter(|recorded| seen.insert(fields_of(recorded))).collect()
}

/// Which fields there are and of what kind, and the words by which the client tells its cases apart.
fn fields_of(recorded: &Recorded) -> BTreeSet<String> {
    let mut fields = BTreeSet::new();
    outline(&recorded.hook, &recorded.payload, &mut fields);
    for received in ["tool_name", "source", "trigger", "reason"] {
        if let Some(word) = recorded.payload[received].as_str() {
            fields.insert(format!("{}.{received}={word}", recorded.hook));
        }
    }
    if let Some(kind) = recorded.payload["prompt"].as_str().and_then(kind_of_prompt) {
        fields.insert(format!("{}.prompt={kind}", recorded.hook));
    }
    fields
}

/// What the client sends in the name of the user: the tag of a message of its own, a command, or a fixed sentence.
fn kind_of_prompt(prompt: &str) -> Option<&str> {
    const STOPPED: &str = "was stopped by the user.";
    if prompt.starts_with(['<', '/']) {
        return prompt.split([' ', '>', '\n']).next();
    }
    prompt.contains(STOPPED).then_some(STOPPED)
}

fn outline(path: &str, value: &Value, fields: &mut BTreeSet<String>) {
    let kind = match value {
        Value::Object(map) => {
            for (name, inner) in map {
                outline(&format!("{path}.{name}"), inner, fields);
            }
            "object"
        }
        Value::Array(list) => {
            for inner in list {
                outline(&format!("{path}[]"), inner, fields);
            }
            "list"
        }
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "text",
    };
    fields.insert(format!("{path}: {kind}"));
}

fn keep(folder: &Path, all: &[Recorded]) {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).unwrap();
    for (number, recorded) in all.iter().enumerate() {
        let file = folder.join(format!("{number:02}-{}.json", recorded.hook));
        fs::write(file, format!("{:#}\n", recorded.payload)).unwrap();
    }
}

fn kept(folder: &Path) -> Vec<Recorded> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    files
        .map(|file| {
            let name = file.file_stem().unwrap().to_string_lossy().into_owned();
            let hook = name.split_once('-').unwrap().1.to_owned();
            Recorded { hook, payload: serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap() }
        })
        .collect()
}
