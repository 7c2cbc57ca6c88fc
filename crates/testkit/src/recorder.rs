//! Keeps what the client writes to our hooks, so that it can be replayed where there is no client.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::Sandbox;

/// What the client wrote to one hook.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    pub hook: String,
    pub payload: Value,
}

/// The sandbox's own folder, as it is called in what is kept.
pub const ROOT: &str = "/sandbox";

impl Sandbox {
    /// From now on a script stands before the plugin's program and keeps a copy of what the hooks are given.
    pub fn record_hooks(&self) {
        let (program, behind) = (self.plugin().join("bin/overtone"), self.plugin().join("bin/overtone-real"));
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

    /// Everything that was recorded, in order, with the sandbox's folder named [`ROOT`].
    pub fn recorded(&self) -> Vec<Recorded> {
        let entries = fs::read_dir(self.recordings()).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        files.sort();
        files.iter().map(|file| self.recording(file)).collect()
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

fn flattened(path: &str) -> String {
    path.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

fn make_executable(path: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
        .expect("the recorder can be made executable");
}
