//! Keeps what the client writes to our hooks, so that it can be replayed where there is no client.
//!
//! Tools that no hook of the plugin is registered for can be recorded too, by hooks of the recorder's own.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::Sandbox;

/// What the client wrote to one hook.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// The name of the plugin's hook, or that of the event when only the recorder was registered for it.
    pub hook: String,
    pub payload: Value,
}

impl Recorded {
    /// Whether only the recorder was registered: the client's events are named in capitals, our hooks are not.
    fn is_by_event(&self) -> bool {
        self.hook.starts_with(|first: char| first.is_ascii_uppercase())
    }
}

/// The sandbox's own folder, as it is called in what is kept.
pub const ROOT: &str = "/sandbox";

impl Sandbox {
    /// From now on a script stands before the plugin's program and keeps a copy of what the hooks are given.
    pub fn record_hooks(&self) {
        let (program, behind) =
            (self.plugin().join("bin/overtone-hook"), self.plugin().join("bin/overtone-hook-real"));
        fs::rename(&program, &behind).expect("the program can be put behind the recorder");
        fs::create_dir_all(self.recordings()).expect("a folder for what is recorded");
        let script = format!(
            "#!/bin/sh\n[ \"$1\" = hook ] || exec '{real}' \"$@\"\n\
             copy=$(mktemp '{folder}/'$(date +%s%N)-\"$2\"-XXXXXX)\n\
             cat > \"$copy\"\nexec '{real}' \"$@\" < \"$copy\"\n",
            real = behind.display(),
            folder = self.recordings().display(),
        );
        self.write(&program, &script);
        make_executable(&program);
    }

    /// From now on calls of these tools (a matcher such as `EnterWorktree|SendMessage`) are recorded, before and after,
    /// whether or not the plugin watches them.
    pub fn record_tools(&self, tools: &str) {
        let file = self.plugin().join("hooks/hooks.json");
        let text = fs::read_to_string(&file).expect("the plugin has hooks");
        let mut document: Value = serde_json::from_str(&text).expect("the plugin's hooks are JSON");
        for event in ["PreToolUse", "PostToolUse"] {
            let copy = format!("cat > \"$(mktemp \"$0/$(date +%s%N)-{event}-XXXXXX\")\"");
            let hook = json!({
                "type": "command", "command": "/bin/sh", "args": ["-c", copy, self.recordings()], "timeout": 10,
            });
            let entry = json!({"matcher": tools, "hooks": [hook]});
            document["hooks"][event].as_array_mut().expect("the plugin watches tools").push(entry);
        }
        self.write(&file, &document.to_string());
    }

    /// Everything that was recorded, in order, with the sandbox's folder named [`ROOT`]. What a hook of the plugin and
    /// the recorder's own were both given is listed once, under the plugin's.
    pub fn recorded(&self) -> Vec<Recorded> {
        let entries = fs::read_dir(self.recordings()).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        files.sort();
        let all: Vec<_> = files.iter().map(|file| self.recording(file)).collect();
        let is_double = |found: &Recorded| {
            found.is_by_event()
                && all.iter().any(|other| !other.is_by_event() && other.payload == found.payload)
        };
        all.iter().filter(|found| !is_double(found)).cloned().collect()
    }

    fn recording(&self, file: &std::path::Path) -> Recorded {
        let text = fs::read_to_string(file).expect("a recording can be read");
        let root = self.root().to_string_lossy().into_owned();
        // The client also makes folder names of paths, with every other character replaced.
        let text = text.replace(&flattened(&root), &flattened(ROOT)).replace(&root, ROOT);
        let payload = serde_json::from_str(&text).expect("the client writes JSON");
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let hook = name.split_once('-').and_then(|(_, rest)| rest.rsplit_once('-')).map(|(hook, _)| hook);
        Recorded { hook: hook.unwrap_or_default().to_owned(), payload }
    }

    fn recordings(&self) -> PathBuf {
        self.root().join("recordings")
    }
}

pub(crate) fn flattened(path: &str) -> String {
    path.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

fn make_executable(path: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
        .expect("the recorder can be made executable");
}
